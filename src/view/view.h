/*
 * view: what each screen asks and which columns its rows have. No drawing, no terminal: a cell is a
 * few spans of text with their meaning, placed in columns by pure arithmetic.
 *
 * A view is a table: its column list in order of appearance, widths, and in which order columns go
 * when the terminal is narrow. Views are constant; functions here may be called on any thread.
 */
#ifndef ALTPTTOP_VIEW_H
#define ALTPTTOP_VIEW_H

#include "answer.h"
#include "look.h"
#include "number.h"

#define VIEW_COLUMNS 48 /* most columns placed at once */
#define CELL_SPANS   8
#define CELL_TEXT    1024
#define SHORT_NAME   1024

struct span {
	const char *text;
	enum look look;
};

/* One cell, filled by a column for a row. Span texts point into the row, constants, or the buffers.
 */
struct view_cell {
	struct span spans[CELL_SPANS];
	int nspans;
	double bar; /* 0…1 of the column's bar, negative: none */
	const float *spark;
	int nspark;
	int scrolls; /* the first span that horizontal scrolling moves, nspans: none */
	char number[4][NUMBER_TEXT];
	char text[CELL_TEXT];
	char name[SHORT_NAME];
};

/* What a cell may depend on beside its row. */
struct view_env {
	const struct answer *answer;
	double scale; /* the share that fills a bar */
	int index;    /* of the metric or cell, for columns that stand for several */
	int width;    /* of the column, in cells */
	int shift;    /* cells that names are scrolled to the right: then they are whole */
	double whole; /* CALLERS: total of the focused function */
};

enum column_flag {
	COLUMN_LEFT = 1 << 0,        /* aligned left, else right */
	COLUMN_HAS_BAR = 1 << 1,     /* a bar stands before the number */
	COLUMN_EACH_METRIC = 1 << 2, /* stands for every metric of the answer */
	COLUMN_EACH_CELL = 1 << 3,   /* stands for every column of a trace analysis */
	COLUMN_UNSORTED = 1 << 4,    /* rows cannot be sorted by it */
	COLUMN_ADDRESSES = 1 << 5,   /* only with QUERY_ADDRESSES */
	COLUMN_PROCESSES = 1 << 6,   /* only when rows belong to several processes */
	COLUMN_SPARKS = 1 << 7,      /* only when rows have sparks; width is the spark's */
	COLUMN_BLOCKS = 1 << 8,      /* only when waiting time is known */
	COLUMN_EDGES = 1 << 10,      /* only when edges of a trace are drawn */
	COLUMN_GROWS = 1 << 9, /* takes what is left over; else the one that always stays does */
};

struct column {
	uint32_t id; /* enum column_id */
	const char *title;
	uint8_t least, width, most; /* cells, without bar and gap */
	uint8_t keep;   /* the lowest goes first when space is short; 255 stays always */
	uint16_t flags; /* enum column_flag */
	void (*cell)(const struct row *row, const struct view_env *env, struct view_cell *cell);
	const char *help; /* what it says, for the help screen */
};

struct view {
	enum view_kind kind;
	const struct column *columns;
	int ncolumns;
	uint32_t flags; /* enum query_flag this view understands */
	bool limited;   /* --percent-limit hides its small rows */
	bool filtered;  /* the filter narrows its rows */
};

const struct view *view_of(enum view_kind kind);

/* A column at its place. */
struct placed {
	const struct column *column;
	uint32_t id;
	int index;
	int x, width; /* bar included */
	int least;    /* narrower it must not be */
	int bar;      /* cells of the bar, 0 none */
	char title[34];
};

/*
 * Place the columns of @view for @answer (NULL: none yet) in @width cells: fewest columns dropped,
 * @sort kept if it can be. Returns how many are in @ret.
 */
int view_place(const struct view *view, const struct answer *answer, int width, uint32_t sort,
	       struct placed ret[VIEW_COLUMNS]);

/* Fill @cell for @row in @placed. */
void view_cell_fill(const struct placed *placed, const struct row *row, struct view_env *env,
		    struct view_cell *cell);
/* The parts of @env that hold for all rows of @answer. */
void view_env_init(struct view_env *env, const struct answer *answer);

/* Is @row hidden by --percent-limit? */
bool view_hides(const struct view *view, const struct row *row, double percent_limit);

/* Ids of the columns that rows of @view can be sorted by, in order; how many. */
int view_sorts(const struct view *view, const struct answer *answer, uint32_t ret[VIEW_COLUMNS]);
/* Title of a column id in this view, "" none. */
const char *view_column_title(const struct view *view, const struct answer *answer, uint32_t id);
/* What it tells, in a few words; "" nothing to say. */
const char *view_column_help(const struct view *view, const struct answer *answer, uint32_t id);
uint32_t view_default_sort(const struct view *view);

/* State of a screen, from which its question is built. */
struct view_state {
	uint32_t flags; /* enum query_flag as the person set them, those of other views included */
	uint64_t window_ns, until_ns;
	task_id task;
	uint16_t set;   /* event set in view, UINT16_MAX: the newest */
	uint16_t event; /* whose weights are shares, UINT16_MAX: its first */
	uint32_t sort;
	bool reverse;
	struct row_key focus;
	const char *filter, *options; /* NULL: none */
	const struct row_key *expanded;
	uint32_t nexpanded;
	bool expand_all;
};
void view_query(const struct view *view, const struct view_state *state, struct query *ret_query);

/* Same row? Line and instruction numbers included. */
static inline bool row_key_equal(struct row_key a, struct row_key b)
{
	return a.kind == b.kind && a.a == b.a && a.b == b.b;
}

extern const struct view view_functions, view_callers, view_tree, view_threads, view_modules,
	view_source, view_events, view_topdown, view_verdicts, view_duration, view_cache, view_edge,
	view_output, view_doctor;

#endif
