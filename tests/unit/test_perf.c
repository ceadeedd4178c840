/*
 * perf: the whole sampler on programs whose CPU time the kernel accounts, with a sink that counts.
 *
 * Each case runs in a process of its own, so that it can give up privilege, descriptors or the
 * system call itself. Where this machine allows no perf events at all, every case is skipped.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "event/perf_open.h"
#include "source.h"

#define MS      1000000ULL
#define S       1000000000ULL
#define NOBODY  65534
#define SAY_MAX 8

/* The thread sanitizer's runtime has a thread of its own in every process. */
#ifdef __SANITIZE_THREAD__
#define assert_count(n, expected) assert_true((n) >= (expected))
#else
#define assert_count(n, expected) assert_int_equal(n, expected)
#endif

/* What a case sees. Lives in memory shared with the process that ran it. */
struct outcome {
	int probe, open, run;
	char sentence[512], arrangement[96], said[SAY_MAX][512];
	unsigned nsaid;
	bool finished, done;
	uint64_t samples, weight_ns, kernel, dumped, with_user_chain, with_kernel_chain;
	uint64_t unordered, longest_gap_ns, strangers;
	uint64_t forks, comms, exits, mmaps, accounts, processes_ns, exited_ns;
	uint64_t loss[LOSS_KINDS];
	uint32_t threads, unwatched_most, events;
	double target_s; /* CPU time by wait4, children it waited for included */
	uint64_t last_ns;
};

struct setting {
	void (*work)(void); /* the target */
	uint32_t rate_hz, stack_bytes;
	enum call_graph call_graph;
	bool unprivileged, no_perf, no_kernel;
	rlim_t nofile;
	bool attach;                                /* open when it already runs */
	void (*meddle)(struct source *s, int step); /* every 100 ms */
	double seconds;                             /* 0: until the target ends */
};

static struct outcome *out; /* the sink's, in the case's process */

static void on_time(uint64_t time_ns)
{
	if (time_ns < out->last_ns)
		out->unordered++;
	else
		out->last_ns = time_ns;
}

static void on_event(void *ctx, uint16_t index, const struct event_desc *desc)
{
	(void)ctx;
	if (index != out->events || !desc->name[0])
		abort();
	out->events++;
}

static void on_sample(void *ctx, const struct raw_sample *s)
{
	uint64_t before = out->last_ns;

	(void)ctx;
	on_time(s->time_ns);
	if (out->samples && s->time_ns > before && s->time_ns - before > out->longest_gap_ns)
		out->longest_gap_ns = s->time_ns - before;
	out->samples++;
	out->weight_ns += s->weight;
	out->kernel += (s->flags & SAMPLE_KERNEL) != 0;
	out->dumped += s->regs != NULL && s->stack_bytes > 0;
	out->with_user_chain += s->nuser > 0;
	out->with_kernel_chain += s->nkernel > 0;
	if (s->pid == getpid())
		out->strangers++;
	if (s->ret_cut)
		*s->ret_cut = CUT_NONE;
}

static void on_mmap(void *ctx, const struct raw_mmap *m)
{
	(void)ctx;
	on_time(m->time_ns);
	out->mmaps++;
}

static void on_fork(void *ctx, const struct raw_task *t)
{
	(void)ctx;
	on_time(t->time_ns);
	out->forks++;
}

static void on_comm(void *ctx, const struct raw_task *t)
{
	(void)ctx;
	on_time(t->time_ns);
	out->comms++;
}

static void on_exit_(void *ctx, const struct raw_task *t)
{
	(void)ctx;
	on_time(t->time_ns);
	out->exits++;
}

static void on_ksymbol(void *ctx, uint64_t time_ns, uint64_t addr, uint32_t size, const char *name,
		       bool unregister)
{
	(void)ctx, (void)time_ns, (void)addr, (void)size, (void)name, (void)unregister;
}

static void on_loss(void *ctx, enum loss_kind kind, uint64_t count)
{
	(void)ctx;
	out->loss[kind] += count;
}

