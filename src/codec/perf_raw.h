/*
 * perf_raw: from parsed records of perf to what a sink takes, for rings and for files.
 *
 * Pure; any thread. What only the caller knows it fills in itself: the time (a record may be late),
 * the event, the weight, the values.
 */
#ifndef ALTPTTOP_PERF_RAW_H
#define ALTPTTOP_PERF_RAW_H

#include "codec/perf_record.h"
#include "sink.h"

#define RAW_CHAIN_MAX 4096 /* words, of a chain whose parts come in several runs */
#define RAW_LBR_MAX   256  /* processors keep 32 calls at most */

/* Room for what is not taken where it lies in the record. Needs no initialisation. */
struct raw_room {
	struct sample_regs regs;
	uint64_t chain[RAW_CHAIN_MAX];
	uint64_t lbr[RAW_LBR_MAX + 2];
};

/* A MMAP or MMAP2 record; a record that tells no protection is of code. */
void raw_from_mmap(const struct record_side *r, struct raw_mmap *ret);

/*
 * Thread, CPU (UINT32_MAX: not told), flags, ip and stack of a sample of @l. The stack is the dump
 * where there is one, else the call stack that the hardware kept, else the kernel's chain. Points
 * into the record and into @room. @machine: where the sample was taken, as its 64-bit programs see
 * it.
 */
void raw_from_sample(const struct record_layout *l, const struct record_sample *s,
		     enum arch machine, struct raw_room *room, struct raw_sample *ret);

#endif
