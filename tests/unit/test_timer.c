/* The timer sampler on children of the test: weights, stops, waits, signals, execs, ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "proc/procfs.h"
#include "source.h"
#include "timerbed.h"

static __attribute__((noinline)) void burn_ms(unsigned ms)
{
	uint64_t until = clock_thread_cpu_ns() + ms * 1000000ull;

	while (clock_thread_cpu_ns() < until)
		for (volatile int i = 0; i < 2000; i++)
			;
}

static void body_burn(void)
{
	board->ready = 1;
	for (;;)
		for (volatile int i = 0; i < 1000000; i++)
			;
}

static void a_busy_thread(void **state)
{
	struct run r = {0};
	struct proc_stat st;
	uint64_t before, after;

	(void)state;
	begin(&r, body_burn, 997);
	usleep(50000);
	proc_cpu_process(r.pid, &before);
	uint64_t weight = __atomic_load_n(&r.seen.weight, __ATOMIC_RELAXED);
	collect(&r, 500);
	proc_cpu_process(r.pid, &after);
	weight = __atomic_load_n(&r.seen.weight, __ATOMIC_RELAXED) - weight;
	settle(&r);
	print_message("weight %.1f ms of %.1f ms CPU\n", (double)weight / 1e6,
		      (double)(after - before) / 1e6);
	assert_int_equal(r.result, 0);
	assert_string_equal(r.seen.desc.name, "cpu-clock");
	assert_true(r.seen.desc.cpu_time);
	assert_true(r.seen.samples >= 500);
	assert_int_equal(r.seen.blocked, 0);
	assert_int_equal(r.seen.stacks, r.seen.samples);
	assert_true((double)weight > 0.9 * (double)(after - before));
	assert_true((double)weight < 1.1 * (double)(after - before));
	assert_true(r.seen.account.cpu_ns > 0);
	assert_int_equal(tracer_of(r.pid), 0);
	assert_int_equal(proc_stat_read(r.pid, 0, &st), 0);
	assert_int_equal(st.state, 'R');
	finish(&r);
}

#define SOME_USER 61234 /* nobody has this number */

/* Works as root for a second, then as somebody else. */
static void body_changes_hands(void)
{
	while (clock_process_cpu_ns() < 1000000000)
		for (int i = 0; i < 10000; i++)
			board->turns++;
	board->ready = 1;
	while (!board->quit)
		usleep(1000);
	if (setgid(SOME_USER) || setuid(SOME_USER))
		_exit(1);
	board->awake_ns = clock_process_cpu_ns();
	for (;;)
		board->turns++;
}

/* -u: of who becomes that user's only what runs from then on is told. */
static void what_ran_for_another_user(void **state)
{
	struct run r = {.config.rate_hz = 997, .sink = {&sink_ops, &r.seen}};
	uint64_t after;

	(void)state;
	if (geteuid()) {
		print_message("skip: not root, so nobody to become\n");
		skip();
	}
	memset(board, 0, sizeof *board);
	r.pid = spawn(body_changes_hands);
	r.target = (struct target){.by_user = true, .user = SOME_USER};
	r.tables = tables_new();
	while (!board->ready)
		usleep(1000);
	assert_int_equal(
		source_timer.open(&r.target, &r.config, &r.sink, r.tables, &r.source, &r.err), 0);
	pthread_create(&r.thread, NULL, run_main, &r);
	usleep(300000);
	board->quit = 1;
	collect(&r, 50);
	settle(&r);
	assert_int_equal(proc_cpu_process(r.pid, &after), 0);
	assert_true(r.seen.samples >= 50);
	assert_int_equal(r.seen.forks, 0); /* it was not born now */
	assert_in_range(r.seen.weight, 1, after - board->awake_ns + 20000000);
	finish(&r);
}

static void body_pauser(void)
{
	board->ready = 1;
	for (;;)
		pause();
}

