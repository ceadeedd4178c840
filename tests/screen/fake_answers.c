/*
 * fake_answers: the made-up profile behind the fake engine: functions, call tree, threads, modules,
 * source, and the views of events and analyses. Sorting, filtering and opening of rows work as the
 * real engine's do, so that key scripts mean something. One thread.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_rows.h"
#include "view/utf8.h"

#define SAMPLES 16900

struct function {
	double self, total, ipc;
	const char *module, *name, *note;
	uint32_t flags;
};

static const struct function functions[] = {
	{0.231, 0.450, 0.42, "mysqld", "row_search_mvcc", "", 0},
	{0.148, 0.148, 1.91, "libc.so.6", "__memmove_avx_unaligned_erms", "", 0},
	{0.097, 0.613, 0.88, "mysqld", "btr_cur_search_to_nth_level", "", 0},
	{0.077, 0.077, 0.35, "mysqld", "buf_page_hash_get", "\xe2\x97\x82 buf_page_get_gen",
	 ROW_INLINED},
	{0.075, 0.080, 1.10, "mysqld", "rec_get_offsets_func", "", ROW_TIED},
	{0.042, 0.042, 2.40, "[kernel]", "copy_user_enhanced_fast_string", "", ROW_KERNEL},
	{0.031, 0.055, NAN, "[kernel]", "do_syscall_64", "", ROW_KERNEL},
	{0.024, 0.024, 0.71, "libstdc++.so.6.0.30",
	 "std::_Rb_tree<\xe2\x80\xa6>::_M_insert_unique(std::pair<\xe2\x80\xa6> const&)", "", 0},
	{0.019, 0.021, 1.52, "mysqld",
	 "Field_\xe6\x95\xb0\xe6\x8d\xae\xe5\xba\x93::\xe6\xaf\x94\xe8\xbe\x83(\xe6\x95\xb0\xe6\x8d\xae const*)",
	 "", 0},
	{0.012, 0.012, 0.90, "mysqld", "cafe\xcc\x81_encode", "", 0},
	{0.008, 0.011, 0.55, "mysqld", "evil\x1b[2J\x07\xff\xfe\xe2\x80\xae name", "", ROW_DIM},
	{0.004, 0.004, NAN, "perf-4242.map", "LazyCompile:*parse app.js:81", "", ROW_DIM},
	{0.0015, 0.0020, NAN, "libz.so.1", "libz.so.1+0x3f20", "",
	 ROW_LOW | ROW_DIM | ROW_UNRESOLVED},
	{0.0002, 0.0010, NAN, "mysqld", "ut_crc32", "", ROW_UNRANKED | ROW_DIM},
	{0.003, 0.003, NAN, "", "[truncated]", "stack cut by the 32 KiB dump", ROW_TRUNCATED},
};
#define FUNCTIONS (sizeof functions / sizeof *functions)

/* The call tree in preorder: depth and which function. */
static const struct {
	int depth, function;
	double total, self;
} tree[] = {
	{0, -1, 1.000, 0.000}, {1, -2, 0.972, 0.000}, {2, 2, 0.613, 0.097}, {3, 0, 0.330, 0.231},
	{4, 1, 0.080, 0.080},  {4, 3, 0.019, 0.019},  {3, 4, 0.080, 0.075}, {3, 13, 0.019, 0.019},
	{2, 6, 0.055, 0.031},  {3, 5, 0.024, 0.024},  {2, 7, 0.024, 0.024}, {2, 8, 0.021, 0.019},
	{1, 14, 0.003, 0.003},
};

double fake_wobble(struct fake *f, double v, unsigned seed)
{
	if (!f->jitter)
		return v;
	return v * (1 + 0.04 * sin((double)f->served * 0.7 + seed));
}

struct row *fake_add(struct arena *arena, struct row *rows, uint32_t *n)
{
	struct row *r = &rows[(*n)++];

	(void)arena;
	*r = (struct row){.name = "", .full = "", .module = "", .note = "", .hint = "", .file = ""};
	r->cpu = r->user = r->system = r->blocked = -1;
	return r;
}

static const char *long_name(struct arena *arena)
{
	static const char piece[] = "boost::mpl::vector<std::unordered_map<int, char const*>, ";
	char *s = arena_alloc(arena, 4200);
	size_t used = 0;

	while (used + sizeof piece < 4100) {
		memcpy(s + used, piece, sizeof piece - 1);
		used += sizeof piece - 1;
	}
	strcpy(s + used, ">::apply(int)");
	return s;
}

