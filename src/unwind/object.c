/*
 * object: opens modules' files at first need, one object a module id.
 *
 * A file that cannot be opened is not tried again: the module stays without CFI, its frames keep
 * file offsets. Owned by the source thread.
 */
#include "unwind/object.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

struct objects {
	const struct tables *tables;
	struct module_access access;
	struct object **by_id;
	size_t cap, count;
};

struct objects *objects_new(const struct tables *tables, const struct module_access *access)
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
	struct err err = {0};
	if (!obj)
		return NULL;
	obj->module = id;
	obj->kind = m->kind;
	obj->has_fp = -2;
	if (m->kind != MODULE_FILE && m->kind != MODULE_VDSO)
		return obj;
	if (module_image(o->tables, m, &o->access, &obj->image, &err))
		log_say("unwinding: %s", err.msg);
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
