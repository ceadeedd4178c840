/*
 * perf: the whole sampler on programs whose CPU time the kernel accounts, with a sink that counts.
 *
 * Where this machine allows no perf events at all, every case is skipped.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "event/perf_open.h"
#include "perf_case.h"
#include "sample/plan.h"

/* The thread sanitizer's runtime has a thread of its own in every process. */
#ifdef __SANITIZE_THREAD__
#define assert_count(n, expected) assert_true((n) >= (expected))
#else
#define assert_count(n, expected) assert_int_equal(n, expected)
#endif

static const struct outcome *run(const struct setting *set)
{
	const struct outcome *o = perf_case(set);

	assert_true(o->done);
	return o;
}

static double weight_s(const struct outcome *o)
{
	return (double)o->weight_ns / 1e9;
}

static double accounted_s(const struct outcome *o)
{
	return (double)(o->exited_ns + o->target_ns) / 1e9;
}

static void assert_share(double part, double whole, double least, double most)
{
	if (part >= whole * least && part <= whole * most)
		return;
	fail_msg("%.4f s of %.4f s is %.2f %%, not between %.1f and %.1f %%", part, whole,
		 100 * part / whole, 100 * least, 100 * most);
}

/* Samples weigh at least this share of the CPU time the kernel accounts, and no more than all of
 * it. */
static void assert_sampled(const struct outcome *o, double least)
{
	assert_share(weight_s(o), o->target_s, least, perf_case_most(o));
}

/* Targets. */

static void burn(uint64_t ns)
{
	int turns = ns < 10 * MS ? 5000 : 50000; /* between two looks, which are kernel code */
	struct timespec t;
	uint64_t start, now;
	volatile uint64_t x = 1;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	start = now = (uint64_t)t.tv_sec * S + (uint64_t)t.tv_nsec;
	while (now - start < ns) {
		for (int i = 0; i < turns; i++)
			x = x * 6364136223846793005ULL + 1;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = (uint64_t)t.tv_sec * S + (uint64_t)t.tv_nsec;
	}
}

static void work_busy(void)
{
	burn(1500 * MS);
}

static void work_endless(void)
{
	burn(3600 * S);
}

static void *thread_of_ns(void *ns)
{
	burn((uint64_t)(uintptr_t)ns);
	return NULL;
}

/* 1,000 threads a second, half a millisecond each. */
static void work_spawner(void)
{
	for (int i = 0; i < 1500; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, thread_of_ns, (void *)(uintptr_t)(MS / 2)))
			_exit(3);
		pthread_join(t, NULL);
		usleep(400);
	}
}

static void work_forks(void)
{
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (!pid) {
			burn(3 * MS);
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
}

static void *thread_idle(void *ms)
{
	usleep((useconds_t)(uintptr_t)ms * 1000);
	return NULL;
}

/* 2,000 threads: two work, the others sleep. */
static void work_crowd(void)
{
	pthread_attr_t small;
	pthread_t t[2000];
	int n = 0;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 512 << 10);
	for (; n < 1998; n++)
		if (pthread_create(&t[n], &small, thread_idle, (void *)(uintptr_t)2500))
			_exit(3);
	for (; n < 2000; n++)
		pthread_create(&t[n], NULL, thread_of_ns, (void *)(uintptr_t)(1000 * MS));
	while (n-- > 0)
		pthread_join(t[n], NULL);
}

/* An exec by a thread that is not the first: everything else of the process ends with it. */
static void *thread_exec(void *arg)
{
	burn(100 * MS);
	execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done",
	      (char *)NULL);
	return arg;
}

static void work_exec(void)
{
	pthread_t t;

	pthread_create(&t, NULL, thread_exec, NULL);
	pause();
}