void fake_share(struct fake *f, struct row *r, double self, double total, unsigned seed)
{
	r->self = fake_wobble(f, self, seed);
	r->total = fmin(fake_wobble(f, total, seed), 1);
	r->self_samples = (uint64_t)(r->self * SAMPLES);
	r->total_samples = (uint64_t)(r->total * SAMPLES);
	r->self_margin = 1.96 * sqrt(r->self * (1 - r->self) / SAMPLES);
	r->total_margin = 1.96 * sqrt(r->total * (1 - r->total) / SAMPLES);
}

void fake_ipc(struct fake *f, struct row *r, double v)
{
	struct metric_value m = {
		.v = v, .state = isnan(v) ? VALUE_NOT_RUNNING : VALUE_OK, .running = 1};

	if (!f->metrics)
		return;
	m.grade = v < 0.5 ? 3 : v < 1 ? 2 : 1;
	r->nmetrics = 2;
	r->self_metric[0] = r->total_metric[0] = m;
	m.v = v * 7.3;
	m.grade = 0;
	r->self_metric[1] = r->total_metric[1] = m;
}

static void function_row(struct fake *f, struct row *r, uint32_t i)
{
	const struct function *fn = &functions[i];

	r->key = (struct row_key){ROW_FUNCTION, i + 1, 0};
	r->flags = fn->flags;
	r->name = r->full = fn->name;
	r->module = fn->module;
	r->note = fn->note;
	r->addr = 0x4a31f0 + i * 0x340;
	if (!strcmp(fn->module, "mysqld")) {
		r->file = "storage/innobase/row/row0sel.cc";
		r->line = 4380 + i * 12;
	}
	fake_share(f, r, fn->self, fn->total, i);
	fake_ipc(f, r, fn->ipc);
}

static void functions_of(struct fake *f, struct arena *arena, struct answer *a, struct row *rows)
{
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		function_row(f, fake_add(arena, rows, &a->nrows), i);
		if (i == 7)
			rows[a->nrows - 1].full =
				"std::_Rb_tree<std::__cxx11::basic_string<char>, "
				"std::pair<int, int>>::_M_insert_unique(std::pair<int, "
				"int> const&)";
		if (i == 7)
			rows[a->nrows - 1].file = "bits/stl_tree.h"; /* and no line is known */
	}
	struct row *r = fake_add(arena, rows, &a->nrows);

	r->key = (struct row_key){ROW_FUNCTION, 100, 0};
	r->name = r->full = long_name(arena);
	r->module = "a_library_with_a_very_long_file_name_that_nobody_reads.so.1.2.3";
	fake_share(f, r, 0.0061, 0.0075, 77);
	fake_ipc(f, r, 1.2);
	for (uint32_t i = 0; f->many && i < 4000; i++) {
		r = fake_add(arena, rows, &a->nrows);
		r->key = (struct row_key){ROW_FUNCTION, 1000 + i, 0};
		r->name = r->full = arena_printf(arena, "function_number_%u", i);
		r->module = "libmany.so";
		r->flags = ROW_DIM | ROW_UNRANKED;
		fake_share(f, r, 0.00002 / (1 + i), 0.00004, i);
	}
	if (f->many) {
		r = fake_add(arena, rows, &a->nrows);
		r->key = (struct row_key){ROW_REST, 0, 0};
		r->name = r->full = "\xe2\x80\xa6 1,204 more";
		fake_share(f, r, 0.0001, 0.0001, 1);
	}
}

static bool is_open(const struct fake *f, struct row_key key)
{
	bool listed = false;

	for (uint32_t i = 0; i < f->query.nexpanded; i++)
		listed |= f->expanded[i].kind == key.kind && f->expanded[i].a == key.a &&
			  f->expanded[i].b == key.b;
	return listed != !!(f->query.flags & QUERY_EXPAND_ALL);
}

