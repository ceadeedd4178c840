/*
 * symtab: which symbol an address has, on a program written in assembler for the purpose, and on
 * the C library with nm as oracle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "symbol/fde.h"
#include "symbol/symtab.h"

static const char program[] =
	"	.text\n"
	"	.globl base\n"
	"base:	.zero 16\n"
	/* 0x10: a function with a hole behind it */
	"	.type sized, %function\n	.size sized, 8\n"
	"sized:	.zero 8\n"
	"	.zero 8\n"
	/* 0x20: three names of one address */
	"	.type local_name, %function\n	.size local_name, 16\n"
	"	.type weak_name, %function\n	.weak weak_name\n	.size weak_name, 16\n"
	"	.type global_name, %function\n	.globl global_name\n	.size global_name, 16\n"
	"local_name:\nweak_name:\nglobal_name:\n"
	"	.zero 16\n"
	/* 0x30: a label inside a function, and a small function inside a large one */
	"	.type outer, %function\n	.globl outer\n	.size outer, 32\n"
	"outer:	.zero 8\n"
	"label:	.zero 8\n"
	"	.type inner, %function\n	.globl inner\n	.size inner, 4\n"
	"inner:	.zero 16\n"
	/* 0x50: sizeless to the end of the section; a label and a function at once */
	"	.type func_here, %function\n"
	"label_here:\nfunc_here:\n"
	"	.zero 16\n"
	"	.data\n"
	"	.globl object\n"
	"object:	.zero 64\n"
	"	.section .note.GNU-stack,\"\",%progbits\n";

static uint64_t base_of(const struct symtab *t)
{
	struct symbol s;

	for (size_t i = 0; i < t->entries.len; i++)
		if (symtab_find(t, t->entries.data[i].start, &s) && !strcmp(s.name, "base"))
			return s.start;
	fail_msg("no symbol called base");
	return 0;
}

static void assert_name(const struct symtab *t, uint64_t addr, const char *name)
{
	struct symbol s;

	if (!name) {
		assert_false(symtab_find(t, addr, &s));
		return;
	}
	assert_true(symtab_find(t, addr, &s));
	assert_string_equal(s.name, name);
	assert_true(addr >= s.start && addr < s.end);
}

