/* through: a recording whose stacks do not fit keeps every function's and module's self and total.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/rollup.h"
#include "profile/fold.h"
#include "profile/snap.h"

enum { FUNCTIONS = 400, MODULES = 5, LINES = 3, TASKS = 3, DEPTH = 40, NUMBERS = 50 };

struct counts {
	uint64_t self, total, value;
};

static struct bed {
	struct tables *t;
	struct profile p;
	frame_id frames[FUNCTIONS][LINES]; /* a function is met at several lines */
	func_id funcs[FUNCTIONS];
	module_id modules[MODULES];
	struct counts truth[TASKS + 1][FUNCTIONS], in_modules[MODULES];
	uint64_t samples;
	uint16_t flags; /* of each sample */
} b;

static void up(void)
{
	memset(&b, 0, sizeof b);
	b.t = tables_new();
	assert_int_equal(profile_init(&b.p, 8 << 20), 0);
	assert_int_equal(profile_of_recording(&b.p, b.t), 0);
	for (int i = 0; i < MODULES; i++) {
		char name[32];
		snprintf(name, sizeof name, "lib%d.so", i);
		str_id id = tables_str(b.t, name);
		b.modules[i] = tables_module(
			b.t, &(struct module){.kind = MODULE_NAMED, .path = id, .name = id});
	}
	for (int i = 0; i < FUNCTIONS; i++) {
		char name[32];
		snprintf(name, sizeof name, "function_%d", i);
		struct frame f = {.module = b.modules[i % MODULES],
				  .flags = FRAME_NAMED,
				  .name = tables_str(b.t, name)};
		struct loc_line line = {.func = tables_func(b.t, &(struct func){.module = f.module,
										.raw = f.name,
										.name = f.name,
										.shown = f.name})};
		b.funcs[i] = line.func;
		for (int k = 0; k < LINES; k++) {
			line.line = f.line = (uint32_t)k + 1;
			b.frames[i][k] = tables_frame(b.t, &f);
			tables_resolve(b.t, b.frames[i][k], &line, 1);
		}
	}
}

static void down(void)
{
	profile_fini(&b.p);
	tables_free(b.t);
}

/* Of stacks in one module others are not met. */
static bool is_used(int function)
{
	return !(b.flags & SAMPLE_DISTINCT) || function % MODULES == 0;
}

/* As a source that says so where it is sure. */
static bool is_distinct(const int *path, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (path[i] == path[k])
				return false;
	return true;
}

static void count(task_id task, const int *path, uint32_t n, uint64_t weight)
{
	bool met[FUNCTIONS] = {false}, met_module[MODULES] = {false};
	b.truth[0][path[0]].self += weight;
	b.truth[task][path[0]].self += weight;
	b.in_modules[path[0] % MODULES].self += weight;
	for (uint32_t i = 0; i < n; i++) {
		if (!met_module[path[i] % MODULES])
			b.in_modules[path[i] % MODULES].total += weight;
		met_module[path[i] % MODULES] = true;
		if (met[path[i]])
			continue;
		met[path[i]] = true;
		for (task_id t = 0; t <= task; t += task) {
			b.truth[t][path[i]].total += weight;
			b.truth[t][path[i]].value += 3 * weight;
		}
	}
}

/* Random stacks with recursion, most of them new; some come again by their number. */
static void run(uint64_t samples)
{
	static int known[NUMBERS][DEPTH];
	static uint32_t depths[NUMBERS];
	memset(depths, 0, sizeof depths);
	srand(11);
	for (uint64_t i = 0; i < samples; i++) {
		int path[DEPTH];
		frame_id frames[DEPTH];
		uint32_t n = 1 + (uint32_t)rand() % DEPTH, number = 0;
		bool again = false;
		for (uint32_t d = 0; d < n; d++)
			path[d] = d + 4 < n ? rand() % FUNCTIONS : rand() % 4;
		if (rand() % 4 == 0) {
			number = 1 + (uint32_t)rand() % (NUMBERS - 1);
			again = depths[number] && rand() % 20;
		}
		bool one = b.flags & SAMPLE_DISTINCT;
		for (uint32_t d = 0; one && d < n; d++)
			path[d] = path[d] * MODULES % FUNCTIONS;
		if (again) {
			n = depths[number];
			memcpy(path, known[number], sizeof path);
		} else if (number) {
			depths[number] = n;
			memcpy(known[number], path, sizeof path);
		}
		for (uint32_t d = 0; d < n; d++)
			frames[d] = b.frames[path[d]][(d * 7 + i) % LINES];
		struct sample s = {.weight = 1 + i % 5,
				   .hits = 1,
				   .task = 1 + i % TASKS,
				   .flags = is_distinct(path, n) ? b.flags
								 : b.flags & ~SAMPLE_DISTINCT,
				   .nvalues = 1,
				   .stack = number,
				   .nframes = (uint16_t)(again ? 0 : n)};
		struct sample_value v = {1, VALUE_OK, 3 * s.weight, 1};
		profile_add(&b.p, &s, &v, frames);
		count(s.task, path, n, s.weight);
		b.samples++;
	}
	assert_true(b.p.pruned >= 3);
	assert_int_equal(b.p.lost + b.p.through.lost, 0);
	assert_int_equal(b.p.overflowed, 0);
	assert_true(profile_bytes(&b.p) <= 10 << 20);
}

