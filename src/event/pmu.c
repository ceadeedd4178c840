/*
 * pmu: PMUs as /sys/bus/event_source/devices describes them: types, formats of terms, aliases.
 *
 * The kernel's ABI documents are sysfs-bus-event_source-devices-format and -events. What a file
 * says is parsed as hostile. Any thread.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/sysfs.h"

#define ALIAS_DEPTH 2 /* an alias may name another one */

static const char *root = "/sys/bus/event_source/devices";

void pmu_root_set(const char *dir)
{
	root = dir ? dir : "/sys/bus/event_source/devices";
}

ssize_t sysfs_read(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, buf, size - 1);
	if (n < 0) {
		int saved = errno;

		close(fd);
		errno = saved;
		return -1;
	}
	close(fd);
	while (n && isspace((unsigned char)buf[n - 1]))
		n--;
	buf[n] = '\0';
	return n;
}

static ssize_t pmu_file(const char *pmu, const char *file, char *buf, size_t size)
{
	char path[512];

	snprintf(path, sizeof path, "%s/%s/%s", root, pmu, file);
	return sysfs_read(path, buf, size);
}

static bool pmu_find(const char *name, struct pmu *ret_pmu)
{
	struct pmu p = {0};
	char type[32], cpus[256];

	if (!*name || strlen(name) >= sizeof p.name || strchr(name, '/') || name[0] == '.' ||
	    pmu_file(name, "type", type, sizeof type) <= 0)
		return false;
	snprintf(p.name, sizeof p.name, "%s", name);
	p.type = (uint32_t)strtoul(type, NULL, 10);
	/* Arm and hybrid x86 say "cpus", uncore PMUs "cpumask", plain x86 nothing. */
	if (pmu_file(name, "cpumask", cpus, sizeof cpus) > 0)
		snprintf(p.cpus, sizeof p.cpus, "%.63s", cpus);
	if (!p.cpus[0] && pmu_file(name, "cpus", cpus, sizeof cpus) > 0)
		snprintf(p.on, sizeof p.on, "%s", cpus);
	p.core = !p.cpus[0] && (strcmp(name, "cpu") == 0 || p.on[0]);
	*ret_pmu = p;
	return true;
}

