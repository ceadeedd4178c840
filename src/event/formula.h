/*
 * formula: arithmetic over named values: + - * / ( ) and numbers. "1000 * misses / instructions".
 *
 * Parsed once into a fixed postfix list; nothing is allocated. A formula that was parsed before may
 * stand in another by its name: it is taken in whole. Pure, any thread.
 */
#ifndef ALTPTTOP_FORMULA_H
#define ALTPTTOP_FORMULA_H

#include <stdint.h>

#include "err.h"

#define FORMULA_OPS  160
#define FORMULA_DEEP 16

struct formula_op {
	char kind;      /* '#' a number, '@' a value, '+' '-' '*' '/', '~' the negative */
	uint16_t index; /* '@': which value */
	double number;
};
struct formula {
	struct formula_op ops[FORMULA_OPS];
	uint16_t n;
	uint32_t uses; /* bit i: value i is needed */
};

/* Who a name in a formula is: the place of a value (0…31, -1 none), or else a formula (NULL none).
 */
struct formula_names {
	int (*value)(void *ctx, const char *name, int len);
	const struct formula *(*formula)(void *ctx, const char *name, int len); /* NULL: there are
										   none */
	void *ctx;
};

/*
 * Names begin with a letter and go on with letters, digits, _ and dots. -EINVAL with a sentence: a
 * name nobody knows, or no formula.
 */
int formula_parse(const char *text, const struct formula_names *names, struct formula *ret,
		  struct err *err);

/* NAN when a value it needs is NAN, or it divides by zero. */
double formula_value(const struct formula *f, const double *values);

#endif
