/*
 * space: keeps the executable mappings of one process sorted, applies records to them, answers
 * which one holds an address.
 *
 * Run-time code (JIT) has no file offset; its mappings carry pgoff = start, so that "addr − start +
 * pgoff" is the run-time address. Reading /proc/PID/maps is in space_proc.c. Runs on the source
 * thread that owns the space.
 */
#include "proc/space.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "proc/maps.h"
#include "proc/space_impl.h"

/* Unique in the thread, so that a cache cannot take a new space at an old address for the old one.
 */
static uint64_t next_generation(void)
{
	static _Thread_local uint64_t generation;

	return ++generation;
}

void space_changed(struct space *s)
{
	s->generation = next_generation();
	s->hit = 0;
}

struct space *space_new(struct tables *tables, pid_t pid)
{
	struct space *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->tables = tables;
	s->pid = pid;
	space_changed(s);
	return s;
}

void space_ask(struct space *s, space_known *known, void *ctx)
{
	s->known = known;
	s->known_ctx = ctx;
}

void space_free(struct space *s)
{
	if (!s)
		return;
	vec_fini(&s->maps);
	free(s);
}

pid_t space_pid(const struct space *s)
{
	return s->pid;
}

uint64_t space_generation(const struct space *s)
{
	return s->generation;
}

module_id space_main_module(const struct space *s)
{
	return s->main_module;
}

void space_clear(struct space *s)
{
	s->maps.len = 0;
	s->main_module = 0;
	space_changed(s);
}

struct space *space_clone(const struct space *s, pid_t pid)
{
	struct space *c = space_new(s->tables, pid);

	if (!c)
		return NULL;
	space_ask(c, s->known, s->known_ctx);
	if (s->maps.len && vec_reserve(&c->maps, s->maps.len)) {
		space_free(c);
		return NULL;
	}
	if (s->maps.len)
		memcpy(c->maps.data, s->maps.data, s->maps.len * sizeof *s->maps.data);
	c->maps.len = s->maps.len;
	c->main_module = s->main_module;
	return c;
}

