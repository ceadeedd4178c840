/* Views: what rows each holds, asked through a running engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine_bed.h"

static uint64_t start_ns;

static frame_id f(struct script *s, const char *name)
{
	uint64_t addr = 0x100;
	for (const char *c = name; *c; c++)
		addr = addr * 31 + (unsigned char)*c;
	return script_frame(s->tables, name, addr & 0xffffff);
}

/* @path innermost first, separated by spaces. */
static void put(struct script *s, pid_t tid, const char *path, int count)
{
	frame_id frames[16];
	char copy[128];
	uint32_t n = 0;
	strcpy(copy, path);
	for (char *at = copy, *name; (name = strsep(&at, " "));)
		frames[n++] = f(s, name);
	for (int i = 0; i < count; i++)
		script_sample(s, start_ns += MS, 7, tid, MS, frames, n);
}

static void name_thread(struct script *s, pid_t tid, const char *comm)
{
	struct raw_task t = {.time_ns = start_ns, .pid = 7, .tid = tid, .comm = comm};
	s->sink->ops->comm(s->sink->ctx, &t);
}

static void account(struct script *s, pid_t tid, uint64_t time_ns, uint64_t cpu_ns, char state,
		    const char *waits_on)
{
	struct raw_account a = {.time_ns = time_ns,
				.pid = 7,
				.tid = tid,
				.cpu_ns = cpu_ns,
				.user_ns = cpu_ns / 2,
				.system_ns = cpu_ns - cpu_ns / 2,
				.state = state,
				.waits_on = waits_on};
	s->sink->ops->account(s->sink->ctx, &a);
}

static void play(struct script *s)
{
	const char *const names[] = {"main", "worker-1", "worker-2", "idle"};
	start_ns = clock_mono_ns() - 1000 * MS;
	for (pid_t i = 0; i < 4; i++) {
		name_thread(s, 7 + i, names[i]);
		account(s, 7 + i, start_ns, 0, 'S', "futex");
	}
	account(s, 0, start_ns, 0, 'S', NULL);
	put(s, 7, "hot work main start", 400);
	put(s, 7, "cold work main start", 100);
	put(s, 8, "hot job clone", 300);
	put(s, 9, "cold job clone", 200);
	account(s, 7, start_ns, 500 * MS, 'R', NULL);
	account(s, 8, start_ns, 300 * MS, 'D', "fdatasync");
	account(s, 9, start_ns, 200 * MS, 'S', "futex");
	account(s, 10, start_ns, 0, 'S', "futex");
	account(s, 0, start_ns, 1000 * MS, 'R', NULL);
}

static struct bed bed;

static int up(void **state)
{
	(void)state;
	bed = (struct bed){.script = {.play = play}};
	/* On the script's own clock: what is asserted must not depend on how busy the machine is.
	 */
	struct engine_setup setup = {.live = false};
	bed_up(&bed, &setup);
	return 0;
}

static int down(void **state)
{
	(void)state;
	bed_down(&bed);
	return 0;
}

static const struct answer *ask(struct query q)
{
	const struct answer *a = bed_ask(&bed, q, 1000);
	assert_non_null(a);
	return a;
}

static struct row_key function(const char *name)
{
	return (struct row_key){.kind = ROW_FUNCTION, .a = script_func(bed.tables, name)};
}

static void test_callers(void **state)
{
	(void)state;
	struct query q = bed_question(VIEW_CALLERS);
	q.focus = function("work");
	const struct answer *a = ask(q);
	assert_int_equal(a->nrows, 4);
	assert_int_equal(a->focus_row, 1);
	assert_int_equal(a->rows[0].key.kind, ROW_CALLER);
	assert_string_equal(a->rows[0].name, "main");
	assert_int_equal(a->rows[1].key.kind, ROW_SELF);
	assert_string_equal(a->rows[1].name, "work");
	assert_true(fabs(a->rows[1].total - 0.5) < 1e-9);
	assert_int_equal(a->rows[2].key.kind, ROW_CALLEE);
	assert_string_equal(a->rows[2].name, "hot");
	assert_true(fabs(a->rows[2].total - 0.4) < 1e-9);
	assert_true(fabs(a->rows[2].self - 0.4) < 1e-9);
	assert_string_equal(a->rows[3].name, "cold");
	answer_unref(a);
	/* The thread that is zoomed into counts alone. */
	q.focus = function("hot");
	q.task = 0;
	a = ask(q);
	assert_int_equal(a->nrows, 3);
	assert_string_equal(a->rows[0].name, "job"); /* the heaviest is nearest */
	assert_string_equal(a->rows[1].name, "work");
	assert_string_equal(a->rows[2].name, "hot");
	answer_unref(a);
}

