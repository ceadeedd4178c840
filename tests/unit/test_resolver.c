/*
 * The resolver by its own header: names of functions of this very program, of the C library, of the
 * kernel, of recorded and special frames, by the thread and on the caller's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "module/open.h"
#include "symbol/resolver.h"
#include "symbol/symtab.h"

struct fixture {
	struct tables *tables;
	struct resolver *resolver;
};

__attribute__((noinline)) int resolver_test_target(int x);
__attribute__((noinline)) int resolver_test_target(int x)
{
	__asm__ volatile("nop\n\tnop\n\tnop\n\tnop");
	return x + 1;
}

static int setup(void **state)
{
	static struct fixture f;
	struct resolver_config config = {.live = true};

	f.tables = tables_new();
	f.resolver = resolver_new(f.tables, &config, NULL);
	*state = &f;
	return !f.resolver;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	resolver_free(f->resolver);
	tables_free(f->tables);
	return 0;
}

static module_id add_module(struct tables *t, enum module_kind kind, const char *path)
{
	struct module m = {.kind = kind, .path = tables_str(t, path)};
	const char *slash = strrchr(path, '/');
	struct stat st;

	m.name = tables_str(t, slash ? slash + 1 : path);
	if (kind == MODULE_FILE && !stat(path, &st)) {
		m.pid = getpid();
		m.inode = st.st_ino;
		m.dev_major = major(st.st_dev);
		m.dev_minor = minor(st.st_dev);
	}
	return tables_module(t, &m);
}

static frame_id add_frame(struct tables *t, module_id module, uint64_t addr, uint32_t flags)
{
	struct frame f = {.module = module, .addr = addr, .flags = flags};

	return tables_frame(t, &f);
}

/* The file an address of this process is mapped from, and its address in there. */
static frame_id frame_of(struct tables *t, void *addr, uint64_t offset)
{
	Dl_info info;
	char path[4096];

	assert_true(dladdr(addr, &info));
	assert_non_null(realpath(info.dli_fname, path));
	return add_frame(t, add_module(t, MODULE_FILE, path),
			 (uintptr_t)addr - (uintptr_t)info.dli_fbase + offset, 0);
}

static const struct func *func_of(struct tables *t, frame_id frame)
{
	const struct loc *loc = tables_loc(t, frame);

	assert_non_null(loc);
	return tables_func_get(t, loc->lines[loc->n - 1].func);
}

static void test_own_function(void **state)
{
	struct fixture *f = *state;
	frame_id frame = frame_of(f->tables, (void *)resolver_test_target, 2);
	const struct func *func;

	resolver_now(f->resolver, frame);
	func = func_of(f->tables, frame);
	assert_string_equal(tables_text(f->tables, func->name), "resolver_test_target");
	assert_int_equal(func->start, tables_frame_get(f->tables, frame)->addr - 2);
	assert_true(func->size > 4);
	assert_true(resolver_module(f->resolver, func->module) >= SYMBOLS_FULL);
}

static void test_return_address(void **state)
{
	struct fixture *f = *state;
	frame_id inside = frame_of(f->tables, (void *)resolver_test_target, 0);
	const struct frame *at = tables_frame_get(f->tables, inside);
	const struct func *first, *second;
	frame_id behind;

	/* The address just behind the function, as a return address, lies in it. */
	resolver_now(f->resolver, inside);
	first = func_of(f->tables, inside);
	behind = add_frame(f->tables, at->module, first->start + first->size, FRAME_RETURN);
	resolver_now(f->resolver, behind);
	second = func_of(f->tables, behind);
	assert_ptr_equal(first, second);
}

static void test_libc(void **state)
{
	struct fixture *f = *state;
	void *addr = dlsym(RTLD_DEFAULT, "argz_create");
	frame_id frame = frame_of(f->tables, addr, 1);

	resolver_now(f->resolver, frame);
	assert_string_equal(tables_text(f->tables, func_of(f->tables, frame)->name), "argz_create");
}

