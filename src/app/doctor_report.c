/*
 * doctor_report: gathers the checks of all rooms into one text, and brings those of perf events and
 * of debug files.
 *
 * Runs on the engine's jobs thread, or on the main thread for --doctor.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "event/perf_open.h"
#include "proc/doctor.h"
#include "sample/toll.h"
#include "session.h"
#include "symbol/jitmap.h"

#define STACK_KB 16 /* of a typical dump, for what the ring holds */

static void check_perf(const struct doctor_facts *f, void *ctx, struct doctor_row *ret)
{
	const struct session *s = ctx;
	struct source_config plain = {.rate_hz = RATE_DEFAULT_HZ};
	struct perf_allowed allowed;
	struct err err = {0};
	int rc = 0;

	perf_allowed_read(&allowed);
	if (!allowed.self)
		rc = perf_open_explain(allowed.rc, "cpu-clock", 0, -1, &err);
	else if (f->pid)
		rc = source_perf.probe(&s->options->target, &plain, &err);
	ret->good = !rc && allowed.kernel;
	if (rc) {
		snprintf(ret->answer, sizeof ret->answer, "no (%s)", strerrorname_np(-rc));
		snprintf(ret->why, sizeof ret->why, "%.250s", err.msg);
		return;
	}
	snprintf(ret->answer, sizeof ret->answer, "%s",
		 allowed.kernel ? "yes" : "yes, user space only");
	if (f->permit.paranoid == PERMIT_UNKNOWN)
		return;
	snprintf(ret->why, sizeof ret->why, "perf_event_paranoid is %d%s", f->permit.paranoid,
		 !allowed.kernel           ? ": kernel frames are hidden"
		 : !allowed.cpu_wide       ? ": the whole system (-a) is refused"
		 : f->permit.paranoid <= 0 ? ": whole CPUs can be watched"
		 : geteuid() == 0          ? "; root may watch whole CPUs nevertheless"
					   : "; CAP_PERFMON allows whole CPUs nevertheless");
	if (!allowed.kernel)
		snprintf(ret->advice[0], sizeof ret->advice[0],
			 "to see them: sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON on the "
			 "binary");
	else if (!allowed.cpu_wide)
		snprintf(ret->advice[0], sizeof ret->advice[0],
			 "to allow it: sysctl kernel.perf_event_paranoid=0, or CAP_PERFMON on the "
			 "binary");
}

static void check_pmu(const struct doctor_facts *f, void *ctx, struct doctor_row *ret)
{
	(void)ctx;
	ret->good = f->permit.pmu;
	snprintf(ret->answer, sizeof ret->answer, f->permit.pmu ? "yes" : "no (ENOENT)");
	snprintf(ret->why, sizeof ret->why, "%s",
		 f->permit.pmu ? "cycles, instructions, cache misses can be counted"
		 : f->permit.guest
			 ? "this is a virtual machine without one: IPC and stalls show n/a"
			 : "the kernel offers none: IPC and stalls show n/a");
}

static void check_ring(const struct doctor_facts *f, void *ctx, struct doctor_row *ret)
{
	bool free_of_limit = f->permit.cap_ipc_lock || f->permit.paranoid == -1;

	(void)ctx;
	if (!f->permit.mlock_kb)
		return;
	ret->good = free_of_limit || f->permit.mlock_kb >= 516;
	if (free_of_limit) {
		snprintf(ret->answer, sizeof ret->answer, "as much as needed");
		snprintf(ret->why, sizeof ret->why, "this user may lock memory");
		return;
	}
	snprintf(ret->answer, sizeof ret->answer, "%u KiB per CPU", f->permit.mlock_kb);
	snprintf(ret->why, sizeof ret->why,
		 "holds %u ms of a busy CPU at %d Hz with %d KiB of stack a sample",
		 f->permit.mlock_kb * 1000 / (RATE_DEFAULT_HZ * STACK_KB), RATE_DEFAULT_HZ,
		 STACK_KB);
	snprintf(ret->advice[0], sizeof ret->advice[0],
		 "more, for deep stacks: sysctl kernel.perf_event_mlock_kb=4096");
}

