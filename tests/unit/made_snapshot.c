/*
 * made_snapshot: see the header. The tree, with self samples of (main, worker):
 *
 *	0 main
 *	1   outer+inner inlined   (40, 20)
 *	2   rec
 *	3     rec                 (10, 0)
 *	4   hostile               (0, 25)
 *	5   prog+0x9000           (3, 0)    not resolved
 *	6 [truncated]
 *	7   kernel_fn             (0, 2)
 */
#include "made_snapshot.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static func_id func(struct tables *t, module_id module, uint64_t start, const char *raw,
		    const char *name, uint32_t flags)
{
	return tables_func(t, &(struct func){.module = module,
					     .flags = flags,
					     .start = start,
					     .size = 0x100,
					     .raw = tables_str(t, raw),
					     .name = tables_str(t, name),
					     .shown = tables_str(t, name),
					     .file = tables_str(t, "/src/prog.cc"),
					     .line = 10});
}

static frame_id frame(struct tables *t, module_id module, uint64_t addr, uint32_t flags)
{
	return tables_frame(t, &(struct frame){.module = module, .addr = addr, .flags = flags});
}

static void node(struct made *m, uint32_t parent, frame_id f)
{
	m->nodes[m->s.nnodes++] = (struct snapshot_node){.parent = parent, .frame = f};
}

static void cell(struct made *m, uint32_t at, task_id task, uint64_t samples)
{
	m->cells[m->s.ncells++] = (struct snapshot_cell){.node = at,
							 .task = task,
							 .samples = samples,
							 .weight = samples * MADE_WEIGHT,
							 .weight_sq = (double)samples *
								      MADE_WEIGHT * MADE_WEIGHT};
	m->events[0].samples += samples;
	m->events[0].weight += samples * MADE_WEIGHT;
}

static module_id prog_module(struct tables *t)
{
	return tables_module(t, &(struct module){.kind = MODULE_FILE,
						 .path = tables_str(t, "/opt/prog"),
						 .name = tables_str(t, "prog"),
						 .build_id = {0xab, 0x01},
						 .build_id_size = 2});
}

static void add_nodes(struct made *m)
{
	struct tables *t = m->tables;
	module_id prog = prog_module(t);
	module_id kernel = tables_module(t, &(struct module){.kind = MODULE_KERNEL,
							     .path = tables_str(t, "[kernel]"),
							     .name = tables_str(t, "[kernel]")});
	str_id file = tables_str(t, "/src/prog.cc");
	func_id f_main = func(t, prog, 0x1000, "main", "main", 0);
	func_id outer = func(t, prog, 0x2000, "_Z5outerv", "outer()", 0);
	func_id inner = func(t, prog, 0, "_Z5inneri", "inner(int)", FUNC_INLINE);
	func_id rec = func(t, prog, 0x3000, "rec", "rec", 0);
	func_id evil = func(t, prog, 0x4000, MADE_HOSTILE, MADE_HOSTILE, 0);
	func_id kfn = func(t, kernel, 0xffffffff81000000, "kernel_fn", "kernel_fn", FUNC_KERNEL);
	frame_id frames[8] = {frame(t, prog, 0x1010, FRAME_RETURN),
			      frame(t, prog, 0x2020, 0),
			      frame(t, prog, 0x3010, FRAME_RETURN),
			      frame(t, prog, 0x3020, 0),
			      frame(t, prog, 0x4004, 0),
			      frame(t, prog, 0x9000, 0),
			      FRAME_TRUNCATED,
			      frame(t, kernel, 0xffffffff81000010, FRAME_KERNEL)};
	struct loc_line inlined[2] = {{.func = inner, .file = file, .line = 77},
				      {.func = outer, .file = file, .line = 21}};

	tables_resolve(t, frames[0], &(struct loc_line){.func = f_main, .file = file, .line = 11},
		       1);
	tables_resolve(t, frames[1], inlined, 2);
	tables_resolve(t, frames[2], &(struct loc_line){.func = rec, .file = file, .line = 31}, 1);
	tables_resolve(t, frames[3], &(struct loc_line){.func = rec, .file = file, .line = 32}, 1);
	tables_resolve(t, frames[4], &(struct loc_line){.func = evil}, 1);
	tables_resolve(t, frames[7], &(struct loc_line){.func = kfn}, 1);
	m->s.main_module = prog;
	node(m, SNAPSHOT_ROOT, frames[0]);
	node(m, 0, frames[1]);
	node(m, 0, frames[2]);
	node(m, 2, frames[3]);
	node(m, 0, frames[4]);
	node(m, 0, frames[5]);
	node(m, SNAPSHOT_ROOT, frames[6]);
	node(m, 6, frames[7]);
}

void made_init(struct made *m)
{
	memset(m, 0, sizeof *m);
	m->tables = tables_new();
	assert_non_null(m->tables);
	m->s = (struct snapshot){.tables = m->tables,
				 .nodes = m->nodes,
				 .cells = m->cells,
				 .events = m->events,
				 .nevents = 1,
				 .start_ns = 5000000000,
				 .end_ns = 5100000000,
				 .wall_start_ns = 1700000000000000000,
				 .title = "altpttop -p 100 (prog)",
				 .host = "Linux test",
				 .sampler = "made by hand",
				 .rate_hz = 1000};
	m->s.loss[LOSS_RING] = 7;
	m->s.cut[CUT_NONE] = 98;
	m->s.cut[CUT_DUMP_END] = 2;
	m->events[0] = (struct snapshot_event){.desc = {.name = "cpu-clock",
							.unit = EVENT_NS,
							.sampled = true,
							.cpu_time = true,
							.freq_hz = 1000},
					       .running = 1};
	add_nodes(m);
	task_id one = tables_task(m->tables, 100, 100, 1, tables_str(m->tables, "main"));
	task_id two = tables_task(m->tables, 100, 101, 1, tables_str(m->tables, "wor;ker\n"));
	cell(m, 1, one, 40);
	cell(m, 1, two, 20);
	cell(m, 3, one, 10);
	cell(m, 4, two, 25);
	cell(m, 5, one, 3);
	cell(m, 7, two, 2);
}

void made_fini(struct made *m)
{
	tables_free(m->tables);
}

static void add_text(void *ctx, const void *data, size_t len)
{
	strbuf_add(ctx, data, len);
}

char *made_export(const struct made *m, enum snapshot_format format, const struct export_options *o,
		  size_t *ret_len)
{
	struct strbuf b;
	struct err err = {0};
	strbuf_init(&b);
	const struct export_ops *ops = export_find(format);
	assert_non_null(ops);
	assert_int_equal(ops->format, format);
	int rc = ops->write(&m->s, o, &(struct export_out){.add = add_text, .ctx = &b}, &err);
	if (rc)
		fail_msg("%s: %s", ops->name, err.msg);
	assert_false(b.failed);
	if (ret_len)
		*ret_len = b.len;
	return strbuf_take(&b);
}
