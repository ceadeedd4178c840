/*
 * regs: the register tables of each architecture.
 *
 * DWARF numbers: System V ABI AMD64 supplement figure 3.36, i386 supplement figure 2.14, DWARF for
 * the Arm 64-bit Architecture section 4.1. PERF_REG_*: asm/perf_regs.h of the kernel.
 */
#include "unwind/regs.h"

static const uint8_t x86_64_perf[] = {
	0 /* rax */, 3 /* rdx */, 2 /* rcx */, 1 /* rbx */,  4 /* rsi */, 5 /* rdi */,
	6 /* rbp */, 7 /* rsp */, 16 /* r8 */, 17,           18,          19,
	20,          21,          22,          23 /* r15 */, 8 /* rip */,
};

static const uint8_t x86_perf[] = {
	0 /* eax */, 2 /* ecx */, 3 /* edx */, 1 /* ebx */, 7 /* esp */,
	6 /* ebp */, 4 /* esi */, 5 /* edi */, 8 /* eip */,
};

static const uint8_t aarch64_perf[] = {
	0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,          15,          16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 /* sp */, 32 /* pc */,
};

static const struct regs_arch arches[] = {
	{ARCH_X86_64, 8, sizeof x86_64_perf, 7, 6, 16, REGS_MAX, UINT64_MAX, x86_64_perf},
	/* 48 bits of address by default, 52 only where a program asks for them by hint; the code of
	 * pointer authentication lies above (Arm ARM, D8.8). */
	{ARCH_AARCH64, 8, sizeof aarch64_perf, 31, 29, 32, 30, ((uint64_t)1 << 48) - 1,
	 aarch64_perf},
	{ARCH_X86, 4, sizeof x86_perf, 4, 5, 8, REGS_MAX, UINT32_MAX, x86_perf},
};

const struct regs_arch *regs_arch_get(enum arch arch)
{
	for (size_t k = 0; k < sizeof arches / sizeof *arches; k++)
		if (arches[k].arch == arch)
			return &arches[k];
	return NULL;
}