static void an_idle_process_is_not_touched(void **state)
{
	struct run r = {0};

	(void)state;
	begin(&r, body_pauser, 997);
	usleep(300000);
	settle(&r);
	assert_int_equal(source_timer.status(r.source)->stops, 0);
	assert_int_equal(r.seen.samples, 0);
	finish(&r);
}

static void wall_time_of_a_sleeper(void **state)
{
	struct run r = {.config.wall = true};
	uint64_t t0;

	(void)state;
	begin(&r, body_pauser, 997);
	t0 = clock_mono_ns();
	usleep(1000000);
	settle(&r);
	t0 = clock_mono_ns() - t0;
	assert_string_equal(r.seen.desc.name, "wall");
	assert_false(r.seen.desc.cpu_time);
	assert_int_equal(source_timer.status(r.source)->stops, 0);
	assert_int_equal(r.seen.blocked, r.seen.samples);
	assert_true(r.seen.repeated * 2 >= r.seen.samples);
	assert_true(r.seen.stacks >= 1);
	assert_true((double)r.seen.tid_weight > 0.9 * (double)t0);
	assert_true((double)r.seen.tid_weight < 1.1 * (double)t0);
	finish(&r);
}

static void body_half(void)
{
	uint64_t woke = clock_mono_ns();

	board->ready = 1;
	for (;;) {
		struct timespec nap = {0, 20000000};
		uint64_t now;

		burn_ms(10);
		now = clock_mono_ns();
		board->awake_ns += now - woke;
		nanosleep(&nap, NULL);
		woke = clock_mono_ns();
		board->asleep_ns += woke - now;
	}
}

/* A low rate is kept, whatever breaks the wait for a stop: neither more often nor with long gaps.
 */
static void keeps_a_low_rate(void **state)
{
	struct run r = {.config.wall = true};
	uint64_t t0;

	(void)state;
	begin(&r, body_half, 20);
	t0 = clock_mono_ns();
	usleep(3000000);
	t0 = clock_mono_ns() - t0;
	settle(&r);
	print_message("%lu samples, %.2f s of %.2f s\n", (unsigned long)r.seen.samples,
		      (double)r.seen.tid_weight / 1e9, (double)t0 / 1e9);
	assert_in_range(r.seen.repeated, 30, 110);                     /* 60 looks */
	assert_in_range(source_timer.status(r.source)->stops, 20, 60); /* while it runs */
	assert_true((double)r.seen.tid_weight > 0.85 * (double)t0);
	finish(&r);
}

static void wall_time_is_shared_rightly(void **state)
{
	struct run r = {.config.wall = true};
	uint64_t awake, asleep, t0;
	double running, want;

	(void)state;
	begin(&r, body_half, 997);
	awake = board->awake_ns;
	asleep = board->asleep_ns;
	t0 = clock_mono_ns();
	usleep(2000000);
	awake = board->awake_ns - awake;
	asleep = board->asleep_ns - asleep;
	t0 = clock_mono_ns() - t0;
	settle(&r);
	running = 1 - (double)r.seen.tid_blocked / (double)r.seen.tid_weight;
	want = (double)awake / (double)(awake + asleep);
	print_message("running %.3f of wall time, %.3f as it says itself\n", running, want);
	assert_true(running > want - 0.08 && running < want + 0.08);
	assert_true((double)r.seen.tid_weight > 0.9 * (double)t0);
	finish(&r);
}

