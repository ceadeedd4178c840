/*
 * truth: steps a thread instruction by instruction until its frames return, and notes whereto.
 *
 * Calls that are made on the way are remembered, so that their returns are told from those of the
 * frames that were there when the sample was taken. Such a return counts only if the sample held
 * its address, on the stack or in a register, and a call stands before it: what jumps by pushing an
 * address and returning to it, or what a runtime put there since, is nobody's caller. Tail calls
 * need no care: they leave the return address where it is. x86-64 only.
 */
#include "truth.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const truth_end_names[TRUTH_ENDS] = {
	"known",
	"no return within the steps",
	"left without returning",
	"return address changed since",
	"waited",
	"faulted",
	"gone",
};

#ifdef __x86_64__

enum insn { INSN_OTHER, INSN_CALL, INSN_RET, INSN_JUMP_TO_VALUE, INSN_SYSCALL, INSN_LOADS_SP };

/* A move to rsp from what is neither the frame pointer nor the stack: longjmp, exceptions, other
 * stacks; also alloca and the like, after which no jump through a register comes soon. */
static bool loads_sp(const uint8_t *p, uint8_t rex)
{
	unsigned mod = p[1] >> 6, reg = p[1] >> 3 & 7, rm = p[1] & 7;

	if (p[0] == 0x5c)
		return !(rex & 1); /* pop %rsp */
	if (p[0] == 0x89)
		return mod == 3 && rm == 4 && !(rex & 1) && (reg != 5 || rex & 4);
	if (p[0] != 0x8b || reg != 4 || rex & 4)
		return false;
	bool by_sp = mod != 3 && rm == 4 && (p[2] & 7) == 4 && !(rex & 1);
	bool by_fp = rm == 5 && mod && !(rex & 1);
	return !by_sp && !by_fp;
}

static enum insn insn_at(const uint8_t *p)
{
	uint8_t rex = 0;

	for (int k = 0; k < 6; k++, p++) {
		bool prefix = *p == 0xf2 || *p == 0xf3 || *p == 0x66 || *p == 0x2e || *p == 0x3e;
		if ((*p & 0xf0) == 0x40)
			rex = *p;
		else if (!prefix)
			break;
	}
	unsigned group = p[1] >> 3 & 7;
	if (p[0] == 0xe8 || (p[0] == 0xff && group == 2))
		return INSN_CALL;
	if (p[0] == 0xc3 || p[0] == 0xc2)
		return INSN_RET;
	if (p[0] == 0xff && group == 4)
		return INSN_JUMP_TO_VALUE;
	if (p[0] == 0x0f && p[1] == 0x05)
		return INSN_SYSCALL;
	return loads_sp(p, rex) ? INSN_LOADS_SP : INSN_OTHER;
}

#define CALLS_MOST 65536
#define SIGFRAME   512  /* bytes in which the kernel keeps what it interrupted */
#define JUMPS_SOON 12   /* instructions between loading sp and jumping away for good */
#define MOVES      4096 /* bytes by which a return address is moved: arguments dropped, or added */
#define NEAR       512

struct call {
	uint64_t slot, to;
};

struct stepper {
	pid_t pid, tid;
	const struct stack_sample *s;
	struct truth *out;
	uint64_t floor;  /* the frame that returns next has its return address here or above */
	unsigned loaded; /* instructions left in which a jump means that sp was loaded for good */
	uint64_t held;   /* signals to be sent again, by bit */
	uint32_t ncalls;
	bool over;
};

static struct call calls[CALLS_MOST]; /* made since the sample and not returned yet */

static void stop(struct stepper *st, enum truth_end end)
{
	st->out->end = end;
	st->over = true;
}

static bool read_at(const struct stepper *st, uint64_t at, void *ret, size_t size)
{
	struct iovec to = {ret, size}, from = {(void *)(uintptr_t)at, size};

	return process_vm_readv(st->pid, &to, 1, &from, 1, 0) == (ssize_t)size;
}

/* Is @pc where a call comes back to, or a signal's handler? */
static bool after_call(const struct stepper *st, uint64_t pc)
{
	static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, SYS_rt_sigreturn};
	uint8_t code[7];

	if (read_at(st, pc, code, sizeof code) && !memcmp(code, sigreturn, sizeof sigreturn))
		return true;
	if (!read_at(st, pc - 7, code, sizeof code))
		return false;
	for (unsigned at = 0; at < 6; at++)
		if (code[at] == 0xff && (code[at + 1] & 0x38) == 0x10)
			return true;
	return code[2] == 0xe8;
}