/* 200 times 1,000 pages touched for the first time, by two threads. */
static void *thread_faults(void *arg)
{
	for (int i = 0; i < 100; i++) {
		char *p = mmap(NULL, 1000 * 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		madvise(p, 1000 * 4096, MADV_NOHUGEPAGE);
		for (int page = 0; page < 1000; page++)
			p[page * 4096] = 1;
		munmap(p, 1000 * 4096);
		burn(2 * MS);
	}
	return arg;
}

static void work_faults(void)
{
	pthread_t t;

	pthread_create(&t, NULL, thread_faults, NULL);
	thread_faults(NULL);
	pthread_join(t, NULL);
}

/* Cases. */

static bool perf_works, perf_cpu_wide;

static void need_perf(void)
{
	if (!perf_works) {
		print_message("skip: perf_event_open is refused here\n");
		skip();
	}
}

static void need_privilege(void)
{
	need_perf();
	if (!perf_cpu_wide) {
		print_message("skip: not privileged to watch whole CPUs\n");
		skip();
	}
}

static void need_root(void)
{
	need_perf();
	if (geteuid()) {
		print_message("skip: not root, so nobody to become\n");
		skip();
	}
}

static void assert_clean_but(const struct outcome *o, int allowed)
{
	if (o->sentence[0])
		fail_msg("%s; the target ended with status %x", o->sentence,
			 (unsigned)o->target_status);
	assert_int_equal(o->probe, 0);
	assert_int_equal(o->open, 0);
	assert_int_equal(o->run, 0);
	assert_string_equal(o->sentence, "");
	assert_int_equal(o->unordered, 0);
	assert_int_equal(o->strangers, 0);
	for (int i = 0; i < LOSS_KINDS; i++)
		if (o->loss[i] && i != allowed)
			fail_msg("%s: %ju", loss_kind_name(i), (uintmax_t)o->loss[i]);
}
#define assert_clean(o) assert_clean_but(o, LOSS_KINDS)

static void test_busy(void **state)
{
	const struct outcome *o;

	(void)state;
	need_perf();
	o = run(&(struct setting){.work = work_busy});
	assert_clean(o);
	assert_true(o->finished);
	assert_int_equal(o->events, 1);
	assert_sampled(o, 0.97);
	assert_in_range(o->samples, 1400, 1600);
	assert_count(o->exits, 1);
	assert_true(o->dumped > o->samples * 9 / 10);
	assert_true(o->with_user_chain > o->samples * 9 / 10);
	assert_true(o->target_ns > 1400 * MS);
}

static void test_rates(void **state)
{
	static const uint32_t rates[] = {100, 4000, 10000};

	(void)state;
	need_perf();
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
		const struct outcome *o = run(
			&(struct setting){.work = work_busy, .rate_hz = rates[i]});

		if (rates[i] <= 4000)
			assert_clean(o); /* nothing is lost up to 4 kHz */
		assert_sampled(o, 0.95);
		assert_share((double)o->samples / rates[i], o->target_s, 0.92, perf_case_most(o));
	}
}

static void test_call_graphs(void **state)
{
	const struct outcome *o;

	(void)state;
	need_perf();
	o = run(&(struct setting){.work = work_busy, .call_graph = CALL_GRAPH_FP});
	assert_int_equal(o->dumped, 0);
	assert_true(o->with_user_chain > o->samples * 9 / 10);
	o = run(&(struct setting){
		.work = work_busy, .call_graph = CALL_GRAPH_DWARF, .stack_bytes = 65528});
	assert_clean(o);
	assert_true(o->dumped > o->samples * 9 / 10);
	assert_int_equal(o->with_user_chain, 0);
	o = run(&(struct setting){.work = work_busy, .call_graph = CALL_GRAPH_NONE});
	assert_int_equal(o->dumped + o->with_user_chain + o->with_kernel_chain, 0);
	assert_true(o->samples > 1000);
	o = run(&(struct setting){.work = work_busy, .no_kernel = true});
	assert_int_equal(o->kernel + o->with_kernel_chain, 0);
}

/* A group read along with the clock: every fault belongs to some sample's stack. */
static void test_group(void **state)
{
	const struct outcome *o;

	(void)state;
	need_perf();
	o = run(&(struct setting){.work = work_faults, .events = "{cpu-clock,page-faults}"});
	if (!plan_groups_inherit()) {
		print_message("skip: this kernel reads no groups of inherited events\n");
		skip();
	}
	assert_clean(o);
	assert_int_equal(o->events, 2);
	assert_share((double)o->second_event, 200000, 0.95, 1.03);
	assert_share((double)o->counted[1], 200000, 1, 1.01);
}

static void flip_rate(struct source *s, int step)
{
	const struct source_command c = {.kind = SOURCE_SET_RATE, .rate_hz = step & 1 ? 997 : 1999};

	if (step % 3 == 0)
		assert_int_equal(source_perf.command(s, &c), 0);
}

/*
 * Readings of the whole target go on as threads come and go and as events are opened anew. (Faults
 * that are sampled by frequency beside a clock are counted many times over by Linux 6.18, perf stat
 * sees it too: here they are only read.)
 */
static void test_counts(void **state)
{
	const struct outcome *o;

	(void)state;
	need_perf();
	o = run(&(struct setting){
		.work = work_faults, .events = "{cpu-clock,page-faults}", .meddle = flip_rate});
	assert_clean(o);
	assert_true(o->counts >= 4);
	assert_int_equal(o->count_backwards, 0);
	assert_share((double)o->counted[0] / 1e9, o->target_s, 0.95, perf_case_most(o));
	if (plan_groups_inherit())
		assert_share((double)o->counted[1], 200000, 0.98, 1.01);
}

