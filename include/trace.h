/*
 * trace: exact event streams, from an importer to an analysis, and the table an analysis ends in.
 *
 * An importer that reads spans or instructions hands each to a trace_sink, in file order, on the
 * source thread. The analysis behind it (src/trace/) is chosen and wired by src/app/. Neither room
 * knows the other.
 */
#ifndef ALTPTTOP_TRACE_H
#define ALTPTTOP_TRACE_H

#include "answer.h"
#include "err.h"
#include "sink.h"
#include "tables.h"

/* A complete span. Times are exact nanoseconds on the recording's clock. */
struct trace_span {
	int64_t start_ns;
	uint64_t dur_ns;
	str_id name;
	/* Dense index; TRACE_THREADS_MOST: of one of those that are too many to tell apart, so that
	 * it lies in no other span. */
	uint32_t thread;
};
#define TRACE_THREADS_MOST (1u << 18)

/* A begin or an end of a span, in the order of the file. */
struct trace_edge {
	enum {
		TRACE_BEGIN,
		TRACE_END,    /* of the innermost begin that is open */
		TRACE_SPOILT, /* they are not in order: forget them, whole spans will come for all
			       */
		TRACE_DONE,   /* each begin had its end, and no more will come */
	} kind;
	uint32_t thread; /* below TRACE_THREADS_MOST */
	int64_t ns;
	str_id name; /* of a begin */
};

/*
 * Samples that were taken beside the spans, on the same clock: told to the sink by who gave them,
 * among the others in the order of time.
 */
struct trace_beside {
	bool (*next)(void *ctx, int64_t *ret_ns); /* until when the next one stands; false: none */
	int (*deliver)(void *ctx, uint64_t time_ns); /* it, at this time of the sink's. 0, -errno */
	void *ctx;
	int64_t first_ns, last_ns; /* over which time they all reach */
};

enum insn_class {
	INSN_NONE,
	INSN_CALL,
	INSN_RETURN,
	INSN_JMP,
	INSN_JCC,
	INSN_SYSCALL,
	INSN_START, /* tracing starts here: what came before is unknown */
	INSN_END,   /* tracing ends after this instruction */
	INSN_CLASSES
};

/* One executed instruction (or, in a branch trace, one branch). */
struct trace_insn {
	uint64_t time_ns;
	uint64_t ip;     /* 0 unknown */
	uint64_t offset; /* from the symbol's start; UINT64_MAX unknown */
	str_id symbol;   /* 0: "[unknown]" */
	str_id module;   /* as named in brackets, 0 none */
	uint64_t to;     /* a branch: where it led, 0 unknown */
	str_id to_symbol;
	uint32_t thread; /* dense index from trace_ops.thread */
	enum insn_class kind;
	/*
	 * Not 0: a line without an address, which tells instead how deep its function is: a call
	 * enters it, a return leaves it. What is at this level or above it has returned.
	 */
	uint32_t level;
	bool branch_only; /* a branch trace: instructions between branches are not seen */
	bool gap;         /* a decode error or lost data lies before it */
};

enum trace_kind { TRACE_SPANS, TRACE_INSNS };

struct trace_ops {
	/* The recording is of this kind: called once, before anything else, by an importer that
	 * meets such data. */
	int (*begin)(void *ctx, enum trace_kind kind);
	/* Thread @index (dense from 0) exists: before the end; called again when its name becomes
	 * known. */
	void (*thread)(void *ctx, uint32_t index, int64_t pid, int64_t tid, const char *name);
	int (*span)(void *ctx, const struct trace_span *s); /* -ENOSPC … stops the reading */
	/* 0: taken; 1: nothing can be done with them, whole spans are wanted for all that came. */
	int (*edge)(void *ctx, const struct trace_edge *e);
	int (*insn)(void *ctx, const struct trace_insn *i);
	void (*beside)(void *ctx,
		       const struct trace_beside *b); /* before the end; borrowed till then */
	/* The file ended or was cut off: compute, deliver to the engine. */
	int (*end)(void *ctx, struct err *err);
};

struct trace_sink {
	const struct trace_ops *ops;
	void *ctx;
};

/*
 * The outcome of an analysis: named rows of numbers, immutable, counted references. Cells are NAN
 * where unknown. Rows come in the analysis' own order (duration: score; cache, edge: total time;
 * both falling).
 */
struct analysis_row {
	str_id name;
	str_id second;                    /* module, or source position of the start; 0 none */
	str_id third;                     /* edge: its kind; 0 none */
	uint64_t first, last;             /* edge: addresses */
	frame_id first_frame, last_frame; /* edge: to be resolved to source lines; 0 none */
	double share;                     /* of the analysis' whole time, 0…1 */
	/* duration: the time in which no child ran, of the whole and in nanoseconds a span */
	double self_share, self_ns;
	uint32_t flags; /* enum row_flag */
};

struct analysis {
	_Atomic unsigned refs;
	enum view_kind view; /* VIEW_DURATION, VIEW_CACHE, VIEW_EDGE */
	const struct snapshot_column *columns;
	uint32_t ncolumns, nrows;
	const struct analysis_row *rows;
	const double *cells; /* nrows × ncolumns */
	char note[256];      /* repairs, losses, what is bounded-error; "" none */
	void (*destroy)(struct analysis *a);
};

static inline struct analysis *analysis_ref(struct analysis *a)
{
	a->refs++;
	return a;
}

static inline void analysis_unref(struct analysis *a)
{
	if (a && --a->refs == 0)
		a->destroy(a);
}

#endif