/*
 * Did the sample hold @pc, in a register or on the stack about where it was returned from? A
 * callee that drops arguments, or a caller that adds some, moves it. Another stack is not in the
 * sample: nothing is known then.
 */
static bool was_there(const struct stepper *st, uint64_t slot, uint64_t pc)
{
	const struct stack_sample *s = st->s;
	uint64_t sp = s->regs.r[STACKS_SP], from = st->floor, to = st->floor + NEAR, value;

	for (unsigned k = 0; st->out->n == 1 && k < SAMPLE_REGS; k++)
		if (s->regs.mask >> k & 1 && s->regs.r[k] == pc)
			return true;
	if (slot > st->floor + NEAR) {
		from = slot - NEAR;
		to = slot;
	}
	if (from < sp || to - sp + 8 > s->size)
		return true;
	for (uint64_t at = from; at <= to; at += 8) {
		memcpy(&value, s->bytes + (at - sp), sizeof value);
		if (value == pc)
			return true;
	}
	return false;
}

/* Did the sample hold @pc at @slot, in a frame that has not returned yet? */
static bool stood_at(const struct stepper *st, uint64_t slot, uint64_t pc)
{
	uint64_t off = slot - st->s->regs.r[STACKS_SP], value;

	if (slot < st->floor || off >= st->s->size || st->s->size - off < sizeof value)
		return false;
	memcpy(&value, st->s->bytes + off, sizeof value);
	return value == pc;
}

static void add_caller(struct stepper *st, uint64_t pc, uint64_t sp, uint32_t wanted)
{
	st->out->pcs[st->out->n++] = pc;
	st->floor = sp;
	if (st->out->n > wanted)
		stop(st, TRUTH_DONE);
}

/* The call that returns: by its place, or near it, where its return address was moved. -1: none. */
static int64_t find_call(const struct stepper *st, uint64_t slot, uint64_t to, uint64_t reach)
{
	for (int64_t k = (int64_t)st->ncalls - 1; k >= 0; k--)
		if (calls[k].to == to && slot + reach - calls[k].slot <= 2 * reach)
			return k;
	return -1;
}

static void on_return(struct stepper *st, uint64_t slot, const struct user_regs_struct *after,
		      uint32_t wanted)
{
	uint64_t to = after->rip;
	int64_t call = find_call(st, slot, to, 0);

	if (call < 0)
		call = find_call(st, slot, to, MOVES);
	/* A call that never came back (deoptimised, thrown out of) left its own behind. */
	if (call < 0 && stood_at(st, slot, to))
		st->ncalls = 0;
	if (call >= 0)
		st->ncalls = (uint32_t)call;
	else if (st->ncalls && slot >= calls[0].slot)
		stop(st, TRUTH_LEFT);
	else if (st->ncalls)
		return; /* pushed, to jump there */
	else if (after_call(st, to) && was_there(st, slot, to))
		add_caller(st, to, after->rsp, wanted);
	else if (slot >= st->floor || st->floor - slot > MOVES)
		stop(st, TRUTH_CHANGED);
}

/* sp was loaded, now comes a jump: out of called functions only, or out of the sampled ones too? */
static void on_leave(struct stepper *st, uint64_t sp)
{
	uint32_t before = st->ncalls;

	while (st->ncalls && calls[st->ncalls - 1].slot < sp)
		st->ncalls--;
	if (!st->ncalls || st->ncalls == before) /* none was left: it is another stack */
		stop(st, TRUTH_LEFT);
	st->loaded = 0;
}

