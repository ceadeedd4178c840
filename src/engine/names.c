/*
 * names: what functions and modules are called on screen.
 *
 * Engine thread. A frame without a name yet is `module+0x…`; with QUERY_ADDRESSES every frame is
 * `function+0x…`, once its function is known.
 */
#include <string.h>

#include "engine/build.h"

static const char *or_unknown(const char *text)
{
	return text[0] ? text : "[unknown]";
}

const char *module_text(struct build *b, module_id module)
{
	char buf[256];
	const char *name = tables_module_label(b->t, module, buf, sizeof buf);

	return or_unknown(name == buf ? build_text(b, "%s", buf) : name);
}

static void text_of_function(struct build *b, func_id func, struct fid_text *x)
{
	const struct func *f = tables_func_get(b->t, func);
	const char *raw = tables_text(b->t, f->raw);
	const char *full = f->name ? tables_text(b->t, f->name) : raw;
	const char *shown = f->shown ? tables_text(b->t, f->shown) : full;

	x->full = or_unknown(full);
	x->name = b->q->flags & QUERY_WHOLE_NAMES ? x->full : or_unknown(shown);
	x->module = f->flags & FUNC_SPECIAL ? "" : module_text(b, f->module);
	x->file = tables_text(b->t, f->file);
	x->line = f->line;
	x->addr = f->start;
	if (f->flags & FUNC_KERNEL)
		x->flags |= ROW_KERNEL;
}

static void text_of_frame(struct build *b, frame_id frame, struct fid_text *x)
{
	const struct frame *f = tables_frame_get(b->t, frame);
	const struct loc *loc = tables_loc(b->t, frame);

	x->module = module_text(b, f->module);
	x->addr = f->addr;
	if (f->flags & FRAME_KERNEL)
		x->flags |= ROW_KERNEL;
	if (f->flags & (FRAME_GUESS | FRAME_TAILCALL))
		x->flags |= ROW_UNCERTAIN;
	if (loc) {
		func_id holder = loc->lines[loc->n - 1].func;
		const struct func *func = tables_func_get(b->t, holder);
		text_of_function(b, holder, x);
		x->addr = f->addr;
		if (func->start && f->addr >= func->start) {
			uint64_t offset = f->addr - func->start;
			x->full = build_text(b, "%s+0x%llx", x->full, (unsigned long long)offset);
			x->name = build_text(b, "%s+0x%llx", x->name, (unsigned long long)offset);
		}
		return;
	}
	if (f->flags & FRAME_NAMED) {
		x->name = x->full = or_unknown(tables_text(b->t, f->name));
		x->file = tables_text(b->t, f->file);
		x->line = f->line;
		return;
	}
	x->flags |= ROW_UNRESOLVED;
	x->name = x->full = build_text(b, "%s+0x%llx", x->module, (unsigned long long)f->addr);
	build_want(b, frame);
}

void fid_text(struct build *b, fid_t fid, struct fid_text *x)
{
	*x = (struct fid_text){.name = "", .full = "", .module = "", .file = ""};
	if (fid & FID_FRAME)
		text_of_frame(b, fid & ~FID_FRAME, x);
	else
		text_of_function(b, fid, x);
}

void fid_row(struct build *b, struct row *row, enum row_kind kind, fid_t fid)
{
	struct fid_text x;
	fid_text(b, fid, &x);
	row->key = (struct row_key){.kind = kind, .a = fid};
	row->flags = x.flags;
	row->name = x.name;
	row->full = x.full;
	row->module = x.module;
	row->file = x.file;
	row->line = x.line;
	row->addr = x.addr;
}

fid_t fid_settle(const struct build *b, fid_t fid)
{
	if (!(fid & FID_FRAME) || b->q->flags & QUERY_ADDRESSES)
		return fid;
	const struct loc *loc = tables_loc(b->t, fid & ~FID_FRAME);
	if (!loc)
		return fid;
	return loc->lines[b->q->flags & QUERY_FOLD_INLINE ? loc->n - 1 : 0].func;
}

bool fid_matches(struct build *b, fid_t fid)
{
	if (!b->q->filter[0])
		return true;
	struct fid_text x;
	fid_text(b, fid, &x);
	return build_matches(b, x.full) || build_matches(b, x.module) || build_matches(b, x.name);
}