static void test_rules(void **state)
{
	char dir[] = "/tmp/altpttop-symtab-XXXXXX", path[128], command[256];
	struct image *image;
	struct symtab t;
	uint64_t base;
	FILE *f;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/x.s", dir);
	f = fopen(path, "we");
	fputs(program, f);
	fclose(f);
	snprintf(command, sizeof command,
		 "cd %s && ${CC:-gcc} -nostdlib -shared -o x.so x.s 2>/dev/null", dir);
	fd = system(command);
	snprintf(path, sizeof path, "%s/x.so", dir);
	if (fd || (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) {
		print_message("skipped: no assembler here\n");
		skip();
	}
	assert_int_equal(image_open(fd, 0, &image, NULL), 0);
	close(fd);
	symtab_init(&t);
	assert_int_equal(symtab_add(&t, image, 0), 0);
	assert_int_equal(symtab_sort(&t), 0);
	assert_true(t.full);
	base = base_of(&t);
	assert_name(&t, base - 1, NULL);
	assert_name(&t, base + 0xf, "base"); /* no size: to the next symbol */
	assert_name(&t, base + 0x10, "sized");
	assert_name(&t, base + 0x17, "sized");
	assert_name(&t, base + 0x18, NULL); /* st_size counts */
	assert_name(&t, base + 0x20, "global_name");
	assert_name(&t, base + 0x38, "outer"); /* not the label */
	assert_name(&t, base + 0x40, "inner");
	assert_name(&t, base + 0x43, "inner");
	assert_name(&t, base + 0x44, "outer"); /* behind the inner one */
	assert_name(&t, base + 0x50, "func_here");
	assert_name(&t, base + 0x5f, "func_here");
	assert_name(&t, base + 0x60, NULL); /* the section's end */
	assert_int_equal(symtab_next(&t, base + 0x10), base + 0x20);
	assert_int_equal(symtab_start_of(&t, "global_name"), base + 0x20);
	assert_int_equal(symtab_start_of(&t, "inner"), base + 0x40);
	assert_int_equal(symtab_start_of(&t, "nobody"), 0);
	for (size_t i = 0; i < t.entries.len; i++) {
		struct symbol s;

		assert_true(symtab_find(&t, t.entries.data[i].start, &s));
		assert_string_not_equal(s.name, "object");
	}
	symtab_fini(&t);
	image_close(image);
	snprintf(command, sizeof command, "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

static struct image *libc_image(char path[4096])
{
	struct image *image;
	Dl_info info;
	int fd;

	assert_true(dladdr(dlsym(RTLD_DEFAULT, "argz_create"), &info));
	assert_non_null(realpath(info.dli_fname, path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(image_open(fd, 0, &image, NULL), 0);
	close(fd);
	return image;
}

/* Each function that nm tells of is found at its own address, under one of its names. */
static void test_nm(void **state)
{
	char path[4096], command[4200], line[512], name[256], type;
	struct image *image = libc_image(path);
	unsigned seen = 0, same = 0;
	struct symtab t;
	struct symbol s;
	uint64_t addr;
	FILE *f;

	(void)state;
	symtab_init(&t);
	assert_int_equal(symtab_add(&t, image, 0), 0);
	assert_int_equal(symtab_sort(&t), 0);
	snprintf(command, sizeof command, "nm -D --defined-only '%s'", path);
	f = popen(command, "re");
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%" SCNx64 " %c %255s", &addr, &type, name) != 3 ||
		    !strchr("TWi", type))
			continue;
		assert_true(symtab_find(&t, addr, &s));
		assert_int_equal(s.start, addr);
		same += !strncmp(s.name, name, strcspn(name, "@"));
		seen++;
	}
	if (pclose(f) || !seen) {
		print_message("skipped: no nm here\n");
		skip();
	}
	print_message("%u functions, %u under the very name (others are aliases)\n", seen, same);
	assert_true(same > seen / 2);
	symtab_fini(&t);
	image_close(image);
}

/* Frame entries of the C library: each holds its start and its last byte. */
#ifdef __x86_64__
static void ignore(int signo)
{
	(void)signo;
}
#endif

static void test_fde(void **state)
{
	char path[4096];
	struct image *image = libc_image(path);
	Dl_info info;
	uint64_t start, end, addr;
	bool signal;

	(void)state;
	assert_true(dladdr(dlsym(RTLD_DEFAULT, "argz_create"), &info));
	addr = (uintptr_t)info.dli_saddr - (uintptr_t)info.dli_fbase;
	assert_true(fde_find(image, addr + 5, &start, &end, &signal));
	assert_int_equal(start, addr);
	assert_true(end > addr + 5);
	assert_false(signal);
	assert_false(fde_find(image, 0, &start, &end, &signal));
	assert_false(fde_find(image, UINT64_MAX, &start, &end, &signal));
#ifdef __x86_64__ /* elsewhere the vDSO has it */
	/* Where signal handlers return to: the C library tells the kernel alone. */
	struct { /* asm/signal.h: as the kernel has it */
		uint64_t handler, flags, restorer, mask;
	} action = {0};
	assert_int_equal(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = ignore}, NULL), 0);
	assert_int_equal(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &action, 8), 0);
	addr = action.restorer - (uintptr_t)info.dli_fbase;
	assert_true(fde_find(image, addr, &start, &end, &signal));
	assert_true(signal);
#endif
	image_close(image);
}

/* Stubs are named after what they lead to. */
static void test_plt(void **state)
{
	char path[4096];
	struct image *image = libc_image(path);
	struct symtab t;
	struct symbol s;
	unsigned named = 0;

	(void)state;
	symtab_init(&t);
	assert_int_equal(symtab_add_plt(&t, image), 0);
	assert_int_equal(symtab_sort(&t), 0);
	for (size_t i = 0; i < t.entries.len; i++) {
		assert_true(symtab_find(&t, t.entries.data[i].start, &s));
		assert_non_null(strstr(s.name, "@plt"));
		named++;
	}
	print_message("%u stubs\n", named);
	assert_true(named >= 1);
	symtab_fini(&t);
	image_close(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_nm),
		cmocka_unit_test(test_fde),
		cmocka_unit_test(test_plt),
	};

	return cmocka_run_group_tests_name("symtab", tests, NULL, NULL);
}
