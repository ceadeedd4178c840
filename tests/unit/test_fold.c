/* flat, fold, pathtree, foldtask, foldline: known self and total, recursion, inlines, edges, paths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "profile/fold.h"
#include "profile/foldline.h"
#include "profile/foldtask.h"
#include "profile/pathtree.h"
#include "profile_bed.h"

static struct profile_bed b;
static struct fold_rows rows;

static const struct fold_row *row(const char *name)
{
	return fold_rows_find(&rows, script_func(b.t, name));
}

static void fold(uint32_t flags, task_id task)
{
	pbed_flat(&b, flags, task);
	assert_int_equal(fold_functions(&rows, &b.flat, b.t, flags), 0);
}

static void up(void)
{
	pbed_up(&b);
	memset(&rows, 0, sizeof rows);
}

static void down(void)
{
	fold_rows_fini(&rows);
	pbed_down(&b);
}

#define CHECK(name, self_, total_) \
	do { \
		const struct fold_row *r_ = row(name); \
		assert_non_null(r_); \
		assert_int_equal(r_->self.samples, self_); \
		assert_int_equal(r_->total.samples, total_); \
		assert_int_equal(r_->active, 0); \
	} while (0)

static void test_preorder(void **state)
{
	(void)state;
	up();
	pbed_add(&b, 1, "main>a>b", 3, 10);
	pbed_add(&b, 1, "main>c", 2, 10);
	pbed_add(&b, 1, "main>a>d", 1, 10);
	pbed_add(&b, 2, "other", 4, 5);
	pbed_flat(&b, 0, 0);
	const struct flat *f = &b.flat;
	assert_int_equal(f->n, 6);
	assert_int_equal(f->all.samples, 10);
	assert_int_equal(f->all.weight, 80);
	for (uint32_t i = 0; i < f->n; i++) {
		const struct flat_node *n = &f->nodes[i];
		assert_true(n->parent == FLAT_NONE || n->parent < i);
		assert_true(n->end > i && n->end <= f->n);
		struct sums below = n->self;
		for (uint32_t c = i + 1; c < n->end; c = f->nodes[c].end) {
			assert_int_equal(f->nodes[c].parent, i);
			sums_add(&below, &f->nodes[c].total);
		}
		assert_int_equal(below.samples, n->total.samples);
		assert_int_equal(below.weight, n->total.weight);
	}
	pbed_flat(&b, 0, 2);
	assert_int_equal(f->n, 1);
	assert_int_equal(f->all.weight, 20);
	pbed_flat(&b, 0, 3);
	assert_int_equal(f->n, 0);
	down();
}

static void test_self_and_total(void **state)
{
	(void)state;
	up();
	pbed_add(&b, 1, "main>a>b", 30, 10);
	pbed_add(&b, 1, "main>a", 20, 10);
	pbed_add(&b, 2, "main>b>a", 10, 10);
	fold(0, 0);
	assert_int_equal(rows.len, 3);
	CHECK("main", 0, 60);
	CHECK("a", 30, 60);
	CHECK("b", 30, 40);
	fold(0, 2);
	CHECK("main", 0, 10);
	CHECK("a", 10, 10);
	CHECK("b", 0, 10);
	down();
}

static void test_recursion_counts_once(void **state)
{
	(void)state;
	up();
	pbed_add(&b, 1, "main>f>f>f", 10, 1);
	pbed_add(&b, 1, "main>f>g>f>g", 20, 1);
	pbed_add(&b, 1, "main>f", 5, 1);
	fold(0, 0);
	CHECK("main", 0, 35);
	CHECK("f", 15, 35);
	CHECK("g", 20, 20);
	down();
}

static void test_inlines(void **state)
{
	(void)state;
	up();
	pbed_add(&b, 1, "main>in<mid<outer", 40, 1); /* in inlined into mid into outer */
	pbed_add(&b, 1, "main>outer>leaf", 10, 1);
	pbed_add(&b, 1, "main>in", 5, 1); /* also called for real */
	fold(0, 0);
	CHECK("in", 45, 45);
	CHECK("mid", 0, 40);
	CHECK("outer", 0, 50);
	CHECK("leaf", 10, 10);
	assert_int_equal(row("in")->inlined_weight, 40);
	assert_int_equal(row("in")->outer, script_func(b.t, "outer"));
	assert_int_equal(row("outer")->inlined_weight, 0);

	fold(QUERY_FOLD_INLINE, 0);
	CHECK("outer", 40, 50);
	CHECK("in", 5, 5);
	assert_null(row("mid"));
	down();
}