/* Commas separate events outside braces too. */
static void test_list(void **state)
{
	const struct outcome *o;

	(void)state;
	need_perf();
	o = run(&(struct setting){.work = work_faults, .events = "cpu-clock,page-faults"});
	assert_clean(o);
	assert_int_equal(o->events, 2);
}

/* What stands behind a group's brace holds for each of its events, and for no other. */
static void test_group_modifiers(void **state)
{
	const struct outcome *o;

	(void)state;
	need_perf();
	o = run(&(struct setting){.work = work_faults, .events = "{cpu-clock,page-faults}:u"});
	assert_clean(o);
	assert_int_equal(o->events, 2);
	assert_int_equal(o->kernel, 0);
	assert_true(o->samples > 100);
	o = run(&(struct setting){.work = work_faults, .events = "cpu-clock,{page-faults}:u"});
	assert_clean(o);
	assert_true(o->kernel > 0);
	o = run(&(struct setting){.work = work_faults, .events = "{cpu-clock}:zu"});
	assert_true(o->open != 0 || o->probe != 0);
	assert_non_null(strstr(o->sentence, "modifiers are"));
}

static void test_spawner(void **state)
{
	const struct outcome *o;

	(void)state;
	need_privilege();
	o = run(&(struct setting){.work = work_spawner});
	assert_clean(o);
	assert_non_null(strstr(o->arrangement, "one event per CPU"));
	assert_count(o->forks, 1500);
	assert_count(o->exits, 1501);
	/* What is missed is what ran before the turnover was noticed. */
	assert_sampled(o, 0.80);
}

static void test_forks(void **state)
{
	const struct outcome *o;

	(void)state;
	need_privilege();
	o = run(&(struct setting){.work = work_forks, .nofile = 1024});
	assert_clean(o);
	assert_count(o->forks, 200);
	assert_count(o->exits, 201);
	assert_true(o->mmaps >= 200);
	assert_sampled(o, 0.90);
}

static void test_crowd(void **state)
{
	const struct outcome *o;

	(void)state;
	need_privilege();
	o = run(&(struct setting){.work = work_crowd, .nofile = 1024, .attach = true});
	assert_clean(o);
	assert_int_equal(o->unwatched_most, 0);
	assert_count(o->exits, 2001);
	assert_sampled(o, 0.55); /* it worked before, too */
	o = run(&(struct setting){.work = work_crowd});
	assert_count(o->forks, 2000);
	assert_sampled(o, 0.83);
}

static void test_exec_by_thread(void **state)
{
	const struct outcome *o;

	(void)state;
	need_perf();
	o = run(&(struct setting){.work = work_exec});
	assert_clean(o);
	assert_true(o->finished);
	assert_sampled(o, 0.96);
}

/* Rings are as small as nobody's are, kernel code is not sampled, and an event's clock goes on
 * while a hypervisor or interrupts have the CPU: a run that others spoilt so is taken again. */
static const struct outcome *run_unspoilt(const struct setting *setting,
					  double (*seconds)(const struct outcome *), double least,
					  double most)
{
	const struct outcome *o;
	int left = 3;

	do
		o = run(setting);
	while ((o->loss[LOSS_RING] || seconds(o) < least * o->target_s ||
		seconds(o) > most * o->target_s) &&
	       --left);
	return o;
}

static void test_unprivileged(void **state)
{
	const struct outcome *o;

	(void)state;
	need_root();
	o = run_unspoilt(&(struct setting){.work = work_busy, .unprivileged = true}, weight_s, 0.88,
			 1.03);
	assert_clean(o);
	assert_int_equal(o->kernel, 0);
	assert_sampled(o, 0.88);
	assert_true(o->nsaid > 0);
	assert_non_null(strstr(o->said[0], "kernel.perf_event_paranoid"));
	assert_non_null(strstr(o->said[0], "EACCES"));
}

static void test_unprivileged_spawner(void **state)
{
	const struct outcome *o;

	(void)state;
	need_root();
	o = run_unspoilt(
		&(struct setting){.work = work_forks, .unprivileged = true, .nofile = 1024},
		accounted_s, 0.90, 1.03);
	assert_clean(o);
	assert_count(o->forks, 200);
	print_message("ended %.4f s, the target %.4f s, stolen %.2f s\n",
		      (double)o->exited_ns / 1e9, (double)o->target_ns / 1e9, o->stolen_s);
	/* The account of the children comes with their ends, whatever was sampled. */
	assert_share(accounted_s(o), o->target_s, 0.90, 1.03);
}

