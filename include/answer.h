/*
 * answer: a screen's question and the engine's answer: plain data, immutable, counted references.
 *
 * The ui fills a query; the engine folds the profile by it and publishes an answer whose rows are
 * ready to draw, top to bottom. Text pointers live as long as the answer (or longer). No row is
 * ever NULL-texted.
 */
#ifndef ALTPTTOP_ANSWER_H
#define ALTPTTOP_ANSWER_H

#include "sink.h"
#include "source.h"
#include "tables.h"

#define ANSWER_ROWS_MAX 5000 /* beyond it one last ROW_REST row says how many and what share */
#define SPARK_MAX       60

enum view_kind {
	VIEW_FUNCTIONS,
	VIEW_CALLERS, /* of query.focus: callers above, itself, callees below */
	VIEW_TREE,    /* top-down, or bottom-up from query.focus with QUERY_BOTTOM_UP */
	VIEW_THREADS,
	VIEW_MODULES,
	VIEW_SOURCE, /* of query.focus */
	VIEW_EVENTS,
	VIEW_TOPDOWN,
	VIEW_VERDICTS,
	VIEW_DURATION, /* trace analyses */
	VIEW_CACHE,
	VIEW_EDGE,
	VIEW_OUTPUT, /* output of a started command */
	VIEW_DOCTOR,
	VIEW_KINDS
};

enum query_flag {
	QUERY_NO_KERNEL = 1 << 0,
	QUERY_NO_USER = 1 << 1,
	QUERY_FOLD_INLINE = 1 << 2, /* count inlined frames to the function that holds them */
	QUERY_BOTTOM_UP = 1 << 3,
	QUERY_GROUP_THREADS = 1 << 4, /* threads by name pattern (worker-*) */
	QUERY_ASSEMBLY = 1 << 5,
	QUERY_REVERSE = 1 << 6,
	QUERY_WHOLE_NAMES = 1 << 7, /* do not fold template arguments */
	QUERY_ADDRESSES = 1 << 8,   /* symbol+offset and raw address (v) */
	QUERY_TAIL_CALLS = 1 << 9,  /* show frames that only DWARF call sites tell */
	QUERY_EXPAND_ALL = 1 << 10,
	QUERY_NO_WAITING = 1 << 11,      /* wall clock: leave out waiting samples */
	QUERY_GROUP_PROCESSES = 1 << 12, /* threads by process */
	QUERY_NO_GUEST = 1 << 13,        /* leave out what ran in a virtual machine's guest */
	QUERY_NO_HOST = 1 << 14,         /* and only that */
	QUERY_NAMES = 1 << 15,           /* no answer: names of whatever comes are asked for */
};
/* Samples that the person has hidden by where the CPU was. */
#define QUERY_FILTERS (QUERY_NO_KERNEL | QUERY_NO_USER | QUERY_NO_GUEST | QUERY_NO_HOST)

/*
 * Columns: what a query may sort by and a screen may show. COLUMN_METRIC + i is answer.metrics[i]
 * (self), COLUMN_METRIC_TOTAL + i its total, COLUMN_CELL + i is answer.columns[i].
 */
enum column_id {
	COLUMN_DEFAULT, /* the view's own order */
	COLUMN_SELF,
	COLUMN_MARGIN,
	COLUMN_TOTAL,
	COLUMN_SAMPLES,
	COLUMN_TOTAL_SAMPLES,
	COLUMN_NAME,
	COLUMN_MODULE,
	COLUMN_PID,
	COLUMN_TID,
	COLUMN_CPU,
	COLUMN_USER,
	COLUMN_SYSTEM,
	COLUMN_BLOCKED,
	COLUMN_READY,
	COLUMN_STATE,
	COLUMN_WAITS,
	COLUMN_TOP,
	COLUMN_SPARK,
	COLUMN_LINE,
	COLUMN_ADDRESS,
	COLUMN_METRIC = 64,
	COLUMN_METRIC_TOTAL = 96,
	COLUMN_CELL = 128,
};

/* Identity of a row, stable across answers: what the cursor stays on, what focus and expansion
 * name. */
struct row_key {
	uint32_t kind; /* enum row_kind; 0 means no key */
	uint32_t a;    /* func_id, task_id, module_id, event index, line … */
	uint64_t b;    /* tree: hash of the path from the root; instruction: address */
};

enum row_kind {
	ROW_NONE,
	ROW_FUNCTION,
	ROW_NODE, /* tree */
	ROW_CALLER,
	ROW_SELF, /* callers view: the focused function */
	ROW_CALLEE,
	ROW_THREAD,
	ROW_GROUP, /* threads grouped, or all threads */
	ROW_MODULE,
	ROW_LINE,   /* a source line */
	ROW_INSN,   /* an instruction */
	ROW_INLINE, /* source: an inlined callee folded under its call site */
	ROW_EVENT,
	ROW_METRIC,
	ROW_VERDICT,
	ROW_SPAN,  /* duration */
	ROW_CALLS, /* cache */
	ROW_EDGE,
	ROW_TEXT, /* plain text (output, doctor, notes): name holds it */
	ROW_REST, /* what did not fit: "… 1,204 more, 0.8 %" */
	ROW_HEADING,
	ROW_PROCESS, /* threads of one process together */
};