static void test_addresses(void **state)
{
	(void)state;
	up();
	pbed_add(&b, 1, "main>in<outer", 4, 1);
	pbed_add(&b, 1, "main>outer", 6, 1);
	fold(QUERY_ADDRESSES, 0);
	assert_int_equal(rows.len, 3);
	const struct fold_row *r = fold_rows_find(&rows, FID_FRAME | pbed_frame(&b, "in<outer"));
	assert_non_null(r);
	assert_int_equal(r->self.samples, 4);
	down();
}

static void test_unresolved(void **state)
{
	(void)state;
	up();
	frame_id nameless = tables_frame(b.t, &(struct frame){.module = 1, .addr = 0x1234});
	struct sample s = {.time_ns = BED_NS, .weight = 3, .hits = 1, .nframes = 1};
	profile_add(&b.p, &s, NULL, &nameless);
	fold(0, 0);
	assert_int_equal(rows.len, 1);
	assert_int_equal(rows.data[0].fid, FID_FRAME | nameless);
	/* A name that comes late rebuilds nothing. */
	tables_resolve(b.t, nameless, &(struct loc_line){.func = script_func(b.t, "late")}, 1);
	fold(0, 0);
	CHECK("late", 1, 1);
	down();
}

static void test_truncated(void **state)
{
	(void)state;
	up();
	pbed_add(&b, 1, "main>a", 30, 1);
	pbed_add(&b, 1, "[truncated]>a", 10, 1);
	fold(0, 0);
	CHECK("a", 40, 40);
	func_id cut = tables_loc(b.t, FRAME_TRUNCATED)->lines[0].func;
	assert_int_equal(fold_rows_find(&rows, cut)->total.samples, 10);
	assert_int_equal(fold_rows_find(&rows, cut)->self.samples, 0);
	down();
}

static frame_id kernel_frame(const char *name, uint64_t addr)
{
	frame_id f = tables_frame(b.t, &(struct frame){.addr = addr, .flags = FRAME_KERNEL});
	tables_resolve(b.t, f, &(struct loc_line){.func = script_func(b.t, name)}, 1);
	return f;
}

static void test_kernel_and_user(void **state)
{
	(void)state;
	up();
	pbed_add(&b, 1, "main>a", 6, 1);
	frame_id in_kernel[] = {kernel_frame("copy", 0xffff1), kernel_frame("sys", 0xffff2),
				pbed_frame(&b, "a"), pbed_frame(&b, "main")};
	struct sample s = {.time_ns = b.now_ns, .weight = 1, .hits = 1, .task = 1, .nframes = 4};
	for (int i = 0; i < 4; i++)
		profile_add(&b.p, &s, NULL, in_kernel);
	fold(0, 0);
	CHECK("copy", 4, 4);
	CHECK("a", 6, 10);
	assert_int_equal(b.flat.kernel_weight, 4);
	/* Without kernel: samples in it are left out. */
	fold(QUERY_NO_KERNEL, 0);
	CHECK("a", 6, 6);
	assert_null(row("copy"));
	assert_int_equal(b.flat.all.samples, 6);
	/* Without user: its samples and its frames. */
	fold(QUERY_NO_USER, 0);
	CHECK("copy", 4, 4);
	CHECK("sys", 0, 4);
	assert_null(row("a"));
	assert_int_equal(b.flat.nodes[0].parent, FLAT_NONE);
	assert_int_equal(b.flat.all.samples, 4);
	down();
}

