/*
 * facts: what the header says of a profile, as short labelled values with an order in which they
 * may go when the terminal is narrow. No drawing. Thread-safe.
 */
#ifndef ALTPTTOP_FACTS_H
#define ALTPTTOP_FACTS_H

#include "answer.h"
#include "look.h"

#define FACTS_MAX 20

struct fact {
	char label[20]; /* before the value, "" none */
	char value[176];
	enum look look; /* of the value */
	uint8_t keep;   /* the lowest goes first */
	uint8_t width;  /* cells the value takes at least, so that neighbours stay where they are */
	bool right;     /* at the right end of the line */
};

/* First line: target, threads, CPU, sampler, rate, event set, elapsed. Returns how many. */
int facts_target(const struct answer_status *status, struct fact ret[FACTS_MAX]);

/* Second line, beside the history: what was lost or is not known, and what profiling costs. */
int facts_quality(const struct answer_status *status, struct fact ret[FACTS_MAX]);

/* What the person has set and should not forget. */
struct facts_state {
	uint64_t window_ns, covered_ns, since_mark_ns;
	bool recording;
	uint32_t flags; /* enum query_flag of the question */
	bool frozen, marked;
	bool older;                             /* an event set that others followed */
	const char *filter, *thread, *narrowed; /* "" none */
};
int facts_state(const struct facts_state *state, struct fact ret[FACTS_MAX]);

/* Every loss and every reason of a cut stack that happened, a line each, for the help screen. */
int facts_details(const struct answer_status *status, struct fact *ret, int max);

/* Words of the header and what they mean, static. */
struct fact_word {
	const char *word, *help;
};
const struct fact_word *facts_words(int *ret_n);
/* What to do about it, or what it means; "" nothing is known. */
const char *facts_loss_help(enum loss_kind kind);
const char *facts_cut_help(enum cut_reason reason);

#endif
