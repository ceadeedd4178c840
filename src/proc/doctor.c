/*
 * doctor: runs lists of checks and lays their rows out as text; brings the checks that need only
 * limits, ptrace and /proc.
 *
 * Every check tries the thing itself where that is possible; switches and limits only explain.
 * Runs on the jobs thread.
 */
#include "proc/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "proc/nspace.h"
#include "proc/procfs.h"
#include "proc/target_check.h"

#define NAME_WIDTH   17
#define ANSWER_WIDTH 23

/* ptrace on the target when there is one, else on a child of our own. */
static void check_ptrace(const struct doctor_facts *f, void *ctx, struct doctor_row *ret)
{
	struct err err = {0};
	pid_t pid = f->pid ? f->pid : fork();
	int rc;

	(void)ctx;
	if (pid == 0) {
		for (;;)
			pause();
	}
	rc = pid < 0 ? -errno : target_check_trace(pid, &err);
	if (!f->pid && pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, __WALL);
	}
	ret->good = !rc;
	if (rc) {
		snprintf(ret->answer, sizeof ret->answer, "no (%s)", strerrorname_np(-rc));
		snprintf(ret->why, sizeof ret->why, "%.250s", err.msg);
		return;
	}
	snprintf(ret->answer, sizeof ret->answer, "yes");
	snprintf(ret->why, sizeof ret->why, "the timer sampler and --clock wall work%s",
		 f->pid ? " on this process" : "");
}

static void check_files(const struct doctor_facts *f, void *ctx, struct doctor_row *ret)
{
	uint64_t now = permit_raise_nofile(), want = (uint64_t)sysconf(_SC_NPROCESSORS_CONF) * 64;

	(void)ctx;
	ret->good = now >= want;
	snprintf(ret->answer, sizeof ret->answer, "%" PRIu64 " of %" PRIu64, f->permit.nofile_soft,
		 f->permit.nofile_hard);
	if (now > f->permit.nofile_soft)
		snprintf(ret->why, sizeof ret->why, "raised to %" PRIu64, now);
	else
		snprintf(ret->why, sizeof ret->why,
			 "perf events need one per thread and CPU, %ld CPUs here",
			 sysconf(_SC_NPROCESSORS_ONLN));
	if (!ret->good)
		snprintf(ret->advice[0], sizeof ret->advice[0],
			 "more: ulimit -Hn 65536 as root, or LimitNOFILE= of the service");
}

static void check_kernel_names(const struct doctor_facts *f, void *ctx, struct doctor_row *ret)
{
	(void)ctx;
	ret->good = f->permit.kernel_addresses;
	if (ret->good) {
		snprintf(ret->answer, sizeof ret->answer, "yes");
		snprintf(ret->why, sizeof ret->why, "/proc/kallsyms shows addresses");
		return;
	}
	snprintf(ret->answer, sizeof ret->answer, "no");
	if (f->permit.kptr_restrict > 0)
		snprintf(ret->why, sizeof ret->why,
			 "kptr_restrict is %d: kernel functions show as [kernel]",
			 f->permit.kptr_restrict);
	else
		snprintf(ret->why, sizeof ret->why,
			 "addresses are hidden from this user: kernel functions show as [kernel]");
	snprintf(ret->advice[0], sizeof ret->advice[0],
		 f->permit.kptr_restrict > 1
			 ? "to see them: sysctl kernel.kptr_restrict=0"
			 : "to see them: run as root, or sysctl kernel.kptr_restrict=0 "
			   "kernel.perf_event_paranoid=1");
}

static void check_confinement(const struct doctor_facts *f, void *ctx, struct doctor_row *ret)
{
	const struct {
		bool is;
		const char *what, *means;
	} kinds[] = {
		{f->permit.seccomp, "seccomp filter", "it may refuse perf_event_open and ptrace"},
		{f->permit.user_namespace, "user namespace",
		 "capabilities hold only for what is inside"},
		{f->permit.no_new_privs, "no new privs", "a binary's capabilities are not gained"},
	};
	char where[64] = "";
	bool any = false;

	(void)ctx;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t len = strlen(ret->answer), why = strlen(ret->why);

		if (!kinds[i].is)
			continue;
		if (!any)
			nspace_where(getpid(), where, sizeof where);
		snprintf(ret->answer + len, sizeof ret->answer - len, "%s%s", any ? ", " : "",
			 kinds[i].what);
		snprintf(ret->why + why, sizeof ret->why - why, "%s%s%s%s",
			 *where && !any ? "in " : "", any ? "; " : where,
			 *where && !any ? ": " : "", kinds[i].means);
		any = true;
	}
	ret->good = any;
}

static void check_target(const struct doctor_facts *f, void *ctx, struct doctor_row *ret)
{
	char label[64], where[64];
	struct err err = {0};

	(void)ctx;
	if (!f->pid)
		return;
	ret->good = target_check(f->target, &err) == 0;
	snprintf(ret->answer, sizeof ret->answer, "%s", proc_label(f->pid, label, sizeof label));
	if (!ret->good) {
		snprintf(ret->why, sizeof ret->why, "%.250s", err.msg);
		return;
	}
	nspace_where(f->pid, where, sizeof where);
	snprintf(ret->why, sizeof ret->why, "%s%s%s", *where ? "in " : "runs", where,
		 nspace_other_files(f->pid) ? ", sees other files: opened through /proc/PID/root"
					    : "");
}

const struct doctor_check doctor_checks[] = {
	{"target", check_target},           {"open files", check_files},
	{"ptrace", check_ptrace},           {"kernel names", check_kernel_names},
	{"confinement", check_confinement}, {0},
};

/* Columns count characters, not bytes. */
static void pad(struct strbuf *b, const char *text, unsigned width)
{
	unsigned n = 0;

	strbuf_puts(b, text);
	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	do
		strbuf_putc(b, ' ');
	while (++n < width);
}

static void write_row(struct strbuf *b, const char *name, const struct doctor_row *row)
{
	pad(b, name, NAME_WIDTH);
	pad(b, row->answer, ANSWER_WIDTH);
	strbuf_puts(b, row->why);
	strbuf_putc(b, '\n');
	for (int i = 0; i < DOCTOR_ADVICE && row->advice[i][0]; i++) {
		pad(b, "", NAME_WIDTH + ANSWER_WIDTH);
		strbuf_puts(b, row->advice[i]);
		strbuf_putc(b, '\n');
	}
}

char *doctor_text(const struct target *target, const struct doctor_check *const *lists, void *ctx)
{
	struct doctor_facts facts = {.target = target};
	struct strbuf b;

	permit_read(&facts.permit);
	if (target->npids)
		facts.pid = target->pids[0];
	else if (target->ntids)
		facts.pid = target->tids[0];
	strbuf_init(&b);
	for (; *lists; lists++)
		for (const struct doctor_check *c = *lists; c->name; c++) {
			struct doctor_row row = {0};

			c->run(&facts, ctx, &row);
			if (row.answer[0])
				write_row(&b, c->name, &row);
		}
	return strbuf_take(&b);
}