static void on_account(void *ctx, const struct raw_account *a)
{
	(void)ctx;
	out->accounts++;
	if (!a->tid && a->state == 'X')
		out->exited_ns += a->cpu_ns;
	else if (!a->tid)
		out->processes_ns = a->cpu_ns;
}

static void on_count(void *ctx, const struct raw_count *c)
{
	(void)ctx, (void)c;
}

static void on_say(void *ctx, const char *sentence)
{
	(void)ctx;
	if (out->nsaid < SAY_MAX)
		snprintf(out->said[out->nsaid++], sizeof out->said[0], "%s", sentence);
}

static const struct sink_ops counting = {
	.event = on_event,
	.sample = on_sample,
	.mmap = on_mmap,
	.fork = on_fork,
	.comm = on_comm,
	.exit = on_exit_,
	.ksymbol = on_ksymbol,
	.loss = on_loss,
	.account = on_account,
	.count = on_count,
	.say = on_say,
};
static const struct sink sink = {.ops = &counting};

static void refuse_perf(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {.len = sizeof code / sizeof *code, .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &prog))
		_exit(3);
}

static pid_t start_target(void (*work)(void), bool wait, int *ret_go)
{
	int go[2];
	pid_t pid;

	if (pipe(go))
		_exit(3);
	pid = fork();
	if (!pid) {
		char c;

		close(go[1]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (wait && read(go[0], &c, 1) != 0)
			_exit(3);
		work();
		_exit(0);
	}
	close(go[0]);
	*ret_go = go[1];
	return pid;
}

static void *run_source(void *source)
{
	struct err err = {0};

	out->run = source_perf.run(source, &err);
	return NULL;
}

static void watch(const struct setting *set, struct source *source)
{
	const struct source_status *status = source_perf.status(source);
	uint64_t until = clock_mono_ns() + (uint64_t)((set->seconds ? set->seconds : 60) * 1e9);
	pthread_t thread;

	pthread_create(&thread, NULL, run_source, source);
	for (int step = 0; clock_mono_ns() < until && !atomic_load(&status->finished); step++) {
		uint32_t unwatched;

		usleep(100000);
		if (set->meddle)
			set->meddle(source, step);
		unwatched = atomic_load(&status->unwatched);
		if (unwatched > out->unwatched_most)
			out->unwatched_most = unwatched;
		if (atomic_load(&status->threads) > out->threads)
			out->threads = atomic_load(&status->threads);
	}
	source_perf.stop(source);
	pthread_join(thread, NULL);
	out->finished = atomic_load(&status->finished);
	snprintf(out->arrangement, sizeof out->arrangement, "%s", source_arrangement(status));
}

static void run_here(const struct setting *set)
{
	struct source_config config = {
		.rate_hz = set->rate_hz ? set->rate_hz : 997,
		.call_graph = set->call_graph,
		.stack_bytes = set->stack_bytes,
		.no_kernel = set->no_kernel,
	};
	struct rlimit limit = {set->nofile, set->nofile};
	struct target target = {.npids = 1};
	struct source *source = NULL;
	struct rusage use = {0};
	struct err err = {0};
	int go;
	pid_t pid;

	if (set->nofile)
		setrlimit(RLIMIT_NOFILE, &limit);
	if (set->unprivileged && (setgid(NOBODY) || setuid(NOBODY)))
		_exit(3);
	prctl(PR_SET_DUMPABLE, 1); /* as a program that was started by that user is */
	pid = start_target(set->work, !set->attach, &go);
	if (set->no_perf)
		refuse_perf();
	if (set->attach)
		usleep(400000);
	target.pids = &pid;
	out->probe = source_perf.probe(&target, &config, &err);
	if (!out->probe)
		out->open = source_perf.open(&target, &config, &sink, NULL, &source, &err);
	snprintf(out->sentence, sizeof out->sentence, "%s", err.msg);
	close(go);
	if (source)
		watch(set, source);
	source_perf.close(source);
	if (!out->finished)
		kill(pid, SIGKILL);
	wait4(pid, NULL, 0, &use);
	out->target_s = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
			(double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
	out->done = true;
}

static const struct outcome *run(const struct setting *set)
{
	static struct outcome *shared;
	pid_t pid;
	int status;

	if (!shared)
		shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(shared, MAP_FAILED);
	memset(shared, 0, sizeof *shared);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		out = shared;
		run_here(set);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(shared->done);
	return shared;
}

static double weight_s(const struct outcome *o)
{
	return (double)o->weight_ns / 1e9;
}

static void assert_share(double part, double whole, double least, double most)
{
	if (part >= whole * least && part <= whole * most)
		return;
	fail_msg("%.4f s of %.4f s is %.2f %%, not between %.1f and %.1f %%", part, whole,
		 100 * part / whole, 100 * least, 100 * most);
}

/* Targets. */

static void burn(uint64_t ns)
{
	struct timespec t;
	uint64_t start, now;
	volatile uint64_t x = 1;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	start = now = (uint64_t)t.tv_sec * S + (uint64_t)t.tv_nsec;
	while (now - start < ns) {
		for (int i = 0; i < 5000; i++)
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
	pthread_attr_setstacksize(&small, 65536);
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

static void assert_clean(const struct outcome *o)
{
	assert_int_equal(o->probe, 0);
	assert_int_equal(o->open, 0);
	assert_int_equal(o->run, 0);
	assert_string_equal(o->sentence, "");
	assert_int_equal(o->unordered, 0);
	assert_int_equal(o->strangers, 0);
	for (int i = 0; i < LOSS_KINDS; i++)
		if (o->loss[i])
			fail_msg("%s: %llu", loss_kind_name((enum loss_kind)i),
				 (unsigned long long)o->loss[i]);
}

static void test_busy(void **state)
{
	const struct outcome *o;

	(void)state;
	need_perf();
	o = run(&(struct setting){.work = work_busy});
	assert_clean(o);
	assert_true(o->finished);
	assert_int_equal(o->events, 1);
	assert_share(weight_s(o), o->target_s, 0.97, 1.05);
	assert_in_range(o->samples, 1400, 1600);
	assert_count(o->exits, 1);
	assert_true(o->dumped > o->samples * 9 / 10);
	assert_true(o->with_user_chain > o->samples * 9 / 10);
	assert_true(o->processes_ns > 1400 * MS);
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
		assert_share(weight_s(o), o->target_s, 0.95, 1.05);
		assert_share((double)o->samples / rates[i], o->target_s, 0.92, 1.05);
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
	assert_share(weight_s(o), o->target_s, 0.80, 1.05);
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
	assert_share(weight_s(o), o->target_s, 0.90, 1.05);
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
	assert_share(weight_s(o), o->target_s, 0.55, 1.05); /* it worked before, too */
	o = run(&(struct setting){.work = work_crowd});
	assert_count(o->forks, 2000);
	assert_share(weight_s(o), o->target_s, 0.83, 1.05);
}

static void test_exec_by_thread(void **state)
{
	const struct outcome *o;

	(void)state;
	need_perf();
	o = run(&(struct setting){.work = work_exec});
	assert_clean(o);
	assert_true(o->finished);
	assert_share(weight_s(o), o->target_s, 0.96, 1.05);
}

static void test_unprivileged(void **state)
{
	const struct outcome *o;

	(void)state;
	need_root();
	o = run(&(struct setting){.work = work_busy, .unprivileged = true});
	assert_clean(o);
	assert_int_equal(o->kernel, 0);
	assert_share(weight_s(o), o->target_s, 0.88, 1.05);
	assert_true(o->nsaid > 0);
	assert_non_null(strstr(o->said[0], "kernel.perf_event_paranoid"));
	assert_non_null(strstr(o->said[0], "EACCES"));
}

static void test_unprivileged_spawner(void **state)
{
	const struct outcome *o;

	(void)state;
	need_root();
	o = run(&(struct setting){.work = work_forks, .unprivileged = true, .nofile = 1024});
	assert_clean(o);
	assert_count(o->forks, 200);
	/* The kernel's account of the children comes with their ends, whatever was sampled. */
	assert_share((double)(o->exited_ns + o->processes_ns) / 1e9, o->target_s, 0.90, 1.05);
}

static void test_unprivileged_crowd(void **state)
{
	const struct outcome *o;
	bool told = false;

	(void)state;
	need_root();
	o = run(&(struct setting){
		.work = work_crowd, .unprivileged = true, .nofile = 1024, .attach = true});
	assert_clean(o);
	assert_true(o->unwatched_most > 500);
	assert_true(o->threads > 100);
	for (unsigned i = 0; i < o->nsaid; i++)
		told |= strstr(o->said[i], "threads are not watched") &&
			strstr(o->said[i], "ulimit -Hn");
	assert_true(told);
	/* The two that work are among the watched. */
	assert_share(weight_s(o), o->target_s, 0.45, 1.05);
}

static void flip_rate(struct source *s, int step)
{
	const struct source_command c = {.kind = SOURCE_SET_RATE, .rate_hz = step & 1 ? 997 : 1999};

	if (step % 3 == 0)
		assert_int_equal(source_perf.command(s, &c), 0);
}

static void flip_stack(struct source *s, int step)
{
	const struct source_command c = {.kind = SOURCE_SET_STACK,
					 .stack_bytes = step & 1 ? 8192 : 32768};

	assert_int_equal(source_perf.command(s, &c), 0);
}

/* Whatever is changed while it runs: no gap, and nothing counted twice. */
static void test_changes(void **state)
{
	static void (*const meddlers[])(struct source *, int) = {flip_rate, flip_stack};

	(void)state;
	need_perf();
	for (size_t i = 0; i < 2; i++) {
		const struct outcome *o = run(
			&(struct setting){.work = work_busy, .meddle = meddlers[i]});

		assert_clean(o);
		assert_share(weight_s(o), o->target_s, 0.97, 1.05);
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

static void test_refused_by_seccomp(void **state)
{
	const struct outcome *o;

	(void)state;
	need_perf();
	o = run(&(struct setting){.work = work_busy, .no_perf = true});
	assert_int_equal(o->probe, -EPERM);
	assert_non_null(strstr(o->sentence, "EPERM"));
	assert_non_null(strstr(o->sentence, "seccomp"));
	assert_non_null(strstr(o->sentence, "--sampler timer"));
}

static void test_refused_targets(void **state)
{
	struct source_config config = {.rate_hz = 997};
	pid_t pid = 1;
	struct target target = {.pids = &pid, .npids = 1};
	struct source *source;
	struct err err;

	(void)state;
	need_perf();
	pid = 4194304 - 7;
	assert_int_equal(source_perf.probe(&target, &config, &err), -ESRCH);
	assert_non_null(strstr(err.msg, "ESRCH"));
	config.wall = true;
	assert_int_equal(source_perf.probe(&target, &config, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, "--sampler timer"));
	config.wall = false;
	config.rate_hz = 10001;
	pid = getpid();
	assert_int_equal(source_perf.open(&target, &config, &sink, NULL, &source, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "10000"));
}

/* Somebody else's process: run as nobody on a process of root's. */
static void test_refused_others(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	need_root();
	pid = fork();
	if (!pid) {
		struct source_config config = {.rate_hz = 997};
		pid_t parent = getppid();
		struct target target = {.pids = &parent, .npids = 1};
		struct err err = {0};

		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(3);
		_exit(source_perf.probe(&target, &config, &err) == -EACCES &&
				      strstr(err.msg, "someone else")
			      ? 0
			      : 1);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_call_graphs),
		cmocka_unit_test(test_spawner),
		cmocka_unit_test(test_forks),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_exec_by_thread),
		cmocka_unit_test(test_unprivileged),
		cmocka_unit_test(test_unprivileged_spawner),
		cmocka_unit_test(test_unprivileged_crowd),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_refused_by_seccomp),
		cmocka_unit_test(test_refused_targets),
		cmocka_unit_test(test_refused_others),
	};
	struct perf_allowed allowed;

	perf_allowed_read(&allowed);
	perf_works = allowed.self;
	perf_cpu_wide = allowed.cpu_wide;
	return cmocka_run_group_tests_name("perf", tests, NULL, NULL);
}