/* What ran in a guest, left out or alone; the counters read along follow their samples. */
static void test_guests(void **state)
{
	const uint16_t counter = 3;
	struct sample_value v = {.event = counter, .count = 100, .running = 1};
	frame_id frames[2];

	(void)state;
	up();
	pbed_add(&b, 1, "main>a", 6, 1);
	frames[0] = pbed_frame(&b, "g");
	frames[1] = pbed_frame(&b, "main");
	for (int i = 0; i < 5; i++) {
		struct sample s = {.time_ns = b.now_ns + (uint64_t)i,
				   .weight = 1,
				   .hits = 1,
				   .task = 1,
				   .nframes = 2,
				   .nvalues = 1,
				   .flags = i < 4 ? SAMPLE_GUEST : 0};
		profile_add(&b.p, &s, &v, frames);
	}
	fold(0, 0);
	CHECK("g", 5, 5);
	CHECK("main", 0, 11);
	fold(QUERY_NO_GUEST, 0);
	CHECK("g", 1, 1);
	CHECK("a", 6, 6);
	fold(QUERY_NO_HOST, 0);
	CHECK("g", 4, 4);
	assert_null(row("a"));
	struct fold_query q = {
		.window = pbed_all(&b), .flags = QUERY_NO_HOST, .values = &counter, .nvalues = 1};
	assert_int_equal(flat_build(&b.flat, &b.p, b.t, &q), 0);
	assert_true(b.flat.all_values[0] == 400);
	q.flags = QUERY_NO_GUEST;
	assert_int_equal(flat_build(&b.flat, &b.p, b.t, &q), 0);
	assert_true(b.flat.all_values[0] == 100);
	down();
}

static void test_tail_calls(void **state)
{
	(void)state;
	up();
	frame_id hidden = tables_frame(b.t, &(struct frame){.addr = 9, .flags = FRAME_TAILCALL});
	tables_resolve(b.t, hidden, &(struct loc_line){.func = script_func(b.t, "jumped")}, 1);
	frame_id frames[] = {pbed_frame(&b, "leaf"), hidden, pbed_frame(&b, "main")};
	struct sample s = {.time_ns = b.now_ns, .weight = 1, .hits = 1, .nframes = 3};
	profile_add(&b.p, &s, NULL, frames);
	fold(0, 0);
	assert_null(row("jumped"));
	CHECK("main", 0, 1);
	CHECK("leaf", 1, 1);
	fold(QUERY_TAIL_CALLS, 0);
	CHECK("jumped", 0, 1);
	down();
}

static void test_modules(void **state)
{
	(void)state;
	up();
	pbed_add(&b, 1, "main>a>b", 8, 1);
	module_id libc = tables_module(
		b.t, &(struct module){.kind = MODULE_FILE, .path = tables_str(b.t, "/lib/libc")});
	frame_id other = tables_frame(b.t, &(struct frame){.module = libc, .addr = 1});
	frame_id frames[] = {other, pbed_frame(&b, "a"), pbed_frame(&b, "main")};
	struct sample s = {.time_ns = b.now_ns, .weight = 1, .hits = 1, .nframes = 3};
	profile_add(&b.p, &s, NULL, frames);
	pbed_flat(&b, 0, 0);
	assert_int_equal(fold_modules(&rows, &b.flat, b.t), 0);
	assert_int_equal(rows.len, 2);
	const struct fold_row *prog = fold_rows_find(
		&rows, tables_frame_get(b.t, pbed_frame(&b, "a"))->module);
	assert_int_equal(prog->self.samples, 8);
	assert_int_equal(prog->total.samples, 9);
	assert_int_equal(fold_rows_find(&rows, libc)->self.samples, 1);
	down();
}

/* A sample counts once for each different edge, as pprof's peek does. */
static void test_edges(void **state)
{
	(void)state;
	struct fold_edges e = {0};
	up();
	pbed_add(&b, 1, "main>a>f>x", 10, 1);
	pbed_add(&b, 1, "main>b>f", 5, 1);
	pbed_add(&b, 1, "main>a>f>f>y", 3, 1);
	pbed_add(&b, 1, "main>a>f>x>a>f>x", 2, 1);
	pbed_flat(&b, 0, 0);
	assert_int_equal(fold_edges(&e, &b.flat, b.t, 0, script_func(b.t, "f")), 0);
	const struct fold_row *r = fold_rows_find(&e.callers, script_func(b.t, "a"));
	assert_int_equal(r->total.samples, 15);
	assert_int_equal(r->self.samples, 0);
	r = fold_rows_find(&e.callers, script_func(b.t, "b"));
	assert_int_equal(r->total.samples, 5);
	assert_int_equal(r->self.samples, 5);
	r = fold_rows_find(&e.callers, script_func(b.t, "f")); /* itself */
	assert_int_equal(r->total.samples, 3);
	r = fold_rows_find(&e.callees, script_func(b.t, "x"));
	assert_int_equal(r->total.samples, 12);
	assert_int_equal(r->self.samples, 12);
	r = fold_rows_find(&e.callees, script_func(b.t, "y"));
	assert_int_equal(r->total.samples, 3);
	r = fold_rows_find(&e.callees, script_func(b.t, "f"));
	assert_int_equal(r->total.samples, 3);
	assert_int_equal(e.focus.total.samples, 20);
	assert_int_equal(e.focus.self.samples, 5);
	fold_edges_fini(&e);
	down();
}

