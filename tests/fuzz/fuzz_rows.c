/*
 * fuzz_rows: any bytes as the call frame instructions of three functions, between which a stack
 * goes to and fro; among them expressions that only libunwind may do.
 */
/* seeds: rows */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/elf_maker.c"
#include "proc/space.h"
#include "unwind/unwind.h"

#define BASE  0x400000000000ull
#define STACK 0x7ffd00000000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static frame_id frames[200];
	struct made_fde fdes[3];
	size_t elf_size, third = size / 3;
	uint64_t stack[64];
	struct unwind_result r;
	char path[64];
	if (size < 8 || size > 3000)
		return 0;
	for (size_t k = 0; k < 3; k++)
		fdes[k] = (struct made_fde){MADE_TEXT + 0x100 * (k + 1), 0x80,
					    (const char *)data + k * third, third, data[k] & 1};
	struct made_elf e = {.machine = data[3] & 1 ? EM_AARCH64 : EM_X86_64,
			     .fdes = fdes,
			     .nfdes = 3,
			     .debug_frame = data[3] & 2};
	uint8_t *elf = elf_bytes(&e, &elf_size);
	for (unsigned k = 0; k < 64; k++) /* return addresses, and places on the stack */
		stack[k] = k % 3 ? BASE + 0x100 * (1 + k % 3) + (data[k % size] & 0x7f)
				 : STACK + data[k % size] * 2u;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, elf, elf_size) != (ssize_t)elf_size)
		abort();
	free(elf);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct tables *tables = tables_new();
	struct unwind_config config = {.max_frames = 100, .stitch = true};
	struct unwinder *u = unwinder_new(tables, &config);
	struct space *space = space_new(tables, 1);
	struct raw_mmap m = {.start = BASE,
			     .size = MADE_TEXT_SIZE,
			     .pgoff = MADE_TEXT_OFFSET,
			     .prot = PROT_EXEC,
			     .path = path};
	space_add(space, &m);
	struct sample_regs regs = {.arch = data[3] & 1 ? ARCH_AARCH64 : ARCH_X86_64,
				   .mask = UINT64_MAX >> 30};
	for (unsigned k = 0; k < SAMPLE_REGS; k++)
		regs.r[k] = stack[k];
	regs.r[data[3] & 1 ? 31 : 7] = STACK;
	struct raw_sample raw = {.regs = &regs,
				 .stack = (const uint8_t *)stack,
				 .stack_bytes = sizeof stack,
				 .stack_asked = sizeof stack};
	for (uint64_t k = 0; k < 3; k++) {
		regs.r[data[3] & 1 ? 32 : 8] = BASE + 0x100 * (k + 1) + (data[4 + k] & 0x7f);
		unwinder_stack(u, space, 1, &raw, frames, 200, &r);
		if (r.nframes > 200)
			__builtin_trap();
	}
	space_free(space);
	unwinder_free(u);
	tables_free(tables);
	close(fd);
	return 0;
}
