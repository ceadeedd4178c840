/*
 * perf_attr: perf_event_attr of any published size and either byte order, as plain fields.
 *
 * Offsets are the ABI's (include/uapi/linux/perf_event.h); fields that a shorter, older attr lacks
 * read as zero, those of a longer, newer one are left alone. Pure, any thread.
 */
#include <errno.h>

#include "codec/perf_cursor.h"
#include "codec/perf_record.h"

#define ATTR_SIZE_FIRST 64
#define ATTR_SIZE_KNOWN 136

/* On a big-endian machine the first bit field is the highest bit. */
static uint64_t bits_reversed(uint64_t v)
{
	uint64_t r = 0;

	for (int i = 0; i < 64; i++)
		r |= (v >> i & 1) << (63 - i);
	return r;
}

int record_attr_parse(const void *bytes, size_t len, bool swap, struct record_attr *ret_attr)
{
	uint8_t copy[ATTR_SIZE_KNOWN] = {0};
	struct cursor c = {.at = copy, .end = copy + sizeof copy, .swap = swap};
	struct record_attr a = {0};
	uint64_t bits;

	if (len < ATTR_SIZE_FIRST)
		return -EBADMSG;
	memcpy(copy, bytes, len < sizeof copy ? len : sizeof copy);
	a.type = cursor_u32(&c);
	a.size = cursor_u32(&c);
	if (a.size >= ATTR_SIZE_FIRST && a.size < sizeof copy) /* what follows is not the attr's */
		memset(copy + a.size, 0, sizeof copy - a.size);
	a.config = cursor_u64(&c);
	a.period = cursor_u64(&c);
	a.layout.sample_type = cursor_u64(&c);
	a.layout.read_format = cursor_u64(&c);
	bits = cursor_u64(&c);
	a.flags = swap ? bits_reversed(bits) : bits;
	a.precise = swap ? bits >> 47 & 3 : bits >> 15 & 3;
	cursor_u32(&c); /* wakeup */
	a.bp_type = cursor_u32(&c);
	a.config1 = cursor_u64(&c);
	a.config2 = cursor_u64(&c);
	a.layout.branch_type = cursor_u64(&c);
	a.layout.regs_user = cursor_u64(&c);
	a.stack_user = cursor_u32(&c);
	a.clock = cursor_u32(&c);
	a.layout.regs_intr = cursor_u64(&c);
	cursor_u32(&c); /* aux_watermark */
	a.max_stack = cursor_u16(&c);
	a.layout.sample_id_all = a.flags & ATTR_SAMPLE_ID_ALL;
	a.layout.build_id = a.flags >> 34 & 1;
	a.layout.swap = swap;
	*ret_attr = a;
	return 0;
}
