/*
 * set: parses set files, finds them, and tries what they ask for. Any thread.
 */
#include "event/set.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "event/catalogue.h"
#include "event/pfm.h"
#include "event/sysfs.h"

#define FILE_MOST 65536
#define LETS_MOST 16

struct reader {
	struct event_set *set;
	uint8_t group;
	int line;
	struct err *err;
	struct {
		char name[32];
		struct formula formula;
	} lets[LETS_MOST];
	uint32_t nlets;
};

static int wrong(struct reader *r, const char *what)
{
	return err_set(r->err, EINVAL, "event set %s, line %d: %s", r->set->name, r->line, what);
}

/* A text that fits, or a sentence. */
static int take(struct reader *r, char *to, size_t size, const char *text)
{
	if (strlen(text) >= size)
		return wrong(r, "too long");
	snprintf(to, size, "%s", text);
	return 0;
}

static char *trim(char *s)
{
	char *end = s + strlen(s);

	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

static bool is_name(const char *name, const char *text, int len)
{
	return strncmp(name, text, (size_t)len) == 0 && !name[len];
}

static int find_alias(void *ctx, const char *name, int len)
{
	const struct reader *r = ctx;

	for (uint32_t i = 0; i < r->set->nevents; i++)
		if (is_name(r->set->events[i].alias, name, len))
			return (int)i;
	return -1;
}

static const struct formula *find_let(void *ctx, const char *name, int len)
{
	const struct reader *r = ctx;

	for (uint32_t i = 0; i < r->nlets; i++)
		if (is_name(r->lets[i].name, name, len))
			return &r->lets[i].formula;
	return NULL;
}

static int read_formula(struct reader *r, char *text, struct formula *ret)
{
	const struct formula_names names = {find_alias, find_let, r};
	struct err why = {0};

	return formula_parse(trim(text), &names, ret, &why) ? wrong(r, why.msg) : 0;
}

/* "NAME = …": cuts @value behind the name. What comes after the equals sign, NULL: there is none.
 */
static char *split(char *value)
{
	char *equals = strstr(value, " = ");

	if (equals)
		*equals = '\0';
	return equals ? equals + 3 : NULL;
}

static int read_event(struct reader *r, char *value)
{
	char *name = split(value);
	struct set_event *e = &r->set->events[r->set->nevents];
	int rc;

	if (!name)
		return wrong(r, "an event is written NAME = EVENT");
	if (r->set->nevents == SET_EVENTS)
		return wrong(r, "too many events");
	rc = take(r, e->alias, sizeof e->alias, trim(value));
	if (!rc)
		rc = take(r, e->name, sizeof e->name, trim(name));
	if (rc)
		return rc;
	if (find_alias(r, e->alias, (int)strlen(e->alias)) >= 0)
		return wrong(r, "that name is taken");
	e->group = r->group;
	e->sampled = !r->set->nevents || e[-1].group != e->group;
	r->set->nevents++;
	return 0;
}

static int read_let(struct reader *r, char *value)
{
	char *formula = split(value), *name = trim(value);
	int rc;

	if (!formula)
		return wrong(r, "a name for a part of formulas is written NAME = FORMULA");
	if (r->nlets == LETS_MOST)
		return wrong(r, "too many names for parts of formulas");
	if (find_alias(r, name, (int)strlen(name)) >= 0 || find_let(r, name, (int)strlen(name)))
		return wrong(r, "that name is taken");
	rc = take(r, r->lets[r->nlets].name, sizeof r->lets[0].name, name);
	if (!rc)
		rc = read_formula(r, formula, &r->lets[r->nlets].formula);
	r->nlets += !rc;
	return rc;
}

static int read_metric(struct reader *r, char *value)
{
	char *formula = split(value);
	struct set_metric *m = &r->set->metrics[r->set->nmetrics];
	int rc;

	if (!formula)
		return wrong(r, "a metric is written NAME = FORMULA");
	if (r->set->nmetrics == METRIC_MAX)
		return wrong(r, "too many metrics");
	rc = take(r, m->name, sizeof m->name, trim(value));
	if (!rc)
		rc = read_formula(r, formula, &m->formula);
	if (rc)
		return rc;
	m->decimals = 2;
	m->of = -1;
	r->set->nmetrics++;
	return 0;
}

static int read_slots(struct reader *r, char *value)
{
	int rc = read_formula(r, value, &r->set->slots);

	r->set->has_slots = !rc;
	return rc;
}

/* "NAME NAME …": bits of the events named. */
static int read_rare(struct reader *r, char *value)
{
	char *name;

	while ((name = strsep(&value, " \t"))) {
		int i = *name ? find_alias(r, name, (int)strlen(name)) : 0;

		if (i < 0)
			return wrong(r, "unknown event");
		if (*name)
			r->set->rare |= (uint32_t)1 << i;
	}
	return 0;
}

/* "NAME [PERIOD]": samples its group from now on instead of the first. */
static int read_sample(struct reader *r, char *value)
{
	char *name = strsep(&value, " \t");
	int at = find_alias(r, name, (int)strlen(name));

	if (at < 0)
		return wrong(r, "unknown event");
	for (uint32_t i = 0; i < r->set->nevents; i++)
		if (r->set->events[i].group == r->set->events[at].group)
			r->set->events[i].sampled = (int)i == at;
	value = value ? trim(value) : NULL;
	if (value && *value &&
	    (!event_number(value, strlen(value), &r->set->period) || !r->set->period))
		return wrong(r, "a period is a number above 0");
	return 0;
}

/* The metric that a part divides stands before it. */
static int read_of(struct reader *r, struct set_metric *m, const char *value)
{
	const struct set_metric *all = r->set->metrics;

	for (int8_t i = 0; &all[i] < m; i++)
		if (strcmp(all[i].name, value) == 0 && all[i].part[0] && all[i].of < 0) {
			m->of = i;
			return 0;
		}
	return wrong(r, "there is no such part of the slots before it");
}

static int read_threshold(struct reader *r, struct set_metric *m, char *value, bool good)
{
	char *end;
	double limit;

	if (*value != '<' && *value != '>')
		return wrong(r, "a threshold is written > NUMBER or < NUMBER");
	limit = strtod(value + 1, &end);
	if (*trim(end) || !isfinite(limit))
		return wrong(r, "not a number");
	m->high_is_good = (*value == '>') == good;
	*(good ? &m->good : &m->bad) = limit;
	*(good ? &m->has_good : &m->has_bad) = true;
	return 0;
}

static int read_of_metric(struct reader *r, const char *key, char *value)
{
	struct set_metric *m;

	if (!r->set->nmetrics)
		return wrong(r, "unknown word, or no metric before it");
	m = &r->set->metrics[r->set->nmetrics - 1];
	if (strcmp(key, "part") == 0)
		return take(r, m->part, sizeof m->part, value);
	if (strcmp(key, "of") == 0)
		return read_of(r, m, value);
	if (strcmp(key, "unit") == 0)
		return take(r, m->unit, sizeof m->unit, value);
	if (strcmp(key, "meaning") == 0)
		return take(r, m->meaning, sizeof m->meaning, value);
	if (strcmp(key, "next") == 0)
		return take(r, m->next, sizeof m->next, value);
	if (strcmp(key, "good") == 0 || strcmp(key, "bad") == 0)
		return read_threshold(r, m, value, *key == 'g');
	if (strcmp(key, "decimals") == 0 && value[0] >= '0' && value[0] <= '6' && !value[1]) {
		m->decimals = (uint8_t)(value[0] - '0');
		return 0;
	}
	return wrong(r, "unknown word or value");
}

static int read_about(struct reader *r, char *value)
{
	return take(r, r->set->about, sizeof r->set->about, value);
}

static int read_cpu(struct reader *r, char *value)
{
	return take(r, r->set->cpus, sizeof r->set->cpus, value);
}

static int read_rest(struct reader *r, char *value)
{
	return take(r, r->set->rest, sizeof r->set->rest, value);
}

static int read_group(struct reader *r, char *value)
{
	(void)value;
	r->group++;
	return 0;
}

static const struct {
	const char *word;
	int (*read)(struct reader *r, char *value);
} words[] = {
	{"about", read_about}, {"cpu", read_cpu},       {"event", read_event},
	{"group", read_group}, {"let", read_let},       {"metric", read_metric},
	{"rare", read_rare},   {"sample", read_sample}, {"slots", read_slots},
	{"rest", read_rest},
};

static int read_line(struct reader *r, char *line)
{
	char *value;

	line = trim(line);
	if (!*line || *line == '#')
		return 0;
	value = line + strcspn(line, " \t");
	if (*value)
		*value++ = '\0';
	value = trim(value);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(line, words[i].word) == 0)
			return words[i].read(r, value);
	return read_of_metric(r, line, value);
}

