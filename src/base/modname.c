/*
 * modname: what a module is called where others have its name. Any thread.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "tables.h"

#define NAMESAKES_MAX 64 /* that are looked at */

/* Path components that two paths share at their ends. */
static unsigned shared_tail(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned parts = 0;

	while (n && m && a[n - 1] == b[m - 1]) {
		parts += a[n - 1] == '/';
		n--;
		m--;
	}
	return parts;
}

/* Two files that had one path one after the other, or in different mount namespaces. */
static bool differ(const struct module *a, const struct module *b)
{
	if (a->kind == MODULE_JIT)
		return a->pid != b->pid;
	if (a->build_id_size && b->build_id_size)
		return a->build_id_size != b->build_id_size ||
		       memcmp(a->build_id, b->build_id, a->build_id_size) != 0;
	return a->inode && b->inode && a->inode != b->inode;
}

/* The component @depth from the end of @path (0 the last): where it begins, its length. */
static const char *component(const char *path, unsigned depth, size_t *ret_len)
{
	const char *end = path + strlen(path), *p = end;

	for (;; depth--) {
		while (p > path && p[-1] != '/')
			p--;
		*ret_len = (size_t)(end - p);
		if (!depth || p == path)
			return p;
		end = --p;
	}
}

const char *tables_module_label(const struct tables *t, module_id id, char *buf, size_t size)
{
	const struct module *m = tables_module_get(t, id);
	const char *name = tables_text(t, m->name ? m->name : m->path);
	const char *path = tables_text(t, m->path), *part;
	module_id next = id;
	unsigned depth = 0;
	bool twice = false;
	char pid[24] = "";
	size_t len;

	if (m->kind != MODULE_FILE && m->kind != MODULE_JIT)
		return name;
	for (unsigned n = 0; n < NAMESAKES_MAX; n++) {
		next = atomic_load_explicit(&tables_module_get(t, next)->namesake,
					    memory_order_acquire);
		if (!next || next == id)
			break;
		const struct module *o = tables_module_get(t, next);

		if (o->kind != m->kind)
			continue;
		if (o->path == m->path) {
			twice |= differ(m, o);
			continue;
		}
		unsigned shared = shared_tail(path, tables_text(t, o->path));
		depth = shared > depth ? shared : depth;
	}
	if (!depth && !twice)
		return name;
	if (twice && m->pid)
		snprintf(pid, sizeof pid, " (%d)", m->pid);
	part = component(path, depth, &len);
	snprintf(buf, size, "%.*s%s%s%s", depth ? (int)len : 0, part,
		 depth > 1 ? "/\xe2\x80\xa6/"
		 : depth   ? "/"
			   : "",
		 name, pid);
	return buf;
}
