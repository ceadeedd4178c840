/*
 * timer_regs: a stopped thread's registers in the kernel's own numbering, and system calls that our
 * stop made fail.
 *
 * Most system calls that a stop interrupts are restarted by the kernel itself. Some return EINTR
 * instead (signal(7): waits with a timeout on sockets, epoll, semaphores): on x86-64 those are made
 * again by stepping back onto the instruction, as the kernel does for the others. On aarch64 the
 * first argument is already lost, so there they are only counted. Sampler thread.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "proc/procfs.h"
#include "sample/timer_impl.h"

#define WORDS32(n) ((n) * sizeof(uint32_t))

int timer_regs_read(pid_t tid, struct timer_regs *ret)
{
	struct iovec io = {.iov_base = ret->bytes, .iov_len = sizeof ret->bytes};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &io) != 0)
		return -errno;
	ret->size = io.iov_len;
	return 0;
}

static void put(struct sample_regs *s, unsigned reg, uint64_t value)
{
	s->r[reg] = value;
	s->mask |= (uint64_t)1 << reg;
}

static uint32_t word32(const struct timer_regs *r, size_t i)
{
	uint32_t v;

	memcpy(&v, r->bytes + WORDS32(i), sizeof v);
	return v;
}

/* A signal of the target's own waits to be delivered to this thread: its EINTR is not our doing. */
static bool signal_waits(pid_t pid, pid_t tid)
{
	static const char *const keys[] = {"\nSigPnd:\t", "\nShdPnd:\t", "\nSigBlk:\t"};
	uint64_t set[3];
	char text[4096];

	if (procfs_read(pid, tid, "status", text, sizeof text) <= 0)
		return true;
	for (size_t i = 0; i < 3; i++) {
		const char *p = strstr(text, keys[i]);

		if (!p)
			return true;
		set[i] = strtoull(p + strlen(keys[i]), NULL, 16);
	}
	return (set[0] | set[1]) & ~set[2];
}

static bool read_code(pid_t tid, uint64_t addr, void *buf, size_t size)
{
	struct iovec to = {buf, size}, from = {(void *)(uintptr_t)addr, size};

	return process_vm_readv(tid, &to, 1, &from, 1, 0) == (ssize_t)size;
}

#if defined(__x86_64__)

#include <sys/user.h>

#define SIZE32 WORDS32(17) /* struct user_regs_struct32 of arch/x86 */

enum { X86_AX, X86_BX, X86_CX, X86_DX, X86_SI, X86_DI, X86_BP, X86_SP, X86_IP, X86_R8 = 16 };

void timer_regs_convert(const struct timer_regs *r, struct sample_regs *ret)
{
	/* PERF_REG_X86_* of each word of the 32-bit layout; 0xff: not wanted. */
	static const uint8_t words[] = {X86_BX, X86_CX, X86_DX, X86_SI, X86_DI, X86_BP,
					X86_AX, 0xff,   0xff,   0xff,   0xff,   0xff,
					X86_IP, 0xff,   0xff,   X86_SP};
	const struct user_regs_struct *u = (const void *)r->words;

	*ret = (struct sample_regs){.arch = r->size == SIZE32 ? ARCH_X86 : ARCH_X86_64};
	if (r->size == SIZE32) {
		for (size_t i = 0; i < sizeof words; i++)
			if (words[i] != 0xff)
				put(ret, words[i], word32(r, i));
		return;
	}
	put(ret, X86_AX, u->rax);
	put(ret, X86_BX, u->rbx);
	put(ret, X86_CX, u->rcx);
	put(ret, X86_DX, u->rdx);
	put(ret, X86_SI, u->rsi);
	put(ret, X86_DI, u->rdi);
	put(ret, X86_BP, u->rbp);
	put(ret, X86_SP, u->rsp);
	put(ret, X86_IP, u->rip);
	put(ret, X86_R8, u->r8);
	put(ret, X86_R8 + 1, u->r9);
	put(ret, X86_R8 + 2, u->r10);
	put(ret, X86_R8 + 3, u->r11);
	put(ret, X86_R8 + 4, u->r12);
	put(ret, X86_R8 + 5, u->r13);
	put(ret, X86_R8 + 6, u->r14);
	put(ret, X86_R8 + 7, u->r15);
}

void timer_regs_blocked(uint64_t sp, uint64_t pc, struct sample_regs *ret)
{
	/* Only a 32-bit thread has its stack below 4 GiB. */
	*ret = (struct sample_regs){.arch = sp <= UINT32_MAX ? ARCH_X86 : ARCH_X86_64};
	put(ret, X86_SP, sp);
	put(ret, X86_IP, pc);
}

uint64_t timer_regs_sp(const struct sample_regs *r)
{
	return r->r[X86_SP];
}

uint64_t timer_regs_pc(const struct sample_regs *r)
{
	return r->r[X86_IP];
}

bool timer_regs_fp(const struct sample_regs *r, uint64_t *ret_fp)
{
	*ret_fp = r->r[X86_BP];
	return r->mask >> X86_BP & 1;
}

bool timer_regs_in_call(pid_t tid, const struct timer_regs *r)
{
	const struct user_regs_struct *u = (const void *)r->words;

	(void)tid;
	return (r->size == SIZE32 ? (int32_t)word32(r, 11) : (long)u->orig_rax) >= 0;
}

/*
 * Calls that did nothing yet when they return EINTR, so that making them again is what the program
 * asked for. close is not among them (the descriptor is gone), nor ioctl (who knows).
 */