int event_set_parse(const char *name, const char *text, struct event_set *ret, struct err *err)
{
	struct reader r = {.set = ret, .err = err};
	char *copy = strdup(text), *line, *rest = copy;
	int rc = 0;

	*ret = (struct event_set){0};
	snprintf(ret->name, sizeof ret->name, "%.31s", name);
	if (!copy)
		return err_set(err, ENOMEM, "no memory");
	while (!rc && (line = strsep(&rest, "\n"))) {
		r.line++;
		rc = read_line(&r, line);
	}
	free(copy);
	if (!rc && !ret->nevents)
		rc = wrong(&r, "it names no event");
	for (uint32_t i = 0; !rc && i < ret->nmetrics; i++)
		if (ret->metrics[i].part[0] && !ret->has_slots)
			rc = wrong(&r,
				   "it has parts of slots, but does not say how many there were");
	return rc;
}

int event_set_read(const char *path, struct event_set *ret, struct err *err)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	char *text = malloc(FILE_MOST), name[32];
	ssize_t n = text ? sysfs_read(path, text, FILE_MOST) : -1;
	int rc;

	snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
	rc = n < 0 ? err_set(err, errno, "%s cannot be read: %s", path, strerror(errno))
		   : event_set_parse(name, text, ret, err);
	free(text);
	return rc;
}