static void test_thread(void **state)
{
	struct fixture *f = *state;
	frame_id frames[3] = {frame_of(f->tables, (void *)resolver_test_target, 1),
			      frame_of(f->tables, dlsym(RTLD_DEFAULT, "argz_create"), 2),
			      FRAME_TRUNCATED};

	assert_int_equal(resolver_start(f->resolver), 0);
	resolver_want(f->resolver, frames, 3);
	assert_true(resolver_settle(f->resolver, 60000));
	assert_string_equal(tables_text(f->tables, func_of(f->tables, frames[0])->shown),
			    "resolver_test_target");
	assert_string_equal(tables_text(f->tables, func_of(f->tables, frames[1])->shown),
			    "argz_create");
	assert_string_equal(tables_text(f->tables, func_of(f->tables, frames[2])->shown),
			    "[truncated]");
	assert_true(func_of(f->tables, frames[2])->flags & FUNC_SPECIAL);
	resolver_stop(f->resolver);
	assert_true(resolver_join(f->resolver, 60000));
}

static void test_recorded(void **state)
{
	struct fixture *f = *state;
	struct tables *t = f->tables;
	struct frame named = {.module = add_module(t, MODULE_NAMED, "libx.so"),
			      .flags = FRAME_NAMED,
			      .name = tables_str(t, "_ZNSt6vectorIiSaIiEE9push_backEOi"),
			      .file = tables_str(t, "v.cc"),
			      .line = 12};
	frame_id frame = tables_frame(t, &named);
	const struct func *func;

	resolver_now(f->resolver, frame);
	func = func_of(t, frame);
	assert_string_equal(tables_text(t, func->name),
			    "std::vector<int, std::allocator<int> >::push_back(int&&)");
	assert_string_equal(tables_text(t, func->shown), "std::vector<…>::push_back(int&&)");
	assert_int_equal(func->start, 0);
	assert_int_equal(tables_loc(t, frame)->lines[0].line, 12);
}

static void test_no_file(void **state)
{
	struct fixture *f = *state;
	frame_id frame = add_frame(f->tables, add_module(f->tables, MODULE_FILE, "/no/such/lib.so"),
				   0x1234, 0);
	const struct func *func;

	resolver_now(f->resolver, frame);
	func = func_of(f->tables, frame);
	assert_string_equal(tables_text(f->tables, func->shown), "lib.so+0x1234");
	assert_true(func->flags & FUNC_NO_SYMBOL);
	assert_int_equal(resolver_module(f->resolver, func->module), SYMBOLS_NONE);
}

static void test_kernel(void **state)
{
	struct fixture *f = *state;
	struct frame k = {.module = add_module(f->tables, MODULE_KERNEL, "[kernel]"),
			  .flags = FRAME_KERNEL};
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], name[256] = "", type;
	unsigned long long addr = 0, at;
	const struct func *func;
	frame_id frame;

	assert_non_null(file);
	while (fgets(line, sizeof line, file))
		if (sscanf(line, "%llx %c %255s", &at, &type, name) == 3 &&
		    !strcmp(name, "schedule")) {
			addr = at;
			break;
		}
	fclose(file);
	k.addr = addr ? addr + 8 : 0xffffffff81000100;
	frame = tables_frame(f->tables, &k);
	resolver_now(f->resolver, frame);
	func = func_of(f->tables, frame);
	assert_true(func->flags & FUNC_KERNEL);
	if (addr)
		assert_string_equal(tables_text(f->tables, func->name), "schedule");
	else
		assert_string_equal(tables_text(f->tables, func->name), "[kernel]");
}

