/*
 * stacks: takes samples by ptrace: a thread that runs is interrupted, its registers and stack are
 * copied, it goes on. Slow and intrusive, as a sampler must not be; exact, as an oracle must be.
 */
#include "stacks.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 256

static char state_of(pid_t pid, pid_t tid)
{
	char path[64], line[512], *close;
	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	FILE *f = fopen(path, "re");
	char state = 0;
	if (f && fgets(line, sizeof line, f) && (close = strrchr(line, ')')))
		state = close[2];
	if (f)
		fclose(f);
	return state;
}

static size_t list_threads(pid_t pid, pid_t tids[THREADS_MAX])
{
	char path[64];
	struct dirent *e;
	size_t n = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *d = opendir(path);
	while (d && n < THREADS_MAX && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			tids[n++] = atoi(e->d_name);
	if (d)
		closedir(d);
	return n;
}

/* The end of the memory that holds @addr. */
static uint64_t region_end(pid_t pid, uint64_t addr)
{
	char path[64], line[512];
	uint64_t from, to, end = 0;
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && !end && fgets(line, sizeof line, f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 && addr >= from &&
		    addr < to)
			end = to;
	if (f)
		fclose(f);
	return end;
}

#ifdef __x86_64__
static int read_regs(pid_t tid, struct sample_regs *r)
{
	struct user_regs_struct u;
	struct iovec io = {&u, sizeof u};
	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &io))
		return -errno;
	const uint64_t by_perf[24] = {u.rax, u.rbx, u.rcx, u.rdx, u.rsi, u.rdi, u.rbp, u.rsp,
				      u.rip, 0,     0,     0,     0,     0,     0,     0,
				      u.r8,  u.r9,  u.r10, u.r11, u.r12, u.r13, u.r14, u.r15};
	memcpy(r->r, by_perf, sizeof by_perf);
	r->mask = 0xff01ff;
	r->arch = ARCH_X86_64;
	return 0;
}
#else
static int read_regs(pid_t tid, struct sample_regs *r)
{
	struct user_regs_struct u;
	struct iovec io = {&u, sizeof u};
	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &io))
		return -errno;
	memcpy(r->r, u.regs, sizeof u.regs);
	r->r[31] = u.sp;
	r->r[32] = u.pc;
	r->mask = ((uint64_t)1 << 33) - 1;
	r->arch = ARCH_AARCH64;
	return 0;
}
#endif

/* A runtime with stacks of its own leads from one to the next by frame pointers. */
static void copy_fp_chain(const struct stacks *s, struct stack_sample *t)
{
	uint64_t fp = t->regs.r[STACKS_FP], record[2], pcs[FP_MAX];
	uint32_t n = 0;

	while (n < FP_MAX && fp && fp % 8 == 0) {
		struct iovec to = {record, sizeof record},
			     from = {(void *)(uintptr_t)fp, sizeof record};
		if (process_vm_readv(s->pid, &to, 1, &from, 1, 0) != sizeof record ||
		    record[0] == fp)
			break;
		pcs[n++] = record[1];
		fp = record[0];
	}
	t->fp_chain = n ? malloc(n * sizeof *pcs) : NULL;
	t->fp_n = t->fp_chain ? n : 0;
	if (t->fp_n)
		memcpy(t->fp_chain, pcs, n * sizeof *pcs);
}

static int copy_thread(struct stacks *s, pid_t tid, size_t cap)
{
	struct stack_sample *t = &s->samples[s->n];
	int rc = read_regs(tid, &t->regs);
	if (rc)
		return rc;
	uint64_t sp = t->regs.r[STACKS_SP], end = region_end(s->pid, sp);
	size_t size = end > sp && end - sp < cap ? (size_t)(end - sp) : cap;
	if (!end)
		return -EFAULT;
	size += RED_ZONE;
	t->below = malloc(size);
	t->bytes = t->below + RED_ZONE;
	struct iovec to = {t->below, size}, from = {(void *)(uintptr_t)(sp - RED_ZONE), size};
	ssize_t got = process_vm_readv(s->pid, &to, 1, &from, 1, 0);
	if (got <= RED_ZONE)
		return -EFAULT;
	t->size = (size_t)got - RED_ZONE;
	t->tid = tid;
	t->space = s->nspaces - 1;
	copy_fp_chain(s, t);
	s->n++;
	return 0;
}