static void check_debug_files(const struct doctor_facts *f, void *ctx, struct doctor_row *ret)
{
	const struct session *s = ctx;
	unsigned with = 0, all = 0, advised = 0;

	(void)f;
	if (!s->resolver)
		return;
	for (module_id m = 1; m <= tables_module_count(s->tables); m++) {
		enum module_symbols known = resolver_module(s->resolver, m);
		if (tables_module_get(s->tables, m)->kind != MODULE_FILE ||
		    known == SYMBOLS_UNKNOWN)
			continue;
		all++;
		with += known == SYMBOLS_LINES;
		if (known < SYMBOLS_FULL && advised < DOCTOR_ADVICE) {
			resolver_advice(s->resolver, m, ret->advice[advised],
					sizeof ret->advice[0]);
			advised += ret->advice[advised][0] != '\0';
		}
	}
	if (!all)
		return;
	ret->good = !advised;
	snprintf(ret->answer, sizeof ret->answer, "%u of %u modules", with, all);
	snprintf(ret->why, sizeof ret->why, "have lines; of those seen in samples so far");
}

/* A map that lies there for the target. */
static void check_generated(const struct doctor_facts *f, void *ctx, struct doctor_row *ret)
{
	const struct session *s = ctx;
	char path[96];

	if (!f->pid || s->options->target.file)
		return;
	switch (jitmap_look(f->pid, path, sizeof path)) {
	case JITMAP_NONE: return;
	case JITMAP_GOOD:
		ret->good = true;
		snprintf(ret->answer, sizeof ret->answer, "yes");
		snprintf(ret->why, sizeof ret->why, "%s names it", path);
		return;
	case JITMAP_LONG:
		snprintf(ret->answer, sizeof ret->answer, "in part");
		snprintf(ret->why, sizeof ret->why,
			 "%s is longer than 2 GiB: newer code, which stands beyond, has no name",
			 path);
		snprintf(ret->advice[0], sizeof ret->advice[0],
			 "start the process anew, or let it write a new map (for Java: jcmd %d "
			 "Compiler.perfmap)",
			 f->pid);
		return;
	case JITMAP_STALE:
		snprintf(ret->answer, sizeof ret->answer, "no");
		snprintf(ret->why, sizeof ret->why,
			 "%s is older than process %d: it is another's, and not read", path,
			 f->pid);
		snprintf(ret->advice[0], sizeof ret->advice[0],
			 "let the process write it anew (for Java: jcmd %d Compiler.perfmap)",
			 f->pid);
		return;
	}
}

/* What one sample takes from a busy thread, tried on this one. */
static void check_toll(const struct doctor_facts *f, void *ctx, struct doctor_row *ret)
{
	struct perf_allowed allowed;
	struct plan_setup setup = {.rate_hz = RATE_DEFAULT_HZ, .stack_bytes = STACK_KB << 10};
	struct toll toll;

	(void)f;
	(void)ctx;
	perf_allowed_read(&allowed);
	setup.kernel_allowed = allowed.kernel;
	if (!allowed.self || toll_measure(&setup, NULL, 0, NULL, &toll) || !toll.sample_ns)
		return;
	ret->good = true;
	snprintf(ret->answer, sizeof ret->answer, "%.1f us a sample", toll.sample_ns / 1e3);
	snprintf(ret->why, sizeof ret->why,
		 "measured now: %.1f %% of a busy thread at %d Hz, with %d KiB of its stack",
		 (double)toll.sample_ns * RATE_DEFAULT_HZ / 1e7, RATE_DEFAULT_HZ, STACK_KB);
}

static const struct doctor_check perf_checks[] = {{"perf events", check_perf},
						  {"hardware PMU", check_pmu},
						  {"ring memory", check_ring},
						  {"sampling costs", check_toll},
						  {0}};
static const struct doctor_check symbol_checks[] = {
	{"debug files", check_debug_files}, {"generated code", check_generated}, {0}};

char *doctor_report(void *session)
{
	static const struct doctor_check *const lists[] = {perf_checks, doctor_checks,
							   symbol_checks, NULL};
	const struct session *s = session;

	return doctor_text(&s->options->target, lists, session);
}
