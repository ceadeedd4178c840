/*
 * object: opens modules' files at first need, one object a module id.
 *
 * A file that cannot be opened is not tried again: the module stays without CFI, its frames keep
 * file offsets. Owned by the source thread.
 */
#include "unwind/object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module/zip.h"

#define MEMBERS_MAX 256

struct objects {
	struct tables *tables;
	struct module_access access;
	struct object **by_id;
	size_t cap, count;
};

struct objects *objects_new(struct tables *tables, const struct module_access *access)
{
	struct objects *o = calloc(1, sizeof *o);
	if (o) {
		o->tables = tables;
		o->access = *access;
	}
	return o;
}

void objects_free(struct objects *o)
{
	if (!o)
		return;
	for (size_t k = 0; k < o->cap; k++) {
		if (!o->by_id[k])
			continue;
		cfi_free(o->by_id[k]->cfi);
		image_close(o->by_id[k]->image);
		free(o->by_id[k]->members);
		free(o->by_id[k]);
	}
	free(o->by_id);
	free(o);
}

size_t objects_bytes(const struct objects *o)
{
	size_t bytes = sizeof *o + o->cap * sizeof *o->by_id + o->count * sizeof **o->by_id;
	for (size_t k = 0; k < o->cap; k++)
		if (o->by_id[k] && o->by_id[k]->cfi)
			bytes += cfi_bytes(o->by_id[k]->cfi);
	return bytes;
}

static struct object *open_object(struct objects *o, module_id id)
{
	const struct module *m = tables_module_get(o->tables, id);
	struct object *obj = calloc(1, sizeof *obj);
	if (!obj)
		return NULL;
	obj->module = id;
	obj->kind = m->kind;
	if (m->kind != MODULE_FILE && m->kind != MODULE_VDSO)
		return obj;
	obj->no_archive = module_image(o->tables, m, &o->access, &obj->image, NULL) != -ENOEXEC;
	if (obj->image)
		obj->cfi = cfi_new(obj->image);
	return obj;
}

struct object *objects_get(struct objects *o, module_id module)
{
	if (module >= o->cap) {
		size_t cap = o->cap ? o->cap : 64;
		while (cap <= module)
			cap *= 2;
		struct object **grown = realloc(o->by_id, cap * sizeof *grown);
		if (!grown)
			return NULL;
		memset(grown + o->cap, 0, (cap - o->cap) * sizeof *grown);
		o->by_id = grown;
		o->cap = cap;
	}
	if (!o->by_id[module]) {
		o->by_id[module] = open_object(o, module);
		o->count += o->by_id[module] != NULL;
	}
	return o->by_id[module];
}

static module_id intern_member(struct objects *o, module_id archive, const char *name)
{
	char path[4096];
	struct module m = *tables_module_get(o->tables, archive);
	const char *base = strrchr(name, '/');
	snprintf(path, sizeof path, "%s!/%s", tables_text(o->tables, m.path), name);
	m.path = tables_str(o->tables, path);
	m.name = tables_str(o->tables, base ? base + 1 : name);
	m.build_id_size = 0;
	return tables_module(o->tables, &m);
}

/* The member of the archive that holds @offset; NULL: none, or it is no archive. */
static const struct member *find_member(struct objects *o, struct object *archive, uint64_t offset)
{
	struct zip_member found;
	for (uint32_t k = 0; k < archive->nmembers; k++)
		if (offset - archive->members[k].start < archive->members[k].size)
			return &archive->members[k];
	if (archive->no_archive || archive->nmembers == MEMBERS_MAX)
		return NULL;
	int rc = module_member(o->tables, tables_module_get(o->tables, archive->module), &o->access,
			       offset, &found);
	archive->no_archive = rc && rc != -ENOENT;
	struct member *grown = rc ? NULL
				  : realloc(archive->members,
					    (archive->nmembers + 1) * sizeof *archive->members);
	if (!grown)
		return NULL;
	archive->members = grown;
	grown[archive->nmembers] = (struct member){found.offset, found.size,
						   intern_member(o, archive->module, found.name)};
	return &grown[archive->nmembers++];
}

struct object *objects_at(struct objects *o, const struct mapping *m, uint64_t addr,
			  uint64_t *ret_offset)
{
	struct object *obj = objects_get(o, m->module);
	if (!obj)
		return NULL;
	*ret_offset = addr - m->start + (obj->kind == MODULE_VDSO ? 0 : m->pgoff);
	if (obj->image || obj->no_archive || obj->kind != MODULE_FILE)
		return obj;
	const struct member *member = find_member(o, obj, *ret_offset);
	if (!member)
		return obj;
	*ret_offset -= member->start;
	return objects_get(o, member->module);
}
