/*
 * code: recognises the handful of instruction sequences that matter to unwinding.
 *
 * Whoever asks has no better source: assembly without CFI, JIT stubs, C libraries built without.
 * Encodings: Intel SDM volume 2, Arm ARM C6. Pure functions.
 */
#include "unwind/code.h"

#include <string.h>

#include "unwind/flow.h"

static bool starts(const uint8_t *at, size_t size, const char *bytes, size_t n)
{
	return size >= n && memcmp(at, bytes, n) == 0;
}
#define STARTS(at, size, bytes) starts(at, size, bytes, sizeof(bytes) - 1)

static uint32_t insn(const uint8_t *at)
{
	uint32_t v;
	memcpy(&v, at, sizeof v);
	return v;
}

/* mov to rsp from a register or from memory. */
static bool x86_loads_sp(const uint8_t *at)
{
	bool to_rm = at[1] == 0x89 && (at[0] == 0x48 || at[0] == 0x4c) && (at[2] & 0xc7) == 0xc4;
	bool to_reg = at[1] == 0x8b && (at[0] == 0x48 || at[0] == 0x49) && (at[2] & 0x38) == 0x20;
	return to_rm || to_reg;
}

bool code_left_stack(enum arch arch, const uint8_t *at, size_t size)
{
	bool left = false;
	if (arch == ARCH_X86_64)
		for (size_t k = 0; k + 3 <= size; k++)
			left ^= x86_loads_sp(at + k);
	if (arch == ARCH_AARCH64)
		for (size_t k = 0; k + 4 <= size; k += 4) /* mov sp, xN */
			left ^= (insn(at + k) & 0xfffffc1f) == 0x9100001f;
	return left;
}

bool code_is_sigreturn(enum arch arch, const uint8_t *at, size_t size)
{
	if (arch == ARCH_X86_64)
		return STARTS(at, size, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05") || /* mov $15,%rax */
		       STARTS(at, size, "\xb8\x0f\0\0\0\x0f\x05");           /* mov $15,%eax */
	if (arch == ARCH_AARCH64) /* mov x8, #139; svc #0 */
		return STARTS(at, size, "\x68\x11\x80\xd2\x01\0\0\xd4");
	return false;
}

/* A load of 60 into eax or edx (glibc keeps it there round its loop), or al, then syscall soon. */
static bool x86_exits(const uint8_t *at, size_t size)
{
	for (size_t k = 0; k + 2 <= size; k++) {
		bool loads = STARTS(at + k, size - k, "\xb8\x3c\0\0\0") ||
			     STARTS(at + k, size - k, "\xba\x3c\0\0\0") ||
			     STARTS(at + k, size - k, "\xb0\x3c") ||
			     STARTS(at + k, size - k, "\x6a\x3c\x58");
		for (size_t s = k + 2; loads && s + 2 <= size && s < k + 24; s++)
			if (STARTS(at + s, size - s, "\x0f\x05"))
				return true;
	}
	return false;
}

static bool aarch64_exits(const uint8_t *at, size_t size)
{
	for (size_t k = 0; k + 4 <= size; k += 4) {
		if (insn(at + k) != 0xd2800ba8 && insn(at + k) != 0x52800ba8) /* mov x8|w8, #93 */
			continue;
		for (size_t s = k + 4; s + 4 <= size && s < k + 24; s += 4)
			if (insn(at + s) == 0xd4000001) /* svc #0 */
				return true;
	}
	return false;
}

bool code_exits_thread(enum arch arch, const uint8_t *at, size_t size)
{
	if (arch == ARCH_X86_64)
		return x86_exits(at, size);
	return arch == ARCH_AARCH64 && aarch64_exits(at, size);
}

/* At the first instruction of a function or of a PLT's stub nothing was pushed yet. */
static bool x86_begins(const uint8_t *at, size_t size)
{
	return STARTS(at, size, "\x55") ||                   /* push %rbp */
	       STARTS(at, size, "\xf3\x0f\x1e\xfa") ||       /* endbr64 */
	       (size > 5 && at[0] == 0x68 && at[5] == 0xe9); /* push $n; jmp: not bound yet */
}

static bool x86_guess(const uint8_t *code, size_t size, size_t at, struct row *ret_row)
{
	const uint8_t *here = code + at;
	size_t ahead = size - at;
	struct row row = {.cfa = ROW_SP, .flags = ROW_GUESSED, .cfa_off = 8, .ra_off = -8};
	bool pushed = at >= 1 && here[-1] == 0x55 && /* mov %rsp,%rbp after the push */
		      (STARTS(here, ahead, "\x48\x89\xe5") || STARTS(here, ahead, "\x48\x8b\xec"));
	if (pushed) {
		row.cfa_off = 16;
		row.flags |= ROW_FP_SAVED;
		row.fp_off = -16;
	} else if (!x86_begins(here, ahead)) {
		return flow_row(code, size, at, false, ret_row);
	}
	*ret_row = row;
	return true;
}

static bool aarch64_guess(const uint8_t *at, size_t size, struct row *ret_row)
{
	if (size < 4)
		return false;
	uint32_t i = insn(at);
	bool fresh = i == 0xd65f03c0 ||                    /* ret */
		     (i & 0xffc07fff) == 0xa9807bfd ||     /* stp x29, x30, [sp, #-n]! */
		     i == 0xd503233f || i == 0xd503237f || /* paciasp, pacibsp */
		     (i & 0xffffff3f) == 0xd503241f;       /* bti */
	if (fresh)
		*ret_row = (struct row){.cfa = ROW_SP, .flags = ROW_RA_REG | ROW_GUESSED};
	return fresh;
}

bool code_guess_row(enum arch arch, const uint8_t *code, size_t size, size_t at,
		    struct row *ret_row)
{
	if (at >= size)
		return false;
	if (arch == ARCH_X86_64)
		return x86_guess(code, size, at, ret_row);
	return arch == ARCH_AARCH64 && aarch64_guess(code + at, size - at, ret_row);
}

bool code_guess_caller(enum arch arch, const uint8_t *code, size_t size, size_t at,
		       struct row *ret_row)
{
	return at < size && arch == ARCH_X86_64 && flow_row(code, size, at, true, ret_row);
}
