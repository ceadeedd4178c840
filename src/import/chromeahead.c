/*
 * chromeahead: braces with a comma and another brace behind them, the first that leads anywhere.
 *
 * What looks so may lie in a text or deeper than the events: then yajl soon stops, and the next one
 * is tried. The thread of the caller.
 */
#include "import/chromeahead.h"

#include <stdlib.h>
#include <string.h>

#include "import/chrometokens.h"

#define EVENTS_MOST 16384 /* of a chunk */
#define TRIES       8
#define DEPTH_MOST  1000

struct chrome_ahead {
	struct chrome_tokens tokens; /* places are those of the chunk's new bytes */
	struct chrome_chunk *chunk;
};

/* An event of the list that began before it is there. */
static int whole(void *ctx, const struct chrome_event *event)
{
	struct chrome_chunk *c = ((struct chrome_ahead *)ctx)->chunk;
	if (c->ahead.len == EVENTS_MOST)
		return -E2BIG;
	return vec_push(&c->ahead, *event);
}

static size_t skip_blanks(const uint8_t *s, size_t at, size_t n)
{
	while (at < n && (s[at] == ' ' || s[at] == '\n' || s[at] == '\r' || s[at] == '\t'))
		at++;
	return at;
}

/* Behind the next brace from @at on that looks like the end of an event; @n: there is none. */
static size_t next_end(const uint8_t *s, size_t at, size_t n)
{
	const uint8_t *brace;
	while (at < n && (brace = memchr(s + at, '}', n - at))) {
		at = (size_t)(brace - s) + 1;
		size_t comma = skip_blanks(s, at, n);
		if (comma == n || s[comma] != ',')
			continue;
		size_t next = skip_blanks(s, comma + 1, n);
		if (next < n && s[next] == '{')
			return at;
	}
	return n;
}

/* Parse from @from on. Returns where yajl stopped. */
static size_t try(struct chrome_ahead *a, const uint8_t *bytes, size_t from, size_t n)
{
	static const char start[] = "[0 ";
	struct chrome_tokens *t = &a->tokens;
	struct chrome_chunk *c = a->chunk;
	c->ahead.len = 0;
	arena_reset(&c->texts);
	t->texts = &c->texts;
	t->why = NULL;
	t->rc = 0;
	if (!chrome_tokens_begin(t) ||
	    !chrome_tokens_feed(t, (const uint8_t *)start, strlen(start)))
		return n;
	t->lo = (const char *)bytes;
	t->len = n;
	t->fed_at = t->event_end = from;
	bool good = chrome_tokens_feed(t, bytes + from, n - from);
	c->ahead_from = from;
	c->ahead_to = t->event_end;
	return good ? n : chrome_tokens_here(t);
}

void chrome_ahead_run(struct chrome_ahead *a, struct chrome_chunk *c)
{
	const uint8_t *bytes = c->room + CHROME_LEAD;
	size_t n = c->n, at = 0;
	a->chunk = c;
	for (unsigned i = 0; i < TRIES && at < n / 2; i++) {
		size_t from = next_end(bytes, at, n);
		at = from < n ? try(a, bytes, from, n) : n;
	}
}

struct chrome_ahead *chrome_ahead_new(void)
{
	struct chrome_ahead *a = calloc(1, sizeof *a);
	if (a)
		a->tokens = (struct chrome_tokens){
			.whole = whole, .ctx = a, .depth_most = DEPTH_MOST, .one_list = true};
	return a;
}

void chrome_ahead_free(struct chrome_ahead *a)
{
	if (a)
		chrome_tokens_fini(&a->tokens);
	free(a);
}
