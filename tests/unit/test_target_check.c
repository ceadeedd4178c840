/* target_check, nspace, permit, doctor: every refusal is one sentence with the right errno. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/doctor.h"
#include "proc/nspace.h"
#include "proc/permit.h"
#include "proc/procfs.h"
#include "proc/target_check.h"

static pid_t sleeping_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves nothing behind */
		for (;;)
			pause();
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
}

static int check(pid_t pid, struct err *err)
{
	struct target t = {.pids = &pid, .npids = 1};

	return target_check(&t, err);
}

static void assert_says(const struct err *err, int no, const char *words)
{
	if (err->no != no || !strstr(err->msg, words))
		print_error("said: %s (%d)\n", err->msg, err->no);
	assert_int_equal(err->no, no);
	assert_non_null(strstr(err->msg, words));
	assert_null(strchr(err->msg, '\n'));
}

static int tracer_pid(pid_t pid)
{
	char text[32];

	assert_int_equal(proc_status_field(pid, 0, "TracerPid", text, sizeof text), 0);
	return atoi(text);
}

static void ordinary(void **state)
{
	pid_t pid = sleeping_child();
	struct err err = {0};

	(void)state;
	assert_int_equal(proc_kind(pid), PROC_PROGRAM);
	assert_int_equal(check(pid, &err), 0);
	assert_int_equal(target_check_trace(pid, &err), 0);
	assert_int_equal(tracer_pid(pid), 0); /* tried and let go */
	end(pid);
}

static void stopped_stays_stopped(void **state)
{
	pid_t pid = sleeping_child();
	struct proc_stat st;
	struct err err = {0};
	int status;

	(void)state;
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	assert_int_equal(target_check_trace(pid, &err), 0);
	usleep(20000);
	assert_int_equal(proc_stat_read(pid, 0, &st), 0);
	assert_int_equal(st.state, 'T');
	end(pid);
}

static void nobody(void **state)
{
	pid_t pid = fork();
	struct err err = {0};

	(void)state;
	if (pid == 0)
		_exit(0);
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT);
	assert_int_equal(check(pid, &err), -ESRCH);
	assert_says(&err, ESRCH, "zombie");
	waitpid(pid, NULL, 0);
	assert_int_equal(check(pid, &err), -ESRCH);
	assert_says(&err, ESRCH, "there is no process");
	assert_int_equal(target_check_trace(pid, &err), -ESRCH);
	assert_int_equal(check(0, &err), -ESRCH);
	assert_int_equal(check(-5, &err), -ESRCH);
}

static void ourselves(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(check(getpid(), &err), -EINVAL);
	assert_says(&err, EINVAL, "itself");
}

static void *thread_main(void *arg)
{
	*(_Atomic pid_t *)arg = (pid_t)syscall(SYS_gettid);
	for (;;)
		pause();
	return NULL;
}

static void a_thread_is_no_process(void **state)
{
	int p[2];
	pid_t pid, tid;
	struct err err = {0};
	struct target t = {.tids = &tid, .ntids = 1};

	(void)state;
	assert_int_equal(pipe(p), 0);
	pid = fork();
	if (pid == 0) {
		pthread_t thread;
		static _Atomic pid_t child_tid;

		pthread_create(&thread, NULL, thread_main, (void *)&child_tid);
		while (!child_tid)
			usleep(1000);
		tid = child_tid;
		if (write(p[1], &tid, sizeof tid) != sizeof tid)
			_exit(1);
		pause();
	}
	assert_int_equal(read(p[0], &tid, sizeof tid), sizeof tid);
	assert_int_equal(check(tid, &err), -EINVAL);
	assert_says(&err, EINVAL, "is a thread of process");
	assert_int_equal(target_check(&t, &err), 0);
	end(pid);
}

static void kernel_thread(void **state)
{
	struct err err = {0};

	(void)state;
	if (proc_kind(2) != PROC_KERNEL) {
		print_message("skipped: no kernel threads are visible\n");
		skip();
	}
	assert_int_equal(check(2, &err), 0);
	assert_int_equal(target_check_trace(2, &err), -EPERM);
	assert_says(&err, EPERM, "kernel thread");
}

