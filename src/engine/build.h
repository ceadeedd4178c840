/*
 * build: an answer in the making, and what every view's builder needs: names, shares, sorted rows.
 *
 * A view is one function that fills the answer's rows from the engine's folds. Texts and rows live
 * in the answer's arena. Engine thread, until the answer is published.
 */
#ifndef ALTPTTOP_BUILD_H
#define ALTPTTOP_BUILD_H

#include <math.h>

#include "base/arena.h"
#include "engine/core.h"
#include "engine/metrics.h"
#include "insight/confidence.h"

struct answer_box {
	struct answer answer; /* first: answer_unref casts */
	_Atomic unsigned refs;
	struct arena arena;
};
struct answer_box *answer_box_new(void);
void answer_box_ref(void *box);
void answer_box_unref(void *box); /* NULL is fine */

struct unsampled;

struct build {
	struct engine *e;
	const struct tables *t;
	const struct query *q;
	struct answer_box *box;
	struct answer *a;
	struct window window;
	uint16_t event;                /* whose weights are shares; UINT16_MAX: no event yet */
	const struct event_desc *desc; /* NULL likewise */
	struct fold_query fq;
	struct metrics metrics; /* derived columns */
	uint8_t *task_mask;     /* owned */
	/* The whole that shares are of. */
	uint64_t whole;
	double whole_n;              /* effective number of samples in it */
	struct unsampled *unsampled; /* owned; nunsampled of them are part of the whole */
	uint32_t nunsampled;
	uint64_t unsampled_weight;
	/* Rows, in the arena. */
	struct row *rows;
	uint32_t nrows, max_rows;
	module_id nameless; /* most of what has no name is in it */
	bool failed;        /* no memory: the answer is not published */
	/* Frames on screen that have no name yet come first to the resolver. */
	frame_id wanted[512];
	uint32_t nwanted;
};

struct view_builder {
	void (*build)(struct build *b);
	bool all_threads; /* whatever thread is zoomed into */
};
extern const struct view_builder view_builders[VIEW_KINDS]; /* publish.c */

/* build.c */
/* Fills e->flat, whole, unsampled. @task 0: all threads. */
int build_fold(struct build *b, task_id task);
struct row *build_row(struct build *b); /* zeroed, texts ""; NULL: full (or failed) */
/* A row for what did not fit, whose shares are not known; NULL likewise. */
struct row *build_rest(struct build *b, const char *name);
const char *build_text(struct build *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3))); /* never NULL */
/* How much of the window the event set in view was collected over. */
uint64_t build_set_covered_ns(const struct build *b);
/* Copy what fits, whole characters; NULL is "". */
void build_copy(char *to, size_t size, const char *from);
/* Make room for at most @n rows (and the rest row). False: no memory. */
bool build_reserve(struct build *b, uint32_t n);
/* The row being made lacks this name; the next answer comes with it, where the row may be seen. */
void build_want(struct build *b, frame_id frame);
/* Ask the resolver for the names that the fold lacks, those on screen first (publish.c). */
void build_ask_names(struct build *b);
bool build_matches(const struct build *b, const char *text); /* the query's filter; "" matches */
const struct row_key *build_expanded(const struct build *b, const struct row_key *key);

/* Shares, margins and flags of @row from sums. @hits decides confidence. */
void build_shares(struct build *b, struct row *row, const struct sums *self,
		  const struct sums *total);

/* names.c: texts of functions and modules. */
struct fid_text {
	const char *name, *full, *module, *file;
	uint32_t line, flags; /* enum row_flag */
	uint64_t addr;
};
void fid_text(struct build *b, fid_t fid, struct fid_text *ret_text);
/* The same into a row of that kind, whose key the function is. */
void fid_row(struct build *b, struct row *row, enum row_kind kind, fid_t fid);
const char *module_text(struct build *b, module_id module);
bool fid_matches(struct build *b, fid_t fid); /* by the query's filter */
/* A focus that named a frame before it had a name follows it to its function. */
fid_t fid_settle(const struct build *b, fid_t fid);

/* groups.c: threads named alike: "worker-12" belongs to "worker-*". */
str_id group_of_task(struct tables *t, task_id task); /* the pattern's text */

/* order.c: sorting before rows are made. */
#define CANDIDATE_UNKNOWN ((double)-INFINITY) /* a key that comes last, in either order */
struct candidate {
	uint32_t index;     /* what it stands for */
	double key, second; /* falling */
	const char *text;   /* rising; NULL when sorted by number */
};
/* Its keys for rising addresses, of which a double could not tell all apart; 0: unknown. */
void candidate_address(struct candidate *c, uint64_t addr);
void candidates_sort(struct candidate *c, uint32_t n, bool reverse);
/* Mark rows whose interval overlaps the row above, when they are sorted by self or total. */
void rows_mark_ties(struct row *rows, uint32_t n, bool by_total);

/* status.c */
/* CPU use of the watched processes, and their CPU time in the window; negative: nobody accounts
 * for them. */
double build_account_cpu(const struct build *b, double *ret_cpu_s);
void build_status(struct build *b, struct answer_status *s);

/* Fills @row as a function row of [unsampled]. */
void build_unsampled(struct build *b, struct row *row);

/* View builders. */
void show_functions(struct build *b);
void show_modules(struct build *b);
void show_callers(struct build *b);
void show_tree(struct build *b);
void show_threads(struct build *b);
void show_source(struct build *b);
void show_events(struct build *b);
void show_output(struct build *b);
void show_doctor(struct build *b);
void show_verdicts(struct build *b);
void show_topdown(struct build *b);
void show_analysis(struct build *b); /* duration, cache, edge */

#endif