/* Calls that fail with EINTR when somebody interrupts them. */
static void *waiter(void *arg)
{
	long which = (long)arg;
	int e = epoll_create1(0), sv[2];
	struct timeval tv = {.tv_usec = 1000};
	struct timespec ts = {.tv_nsec = 700000};
	struct epoll_event ev;
	sigset_t set;
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv) != 0)
		_exit(1);
	setsockopt(sv[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	while (!board->quit) {
		long rc = which == 0   ? epoll_wait(e, &ev, 1, 1)
			  : which == 1 ? recv(sv[0], &c, 1, 0)
			  : which == 2 ? sigtimedwait(&set, NULL, &ts)
				       : nanosleep(&ts, NULL);

		if (rc < 0 && errno == EINTR)
			board->failures++;
		board->turns++;
		for (volatile int i = 0; i < 100000; i++)
			;
	}
	return NULL;
}

static void body_waiters(void)
{
	pthread_t t;

	for (long i = 0; i < 4; i++)
		pthread_create(&t, NULL, waiter, (void *)i);
	board->ready = 1;
	pause();
}

static void no_call_fails(void **state)
{
	struct run r = {0};

	(void)state;
	begin(&r, body_waiters, 4000);
	collect(&r, 1000);
	settle(&r);
	print_message("%lu calls, %lu failed\n", board->turns, board->failures);
	assert_true(board->turns > 500);
	assert_int_equal(board->failures, 0);
	finish(&r);
}

static void on_usr1(int sig)
{
	(void)sig;
	board->signals++;
}

static void body_signals(void)
{
	signal(SIGUSR1, on_usr1);
	board->ready = 1;
	for (;;)
		board->turns++;
}

static void signals_arrive(void **state)
{
	struct run r = {0};
	unsigned sent = 0;

	(void)state;
	begin(&r, body_signals, 4000);
	for (; sent < 2000; sent++) {
		union sigval v = {0};

		sigqueue(r.pid, SIGUSR1, v);
		while (board->signals < sent + 1)
			usleep(20);
	}
	settle(&r);
	assert_int_equal(board->signals, sent);
	finish(&r);
}

static void stopped_stays_stopped(void **state)
{
	struct run r = {0};
	struct proc_stat st;

	(void)state;
	begin(&r, body_burn, 4000);
	usleep(50000);
	for (int i = 0; i < 50; i++) {
		kill(r.pid, SIGSTOP);
		for (int k = 0; k < 1000; k++) {
			proc_stat_read(r.pid, 0, &st);
			if (st.state == 'T')
				break;
			usleep(1000);
		}
		usleep(2000);
		proc_stat_read(r.pid, 0, &st);
		assert_int_equal(st.state, 'T');
		kill(r.pid, SIGCONT);
		usleep(2000);
	}
	kill(r.pid, SIGSTOP);
	usleep(20000);
	settle(&r);
	proc_stat_read(r.pid, 0, &st);
	assert_int_equal(st.state, 'T');
	kill(r.pid, SIGCONT);
	usleep(20000);
	proc_stat_read(r.pid, 0, &st);
	assert_int_equal(st.state, 'R');
	finish(&r);
}

static void shapes_of_stacks(void **state)
{
	struct run fp = {.config.call_graph = CALL_GRAPH_FP};
	struct run none = {.config.call_graph = CALL_GRAPH_NONE};

	(void)state;
	begin(&fp, body_burn, 997);
	collect(&fp, 30);
	settle(&fp);
	assert_true(fp.seen.samples > 20);
	assert_int_equal(fp.seen.chains, fp.seen.samples);
	finish(&fp);
	begin(&none, body_burn, 997);
	collect(&none, 30);
	settle(&none);
	assert_true(none.seen.samples > 20);
	assert_int_equal(none.seen.bare, none.seen.samples);
	finish(&none);
}

static void *short_life(void *arg)
{
	burn_ms(1);
	return arg;
}

static void body_spawner(void)
{
	board->ready = 1;
	for (;;) {
		pthread_t t;

		if (pthread_create(&t, NULL, short_life, NULL) == 0)
			pthread_join(t, NULL);
		board->turns++;
	}
}

static void threads_come_and_go(void **state)
{
	struct run r = {0};

	(void)state;
	begin(&r, body_spawner, 4000);
	for (int i = 0; i < 2000 && board->turns < 1000; i++)
		usleep(10000);
	settle(&r);
	print_message("%lu threads lived, %lu seen\n", board->turns, (unsigned long)r.seen.forks);
	assert_true(board->turns >= 1000);
	assert_true(r.seen.forks > 5);
	assert_true(r.seen.exits > 5);
	assert_int_equal(tracer_of(r.pid), 0);
	finish(&r);
}

static void *burner(void *arg)
{
	for (;;)
		for (volatile int i = 0; i < 1000000; i++)
			;
	return arg;
}

/* Threads that run while one execs: the exec waits for their ends, and we must not hold them. */
static void body_exec(void)
{
	char *turn = getenv("ALTPTTOP_TEST_TURN"), next[16];
	int n = turn ? atoi(turn) : 0;
	pthread_t t;

	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, burner, NULL);
	board->ready = 1;
	usleep(3000 + (unsigned)n % 7 * 300);
	snprintf(next, sizeof next, "%d", n + 1);
	setenv("ALTPTTOP_TEST_TURN", next, 1);
	execl("/proc/self/exe", "test_timer", "exec", (char *)NULL);
	_exit(1);
}

