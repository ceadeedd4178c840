/*
 * option_set: what each option does with its argument.
 *
 * Every setter checks its text wholly and either stores a value or leaves one sentence that names
 * the option as it was meant and what is wrong. Rules between options are in option_parse.c; rates
 * are judged later (rate.c), when the machine's limits are known. Main thread only.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define PID_LIST_MAX    65536
#define EVENT_LIST_MAX  32
#define STACK_BYTES_MAX 65528 /* perf_event_open(2): sample_stack_user */
#define MAX_STACK_MAX   1024
#define TOLD_MAX        60
#define SECONDS_MAX     (366.0 * 86400)

/* What is wrong must still be there when @value is a page long: its beginning is told. */
static int refuse(const struct option_desc *d, const char *value, const char *why, struct err *err)
{
	bool all = strlen(value) <= TOLD_MAX;
	char title[40];

	return err_set(err, EINVAL, "%s %.*s%s: %s", option_title(d, title), TOLD_MAX,
		       *value ? value : "''", all ? "" : "\xe2\x80\xa6", why);
}

static void *field(struct options *o, const struct option_desc *d)
{
	return (char *)o + d->where;
}

/* A whole decimal number without sign or blanks. */
static bool parse_u64(const char *text, uint64_t *ret_value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	if (errno || *end)
		return false;
	*ret_value = v;
	return true;
}

static bool parse_number(const char *text, double *ret_value)
{
	char *end;

	if (!strchr("0123456789.", *text) || !*text || strspn(text, "0123456789.") != strlen(text))
		return false;
	double v = strtod(text, &end);
	if (*end || !isfinite(v))
		return false;
	*ret_value = v;
	return true;
}

OPTION_SETTER(set_flag)
{
	(void)value;
	(void)err;
	*(bool *)field(o, d) = true;
	return 0;
}

OPTION_SETTER(set_text)
{
	if (!*value)
		return refuse(d, "", "must not be empty", err);
	*(const char **)field(o, d) = value;
	return 0;
}

/* FROM may hold no '=', TO may. */
OPTION_SETTER(set_source_path)
{
	const char *equals = strchr(value, '=');

	if (!equals || equals == value || !equals[1])
		return refuse(d, value, "must be FROM=TO, as /build/app=/home/me/app", err);
	o->path_from = arena_printf(&o->texts, "%.*s", (int)(equals - value), value);
	o->path_to = equals + 1;
	return o->path_from ? 0 : err_set(err, ENOMEM, "out of memory");
}

OPTION_SETTER(set_choice)
{
	size_t len = strlen(value);
	int index = 0;

	for (const char *c = d->choices; c; index++) {
		const char *bar = strchr(c, '|');
		size_t n = bar ? (size_t)(bar - c) : strlen(c);
		if (len && n == len && !memcmp(c, value, n)) {
			*(int *)field(o, d) = index;
			return 0;
		}
		c = bar ? bar + 1 : NULL;
	}
	char why[128];
	snprintf(why, sizeof why, "must be one of %s", d->choices);
	return refuse(d, value, why, err);
}

OPTION_SETTER(set_wait)
{
	double v;

	if (!parse_number(value, &v) || v > SECONDS_MAX)
		return refuse(d, value, "must be a number of seconds, as 2 or 0.5", err);
	*(uint64_t *)field(o, d) = (uint64_t)llround(v * 1e9);
	return 0;
}

OPTION_SETTER(set_duration)
{
	double v;

	if (!parse_number(value, &v) || v > SECONDS_MAX || v * 1e9 < 1)
		return refuse(d, value, "must be a number of seconds above 0, as 10 or 0.5", err);
	*(uint64_t *)field(o, d) = (uint64_t)llround(v * 1e9);
	return 0;
}

OPTION_SETTER(set_interval)
{
	double v;

	if (!parse_number(value, &v) || v < 0.1 || v > 3600)
		return refuse(d, value, "must be from 0.1 to 3600 seconds", err);
	*(uint64_t *)field(o, d) = (uint64_t)llround(v * 1e9);
	return 0;
}

OPTION_SETTER(set_count)
{
	uint64_t v;

	if (!parse_u64(value, &v) || !v)
		return refuse(d, value, "must be a whole number above 0", err);
	*(uint64_t *)field(o, d) = v;
	return 0;
}

OPTION_SETTER(set_percent)
{
	double v;

	if (!parse_number(value, &v) || v > 100)
		return refuse(d, value, "must be from 0 to 100", err);
	*(double *)field(o, d) = v;
	return 0;
}