static const struct tree_node *child(struct pathtree *c, uint32_t node, const char *name)
{
	func_id func = script_func(b.t, name);
	pathtree_open(c, node);
	for (uint32_t i = 0; i < c->nodes.data[node].nchildren; i++) {
		const struct tree_node *n = &c->nodes.data[c->nodes.data[node].children + i];
		if (n->fid == func)
			return n;
	}
	fail_msg("no %s there", name);
	return NULL;
}

static uint32_t at(const struct pathtree *c, const struct tree_node *n)
{
	return (uint32_t)(n - c->nodes.data);
}

static void test_top_down(void **state)
{
	(void)state;
	struct pathtree c;
	up();
	pbed_add(&b, 1, "main>a>in<f", 10, 1);
	pbed_add(&b, 1, "main>a>f", 4, 1);
	pbed_add(&b, 1, "main>b", 3, 1);
	pbed_add(&b, 1, "thread>a", 2, 1);
	pbed_flat(&b, 0, 0);
	assert_int_equal(pathtree_init(&c, &b.flat, b.t, 0, 0), 0);
	uint32_t in_main = at(&c, child(&c, PATHTREE_ROOT, "main"));
	assert_int_equal(c.nodes.data[PATHTREE_ROOT].nchildren, 2);
	assert_int_equal(c.nodes.data[in_main].total.samples, 17);
	assert_int_equal(c.nodes.data[in_main].self.samples, 0);
	uint32_t a = at(&c, child(&c, in_main, "a"));
	assert_int_equal(c.nodes.data[a].total.samples, 14);
	/* Two frames, one function: one tree node. */
	uint32_t f = at(&c, child(&c, a, "f"));
	assert_int_equal(c.nodes.data[a].nchildren, 1);
	assert_int_equal(c.nodes.data[f].total.samples, 14);
	assert_int_equal(c.nodes.data[f].self.samples, 4);
	const struct tree_node *in = child(&c, f, "in");
	assert_int_equal(in->self.samples, 10);
	assert_true(in->inlined);
	assert_false(c.nodes.data[f].inlined);
	pathtree_fini(&c);
	down();
}

static void test_bottom_up(void **state)
{
	(void)state;
	struct pathtree c;
	up();
	pbed_add(&b, 1, "main>a>f>x", 10, 1);
	pbed_add(&b, 1, "main>b>f", 5, 1);
	pbed_add(&b, 1, "main>a>f>f", 3, 1);
	pbed_add(&b, 1, "main>x", 1, 1);
	pbed_flat(&b, 0, 0);
	assert_int_equal(pathtree_init(&c, &b.flat, b.t, QUERY_BOTTOM_UP, script_func(b.t, "f")),
			 0);
	const struct tree_node *f = child(&c, PATHTREE_ROOT, "f");
	assert_int_equal(c.nodes.data[PATHTREE_ROOT].nchildren, 1);
	assert_int_equal(f->total.samples, 18); /* each sample once, recursion or not */
	assert_int_equal(f->self.samples, 8);
	uint32_t fi = at(&c, f);
	assert_int_equal(child(&c, fi, "a")->total.samples, 10);
	assert_int_equal(child(&c, fi, "b")->total.samples, 5);
	uint32_t again = at(&c, child(&c, fi, "f"));
	assert_int_equal(c.nodes.data[again].total.samples, 3);
	uint32_t a = at(&c, child(&c, again, "a"));
	assert_int_equal(c.nodes.data[a].total.samples, 3);
	assert_int_equal(child(&c, a, "main")->total.samples, 3);
	pathtree_fini(&c);

	/* Without a focus: every function by its self. */
	assert_int_equal(pathtree_init(&c, &b.flat, b.t, QUERY_BOTTOM_UP, 0), 0);
	assert_int_equal(child(&c, PATHTREE_ROOT, "x")->total.samples, 11);
	assert_int_equal(child(&c, PATHTREE_ROOT, "f")->total.samples, 8);
	assert_int_equal(c.nodes.data[PATHTREE_ROOT].nchildren, 2);
	pathtree_fini(&c);
	down();
}

