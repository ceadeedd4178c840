/*
 * adapt: the policy for the size of stack dumps. Pure.
 */
#include "sample/adapt.h"

#define STACKS_LEAST  100
#define CUT_MUCH      0.05
#define CUT_LITTLE    0.01
#define CUT_SAME      0.03
#define SHALLOW_SHARE 0.99
#define CALM_LOOKS    3
#define REST_LOOKS    60

static uint32_t rung_bytes(const struct adapt *a, unsigned rung)
{
	uint32_t bytes = (uint32_t)ADAPT_LEAST << rung;

	return bytes < a->most ? bytes : a->most;
}

static unsigned rung_of(const struct adapt *a)
{
	unsigned rung = 0;

	while (rung < ADAPT_RUNGS - 1 && rung_bytes(a, rung) < a->bytes)
		rung++;
	return rung;
}

static void forget(struct adapt *a)
{
	for (unsigned i = 0; i < ADAPT_RUNGS; i++)
		a->cut[i] = -1;
}

void adapt_init(struct adapt *a, uint32_t bytes, uint32_t most)
{
	*a = (struct adapt){.bytes = bytes ? bytes : ADAPT_START};
	a->most = most && most < ADAPT_MOST ? most & ~7U : ADAPT_MOST;
	if (a->bytes > a->most)
		a->bytes = a->most;
	forget(a);
}

/* Too many are cut. */
static uint32_t climb(struct adapt *a, unsigned rung)
{
	if (a->rest)
		return a->bytes;
	if (a->bytes < a->most)
		return a->bytes = rung_bytes(a, rung + 1);
	for (unsigned i = 0; i < rung; i++)
		if (a->cut[i] >= 0 && a->cut[i] <= a->cut[rung] + CUT_SAME) {
			a->rest = REST_LOOKS;
			return a->bytes = rung_bytes(a, i);
		}
	return a->bytes;
}

uint32_t adapt_next(struct adapt *a, const struct adapt_seen *seen)
{
	unsigned rung = rung_of(a);
	double cut;

	if (a->rest && --a->rest == 0)
		forget(a); /* the program may do something else by now */
	if (seen->stacks < STACKS_LEAST)
		return a->bytes;
	cut = a->cut[rung] = (double)seen->cut / (double)seen->stacks;
	if (cut > CUT_MUCH) {
		a->calm = 0;
		return climb(a, rung);
	}
	if (cut > CUT_LITTLE || rung == 0 ||
	    (double)seen->shallow < SHALLOW_SHARE * (double)seen->stacks) {
		a->calm = 0;
		return a->bytes;
	}
	if (++a->calm < CALM_LOOKS)
		return a->bytes;
	a->calm = 0;
	return a->bytes = rung_bytes(a, rung - 1);
}
