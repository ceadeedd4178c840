/* tasks and procfs: threads that are born, rename themselves, end; children; accounts; budgets. */
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
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "proc/procfs.h"
#include "proc/syscalls.h"
#include "proc/tasks.h"

struct seen {
	int born, gone, renamed;
	struct proc_task last_born, last_gone, last_renamed;
};

static void on_born(void *ctx, const struct proc_task *t)
{
	struct seen *s = ctx;

	s->born++;
	s->last_born = *t;
}

static void on_gone(void *ctx, const struct proc_task *t)
{
	struct seen *s = ctx;

	s->gone++;
	s->last_gone = *t;
}

static void on_renamed(void *ctx, const struct proc_task *t)
{
	struct seen *s = ctx;

	s->renamed++;
	s->last_renamed = *t;
}

static const struct tasks_ops ops = {on_born, on_gone, on_renamed};

/* Commands to a child process: it makes threads, renames, forks, burns. */
struct child {
	pid_t pid;
	int in, out;
};

static void *sleeper(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static atomic_bool stop_burning;

static void *burner(void *arg)
{
	(void)arg;
	while (!stop_burning)
		;
	return NULL;
}

static void work(void)
{
	uint64_t until = clock_process_cpu_ns() + 60000000;

	while (clock_process_cpu_ns() < until)
		;
	_exit(0);
}

static void child_main(int in, int out)
{
	pthread_t thread = 0;
	char c;

	while (read(in, &c, 1) == 1) {
		switch (c) {
		case 't': pthread_create(&thread, NULL, sleeper, NULL); break;
		case 'b': pthread_create(&thread, NULL, burner, NULL); break;
		case 's':
			stop_burning = true;
			pthread_join(thread, NULL);
			break;
		case 'x':
			pthread_cancel(thread);
			pthread_join(thread, NULL);
			break;
		case 'r': pthread_setname_np(thread, "a b)\n\\c"); break;
		case 'f':
			if (fork() == 0)
				for (;;)
					pause();
			break;
		case 'w': /* a child that works and is waited for */
			if (fork() == 0)
				work();
			wait(NULL);
			break;
		case 'W': /* the same, waited for by 'c' */
			if (fork() == 0)
				work();
			break;
		case 'c': wait(NULL); break;
		case 'e': execl("/bin/cat", "cat", (char *)NULL); break;
		default: break;
		}
		if (write(out, "k", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static struct child start(void)
{
	struct child c;
	int a[2], b[2];

	assert_int_equal(pipe(a), 0);
	assert_int_equal(pipe(b), 0);
	c.pid = fork();
	if (c.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		close(a[1]);
		close(b[0]);
		child_main(a[0], b[1]);
	}
	close(a[0]);
	close(b[1]);
	c.in = a[1];
	c.out = b[0];
	return c;
}

static void tell(const struct child *c, const char *what)
{
	char k;

	for (; *what; what++) {
		assert_int_equal(write(c->in, what, 1), 1);
		assert_int_equal(read(c->out, &k, 1), 1);
	}
}

static void finish(const struct child *c)
{
	kill(-c->pid, SIGKILL);
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->in);
	close(c->out);
}

static struct tasks *watch(pid_t *pid, struct target *target, bool children)
{
	struct err err = {0};
	struct tasks *t;

	*target = (struct target){.pids = pid, .npids = 1};
	t = tasks_new(target, children, &err);
	assert_non_null(t);
	return t;
}

static void stat_with_a_hostile_name(void **state)
{
	struct proc_stat st;
	const char *text = "12 (a) R 1 (\\n\\\\) S 7 12 12 0 -1 4194560 1 2 3 4 55 66 0 0 20 0 3 0 "
			   "9876 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 5 0 0\n";

	(void)state;
	assert_int_equal(proc_stat_parse(text, &st), 0);
	assert_string_equal(st.comm, "a) R 1 (\n\\");
	assert_int_equal(st.state, 'S');
	assert_int_equal(st.ppid, 7);
	assert_int_equal(st.user_ticks, 55);
	assert_int_equal(st.system_ticks, 66);
	assert_int_equal(st.threads, 3);
	assert_int_equal(st.start_ticks, 9876);
	assert_int_equal(st.cpu, 5);
	assert_false(proc_stat_is_kernel(&st));
	assert_int_equal(proc_stat_parse("", &st), -EBADMSG);
	assert_int_equal(proc_stat_parse("1 (x", &st), -EBADMSG);
	assert_int_equal(proc_stat_parse("1 )x(", &st), -EBADMSG);
	assert_int_equal(proc_stat_parse("1 (x) R 1", &st), -EBADMSG);
}

static void stat_of_kernel_thread(void **state)
{
	struct proc_stat st;

	(void)state;
	if (proc_stat_read(2, 0, &st) || strcmp(st.comm, "kthreadd") != 0) {
		print_message("skipped: no kthreadd in this pid namespace\n");
		skip();
	}
	assert_true(proc_stat_is_kernel(&st));
}

static void syscall_names(void **state)
{
	(void)state;
	assert_string_equal(syscall_name(SYS_read), "read");
	assert_string_equal(syscall_name(SYS_futex), "futex");
	assert_string_equal(syscall_name(SYS_epoll_pwait), "epoll_pwait");
	assert_null(syscall_name(-1));
	assert_null(syscall_name(1 << 20));
}

static void no_such_process(void **state)
{
	pid_t pid = fork();
	struct target target = {.pids = &pid, .npids = 1};
	struct err err = {0};

	(void)state;
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_null(tasks_new(&target, true, &err));
	assert_int_equal(err.no, ESRCH);
	assert_non_null(strstr(err.msg, "no process"));
}

static void threads_come_and_go(void **state)
{
	struct child c = start();
	struct target target;
	struct tasks *t = watch(&c.pid, &target, true);
	struct seen s = {0};

	(void)state;
	assert_true(tasks_alive(t));
	tasks_scan(t, &ops, &s);
	assert_int_equal(s.born, 1);
	assert_int_equal(s.last_born.tid, c.pid);
	tell(&c, "t");
	tasks_scan(t, &ops, &s);
	assert_int_equal(s.born, 2);
	assert_int_equal(s.last_born.pid, c.pid);
	assert_int_not_equal(s.last_born.tid, c.pid);
	assert_int_equal(tasks_count(t), 2);
	tell(&c, "r");
	tasks_scan(t, &ops, &s);
	assert_int_equal(s.renamed, 1);
	assert_string_equal(s.last_renamed.comm, "a b)\n\\c");
	tell(&c, "x");
	tasks_scan(t, &ops, &s);
	assert_int_equal(s.gone, 1);
	assert_int_equal(s.last_gone.tid, s.last_born.tid);
	assert_int_equal(tasks_count(t), 1);
	finish(&c);
	tasks_scan(t, &ops, &s);
	assert_int_equal(s.gone, 2);
	assert_int_equal(s.born, 2);
	assert_false(tasks_alive(t));
	tasks_free(t);
}

static void children_and_exec(void **state)
{
	struct child c = start();
	struct target target;
	struct tasks *t = watch(&c.pid, &target, true), *alone = watch(&c.pid, &target, false);
	struct seen s = {0}, a = {0};

	(void)state;
	tasks_scan(t, &ops, &s);
	tell(&c, "f");
	tasks_scan(t, &ops, &s);
	tasks_scan(alone, &ops, &a);
	assert_int_equal(s.born, 2);
	assert_int_not_equal(s.last_born.pid, c.pid);
	assert_int_equal(s.last_born.pid, s.last_born.tid);
	assert_int_equal(a.born, 1);
	assert_int_equal(write(c.in, "e", 1), 1);
	for (int i = 0; i < 200 && !s.renamed; i++) {
		usleep(5000);
		tasks_scan(t, &ops, &s);
	}
	assert_int_equal(s.renamed, 1);
	assert_string_equal(s.last_renamed.comm, "cat");
	finish(&c);
	tasks_free(t);
	tasks_free(alone);
}

static void zombie_is_not_alive(void **state)
{
	struct child c = start();
	struct target target;
	struct tasks *t = watch(&c.pid, &target, true);
	struct seen s = {0};

	(void)state;
	tasks_scan(t, &ops, &s);
	kill(c.pid, SIGKILL);
	waitid(P_PID, (id_t)c.pid, NULL, WEXITED | WNOWAIT);
	tasks_scan(t, &ops, &s);
	assert_false(tasks_alive(t));
	finish(&c);
	tasks_free(t);
}

static void single_threads(void **state)
{
	struct child c = start();
	struct target target = {0};
	struct tasks *all = watch(&c.pid, &target, true), *t;
	struct target one = {.ntids = 1};
	struct seen s = {0}, a = {0};
	pid_t tid;

	(void)state;
	tell(&c, "t");
	tasks_scan(all, &ops, &a);
	assert_int_equal(a.born, 2);
	tid = a.last_born.tid == c.pid ? 0 : a.last_born.tid;
	assert_int_not_equal(tid, 0);
	one.tids = &tid;
	t = tasks_new(&one, true, NULL);
	assert_non_null(t);
	tasks_scan(t, &ops, &s);
	assert_int_equal(s.born, 1);
	assert_int_equal(s.last_born.tid, tid);
	assert_int_equal(s.last_born.pid, c.pid);
	tell(&c, "tx");
	finish(&c);
	tasks_scan(t, &ops, &s);
	assert_false(tasks_alive(t));
	tasks_free(t);
	tasks_free(all);
}

struct accounts {
	int processes, threads;
	struct raw_account process, burner, sleeper;
};

static void on_account(void *ctx, const struct raw_account *a)
{
	struct accounts *s = ctx;

	if (!a->tid) {
		s->processes++;
		s->process = *a;
		return;
	}
	s->threads++;
	if (a->tid == a->pid)
		s->sleeper = *a;
	else
		s->burner = *a;
}

static const struct sink_ops account_ops = {.account = on_account};

static void accounts_match_the_kernel(void **state)
{
	struct child c = start();
	struct target target;
	struct tasks *t = watch(&c.pid, &target, true);
	struct accounts s = {0};
	struct sink sink = {&account_ops, &s};
	struct raw_account before;
	double used;

	(void)state;
	tell(&c, "b");
	tasks_scan(t, &ops, &(struct seen){0});
	tasks_account(t, &sink, 10000000);
	assert_int_equal(s.processes, 1);
	assert_int_equal(s.threads, 2);
	before = s.process;
	usleep(300000);
	tasks_account(t, &sink, 10000000);
	used = (double)(s.process.cpu_ns - before.cpu_ns) /
	       (double)(s.process.time_ns - before.time_ns);
	print_message("a busy thread was accounted %.3f CPU\n", used);
	assert_true(used > 0.0005 && used < 1.05); /* a busy machine gives it little */
	assert_true(s.process.user_ns + s.process.system_ns >= s.process.cpu_ns);
	assert_true(s.burner.cpu_ns > 0 && s.burner.cpu_ns <= s.process.cpu_ns + 5000000);
	assert_int_equal(s.sleeper.state, 'S');
	assert_non_null(s.sleeper.waits_on);
	assert_string_equal(s.sleeper.waits_on, "read");
	tell(&c, "s");
	before = s.process;
	tasks_scan(t, &ops, &(struct seen){0});
	tasks_account(t, &sink, 10000000);
	assert_true(s.process.cpu_ns >= before.cpu_ns); /* an exited thread still counts */
	finish(&c);
	tasks_free(t);
}

static uint64_t told_ns(struct tasks *t)
{
	struct accounts s = {0};
	struct sink sink = {&account_ops, &s};

	tasks_scan(t, &ops, &(struct seen){0});
	tasks_account(t, &sink, 10000000);
	return s.process.cpu_ns;
}

static void children_that_nobody_saw(void **state)
{
	struct child c = start();
	struct target target;
	struct tasks *t;
	uint64_t before, after;

	(void)state;
	tell(&c, "w"); /* before we watch: not ours */
	t = watch(&c.pid, &target, true);
	tasks_sole_witness(t);
	before = told_ns(t);
	assert_true(before < 40000000);
	tell(&c, "ww");
	after = told_ns(t);
	print_message("two children of 60 ms: %.1f ms\n", (double)(after - before) / 1e6);
	assert_true(after - before > 100000000 && after - before < 160000000);
	finish(&c);
	tasks_free(t);
}

static void children_that_were_seen_count_once(void **state)
{
	struct child c = start();
	struct target target;
	struct tasks *t = watch(&c.pid, &target, true);
	struct accounts s = {0};
	struct sink sink = {&account_ops, &s};
	uint64_t before;

	(void)state;
	tasks_sole_witness(t);
	before = told_ns(t);
	tell(&c, "W");
	for (int i = 0; i < 2000 && tasks_count(t) < 2; i++)
		tasks_scan(t, &ops, &(struct seen){0});
	assert_int_equal(tasks_count(t), 2);
	for (int i = 0; i < 2000 && s.process.state != 'X' && s.process.state != 'Z'; i++) {
		usleep(1000);
		tasks_touch(t);
		tasks_scan(t, &ops, &(struct seen){0});
		tasks_account(t, &sink, 1000000); /* the child comes last */
	}
	assert_true(s.process.cpu_ns > 40000000);
	tell(&c, "c");
	tasks_scan(t, &ops, &(struct seen){0});
	tasks_account(t, &sink, 1000000);
	assert_true(told_ns(t) - before < 30000000);
	finish(&c);
	tasks_free(t);
}

static void the_last_account(void **state)
{
	struct child c = start();
	struct target target;
	struct tasks *t = watch(&c.pid, &target, true);
	struct accounts s = {0};
	struct sink sink = {&account_ops, &s};
	uint64_t last;

	(void)state;
	tasks_sole_witness(t);
	tell(&c, "b");
	tasks_scan(t, &ops, &(struct seen){0});
	tasks_account(t, &sink, 1000000);
	usleep(100000);
	tasks_touch(t);
	last = s.process.cpu_ns;
	finish(&c);
	tasks_scan(t, &ops, &(struct seen){0});
	tasks_account(t, &sink, 1000000);
	assert_int_equal(s.process.state, 'X');
	assert_true(s.process.cpu_ns > last);
	s = (struct accounts){0};
	tasks_account(t, &sink, 1000000);
	assert_int_equal(s.processes, 0); /* told once */
	assert_false(tasks_alive(t));
	tasks_free(t);
}

static void *many_main(void *arg)
{
	(void)arg;
	pause();
	return NULL;
}

static void two_thousand_threads_within_budget(void **state)
{
	enum { N = 2000 };
	pid_t pid;
	struct target target;
	struct tasks *t;
	struct accounts s = {0};
	struct sink sink = {&account_ops, &s};
	struct seen seen = {0};
	uint64_t t0, scan_ns, account_ns;
	int ready[2];
	char c;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		pthread_attr_t attr;
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, 256 << 10);
		for (int i = 0; i < N; i++)
			pthread_create(&thread, &attr, many_main, NULL);
		if (write(ready[1], "r", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	t = watch(&pid, &target, true);
	tasks_scan(t, &ops, &seen);
	assert_true(seen.born > N / 2);
	t0 = clock_mono_ns();
	tasks_scan(t, &ops, &seen);
	scan_ns = clock_mono_ns() - t0;
	t0 = clock_mono_ns();
	tasks_account(t, &sink, 2000000);
	account_ns = clock_mono_ns() - t0;
	print_message("%u threads: a scan takes %.2f ms; %d accounted in %.2f ms\n", tasks_count(t),
		      (double)scan_ns / 1e6, s.threads, (double)account_ns / 1e6);
	assert_true(s.threads > 50 || account_ns < 200000000);
	assert_true(s.threads > 0);
	for (int i = 0; i < 20000 && s.threads < (int)tasks_count(t); i++)
		tasks_account(t, &sink, 2000000); /* every one gets its turn */
	assert_true(s.threads >= (int)tasks_count(t));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tasks_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_with_a_hostile_name),
		cmocka_unit_test(stat_of_kernel_thread),
		cmocka_unit_test(syscall_names),
		cmocka_unit_test(no_such_process),
		cmocka_unit_test(threads_come_and_go),
		cmocka_unit_test(children_and_exec),
		cmocka_unit_test(zombie_is_not_alive),
		cmocka_unit_test(single_threads),
		cmocka_unit_test(accounts_match_the_kernel),
		cmocka_unit_test(children_that_nobody_saw),
		cmocka_unit_test(children_that_were_seen_count_once),
		cmocka_unit_test(the_last_account),
		cmocka_unit_test(two_thousand_threads_within_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