static void play_recursion(struct script *s)
{
	start_ns = clock_mono_ns() - 1000 * MS;
	name_thread(s, 7, "main");
	put(s, 7, "compare sort sort sort main", 60);
	put(s, 7, "copy sort sort other", 40);
}

/* What recurses stands outermost and is called that; the others keep their split. */
static void test_callers_of_recursion(void **state)
{
	(void)state;
	bed = (struct bed){.script = {.play = play_recursion}};
	bed_up(&bed, &(struct engine_setup){.live = false});
	struct query q = bed_question(VIEW_CALLERS);
	q.focus = function("sort");
	const struct answer *a = bed_ask(&bed, q, 100);
	assert_non_null(a);
	static const struct {
		const char *name, *note;
		double total;
	} rows[] = {
		{"sort", "recursion", 1}, {"other", "", 0.4},   {"main", "", 0.6},
		{"sort", "", 1},          {"compare", "", 0.6}, {"copy", "", 0.4},
		{"sort", "recursion", 1},
	};
	assert_int_equal(a->nrows, sizeof rows / sizeof *rows);
	assert_int_equal(a->focus_row, 3);
	for (uint32_t i = 0; i < a->nrows; i++) {
		assert_string_equal(a->rows[i].name, rows[i].name);
		assert_string_equal(a->rows[i].note, rows[i].note);
		assert_true(fabs(a->rows[i].total - rows[i].total) < 1e-9);
	}
	answer_unref(a);
	bed_down(&bed);
}

/* An empty view says why: what was filtered away, or that there was nothing. */
static void test_why_empty(void **state)
{
	(void)state;
	const enum view_kind views[] = {VIEW_FUNCTIONS, VIEW_THREADS, VIEW_MODULES};
	for (int i = 0; i < 3; i++) {
		struct query q = bed_question(views[i]);
		strcpy(q.filter, "nosuch");
		const struct answer *a = ask(q);
		assert_int_equal(a->nrows, 0);
		assert_string_equal(a->note, "nothing matches the filter");
		answer_unref(a);
	}
	struct query q = bed_question(VIEW_FUNCTIONS);
	strcpy(q.filter, "hot");
	q.window_ns = MS;
	q.until_ns = start_ns - 2000 * MS; /* before all samples */
	const struct answer *a = bed_ask(&bed, q, 0);
	assert_non_null(a);
	assert_int_equal(a->nrows, 0);
	assert_non_null(strstr(a->note, "no samples"));
	answer_unref(a);
}

static void test_tree(void **state)
{
	(void)state;
	struct query q = bed_question(VIEW_TREE);
	const struct answer *a = ask(q);
	assert_int_equal(a->nrows, 1);
	assert_string_equal(a->rows[0].name, "[all threads]");
	assert_int_equal(a->rows[0].flags & (ROW_EXPANDABLE | ROW_EXPANDED), ROW_EXPANDABLE);
	assert_int_equal(a->rows[0].children, 2);
	struct row_key open[2] = {a->rows[0].key};
	answer_unref(a);

	q.expanded = open;
	q.nexpanded = 1;
	a = ask(q);
	assert_int_equal(a->nrows, 3);
	/* Single children that take all of it share a row. */
	assert_string_equal(a->rows[1].name, "start ▸ main ▸ work");
	assert_string_equal(a->rows[2].name, "clone ▸ job");
	assert_int_equal(a->rows[1].depth, 1);
	assert_int_equal(a->rows[1].children, 2);
	assert_true(fabs(a->rows[1].total - 0.5) < 1e-9);
	open[1] = a->rows[1].key;
	answer_unref(a);

	q.nexpanded = 2;
	a = ask(q);
	assert_int_equal(a->nrows, 5);
	assert_string_equal(a->rows[2].name, "hot");
	assert_int_equal(a->rows[2].depth, 2);
	assert_true(fabs(a->rows[2].self - 0.4) < 1e-9);
	assert_int_equal(a->rows[2].flags & ROW_EXPANDABLE, 0);
	answer_unref(a);

	/* What is open below opens what is above: a chain that split stays open. */
	q.expanded = open + 1;
	q.nexpanded = 1;
	a = ask(q);
	assert_int_equal(a->nrows, 5);
	assert_true(a->rows[0].flags & ROW_EXPANDED);
	answer_unref(a);
	q.expanded = open;

	/* All but what is listed. */
	q.flags = QUERY_EXPAND_ALL;
	q.nexpanded = 0;
	a = ask(q);
	assert_int_equal(a->nrows, 7);
	answer_unref(a);
	q.expanded = open + 1;
	q.nexpanded = 1;
	a = ask(q);
	assert_int_equal(a->nrows, 5);
	answer_unref(a);

	/* A filter keeps the paths through what matches. */
	q.nexpanded = 0;
	strcpy(q.filter, "hot");
	a = ask(q);
	assert_null(bed_row(a, "cold"));
	assert_non_null(bed_row(a, "hot"));
	answer_unref(a);
}

