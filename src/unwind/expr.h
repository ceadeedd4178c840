/*
 * expr: evaluates a DWARF expression (DWARF 5 section 2.5) as call frame information uses it.
 *
 * Bounded: a stack of 64, and a budget of operations shared by everything one sample evaluates.
 */
#ifndef ALTPTTOP_EXPR_H
#define ALTPTTOP_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct expr_env {
	bool (*reg)(void *ctx, unsigned reg, uint64_t *ret_value);
	bool (*read)(void *ctx, uint64_t addr, unsigned bytes, uint64_t *ret_value);
	void *ctx;
	uint8_t word;     /* bytes of an address: 4 or 8 */
	uint32_t *budget; /* operations left, counted down */
};

/* The value on top of the stack at the end. @initial (may be NULL) is pushed first. False: an
 * operation that cannot be done, a register or memory not known, or the budget is used up. */
bool expr_eval(const uint8_t *bytes, size_t size, const struct expr_env *env,
	       const uint64_t *initial, uint64_t *ret_value);

#endif
