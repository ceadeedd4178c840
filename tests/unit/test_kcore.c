/* kcore: bytes of the kernel's memory image by address, and a sentence where there are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/kcore.h"

#define TEXT 0xffffffff81000000ull
#define SIZE 4096

static char path[] = "/tmp/altpttop-kcore-XXXXXX";

/* A core file with a hole in front, and code that counts up. */
static void make(size_t bytes)
{
	Elf64_Ehdr head = {.e_phoff = sizeof head, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2};
	Elf64_Phdr segments[2] = {
		{.p_type = PT_LOAD,
		 .p_vaddr = 0xffff888000000000ull,
		 .p_memsz = 64,
		 .p_offset = 256},
		{.p_type = PT_LOAD, .p_vaddr = TEXT, .p_memsz = SIZE, .p_offset = 8192}};
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	fwrite(&head, sizeof head, 1, f);
	fwrite(segments, sizeof segments, 1, f);
	fseek(f, 8192, SEEK_SET);
	for (size_t i = 0; i < bytes; i++)
		fputc((int)(i & 0xff), f);
	fclose(f);
}

static int setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static int ask(uint64_t addr, uint8_t *dst, size_t size, char why[200])
{
	why[0] = '\0';
	return kcore_read(path, addr, dst, size, why, 200);
}

static void test_reads(void **state)
{
	uint8_t code[16];
	char why[200];

	(void)state;
	make(SIZE);
	assert_int_equal(ask(TEXT + 0x120, code, sizeof code, why), 0);
	assert_string_equal(why, "");
	for (int i = 0; i < 16; i++)
		assert_int_equal(code[i], 0x20 + i);
	assert_int_equal(ask(TEXT + SIZE - 16, code, 16, why), 0);
}

static void test_says_why_not(void **state)
{
	uint8_t code[16];
	char why[200];

	(void)state;
	make(SIZE);
	assert_int_equal(ask(TEXT + SIZE - 8, code, 16, why), -ENOENT); /* beyond its end */
	assert_non_null(strstr(why, "does not hold it"));
	assert_int_equal(ask(TEXT - 8, code, 16, why), -ENOENT);
	assert_int_equal(ask(UINT64_MAX - 3, code, 16, why), -ENOENT);
	make(100); /* shorter than it says */
	assert_int_equal(ask(TEXT + 96, code, 16, why), -EIO);
	assert_non_null(strstr(why, "ends early"));
	assert_int_equal(truncate(path, 30), 0);
	assert_int_equal(ask(TEXT, code, 16, why), -EBADMSG);
	assert_non_null(strstr(why, "makes no sense"));
	assert_int_equal(kcore_read("/nonexistent/kcore", TEXT, code, 16, why, sizeof why),
			 -ENOENT);
	assert_non_null(strstr(why, "built without it"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_says_why_not),
	};

	return cmocka_run_group_tests_name("kcore", tests, setup, teardown);
}