static void tree_of(struct fake *f, struct arena *arena, struct answer *a, struct row *rows)
{
	int closed = 99;
	const uint32_t n = sizeof tree / sizeof *tree;

	for (uint32_t i = 0; i < n; i++) {
		int children = 0, fn = tree[i].function;
		struct row_key key = {ROW_NODE, fn >= 0 ? (uint32_t)fn + 1 : 0, 0x1000 + i};
		struct row *r;

		if (tree[i].depth > closed)
			continue;
		closed = 99;
		for (uint32_t k = i + 1; k < n && tree[k].depth > tree[i].depth; k++)
			children += tree[k].depth == tree[i].depth + 1;
		r = fake_add(arena, rows, &a->nrows);
		if (fn >= 0)
			function_row(f, r, (uint32_t)fn);
		else
			r->name = r->full =
				fn == -1 ? "[all threads]"
					 : "clone3 \xe2\x96\xb8 start_thread \xe2\x96\xb8 "
					   "pfs_spawn_thread";
		r->key = key;
		r->depth = (uint16_t)tree[i].depth;
		fake_share(f, r, tree[i].self, tree[i].total, i);
		fake_ipc(f, r, fn >= 0 ? functions[fn].ipc : 0.9);
		if (children) {
			r->flags |= ROW_EXPANDABLE;
			if (is_open(f, key)) {
				r->flags |= ROW_EXPANDED;
			} else {
				closed = tree[i].depth;
				r->note = arena_printf(arena, "%d %s", children,
						       children == 1 ? "child" : "children");
			}
		}
	}
	for (uint32_t i = 0; f->many && i < 200; i++) { /* a deep recursion, all open */
		struct row *r = fake_add(arena, rows, &a->nrows);

		r->key = (struct row_key){ROW_NODE, 3, 0x9000 + i};
		r->name = r->full = "recurse(int)";
		r->module = "mysqld";
		r->depth = (uint16_t)(i + 1);
		r->flags = ROW_EXPANDABLE | ROW_EXPANDED;
		fake_share(f, r, 0.001, 0.1, 0);
	}
}

static void bottom_up(struct fake *f, struct arena *arena, struct answer *a, struct row *rows)
{
	static const int callers[] = {0, 2, 4, 6};
	uint32_t focus = f->query.focus.a ? f->query.focus.a - 1 : 0;

	if (focus >= FUNCTIONS)
		focus = 0;
	for (int i = 0; i < 4; i++) {
		struct row *r = fake_add(arena, rows, &a->nrows);
		struct row_key key = {ROW_NODE, i ? (uint32_t)callers[i] + 1 : focus + 1,
				      0x7000u + (unsigned)i};

		function_row(f, r, i ? (uint32_t)callers[i] : focus);
		r->key = key;
		r->depth = (uint16_t)i;
		fake_share(f, r, i ? 0 : functions[focus].self, functions[focus].total / (i + 1),
			   3);
		if (i < 3) {
			r->flags |= ROW_EXPANDABLE;
			if (!is_open(f, key))
				break;
			r->flags |= ROW_EXPANDED;
		}
	}
}

static void callers_of(struct fake *f, struct arena *arena, struct answer *a, struct row *rows)
{
	static const struct {
		enum row_kind kind;
		uint32_t function;
		double total;
	} edges[] = {{ROW_CALLER, 2, 0.33}, {ROW_CALLER, 8, 0.11}, {ROW_CALLER, 6, 0.01},
		     {ROW_SELF, 0, 0.45},   {ROW_CALLEE, 1, 0.11}, {ROW_CALLEE, 4, 0.08},
		     {ROW_CALLEE, 3, 0.03}};

	for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
		struct row *r = fake_add(arena, rows, &a->nrows);
		uint32_t fn = edges[i].function;

		if (edges[i].kind == ROW_SELF && f->query.focus.a && f->query.focus.a <= FUNCTIONS)
			fn = f->query.focus.a - 1;
		if (edges[i].kind == ROW_SELF)
			a->focus_row = a->nrows - 1;
		function_row(f, r, fn);
		r->key = (struct row_key){edges[i].kind, fn + 1, 0};
		fake_share(f, r, edges[i].total / 3, edges[i].total, fn);
	}
}

