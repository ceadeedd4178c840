/*
 * confidence: intervals of shares and what follows from the number of hits.
 *
 * Pure functions, any thread.
 */
#include "insight/confidence.h"

#include <math.h>

#include "answer.h"

double confidence_effective(uint64_t weight, double weight_sq)
{
	return weight_sq > 0 ? (double)weight * (double)weight / weight_sq : 0;
}

static void normal(struct interval *i, double n)
{
	i->margin = CONFIDENCE_Z * sqrt(i->share * (1 - i->share) / n);
	i->low = fmax(0, i->share - i->margin);
	i->high = fmin(1, i->share + i->margin);
}

static void wilson(struct interval *i, double n)
{
	double z2 = CONFIDENCE_Z * CONFIDENCE_Z;
	double scale = 1 + z2 / n;
	double middle = (i->share + z2 / (2 * n)) / scale;
	i->margin = CONFIDENCE_Z / scale * sqrt(i->share * (1 - i->share) / n + z2 / (4 * n * n));
	i->low = fmax(0, middle - i->margin);
	i->high = fmin(1, middle + i->margin);
}

struct interval confidence_interval(uint64_t weight, double weight_sq, uint64_t whole, double n)
{
	struct interval i = {.high = 1, .margin = 0.5};
	if (!whole)
		return i;
	i.share = (double)weight / (double)whole;
	if (i.share > 1)
		i.share = 1;
	if (n <= 0) /* a time that was accounted and never sampled */
		return i;
	double hits = confidence_effective(weight, weight_sq), misses = n * (1 - i.share);
	if (isinf(n))
		i = (struct interval){i.share, i.share, i.share, 0};
	else if (hits > CONFIDENCE_NORMAL && misses > CONFIDENCE_NORMAL)
		normal(&i, n);
	else
		wilson(&i, n);
	return i;
}

uint32_t confidence_flags(double hits)
{
	uint32_t flags = 0;
	if (hits < CONFIDENCE_UNRANKED)
		flags |= ROW_UNRANKED;
	else if (hits < CONFIDENCE_LOW)
		flags |= ROW_LOW;
	if (hits < 100) /* 1/√k > 10 % */
		flags |= ROW_DIM;
	return flags;
}

bool confidence_tied(const struct interval *a, const struct interval *b)
{
	return a->low <= b->high && b->low <= a->high;
}
