/*
 * breakpoint: mem:ADDRESS[/LENGTH][:rwx], the debug registers of the CPU as an event. Pure.
 *
 * mem:SYMBOL is an event without an address yet: who watches a program says where the symbol lies.
 *
 * As a leader of a group it takes a reading of all its members at each access.
 */
#include <ctype.h>
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

static bool access_is(const char *text, size_t len)
{
	uint32_t type;

	return len >= 1 && len <= 2 && access_parse(text, len, &type);
}

static bool length_parse(const char *text, size_t len, uint64_t *ret)
{
	return event_number(text, len, ret) && (*ret == 1 || *ret == 2 || *ret == 4 || *ret == 8);
}

/* A name of a symbol, perhaps with +OFFSET behind it. */
static bool symbol_parse(const char *p, const char *end, struct event_spec *spec)
{
	const char *plus = memrchr(p, '+', (size_t)(end - p));
	uint64_t offset = 0;

	if (plus && plus != p && event_number(plus + 1, (size_t)(end - plus - 1), &offset))
		end = plus;
	if (p == end || isdigit((unsigned char)*p) || (size_t)(end - p) >= sizeof spec->symbol)
		return false;
	for (const char *c = p; c < end; c++)
		if (iscntrl((unsigned char)*c) || (*c == ':' && (c + 1 == end || c == p)))
			return false;
	spec->offset = offset;
	memcpy(spec->symbol, p, (size_t)(end - p));
	spec->symbol[end - p] = '\0';
	return true;
}

/* What a debug register can hold: a length that divides the address, at most @most. */
static uint64_t length_at(uint64_t addr, uint64_t most)
{
	uint64_t length = 8;

	while (length > 1 && (length > most || addr % length))
		length /= 2;
	return length;
}

int event_breakpoint(const char *text, size_t len, struct event_spec *spec, struct err *err)
{
	const char *p = text + 4, *end = text + len, *slash, *colon;
	uint64_t length = 0;

	if (len < 5 || strncmp(text, "mem:", 4) != 0)
		return 0;
	spec->type = PERF_TYPE_BREAKPOINT;
	spec->bp_type = 0;
	colon = memrchr(p, ':', (size_t)(end - p));
	if (colon && access_is(colon + 1, (size_t)(end - colon - 1))) {
		access_parse(colon + 1, (size_t)(end - colon - 1), &spec->bp_type);
		end = colon;
	} else if (colon && isdigit((unsigned char)*p)) {
		goto bad;
	}
	slash = memrchr(p, '/', (size_t)(end - p));
	if (slash && length_parse(slash + 1, (size_t)(end - slash - 1), &length))
		end = slash;
	else if (slash && (isdigit((unsigned char)slash[1]) || slash + 1 == end))
		goto bad;
	if (event_number(p, (size_t)(end - p), &spec->config1)) {
		if (!spec->bp_type)
			spec->bp_type = HW_BREAKPOINT_RW;
		if (!length)
			length = spec->bp_type == HW_BREAKPOINT_X ? sizeof(long)
								  : HW_BREAKPOINT_LEN_4;
	} else if (!symbol_parse(p, end, spec)) {
		goto bad;
	}
	spec->asked_access = spec->bp_type;
	spec->asked_length = spec->config2 = length;
	spec->period = 1; /* each access is a sample */
	return 1;
bad:
	return err_set(err, EINVAL,
		       "%.*s: an address is watched as mem:0xADDRESS[/1|2|4|8][:r|w|rw|x] or "
		       "mem:SYMBOL[+OFFSET][/1|2|4|8][:r|w|rw|x]",
		       len > 80 ? 80 : (int)len, text);
}

int event_spec_place(struct event_spec *spec, uint64_t addr, uint64_t size, bool code,
		     struct err *err)
{
	uint32_t access = spec->asked_access ? spec->asked_access
			  : code             ? HW_BREAKPOINT_X
					     : HW_BREAKPOINT_RW;
	uint64_t length = spec->asked_length, most = size > spec->offset ? size - spec->offset : 0;

	if (access == HW_BREAKPOINT_X && !code)
		return err_set(err, EINVAL, "%.80s: %.60s is data: it is read and written, not run",
			       spec->name, spec->symbol);
	if (size && !most)
		return err_set(err, EINVAL, "%.80s: %.60s ends before that, it has %llu bytes",
			       spec->name, spec->symbol, (unsigned long long)size);
	addr += spec->offset;
	if (access == HW_BREAKPOINT_X)
		length = sizeof(long); /* what the kernel asks for */
	else if (!length)
		length = length_at(addr, most ? most : HW_BREAKPOINT_LEN_4);
	else if (addr % length)
		return err_set(err, EINVAL,
			       "%.80s: %llu bytes are watched at a multiple of %llu only, and "
			       "%.60s is at 0x%llx here",
			       spec->name, (unsigned long long)length, (unsigned long long)length,
			       spec->symbol, (unsigned long long)addr);
	spec->config1 = addr;
	spec->config2 = length;
	spec->bp_type = access;
	spec->placed = true;
	return 0;
}

void event_spec_displace(struct event_spec *spec)
{
	spec->placed = false;
	spec->config1 = 0;
}