static void on_insn(struct stepper *st, enum insn insn, const struct user_regs_struct *before,
		    const struct user_regs_struct *after, uint32_t wanted)
{
	uint64_t word;

	switch (insn) {
	case INSN_CALL:
		st->loaded = 0;
		if (after->rsp != before->rsp - 8 || !read_at(st, after->rsp, &word, sizeof word))
			break;
		if (st->ncalls == CALLS_MOST)
			stop(st, TRUTH_STEPS);
		else
			calls[st->ncalls++] = (struct call){after->rsp, word};
		break;
	case INSN_RET:
		st->loaded = 0;
		on_return(st, before->rsp, after, wanted);
		break;
	case INSN_SYSCALL: /* a signal's return: the interrupted function goes on */
		if (before->rax != SYS_rt_sigreturn)
			break;
		if (st->ncalls)
			stop(st, TRUTH_LEFT);
		else if (!was_there(st, st->floor + SIGFRAME, after->rip)) /* sent elsewhere */
			stop(st, TRUTH_CHANGED);
		else
			add_caller(st, after->rip, after->rsp, wanted);
		break;
	case INSN_LOADS_SP: st->loaded = JUMPS_SOON; break;
	case INSN_JUMP_TO_VALUE:
		if (st->loaded)
			on_leave(st, after->rsp);
		break;
	case INSN_OTHER: st->loaded -= st->loaded > 0; break;
	}
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* Until the thread stops; one that waits for long is stopped. */
static bool await_stop(struct stepper *st, int *ret_status)
{
	bool interrupted = false;

	for (unsigned ticks = 0;;) {
		pid_t got = waitpid(st->tid, ret_status, __WALL);
		if (got == st->tid)
			break;
		if (got < 0 && errno != EINTR)
			return false;
		if (++ticks >= 3 && !interrupted)
			interrupted = ptrace(PTRACE_INTERRUPT, st->tid, 0, 0) == 0;
	}
	if (interrupted && WIFSTOPPED(*ret_status))
		stop(st, TRUTH_BLOCKED);
	return WIFSTOPPED(*ret_status);
}

/* One instruction. A signal is kept for later; one that the instruction itself raised is not. */
static void step(struct stepper *st)
{
	int status;
	siginfo_t info;

	for (;;) {
		if (ptrace(PTRACE_SINGLESTEP, st->tid, 0, 0) || !await_stop(st, &status)) {
			stop(st, TRUTH_GONE);
			return;
		}
		int sig = WSTOPSIG(status);
		if (st->over || (sig == SIGTRAP && !(status >> 16)))
			return;
		if (status >> 16)
			continue; /* an event: the instruction has not been done or not reported */
		bool fault = sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL;
		if (fault && ptrace(PTRACE_GETSIGINFO, st->tid, 0, &info) == 0 &&
		    info.si_code > 0) {
			ptrace(PTRACE_SINGLESTEP, st->tid, 0, sig); /* into its handler */
			await_stop(st, &status);
			stop(st, TRUTH_FAULT);
			return;
		}
		st->held |= 1ull << (sig - 1);
	}
}

static bool read_regs(const struct stepper *st, struct user_regs_struct *ret)
{
	return ptrace(PTRACE_GETREGS, st->tid, 0, ret) == 0;
}

static void run_steps(struct stepper *st, uint32_t wanted, uint64_t steps)
{
	struct user_regs_struct before, after;
	uint8_t code[16];

	if (!read_regs(st, &before)) {
		stop(st, TRUTH_GONE);
		return;
	}
	for (; !st->over; before = after) {
		struct iovec to = {code, sizeof code},
			     from = {(void *)(uintptr_t)before.rip, sizeof code};
		memset(code, 0, sizeof code);
		process_vm_readv(st->pid, &to, 1, &from, 1, 0);
		step(st);
		if (st->over)
			return;
		if (!read_regs(st, &after))
			stop(st, TRUTH_GONE);
		else if (st->out->steps++ == steps)
			stop(st, TRUTH_STEPS);
		else
			on_insn(st, insn_at(code), &before, &after, wanted);
	}
}

void truth_find(pid_t pid, const struct stack_sample *s, uint32_t callers, uint64_t steps,
		struct truth *ret)
{
	struct sigaction act = {.sa_handler = on_alarm}, old;
	struct itimerval tick = {{0, 300000}, {0, 300000}}, none = {0};
	struct stepper st = {.pid = pid, .tid = s->tid, .s = s, .out = ret};

	*ret = (struct truth){.n = 1, .pcs = {s->regs.r[STACKS_PC]}};
	st.floor = s->regs.r[STACKS_SP];
	sigaction(SIGALRM, &act, &old);
	setitimer(ITIMER_REAL, &tick, NULL);
	if (callers >= TRUTH_MOST)
		callers = TRUTH_MOST - 1;
	if (callers)
		run_steps(&st, callers, steps);
	setitimer(ITIMER_REAL, &none, NULL);
	sigaction(SIGALRM, &old, NULL);
	for (int sig = 1; sig <= 64; sig++)
		if (st.held >> (sig - 1) & 1)
			syscall(SYS_tgkill, pid, s->tid, sig);
}

#else

void truth_find(pid_t pid, const struct stack_sample *s, uint32_t callers, uint64_t steps,
		struct truth *ret)
{
	(void)pid, (void)callers, (void)steps;
	*ret = (struct truth){.end = TRUTH_GONE, .n = 1, .pcs = {s->regs.r[STACKS_PC]}};
}

#endif
