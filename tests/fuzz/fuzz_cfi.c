/*
 * fuzz_cfi: stacks unwound through a hostile program file: its search table, CFI programs,
 * expressions, Go's table, symbols, the rows that go to libunwind, an archive's directory. The
 * first bytes are the stack.
 */
/* seeds: elf elffuzz */
/* made: program */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proc/space.h"
#include "unwind/cfi.h"
#include "unwind/unwind.h"

#define BASE  0x400000000000ull
#define STACK 0x7ffd00000000ull
#define PCS   24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Interesting addresses: where the file's FDEs begin and end. */
struct spots {
	const struct image *image;
	struct cfi *cfi;
	uint64_t at[PCS];
	unsigned n;
};

static void find_spots(void *ctx)
{
	struct spots *s = ctx;
	size_t count = cfi_count(s->cfi);
	for (size_t k = 0; k < count && s->n < PCS; k += count / 8 + 1) {
		struct cfi_fde f;
		if (cfi_nth(s->cfi, k, &f))
			continue;
		s->at[s->n++] = f.start;
		s->at[s->n++] = f.start + (f.end - f.start) / 2;
		s->at[s->n++] = f.end;
	}
}

static void choose_pcs(const uint8_t *elf, size_t size, struct spots *s)
{
	struct image *i;
	if (image_open_bytes(elf, size, &i, NULL))
		return;
	s->image = i;
	s->cfi = cfi_new(i);
	find_spots(s);
	for (unsigned k = 0; k < s->n; k++) { /* run-time address: by file offset */
		uint64_t offset;
		s->at[k] = BASE + (image_offset(i, s->at[k], &offset) ? offset : s->at[k] % size);
	}
	cfi_free(s->cfi);
	image_close(i);
}

static void unwind_one(struct unwinder *u, struct space *space, struct raw_sample *raw, uint64_t pc)
{
	static frame_id frames[200];
	static const uint8_t pcs[] = {[ARCH_X86_64] = 8, [ARCH_AARCH64] = 32, [ARCH_X86] = 8};
	struct unwind_result r;
	for (int arch = ARCH_X86_64; arch <= ARCH_X86; arch++) {
		struct sample_regs regs = {.arch = (enum arch)arch, .mask = UINT64_MAX >> 30};
		for (int k = 0; k < SAMPLE_REGS; k++)
			regs.r[k] = k % 3 ? STACK + (uint64_t)k * 8 : pc + (uint64_t)k;
		regs.r[arch == ARCH_AARCH64 ? 31 : 7] = STACK;
		regs.r[pcs[arch]] = pc;
		raw->regs = &regs;
		unwinder_stack(u, space, 1, raw, frames, 200, &r);
		if (r.nframes > 200 ||
		    (r.cut != CUT_NONE) != (frames[r.nframes - 1] == FRAME_TRUNCATED))
			__builtin_trap();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t stack[64];
	char path[64];
	struct spots spots = {.n = 0};
	if (size < sizeof stack + 64)
		return 0;
	/* Half of the stack's words are made to point into the file. */
	memcpy(stack, data, sizeof stack);
	const uint8_t *elf = data + (memcmp(data, "\177ELF", 4) ? sizeof stack : 0);
	size_t elf_size = size - (size_t)(elf - data);
	choose_pcs(elf, elf_size, &spots);
	for (int k = 0; k < 64; k += 2)
		stack[k] = spots.n ? spots.at[stack[k] % spots.n] + (stack[k] >> 60)
				   : BASE + stack[k] % elf_size;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, elf, elf_size) != (ssize_t)elf_size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct tables *tables = tables_new();
	struct unwind_config config = {.stitch = true, .max_frames = 100};
	struct unwinder *u = unwinder_new(tables, &config);
	struct space *space = space_new(tables, 1);
	struct raw_mmap m = {.start = BASE,
			     .size = (elf_size + 4095) & ~4095ull,
			     .prot = PROT_EXEC,
			     .path = path};
	space_add(space, &m);
	struct raw_sample raw = {.stack = (const uint8_t *)stack,
				 .stack_bytes = sizeof stack,
				 .stack_asked = sizeof stack};
	for (unsigned k = 0; k < spots.n; k++)
		unwind_one(u, space, &raw, spots.at[k]);
	for (unsigned k = 0; k < 4; k++)
		unwind_one(u, space, &raw, BASE + stack[k * 2 + 1] % elf_size);
	space_free(space);
	unwinder_free(u);
	tables_free(tables);
	close(fd);
	return 0;
}