static void traced_already(void **state)
{
	pid_t pid = sleeping_child();
	struct err err = {0};

	(void)state;
	assert_int_equal(ptrace(PTRACE_SEIZE, pid, 0, 0), 0);
	assert_int_equal(target_check_trace(pid, &err), -EPERM);
	assert_says(&err, EPERM, "already traced by");
	end(pid);
}

/* Run @body as another user in a child; it returns 0 when all is well. */
static int as_nobody(int (*body)(pid_t), pid_t pid)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (setgid(65534) != 0 || setuid(65534) != 0)
			_exit(99);
		prctl(PR_SET_DUMPABLE, 1); /* as after an exec */
		_exit(body(pid));
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int refused_as_someone_elses(pid_t pid)
{
	struct err err = {0};

	if (target_check_trace(pid, &err) != -EPERM || err.no != EPERM)
		return 1;
	return strstr(err.msg, "belongs to root") && strstr(err.msg, "run as root") ? 0 : 2;
}

static void someone_elses(void **state)
{
	pid_t pid;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: only root can become someone else\n");
		skip();
	}
	pid = sleeping_child();
	assert_int_equal(as_nobody(refused_as_someone_elses, pid), 0);
	end(pid);
}

static int refused_for_capabilities(pid_t pid)
{
	struct err err = {0};

	if (target_check_trace(pid, &err) != -EPERM)
		return 1;
	if (!strstr(err.msg, "capabilities that this program lacks"))
		return 2;
	return strstr(err.msg, "run as root") ? 3 : 0;
}

/* Root that lacks capabilities is not told to become root. */
static void root_without_capabilities(void **state)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};
	pid_t pid, child;
	int status = -1;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: only root can lack capabilities\n");
		skip();
	}
	pid = sleeping_child();
	child = fork();
	if (child == 0) {
		if (syscall(SYS_capset, &head, none))
			_exit(99);
		prctl(PR_SET_DUMPABLE, 1);
		_exit(refused_for_capabilities(pid));
	}
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	end(pid);
}

static void namespaces(void **state)
{
	pid_t pid = sleeping_child();

	(void)state;
	assert_int_equal(nspace_pid(pid), pid);
	assert_false(nspace_other_files(pid));
	end(pid);
	if (geteuid() != 0)
		return;
	pid = (pid_t)syscall(SYS_clone, 0x20000000 /* NEWPID */ | 0x00020000 /* NEWNS */ | SIGCHLD,
			     0, 0, 0, 0);
	if (pid == 0)
		for (;;)
			pause();
	assert_true(pid > 0);
	assert_int_equal(nspace_pid(pid), 1);
	assert_true(nspace_other_files(pid));
	end(pid);
}

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void where_by_cgroup(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"0::/\n", ""},
		{"", ""},
		{"garbage", ""},
		{"0::", ""},
		{"0::/system.slice/docker-" HEX64 ".scope\n", "docker 0123456789ab"},
		{"12:cpu,cpuacct:/docker/" HEX64 "\n1:name=systemd:/docker/" HEX64 "\n0::/\n",
		 "docker 0123456789ab"},
		{"0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" HEX64 ".scope\n",
		 "pod 0123456789ab"},
		{"0::/machine.slice/libpod-" HEX64 ".scope\n", "podman 0123456789ab"},
		{"0::/weird/" HEX64 "\n", "container 0123456789ab"},
		{"0::/system.slice/mysql.service\n", "mysql.service"},
		{"0::/user.slice/user-1000.slice/session-3.scope\n", ""},
		{"0::/init.scope\n", ""},
		{"0::/lxc.payload.web\n", "lxc web"},
		{"4:memory:/lxc/web\n", "lxc web"},
		{"0::/machine.slice/machine-deb.scope\n", "machine deb"},
		{"1:name=systemd:/a.service\n0::/b.service\n", "b.service"},
	};
	char buf[64];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		nspace_where_text(cases[i].text, buf, sizeof buf);
		assert_string_equal(buf, cases[i].want);
	}
}

