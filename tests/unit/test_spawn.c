/* spawn: nothing runs before its release; output, exit statuses, failures, signals, desertion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/procfs.h"
#include "proc/spawn.h"

static struct spawn *start(const char *script, enum spawn_output output)
{
	char *argv[] = {"sh", "-c", (char *)(uintptr_t)script, NULL};
	struct err err = {0};
	struct spawn *s = NULL;

	assert_int_equal(spawn_start(argv, output, &s, &err), 0);
	return s;
}

static int finish(struct spawn *s)
{
	int status = -1;

	for (int i = 0; i < 1000 && !spawn_ended(s, &status); i++)
		usleep(5000);
	assert_true(spawn_ended(s, &status));
	return status;
}

static size_t read_output(struct spawn *s, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while (len + 1 < size && (n = read(spawn_output_fd(s), buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	buf[len] = '\0';
	return len;
}

static void waits_for_its_release(void **state)
{
	char name[] = "/tmp/altpttop-spawn-XXXXXX", script[128], exe[64], path[4096], own[4096];
	int fd = mkstemp(name), status;
	struct spawn *s;
	ssize_t n, m;

	(void)state;
	close(fd);
	unlink(name);
	snprintf(script, sizeof script, "echo hi; echo there >&2; cat; : >%s; exit 3", name);
	s = start(script, SPAWN_PIPE);
	usleep(50000);
	assert_int_not_equal(access(name, F_OK), 0);
	assert_false(spawn_ended(s, NULL));
	snprintf(exe, sizeof exe, "/proc/%d/exe", spawn_pid(s));
	n = readlink(exe, path, sizeof path);
	m = readlink("/proc/self/exe", own, sizeof own);
	assert_true(n == m && memcmp(path, own, (size_t)n) == 0); /* it is still us */
	assert_int_equal(spawn_release(s, NULL), 0);
	read_output(s, path, sizeof path);
	assert_string_equal(path, "hi\nthere\n"); /* cat saw the end of /dev/null */
	status = finish(s);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_string_equal(spawn_status_text(status, path, sizeof path), "exit status 3");
	assert_int_equal(access(name, F_OK), 0);
	unlink(name);
	spawn_free(s);
}

static void no_such_command(void **state)
{
	char *missing[] = {"altpttop-no-such-thing", NULL}, *dir[] = {"/tmp", NULL};
	struct spawn *s = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(spawn_start(missing, SPAWN_PIPE, &s, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "altpttop-no-such-thing"));
	assert_null(s);
	assert_int_equal(spawn_start(dir, SPAWN_PIPE, &s, &err), -EACCES);
}

static void exec_that_fails_late(void **state)
{
	char name[] = "/tmp/altpttop-spawn-XXXXXX", *argv[] = {name, NULL};
	int fd = mkstemp(name), status;
	struct spawn *s = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(write(fd, "#!/no/such/interpreter\n", 23), 23);
	fchmod(fd, 0755);
	close(fd);
	assert_int_equal(spawn_start(argv, SPAWN_PIPE, &s, &err), 0);
	assert_int_equal(spawn_release(s, &err), -ENOENT);
	assert_true(strlen(err.msg) > 10);
	status = finish(s);
	assert_int_equal(WEXITSTATUS(status), 127);
	spawn_free(s);
	unlink(name);
}

static bool gone_within(pid_t pid, int ms)
{
	struct proc_stat st;

	for (; ms > 0; ms -= 5) {
		if (proc_stat_read(pid, 0, &st) == -ESRCH || st.state == 'Z')
			return true;
		usleep(5000);
	}
	return false;
}

static void freed_unreleased_never_runs(void **state)
{
	struct spawn *s = start("echo no >/tmp/altpttop-never", SPAWN_PIPE);
	pid_t pid = spawn_pid(s);

	(void)state;
	spawn_free(s);
	assert_true(gone_within(pid, 2000));
	assert_int_not_equal(access("/tmp/altpttop-never", F_OK), 0);
}

static void freed_running_is_ended_with_its_session(void **state)
{
	struct spawn *s = start("sleep 1000 & echo $!; wait", SPAWN_PIPE);
	pid_t pid = spawn_pid(s), grandchild;
	char buf[64];
	ssize_t n;

	(void)state;
	assert_int_equal(spawn_release(s, NULL), 0);
	n = read(spawn_output_fd(s), buf, sizeof buf - 1);
	assert_true(n > 1);
	buf[n] = '\0';
	grandchild = atoi(buf);
	kill(grandchild, SIGSTOP); /* a stopped one ends too */
	spawn_free(s);
	assert_true(gone_within(pid, 2000));
	assert_true(gone_within(grandchild, 2000));
}

static void killed_by_a_signal(void **state)
{
	struct spawn *s = start("kill -SEGV $$", SPAWN_STDERR);
	char buf[64];
	int status;

	(void)state;
	assert_int_equal(spawn_output_fd(s), -1);
	assert_int_equal(spawn_release(s, NULL), 0);
	status = finish(s);
	assert_true(WIFSIGNALED(status));
	assert_string_equal(spawn_status_text(status, buf, sizeof buf), "killed by SIGSEGV");
	spawn_free(s);
}

static void ends_when_the_profiler_is_killed(void **state)
{
	int p[2];
	pid_t profiler, command = 0;

	(void)state;
	assert_int_equal(pipe(p), 0);
	profiler = fork();
	if (profiler == 0) {
		struct spawn *s = start("sleep 1000", SPAWN_PIPE);

		command = spawn_pid(s);
		spawn_release(s, NULL);
		if (write(p[1], &command, sizeof command) != sizeof command)
			_exit(1);
		pause();
	}
	assert_int_equal(read(p[0], &command, sizeof command), sizeof command);
	assert_false(gone_within(command, 20));
	kill(profiler, SIGKILL);
	waitpid(profiler, NULL, 0);
	assert_true(gone_within(command, 2000));
	close(p[0]);
	close(p[1]);
}

static void default_signals_and_no_terminal(void **state)
{
	struct spawn *s;
	char buf[512], sid[16];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	s = start("grep -E 'SigIgn|SigBlk' /proc/self/status; ps -o sid= -p $$; ls /proc/self/fd",
		  SPAWN_PIPE);
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(spawn_release(s, NULL), 0);
	read_output(s, buf, sizeof buf);
	assert_non_null(strstr(buf, "SigBlk:\t0000000000000000"));
	/* Signals 1 to 31: the C library keeps 32 and 33, which make leaves ignored, to itself. */
	char *ignored = strstr(buf, "SigIgn:\t");
	assert_non_null(ignored);
	assert_int_equal(strtoull(ignored + 8, NULL, 16) & 0x7fffffff, 0);
	snprintf(sid, sizeof sid, "%d\n", spawn_pid(s));
	assert_non_null(strstr(buf, sid));
	assert_non_null(strstr(buf, "0\n1\n2\n3\n")); /* 3 is ls's own */
	assert_null(strstr(buf, "\n4\n"));
	finish(s);
	spawn_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_its_release),
		cmocka_unit_test(no_such_command),
		cmocka_unit_test(exec_that_fails_late),
		cmocka_unit_test(freed_unreleased_never_runs),
		cmocka_unit_test(freed_running_is_ended_with_its_session),
		cmocka_unit_test(killed_by_a_signal),
		cmocka_unit_test(ends_when_the_profiler_is_killed),
		cmocka_unit_test(default_signals_and_no_terminal),
	};

	close_range(3, ~0u, 0); /* whatever started this test may have left some open */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
