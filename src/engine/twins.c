/*
 * twins: see twins.h. Source thread.
 */
#include "engine/twins.h"

#include <stdatomic.h>
#include <string.h>

#define NAMESAKES_MAX 64   /* that are looked at */
#define FILES_MAX     4096 /* that are remembered; what comes after is read again */

void twins_init(struct twins *t, struct tables *tables, const char *symfs)
{
	*t = (struct twins){.tables = tables, .access = {.symfs = symfs, .live = true}};
}

void twins_fini(struct twins *t)
{
	vec_fini(t);
}

static bool same_inode(const struct twin_file *f, const struct module *m)
{
	return f->path == m->path && f->inode == m->inode && f->dev_major == m->dev_major &&
	       f->dev_minor == m->dev_minor;
}

static void read_build_id(const struct twins *t, const struct module *m, struct twin_file *f)
{
	struct image *image;

	if (module_image(t->tables, m, &t->access, &image, NULL))
		return;
	memcpy(f->build_id, image->build_id, sizeof f->build_id);
	f->build_id_size = image->build_id_size;
	image_close(image);
}

/* Does the file that maps tell of have the build id that a record told? */
static bool has_build_id(struct twins *t, const struct module *file, const struct module *record)
{
	struct twin_file f = {file->path, file->dev_major, file->dev_minor, file->inode, {0}, 0};
	size_t i = 0;

	while (i < t->len && !same_inode(&t->data[i], file))
		i++;
	if (i < t->len)
		f = t->data[i];
	else
		read_build_id(t, file, &f);
	if (i == t->len && i < FILES_MAX && f.build_id_size)
		(void)vec_push(t, f);
	return f.build_id_size == record->build_id_size &&
	       memcmp(f.build_id, record->build_id, f.build_id_size) == 0;
}

static bool by_inode(const struct module *m)
{
	return m->inode && !m->build_id_size;
}

static bool by_build_id(const struct module *m)
{
	return m->build_id_size && !m->inode;
}

module_id twins_find(void *twins, const struct module *m)
{
	struct twins *t = twins;
	module_id first, id;

	if (m->kind != MODULE_FILE || by_inode(m) == by_build_id(m))
		return 0;
	first = id = tables_module_named(t->tables, m->name);
	for (unsigned n = 0; id && n < NAMESAKES_MAX; n++) {
		const struct module *o = tables_module_get(t->tables, id);

		if (o->kind == m->kind && o->path == m->path &&
		    ((by_inode(m) && by_build_id(o) && has_build_id(t, m, o)) ||
		     (by_build_id(m) && by_inode(o) && has_build_id(t, o, m))))
			return id;
		id = atomic_load_explicit(&o->namesake, memory_order_acquire);
		if (id == first)
			break;
	}
	return 0;
}
