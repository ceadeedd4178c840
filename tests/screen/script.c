/*
 * script: key scripts, and text files of what screens should look like. Used by every screen test.
 */
#include "script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "view/utf8.h"

#define SETTLE 40 /* more answers than any screen asks for in a row */

void script_init(struct script *s)
{
	memset(s, 0, sizeof *s);
	fake_init(&s->fake);
	s->config.interval_ms = 1000;
	s->config.save_name = "altpttop-mysqld.pb.gz";
	clock_fake(1000000000000ULL, 1700000000000000000ULL);
}

static void settle(struct script *s)
{
	unsigned asked;
	int i = 0;

	do {
		asked = s->fake.asked;
		app_poll(&s->ui);
		app_frame(&s->ui);
		assert_true(i++ < SETTLE);
	} while (asked != s->fake.asked || s->ui.ask);
	app_poll(&s->ui);
	app_frame(&s->ui);
}

void script_start(struct script *s, int w, int h)
{
	struct err err;

	assert_int_equal(app_init(&s->ui, fake_engine(&s->fake), &s->config, &err), 0);
	assert_int_equal(app_resize(&s->ui, w, h), 0);
	settle(s);
}

void script_end(struct script *s)
{
	app_fini(&s->ui);
	assert_int_equal(s->fake.alive, 0);
	fake_fini(&s->fake);
	clock_fake(0, 0);
}

static void press(struct script *s, uint32_t key)
{
	app_key(&s->ui, key);
	settle(s);
}

void script_keys(struct script *s, const char *keys)
{
	while (*keys) {
		size_t len = strcspn(keys, " ");
		char token[64];
		const char *c = token + 1;
		uint32_t ch;

		assert_true(len < sizeof token);
		memcpy(token, keys, len);
		token[len] = '\0';
		keys += len + strspn(keys + len, " ");
		if (token[0] != '"' || !token[1]) {
			ch = key_parse(token);
			assert_int_not_equal(ch, K_NONE);
			press(s, ch);
			continue;
		}
		while ((ch = utf8_next(&c)))
			press(s, ch == '_' ? ' ' : ch);
	}
}

void script_refresh(struct script *s)
{
	settle(s);
}

char *script_text(struct script *s)
{
	struct strbuf out;

	strbuf_init(&out);
	canvas_dump(&s->ui.canvas, &out);
	return strbuf_take(&out);
}

static char *read_whole(const char *path)
{
	FILE *f = fopen(path, "r");
	struct strbuf b;
	char part[4096];
	size_t n;

	if (!f)
		return NULL;
	strbuf_init(&b);
	while ((n = fread(part, 1, sizeof part, f)) > 0)
		strbuf_add(&b, part, n);
	fclose(f);
	return strbuf_take(&b);
}

void script_golden(struct script *s, const char *name, bool looks)
{
	struct strbuf got;
	char path[256];
	char *want;

	strbuf_init(&got);
	canvas_dump(&s->ui.canvas, &got);
	if (looks) {
		strbuf_puts(&got, "--\n");
		canvas_dump_looks(&s->ui.canvas, &got);
	}
	snprintf(path, sizeof path, "tests/screen/golden/%s.txt", name);
	if (getenv("UPDATE_GOLDEN")) {
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		fputs(got.buf, f);
		assert_int_equal(fclose(f), 0);
		strbuf_fini(&got);
		return;
	}
	want = read_whole(path);
	if (!want)
		fail_msg("%s is missing: make it with UPDATE_GOLDEN=1 and look at it", path);
	if (strcmp(want, got.buf)) {
		print_error("%s: the screen differs. Expected:\n%s\nDrawn:\n%s\n", path, want,
			    got.buf);
		fail();
	}
	free(want);
	strbuf_fini(&got);
}
