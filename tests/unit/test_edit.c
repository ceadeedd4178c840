/* test_edit: the line editor of prompts. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ui/edit.h"
#include "ui/keys.h"

#define CTRL(letter) ((letter)&31)

static void type(struct edit *e, const char *text)
{
	while (*text)
		edit_key(e, (unsigned char)*text++);
}

static void typing(void **state)
{
	struct edit e;

	(void)state;
	edit_set(&e, "ac");
	edit_key(&e, K_LEFT);
	assert_int_equal(edit_key(&e, 'b'), EDIT_CHANGED);
	assert_string_equal(e.text, "abc");
	assert_int_equal(edit_key(&e, K_HOME), EDIT_NOTHING);
	edit_key(&e, K_DELETE);
	assert_string_equal(e.text, "bc");
	edit_key(&e, K_END);
	edit_key(&e, K_BACKSPACE);
	assert_string_equal(e.text, "b");
	assert_int_equal(edit_key(&e, K_ENTER), EDIT_ACCEPTED);
	assert_int_equal(edit_key(&e, K_ESC), EDIT_CANCELLED);
	assert_int_equal(edit_key(&e, K_F1), EDIT_NOTHING);
	assert_int_equal(edit_key(&e, CTRL('Q')), EDIT_NOTHING);
	assert_string_equal(e.text, "b");
}

static void words(void **state)
{
	struct edit e;

	(void)state;
	edit_set(&e, "/tmp/some name");
	edit_key(&e, CTRL('W'));
	assert_string_equal(e.text, "/tmp/some ");
	edit_key(&e, CTRL('W'));
	assert_string_equal(e.text, "/tmp/");
	edit_key(&e, CTRL('W'));
	assert_string_equal(e.text, "/tmp");
	edit_key(&e, CTRL('U'));
	assert_string_equal(e.text, "");
	edit_key(&e, CTRL('W'));
	edit_key(&e, K_BACKSPACE);
	edit_key(&e, K_DELETE);
	edit_key(&e, K_LEFT);
	edit_key(&e, K_RIGHT);
	assert_string_equal(e.text, "");
	type(&e, "abcd");
	edit_key(&e, K_LEFT);
	edit_key(&e, K_LEFT);
	edit_key(&e, CTRL('K'));
	assert_string_equal(e.text, "ab");
}

static void characters(void **state)
{
	struct edit e;

	(void)state;
	edit_set(&e, "");
	edit_key(&e, 0x6570);
	edit_key(&e, 0xe9);
	assert_string_equal(e.text, "\xe6\x95\xb0\xc3\xa9");
	edit_key(&e, K_LEFT);
	edit_key(&e, K_BACKSPACE);
	assert_string_equal(e.text, "\xc3\xa9");
	edit_key(&e, K_DELETE);
	assert_string_equal(e.text, "");
}

static void full(void **state)
{
	struct edit e;
	char huge[4096];

	(void)state;
	memset(huge, 'x', sizeof huge - 1);
	huge[sizeof huge - 1] = '\0';
	edit_set(&e, huge);
	assert_int_equal(e.len, EDIT_TEXT - 1);
	assert_int_equal(edit_key(&e, 'y'), EDIT_NOTHING);
	edit_key(&e, K_BACKSPACE);
	edit_key(&e, 0x6570); /* three bytes do not fit */
	assert_int_equal(e.len, EDIT_TEXT - 2);
	edit_key(&e, 'y');
	assert_int_equal(e.text[EDIT_TEXT - 2], 'y');
	assert_int_equal(e.text[EDIT_TEXT - 1], '\0');
}

/* The caret is in view wherever it stands in a long text. */
static void drawing(void **state)
{
	struct edit e;
	struct canvas c;

	(void)state;
	assert_int_equal(canvas_init(&c, 10, 1, false), 0);
	edit_set(&e, "a long text that does not fit");
	for (int i = 0; i < 30; i++) {
		int carets = 0;

		canvas_clear(&c);
		edit_draw(&e, &c, 2, 0, 8, 0);
		for (int x = 0; x < 10; x++)
			carets += !!(canvas_at(&c, x, 0)->pen.mods & PEN_CARET);
		assert_int_equal(carets, 1);
		edit_key(&e, K_LEFT);
	}
	edit_draw(&e, &c, 2, 0, 0, 0);
	canvas_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(typing), cmocka_unit_test(words),   cmocka_unit_test(characters),
		cmocka_unit_test(full),   cmocka_unit_test(drawing),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