OPTION_SETTER(set_ghz)
{
	double v;

	if (!parse_number(value, &v) || v <= 0 || v > 100)
		return refuse(d, value, "must be a clock rate in GHz, as 3.2", err);
	*(double *)field(o, d) = v;
	return 0;
}

OPTION_SETTER(set_action)
{
	if (d->choices) {
		struct option_desc named = *d;
		struct options scratch;
		named.where = offsetof(struct options, color); /* any int will do */
		int rc = set_choice(&scratch, &named, value, err);
		if (rc)
			return rc;
	}
	/* --help and --version win over whatever else is asked. */
	if (o->action == ACTION_HELP || o->action == ACTION_VERSION)
		return 0;
	o->action = (enum action)d->where;
	o->action_arg = value;
	return 0;
}

static int add_ids(pid_t **ids, uint32_t *n, const struct option_desc *d, const char *value,
		   struct err *err)
{
	const char *p = value;

	for (;;) {
		size_t len = strcspn(p, ",");
		char digits[24];
		uint64_t id;

		if (len >= sizeof digits)
			return refuse(d, value, "must be numbers above 0, separated by commas",
				      err);
		memcpy(digits, p, len);
		digits[len] = '\0';
		if (!parse_u64(digits, &id) || !id || id > INT_MAX)
			return refuse(d, value, "must be numbers above 0, separated by commas",
				      err);
		uint32_t at = 0;
		while (at < *n && (*ids)[at] != (pid_t)id)
			at++;
		if (at == *n) {
			if (*n == PID_LIST_MAX)
				return refuse(d, "", "too many", err);
			pid_t *grown = realloc(*ids, (*n + 1) * sizeof **ids);
			if (!grown)
				return err_set(err, ENOMEM, "out of memory");
			*ids = grown;
			grown[(*n)++] = (pid_t)id;
		}
		if (!p[len])
			return 0;
		p += len + 1;
	}
}

OPTION_SETTER(set_pids)
{
	return add_ids(&o->target.pids, &o->target.npids, d, value, err);
}

OPTION_SETTER(set_tids)
{
	return add_ids(&o->target.tids, &o->target.ntids, d, value, err);
}

OPTION_SETTER(set_all)
{
	(void)d;
	(void)value;
	(void)err;
	o->target.all = true;
	return 0;
}

OPTION_SETTER(set_cpus)
{
	if (!*value || strspn(value, "0123456789,-") != strlen(value))
		return refuse(d, value, "must be a list of CPUs, as 0,2-3", err);
	o->target.cpus = value;
	return 0;
}

OPTION_SETTER(set_cgroup)
{
	if (!*value)
		return refuse(d, "", "must not be empty", err);
	o->target.cgroup = value;
	return 0;
}

OPTION_SETTER(set_user)
{
	if (!*value)
		return refuse(d, "", "must not be empty", err);
	o->user = value;
	o->target.by_user = true;
	return 0;
}

OPTION_SETTER(set_file)
{
	if (!*value)
		return refuse(d, "", "must not be empty", err);
	if (o->target.file)
		return err_set(err, EINVAL, "one recording at a time: %s and %s were given",
			       o->target.file, value);
	o->target.file = value;
	return 0;
}

/* Groups do not nest, and each ends. */
static bool groups_match(const char *events)
{
	bool inside = false;

	for (const char *p = events; (p = strpbrk(p, "{}")); p++) {
		if (inside == (*p == '{'))
			return false;
		inside = !inside;
	}
	return !inside;
}

OPTION_SETTER(set_events)
{
	if (!*value)
		return refuse(d, "", "must not be empty", err);
	if (!groups_match(value))
		return refuse(d, value, "a { without its }, or a } without its {", err);
	if (o->source.nevents == EVENT_LIST_MAX)
		return refuse(d, value, "too many events", err);
	const char **grown = realloc((void *)o->source.events,
				     (o->source.nevents + 1) * sizeof *grown);
	if (!grown)
		return err_set(err, ENOMEM, "out of memory");
	grown[o->source.nevents++] = value;
	o->source.events = grown;
	return 0;
}

OPTION_SETTER(set_rate)
{
	uint64_t hz;

	if (!strcmp(value, "max")) {
		o->rate_kind = RATE_LIMIT;
	} else if (!strcmp(value, "auto")) {
		o->rate_kind = RATE_CONTROL;
	} else if (parse_u64(value, &hz) && hz) {
		o->rate_kind = RATE_NUMBER;
		o->rate_asked = hz;
	} else {
		return refuse(d, value, "must be a whole number of Hz above 0, max or auto", err);
	}
	return 0;
}

