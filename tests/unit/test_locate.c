/* locate: a symbol's places in a process that maps one file several times: this one. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/locate.h"

#define LIBRARY "libm.so.6"
#define SYMBOL  LIBRARY ":cbrt"
#define LOW     ((void *)0x10000000) /* before all libraries in maps */

static void *library;

static int setup(void **state)
{
	(void)state;
	library = dlopen(LIBRARY, RTLD_NOW);
	return library ? 0 : -1;
}

static void assert_found(void)
{
	struct symbol_place p = {0};
	struct err err = {0};

	assert_int_equal(symbol_locate(getpid(), SYMBOL, NULL, &p, &err), 0);
	assert_true(p.code);
	assert_int_equal(p.addr, (uintptr_t)dlsym(library, "cbrt"));
}

/* Executable memory of a file that is none of its segments says nothing of where they are. */
static void mapped_oddly_before(void **state)
{
	struct link_map *map;
	void *odd;
	int fd;

	(void)state;
	assert_found();
	assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
	fd = open(map->l_name, O_RDONLY | O_CLOEXEC);
	odd = mmap(LOW, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
	close(fd);
	assert_ptr_equal(odd, LOW);
	assert_found();
	munmap(odd, 4096);
}

/* Loaded twice: a symbol in both has two places. */
static void loaded_twice(void **state)
{
	void *again = dlmopen(LM_ID_NEWLM, LIBRARY, RTLD_NOW);
	struct symbol_place p = {0};
	struct err err = {0};

	(void)state;
	if (!again) {
		print_message("skip: %s\n", dlerror());
		skip();
	}
	assert_int_equal(symbol_locate(getpid(), SYMBOL, NULL, &p, &err), -ENOTUNIQ);
	dlclose(again);
	assert_found();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mapped_oddly_before),
		cmocka_unit_test(loaded_twice),
	};

	return cmocka_run_group_tests_name("locate", tests, setup, NULL);
}