static bool fits_cpu(const struct event_set *s)
{
	char list[sizeof s->cpus], *rest = list, *glob;
	const char *core = pfm_core();

	if (!s->cpus[0])
		return true;
	snprintf(list, sizeof list, "%s", s->cpus);
	while (core && (glob = strsep(&rest, " ")))
		if (*glob && fnmatch(glob, core, 0) == 0)
			return true;
	return false;
}

enum value_state event_set_try(const struct event_set *s, struct err *err)
{
	const char *core = pfm_core();

	if (!fits_cpu(s)) {
		err_set(err, ENODEV, "it is for %s, and this CPU is %s", s->cpus,
			core ? core : "not in libpfm4's tables");
		return VALUE_UNSUPPORTED;
	}
	for (uint32_t i = 0, n; i < s->nevents; i += n) {
		const char *names[SET_EVENTS];
		enum value_state state;

		for (n = 0; i + n < s->nevents && s->events[i + n].group == s->events[i].group; n++)
			names[n] = s->events[i + n].name;
		state = catalogue_try_group(names, n, err);
		if (state != VALUE_OK)
			return state;
	}
	return VALUE_OK;
}

/* How many of @wanted's metrics @s has too, by name or as the same part of the slots. */
uint32_t event_set_common(const struct event_set *s, const struct event_set *wanted)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < wanted->nmetrics; i++)
		for (uint32_t k = 0; k < s->nmetrics; k++) {
			const struct set_metric *a = &wanted->metrics[i], *b = &s->metrics[k];

			n += strcmp(a->name, b->name) == 0 ||
			     (a->part[0] && strcmp(a->part, b->part) == 0);
		}
	return n;
}

const struct event_set *event_set_nearest(const struct event_set *sets, size_t n,
					  const struct event_set *wanted)
{
	const struct event_set *found = NULL;
	uint32_t most = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t common = event_set_common(&sets[i], wanted);
		struct err err = {0};

		if (common <= most || strcmp(sets[i].name, wanted->name) == 0 ||
		    event_set_try(&sets[i], &err) != VALUE_OK)
			continue;
		most = common;
		found = &sets[i];
	}
	return found;
}

struct sets {
	VEC(struct event_set)
};

static int is_set(const struct dirent *d)
{
	const char *dot = strrchr(d->d_name, '.');

	return dot && dot != d->d_name && strcmp(dot, ".set") == 0;
}

/* Add the sets of a directory; equal names are replaced. True: there was such a directory. */
static bool load_dir(struct sets *sets, const char *dir, void (*bad)(void *, const char *),
		     void *ctx)
{
	struct dirent **files;
	int n = scandir(dir, &files, is_set, alphasort);

	for (int i = 0; i < n; i++) {
		struct event_set s;
		struct err err = {0};
		char path[512];
		size_t k = 0;

		snprintf(path, sizeof path, "%s/%s", dir, files[i]->d_name);
		free(files[i]);
		if (event_set_read(path, &s, &err)) {
			if (bad)
				bad(ctx, err.msg);
			continue;
		}
		while (k < sets->len && strcmp(sets->data[k].name, s.name) != 0)
			k++;
		if (k < sets->len)
			sets->data[k] = s;
		else if (vec_push(sets, s))
			continue;
	}
	if (n >= 0)
		free(files);
	return n >= 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct event_set *)a)->name, ((const struct event_set *)b)->name);
}

int event_sets_load(struct event_set **ret_sets, size_t *ret_n,
		    void (*bad)(void *ctx, const char *sentence), void *ctx)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char exe[256] = "", dir[512];
	struct sets sets = {0};
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

	/* Uninstalled: beside the sources it was built from; installed: where make put it, or was
	 * moved to. */
	const char *place = n > 0 ? dirname(exe) : ".";
	bool found = false;
	snprintf(dir, sizeof dir, "%s/src/event/sets", place);
	found = load_dir(&sets, dir, bad, ctx) ||
		load_dir(&sets, ALTPTTOP_DATADIR "/events", bad, ctx);
	snprintf(dir, sizeof dir, "%s/../share/altpttop/events", place);
	if (!found)
		load_dir(&sets, dir, bad, ctx);
	if (config && *config)
		snprintf(dir, sizeof dir, "%s/altpttop/events", config);
	else
		snprintf(dir, sizeof dir, "%s/.config/altpttop/events", home ? home : "");
	load_dir(&sets, dir, bad, ctx);
	if (sets.len)
		qsort(sets.data, sets.len, sizeof *sets.data, by_name);
	*ret_sets = sets.data;
	*ret_n = sets.len;
	return 0;
}