/* The maps as they are now; a copy of its own whenever they changed. */
static void note_maps(struct stacks *s, struct space *now, uint64_t *generation)
{
	space_read_proc(now, NULL);
	if (s->nspaces && space_generation(now) == *generation)
		return;
	*generation = space_generation(now);
	s->spaces = realloc(s->spaces, (s->nspaces + 1) * sizeof *s->spaces);
	s->spaces[s->nspaces++] = space_clone(now, s->pid);
}

/* 1: sampled, 0: it runs no more or was busy otherwise. */
static int sample_thread(struct stacks *s, struct space *now, uint64_t *generation, pid_t tid,
			 size_t cap, const struct stacks_hook *hook)
{
	int status, got = 0;
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0))
		return 0;
	if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
		return 0;
	int sig = WSTOPSIG(status);
	bool ours = status >> 16 == PTRACE_EVENT_STOP;
	if (ours) {
		note_maps(s, now, generation);
		got = copy_thread(s, tid, cap) == 0;
		if (got && hook)
			hook->on_sample(hook->ctx, &s->samples[s->n - 1]);
	}
	ptrace(PTRACE_CONT, tid, 0, ours || sig == SIGTRAP ? 0 : sig);
	return got;
}

/* Deliver whatever else stopped them (their own signals, new threads). */
static bool pump(pid_t pid)
{
	int status;
	pid_t tid;
	while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		if (tid == pid && (WIFEXITED(status) || WIFSIGNALED(status)))
			return false;
		if (!WIFSTOPPED(status))
			continue;
		int sig = WSTOPSIG(status);
		ptrace(PTRACE_CONT, tid, 0, status >> 16 || sig == SIGTRAP ? 0 : sig);
	}
	return true;
}

int stacks_take(struct stacks *s, struct tables *tables, pid_t pid, size_t n, unsigned hz,
		size_t cap, const struct stacks_hook *hook)
{
	pid_t tids[THREADS_MAX];
	uint64_t generation = 0;
	struct timespec pause = {0, 1000000000l / hz};
	*s = (struct stacks){.pid = pid, .samples = calloc(n + THREADS_MAX, sizeof *s->samples)};
	struct space *now = space_new(tables, pid);
	size_t nt = list_threads(pid, tids);
	for (size_t k = 0; k < nt; k++)
		if (ptrace(PTRACE_SEIZE, tids[k], 0, PTRACE_O_TRACECLONE))
			return -errno;
	for (unsigned idle = 0; s->n < n && idle < 20 * hz; idle++) {
		nanosleep(&pause, NULL);
		if (!pump(pid))
			break;
		nt = list_threads(pid, tids);
		for (size_t k = 0; k < nt && s->n < n; k++)
			if (state_of(pid, tids[k]) == 'R' &&
			    sample_thread(s, now, &generation, tids[k], cap, hook))
				idle = 0;
	}
	for (size_t k = 0; k < nt; k++) { /* leave it standing, for its files and memory */
		int status;
		if (ptrace(PTRACE_INTERRUPT, tids[k], 0, 0) == 0)
			waitpid(tids[k], &status, __WALL);
	}
	space_free(now);
	return s->n ? 0 : -ESRCH;
}

void stacks_end(struct stacks *s)
{
	pid_t tids[THREADS_MAX];
	size_t nt = list_threads(s->pid, tids);
	for (size_t k = 0; k < nt; k++)
		ptrace(PTRACE_DETACH, tids[k], 0, 0);
	for (size_t k = 0; k < s->n; k++) {
		free(s->samples[k].below);
		free(s->samples[k].fp_chain);
	}
	for (size_t k = 0; k < s->nspaces; k++)
		space_free(s->spaces[k]);
	free(s->samples);
	free(s->spaces);
}