OPTION_SETTER(set_period)
{
	uint64_t v;

	if (!parse_u64(value, &v) || !v || v > INT64_MAX)
		return refuse(d, value, "must be a whole number above 0", err);
	o->source.period = v;
	return 0;
}

OPTION_SETTER(set_call_graph)
{
	static const struct {
		const char *name;
		enum call_graph kind;
	} kinds[] = {{"auto", CALL_GRAPH_AUTO},   {"fp", CALL_GRAPH_FP},
		     {"dwarf", CALL_GRAPH_DWARF}, {"lbr", CALL_GRAPH_LBR},
		     {"none", CALL_GRAPH_NONE},   {"no", CALL_GRAPH_NONE}};
	size_t len = strcspn(value, ",");
	uint64_t bytes = 0;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strlen(kinds[i].name) != len || memcmp(kinds[i].name, value, len))
			continue;
		if (value[len]) {
			if (kinds[i].kind != CALL_GRAPH_DWARF)
				return refuse(d, value, "only dwarf takes a size", err);
			if (!parse_u64(value + len + 1, &bytes) || !bytes || bytes % 8)
				return refuse(d, value, "the size must be a multiple of 8 in bytes",
					      err);
			if (bytes > STACK_BYTES_MAX)
				return refuse(d, value, "a stack dump has at most 65528 bytes",
					      err);
		}
		o->source.call_graph = kinds[i].kind;
		o->source.stack_bytes = (uint32_t)bytes;
		return 0;
	}
	return refuse(d, value, "must be one of auto, fp, dwarf, dwarf,SIZE, lbr, none", err);
}

OPTION_SETTER(set_call_graph_auto)
{
	(void)d;
	(void)value;
	(void)err;
	o->source.call_graph = CALL_GRAPH_AUTO;
	o->source.stack_bytes = 0;
	return 0;
}

OPTION_SETTER(set_no_kernel)
{
	(void)d;
	(void)value;
	(void)err;
	o->source.no_kernel = true;
	return 0;
}

OPTION_SETTER(set_no_user)
{
	(void)d;
	(void)value;
	(void)err;
	o->source.no_user = true;
	return 0;
}

OPTION_SETTER(set_max_stack)
{
	uint64_t v;

	if (!parse_u64(value, &v) || !v || v > MAX_STACK_MAX)
		return refuse(d, value, "must be from 1 to 1024 frames", err);
	o->source.max_stack = (uint32_t)v;
	return 0;
}

OPTION_SETTER(set_sort)
{
	static const struct {
		const char *name;
		uint32_t column;
	} keys[] = {{"self", COLUMN_SELF},
		    {"total", COLUMN_TOTAL},
		    {"samples", COLUMN_SAMPLES},
		    {"module", COLUMN_MODULE},
		    {"name", COLUMN_NAME}};

	if (!*value)
		return refuse(d, "", "must not be empty", err);
	o->sort_event = NULL;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		if (!strcmp(keys[i].name, value)) {
			o->sort = keys[i].column;
			return 0;
		}
	}
	o->sort = COLUMN_DEFAULT;
	o->sort_event = value;
	return 0;
}

/* What it says is parsed once the metrics of the event set are known: launch.c. */
OPTION_SETTER(set_trigger)
{
	if (!*value)
		return refuse(d, "", "must not be empty", err);
	if (o->ntriggers == TRIGGERS_MAX)
		return refuse(d, value, "there can be 8 at most", err);
	o->triggers[o->ntriggers++] = value;
	return 0;
}

OPTION_SETTER(set_trigger_span)
{
	const char *comma = strchr(value, ',');
	double before, after;
	char text[32];

	snprintf(text, sizeof text, "%.*s", (int)(comma ? comma - value : 31), value);
	if (!parse_number(text, &before) || before > 3600 ||
	    (comma && (!parse_number(comma + 1, &after) || after > 3600)))
		return refuse(d, value, "must be one or two numbers of seconds, as 10 or 10,2.5",
			      err);
	if (!comma)
		after = before;
	if (before + after < 0.1)
		return refuse(d, value, "must be at least 0.1 s together", err);
	o->trigger_before_ns = (uint64_t)llround(before * 1e9);
	o->trigger_after_ns = (uint64_t)llround(after * 1e9);
	return 0;
}