static void execs_go_through(void **state)
{
	struct run r = {0};
	char path[64], text[65536];
	int turns = 0;

	(void)state;
	begin(&r, body_exec, 9000);
	for (int i = 0; i < 200 && turns < 100; i++) {
		ssize_t n;
		char *p;

		usleep(100000);
		snprintf(path, sizeof path, "/proc/%d/environ", r.pid);
		n = procfs_read_at(-1, path, text, sizeof text);
		for (p = text; n > 0 && p < text + n; p += strlen(p) + 1)
			if (strncmp(p, "ALTPTTOP_TEST_TURN=", 19) == 0)
				turns = atoi(p + 19);
	}
	settle(&r);
	print_message("%d execs, %lu noticed\n", turns, (unsigned long)r.seen.execs);
	assert_true(turns >= 100);
	assert_true(r.seen.execs > 5);
	finish(&r);
}

static struct {
	unsigned first_ms, thread_ms, after_ms; /* of CPU: of the first thread, of the one that
						   execs, and when it did */
} takeover;

static void *exec_thread(void *arg)
{
	char after[16];

	burn_ms(takeover.thread_ms);
	snprintf(after, sizeof after, "%u", takeover.after_ms);
	execl("/proc/self/exe", "test_timer", "burn", after, (char *)NULL);
	return arg;
}

static void body_takeover(void)
{
	pthread_t t;

	board->ready = 1;
	burn_ms(takeover.first_ms);
	pthread_create(&t, NULL, exec_thread, NULL);
	pthread_join(t, NULL);
	_exit(1);
}

/* Of a thread that takes the first one's number by an exec, nothing counts twice or not at all. */
static void another_thread_execs(void **state)
{
	static const unsigned turns[][3] = {{20, 600, 300}, {600, 20, 600}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct run r = {0};
		uint64_t cpu_ns = 0;
		double share;

		takeover.first_ms = turns[i][0];
		takeover.thread_ms = turns[i][1];
		takeover.after_ms = turns[i][2];
		begin(&r, body_takeover, 997);
		for (int k = 0;
		     k < 3000 && cpu_ns < (turns[i][0] + turns[i][1] + turns[i][2]) * 1000000ull;
		     k++) {
			usleep(10000);
			proc_cpu_process(r.pid, &cpu_ns);
		}
		usleep(300000);
		settle(&r);
		share = (double)r.seen.weight / (double)r.seen.account.cpu_ns;
		print_message("%.1f %% of %.0f ms are in samples\n", share * 100,
			      (double)r.seen.account.cpu_ns / 1e6);
		assert_true(share > 0.8);
		assert_true(share < 1.05);
		finish(&r);
	}
}

static void the_end_of_the_target(void **state)
{
	struct run r = {0};

	(void)state;
	begin(&r, body_burn, 997);
	collect(&r, 20);
	kill(r.pid, SIGKILL);
	pthread_join(r.thread, NULL);
	assert_int_equal(r.result, 0);
	assert_true(source_timer.status(r.source)->finished);
	finish(&r);
}

static void gone_before_any_sample(void **state)
{
	struct run r = {0};

	(void)state;
	begin(&r, body_pauser, 997);
	kill(r.pid, SIGKILL);
	pthread_join(r.thread, NULL);
	assert_int_equal(r.result, -ESRCH);
	assert_true(strlen(r.err.msg) > 10);
	finish(&r);
}