static void permissions(void **state)
{
	struct permit p;

	(void)state;
	permit_read(&p);
	assert_true(p.nofile_soft > 0 && p.nofile_soft <= p.nofile_hard);
	assert_int_equal(p.cap_sys_ptrace, geteuid() == 0 || p.cap_sys_ptrace);
	assert_int_equal(permit_sysctl("no/such/switch", -7), -7);
	assert_true(permit_raise_nofile() >= p.nofile_soft);
}

static void extra(const struct doctor_facts *f, void *ctx, struct doctor_row *ret)
{
	(void)f;
	snprintf(ret->answer, sizeof ret->answer, "ja – %s", (const char *)ctx);
	snprintf(ret->why, sizeof ret->why, "because");
	snprintf(ret->advice[0], sizeof ret->advice[0], "type this");
}

static void hidden(const struct doctor_facts *f, void *ctx, struct doctor_row *ret)
{
	(void)f;
	(void)ctx;
	(void)ret;
}

static void the_doctor(void **state)
{
	static const struct doctor_check more[] = {{"extra", extra}, {"hidden", hidden}, {0}};
	const struct doctor_check *const lists[] = {more, doctor_checks, NULL};
	pid_t pid = sleeping_child();
	struct target t = {.pids = &pid, .npids = 1}, none = {0};
	char ctx[] = "ctx", *text = doctor_text(&t, lists, ctx);

	(void)state;
	assert_non_null(text);
	print_message("%s", text);
	assert_ptr_equal(strstr(text, "extra            ja – ctx               because\n"), text);
	assert_non_null(strstr(text, "\n                                        type this\n"));
	assert_null(strstr(text, "hidden"));
	assert_non_null(strstr(text, "\nptrace           yes"));
	assert_non_null(strstr(text, "\nopen files "));
	free(text);
	end(pid);
	text = doctor_text(&none, lists, ctx);
	assert_null(strstr(text, "\ntarget "));
	assert_non_null(strstr(text, "\nptrace           yes"));
	free(text);
}

/* What confines this program, and no more than that. */
static void confined(void **state)
{
	static const struct {
		struct permit permit;
		const char *answer, *why, *not ;
	} cases[] = {
		{{.seccomp = 0}, "", "", ""},
		{{.seccomp = 2}, "seccomp filter", "may refuse perf_event_open", "seccomp,"},
		{{.user_namespace = true}, "user namespace", "capabilities hold only", "refuse"},
		{{.seccomp = 2, .no_new_privs = true},
		 "seccomp filter, no new privs",
		 "may refuse perf_event_open and ptrace; a binary's",
		 "namespace"},
	};
	const struct doctor_check *c = doctor_checks;

	(void)state;
	while (strcmp(c->name, "confinement") != 0)
		c++;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct doctor_facts facts = {.permit = cases[i].permit};
		struct doctor_row row = {0};

		c->run(&facts, NULL, &row);
		assert_string_equal(row.answer, cases[i].answer);
		assert_non_null(strstr(row.why, cases[i].why));
		assert_true(!*cases[i].not || !strstr(row.why, cases[i].not ));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary),
		cmocka_unit_test(stopped_stays_stopped),
		cmocka_unit_test(nobody),
		cmocka_unit_test(ourselves),
		cmocka_unit_test(a_thread_is_no_process),
		cmocka_unit_test(kernel_thread),
		cmocka_unit_test(traced_already),
		cmocka_unit_test(someone_elses),
		cmocka_unit_test(root_without_capabilities),
		cmocka_unit_test(namespaces),
		cmocka_unit_test(where_by_cgroup),
		cmocka_unit_test(permissions),
		cmocka_unit_test(the_doctor),
		cmocka_unit_test(confined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
