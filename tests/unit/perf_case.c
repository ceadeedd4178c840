/*
 * perf_case: each case runs in a forked process, so that it can give up privilege, descriptors or
 * the system call itself; the outcome lies in memory shared with it.
 */
#include "perf_case.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

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
	for (uint32_t i = 0; i < s->nvalues; i++)
		out->second_event += s->values[i].event == 1 ? s->values[i].count : 0;
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
	else if (!a->tid && a->pid == out->target)
		out->target_ns = a->cpu_ns;
}

static void on_count(void *ctx, const struct raw_count *c)
{
	(void)ctx;
	if (c->event >= 4)
		return;
	out->counts++;
	out->count_backwards += c->value < out->counted[c->event];
	out->counted[c->event] = c->value;
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
	const char *lists[] = {set->events, set->more};
	struct source_config config = {
		.rate_hz = set->rate_hz ? set->rate_hz : 997,
		.call_graph = set->call_graph,
		.stack_bytes = set->stack_bytes,
		.no_kernel = set->no_kernel,
		.events = lists,
		.nevents = (set->events != NULL) + (set->more != NULL),
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
	pid = out->target = start_target(set->work, !set->attach, &go);
	if (set->no_perf)
		refuse_perf();
	if (set->attach)
		usleep(400000);
	target.pids = &pid;
	if (set->all)
		target = (struct target){.all = true};
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
	wait4(pid, &out->target_status, 0, &use);
	out->target_s = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
			(double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
	out->switches = (uint64_t)(use.ru_nvcsw + use.ru_nivcsw);
	out->done = true;
}

/* The kernel leaves stolen time out of a task's account, the clock of an event does not. */
static double stolen_s(void)
{
	FILE *f = fopen("/proc/stat", "r");
	unsigned long long ticks = 0;

	if (f && fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
		ticks = 0;
	if (f)
		fclose(f);
	return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

const struct outcome *perf_case(const struct setting *set)
{
	static struct outcome *shared;
	double stolen;
	pid_t pid;
	int status;

	if (!shared)
		shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		abort();
	memset(shared, 0, sizeof *shared);
	stolen = stolen_s();
	fflush(NULL);
	pid = fork();
	if (!pid) {
		out = shared;
		run_here(set);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		shared->done = false;
	shared->stolen_s = stolen_s() - stolen;
	return shared;
}

double perf_case_most(const struct outcome *o)
{
	double most = 1.03 + (o->stolen_s + 8e-6 * (double)o->switches) / o->target_s;

	return most < 1.05 ? most : 1.05;
}