/* Cores first; of several kinds the one that Linux made first: it is the fast one on hybrid x86. */
static int by_kind(const void *pa, const void *pb)
{
	const struct pmu *a = pa, *b = pb;

	if (a->core != b->core)
		return b->core - a->core;
	if (a->core && a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return strcmp(a->name, b->name);
}

void pmu_each(bool (*each)(void *ctx, const struct pmu *p), void *ctx)
{
	struct dirent **names;
	int n = scandir(root, &names, NULL, alphasort), found = 0;
	struct pmu *all = n > 0 ? calloc((size_t)n, sizeof *all) : NULL;
	bool more = true;

	for (int i = 0; i < n; i++) {
		found += all && pmu_find(names[i]->d_name, &all[found]);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	if (found)
		qsort(all, (size_t)found, sizeof *all, by_kind);
	for (int i = 0; more && i < found; i++)
		more = each(ctx, &all[i]);
	free(all);
}

void pmu_aliases(const struct pmu *p, bool (*each)(void *ctx, const char *name, const char *terms),
		 void *ctx)
{
	char dir[512], file[300], terms[256];
	struct dirent **names;
	bool more = true;
	int n;

	snprintf(dir, sizeof dir, "%s/%s/events", root, p->name);
	n = scandir(dir, &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;

		/* name.scale, name.unit, name.snapshot tell of name. */
		if (more && name[0] != '.' && !strchr(name, '.')) {
			snprintf(file, sizeof file, "events/%s", name);
			if (pmu_file(p->name, file, terms, sizeof terms) > 0)
				more = each(ctx, name, terms);
		}
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

/* Spread the low bits of @value over the bits a format names: "config:0-7,32-35". */
static bool format_apply(const char *format, uint64_t value, struct event_spec *spec)
{
	const struct {
		const char *name;
		uint64_t *word;
	} words[] = {
		{"config:", &spec->config},
		{"config1:", &spec->config1},
		{"config2:", &spec->config2},
	};
	unsigned used = 0;

	for (size_t i = 0; i < 3; i++) {
		const char *s = format + strlen(words[i].name);

		if (strncmp(format, words[i].name, strlen(words[i].name)) != 0)
			continue;
		while (*s) {
			char *end;
			unsigned long first = strtoul(s, &end, 10), last = first;

			if (end == s)
				return false;
			if (*end == '-') {
				s = end + 1;
				last = strtoul(s, &end, 10);
			}
			if (end == s || first > last || last > 63 || (*end && *end != ','))
				return false;
			for (; first <= last; first++, used++) {
				*words[i].word &= ~((uint64_t)1 << first);
				if (used < 64)
					*words[i].word |= (value >> used & 1) << first;
			}
			s = *end ? end + 1 : end;
		}
		return used >= 64 || value >> used == 0; /* a value that does not fit is wrong */
	}
	return false;
}

static int terms_apply(const struct pmu *p, const char *text, size_t len, struct event_spec *spec,
		       int depth, struct err *err);

static int bad_term(const struct pmu *p, const char *term, size_t len, struct err *err)
{
	return err_set(err, EINVAL, "PMU %s knows no term or event %.*s; see --list-events",
		       p->name, len > 60 ? 60 : (int)len, term);
}

static bool term_is(const char *name, const char *term, size_t len)
{
	return strncmp(name, term, len) == 0 && !name[len];
}

/* Terms that every PMU has. */
static bool common_term(const char *name, size_t len, uint64_t value, struct event_spec *spec)
{
	if (term_is("config", name, len))
		spec->config = value;
	else if (term_is("config1", name, len))
		spec->config1 = value;
	else if (term_is("config2", name, len))
		spec->config2 = value;
	else if (term_is("period", name, len))
		spec->period = value;
	else if (term_is("freq", name, len))
		spec->freq_hz = (uint32_t)value;
	else
		return false;
	return true;
}

static int term_apply(const struct pmu *p, const char *term, size_t len, struct event_spec *spec,
		      int depth, struct err *err)
{
	const char *equals = memchr(term, '=', len);
	size_t name = equals ? (size_t)(equals - term) : len;
	char file[160], text[256];
	uint64_t value = 1;

	if (!name || name > 100 || memchr(term, '/', len) || term[0] == '.')
		return bad_term(p, term, len, err);
	if (term_is("name", term, name))
		return 0;
	if (equals && !event_number(equals + 1, len - name - 1, &value))
		return err_set(err, EINVAL, "%.*s: not a number", len > 60 ? 60 : (int)len, term);
	if (common_term(term, name, value, spec))
		return 0;
	snprintf(file, sizeof file, "format/%.*s", (int)name, term);
	if (pmu_file(p->name, file, text, sizeof text) > 0)
		return format_apply(text, value, spec)
			       ? 0
			       : err_set(err, EINVAL, "%.*s does not fit PMU %s's %s",
					 len > 60 ? 60 : (int)len, term, p->name, text);
	snprintf(file, sizeof file, "events/%.*s", (int)name, term);
	if (!equals && depth < ALIAS_DEPTH && pmu_file(p->name, file, text, sizeof text) > 0)
		return terms_apply(p, text, strlen(text), spec, depth + 1, err);
	return bad_term(p, term, len, err);
}

static int terms_apply(const struct pmu *p, const char *text, size_t len, struct event_spec *spec,
		       int depth, struct err *err)
{
	while (len) {
		const char *comma = memchr(text, ',', len);
		size_t n = comma ? (size_t)(comma - text) : len;
		int rc = term_apply(p, text, n, spec, depth, err);

		if (rc)
			return rc;
		text += n + (comma != NULL);
		len -= n + (comma != NULL);
	}
	return 0;
}

static void pmu_fill(const struct pmu *p, const char *alias, size_t len, struct event_spec *spec)
{
	char file[160], text[64];

	spec->type = p->type;
	spec->system_wide = p->cpus[0] != '\0';
	snprintf(spec->pmu, sizeof spec->pmu, "%.31s", p->name);
	snprintf(spec->cpus, sizeof spec->cpus, "%s", p->cpus);
	if (!alias || len > 100)
		return;
	snprintf(file, sizeof file, "events/%.*s.scale", (int)len, alias);
	if (pmu_file(p->name, file, text, sizeof text) > 0)
		spec->scale = strtod(text, NULL);
	snprintf(file, sizeof file, "events/%.*s.unit", (int)len, alias);
	if (pmu_file(p->name, file, text, sizeof text) > 0)
		snprintf(spec->unit_text, sizeof spec->unit_text, "%.15s", text);
}

/*
 * cpu_atom/cycles/: one of the kernel's generic events on this PMU, which a hybrid machine has
 * several of: the upper half of config says which (perf_event_open(2)).
 */
static bool generic_on(const struct pmu *p, const char *name, size_t len, struct event_spec *spec)
{
	char file[160], text[64];

	snprintf(file, sizeof file, "events/%.*s", (int)(len < 100 ? len : 100), name);
	if (!p->core || memchr(name, '/', len) || pmu_file(p->name, file, text, sizeof text) > 0)
		return false;
	if (!event_hardware(name, len, spec, NULL) && !event_cache(name, len, spec, NULL))
		return false;
	spec->config |= (uint64_t)p->type << 32;
	snprintf(spec->pmu, sizeof spec->pmu, "%.31s", p->name);
	return true;
}

static bool first_core(void *ctx, const struct pmu *p)
{
	if (p->core)
		*(struct pmu *)ctx = *p;
	return false; /* those of cores come first */
}

uint8_t pmu_max_precise(const char *name)
{
	struct pmu p = {0};
	char text[16];
	uint64_t most;

	if (*name ? !pmu_find(name, &p) : (pmu_each(first_core, &p), !p.core))
		return 0;
	if (pmu_file(p.name, "caps/max_precise", text, sizeof text) <= 0 ||
	    !event_number(text, strlen(text), &most))
		return 0;
	return (uint8_t)(most > 3 ? 3 : most);
}

/* Is @cpu in a list such as "0-3,8"? */
static bool list_has(const char *list, int cpu)
{
	while (*list) {
		char *end;
		long first = strtol(list, &end, 10), last = first;

		if (end == list)
			return false;
		if (*end == '-') {
			list = end + 1;
			last = strtol(list, &end, 10);
		}
		if (cpu >= first && cpu <= last)
			return true;
		if (*end != ',')
			return false;
		list = end + 1;
	}
	return false;
}

struct core_search {
	const int *cpus;
	uint32_t n, kinds, *types;
};

static bool core_of(void *ctx, const struct pmu *p)
{
	struct core_search *s = ctx;

	if (!p->core)
		return false; /* those of cores come first */
	s->kinds++;
	for (uint32_t i = 0; i < s->n; i++)
		if (list_has(p->on, s->cpus[i]))
			s->types[i] = p->type;
	return true;
}

void pmu_core_types(const int *cpus, uint32_t n, uint32_t *ret_types)
{
	struct core_search s = {.cpus = cpus, .n = n, .types = ret_types};

	memset(ret_types, 0, n * sizeof *ret_types);
	pmu_each(core_of, &s);
	if (s.kinds < 2)
		memset(ret_types, 0, n * sizeof *ret_types);
}

int event_pmu(const char *text, size_t len, struct event_spec *spec, struct err *err)
{
	const char *slash = memchr(text, '/', len);
	char name[PMU_NAME];
	struct pmu p;
	int rc;

	if (!slash || slash == text || strncmp(text, "mem:", 4) == 0)
		return 0;
	if (text[len - 1] != '/' || slash == text + len - 1)
		return err_set(err, EINVAL, "%.80s: terms stand between slashes: cpu/event=0x3c/",
			       text);
	snprintf(name, sizeof name, "%.*s", (int)(slash - text), text);
	if (!pmu_find(name, &p))
		return err_set(err, ENOENT, "there is no PMU %s here; see: ls %s", name, root);
	if (generic_on(&p, slash + 1, (size_t)(text + len - slash - 2), spec))
		return 1;
	rc = terms_apply(&p, slash + 1, (size_t)(text + len - slash - 2), spec, 0, err);
	if (rc)
		return rc;
	pmu_fill(&p, slash + 1, (size_t)(text + len - slash - 2), spec);
	return 1;
}

struct alias_search {
	const char *text;
	size_t len;
	struct event_spec *spec;
	struct err *err;
	const struct pmu *pmu;
	int rc;
};

static bool alias_matches(void *ctx, const char *name, const char *terms)
{
	struct alias_search *s = ctx;

	if (!term_is(name, s->text, s->len))
		return true;
	s->rc = terms_apply(s->pmu, terms, strlen(terms), s->spec, 1, s->err);
	if (!s->rc) {
		pmu_fill(s->pmu, s->text, s->len, s->spec);
		s->rc = 1;
	}
	return false;
}

static bool alias_in(void *ctx, const struct pmu *p)
{
	struct alias_search *s = ctx;

	s->pmu = p;
	pmu_aliases(p, alias_matches, s);
	return !s->rc;
}

int event_alias(const char *text, size_t len, struct event_spec *spec, struct err *err)
{
	struct alias_search s = {.text = text, .len = len, .spec = spec, .err = err};

	pmu_each(alias_in, &s);
	return s.rc;
}