static void test_bottom_up(void **state)
{
	(void)state;
	struct query q = bed_question(VIEW_TREE);
	q.flags = QUERY_BOTTOM_UP | QUERY_EXPAND_ALL;
	q.focus = function("hot");
	const struct answer *a = ask(q);
	assert_string_equal(a->rows[0].name, "hot");
	assert_int_equal(a->rows[0].depth, 0);
	assert_true(fabs(a->rows[0].total - 0.7) < 1e-9);
	assert_int_equal(a->nrows, 3);
	assert_string_equal(a->rows[1].name, "work ◂ main ◂ start");
	assert_string_equal(a->rows[2].name, "job ◂ clone");
	assert_int_equal(a->rows[2].go.kind, ROW_FUNCTION); /* to the nearest caller */
	assert_int_equal(a->rows[2].go.a, function("job").a);
	assert_true(fabs(a->rows[2].total - 0.3) < 1e-9);
	answer_unref(a);
}

static void test_threads(void **state)
{
	(void)state;
	struct query q = bed_question(VIEW_THREADS);
	q.task = 1; /* zooming does not hide the others here */
	const struct answer *a = ask(q);
	assert_int_equal(a->nrows, 4);
	assert_string_equal(a->rows[0].name, "main");
	const struct row *two = bed_row(a, "worker-1"), *idle = bed_row(a, "idle");
	assert_int_equal(two->key.kind, ROW_THREAD);
	assert_int_equal(two->pid, 7);
	assert_int_equal(two->tid, 8);
	assert_int_equal(two->state, 'D');
	assert_string_equal(two->note, "fdatasync");
	assert_string_equal(two->module, "hot");
	assert_int_equal(two->go.kind, ROW_FUNCTION);
	assert_true(fabs(two->self - 0.3) < 1e-9);
	assert_true(fabs(two->cpu - 0.3) < 0.02);
	assert_true(fabs(two->user - 0.15) < 0.01);
	assert_true(two->blocked < 0); /* no wall clock: not known */
	assert_non_null(idle);
	assert_true(idle->cpu == 0);
	assert_string_equal(idle->note, "futex");
	answer_unref(a);

	q.sort = COLUMN_TID;
	a = ask(q);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(a->rows[i].tid, 7 + (int)i);
	answer_unref(a);
}

static void test_groups(void **state)
{
	(void)state;
	struct query q = bed_question(VIEW_THREADS);
	q.flags = QUERY_GROUP_THREADS;
	const struct answer *a = ask(q);
	assert_int_equal(a->nrows, 3);
	const struct row *workers = bed_row(a, "worker-*");
	assert_non_null(workers);
	assert_int_equal(workers->key.kind, ROW_GROUP);
	assert_int_equal(workers->children, 2);
	assert_true(fabs(workers->cpu - 0.5) < 0.02);
	assert_true(workers->flags & ROW_EXPANDABLE);
	struct row_key key = workers->key;
	answer_unref(a);

	q.expanded = &key;
	q.nexpanded = 1;
	a = ask(q);
	assert_int_equal(a->nrows, 5);
	const struct row *one = bed_row(a, "worker-1");
	assert_int_equal(one->depth, 1);
	answer_unref(a);

	/* Functions of one group. */
	q = bed_question(VIEW_FUNCTIONS);
	q.focus = key;
	a = bed_ask(&bed, q, 1);
	assert_non_null(a);
	assert_null(bed_row(a, "main"));
	assert_true(fabs(bed_row(a, "hot")->self - 0.6) < 1e-9);
	answer_unref(a);
}

/* Of three threads one is mostly in hot, two in cold. */
static void play_pool(struct script *s)
{
	static const char *const names[] = {"pool-1", "pool-2", "pool-3"};
	start_ns = clock_mono_ns() - 1000 * MS;
	for (pid_t i = 0; i < 3; i++)
		name_thread(s, 20 + i, names[i]);
	put(s, 20, "hot job clone", 100);
	put(s, 21, "cold job clone", 60);
	put(s, 22, "cold job clone", 60);
}