static void check_fold(task_id task)
{
	static const uint16_t values[] = {1};
	struct flat flat = {0};
	struct fold_rows rows = {0};
	struct fold_query q = {.window = profile_window(&b.p, 0, 0, b.p.newest_ns),
			       .task = task,
			       .values = values,
			       .nvalues = 1};
	assert_int_equal(flat_build(&flat, &b.p, b.t, &q), 0);
	assert_int_equal(fold_functions(&rows, &flat, b.t, 0), 0);
	for (int i = 0; i < FUNCTIONS; i++) {
		const struct fold_row *r = fold_rows_find(&rows, b.funcs[i]);
		const struct counts *truth = &b.truth[task][i];
		if (!is_used(i))
			continue;
		assert_non_null(r);
		assert_int_equal(r->self.weight, truth->self);
		assert_int_equal(r->total.weight, truth->total);
		assert_true(rows.total_values[r - rows.data] == (double)truth->value);
	}
	/* What is left out is there to be seen. */
	assert_non_null(fold_rows_find(&rows, tables_loc(b.t, FRAME_OVERFLOW)->lines[0].func));
	assert_int_equal(fold_modules(&rows, &flat, b.t), 0);
	for (int i = 0; i < MODULES && !task; i++) {
		const struct fold_row *r = fold_rows_find(&rows, b.modules[i]);
		if (!is_used(i))
			continue;
		assert_int_equal(r->self.weight, b.in_modules[i].self);
		assert_int_equal(r->total.weight, b.in_modules[i].total);
	}
	fold_rows_fini(&rows);
	flat_fini(&flat);
}

static void check_report(void)
{
	struct window w = profile_window(&b.p, 0, 0, b.p.newest_ns);
	struct event_desc events[2] = {{.name = "cpu", .sampled = true}, {.name = "bytes"}};
	const struct snapshot *s = snap_new(&b.p, b.t, &w, events, 2, 0);
	struct namelist names;
	struct rollup r;
	unsigned met = 0;
	assert_non_null(s);
	assert_int_equal(namelist_init(&names, s), 0);
	assert_int_equal(rollup_init(&r, s, &names, 0), 0);
	assert_int_equal(r.all.samples, b.samples);
	assert_true(s->shortened);
	assert_false(s->totals_low);
	for (uint32_t i = 0; i < names.funcs.len; i++) {
		int number;
		if (sscanf(names.funcs.data[i].name, "function_%d", &number) != 1)
			continue;
		met++;
		assert_int_equal(r.funcs[i].self.weight, b.truth[0][number].self);
		assert_int_equal(r.funcs[i].total.weight, b.truth[0][number].total);
	}
	assert_int_equal(met, b.flags & SAMPLE_DISTINCT ? FUNCTIONS / MODULES : FUNCTIONS);
	for (uint32_t i = 0; i < r.modules.len; i++)
		for (int m = 0; m < MODULES; m++)
			if (r.modules.data[i].id == b.modules[m] && is_used(m))
				assert_int_equal(r.modules.data[i].total.weight,
						 b.in_modules[m].total);
	rollup_fini(&r);
	namelist_fini(&names);
	snapshot_unref(s);
}

static void shares_stay(uint16_t flags)
{
	up();
	b.flags = flags;
	run(120000);
	for (task_id task = 0; task <= TASKS; task++)
		check_fold(task);
	check_report();
	down();
}

/* Samples without time go another way: without history. */
static void test_shares_stay(void **state)
{
	(void)state;
	shares_stay(0);
	shares_stay(SAMPLE_TIMELESS);
	shares_stay(SAMPLE_TIMELESS | SAMPLE_DISTINCT);
}

/* A window of time, or after a mark, is not what was counted from the beginning. */
static void test_windows(void **state)
{
	(void)state;
	up();
	run(60000);
	struct window w = profile_window(&b.p, 0, 0, b.p.newest_ns);
	assert_true(profile_has_through(&b.p, &w));
	struct window until = w;
	until.until_ns = 5;
	assert_false(profile_has_through(&b.p, &until));
	const struct event_desc event = {.name = "cpu", .sampled = true};
	const struct snapshot *s = snap_new(&b.p, b.t, &until, &event, 1, 0);
	assert_true(s && s->totals_low);
	snapshot_unref(s);
	s = snap_new(&b.p, b.t, &w, &event, 1, QUERY_NO_KERNEL);
	assert_true(s && s->totals_low);
	snapshot_unref(s);
	profile_mark(&b.p, 100);
	assert_false(profile_has_through(&b.p, &w));
	profile_unmark(&b.p);
	assert_true(profile_has_through(&b.p, &w));
	down();
}

