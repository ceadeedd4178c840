/*
 * Forms of DWARF that compilers here seldom write, assembled by hand: DWARF 5's own supplements,
 * code that several units claim, split units beside a file table that is not theirs,
 * units that have lines alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/resolver.h"

static char tmp[64];

static int setup(void **state)
{
	(void)state;
	strcpy(tmp, "/tmp/altpttop-forms-XXXXXX");
	return mkdtemp(tmp) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", tmp);
	return system(command);
}

/* Assemble @text to @file; @finish is a command line that makes of x.o what is wanted. */
static void assemble(const char *text, const char *finish)
{
	char path[128], command[1024];
	FILE *f;

	snprintf(path, sizeof path, "%s/x.s", tmp);
	f = fopen(path, "we");
	assert_non_null(f);
	fprintf(f, "%s\n	.section .note.GNU-stack,\"\",%%progbits\n", text);
	fclose(f);
	snprintf(command, sizeof command, "cd %s && ${CC:-gcc} -c -o x.o x.s && %s", tmp, finish);
	if (system(command)) {
		print_message("skipped: no assembler here\n");
		skip();
	}
}

#define LINK \
	"${CC:-gcc} -nostdlib -shared -o x.so x.o && nm x.so | awk '$3 == \"victim\" { print $1 }' " \
	"> addr"

struct prog {
	struct tables *t;
	struct resolver *r;
	module_id module;
	uint64_t addr;
};

static struct prog prog_open(void)
{
	struct resolver_config config = {.debug_dirs = ":"};
	struct module m = {.kind = MODULE_FILE};
	struct prog p = {.t = tables_new()};
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/addr", tmp);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lx", &p.addr), 1);
	fclose(f);
	p.r = resolver_new(p.t, &config, NULL);
	snprintf(path, sizeof path, "%s/x.so", tmp);
	m.path = tables_str(p.t, path);
	m.name = tables_str(p.t, "x.so");
	p.module = tables_module(p.t, &m);
	return p;
}

static void prog_close(struct prog *p)
{
	resolver_free(p->r);
	tables_free(p->t);
}

/* All frames at victim + @offset, innermost first: "a:3 b:7"; the line is 0 where none is known. */
static const char *chain(struct prog *p, uint64_t offset)
{
	struct frame f = {.module = p->module, .addr = p->addr + offset};
	frame_id frame = tables_frame(p->t, &f);
	const struct loc *l;
	static char text[1024];
	size_t len = 0;

	resolver_now(p->r, frame);
	l = tables_loc(p->t, frame);
	assert_non_null(l);
	text[0] = '\0';
	for (uint32_t i = 0; i < l->n && len < sizeof text - 100; i++)
		len += (size_t)snprintf(
			text + len, sizeof text - len, "%s%.60s:%u", i ? " " : "",
			tables_text(p->t, tables_func_get(p->t, l->lines[i].func)->name),
			l->lines[i].line);
	return text;
}

