/* flags: -O1 -g -rdynamic -fno-inline -fno-optimize-sibling-calls -Wno-infinite-recursion */
/*
 * steptrace: a real instruction trace with known truth, in the layout of `perf script
 * --itrace=i0ns`.
 *
 * A child runs a small program one instruction at a time under ptrace; every step becomes a line:
 * comm, pid/tid, cpu, time (10 ns an instruction), event, branch flags, address, symbol+offset.
 * Functions count their own entries; the truth goes to standard error as "calls NAME N", and
 * "instructions N". A second argument names a file for a copy of /proc/self/maps. With a third,
 * "insn", the lines are those of `perf script --insn-trace`. x86-64 only (exit status 77
 * elsewhere).
 */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__
int main(void)
{
	return 77;
}
#else

enum { LEAF, FIB, OUTER, TAIL_FROM, TAIL_TO, HANDLER, JUMPER, DEEP, TRACED, NAMES };
static const char *const names[NAMES] = {"leaf",    "fib",    "outer", "tail_from", "tail_to",
					 "handler", "jumper", "deep",  "traced"};
static volatile uint64_t *calls; /* shared with the parent */
static jmp_buf back;

#define EXPORT       __attribute__((visibility("default"), noinline, noclone))
#define COUNT(which) (calls[which]++)

EXPORT int leaf(int x)
{
	COUNT(LEAF);
	return x * 3 + 1;
}