static bool can_be_made_again(long nr)
{
	static const uint16_t calls[] = {
		SYS_epoll_wait,
		SYS_epoll_pwait,
		SYS_recvfrom,
		SYS_recvmsg,
		SYS_recvmmsg,
		SYS_accept,
		SYS_accept4,
		SYS_connect,
		SYS_sendto,
		SYS_sendmsg,
		SYS_sendmmsg,
		SYS_read,
		SYS_readv,
		SYS_write,
		SYS_writev,
		SYS_pread64,
		SYS_pwrite64,
		SYS_preadv,
		SYS_pwritev,
		SYS_preadv2,
		SYS_pwritev2,
		SYS_rt_sigtimedwait,
		SYS_semop,
		SYS_semtimedop,
		SYS_io_getevents,
		SYS_io_pgetevents,
		SYS_io_uring_enter,
		SYS_msgsnd,
		SYS_msgrcv,
		SYS_mq_timedsend,
		SYS_mq_timedreceive,
		SYS_futex,
		SYS_poll,
		SYS_ppoll,
		SYS_select,
		SYS_pselect6,
		SYS_nanosleep,
		SYS_clock_nanosleep,
		SYS_flock,
		SYS_wait4,
		SYS_waitid,
		SYS_splice,
		SYS_sendfile,
		SYS_pause,
		SYS_rt_sigsuspend,
		441 /* epoll_pwait2 */,
		449 /* futex_waitv */,
		455 /* futex_wait */,
	};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (calls[i] == nr)
			return true;
	return false;
}

static bool made_by_syscall(pid_t tid, uint64_t ip)
{
	uint8_t code[2];

	return read_code(tid, ip - 2, code, 2) && code[0] == 0x0f && code[1] == 0x05;
}

enum timer_restart timer_restart_call(pid_t pid, pid_t tid, struct timer_regs *r)
{
	struct user_regs_struct *u = (void *)r->words;
	struct iovec io = {.iov_base = r->bytes, .iov_len = r->size};
	long result, nr;

	if (r->size == SIZE32) {
		result = (int32_t)word32(r, 6);
		nr = (int32_t)word32(r, 11);
	} else {
		result = (long)u->rax;
		nr = (long)u->orig_rax;
	}
	if (nr < 0 || result != -EINTR || signal_waits(pid, tid))
		return RESTART_NONE;
	if (r->size == SIZE32 || !can_be_made_again(nr) || !made_by_syscall(tid, u->rip))
		return RESTART_LOST;
	u->rip -= 2;
	u->rax = u->orig_rax;
	u->orig_rax = UINT64_MAX; /* no system call: the kernel must not restart it as well */
	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &io) == 0 ? RESTART_DONE : RESTART_LOST;
}

#elif defined(__aarch64__)

enum { ARM64_FP = 29, ARM64_SP = 31, ARM64_PC = 32, ARM64_WORDS = 33 };
enum { ARM_FP = 11, ARM_SP = 13, ARM_PC = 15, ARM_WORDS = 16 };

#define SIZE32 WORDS32(18) /* compat_elf_gregset_t */

void timer_regs_convert(const struct timer_regs *r, struct sample_regs *ret)
{
	bool is32 = r->size == SIZE32;

	*ret = (struct sample_regs){.arch = is32 ? ARCH_ARM : ARCH_AARCH64};
	for (unsigned i = 0; i < (is32 ? ARM_WORDS : ARM64_WORDS); i++)
		put(ret, i, is32 ? word32(r, i) : r->words[i]);
}

void timer_regs_blocked(uint64_t sp, uint64_t pc, struct sample_regs *ret)
{
	bool is32 = sp <= UINT32_MAX;

	*ret = (struct sample_regs){.arch = is32 ? ARCH_ARM : ARCH_AARCH64};
	put(ret, is32 ? ARM_SP : ARM64_SP, sp);
	put(ret, is32 ? ARM_PC : ARM64_PC, pc);
}

uint64_t timer_regs_sp(const struct sample_regs *r)
{
	return r->r[r->arch == ARCH_ARM ? ARM_SP : ARM64_SP];
}

uint64_t timer_regs_pc(const struct sample_regs *r)
{
	return r->r[r->arch == ARCH_ARM ? ARM_PC : ARM64_PC];
}

bool timer_regs_fp(const struct sample_regs *r, uint64_t *ret_fp)
{
	unsigned reg = r->arch == ARCH_ARM ? ARM_FP : ARM64_FP;

	*ret_fp = r->r[reg];
	return r->mask >> reg & 1;
}

bool timer_regs_in_call(pid_t tid, const struct timer_regs *r)
{
	int nr = -1;
	struct iovec io = {.iov_base = &nr, .iov_len = sizeof nr};

	(void)r;
	return ptrace(PTRACE_GETREGSET, tid, NT_ARM_SYSTEM_CALL, &io) == 0 && nr >= 0;
}

enum timer_restart timer_restart_call(pid_t pid, pid_t tid, struct timer_regs *r)
{
	static const uint32_t svc = 0xd4000001; /* svc #0 */
	uint32_t code;

	if (r->size == SIZE32 || (int64_t)r->words[0] != -EINTR ||
	    !read_code(tid, r->words[ARM64_PC] - 4, &code, sizeof code) || code != svc)
		return RESTART_NONE;
	return signal_waits(pid, tid) ? RESTART_NONE : RESTART_LOST;
}

#else
#error "the timer sampler knows x86-64 and aarch64"
#endif
