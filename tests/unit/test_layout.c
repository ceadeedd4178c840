/* test_layout: every size of terminal: parts inside, none over another, the table as high as can
 * be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ui/layout.h"
#include "ui/theme.h"

static void parts_fill_the_screen(void **state)
{
	(void)state;
	for (int h = 1; h <= 200; h++)
		for (int w = 1; w <= 500; w += 7)
			for (int flags = 0; flags < 4; flags++) {
				struct layout l;
				const struct rect *parts[] = {&l.facts, &l.quality, &l.tabs,
							      &l.title, &l.heads,   &l.body,
							      &l.hint,  &l.foot};
				int y = 0;

				layout_screen(&l, w, h, flags & 1 ? h % 5 : 0, w % 9, flags & 2);
				assert_int_equal(l.small, w < LAYOUT_MIN_W || h < LAYOUT_MIN_H);
				if (l.small)
					continue;
				for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
					assert_int_equal(parts[i]->x, 0);
					assert_int_equal(parts[i]->y, y);
					assert_int_equal(parts[i]->w, w);
					assert_true(parts[i]->h >= 0);
					y += parts[i]->h;
				}
				assert_int_equal(y, h);
				assert_true(l.body.h >= 2);
				assert_int_equal(l.foot.h, 1);
			}
}

static void usual_sizes(void **state)
{
	struct layout l;

	(void)state;
	layout_screen(&l, 80, 24, 0, 1, true);
	assert_int_equal(l.body.h, 18);
	layout_screen(&l, 80, 24, 1, 1, true);
	assert_int_equal(l.body.h, 17);
	layout_screen(&l, 40, 10, 0, 1, true);
	assert_int_equal(l.body.h, 5);
}

static void boxes_stay_inside(void **state)
{
	(void)state;
	for (int w = 1; w < 120; w += 3)
		for (int h = 1; h < 60; h += 3) {
			struct rect r = layout_box(80, 24, w, h);

			assert_true(r.x >= 0 && r.y >= 0 && r.x + r.w <= 80 && r.y + r.h <= 24);
		}
}

static void themes(void **state)
{
	(void)state;
	assert_int_equal(theme_choose(0, 256, NULL, NULL), THEME_256_DARK);
	assert_int_equal(theme_choose(0, 256, "1", NULL), THEME_MONO);
	assert_int_equal(theme_choose(0, 256, "", NULL), THEME_256_DARK); /* empty does not count */
	assert_int_equal(theme_choose(1, 256, "1", NULL), THEME_256_DARK);
	assert_int_equal(theme_choose(2, 256, NULL, NULL), THEME_MONO);
	assert_int_equal(theme_choose(1, 2, NULL, NULL), THEME_MONO);
	assert_int_equal(theme_choose(0, 8, NULL, NULL), THEME_8);
	assert_int_equal(theme_choose(0, 256, NULL, "0;15"), THEME_256_LIGHT);
	assert_int_equal(theme_choose(0, 256, NULL, "15;0"), THEME_256_DARK);
	assert_int_equal(theme_choose(0, 256, NULL, "15;default;8"), THEME_256_DARK);
}

/* Colours stay within what the terminal has, the background is left alone except on the cursor. */
static void paints(void **state)
{
	static const short most[] = {-1, 7, 255, 255};

	(void)state;
	for (int t = THEME_MONO; t <= THEME_256_LIGHT; t++)
		for (int look = 0; look < LOOKS; look++) {
			struct pen pen = {(uint8_t)look, 0};
			struct paint p = theme_paint((enum theme_kind)t, pen);

			assert_true(p.fg <= most[t]);
			assert_int_equal(p.bg, PAINT_DEFAULT);
			pen.mods = PEN_CURSOR;
			p = theme_paint((enum theme_kind)t, pen);
			assert_true(p.bg != PAINT_DEFAULT || p.flags & PAINT_REVERSE);
			assert_true(p.fg <= most[t] && p.bg <= most[t]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_fill_the_screen),
		cmocka_unit_test(usual_sizes),
		cmocka_unit_test(boxes_stay_inside),
		cmocka_unit_test(themes),
		cmocka_unit_test(paints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