EXPORT int fib(int n)
{
	COUNT(FIB);
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

EXPORT int outer(int n)
{
	int sum = 0;
	COUNT(OUTER);
	for (int i = 0; i < n; i++)
		sum += leaf(i);
	return sum;
}

EXPORT int tail_to(int x)
{
	COUNT(TAIL_TO);
	return x + leaf(x);
}

__attribute__((optimize("O2", "optimize-sibling-calls"))) EXPORT int tail_from(int x)
{
	COUNT(TAIL_FROM);
	return tail_to(x + 1);
}

EXPORT void handler(int sig)
{
	(void)sig;
	COUNT(HANDLER);
	leaf(sig);
}

EXPORT void jumper(int depth)
{
	COUNT(JUMPER);
	if (depth)
		jumper(depth - 1);
	longjmp(back, 1);
}

EXPORT int deep(int n)
{
	COUNT(DEEP);
	return n ? deep(n - 1) + 1 : leaf(n);
}

EXPORT int traced(int rounds)
{
	volatile int sum = 0, i; /* longjmp comes back here */
	COUNT(TRACED);
	for (i = 0; i < rounds; i++) {
		sum += outer(4) + fib(7) + deep(12);
		sum += tail_from(i);
		sum += atoi("42"); /* through the PLT */
		if (!setjmp(back))
			jumper(3);
		raise(SIGUSR1);
	}
	return sum;
}

/* What kind of branch the bytes at @ip are; the words are perf's. */
static const char *flags_of(const uint8_t *p)
{
	while (*p == 0xf2 || *p == 0xf3 || *p == 0x66 || *p == 0x2e || *p == 0x3e ||
	       (*p & 0xf0) == 0x40)
		p++; /* bnd, notrack, REX, size */
	if (*p == 0xe8 || (*p == 0xff && (p[1] >> 3 & 7) == 2))
		return "call";
	if (*p == 0xc3 || *p == 0xc2)
		return "return";
	if (*p == 0xeb || *p == 0xe9 || (*p == 0xff && (p[1] >> 3 & 7) == 4))
		return "jmp";
	if ((*p & 0xf0) == 0x70 || (*p == 0x0f && (p[1] & 0xf0) == 0x80) ||
	    (*p >= 0xe0 && *p <= 0xe3))
		return "jcc";
	return *p == 0x0f && p[1] == 0x05 ? "syscall" : "";
}

struct place {
	uint64_t ip, offset;
	char name[64];
	const char *flags;
	uint8_t bytes[16];
};

static void find_place(pid_t child, uint64_t ip, struct place *p)
{
	Dl_info info;
	long words[2];
	uint8_t *bytes = p->bytes;
	p->ip = ip;
	errno = 0;
	words[0] = ptrace(PTRACE_PEEKTEXT, child, (void *)ip, NULL);
	words[1] = ptrace(PTRACE_PEEKTEXT, child, (void *)(ip + 8), NULL);
	memcpy(bytes, words, sizeof p->bytes);
	p->flags = flags_of(bytes);
	/* Stubs and local functions go by the name that stands before them, as they do for perf. */
	if (dladdr((void *)ip, &info) && info.dli_sname) {
		snprintf(p->name, sizeof p->name, "%s", info.dli_sname);
		p->offset = ip - (uint64_t)info.dli_saddr;
	} else {
		snprintf(p->name, sizeof p->name, "[unknown]");
		p->offset = ip & 0xfff;
	}
}

#define CACHE 65536
static struct place cache[CACHE];

static void copy_maps(const char *path)
{
	char line[4096];
	FILE *from = fopen("/proc/self/maps", "r"), *to = fopen(path, "w");
	while (from && to && fgets(line, sizeof line, from))
		fputs(line, to);
	if (from)
		fclose(from);
	if (to)
		fclose(to);
}

/* An instruction is as long as the step to the next one, if that is no jump. */
static void print_insn(const struct place *p, pid_t tid, uint64_t ns, uint64_t next)
{
	uint64_t step = next - p->ip, length = step - 1 < 15 ? step : 15;
	printf("%16s %5d [000] %llu.%09llu: %16llx %s+0x%llx (prog) insn:", "steptrace", tid,
	       (unsigned long long)(ns / 1000000000), (unsigned long long)(ns % 1000000000),
	       (unsigned long long)p->ip, p->name, (unsigned long long)p->offset);
	for (uint64_t i = 0; i < length; i++)
		printf(" %02x", p->bytes[i]);
	putchar('\n');
}

int main(int argc, char **argv)
{
	bool as_insn = argc > 3 && !strcmp(argv[3], "insn");
	struct place last = {0};
	int rounds = argc > 1 ? atoi(argv[1]) : 3, status, on = 0;
	uint64_t ns = 1000000000000ull, instructions = 0;
	calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	signal(SIGUSR1, handler);
	if (argc > 2)
		copy_maps(argv[2]);
	pid_t child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		traced(rounds);
		_exit(0);
	}
	waitpid(child, &status, 0);
	int deliver = 0;
	while (!ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(long)deliver) &&
	       waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		deliver = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		if (deliver)
			continue;
		struct user_regs_struct regs;
		ptrace(PTRACE_GETREGS, child, NULL, &regs);
		struct place *p = &cache[regs.rip % CACHE];
		if (p->ip != regs.rip)
			find_place(child, regs.rip, p);
		if (as_insn && on)
			print_insn(&last, child, ns, regs.rip);
		last = *p;
		on |= !strcmp(p->name, "traced");
		if (!on)
			continue;
		if (!strcmp(p->name, "_exit"))
			break;
		instructions++;
		ns += 10;
		if (as_insn)
			continue;
		printf("%16s %5d/%-5d [000] %llu.%09llu: instructions:u: %-21s %16llx %s+0x%llx (prog)\n",
		       "steptrace", child, child, (unsigned long long)(ns / 1000000000),
		       (unsigned long long)(ns % 1000000000), p->flags, (unsigned long long)p->ip,
		       p->name, (unsigned long long)p->offset);
	}
	kill(child, SIGKILL);
	for (int i = 0; i < NAMES; i++)
		fprintf(stderr, "calls %s %llu\n", names[i], (unsigned long long)calls[i]);
	fprintf(stderr, "instructions %llu\n", (unsigned long long)instructions);
	return 0;
}
#endif
