/*
 * regs: what unwinding must know of an architecture, in DWARF's register numbers.
 */
#ifndef ALTPTTOP_REGS_H
#define ALTPTTOP_REGS_H

#include "sample.h"

#define REGS_MAX 33 /* DWARF numbers below it are followed: x86-64 0…16, aarch64 0…32 */

struct regs_arch {
	enum arch arch;
	uint8_t word;  /* bytes of an address */
	uint8_t count; /* DWARF numbers below it exist */
	uint8_t sp, fp;
	uint8_t pc;       /* the number that stands for the program counter */
	uint8_t lr;       /* link register, REGS_MAX: return addresses are pushed */
	uint64_t pc_bits; /* bits of a code address; the others may hold an authentication code */
	const uint8_t *perf; /* DWARF number → PERF_REG_* */
};

/* NULL for an architecture that cannot be unwound here. */
const struct regs_arch *regs_arch_get(enum arch arch);

/* The register's value from the sample; false: not sampled. */
static inline bool regs_get(const struct regs_arch *a, const struct sample_regs *s, unsigned reg,
			    uint64_t *ret_value)
{
	unsigned perf = reg < a->count ? a->perf[reg] : SAMPLE_REGS;
	if (perf >= SAMPLE_REGS || !(s->mask >> perf & 1))
		return false;
	*ret_value = s->r[perf];
	return true;
}

#endif