/* Does it stand for several threads, which a focus on it narrows to? */
static inline bool row_is_group(const struct row_key *key)
{
	return key->kind == ROW_GROUP || key->kind == ROW_PROCESS;
}

enum row_flag {
	ROW_KERNEL = 1 << 0,
	ROW_INLINED = 1 << 1, /* @note holds "◂ outer" */
	ROW_EXPANDABLE = 1 << 2,
	ROW_EXPANDED = 1 << 3,
	ROW_UNRANKED = 1 << 4, /* fewer than 5 hits */
	ROW_LOW = 1 << 5,      /* 5–29 hits: low confidence */
	ROW_DIM = 1 << 6,      /* relative error above 10 % */
	ROW_TIED = 1 << 7,     /* its interval overlaps the row above: not called different */
	ROW_TRUNCATED = 1 << 8,
	ROW_UNRESOLVED = 1 << 9, /* name still to come */
	ROW_UNCERTAIN = 1 << 10, /* tail-call or guessed frame */
	ROW_CURRENT = 1 << 11,   /* jump target, hottest line … */
	ROW_GONE = 1 << 12,      /* thread that ended */
	ROW_WARN = 1 << 13,
	ROW_GOOD = 1 << 14,
	ROW_MATCH = 1 << 15, /* the search text matches */
};

/*
 * What the rows of each view hold, key.a first; fields not named are 0 or "". `note` is a short
 * remark drawn behind the name, `hint` a sentence shown below the table for the cursor's row.
 *
 * - FUNCTIONS: ROW_FUNCTION func_id: name full module note self total samples metrics file line.
 *   A focus of kind ROW_MODULE, ROW_GROUP or ROW_PROCESS narrows to that module or those threads.
 * - CALLERS: ROW_CALLER func_id…, one ROW_SELF, ROW_CALLEE…: total = share of all that flows over
 *   the edge, self = its part that ends in the callee; answer.focus_row is the ROW_SELF.
 * - TREE: ROW_NODE func_id (0: made up, as [all threads]), b = hash of the path: as FUNCTIONS, and
 *   depth children EXPANDABLE EXPANDED; file line = where the caller calls from.
 * - THREADS: ROW_THREAD task_id, ROW_GROUP, ROW_PROCESS task_id: pid tid name cpu user system
 * ready blocked state self total samples spark metrics; note = what it waits on, module = its top
 * function (go leads there).
 * - MODULES: ROW_MODULE module_id: name full note self total samples metrics.
 * - SOURCE: ROW_LINE line: name = text, self total samples metrics. Under a line ROW_INLINE func_id
 *   (b = call address, EXPANDABLE, note = "file:line") and ROW_INSN (b = address): name = the
 *   instruction, note = remark, go = a call's target, or ROW_INSN with b = where a jump goes.
 * - EVENTS: ROW_EVENT event, ROW_METRIC: name note hint spark cells; unknown cells are NAN, the
 *   reason is in note.
 * - TOPDOWN: ROW_METRIC a part of the pipeline's slots (self_metric[0] in percent, with its state
 *   and grade), and ROW_FUNCTION under it (b = which part): depth name note hint total cells. Where
 *   nothing counts slots, ROW_HEADING and ROW_TEXT say what would.
 * - VERDICTS: ROW_VERDICT: total = share, module = kind, name = where, note = evidence, hint = what
 *   to do next, cells[0] = gain at most, go = the place.
 * - DURATION, CACHE, EDGE: ROW_SPAN, ROW_CALLS, ROW_EDGE: name note cells; go = the function.
 * - OUTPUT, DOCTOR: ROW_TEXT (a = line number) and ROW_HEADING: name.
 *
 * Any view may add ROW_REST, ROW_HEADING and ROW_TEXT rows; of ROW_REST self and total below 0 are
 * not known.
 */
struct metric_value {
	double v;
	uint8_t state; /* enum value_state */
	uint8_t grade; /* 0 none, 1 good, 2 fair, 3 bad */
	float running;
};

struct row {
	struct row_key key;
	uint32_t flags;
	uint16_t depth; /* tree indent */
	uint16_t children;
	const char *name;   /* display */
	const char *full;   /* whole name for `y`; may equal name */
	const char *module; /* short module name, or a column's second text */
	const char *note;   /* "◂ outer", a reason, "12 children", call path of a folded chain */
	const char *hint;   /* a sentence on this row: a reason, what to do next */
	struct row_key go; /* where Enter leads when it is not the row's own key; kind 0: nowhere */
	const char *file;
	uint32_t line;
	uint64_t addr;
	/* Shares of the view's whole, 0…1; margins are half widths of 95 % intervals. */
	double self, total;
	double self_margin, total_margin;
	uint64_t self_samples, total_samples;
	uint64_t self_weight, total_weight;
	/* Threads, groups, processes. */
	pid_t pid, tid;
	/* Shares of wall time, 1.0 = one CPU; negative: unknown. */
	double cpu, user, system, ready, blocked;
	char state; /* as in /proc/PID/stat */
	/* Derived metrics of the event set in view; names in answer.metrics. */
	uint8_t nmetrics;
	struct metric_value self_metric[METRIC_MAX], total_metric[METRIC_MAX];
	uint8_t nspark;
	float spark[16];     /* 0…1, newest last */
	const double *cells; /* trace analyses: answer.ncells numbers, NAN unknown */
	const char *edges;   /* source: answer.edge_cells characters of arcs; NULL none here */
	uint64_t taken;      /* source: how often runs that begin here were taken, 0 none */
};