/* The function that most samples of a group are in, not of its threads one by one. */
static void test_group_top(void **state)
{
	(void)state;
	static const uint32_t ways[] = {QUERY_GROUP_THREADS, QUERY_GROUP_PROCESSES};
	struct bed b = {.script = {.play = play_pool}};
	struct engine_setup setup = {.live = false};
	bed_up(&b, &setup);
	for (int i = 0; i < 2; i++) {
		struct query q = bed_question(VIEW_THREADS);
		q.flags = ways[i];
		const struct answer *a = bed_ask(&b, q, 220);
		assert_non_null(a);
		assert_int_equal(a->nrows, 1);
		assert_int_equal(a->rows[0].children, 3);
		assert_string_equal(a->rows[0].module, "cold");
		assert_int_equal(a->rows[0].go.a, script_func(b.tables, "cold"));
		answer_unref(a);
	}
	bed_down(&b);
}

static void play_names(struct script *s)
{
	start_ns = clock_mono_ns();
	for (pid_t i = 0; i < 3; i++)
		name_thread(s, 7 + i, "pool");
}

/* Who was never read nor sampled: there in a live profile, noise in a recording. */
static void test_unread_threads(void **state)
{
	(void)state;
	for (int live = 0; live < 2; live++) {
		struct bed b = {.script = {.play = play_names}};
		bed_up(&b, &(struct engine_setup){.live = live});
		const struct answer *a = NULL;
		for (int i = 0; i < 500 && !(a && a->nrows); i++) {
			if (a)
				answer_unref(a);
			a = bed_ask(&b, bed_question(VIEW_THREADS), 0);
			assert_non_null(a);
			if (!live)
				break;
			usleep(10000);
		}
		assert_int_equal(a->nrows, live ? 3 : 0);
		if (live)
			assert_true(a->rows[0].cpu < 0); /* not known, not 0 */
		answer_unref(a);
		bed_down(&b);
	}
}

/* All threads are one process's; its account is the process's own, threads that ended included. */
static void test_process_rows(void **state)
{
	(void)state;
	struct query q = bed_question(VIEW_THREADS);
	q.flags = QUERY_GROUP_PROCESSES;
	const struct answer *a = ask(q);
	assert_int_equal(a->nrows, 1);
	assert_string_equal(a->rows[0].name, "main");
	assert_int_equal(a->rows[0].key.kind, ROW_PROCESS);
	assert_int_equal(a->rows[0].pid, 7);
	assert_int_equal(a->rows[0].tid, 0);
	assert_int_equal(a->rows[0].children, 4);
	assert_true(fabs(a->rows[0].self - 1) < 1e-9);
	assert_true(fabs(a->rows[0].cpu - 1) < 0.02);
	struct row_key key = a->rows[0].key;
	answer_unref(a);

	q.expanded = &key;
	q.nexpanded = 1;
	a = ask(q);
	assert_int_equal(a->nrows, 5);
	assert_int_equal(bed_row(a, "worker-1")->depth, 1);
	answer_unref(a);

	q = bed_question(VIEW_FUNCTIONS);
	q.focus = key;
	a = ask(q);
	assert_non_null(bed_row(a, "main"));
	answer_unref(a);
	q.focus.a++; /* one of its threads is no process */
	a = bed_ask(&bed, q, 0);
	assert_int_equal(a->nrows, 0);
	answer_unref(a);
}

static void test_modules_and_narrowing(void **state)
{
	(void)state;
	const struct answer *a = ask(bed_question(VIEW_MODULES));
	assert_int_equal(a->nrows, 1);
	assert_string_equal(a->rows[0].name, "prog");
	assert_string_equal(a->rows[0].full, "/bin/prog");
	assert_true(fabs(a->rows[0].self - 1) < 1e-9);
	struct query q = bed_question(VIEW_FUNCTIONS);
	q.focus = a->rows[0].key;
	answer_unref(a);
	a = ask(q);
	assert_int_equal(a->nrows, 7);
	answer_unref(a);
	q.focus.a++;
	a = ask(q);
	assert_int_equal(a->nrows, 0);
	answer_unref(a);
}

static void test_source_without_listing(void **state)
{
	(void)state;
	struct query q = bed_question(VIEW_SOURCE);
	q.focus = function("hot");
	const struct answer *a = ask(q);
	assert_true(a->nrows >= 1);
	const struct row *line = &a->rows[a->focus_row];
	assert_int_equal(line->key.kind, ROW_LINE);
	assert_true(fabs(line->self - 0.7) < 1e-9);
	assert_true(line->flags & ROW_CURRENT);
	assert_true(line->line >= 10);
	assert_non_null(strstr(a->title, "hot"));
	assert_non_null(strstr(a->title, "70.0%"));
	assert_non_null(strstr(a->title, "700 samples"));
	answer_unref(a);
}