static void test_hashes_are_stable(void **state)
{
	(void)state;
	struct pathtree c;
	up();
	pbed_add(&b, 1, "main>a>f", 10, 1);
	pbed_flat(&b, 0, 0);
	pathtree_init(&c, &b.flat, b.t, 0, 0);
	uint32_t in_main = at(&c, child(&c, PATHTREE_ROOT, "main"));
	uint64_t before = child(&c, in_main, "a")->hash;
	pathtree_fini(&c);
	pbed_add(&b, 1, "zero>a>f", 30, 1);
	pbed_add(&b, 1, "main>b", 30, 1);
	pbed_flat(&b, 0, 0);
	pathtree_init(&c, &b.flat, b.t, 0, 0);
	in_main = at(&c, child(&c, PATHTREE_ROOT, "main"));
	uint64_t after = child(&c, in_main, "a")->hash;
	uint32_t zero = at(&c, child(&c, PATHTREE_ROOT, "zero"));
	assert_true(after == before);
	assert_true(child(&c, zero, "a")->hash != before);
	pathtree_fini(&c);
	down();
}

static void test_tasks(void **state)
{
	(void)state;
	struct task_folds r = {0};
	up();
	pbed_add(&b, 1, "main>a", 30, 1000000);
	pbed_add(&b, 1, "main>b", 10, 1000000);
	pbed_add(&b, 2, "main>b", 5, 1000000);
	struct sample s = {.time_ns = b.now_ns,
			   .weight = 9000000,
			   .hits = 1,
			   .task = 2,
			   .flags = SAMPLE_BLOCKED,
			   .nframes = 1};
	frame_id waiting = kernel_frame("wait", 0xffff9);
	profile_add(&b.p, &s, NULL, &waiting);
	struct fold_query q = {.window = pbed_all(&b), .flags = QUERY_NO_WAITING};
	assert_int_equal(fold_tasks(&r, &b.p, b.t, &q, b.now_ns + 1), 0);
	assert_int_equal(r.len, 2);
	struct task_fold *one = task_folds_at(&r, 1), *two = task_folds_at(&r, 2);
	assert_int_equal(one->sums.samples, 40);
	assert_int_equal(one->top, script_func(b.t, "a"));
	assert_int_equal(two->sums.samples, 5);
	assert_int_equal(two->top, script_func(b.t, "b"));
	assert_int_equal(two->blocked_weight, 9000000);
	assert_int_equal(two->running_weight, 5000000);
	assert_int_equal(one->spark_ns[TASK_SPARK - 1], 40000000);
	task_folds_fini(&r);
	memset(&r, 0, sizeof r);
	q.flags = 0;
	assert_int_equal(fold_tasks(&r, &b.p, b.t, &q, b.now_ns + 1), 0);
	two = task_folds_at(&r, 2);
	assert_int_equal(two->sums.samples, 6);
	assert_int_equal(two->top, script_func(b.t, "wait"));
	assert_int_equal(two->kernel_weight, 0); /* waiting in the kernel uses no CPU */
	task_folds_fini(&r);
	down();
}