/* Index of the first mapping that ends after @addr, v->len when none does. */
static size_t mappings_after(const struct mappings *v, uint64_t addr)
{
	size_t lo = 0, hi = v->len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v->data[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static const struct mapping *mappings_at(const struct mappings *v, uint64_t addr)
{
	size_t i = mappings_after(v, addr);

	return i < v->len && v->data[i].start <= addr ? &v->data[i] : NULL;
}

const struct mapping *space_find(struct space *s, uint64_t addr)
{
	const struct mapping *m;

	if (s->hit < s->maps.len) {
		m = &s->maps.data[s->hit];
		if (addr >= m->start && addr < m->end)
			return m;
	}
	m = mappings_at(&s->maps, addr);
	if (m)
		s->hit = (size_t)(m - s->maps.data);
	return m;
}

/* Same file at the same displacement: an address means the same in both. */
static bool same_bias(const struct mapping *a, const struct mapping *b)
{
	return a->module == b->module && a->flags == b->flags &&
	       a->start - a->pgoff == b->start - b->pgoff;
}

static void remove_range(struct mappings *v, size_t from, size_t to)
{
	if (from == to)
		return;
	memmove(v->data + from, v->data + to, (v->len - to) * sizeof *v->data);
	v->len -= to - from;
}

static int insert_at(struct mappings *v, size_t i, const struct mapping *m)
{
	if (v->len >= SPACE_MAPPINGS_MAX)
		return -ENOSPC;
	if (vec_reserve(v, v->len + 1))
		return -ENOMEM;
	memmove(v->data + i + 1, v->data + i, (v->len - i) * sizeof *v->data);
	v->data[i] = *m;
	v->len++;
	return 0;
}

/* Make [start, end) empty. Returns the index where a mapping of that range belongs, or -errno. */
static ssize_t cut_range(struct mappings *v, uint64_t start, uint64_t end)
{
	size_t i = mappings_after(v, start), to;

	if (i < v->len && v->data[i].start < start) {
		struct mapping *m = &v->data[i];

		if (m->end > end) { /* a hole in the middle */
			struct mapping tail = *m;
			int rc;

			tail.pgoff += end - tail.start;
			tail.start = end;
			rc = insert_at(v, i + 1, &tail);
			if (rc)
				return rc;
			m = &v->data[i];
		}
		m->end = start;
		i++;
	}
	for (to = i; to < v->len && v->data[to].end <= end; to++)
		;
	if (to < v->len && v->data[to].start < end) {
		v->data[to].pgoff += end - v->data[to].start;
		v->data[to].start = end;
	}
	remove_range(v, i, to);
	return (ssize_t)i;
}

static void join_next(struct mappings *v, size_t i)
{
	if (i + 1 < v->len && v->data[i].end == v->data[i + 1].start &&
	    same_bias(&v->data[i], &v->data[i + 1])) {
		v->data[i].end = v->data[i + 1].end;
		remove_range(v, i + 1, i + 2);
	}
}

int mappings_put(struct mappings *v, const struct mapping *m)
{
	const struct mapping *old = mappings_at(v, m->start);
	ssize_t i;
	int rc;

	if (old && old->end >= m->end && same_bias(old, m))
		return 0;
	i = cut_range(v, m->start, m->end);
	if (i < 0)
		return (int)i;
	rc = insert_at(v, (size_t)i, m);
	if (rc)
		return rc;
	join_next(v, (size_t)i);
	if (i > 0)
		join_next(v, (size_t)i - 1);
	return 1;
}

void space_describe(struct space *s, struct module *m, enum module_kind kind, const char *path,
		    uint64_t start, uint64_t end)
{
	const char *slash = strrchr(path, '/');
	char jit[32];

	*m = (struct module){
		.kind = kind,
		.path = tables_str(s->tables, path),
		.pid = s->pid,
		.map_start = start,
		.map_end = end,
	};
	if (kind == MODULE_JIT) {
		snprintf(jit, sizeof jit, "perf-%d.map", s->pid);
		m->name = tables_str(s->tables, jit);
	} else {
		m->name = kind == MODULE_FILE && slash && slash[1]
				  ? tables_str(s->tables, slash + 1)
				  : m->path;
	}
	if (kind == MODULE_JIT || kind == MODULE_VDSO) {
		m->base = start;
		m->size = end - start;
	}
}

static bool may_be_same(const struct module *old, const struct module *want)
{
	if (old->kind != want->kind)
		return false;
	if (old->kind == MODULE_JIT) /* a forked child keeps its parent's code and its map */
		return true;
	if (old->path != want->path)
		return false;
	if (old->inode && want->inode &&
	    (old->inode != want->inode || old->dev_major != want->dev_major ||
	     old->dev_minor != want->dev_minor))
		return false;
	return !old->build_id_size || !want->build_id_size ||
	       (old->build_id_size == want->build_id_size &&
		memcmp(old->build_id, want->build_id, want->build_id_size) == 0);
}

module_id space_module_for(struct space *s, const struct module *want, const struct mapping *at)
{
	const struct mapping *old = mappings_at(&s->maps, at->start);

	if (old && old->end >= at->end &&
	    may_be_same(tables_module_get(s->tables, old->module), want))
		return old->module;
	module_id known = s->known ? s->known(s->known_ctx, want) : 0;

	return known ? known : tables_module(s->tables, want);
}

enum module_kind space_kind_of(enum maps_name name)
{
	static const enum module_kind kinds[] = {
		[MAPS_ANON] = MODULE_JIT,      [MAPS_FILE] = MODULE_FILE,
		[MAPS_VDSO] = MODULE_VDSO,     [MAPS_STACK] = MODULE_NAMED,
		[MAPS_SPECIAL] = MODULE_NAMED,
	};

	return kinds[name];
}

/* What a record's name stands for. Nothing may be opened here: it may come from another machine. */
static enum module_kind record_kind(const struct raw_mmap *m, const char *path)
{
	enum maps_name name = maps_name_kind(path);

	if (name != MAPS_MEMFD)
		return space_kind_of(name);
	if (m->build_id_size)
		return MODULE_FILE;
	/* .NET maps its code twice through this one; other memfds are mostly libraries. */
	return strncmp(path, "/memfd:", 7) == 0 && !strstr(path, "doublemapper") ? MODULE_FILE
										 : MODULE_JIT;
}

/* Memory without a name put into the middle of a file's own code is that code, remapped. */
static bool is_remapped_text(const struct space *s, const struct mapping *m)
{
	const struct mapping *old = mappings_at(&s->maps, m->start);

	return old && old->end >= m->end && (old->flags & MAPPING_EXEC) &&
	       tables_module_get(s->tables, old->module)->kind == MODULE_FILE;
}

static int drop_range(struct space *s, uint64_t start, uint64_t end)
{
	size_t i = mappings_after(&s->maps, start);
	ssize_t rc;

	if (i == s->maps.len || s->maps.data[i].start >= end)
		return 0;
	rc = cut_range(&s->maps, start, end);
	space_changed(s);
	return rc < 0 ? (int)rc : 0;
}

static int add_code(struct space *s, const struct raw_mmap *m, struct mapping *at)
{
	char path[MAPS_PATH_MAX];
	struct module module;
	enum module_kind kind;
	bool deleted;
	int rc;

	snprintf(path, sizeof path, "%s", m->path ? m->path : "");
	deleted = maps_cut_deleted(path);
	kind = record_kind(m, path);
	at->flags = MAPPING_EXEC | (maps_name_kind(path) == MAPS_STACK ? MAPPING_STACK : 0);
	if (kind == MODULE_JIT) {
		at->pgoff = at->start;
		if (is_remapped_text(s, at))
			return 0;
	}
	space_describe(s, &module, kind, *path ? path : "//anon", at->start, at->end);
	module.deleted = deleted;
	if (kind == MODULE_FILE) {
		module.dev_major = m->dev_major;
		module.dev_minor = m->dev_minor;
		module.inode = m->inode;
	}
	if (m->build_id && m->build_id_size && m->build_id_size <= sizeof module.build_id) {
		memcpy(module.build_id, m->build_id, m->build_id_size);
		module.build_id_size = m->build_id_size;
	}
	at->module = space_module_for(s, &module, at);
	rc = mappings_put(&s->maps, at);
	if (rc > 0)
		space_changed(s);
	if (rc >= 0 && kind == MODULE_FILE && !s->main_module)
		s->main_module = at->module;
	return rc < 0 ? rc : 0;
}

int space_add(struct space *s, const struct raw_mmap *m)
{
	struct mapping at = {.start = m->start, .end = m->start + m->size, .pgoff = m->pgoff};

	if (!m->size || at.end < at.start)
		return -EINVAL;
	if (m->kernel) /* the kernel's code is in every process and kept elsewhere */
		return 0;
	if (!(m->prot & PROT_EXEC))
		return drop_range(s, at.start, at.end);
	return add_code(s, m, &at);
}