static void test_events(void **state)
{
	(void)state;
	const struct answer *a = ask(bed_question(VIEW_EVENTS));
	assert_int_equal(a->nrows, 1);
	assert_string_equal(a->rows[0].name, "cpu-clock");
	assert_int_equal(a->ncells, 5);
	assert_true(a->rows[0].cells[2] > 0);
	assert_true(a->rows[0].cells[3] == 1000);
	assert_true(isnan(a->rows[0].cells[4])); /* not known is not 0 */
	answer_unref(a);
}

static void test_whole_is_one(void **state)
{
	(void)state;
	const struct answer *a = ask(bed_question(VIEW_FUNCTIONS));
	double sum = 0;
	for (uint32_t i = 0; i < a->nrows; i++)
		sum += a->rows[i].self;
	assert_true(fabs(sum - 1) < 1e-9);
	assert_true(a->status.cpu > 0.9 && a->status.cpu < 1.1);
	assert_int_equal(a->status.samples, 1000);
	answer_unref(a);
}

static void test_unknown_focus(void **state)
{
	(void)state;
	const enum view_kind views[] = {VIEW_CALLERS, VIEW_SOURCE, VIEW_TREE};
	for (int i = 0; i < 3; i++) {
		struct query q = bed_question(views[i]);
		answer_unref(ask(q));
		q.focus = (struct row_key){.kind = ROW_FUNCTION, .a = 0x7fffffff};
		q.flags = QUERY_BOTTOM_UP;
		answer_unref(ask(q));
		q.focus.a = UINT32_MAX;
		answer_unref(ask(q));
	}
	struct query q = bed_question((enum view_kind)1000);
	answer_unref(bed_ask(&bed, q, 0));
}

static char *fake_doctor(void *ctx)
{
	return strdup(ctx);
}

static void test_texts(void **state)
{
	(void)state;
	int pipe_fd[2];
	assert_int_equal(pipe(pipe_fd), 0);
	struct bed b = {.script = {.play = play}};
	struct engine_setup setup = {.live = true,
				     .output_fd = pipe_fd[0],
				     .doctor = fake_doctor,
				     .doctor_ctx = "perf:\n  works\n"};
	const char text[] = "first\nsecond \033[31mred\033[0m\ttab\nhalf";
	bed_up(&b, &setup);
	assert_int_equal(write(pipe_fd[1], text, sizeof text - 1), sizeof text - 1);
	const struct answer *a = NULL;
	for (int i = 0; i < 100; i++) {
		answer_unref(a);
		a = bed_ask(&b, bed_question(VIEW_OUTPUT), 0);
		if (a && a->nrows == 3)
			break;
	}
	assert_int_equal(a->nrows, 3);
	assert_string_equal(a->rows[0].name, "first");
	assert_string_equal(a->rows[1].name, "second red      tab");
	assert_string_equal(a->rows[2].name, "half");
	assert_int_equal(a->rows[2].key.a, 2);
	answer_unref(a);
	a = NULL;
	/* Looked into on a thread of its own. */
	for (int i = 0; i < 2000 && (!a || !a->nrows); i++) {
		usleep(i ? 10000 : 0);
		answer_unref(a);
		a = bed_ask(&b, bed_question(VIEW_DOCTOR), 0);
	}
	assert_int_equal(a->nrows, 2);
	assert_int_equal(a->rows[0].key.kind, ROW_HEADING);
	assert_string_equal(a->rows[1].name, "  works");
	answer_unref(a);
	bed_down(&b);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_callers, up, down),
		cmocka_unit_test(test_callers_of_recursion),
		cmocka_unit_test_setup_teardown(test_why_empty, up, down),
		cmocka_unit_test_setup_teardown(test_tree, up, down),
		cmocka_unit_test_setup_teardown(test_bottom_up, up, down),
		cmocka_unit_test_setup_teardown(test_threads, up, down),
		cmocka_unit_test_setup_teardown(test_groups, up, down),
		cmocka_unit_test(test_group_top),
		cmocka_unit_test(test_unread_threads),
		cmocka_unit_test_setup_teardown(test_process_rows, up, down),
		cmocka_unit_test_setup_teardown(test_modules_and_narrowing, up, down),
		cmocka_unit_test_setup_teardown(test_source_without_listing, up, down),
		cmocka_unit_test_setup_teardown(test_events, up, down),
		cmocka_unit_test_setup_teardown(test_whole_is_one, up, down),
		cmocka_unit_test_setup_teardown(test_unknown_focus, up, down),
		cmocka_unit_test(test_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