static void threads_of(struct fake *f, struct arena *arena, struct answer *a, struct row *rows)
{
	static const struct {
		pid_t tid;
		const char *name;
		double cpu, system;
		char state;
		const char *waits, *top;
	} threads[] = {
		{4242, "main", 0.998, 0.019, 'R', "", "row_search_mvcc"},
		{4251, "ib_io_wr-1", 0.031, 0.027, 'D', "fdatasync", "os_file_flush"},
		{4252, "ib_io_wr-2", 0.012, 0.010, 'S', "io_getevents", "os_aio_handler"},
		{4260, "worker-7", 0.0, 0.0, 'S', "futex", "pthread_cond_wait"},
		{4261, "worker-8", 0.412, 0.003, 'R', "", "btr_cur_search_to_nth_level"},
		{4262, "\xe5\xb7\xa5\xe4\xbd\x9c-9", 0.409, 0.004, 'R', "",
		 "btr_cur_search_to_nth_level"},
		{4299, "dead", 0.0, 0.0, 'X', "", "start_thread"},
	};

	for (uint32_t i = 0; i < sizeof threads / sizeof *threads; i++) {
		struct row *r = fake_add(arena, rows, &a->nrows);

		r->key = (struct row_key){ROW_THREAD, i + 1, 0};
		r->pid = 4242;
		r->tid = threads[i].tid;
		r->name = r->full = threads[i].name;
		r->cpu = fake_wobble(f, threads[i].cpu, i);
		r->system = threads[i].system;
		r->user = r->cpu - r->system;
		r->state = threads[i].state;
		r->note = threads[i].waits;
		r->module = threads[i].top;
		r->go = (struct row_key){ROW_FUNCTION, i + 1, 0};
		r->nspark = 16;
		for (int k = 0; k < 16; k++)
			r->spark[k] = (float)(threads[i].cpu * (0.6 + 0.4 * sin(k + i)));
		if (threads[i].state == 'X')
			r->flags |= ROW_GONE;
		if (f->many)
			r->self_samples = r->total_samples = 12345;
		fake_ipc(f, r, 0.44 + i * 0.3);
	}
	if (f->query.flags & QUERY_GROUP_PROCESSES) {
		a->nrows = 0;
		for (uint32_t i = 0; i < 2; i++) {
			struct row *r = fake_add(arena, rows, &a->nrows);

			r->key = (struct row_key){ROW_PROCESS, i + 1, 0};
			r->name = r->full = i ? "mysqld_safe" : "mysqld";
			r->pid = 4242 - (pid_t)i;
			r->children = i ? 1 : 7;
			r->cpu = i ? 0.01 : 1.8;
			r->user = r->cpu * 0.9;
			r->system = r->cpu * 0.1;
			r->module = "row_search_mvcc";
			r->flags |= ROW_EXPANDABLE;
		}
	}
	if (f->query.flags & QUERY_GROUP_THREADS) {
		static const char *const names[] = {"main", "ib_io_wr-*", "worker-*"};

		a->nrows = 0;
		for (uint32_t i = 0; i < 3; i++) {
			struct row *r = fake_add(arena, rows, &a->nrows);

			r->key = (struct row_key){ROW_GROUP, i + 1, 0};
			r->name = r->full = names[i];
			r->children = (uint16_t)(i + 1);
			r->cpu = 1.0 / (i + 1);
			r->user = r->cpu * 0.9;
			r->system = r->cpu * 0.1;
			r->module = "row_search_mvcc";
			if (i)
				r->flags |= ROW_EXPANDABLE;
		}
	}
}

static void modules_of(struct fake *f, struct arena *arena, struct answer *a, struct row *rows)
{
	static const struct {
		double self, total;
		const char *name, *path, *note;
		uint32_t flags;
	} modules[] = {
		{0.61, 0.97, "mysqld", "/usr/sbin/mysqld", "", 0},
		{0.19, 0.24, "libc.so.6", "/usr/lib/x86_64-linux-gnu/libc.so.6", "", 0},
		{0.12, 0.12, "[kernel]", "[kernel]", "", ROW_KERNEL},
		{0.05, 0.08, "libstdc++.so.6.0.30", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30",
		 "no debug file", 0},
		{0.004, 0.004, "perf-4242.map", "/tmp/perf-4242.map", "", ROW_DIM},
	};

	for (uint32_t i = 0; i < sizeof modules / sizeof *modules; i++) {
		struct row *r = fake_add(arena, rows, &a->nrows);

		r->key = (struct row_key){ROW_MODULE, i + 1, 0};
		r->name = modules[i].name;
		r->full = modules[i].path;
		r->note = modules[i].note;
		r->flags = modules[i].flags;
		fake_share(f, r, modules[i].self, modules[i].total, i);
		fake_ipc(f, r, 0.5 + i * 0.4);
	}
}

