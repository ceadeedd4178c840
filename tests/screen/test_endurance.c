/*
 * test_endurance: every key in random order on every screen, every size of terminal, thousands of
 * rows: nothing breaks, every answer is given back, and a frame stays cheap.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "script.h"

static struct script s;

static int start(void **state)
{
	(void)state;
	script_init(&s);
	script_start(&s, 80, 24);
	return 0;
}

static int end(void **state)
{
	(void)state;
	script_end(&s);
	return 0;
}

static bool screen_has(const char *text)
{
	char *all = script_text(&s);
	bool found = strstr(all, text) != NULL;

	free(all);
	return found;
}

/* Every key on every screen at many sizes, in random order: nothing breaks, all is given back. */
static void any_keys(void **state)
{
	static const uint32_t keys[] = {K_UP,     K_DOWN,     K_LEFT,      K_RIGHT,  K_HOME,
					K_END,    K_PAGE_UP,  K_PAGE_DOWN, K_ENTER,  K_ESC,
					'\t',     K_BACK_TAB, K_F1,        K_F1 + 1, K_F1 + 2,
					K_F1 + 3, K_F1 + 5,   K_BACKSPACE, K_DELETE, 0x6570,
					' ',      12};

	(void)state;
	srand(7);
	for (int i = 0; i < 6000; i++) {
		int r = rand();
		uint32_t key = r % 3 ? keys[rand() % (int)(sizeof keys / sizeof *keys)]
				     : '!' + (uint32_t)rand() % 94;

		if (i % 50 == 0)
			assert_int_equal(app_resize(&s.ui, 1 + rand() % 220, 1 + rand() % 60), 0);
		if (i % 500 == 0) {
			s.fake.many = !s.fake.many;
			s.fake.metrics = !s.fake.metrics;
		}
		app_key(&s.ui, key);
		app_poll(&s.ui);
		app_frame(&s.ui);
		if (i % 7 == 0)
			app_mouse(&s.ui, rand() % 220, rand() % 60, r & 8, r % 5 ? 0 : 1);
	}
}

static void sizes(void **state)
{
	(void)state;
	for (int i = 0; i < 9; i++) {
		char key[2] = {(char)('1' + i % 8), 0};

		script_keys(&s, key);
		for (int h = 1; h < 60; h += 3)
			for (int w = 1; w < 240; w += 11) {
				assert_int_equal(app_resize(&s.ui, w, h), 0);
				app_frame(&s.ui);
			}
		assert_int_equal(app_resize(&s.ui, 500, 200), 0);
		app_frame(&s.ui);
	}
	assert_int_equal(app_resize(&s.ui, 10, 3), 0);
	script_refresh(&s);
	assert_true(screen_has("too small"));
	assert_int_equal(app_resize(&s.ui, 80, 24), 0);
	script_refresh(&s);
	assert_false(screen_has("too small"));
}

/* What the search found is marked where it shows, also in sentences that reach below the screen. */
static void searches_at_every_size(void **state)
{
	(void)state;
	for (int i = 0; i < 9; i++) {
		char keys[32];

		assert_int_equal(app_resize(&s.ui, 80, 24), 0);
		snprintf(keys, sizeof keys, "%d End / \"%c", 1 + i, "eaost"[i % 5]);
		script_keys(&s, keys);
		for (int h = 1; h < 30; h++)
			for (int w = 20; w < 130; w += 9) {
				assert_int_equal(app_resize(&s.ui, w, h), 0);
				app_frame(&s.ui);
			}
		script_keys(&s, "Esc Esc");
	}
}

/* A frame of 5,000 rows in a large terminal costs the ui less than 5 ms of CPU time. */
static void a_frame_is_cheap(void **state)
{
	struct timespec from, to;
	double ms = 1e9;

	(void)state;
	s.fake.many = s.fake.metrics = true;
	assert_int_equal(app_resize(&s.ui, 200, 50), 0);
	script_keys(&s, "1 w w w w / \"e Enter");
	for (int i = 0; i < 20; i++) {
		double took;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		app_frame(&s.ui);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		took = (double)(to.tv_sec - from.tv_sec) * 1e3 +
		       (double)(to.tv_nsec - from.tv_nsec) / 1e6;
		ms = took < ms ? took : ms;
	}
	print_message("a frame of 200x50: %.2f ms\n", ms);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_true(ms < 5);
#endif
}

#define T(f) cmocka_unit_test_setup_teardown(f, start, end)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(any_keys),
		T(sizes),
		T(searches_at_every_size),
		T(a_frame_is_cheap),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
