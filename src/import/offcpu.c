/*
 * offcpu: thread, duration and stack out of a sample's raw data. Pure, any thread; what such a
 * sample counts for is left to the importers.
 */
#include "import/offcpu.h"

#include "codec/perf_cursor.h"

bool offcpu_from_raw(const struct record_layout *l, struct record_sample *io_sample,
		     uint64_t chain[OFFCPU_CHAIN_MAX])
{
	enum { THREAD = 8, FIXED = THREAD + 8 + 8 };
	uint8_t *at = (uint8_t *)(uintptr_t)io_sample->raw;
	if (!at || io_sample->raw_size < FIXED)
		return false;
	struct cursor c = {.at = at, .end = at + io_sample->raw_size, .swap = l->swap};
	pid_t pid = (pid_t)cursor_u32(&c), tid = (pid_t)cursor_u32(&c);
	uint64_t period = cursor_u64(&c), n = cursor_u64(&c);
	if (n > (uint64_t)(c.end - c.at) / 8)
		return false;
	uint64_t kept = n < OFFCPU_CHAIN_MAX ? n : OFFCPU_CHAIN_MAX;
	for (uint64_t i = 0; i < kept; i++)
		chain[i] = cursor_u64(&c);
	io_sample->who.pid = pid;
	io_sample->who.tid = tid;
	io_sample->period = period;
	io_sample->fields |= FIELD_PERIOD;
	io_sample->chain = chain;
	io_sample->nchain = kept;
	io_sample->ip = kept > 1 ? chain[1] : 0; /* behind the mark of whose stack it is */
	return true;
}