/* The vDSO is a program without a file. */
static void test_vdso(void **state)
{
	struct fixture *f = *state;
	struct module m = {.kind = MODULE_VDSO, .pid = getpid()};
	struct module_access access = {.live = true};
	struct image *image = NULL;
	struct symtab t;
	uint64_t addr = 0;

	m.path = m.name = tables_str(f->tables, "[vdso]");
	if (module_image(f->tables, &m, &access, &image, NULL)) {
		print_message("skipped: no vDSO here\n");
		skip();
	}
	symtab_init(&t);
	assert_int_equal(symtab_add(&t, image, 0), 0);
	for (size_t i = 0; i < t.entries.len && !addr; i++)
		if (t.entries.data[i].size > 8)
			addr = t.entries.data[i].start + 4;
	symtab_fini(&t);
	image_close(image);
	assert_true(addr);

	frame_id frame = add_frame(f->tables, tables_module(f->tables, &m), addr, 0);
	resolver_now(f->resolver, frame);
	assert_non_null(strstr(tables_text(f->tables, func_of(f->tables, frame)->name), "vdso"));
}

static const struct listing *listing_of(struct fixture *f, void *addr)
{
	frame_id frame = frame_of(f->tables, addr, 1);

	resolver_now(f->resolver, frame);
	return resolver_listing_now(
		f->resolver,
		tables_loc(f->tables, frame)->lines[tables_loc(f->tables, frame)->n - 1].func);
}

static void test_listing(void **state)
{
	struct fixture *f = *state;
	const struct listing *l = listing_of(f, (void *)resolver_test_target);
	bool seen_nop = false, seen_text = false;
	uint64_t next;

	assert_non_null(l);
	assert_true(l->ninsns > 4);
	next = l->insns[0].addr;
	for (uint32_t i = 0; i < l->ninsns; i++) {
		assert_int_equal(l->insns[i].addr, next);
		next += l->insns[i].size;
		seen_nop |= !strcmp(l->insns[i].text, "nop");
	}
	assert_true(seen_nop);
	assert_non_null(strstr(tables_text(f->tables, l->file), "test_resolver.c"));
	for (uint32_t i = 0; i < l->nlines; i++)
		seen_text |= strstr(l->lines[i].text, "return x + 1;") != NULL;
	assert_true(seen_text);
	listing_unref(l);
}

/* Without lines: instructions, their call targets, and a note. */
static void test_listing_stripped(void **state)
{
	struct fixture *f = *state;
	const struct listing *l = listing_of(f, dlsym(RTLD_DEFAULT, "argz_create"));
	bool callee = false;

	assert_non_null(l);
	assert_true(l->ninsns > 10);
	for (uint32_t i = 0; i < l->ninsns; i++)
		callee |= l->insns[i].callee != 0;
	assert_true(callee);
	if (!l->nlines)
		assert_true(l->note[0]);
	listing_unref(l);
}

static void test_listing_asked(void **state)
{
	struct fixture *f = *state;
	frame_id frame = frame_of(f->tables, (void *)resolver_test_target, 1);
	const struct listing *l = NULL;
	func_id func;

	resolver_now(f->resolver, frame);
	func = tables_loc(f->tables, frame)->lines[0].func;
	assert_null(resolver_listing(f->resolver, func));
	assert_int_equal(resolver_start(f->resolver), 0);
	for (int i = 0; i < 6000 && !(l = resolver_listing(f->resolver, func)); i++)
		usleep(10000);
	assert_non_null(l);
	assert_int_equal(l->func, func);
	listing_unref(l);
	resolver_stop(f->resolver);
	assert_true(resolver_join(f->resolver, 60000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_own_function, setup, teardown),
		cmocka_unit_test_setup_teardown(test_return_address, setup, teardown),
		cmocka_unit_test_setup_teardown(test_libc, setup, teardown),
		cmocka_unit_test_setup_teardown(test_thread, setup, teardown),
		cmocka_unit_test_setup_teardown(test_recorded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vdso, setup, teardown),
		cmocka_unit_test_setup_teardown(test_listing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_listing_stripped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_listing_asked, setup, teardown),
	};

	return cmocka_run_group_tests_name("resolver", tests, NULL, NULL);
}
