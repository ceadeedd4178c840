/* scope: the processes of the system, of a user, of a cgroup; and tasks that follow them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/scope.h"
#include "proc/tasks.h"

static pid_t sleeper(uid_t uid)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (uid && setuid(uid) != 0)
			_exit(1);
		for (;;)
			pause();
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool holds(const struct target *target, pid_t pid)
{
	struct scope *s = scope_new(target, NULL);
	bool found = false;
	pid_t *pids;
	size_t n;

	assert_non_null(s);
	assert_int_equal(scope_list(s, &pids, &n), 0);
	for (size_t i = 0; i < n; i++) {
		found = found || pids[i] == pid;
		assert_int_not_equal(pids[i], getpid());
		if (i)
			assert_true(pids[i - 1] < pids[i]);
	}
	free(pids);
	scope_free(s);
	return found;
}

static void the_whole_system(void **state)
{
	struct target all = {.all = true}, one = {.npids = 1};
	pid_t pid = sleeper(0);

	(void)state;
	assert_true(scope_wanted(&all));
	assert_false(scope_wanted(&one));
	assert_true(holds(&all, pid));
	assert_true(holds(&all, getppid()));
	end(pid);
	assert_false(holds(&all, pid));
}

static void a_users(void **state)
{
	struct target me = {.by_user = true, .user = getuid()};
	struct target other = {.by_user = true, .user = 54321};
	pid_t mine = sleeper(0), theirs;

	(void)state;
	assert_true(holds(&me, mine));
	assert_false(holds(&other, mine));
	if (getuid() == 0) {
		theirs = sleeper(54321);
		for (int i = 0; i < 1000 && !holds(&other, theirs); i++)
			usleep(1000);
		assert_true(holds(&other, theirs));
		assert_false(holds(&me, theirs));
		end(theirs);
	}
	end(mine);
}

static void put(const char *dir, const char *file, const char *text)
{
	char path[4200];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", dir, file);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

struct counts {
	int born, gone;
};

static void on_born(void *ctx, const struct proc_task *t)
{
	(void)t;
	((struct counts *)ctx)->born++;
}

static void on_gone(void *ctx, const struct proc_task *t)
{
	(void)t;
	((struct counts *)ctx)->gone++;
}

static void a_cgroup(void **state)
{
	static const struct tasks_ops ops = {.born = on_born, .gone = on_gone};
	char root[4096], dir[4200], sub[4300], text[32];
	struct target target = {.cgroup = "altpttop-test"},
		      nested = {.cgroup = "altpttop-test/sub"};
	struct target none = {.cgroup = "altpttop-no-such"};
	struct counts c = {0};
	struct err err = {0};
	struct tasks *t;
	pid_t a, b;

	(void)state;
	assert_null(scope_new(&none, &err));
	assert_int_equal(err.no, ENOENT);
	assert_non_null(strstr(err.msg, "altpttop-no-such"));
	if (scope_cgroup_dir("/", root, sizeof root, NULL)) {
		print_message("skipped: no cgroup hierarchy is mounted\n");
		skip();
	}
	snprintf(dir, sizeof dir, "%s/altpttop-test", root);
	snprintf(sub, sizeof sub, "%s/sub", dir);
	if (mkdir(dir, 0755) != 0 || mkdir(sub, 0755) != 0) {
		print_message("skipped: no cgroup can be made here: %s\n", strerror(errno));
		rmdir(dir);
		skip();
	}
	a = sleeper(0);
	b = sleeper(0);
	snprintf(text, sizeof text, "%d", a);
	put(dir, "cgroup.procs", text);
	snprintf(text, sizeof text, "%d", b);
	put(sub, "cgroup.procs", text);
	assert_true(holds(&target, a));
	assert_true(holds(&target, b));
	assert_true(holds(&nested, b));
	assert_false(holds(&nested, a));
	t = tasks_new(&target, true, &err);
	assert_non_null(t);
	tasks_scan(t, &ops, &c);
	assert_int_equal(c.born, 2);
	put(root, "cgroup.procs", text); /* b leaves */
	tasks_scan(t, &ops, &c);
	assert_int_equal(c.gone, 1);
	assert_int_equal(tasks_count(t), 1);
	put(dir, "cgroup.procs", text); /* and comes back */
	tasks_scan(t, &ops, &c);
	assert_int_equal(c.born, 3);
	end(a);
	end(b);
	tasks_scan(t, &ops, &c);
	assert_int_equal(c.gone, 3);
	assert_true(tasks_alive(t)); /* more may come */
	tasks_free(t);
	rmdir(sub);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_whole_system),
		cmocka_unit_test(a_users),
		cmocka_unit_test(a_cgroup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