static void test_lines(void **state)
{
	(void)state;
	struct code_fold c = {0};
	up();
	pbed_add(&b, 1, "main>f", 6, 1);
	pbed_add(&b, 1, "main>in<f", 4, 1);
	pbed_add(&b, 1, "main>f>leaf", 3, 1);
	pbed_flat(&b, 0, 0);
	assert_int_equal(fold_code(&c, &b.flat, b.t, 0, script_func(b.t, "f")), 0);
	assert_int_equal(c.total.samples, 13);
	assert_int_equal(c.self.samples, 6);
	assert_int_equal(c.code.samples, 10); /* with what is inlined */
	uint64_t self = 0, total = 0;
	for (size_t i = 0; i < c.lines.len; i++) {
		self += c.lines.data[i].self.samples;
		total += c.lines.data[i].total.samples;
	}
	assert_int_equal(self, 10);
	assert_int_equal(total, 13);
	assert_int_equal(c.inlines.len, 1);
	assert_int_equal(c.inlines.data[0].callee, script_func(b.t, "in"));
	assert_int_equal(c.inlines.data[0].self.samples, 4);
	/* A return address belongs to the call before it. */
	const struct frame *frame = tables_frame_get(b.t, pbed_frame(&b, "f"));
	const struct line_fold *a = line_folds_find(&c.addrs, frame->addr - 1);
	assert_non_null(a);
	assert_int_equal(a->self.samples, 6);
	assert_int_equal(a->total.samples, 9);
	code_fold_fini(&c);
	down();
}

/* Counters that ride along: IPC of a function is the sum of one over the sum of the other. */
static void test_values(void **state)
{
	(void)state;
	enum { CYCLES = 1, INSTRUCTIONS = 2 };
	up();
	struct sample s = {
		.time_ns = BED_NS, .weight = 1, .hits = 1, .task = 1, .nframes = 2, .nvalues = 2};
	struct sample_value v[] = {{.event = CYCLES, .count = 1000, .running = 1},
				   {.event = INSTRUCTIONS, .count = 500, .running = 0.5f}};
	frame_id slow[] = {pbed_frame(&b, "slow"), pbed_frame(&b, "main")};
	frame_id fast[] = {pbed_frame(&b, "fast"), pbed_frame(&b, "main")};
	for (int i = 0; i < 10; i++)
		profile_add(&b.p, &s, v, slow);
	v[1].count = 3000;
	profile_add(&b.p, &s, v, fast);
	v[1].state = VALUE_NOT_RUNNING; /* unknown: no 0 is added */
	profile_add(&b.p, &s, v, fast);

	const uint16_t values[] = {CYCLES, INSTRUCTIONS};
	struct fold_query q = {.window = pbed_all(&b), .values = values, .nvalues = 2};
	assert_int_equal(flat_build(&b.flat, &b.p, b.t, &q), 0);
	assert_int_equal(fold_functions(&rows, &b.flat, b.t, 0), 0);
	size_t in_main = (size_t)(row("main") - rows.data),
	       in_slow = (size_t)(row("slow") - rows.data);
	size_t in_fast = (size_t)(row("fast") - rows.data);
	assert_true(rows.self_values[in_slow * 2] == 10000);
	assert_true(rows.self_values[in_slow * 2 + 1] == 5000);
	assert_true(rows.self_values[in_fast * 2] == 2000);
	assert_true(rows.self_values[in_fast * 2 + 1] == 3000);
	assert_true(rows.self_values[in_main * 2] == 0);
	assert_true(rows.total_values[in_main * 2] == 12000);
	assert_true(rows.total_values[in_main * 2 + 1] == 8000);
	assert_true(b.flat.all_values[0] == 12000);
	CHECK("main", 0, 12); /* what rides along adds no samples */

	struct task_folds r = {0};
	assert_int_equal(fold_tasks(&r, &b.p, b.t, &q, b.now_ns), 0);
	assert_true(task_folds_at(&r, 1)->values[1] == 8000);
	task_folds_fini(&r);
	q.task = 2;
	assert_int_equal(flat_build(&b.flat, &b.p, b.t, &q), 0);
	assert_int_equal(b.flat.n, 0);
	down();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_preorder),
		cmocka_unit_test(test_self_and_total),
		cmocka_unit_test(test_recursion_counts_once),
		cmocka_unit_test(test_inlines),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_unresolved),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_kernel_and_user),
		cmocka_unit_test(test_guests),
		cmocka_unit_test(test_tail_calls),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_top_down),
		cmocka_unit_test(test_bottom_up),
		cmocka_unit_test(test_hashes_are_stable),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
