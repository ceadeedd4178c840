/* test_canvas: clipping, wide characters kept whole, text that never leaves its room. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ui/canvas.h"

static const struct pen pen = {LOOK_NORMAL, 0};

static void assert_canvas(const struct canvas *c, const char *want)
{
	struct strbuf b;

	strbuf_init(&b);
	canvas_dump(c, &b);
	assert_string_equal(b.buf, want);
	strbuf_fini(&b);
}

static struct canvas make(int w, int h, bool ascii)
{
	struct canvas c;

	assert_int_equal(canvas_init(&c, w, h, ascii), 0);
	return c;
}

static void clips(void **state)
{
	struct canvas c = make(5, 2, false);

	(void)state;
	assert_int_equal(canvas_text(&c, 0, 0, 5, pen, "hello"), 5);
	assert_int_equal(canvas_text(&c, 0, 1, 4, pen, "hello"), 4);
	assert_canvas(&c, "hello\nhel\xe2\x80\xa6\n");
	canvas_text(&c, 3, 0, 99, pen, "XYZ");
	canvas_text(&c, -2, 1, 4, pen, "abcd");
	canvas_text(&c, 0, 7, 4, pen, "no");
	canvas_text(&c, 0, -1, 4, pen, "no");
	assert_canvas(&c, "helXY\ncdl\xe2\x80\xa6\n");
	assert_int_equal(canvas_text(&c, 0, 0, 0, pen, "x"), 0);
	assert_int_equal(canvas_text(&c, 0, 0, -3, pen, "x"), 0);
	canvas_fini(&c);
}

/* Overwriting one half of a wide character blanks the other, and none hangs over the edge. */
static void wide(void **state)
{
	struct canvas c = make(6, 1, false);

	(void)state;
	assert_int_equal(canvas_text(&c, 0, 0, 6, pen, "\xe6\x95\xb0\xe6\x8d\xae!"), 5);
	assert_int_equal(canvas_at(&c, 0, 0)->width, 2);
	assert_int_equal(canvas_at(&c, 1, 0)->width, 0);
	canvas_put(&c, 1, 0, pen, 'x'); /* right half */
	assert_canvas(&c, " x\xe6\x8d\xae!\n");
	canvas_put(&c, 2, 0, pen, 'y'); /* left half */
	assert_canvas(&c, " xy !\n");
	canvas_put(&c, 5, 0, pen, 0x6570); /* half of it would be outside */
	assert_canvas(&c, " xy !\n");
	canvas_clear(&c);
	canvas_text(&c, 0, 0, 3, pen, "\xe6\x95\xb0\xe6\x8d\xae"); /* three cells for four */
	assert_canvas(&c, "\xe6\x95\xb0\xe2\x80\xa6\n");
	canvas_clear(&c);
	canvas_text(&c, 0, 0, 4, pen, "a\xe6\x95\xb0\xe6\x8d\xae");
	assert_canvas(&c, "a\xe6\x95\xb0\xe2\x80\xa6\n");
	canvas_put(&c, 0, 0, pen, 0x6570); /* over the left half of another */
	assert_canvas(&c, "\xe6\x95\xb0 \xe2\x80\xa6\n");
	canvas_fini(&c);
}

static void skips(void **state)
{
	struct canvas c = make(6, 1, false);

	(void)state;
	assert_int_equal(canvas_text_from(&c, 0, 0, 6, 2, pen, "abcdef"), 4);
	assert_canvas(&c, "cdef\n");
	canvas_clear(&c);
	canvas_text_from(&c, 0, 0, 6, 1, pen, "\xe6\x95\xb0z"); /* half of a wide one is left out */
	assert_canvas(&c, " z\n");
	assert_int_equal(canvas_text_from(&c, 0, 0, 6, 99, pen, "abc"), 0);
	canvas_fini(&c);
}

static void marks(void **state)
{
	struct canvas c = make(6, 1, false);

	(void)state;
	assert_int_equal(canvas_text(&c, 0, 0, 6, pen, "e\xcc\x81\xcc\x82\xcc\x83\xcc\x84x"), 2);
	assert_canvas(&c, "e\xcc\x81\xcc\x82x\n"); /* more than two are left out */
	canvas_clear(&c);
	assert_int_equal(canvas_text(&c, 0, 0, 6, pen, "\xcc\x81x"), 1); /* none to combine with */
	assert_canvas(&c, "x\n");
	canvas_fini(&c);
}

