/*
 * adapt: the policy for the size of stack dumps. Pure.
 */
#include "sample/adapt.h"

#define STACKS_LEAST 100
#define CUT_MUCH     0.02
#define CUT_LITTLE   0.005
#define CUT_SAME     0.01
#define FITS_SHARE   0.99
#define SHALLOW      2  /* looks in a row before dumps shrink to what the stacks need */
#define CALM         10 /* looks in a row with few cut before a smaller size is tried */
#define REST         60 /* looks before what did not help is tried again */

static uint32_t adapt_rung_bytes(const struct adapt *a, unsigned rung)
{
	uint32_t bytes = (uint32_t)ADAPT_LEAST << rung;

	return bytes < a->most ? bytes : a->most;
}

static unsigned rung_of(const struct adapt *a)
{
	unsigned rung = 0;

	while (rung < ADAPT_RUNGS - 1 && adapt_rung_bytes(a, rung) < a->bytes)
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
	*a = (struct adapt){.bytes = bytes ? bytes : ADAPT_MOST};
	a->most = most && most < ADAPT_MOST ? most & ~7U : ADAPT_MOST;
	if (a->bytes > a->most)
		a->bytes = a->most;
	forget(a);
}

void adapt_saw(struct adapt_seen *seen, const struct adapt *a, uint32_t stack_bytes, bool whole,
	       bool cut)
{
	seen->stacks++;
	seen->cut += cut;
	for (unsigned i = 0; whole && i < ADAPT_RUNGS; i++)
		seen->fits[i] += stack_bytes <= adapt_rung_bytes(a, i);
}

static uint32_t go_to(struct adapt *a, unsigned rung)
{
	a->shallow = a->calm = 0;
	return a->bytes = adapt_rung_bytes(a, rung);
}

/* Too many are cut. */
static uint32_t climb(struct adapt *a, unsigned rung)
{
	a->shallow = a->calm = 0;
	if (a->trying) /* a smaller size, in vain */
		a->rest_down = REST;
	a->trying = false;
	if (a->rest_up)
		return a->bytes;
	if (a->bytes < a->most)
		return go_to(a, rung + 1);
	for (unsigned i = 0; i < rung; i++)
		if (a->cut[i] >= 0 && a->cut[i] <= a->cut[rung] + CUT_SAME) {
			a->rest_up = REST;
			return go_to(a, i);
		}
	return a->bytes;
}

/* The smallest rung that holds nearly all stacks whole. */
static unsigned needed(const struct adapt_seen *seen, unsigned rung)
{
	for (unsigned i = 0; i < rung; i++)
		if ((double)seen->fits[i] >= FITS_SHARE * (double)seen->stacks)
			return i;
	return rung;
}

uint32_t adapt_next(struct adapt *a, const struct adapt_seen *seen)
{
	unsigned rung = rung_of(a), need;
	double cut;

	if (a->rest_up && --a->rest_up == 0)
		forget(a); /* the program may do something else by now */
	if (a->rest_down)
		a->rest_down--;
	if (seen->stacks < STACKS_LEAST)
		return a->bytes;
	cut = a->cut[rung] = (double)seen->cut / (double)seen->stacks;
	if (cut > CUT_MUCH)
		return climb(a, rung);
	need = needed(seen, rung);
	if (!a->shallow || need > a->need)
		a->need = need;
	a->shallow = need < rung ? a->shallow + 1 : 0;
	if (a->shallow >= SHALLOW)
		return go_to(a, a->need);
	a->calm = cut <= CUT_LITTLE && rung && !a->rest_down ? a->calm + 1 : 0;
	if (a->calm < CALM)
		return a->bytes;
	a->trying = true;
	return go_to(a, rung - 1);
}
