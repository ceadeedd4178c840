/* Generated code without names: one name for all of it, and what to type for this runtime. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "symbol/resolve.h"
#include "symbol/resolver.h"

static module_id add_module(struct tables *t, enum module_kind kind, const char *name)
{
	const struct module m = {.kind = kind,
				 .path = tables_str(t, name),
				 .name = tables_str(t, name),
				 .pid = getpid(),
				 .map_start = 0x1000,
				 .map_end = 0x9000};

	return tables_module(t, &m);
}

static void advice_by_runtime(void **state)
{
	struct tables *t = tables_new();
	char text[160];

	(void)state;
	runtime_advice(t, 77, text, sizeof text);
	assert_non_null(strstr(text, "/tmp/perf-77.map"));
	add_module(t, MODULE_FILE, "libc.so.6");
	add_module(t, MODULE_FILE, "libjvm.so");
	runtime_advice(t, 77, text, sizeof text);
	assert_non_null(strstr(text, "jcmd 77 "));
	assert_true(strlen(text) < sizeof text - 1); /* not cut */
	tables_free(t);
}

static void one_name(void **state)
{
	struct tables *t = tables_new();
	struct resolver *r = resolver_new(t, &(struct resolver_config){.live = true}, NULL);
	module_id jit = add_module(t, MODULE_JIT, "perf-0.map");
	func_id funcs[2];

	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		struct frame f = {.module = jit, .addr = 0x2000 + 0x300 * i};
		frame_id id = tables_frame(t, &f);

		resolver_now(r, id);
		assert_non_null(tables_loc(t, id));
		funcs[i] = tables_loc(t, id)->lines[0].func;
	}
	assert_int_equal(funcs[0], funcs[1]);
	assert_string_equal(tables_text(t, tables_func_get(t, funcs[0])->name), "[generated code]");
	assert_true(tables_func_get(t, funcs[0])->flags & FUNC_NO_SYMBOL);
	resolver_free(r);
	tables_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(advice_by_runtime),
		cmocka_unit_test(one_name),
	};

	return cmocka_run_group_tests_name("runtimes", tests, NULL, NULL);
}