/* Memory for it is capped: first threads are no longer told apart, then it is counted as lost. */
static void test_cap(void **state)
{
	(void)state;
	struct through x;
	struct cell c = {.samples = 1, .weight = 2};
	up();
	assert_int_equal(through_init(&x, b.t, 64 << 10), 0);
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t key = 1 + i % 300;
		c.task = 1 + i / 300;
		through_add(&x, &key, 1, &c);
	}
	uint64_t sum = x.lost;
	const struct cells *cells = through_cells(&x);
	for (uint32_t i = 0; i < cells->len; i++)
		sum += cells->data[i].samples;
	assert_int_equal(sum, 100000);
	assert_true(cells_bytes(&x.cells) <= 64 << 10);
	through_fini(&x);
	down();
}

/* Does a path that lacks all but its outermost and innermost frame, once known, stay where it is?
 */
static bool stays_in_place(struct through *x, const frame_id *path, uint32_t n)
{
	static struct through_list list;
	for (int i = 0; i < 2; i++)
		through_find(x, path, n, 1, true, false, &list);
	return list.keys == path + 1 && list.n == n - 2;
}

/* Nothing of a path is copied where no function is met twice and all are of one module. */
static void test_simple(void **state)
{
	(void)state;
	enum { N = 6 };
	static struct through x;
	frame_id path[N];
	up();
	assert_int_equal(through_init(&x, b.t, 1 << 20), 0);
	for (int i = 0; i < N; i++)
		path[i] = b.frames[i * MODULES][0];
	assert_true(stays_in_place(&x, path, N));
	path[2] = b.frames[4 * MODULES][1]; /* a function met at another line */
	assert_false(stays_in_place(&x, path, N));
	path[2] = b.frames[2 * MODULES + 1][0]; /* of another module */
	assert_false(stays_in_place(&x, path, N));
	path[2] = FRAME_OVERFLOW;
	assert_false(stays_in_place(&x, path, N));
	through_fini(&x);
	down();
}

/*
 * Paths with a common part: that of a frame outside of it lacks what all lack. What it lacks whose
 * function or module is met in that part as well is not all of that.
 */
static void test_common(void **state)
{
	(void)state;
	enum { N = 4 };
	static struct through x;
	static struct through_list list;
	frame_id path[N];
	up();
	assert_int_equal(through_init(&x, b.t, 1 << 20), 0);
	for (int i = 0; i < N; i++)
		path[i] = b.frames[i * MODULES][0];
	path[1] = b.frames[0][1]; /* recursion */
	through_find_common(&x, path, N, 1, &list);
	assert_int_equal(list.n, 2);
	assert_int_equal(list.keys[0], path[0]);
	assert_int_equal(list.keys[1], path[2]);
	assert_true(through_shares(&x, b.frames[0][2]));
	assert_true(through_shares(&x, b.frames[3 * MODULES][0]));
	assert_false(through_shares(&x, b.frames[N * MODULES][0]));
	assert_false(through_shares(&x, b.frames[1][0]));
	path[2] = b.frames[2 * MODULES + 1][0]; /* the kept part does not show its module */
	through_find_common(&x, path, N, 1, &list);
	assert_int_equal(list.n, 3);
	assert_int_equal(list.keys[2], THROUGH_MODULE | b.modules[1]);
	assert_true(through_shares(&x, b.frames[1][0]));
	assert_false(through_shares(&x, b.frames[2][0]));
	through_fini(&x);
	down();
}

/* Counts of one kind are summed apart from others; both are all there, of any number of hits. */
static void test_kinds(void **state)
{
	(void)state;
	static struct through x;
	uint64_t samples[2] = {0}, weight[2] = {0};
	double square[2] = {0};
	up();
	assert_int_equal(through_init(&x, b.t, 1 << 20), 0);
	for (uint64_t i = 0; i < 5000; i++) {
		uint32_t keys[] = {b.frames[i % 3][0], THROUGH_MODULE | b.modules[0]};
		uint64_t hits = i % 100 == 99 ? UINT32_MAX : 1 + i % 7,
			 one = i / 1000 % 2 ? 10 : 11;
		struct cell c = {.task = 1 + i / 2500,
				 .samples = hits,
				 .weight = hits * one,
				 .weight_sq = (double)hits * (double)(one * one)};
		through_add(&x, keys, 2, &c);
		samples[c.task - 1] += c.samples;
		weight[c.task - 1] += c.weight;
		square[c.task - 1] += c.weight_sq;
	}
	const struct cells *cells = through_cells(&x);
	for (uint32_t i = 0; i < cells->len; i++) {
		const struct cell *c = &cells->data[i];
		if (!(c->node & THROUGH_MODULE))
			continue;
		assert_int_equal(c->samples, samples[c->task - 1]);
		assert_int_equal(c->weight, weight[c->task - 1]);
		assert_true(fabs(c->weight_sq / square[c->task - 1] - 1) < 1e-9);
		samples[c->task - 1] = 0;
	}
	assert_int_equal(samples[0] + samples[1], 0);
	assert_int_equal(x.lost, 0);
	through_fini(&x);
	down();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_simple),  cmocka_unit_test(test_common),
		cmocka_unit_test(test_kinds),   cmocka_unit_test(test_shares_stay),
		cmocka_unit_test(test_windows), cmocka_unit_test(test_cap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