static void source_of(struct fake *f, struct arena *arena, struct answer *a, struct row *rows)
{
	static const struct {
		uint32_t line;
		double self, ipc;
		const char *text;
	} lines[] = {
		{4408, 0, NAN, "\tif (UNIV_UNLIKELY(trx->isolation_level == 0)) {"},
		{4409, 0.0004, NAN, "\t\tgoto next_rec;"},
		{4410, 0, NAN, "\t}"},
		{4411, 0.0, NAN, "\twhile (rec != supremum) {"},
		{4412, 0.114, 0.31, "\t\toffs = rec_get_offsets(rec, index, offs);"},
		{4413, 0.030, 1.70,
		 "\t\tif (!lock_clust_rec_cons_read_sees(rec, index, offs, view)) {"},
		{4414, 0.012, 1.10,
		 "\t\t\t/* \xe8\xa1\x8c: the row is not visible */ err = DB_SUCCESS;"},
		{4415, 0, NAN, "\t\t}"},
		{4416, 0.051, 0.85, "\t\tmtr_commit(&mtr);\tx = 1;"},
	};

	for (uint32_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct row *r = fake_add(arena, rows, &a->nrows);
		struct row_key key = {ROW_LINE, lines[i].line, 0};

		r->key = key;
		r->line = lines[i].line;
		r->name = r->full = lines[i].text;
		fake_share(f, r, lines[i].self, lines[i].self, i);
		if (lines[i].self > 0)
			fake_ipc(f, r, lines[i].ipc);
		if (lines[i].line == 4412)
			a->focus_row = a->nrows - 1;
		if (lines[i].self < 0.02)
			continue;
		r->flags |= ROW_EXPANDABLE;
		if (is_open(f, key)) {
			r->flags |= ROW_EXPANDED;
			r = fake_add(arena, rows, &a->nrows);
			r->key = (struct row_key){ROW_INLINE, 5, 0x7a31f0};
			r->name = r->full = "rec_init_offsets";
			r->note = "rem0rec.cc:301";
			r->flags = ROW_EXPANDABLE;
			fake_share(f, r, lines[i].self * 0.8, lines[i].self * 0.8, i);
		}
		if (f->query.flags & QUERY_ASSEMBLY && lines[i].line == 4412) {
			static const struct {
				uint64_t addr;
				double self;
				const char *text, *note;
				struct row_key go;
			} insns[] = {
				{0x7a31f0, 0.005, "mov    0x18(%rbx),%rax", "", {0}},
				{0x7a31f4,
				 0.072,
				 "movzwl (%rax,%rcx,2),%edx",
				 "\xe2\x86\x90 likely the load above",
				 {0}},
				{0x7a31f8, 0.030, "test   %edx,%edx", "", {0}},
				{0x7a31fa, 0.004, "je     7a31f0", "", {ROW_INSN, 0, 0x7a31f0}},
				{0x7a31fc,
				 0.003,
				 "call   5c0a10",
				 "rec_get_offsets_func",
				 {ROW_FUNCTION, 5, 0}},
			};

			for (size_t k = 0; k < sizeof insns / sizeof *insns; k++) {
				r = fake_add(arena, rows, &a->nrows);
				r->key = (struct row_key){ROW_INSN, 0, insns[k].addr};
				r->addr = insns[k].addr;
				r->name = r->full = insns[k].text;
				r->note = insns[k].note;
				r->go = insns[k].go;
				fake_share(f, r, insns[k].self, insns[k].self, (unsigned)k);
				fake_ipc(f, r, 0.4);
			}
		}
	}
	snprintf(a->title, sizeof a->title,
		 "storage/innobase/row/row0sel.cc  row_search_mvcc  self 23.1 %%, 3,903 samples");
}

static const struct query *sorting;
static int by_column(const void *pa, const void *pb)
{
	const struct row *x = pa, *y = pb;
	double d = sorting->sort == COLUMN_TOTAL ? y->total - x->total
		   : sorting->sort == COLUMN_CPU ? y->cpu - x->cpu
						 : y->self - x->self;
	int c = sorting->sort == COLUMN_NAME     ? strcmp(x->name, y->name)
		: sorting->sort == COLUMN_MODULE ? strcmp(x->module, y->module)
						 : (d > 0) - (d < 0);

	if (!c)
		c = (x->key.a > y->key.a) - (x->key.a < y->key.a);
	return sorting->flags & QUERY_REVERSE ? -c : c;
}