static void a_debugger_comes_first(void **state)
{
	struct run r = {0};
	struct err err = {0};

	(void)state;
	begin(&r, body_burn, 997);
	collect(&r, 10);
	/* between samples anybody may trace it */
	while (ptrace(PTRACE_SEIZE, r.pid, 0, 0) != 0)
		usleep(300);
	usleep(500000);
	settle(&r);
	assert_int_equal(r.seen.says, 1);
	assert_non_null(strstr(r.seen.say, "traced by"));
	assert_int_equal(source_timer.status(r.source)->unwatched, 1);
	assert_int_equal(source_timer.probe(&r.target, &r.config, &err), -EPERM);
	finish(&r);
}

static void killed_profiler_leaves_no_trace(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		struct proc_stat st;
		pid_t target, profiler;

		memset(board, 0, sizeof *board);
		target = spawn(body_burn);
		while (!board->ready)
			usleep(1000);
		profiler = fork();
		if (profiler == 0) {
			struct run r = {.target = {.pids = &target, .npids = 1}};

			r.config.rate_hz = 10000;
			r.sink = (struct sink){&sink_ops, &r.seen};
			if (source_timer.open(&r.target, &r.config, &r.sink, NULL, &r.source,
					      &r.err))
				_exit(1);
			source_timer.run(r.source, &r.err);
			_exit(0);
		}
		usleep(30000 + (unsigned)i * 137);
		kill(profiler, SIGKILL);
		waitpid(profiler, NULL, 0);
		usleep(5000);
		assert_int_equal(tracer_of(target), 0);
		assert_int_equal(proc_stat_read(target, 0, &st), 0);
		assert_int_equal(st.state, 'R');
		kill(target, SIGKILL);
		waitpid(target, NULL, 0);
	}
}

static void commands_and_refusals(void **state)
{
	struct run r = {0};
	struct source_command c = {.kind = SOURCE_SET_RATE, .rate_hz = 100};
	struct err err = {0};
	const char *events[] = {"cycles"};
	struct source_config config = {.rate_hz = 997, .events = events, .nevents = 1};
	struct source_config user = {.rate_hz = 997, .no_user = true};

	(void)state;
	begin(&r, body_burn, 997);
	assert_int_equal(source_timer.command(r.source, &c), 0);
	usleep(200000);
	assert_int_equal(source_timer.status(r.source)->asked_hz, 100);
	c.kind = SOURCE_SET_EVENTS;
	assert_int_equal(source_timer.command(r.source, &c), -ENOTSUP);
	assert_int_equal(source_timer.probe(&r.target, &config, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, "cycles"));
	assert_int_equal(source_timer.probe(&r.target, &user, &err), -ENOTSUP);
	settle(&r);
	finish(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_busy_thread),
		cmocka_unit_test(what_ran_for_another_user),
		cmocka_unit_test(an_idle_process_is_not_touched),
		cmocka_unit_test(wall_time_of_a_sleeper),
		cmocka_unit_test(keeps_a_low_rate),
		cmocka_unit_test(wall_time_is_shared_rightly),
		cmocka_unit_test(no_call_fails),
		cmocka_unit_test(signals_arrive),
		cmocka_unit_test(stopped_stays_stopped),
		cmocka_unit_test(shapes_of_stacks),
		cmocka_unit_test(threads_come_and_go),
		cmocka_unit_test(execs_go_through),
		cmocka_unit_test(another_thread_execs),
		cmocka_unit_test(the_end_of_the_target),
		cmocka_unit_test(gone_before_any_sample),
		cmocka_unit_test(a_debugger_comes_first),
		cmocka_unit_test(killed_profiler_leaves_no_trace),
		cmocka_unit_test(commands_and_refusals),
	};

	board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (argc > 1 && strcmp(argv[1], "exec") == 0)
		body_exec();
	if (argc > 2 && strcmp(argv[1], "burn") == 0) {
		burn_ms((unsigned)atoi(argv[2]));
		pause();
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