/* The file of frame @i at victim + @offset. */
static const char *file_at(struct prog *p, uint64_t offset, uint32_t i)
{
	struct frame f = {.module = p->module, .addr = p->addr + offset};
	const struct loc *l = tables_loc(p->t, tables_frame(p->t, &f));
	const char *path, *slash;

	assert_true(i < l->n);
	path = tables_text(p->t, l->lines[i].file);
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

#define CODE \
	"	.text\n	.globl victim\n	.type victim, %function\n" \
	"victim:	.zero 16\n	.size victim, 16\n"

/* ---- supplements ---- */

static void test_supplement(void **state)
{
	struct prog p;

	(void)state;
	assemble("	.section .debug_abbrev,\"\",%progbits\n"
		 "	.byte 1,0x3c,1, 0,0\n"      /* partial unit */
		 "	.byte 2,0x2e,0, 3,8, 0,0\n" /* function: name */
		 "	.byte 0\n"
		 "	.section .debug_info,\"\",%progbits\n"
		 "1:	.long 3f - 2f\n2:	.short 5\n	.byte 3,8\n	.long 0\n"
		 "	.byte 1\n	.byte 2\n	.asciz \"borrowed\"\n	.byte 0\n3:\n"
		 "	.section .debug_sup,\"\",%progbits\n"
		 "	.short 5\n	.byte 1,0,4\n	.ascii \"SUM1\"\n",
		 "mv x.o sup.debug");
	assemble(
		CODE
		"	.section .debug_abbrev,\"\",%progbits\n"
		"	.byte 1,0x11,1, 0x11,1, 0x12,7, 0,0\n"
		"	.byte 2,0x2e,1, 3,8, 0x11,1, 0x12,7, 0,0\n"
		"	.byte 3,0x1d,0, 0x31,0x1c, 0x11,1, 0x12,7, 0x59,0x0b, 0,0\n" /* ref_sup4 */
		"	.byte 0\n"
		"	.section .debug_info,\"\",%progbits\n"
		"	.long 3f - 2f\n2:	.short 5\n	.byte 1,8\n	.long 0\n"
		"	.byte 1\n	.quad victim, 16\n"
		"	.byte 2\n	.asciz \"victim\"\n	.quad victim, 16\n"
		"	.byte 3\n	.long 13\n	.quad victim + 4, 4\n	.byte 77\n"
		"	.byte 0, 0\n3:\n"
		"	.section .debug_sup,\"\",%progbits\n"
		"	.short 5\n	.byte 0\n	.asciz \"sup.debug\"\n	.byte 4\n	.ascii \"SUM1\"\n",
		LINK);
	p = prog_open();
	assert_string_equal(chain(&p, 5), "borrowed:0 victim:77");
	assert_string_equal(chain(&p, 1), "victim:0");
	prog_close(&p);
}

/* ---- code that linkers folded ---- */

static void test_claimed_twice(void **state)
{
	struct prog p;

	(void)state;
	/* Two units, of the same code; the linker kept the first one's. */
	assemble(
		CODE
		"	.section .debug_abbrev,\"\",%progbits\n"
		"	.byte 1,0x11,1, 0x11,1, 0x12,7, 0,0\n"
		"	.byte 2,0x2e,1, 3,8, 0x11,1, 0x12,7, 0,0\n"
		"	.byte 3,0x1d,0, 3,8, 0x11,1, 0x12,7, 0x59,0x0b, 0,0\n"
		"	.byte 0\n"
		"	.macro unit name line\n"
		"	.long 3f - 2f\n2:	.short 5\n	.byte 1,8\n	.long 0\n"
		"	.byte 1\n	.quad victim, 16\n"
		"	.byte 2\n	.asciz \"victim\"\n	.quad victim, 16\n"
		"	.byte 3\n	.asciz \"\\name\"\n	.quad victim, 16\n	.byte \\line\n"
		"	.byte 0, 0\n3:\n"
		"	.endm\n"
		"	.section .debug_info,\"\",%progbits\n"
		"	unit kept 7\n	unit folded 8\n	unit folded 9\n",
		LINK);
	p = prog_open();
	assert_string_equal(chain(&p, 5), "kept:0 victim:7");
	prog_close(&p);
}

/* ---- units that do not tell where they are ---- */

/* As assemblers wrote of several sections: a root entry with lines, no range, no function. */
static void test_lines_alone(void **state)
{
	struct prog p;

	(void)state;
	assemble("	.file 1 \"own.s\"\n	.text\n	.globl victim\n"
		 "	.type victim, %function\nvictim:	.loc 1 3\n	nop\n	.zero 15\n"
		 "	.size victim, 16\n"
		 "	.section .debug_abbrev,\"\",%progbits\n"
		 "	.byte 1,0x11,0, 0x10,0x17, 0,0\n	.byte 0\n"
		 "	.section .debug_line,\"\",%progbits\nlines:\n"
		 "	.section .debug_info,\"\",%progbits\n"
		 "	.long 3f - 2f\n2:	.short 5\n	.byte 1,8\n	.long 0\n"
		 "	.byte 1\n	.long lines\n3:\n",
		 LINK);
	p = prog_open();
	assert_string_equal(chain(&p, 1), "victim:3");
	assert_string_equal(file_at(&p, 1, 0), "own.s");
	prog_close(&p);
}

/* ---- split units ---- */

/* clang's type units have a file table in the .dwo; the functions' files are the skeleton's. */
static void test_split_files(void **state)
{
	struct prog p;

	(void)state;
	assemble(
		"	.section .debug_abbrev.dwo,\"e\",%progbits\n"
		"	.byte 1,0x11,1, 0,0\n"
		"	.byte 2,0x2e,1, 3,8, 0x11,0x1b, 0x12,7, 0,0\n" /* low: addrx */
		"	.byte 3,0x1d,0, 3,8, 0x11,0x1b, 0x12,7, 0x58,0x0b, 0x59,0x0b, 0,0\n"
		"	.byte 0\n"
		"	.section .debug_info.dwo,\"e\",%progbits\n"
		"	.long 3f - 2f\n2:	.short 5\n	.byte 5,8\n	.long 0\n	.quad 0x1234567\n"
		"	.byte 1\n	.byte 2\n	.asciz \"victim\"\n	.byte 0\n	.quad 16\n"
		"	.byte 3\n	.asciz \"inner\"\n	.byte 0\n	.quad 8\n	.byte 1, 5\n"
		"	.byte 0, 0\n3:\n"
		"	.section .debug_line.dwo,\"e\",%progbits\n"
		"	.long 3f - 2f\n2:	.short 4\n	.long 3f - 1f\n1:	.byte 1,1,1,-5,14,13\n"
		"	.byte 0,1,1,1,1,0,0,0,1,0,0,1\n	.byte 0\n"
		"	.asciz \"types.h\"\n	.byte 0,0,0, 0\n3:\n",
		"mv x.o x.dwo");
	assemble(
		"	.file 1 \"own.c\"\n	.text\n	.globl victim\n"
		"	.type victim, %function\nvictim:	.loc 1 3\n	nop\n	.zero 15\n"
		"	.size victim, 16\n"
		"	.section .debug_abbrev,\"\",%progbits\n"
		"	.byte 1,0x4a,0, 0x76,8, 0x11,1, 0x12,7, 0x10,0x17, 0,0\n	.byte 0\n"
		"	.section .debug_addr,\"\",%progbits\n"
		"	.long 12\n	.short 5\n	.byte 8,0\n	.quad victim\n"
		"	.section .debug_line,\"\",%progbits\nlines:\n"
		"	.section .debug_info,\"\",%progbits\n"
		"	.long 3f - 2f\n2:	.short 5\n	.byte 4,8\n	.long 0\n	.quad 0x1234567\n"
		"	.byte 1\n	.asciz \"x.dwo\"\n	.quad victim, 16\n	.long lines\n3:\n",
		LINK);
	p = prog_open();
	assert_string_equal(chain(&p, 1), "inner:3 victim:5");
	assert_string_equal(file_at(&p, 1, 0), "own.c");
	assert_string_equal(file_at(&p, 1, 1), "own.c");
	prog_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_supplement, setup, teardown),
		cmocka_unit_test_setup_teardown(test_claimed_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_split_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lines_alone, setup, teardown),
	};

	return cmocka_run_group_tests_name("symbol_forms", tests, NULL, NULL);
}