static void status_of(struct fake *f, struct answer_status *s)
{
	snprintf(s->target, sizeof s->target, "4242 mysqld");
	snprintf(s->where, sizeof s->where, "docker:3f2a");
	snprintf(s->arrangement, sizeof s->arrangement,
		 "perf cpu-clock, one event per thread and CPU");
	snprintf(s->event_set, sizeof s->event_set, f->metrics ? "ipc" : "clock");
	s->threads = 38;
	s->cpu = fake_wobble(f, 1.87, 0);
	s->asked_hz = 997;
	s->delivered_hz = fake_wobble(f, 996.6, 2);
	s->samples = SAMPLES;
	s->cut_share = 0.003;
	s->cut[CUT_DUMP_END] = 51;
	s->no_symbol_share = 0.012;
	s->own_cpu = 0.004;
	s->cost = 0.009;
	s->own_rss = 37u << 20;
	s->elapsed_ns = f->time_ns;
	s->window_ns = f->query.window_ns;
	s->marked = f->marked;
	s->since_mark_ns = f->marked ? 42800000000ULL : 0;
	s->covered_ns = f->marked ? s->since_mark_ns : f->time_ns;
	if (f->query.window_ns && f->query.window_ns < s->covered_ns)
		s->covered_ns = f->query.window_ns;
	s->finished = f->finished;
	s->progress = f->reading > 0 ? f->reading : -1;
	s->recording = f->reading > 0;
	if (f->download) {
		snprintf(s->download, sizeof s->download, "libengine.so");
		s->download_done = 3u << 20;
		s->download_all = 80u << 20;
		s->download_waiting = 2;
	}
	s->nspark = SPARK_MAX;
	for (int i = 0; i < SPARK_MAX; i++)
		s->spark[i] = (float)(1.2 +
				      0.8 * sin((i + (f->jitter ? (double)f->served : 0)) * 0.35));
}

void fake_answer(struct fake *f, struct arena *arena, struct answer *a)
{
	static const struct snapshot_column none;
	struct row *rows = arena_alloc(arena, sizeof *rows * 4400);
	struct row *kept = rows;
	uint32_t n = 0;

	a->columns = &none;
	status_of(f, &a->status);
	if (f->metrics) {
		a->nmetrics = 2;
		a->metrics[0] = (struct answer_metric){.name = "IPC", .decimals = 2};
		a->metrics[1] = (struct answer_metric){.name = "L1MISS%", .decimals = 1};
	}
	switch (f->query.view) {
	case VIEW_FUNCTIONS: functions_of(f, arena, a, rows); break;
	case VIEW_CALLERS: callers_of(f, arena, a, rows); break;
	case VIEW_TREE:
		(f->query.flags & QUERY_BOTTOM_UP ? bottom_up : tree_of)(f, arena, a, rows);
		break;
	case VIEW_THREADS: threads_of(f, arena, a, rows); break;
	case VIEW_MODULES: modules_of(f, arena, a, rows); break;
	case VIEW_SOURCE: source_of(f, arena, a, rows); break;
	case VIEW_EVENTS: fake_events_of(f, arena, a, rows); break;
	case VIEW_TOPDOWN: fake_topdown_of(f, arena, a, rows); break;
	case VIEW_VERDICTS: fake_verdicts_of(f, arena, a, rows); break;
	case VIEW_DURATION:
	case VIEW_CACHE:
	case VIEW_EDGE: fake_analysis_of(f, arena, a, rows); break;
	default: fake_text_of(f, arena, a, rows);
	}
	for (uint32_t i = 0; i < a->nrows; i++)
		if (utf8_holds(rows[i].name, f->query.filter) ||
		    utf8_holds(rows[i].module, f->query.filter))
			kept[n++] = rows[i];
	a->nrows = n;
	a->rows = rows;
	sorting = &f->query;
	if (f->query.view == VIEW_FUNCTIONS || f->query.view == VIEW_MODULES ||
	    (f->query.view == VIEW_THREADS && f->query.sort))
		qsort(rows, a->nrows, sizeof *rows, by_column);
	a->time_ns = f->time_ns;
}