/* A bar of eighths; a spark with its newest value right. */
static void figures(void **state)
{
	static const float values[] = {0, 0.5f, 1, -1, 2};
	struct canvas c = make(8, 1, false);

	(void)state;
	canvas_bar(&c, 0, 0, 4, 0.5, pen);
	assert_canvas(&c, "\xe2\x96\x88\xe2\x96\x88\n");
	canvas_clear(&c);
	canvas_bar(&c, 0, 0, 2, 0.5625, pen); /* nine eighths */
	assert_canvas(&c, "\xe2\x96\x88\xe2\x96\x8f\n");
	canvas_clear(&c);
	canvas_bar(&c, 0, 0, 4, 0.001, pen);
	canvas_bar(&c, 0, 0, 4, -1, pen);
	assert_canvas(&c, "\n");
	canvas_bar(&c, 0, 0, 2, 7, pen); /* never beyond its room */
	assert_canvas(&c, "\xe2\x96\x88\xe2\x96\x88\n");
	canvas_clear(&c);
	canvas_spark(&c, 0, 0, 6, values, 5, pen);
	assert_canvas(&c, " \xe2\x96\x81\xe2\x96\x85\xe2\x96\x88 \xe2\x96\x88\n");
	canvas_clear(&c);
	canvas_spark(&c, 0, 0, 2, values, 3, pen);
	assert_canvas(&c, "\xe2\x96\x85\xe2\x96\x88\n");
	canvas_fini(&c);
}

static void ascii(void **state)
{
	struct canvas c = make(12, 3, true);

	(void)state;
	canvas_text(&c, 0, 0, 12, pen, "\xe2\x96\xb8 \xe6\x95\xb0 \xc2\xb5s");
	canvas_bar(&c, 0, 1, 4, 1, pen);
	canvas_text(&c, 0, 2, 4, pen, "abcdef");
	assert_canvas(&c, "> ?? us\n####\nabc~\n");
	for (int i = 0; i < 36; i++)
		assert_in_range(c.cells[i].ch, ' ', '~');
	canvas_fini(&c);
}

static void boxes(void **state)
{
	struct canvas c = make(8, 3, true);

	(void)state;
	canvas_box(&c, (struct rect){0, 0, 8, 3}, "ab");
	assert_canvas(&c, "+- ab -+\n|      |\n+------+\n");
	canvas_box(&c, (struct rect){6, 2, 8, 3}, "outside is cut");
	canvas_box(&c, (struct rect){0, 0, 1, 1}, "tiny");
	canvas_box(&c, (struct rect){-3, -3, 2, 2}, "");
	canvas_fini(&c);
}

/* Whatever is drawn wherever, no cell ends up outside and widths stay consistent. */
static void anything(void **state)
{
	static const char *const texts[] = {"\xe6\x95\xb0\xe6\x8d\xae", "e\xcc\x81", "\xff\xfe",
					    "plain", "\x1b[2J"};
	struct canvas c = make(7, 3, false);

	(void)state;
	srand(1);
	for (int i = 0; i < 20000; i++)
		canvas_text_from(&c, rand() % 12 - 3, rand() % 5 - 1, rand() % 9, rand() % 4, pen,
				 texts[rand() % 5]);
	for (int y = 0; y < 3; y++) {
		int cells = 0;

		for (int x = 0; x < 7; x++) {
			const struct canvas_cell *cell = canvas_at(&c, x, y);

			if (cell->width == 0)
				assert_int_equal(canvas_at(&c, x - 1, y)->width, 2);
			cells += cell->width;
		}
		assert_int_equal(cells, 7);
	}
	canvas_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clips), cmocka_unit_test(wide),     cmocka_unit_test(skips),
		cmocka_unit_test(marks), cmocka_unit_test(figures),  cmocka_unit_test(ascii),
		cmocka_unit_test(boxes), cmocka_unit_test(anything),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
