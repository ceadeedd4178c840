/* code, golang: what instruction bytes and Go's own table tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module/open.h"
#include "unwind/code.h"
#include "unwind/golang.h"

#define B(text) (const uint8_t *)(text), sizeof(text) - 1

static void signal_returns(void **state)
{
	(void)state;
	assert_true(code_is_sigreturn(ARCH_X86_64, B("\x48\xc7\xc0\x0f\0\0\0\x0f\x05")));
	assert_true(code_is_sigreturn(ARCH_X86_64, B("\xb8\x0f\0\0\0\x0f\x05")));
	assert_false(code_is_sigreturn(ARCH_X86_64, B("\xb8\x0e\0\0\0\x0f\x05")));
	assert_false(code_is_sigreturn(ARCH_X86_64, B("\xb8\x0f\0\0\0\x0f")));
	assert_true(code_is_sigreturn(ARCH_AARCH64, B("\x68\x11\x80\xd2\x01\0\0\xd4")));
	assert_false(code_is_sigreturn(ARCH_X86_64, B("")));
}

static void thread_exits(void **state)
{
	(void)state;
	assert_true(code_exits_thread(ARCH_X86_64, B("\x90\xb8\x3c\0\0\0\x31\xff\x0f\x05")));
	assert_true(code_exits_thread(ARCH_X86_64, B("\xba\x3c\0\0\0\x31\xff\x89\xd0\x0f\x05")));
	assert_false(code_exits_thread(ARCH_X86_64,
				       B("\xb8\xe7\0\0\0\x31\xff\x0f\x05"))); /* exit_group */
	assert_false(code_exits_thread(ARCH_X86_64, B("\xb8\x3c\0\0\0\xc3")));
	assert_true(code_exits_thread(ARCH_AARCH64, B("\xa8\x0b\x80\xd2\0\0\x80\xd2\x01\0\0\xd4")));
	assert_false(code_exits_thread(ARCH_AARCH64, B("\xa8\x0b\x80\xd2\xc0\x03\x5f\xd6")));
}

static void rows_by_instruction(void **state)
{
	struct row row = {.cfa = ROW_NO_CFI};
	(void)state;
	assert_true(code_guess_row(ARCH_X86_64, B("\xc3"), 0, &row));
	assert_int_equal(row.cfa, ROW_SP);
	assert_int_equal(row.cfa_off, 8);
	assert_int_equal(row.flags, ROW_GUESSED);
	assert_true(code_guess_row(ARCH_X86_64, B("\x55\x48\x89\xe5"), 1, &row));
	assert_int_equal(row.cfa_off, 16);
	assert_int_equal(row.fp_off, -16);
	assert_false(code_guess_row(ARCH_X86_64, B("\x48\x89\xe5"), 0, &row));
	assert_true(code_guess_row(ARCH_X86_64, B("\xf3\x0f\x1e\xfa"), 0, &row));
	assert_true(code_guess_row(ARCH_X86_64, B("\xff\x25\0\0\0\0"), 0, &row)); /* PLT */
	assert_true(code_guess_row(ARCH_X86_64, B("\x68\1\0\0\0\xe9\0\0\0\0"), 0, &row));
	assert_false(code_guess_row(ARCH_X86_64, B("\x68\1\0\0\0\xc9\xc3"), 0, &row));
	assert_false(code_guess_row(ARCH_X86_64, B("\xc3"), 1, &row)); /* beyond */
	assert_true(code_guess_row(ARCH_AARCH64, B("\xc0\x03\x5f\xd6"), 0, &row));
	assert_int_equal(row.flags, ROW_RA_REG | ROW_GUESSED);
	assert_true(code_guess_row(ARCH_AARCH64, B("\xfd\x7b\xbe\xa9"), 0, &row));
	assert_true(code_guess_row(ARCH_AARCH64, B("\x3f\x23\x03\xd5"), 0, &row));
	assert_false(code_guess_row(ARCH_AARCH64, B("\xfd\x03\0\x91"), 0, &row));
}