struct answer_metric {
	char name[32]; /* column title: "IPC" */
	char unit[16];
	char meaning[160];
	uint8_t decimals;
	bool total_only;
	double covered_s; /* over which time it was collected */
};

/* Facts of the header and status lines, gathered at the answer's time. */
struct answer_status {
	char target[96]; /* "4242 mysqld" or "3 processes" */
	char where[64];  /* container or cgroup, "" none */
	char arrangement[96];
	char event_set[32];
	uint32_t threads, unwatched;
	double cpu; /* of the target over the window, 1.0 = one CPU; negative unknown */
	uint32_t asked_hz;
	double delivered_hz; /* a CPU second; on the wall clock, a second of a thread; < 0 unknown
			      */
	uint64_t samples;    /* in the window */
	uint64_t loss[LOSS_KINDS];
	uint64_t cut[CUT_REASONS];
	double cut_share;     /* of user stacks in the window */
	char cut_advice[192]; /* what makes more of them whole, "" none */
	double stitched_share;
	double no_symbol_share;     /* sample-weighted */
	char no_symbol_advice[160]; /* which module to install debug files for, "" none */
	char download[64];          /* the module whose debug file is on its way, "" none */
	uint64_t download_done, download_all; /* bytes; all 0: not known */
	uint32_t download_waiting;            /* modules after it */
	uint64_t damage;                      /* what made no sense in program and debug files */
	double unsampled_share;
	double own_cpu;                        /* the profiler's own use, 1.0 = one CPU */
	uint32_t sample_cost_ns, read_cost_ns; /* measured: of a sample, of reading its group too;
						  0: not measured */
	double cost;             /* estimated slow-down of the target; negative unknown */
	uint64_t stop_median_ns; /* timer sampler */
	uint64_t own_rss;
	uint64_t elapsed_ns;
	uint64_t window_ns;      /* asked; 0 all */
	uint64_t covered_ns;     /* what the window really covers */
	uint64_t set_covered_ns; /* … by the event set in view */
	uint64_t since_mark_ns;  /* up to the window's end */
	bool marked;             /* `z`: counting from the mark */
	bool finished;           /* target gone or file read */
	bool recording;          /* a file, not live */
	double progress;         /* recordings: 0…1; negative: not reading */
	bool totals_low; /* of a recording's shortened paths it lacks what they went through */
	uint8_t nspark;
	float spark[SPARK_MAX]; /* CPU use by second, newest last; negative: no data */
};

#define QUERY_TEXT 128
struct query {
	enum view_kind view;
	uint32_t serial;    /* echoed by the answer */
	uint32_t flags;     /* enum query_flag */
	uint64_t window_ns; /* 0: all */
	uint64_t until_ns; /* the window ends here (a frozen screen: an answer's time_ns); 0: now */
	task_id task;      /* one thread only; 0 all */
	uint32_t sort;     /* column id of view/columns.h: rows come sorted by it */
	uint16_t event;    /* event whose weights are shares; UINT16_MAX: the set's first */
	uint16_t set;      /* event set in view, UINT16_MAX: newest */
	struct row_key focus;
	char filter[QUERY_TEXT];  /* case-insensitive substring of function or module */
	char options[QUERY_TEXT]; /* trace analyses: filter expression and switches as typed */
	const struct row_key *expanded; /* tree: expanded (or with EXPAND_ALL: collapsed) keys;
					   copied by engine_ask */
	uint32_t nexpanded;
	uint32_t max_rows; /* 0: ANSWER_ROWS_MAX */
};

struct answer {
	struct query query; /* as answered; query.expanded is NULL */
	struct answer_status status;
	const struct row *rows;
	uint32_t nrows;
	uint32_t focus_row; /* source: hottest line; callers: the focused function */
	struct answer_metric metrics[METRIC_MAX];
	uint8_t nmetrics;
	const struct snapshot_column *columns; /* trace analyses only: titles of row.cells */
	uint32_t ncells;
	uint8_t edge_cells; /* source: width of the rows' arcs, 0: there are none */
	char title[256];    /* line above the table: "row0sel.cc row_search_mvcc self 23.1 %" */
	char note[256];     /* why the table is empty or not to be trusted, "" none */
	uint64_t time_ns;   /* when it was folded */
	uint64_t fold_ns;   /* what folding cost */
};

struct snapshot_column {
	const char *title;
	const char *unit; /* "ns", "", "%" */
	uint8_t decimals;
};

void answer_unref(const struct answer *a); /* NULL is fine */

#endif