static void test_unprivileged_crowd(void **state)
{
	const struct outcome *o;
	bool told = false;

	(void)state;
	need_root();
	o = run_unspoilt(
		&(struct setting){
			.work = work_crowd, .unprivileged = true, .nofile = 1024, .attach = true},
		weight_s, 0.45, 1.03);
	assert_clean_but(o, LOSS_GAP); /* there is no room for two fleets when dumps change */
	assert_true(o->unwatched_most > 500);
	assert_true(o->threads > 100);
	for (unsigned i = 0; i < o->nsaid; i++)
		told |= strstr(o->said[i], "threads are not watched") &&
			strstr(o->said[i], "ulimit -Hn");
	assert_true(told);
	/* The two that work are among the watched. */
	assert_sampled(o, 0.45);
}

static void flip_stack(struct source *s, int step)
{
	const struct source_command c = {.kind = SOURCE_SET_STACK,
					 .stack_bytes = step & 1 ? 8192 : 32768};

	assert_int_equal(source_perf.command(s, &c), 0);
}

static void switch_to(struct source *s, const char *events)
{
	const struct source_command c = {.kind = SOURCE_SET_EVENTS, .events = strdup(events)};

	if (source_perf.command(s, &c))
		free(c.events);
}

static void switch_events(struct source *s, int step)
{
	if (step == 3)
		switch_to(s, "{cpu-clock,page-faults}");
}

static void switch_to_clock(struct source *s, int step)
{
	if (step == 3)
		switch_to(s, "cpu-clock");
}

/* Another list of events while it runs: the clock goes on without a gap under its new number. One
 * of several events that were asked for is another list, too. */
static void test_switch(void **state)
{
	const struct outcome *o;

	(void)state;
	need_perf();
	o = run(&(struct setting){.work = work_busy, .meddle = switch_events});
	assert_clean(o);
	assert_int_equal(o->events, 3);
	assert_sampled(o, 0.95);
	o = run(&(struct setting){.work = work_busy,
				  .events = "cpu-clock",
				  .more = "page-faults",
				  .meddle = switch_to_clock});
	assert_int_equal(o->events, 3);
}

#define LONG_LIST \
	"cpu-clock,task-clock,page-faults,minor-faults,major-faults,context-switches," \
	"cpu-migrations,alignment-faults,emulation-faults,cgroup-switches"

static void switch_to_longer(struct source *s, int step)
{
	if (step == 3)
		switch_to(s, LONG_LIST ",dummy");
}

/* Lists that are alike for longer than a set's name are two all the same. */
static void test_long_lists(void **state)
{
	const struct outcome *o;

	(void)state;
	need_perf();
	assert_true(strlen(LONG_LIST) > SET_NAME);
	o = run(&(struct setting){
		.work = work_busy, .events = LONG_LIST, .meddle = switch_to_longer});
	assert_int_equal(o->events, 10 + 11);
}

/*
 * Whatever is changed while it runs: nothing counted twice, and no gap. Where others take the CPU
 * away from the target there is one all the same, so that the best of five counts.
 */
static void test_changes(void **state)
{
	static void (*const meddlers[])(struct source *, int) = {flip_rate, flip_stack};

	(void)state;
	need_perf();
	for (size_t i = 0; i < 2; i++) {
		uint64_t gap_ns = UINT64_MAX;

		for (int try = 0; try < 5 && gap_ns > 50 * MS; try++) {
			const struct outcome *o = run(
				&(struct setting){.work = work_busy, .meddle = meddlers[i]});

			assert_clean(o);
			assert_sampled(o, 0.97);
			assert_true(o->samples > 1000);
			if (o->longest_gap_ns < gap_ns)
				gap_ns = o->longest_gap_ns;
		}
		print_message("longest gap between samples: %.1f ms\n", (double)gap_ns / MS);
		assert_true(gap_ns <= 50 * MS);
	}
}

static void refuse_rate(struct source *s, int step)
{
	const struct source_command c = {.kind = SOURCE_SET_RATE, .rate_hz = 10001};

	(void)step;
	if (source_perf.command(s, &c) != -EINVAL)
		abort();
}

static void test_stop(void **state)
{
	const struct outcome *o;

	(void)state;
	need_perf();
	o = run(&(struct setting){.work = work_endless, .seconds = 0.5, .meddle = refuse_rate});
	assert_clean(o);
	assert_false(o->finished);
	assert_true(o->samples > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_call_graphs),
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_group_modifiers),
		cmocka_unit_test(test_spawner),
		cmocka_unit_test(test_forks),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_exec_by_thread),
		cmocka_unit_test(test_unprivileged),
		cmocka_unit_test(test_unprivileged_spawner),
		cmocka_unit_test(test_unprivileged_crowd),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_long_lists),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_stop),
	};
	struct perf_allowed allowed;

	perf_allowed_read(&allowed);
	perf_works = allowed.self;
	perf_cpu_wide = allowed.cpu_wide;
	return cmocka_run_group_tests_name("perf", tests, NULL, NULL);
}
