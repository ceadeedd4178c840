/* dwfl: the libdw oracle: one Dwfl for a process, unwinding given registers and stack bytes. */
#ifndef ALTPTTOP_BENCH_DWFL_H
#define ALTPTTOP_BENCH_DWFL_H

#include "stacks.h"

struct oracle_dw;
struct oracle_dw *oracle_dw_new(pid_t pid);
void oracle_dw_free(struct oracle_dw *o);
void oracle_dw_remap(struct oracle_dw *o); /* its maps changed */
/* Run-time addresses, innermost first; how many. */
uint32_t oracle_dw_chain(struct oracle_dw *o, const struct stack_sample *s, size_t bytes,
			 uint64_t *ret_pcs, uint32_t max);

#endif