/* Go's systemstack, from its start: another stack, a call there, back again. */
static void stacks_left(void **state)
{
	static const char x86[] = "\x48\x8b\x5a\x38" /* mov 0x38(%rdx),%rbx */
				  "\x48\x89\xe1"     /* mov %rsp,%rcx */
				  "\x48\x89\xdc"     /* mov %rbx,%rsp */
				  "\xff\xd7"
				  "\x48\x8b\x60\x38" /* mov 0x38(%rax),%rsp */
				  "\xc3";
	static const char arm[] = "\x03\x1c\x40\xf9" /* ldr x3, [x0, #56] */
				  "\xe0\x03\0\x91"   /* mov x0, sp */
				  "\x7f\0\0\x91"     /* mov sp, x3 */
				  "\x60\0\x3f\xd6"
				  "\x1f\0\0\x91" /* mov sp, x0 */
				  "\xc0\x03\x5f\xd6";
	(void)state;
	for (size_t n = 0; n < sizeof x86; n++)
		assert_int_equal(code_left_stack(ARCH_X86_64, (const uint8_t *)x86, n),
				 n >= 10 && n < 15);
	for (size_t n = 0; n < sizeof arm; n++)
		assert_int_equal(code_left_stack(ARCH_AARCH64, (const uint8_t *)arm, n),
				 n >= 12 && n < 20);
}

struct lookup {
	struct image *image;
	struct golang go;
	uint64_t vaddr;
	char name[64];
	bool found;
	enum golang_role role;
};

static void look(void *ctx)
{
	struct lookup *l = ctx;
	l->found = golang_name(&l->go, l->image, l->vaddr, l->name, sizeof l->name);
	l->role = golang_role(&l->go, l->image, l->vaddr);
}

/* The names of a Go program's functions beside nm's. */
static void go_names(void **state)
{
	char dir[] = "/tmp/altpttop-go-XXXXXX", cmd[512], line[512];
	unsigned compared = 0, roots = 0, switches = 0;
	struct lookup l = {0};
	struct err err;
	(void)state;
	if (system("go version >/dev/null 2>&1") != 0) {
		print_message("skipped: no go here\n");
		skip();
	}
	assert_non_null(mkdtemp(dir));
	snprintf(cmd, sizeof cmd,
		 "cd %s && printf 'package main\\nfunc main() { println(1) }\\n' >m.go && "
		 "GOFLAGS=-mod=mod GO111MODULE=off go build -o m m.go && go tool nm m >m.nm && "
		 "GO111MODULE=off go build -ldflags='-s -w' -o m m.go",
		 dir);
	assert_int_equal(system(cmd), 0);
	struct tables *t = tables_new();
	snprintf(cmd, sizeof cmd, "%s/m", dir);
	struct module m = {.kind = MODULE_FILE, .path = tables_str(t, cmd)};
	struct module_access access = {0};
	assert_int_equal(module_image(t, &m, &access, &l.image, &err), 0);
	snprintf(cmd, sizeof cmd, "%s/m.nm", dir);
	FILE *f = fopen(cmd, "r");
	while (f && fgets(line, sizeof line, f)) {
		char type, name[256];
		unsigned long long at;
		if (sscanf(line, "%llx %c %255s", &at, &type, name) != 3 ||
		    (type != 'T' && type != 't') || strncmp(name, "runtime.", 8) != 0)
			continue;
		char *abi = strstr(name, ".abi0");
		if (strcmp(name, "runtime.text") == 0 || strcmp(name, "runtime.etext") == 0)
			continue;
		if (abi)
			*abi = 0;
		l.vaddr = at + 1;
		image_guarded(l.image, look, &l);
		abi = strstr(l.name, ".abi0");
		if (abi)
			*abi = 0;
		assert_true(l.found);
		if (strlen(name) < sizeof l.name - 1)
			assert_string_equal(l.name, name);
		roots += l.role == GOLANG_ROOT;
		switches += l.role == GOLANG_SWITCH;
		compared++;
	}
	if (f)
		fclose(f);
	assert_true(compared > 500);
	assert_true(roots >= 4);
	assert_true(switches >= 4); /* asmcgocall and nanotime1 too */
	image_close(l.image);
	tables_free(t);
	snprintf(cmd, sizeof cmd, "rm -r %s", dir);
	assert_int_equal(system(cmd), 0);
}

static void no_go_program(void **state)
{
	struct lookup l = {0};
	struct tables *t = tables_new();
	struct module m = {.kind = MODULE_FILE, .path = tables_str(t, "/proc/self/exe")};
	struct module_access access = {0};
	(void)state;
	assert_int_equal(module_image(t, &m, &access, &l.image, NULL), 0);
	l.vaddr = l.image->entry;
	image_guarded(l.image, look, &l);
	assert_false(l.found);
	assert_int_equal(l.role, GOLANG_PLAIN);
	image_close(l.image);
	tables_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signal_returns),
		cmocka_unit_test(thread_exits),
		cmocka_unit_test(rows_by_instruction),
		cmocka_unit_test(stacks_left),
		cmocka_unit_test(go_names),
		cmocka_unit_test(no_go_program),
	};
	return cmocka_run_group_tests_name("code", tests, NULL, NULL);
}
