/*
 * confidence: how far a share of samples can be trusted.
 *
 * A share p of a whole, seen in k hits of n: 95 % intervals, normal above 30 hits and 30 misses,
 * Wilson's below (Wilson 1927; Brown, Cai, DasGupta 2001). Samples of unequal weight count as n =
 * (Σw)²/Σw² (Kish 1965). Pure functions.
 */
#ifndef ALTPTTOP_CONFIDENCE_H
#define ALTPTTOP_CONFIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#define CONFIDENCE_UNRANKED 5  /* fewer hits: not ranked */
#define CONFIDENCE_LOW      30 /* fewer: low confidence */
#define CONFIDENCE_NORMAL   30 /* more, and as many misses: the normal approximation */
#define CONFIDENCE_Z        1.959963984540054

struct interval {
	double share; /* the estimate, 0…1 */
	double low, high;
	double margin; /* half the interval's width */
};

/* How many equally weighted samples say as much; 0 when nothing was seen. */
double confidence_effective(uint64_t weight, double weight_sq);

/*
 * The interval of @weight out of @whole. @hits and @weight_sq are the row's, @n the whole's
 * effective number of samples; INFINITY: the weights are exact, there is no error.
 */
struct interval confidence_interval(uint64_t weight, double weight_sq, uint64_t whole, double n);

/* ROW_UNRANKED, ROW_LOW, ROW_DIM (relative error above 10 %) for a row of @hits. */
uint32_t confidence_flags(double hits);

/* Do two intervals overlap, so that their rows must not be called different? */
bool confidence_tied(const struct interval *a, const struct interval *b);

#endif
