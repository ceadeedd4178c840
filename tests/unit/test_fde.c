/*
 * Finding the unwind description of an address where the linker's search table alone misleads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "elf_maker.h"
#include "unwind/cfi.h"

#define FIRST (MADE_TEXT + 0x100)
#define NEXT  (MADE_TEXT + 0x180)

/* clang's blocks in sections of their own may have no code; their entries begin where others do. */
static void test_empty_entries(void **state)
{
	static const struct made_fde fdes[] = {FDE(FIRST, 0x80, "\x0e\x20"),
					       FDE(NEXT, 0x40, "\x0e\x30"),
					       FDE(NEXT, 0, "\x0e\x40"), FDE(NEXT + 0x40, 0, "")};
	const struct made_elf e = {.machine = EM_X86_64, .fdes = fdes, .nfdes = 4};
	struct image *image;
	struct cfi_fde f;
	struct cfi *c;
	size_t size;
	uint8_t *bytes = elf_bytes(&e, &size);

	(void)state;
	assert_int_equal(image_take_bytes(bytes, size, &image, NULL), 0);
	c = cfi_new(image);
	for (uint64_t at = FIRST; at < NEXT; at += 0x10) {
		assert_int_equal(cfi_find(c, at, &f), 0);
		assert_int_equal(f.start, FIRST);
	}
	for (uint64_t at = NEXT; at < NEXT + 0x40; at += 0x10) {
		assert_int_equal(cfi_find(c, at, &f), 0);
		assert_int_equal(f.start, NEXT);
		assert_int_equal(f.end, NEXT + 0x40);
	}
	assert_int_equal(cfi_find(c, NEXT + 0x40, &f), -ENOENT);
	assert_int_equal(cfi_find(c, FIRST - 1, &f), -ENOENT);
	cfi_free(c);
	image_close(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_entries),
	};

	return cmocka_run_group_tests_name("fde", tests, NULL, NULL);
}
