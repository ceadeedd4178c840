/*
 * A debug file of 1 GB (sparse: 4,000 units of 256 KiB, nearly all of it one block): the first name
 * with its line of code does not stall, and asking in 1,000 units does not bloat.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dwarf.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbol/resolver.h"

#define UNITS      4000u
#define UNIT_BYTES (256u << 10)
#define INFO_AT    65536u
#define CODE       0x400000u
#define REACH      0x1000u /* code addresses of a unit */
#define MIB        (1l << 20)

static char path[] = "/tmp/altpttop-huge-XXXXXX";

static void put(int fd, const void *bytes, size_t n, uint64_t at)
{
	assert_int_equal(pwrite(fd, bytes, n, (off_t)at), n);
}

static const uint8_t abbrevs[] = {1,
				  DW_TAG_compile_unit,
				  1,
				  DW_AT_name,
				  DW_FORM_string,
				  DW_AT_language,
				  DW_FORM_data1,
				  DW_AT_low_pc,
				  DW_FORM_addr,
				  DW_AT_high_pc,
				  DW_FORM_data8,
				  0,
				  0,
				  2,
				  DW_TAG_subprogram,
				  0,
				  DW_AT_name,
				  DW_FORM_string,
				  DW_AT_low_pc,
				  DW_FORM_addr,
				  DW_AT_high_pc,
				  DW_FORM_data8,
				  0,
				  0,
				  3,
				  DW_TAG_variable,
				  0,
				  DW_AT_const_value,
				  DW_FORM_block4,
				  0,
				  0,
				  0};

/* One unit: its root, one function, a block that fills it. */
static void put_unit(int fd, uint32_t i)
{
	uint8_t b[128], *p = b;
	uint64_t at = INFO_AT + (uint64_t)i * UNIT_BYTES, low = CODE + (uint64_t)i * REACH;
	uint32_t length = UNIT_BYTES - 4, block;
	uint64_t high = REACH, size = REACH / 2;

	memcpy(p, &length, 4);
	memcpy(p + 4, "\5\0\1\10\0\0\0\0", 8); /* DWARF 5, compile unit, 8-byte addresses */
	p += 12;
	p += sprintf((char *)p, "%cunit%u.c", 1, i) + 1;
	*p++ = DW_LANG_C11;
	memcpy(p, &low, 8);
	memcpy(p + 8, &high, 8);
	p += 16;
	p += sprintf((char *)p, "%cfunction%u", 2, i) + 1;
	memcpy(p, &low, 8);
	memcpy(p + 8, &size, 8);
	p += 16;
	*p++ = 3;
	block = UNIT_BYTES - (uint32_t)(p + 4 - b) - 1; /* the unit's end is a null entry */
	memcpy(p, &block, 4);
	put(fd, b, (size_t)(p + 4 - b), at);
}

static void make(void)
{
	static const char names[] = "\0.shstrtab\0.text\0.debug_abbrev\0.debug_info";
	const uint64_t info = (uint64_t)UNITS * UNIT_BYTES, heads = INFO_AT + info;
	Elf64_Shdr s[5] = {
		{0},
		{.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = 4096, .sh_size = sizeof names},
		{.sh_name = 11,
		 .sh_type = SHT_NOBITS,
		 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		 .sh_addr = CODE,
		 .sh_offset = 8192,
		 .sh_size = (uint64_t)UNITS * REACH},
		{.sh_name = 17,
		 .sh_type = SHT_PROGBITS,
		 .sh_offset = 8192,
		 .sh_size = sizeof abbrevs},
		{.sh_name = 31, .sh_type = SHT_PROGBITS, .sh_offset = INFO_AT, .sh_size = info}};
	Elf64_Phdr load = {.p_type = PT_LOAD,
			   .p_flags = PF_R | PF_X,
			   .p_vaddr = CODE,
			   .p_memsz = (uint64_t)UNITS * REACH};
	Elf64_Ehdr e = {.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof e,
			.e_shoff = heads,
			.e_ehsize = sizeof e,
			.e_phentsize = sizeof load,
			.e_phnum = 1,
			.e_shentsize = sizeof *s,
			.e_shnum = 5,
			.e_shstrndx = 1};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	memcpy(e.e_ident, ELFMAG "\2\1\1", 7);
	put(fd, &e, sizeof e, 0);
	put(fd, &load, sizeof load, sizeof e);
	put(fd, names, sizeof names, 4096);
	put(fd, abbrevs, sizeof abbrevs, 8192);
	for (uint32_t i = 0; i < UNITS; i++)
		put_unit(fd, i);
	put(fd, s, sizeof s, heads);
	close(fd);
}

static long peak(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss * 1024;
}

static void ask(struct tables *t, struct resolver *r, module_id module, uint32_t unit)
{
	struct frame f = {.module = module, .addr = CODE + (uint64_t)unit * REACH + 0x40};
	frame_id id = tables_frame(t, &f);
	char name[32];

	resolver_now(r, id);
	snprintf(name, sizeof name, "function%u", unit);
	assert_string_equal(
		tables_text(t, tables_func_get(t, tables_loc(t, id)->lines[0].func)->name), name);
}

static void test_huge(void **state)
{
	struct resolver_config config = {.debug_dirs = ":"};
	struct module m = {.kind = MODULE_FILE};
	struct tables *t = tables_new();
	struct resolver *r = resolver_new(t, &config, NULL);
	long before;
	uint64_t start;
	module_id module;

	(void)state;
	make();
	m.path = m.name = tables_str(t, path);
	module = tables_module(t, &m);
	before = peak();
	start = clock_thread_cpu_ns();
	ask(t, r, module, 2345);
	print_message("first: %.0f ms, %.0f MiB\n", (double)(clock_thread_cpu_ns() - start) / 1e6,
		      (double)(peak() - before) / MIB);
	assert_true(clock_thread_cpu_ns() - start < 1000000000ull);
	assert_true(peak() - before < 100 * MIB);
	for (uint32_t i = 0; i < 1000; i++)
		ask(t, r, module, i * 4 + 1);
	print_message("1,001: %.0f ms, %.0f MiB\n", (double)(clock_thread_cpu_ns() - start) / 1e6,
		      (double)(peak() - before) / MIB);
	assert_true(clock_thread_cpu_ns() - start < 5000000000ull);
	assert_true(peak() - before < 300 * MIB);
	resolver_free(r);
	tables_free(t);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_huge),
	};

	return cmocka_run_group_tests_name("symbol_huge", tests, NULL, NULL);
}
