/*
 * breakpoint: mem:ADDRESS[/LENGTH][:rwx], the debug registers of the CPU as an event. Pure.
 *
 * As a leader of a group it takes a reading of all its members at each access.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>

#include "event/spec.h"

static bool access_parse(const char *text, size_t len, uint32_t *ret_type)
{
	uint32_t type = 0;

	for (size_t i = 0; i < len; i++)
		switch (text[i]) {
		case 'r': type |= HW_BREAKPOINT_R; break;
		case 'w': type |= HW_BREAKPOINT_W; break;
		case 'x': type |= HW_BREAKPOINT_X; break;
		default: return false;
		}
	*ret_type = type;
	return type && (!(type & HW_BREAKPOINT_X) || type == HW_BREAKPOINT_X);
}

int event_breakpoint(const char *text, size_t len, struct event_spec *spec, struct err *err)
{
	const char *p = text + 4, *end = text + len, *slash, *colon;
	uint64_t length = 0;

	if (len < 5 || strncmp(text, "mem:", 4) != 0)
		return 0;
	slash = memchr(p, '/', (size_t)(end - p));
	colon = memchr(p, ':', (size_t)(end - p));
	spec->type = PERF_TYPE_BREAKPOINT;
	spec->bp_type = HW_BREAKPOINT_RW;
	if (colon && !access_parse(colon + 1, (size_t)(end - colon - 1), &spec->bp_type))
		goto bad;
	if (colon)
		end = colon;
	if (slash && slash > end)
		goto bad;
	if (slash && (!event_number(slash + 1, (size_t)(end - slash - 1), &length) ||
		      (length != 1 && length != 2 && length != 4 && length != 8)))
		goto bad;
	if (slash)
		end = slash;
	if (!event_number(p, (size_t)(end - p), &spec->config1))
		goto bad;
	if (!length)
		length = spec->bp_type == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
	spec->config2 = length;
	spec->period = 1; /* each access is a sample */
	return 1;
bad:
	return err_set(err, EINVAL,
		       "%.*s: an address is watched as mem:0xADDRESS[/1|2|4|8][:r|w|rw|x]",
		       len > 80 ? 80 : (int)len, text);
}
