/*
 * spec: from a name to an event: takes modifiers off and asks the resolvers in turn. Software
 * events and raw codes are its own. Any thread.
 */
#include "event/spec.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "event/sysfs.h"

#define MODIFIERS "ukhGHpP"

static const struct software {
	const char *name, *alias;
	uint64_t config;
	enum event_unit unit;
	bool clock;
} software[] = {
	{"cpu-clock", NULL, PERF_COUNT_SW_CPU_CLOCK, EVENT_NS, true},
	{"task-clock", NULL, PERF_COUNT_SW_TASK_CLOCK, EVENT_NS, true},
	{"page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, EVENT_COUNT, false},
	{"context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, EVENT_COUNT, false},
	{"cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, EVENT_COUNT, false},
	{"minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN, EVENT_COUNT, false},
	{"major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ, EVENT_COUNT, false},
	{"alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS, EVENT_COUNT, false},
	{"emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS, EVENT_COUNT, false},
	{"dummy", NULL, PERF_COUNT_SW_DUMMY, EVENT_COUNT, false},
	{"cgroup-switches", NULL, PERF_COUNT_SW_CGROUP_SWITCHES, EVENT_COUNT, false},
};

static bool is_name(const char *name, const char *text, size_t len)
{
	return name && strncmp(name, text, len) == 0 && !name[len];
}

int event_software(const char *text, size_t len, struct event_spec *spec, struct err *err)
{
	(void)err;
	for (size_t i = 0; i < sizeof software / sizeof *software; i++) {
		const struct software *s = &software[i];

		if (!is_name(s->name, text, len) && !is_name(s->alias, text, len))
			continue;
		spec->type = PERF_TYPE_SOFTWARE;
		spec->config = s->config;
		spec->unit = s->unit;
		spec->clock = s->clock;
		return 1;
	}
	return 0;
}

int event_raw(const char *text, size_t len, struct event_spec *spec, struct err *err)
{
	uint64_t code = 0;

	(void)err;
	if (len < 2 || len > 17 || text[0] != 'r')
		return 0;
	for (size_t i = 1; i < len; i++) {
		if (!isxdigit((unsigned char)text[i]))
			return 0;
		code = code << 4 | (uint64_t)(isdigit((unsigned char)text[i])
						      ? text[i] - '0'
						      : tolower((unsigned char)text[i]) - 'a' + 10);
	}
	spec->type = PERF_TYPE_RAW;
	spec->config = code;
	return 1;
}

bool event_number(const char *text, size_t len, uint64_t *ret)
{
	unsigned base = 10;
	uint64_t n = 0;

	if (len > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
		len -= 2;
	} else if (len > 1 && text[0] == '0') {
		base = 8;
	}
	for (size_t i = 0; i < len; i++) {
		int c = tolower((unsigned char)text[i]);
		unsigned digit = isdigit(c) ? (unsigned)(c - '0')
				 : c >= 'a' ? (unsigned)(c - 'a') + 10
					    : base;

		if (digit >= base || n > (UINT64_MAX - digit) / base)
			return false;
		n = n * base + digit;
	}
	*ret = n;
	return len > 0;
}

int event_spec_modify(struct event_spec *spec, const char *modifiers)
{
	bool user = false, kernel = false, hv = false, guest = false, host = false;
	uint8_t precise = 0;

	for (const char *m = modifiers; *m; m++)
		switch (*m) {
		case 'u': user = true; break;
		case 'k': kernel = true; break;
		case 'h': hv = true; break;
		case 'G': guest = true; break;
		case 'H': host = true; break;
		case 'p': precise++; break;
		case 'P': precise = pmu_max_precise(spec->pmu); break;
		default: return -EINVAL;
		}
	if (precise > 3)
		return -EINVAL;
	if (user || kernel || hv) {
		spec->exclude_user = !user;
		spec->exclude_kernel = !kernel;
		spec->exclude_hv = !hv;
	}
	if (guest || host) {
		spec->exclude_guest = !guest;
		spec->exclude_host = !host;
	}
	spec->precise = precise;
	return 0;
}

/* Where modifiers begin: after the last colon (or a PMU's closing slash); NULL: there are none. */
static const char *modifiers_of(const char *text)
{
	const char *slash = strrchr(text, '/'), *colon = strrchr(text, ':');
	const char *m = slash && slash != text ? slash : colon;

	if (!m || (slash && strncmp(text, "mem:", 4) == 0))
		m = colon;
	if (!m || (m == text + 3 && strncmp(text, "mem:", 4) == 0)) /* a symbol, even if it is u */
		return NULL;
	m++;
	m += *m == ':';
	return *m && strspn(m, MODIFIERS) == strlen(m) ? m : NULL;
}

static int resolve(event_resolver *const *list, const char *text, size_t len,
		   struct event_spec *spec, struct err *err)
{
	int rc = 0;

	for (; !rc && *list; list++)
		rc = (*list)(text, len, spec, err);
	return rc;
}

/* Without what libpfm4 and tracepoints make of colons. */
static int resolve_plain(const char *text, struct event_spec *spec, struct err *err)
{
	static event_resolver *const plain[] = {
		event_pmu, event_breakpoint, event_software, event_hardware, event_cache,
		event_raw, event_tracepoint, event_alias,    NULL,
	};
	const char *m = modifiers_of(text);
	size_t len = m ? (size_t)(m - text) : strlen(text);
	int rc;

	if (m && text[len - 1] == ':')
		len--;
	rc = resolve(plain, text, len, spec, err);
	if (rc > 0 && m && event_spec_modify(spec, m))
		return err_set(err, EINVAL, "%.80s: modifiers are u k h G H, up to three p, or P",
			       text);
	return rc;
}

/* Nobody has such an event; where tracepoints cannot be seen it may be one. */
static int unknown(const char *text, struct err *err)
{
	struct err why = {0};

	if (tracepoint_name(text) && tracepoints_refused(&why))
		return err_set(err, ENOENT,
			       "there is no event %.80s here; if it is a tracepoint: %s", text,
			       why.msg);
	return err_set(err, ENOENT, "there is no event %.80s here; see --list-events", text);
}

int event_spec_parse(const char *text, struct event_spec *ret_spec, struct err *err)
{
	struct event_spec spec = {0};
	int rc;

	if (!*text || strlen(text) >= sizeof spec.name)
		return err_set(err, EINVAL, "an event's name has 1 to %d characters",
			       (int)sizeof spec.name - 1);
	rc = resolve_plain(text, &spec, err);
	if (!rc)
		rc = event_pfm(text, strlen(text), &spec, err);
	if (rc < 0)
		return rc;
	if (!rc)
		return unknown(text, err);
	snprintf(spec.name, sizeof spec.name, "%s", text);
	*ret_spec = spec;
	return 0;
}
