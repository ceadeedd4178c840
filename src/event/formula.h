/*
 * formula: arithmetic over named values: + - * / ( ) and numbers. "1000 * misses / instructions".
 *
 * Parsed once into a fixed postfix list; nothing is allocated. Pure, any thread.
 */
#ifndef ALTPTTOP_FORMULA_H
#define ALTPTTOP_FORMULA_H

#include <stdint.h>

#include "err.h"

#define FORMULA_OPS  48
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

/*
 * Names begin with a letter and go on with letters, digits, _ and dots. @find gives a name's place
 * (0…31) or -1. -EINVAL with a sentence: a name nobody knows, or no formula.
 */
int formula_parse(const char *text, int (*find)(void *ctx, const char *name, int len), void *ctx,
		  struct formula *ret, struct err *err);

/* NAN when a value it needs is NAN, or it divides by zero. */
double formula_value(const struct formula *f, const double *values);

#endif
