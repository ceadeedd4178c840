/*
 * chrometokens: yajl's callbacks.
 *
 * yajl takes memory by the length of a text and the depth of brackets, and does not ask whether
 * there is any: both are bounded, and where there is none its call is left by a jump. The thread of
 * the caller.
 */
#include "import/chrometokens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MOST (16u << 20) /* of one text, and of an event's that are copied */

enum next { NEXT_PHASE = CHROME_KEYS, NEXT_NOTHING };

/* --- the memory of yajl --- */

static void *take_memory(void *ctx, void *old, size_t bytes)
{
	struct chrome_tokens *t = ctx;
	void *memory = realloc(old, bytes);
	if (!memory)
		longjmp(t->no_memory, 1);
	if (bytes > TEXT_MOST)
		t->why = "a text is longer than 16 MiB";
	return memory;
}

static void *first_memory(void *ctx, size_t bytes)
{
	return take_memory(ctx, NULL, bytes);
}

static void give_memory(void *ctx, void *memory)
{
	(void)ctx;
	free(memory);
}

bool chrome_tokens_feed(struct chrome_tokens *t, const uint8_t *data, size_t n)
{
	if (!setjmp(t->no_memory))
		return yajl_parse(t->yajl, data, n) == yajl_status_ok && !t->why;
	t->rc = -ENOMEM;
	return false;
}

size_t chrome_tokens_here(const struct chrome_tokens *t)
{
	return t->fed_at + yajl_get_bytes_consumed(t->yajl);
}

/* --- callbacks --- */

/* One bracket deeper. False: too deep. */
static bool deeper(struct chrome_tokens *t)
{
	if (t->depth == t->depth_most)
		t->why = "brackets stand in more than 65,536 others";
	t->depth++;
	return !t->why;
}

static int on_start_map(void *ctx)
{
	struct chrome_tokens *t = ctx;
	t->next = NEXT_NOTHING;
	if (!deeper(t))
		return 0;
	if (t->depth == t->event_depth) {
		t->in_event = true;
		t->event.phase = 0;
		t->event.present = 0;
		t->event.average = false;
		t->key_is_args = false;
		size_t at = chrome_tokens_here(t);
		t->event_start = at - (at > 0);
		t->start_lost = false;
	} else if (t->depth == 1) {
		t->root_is_map = true;
	} else if (t->depth == 3 && t->key_is_samples) {
		t->samples++;
	}
	return 1;
}

static int key_of_event(const unsigned char *s, size_t n)
{
	switch (n) {
	case 2:
		return s[0] == 't' && s[1] == 's'   ? CHROME_TS
		       : s[0] == 'p' && s[1] == 'h' ? NEXT_PHASE
						    : NEXT_NOTHING;
	case 3:
		return s[1] == 'i' && s[2] == 'd' && s[0] == 'p'   ? CHROME_PID
		       : s[1] == 'i' && s[2] == 'd' && s[0] == 't' ? CHROME_TID
		       : !memcmp(s, "dur", 3)                      ? CHROME_DUR
								   : NEXT_NOTHING;
	case 4: return memcmp(s, "name", 4) ? NEXT_NOTHING : CHROME_NAME;
	default: return NEXT_NOTHING;
	}
}

static int on_key(void *ctx, const unsigned char *s, size_t n)
{
	struct chrome_tokens *t = ctx;
	int next = NEXT_NOTHING;
	if (t->in_event && t->depth == t->event_depth) {
		next = key_of_event(s, n);
		t->key_is_args = n == 4 && !memcmp(s, "args", 4);
	} else if (t->in_event && t->depth == t->event_depth + 1) {
		if (t->key_is_args && n == 4 && !memcmp(s, "name", 4))
			next = CHROME_ARGS_NAME;
		else if (t->key_is_args && n == 6 && !memcmp(s, "avg ms", 6))
			t->event.average = true;
	} else if (t->depth == 1 && t->root_is_map) {
		t->key_is_events = n == 11 && !memcmp(s, "traceEvents", 11);
		t->key_is_samples = n == 7 && !memcmp(s, "samples", 7);
	}
	t->next = next;
	return 1;
}

static int on_end_map(void *ctx)
{
	struct chrome_tokens *t = ctx;
	t->next = NEXT_NOTHING; /* a bare value may follow in the list */
	if (t->depth-- != t->event_depth || !t->in_event)
		return 1;
	t->in_event = t->start_lost = false;
	t->rc = t->whole(t->ctx, &t->event);
	if (!t->rc)
		t->event_end = chrome_tokens_here(t);
	return !t->rc;
}

static int on_start_array(void *ctx)
{
	struct chrome_tokens *t = ctx;
	if (!deeper(t))
		return 0;
	if (t->depth == 1)
		t->root_is_map = false;
	bool events = t->depth == 1 || (t->depth == 2 && t->root_is_map && t->key_is_events);
	if (events && !t->event_depth) {
		t->event_depth = t->depth + 1;
		t->seen_events = true;
		t->start_lost = false;
		t->event_end = chrome_tokens_here(t);
	}
	t->next = NEXT_NOTHING;
	return 1;
}

static int on_end_array(void *ctx)
{
	struct chrome_tokens *t = ctx;
	bool ends = t->event_depth && t->depth == t->event_depth - 1;
	if (ends)
		t->event_depth = 0;
	t->depth--;
	return !ends || !t->one_list;
}

static bool lies_in(const struct chrome_tokens *t, const char *s)
{
	return (size_t)((uintptr_t)s - (uintptr_t)t->lo) < t->len;
}

/* A text that does not lie in the bytes themselves, or not for long. */
static bool keep_text(struct chrome_tokens *t, struct chrome_text *text)
{
	if (t->texts->bytes > TEXT_MOST)
		t->why = "an event has more than 16 MiB of texts";
	char *copy = t->why ? NULL : arena_alloc(t->texts, text->n ? text->n : 1);
	if (!copy) {
		t->rc = t->why ? -EBADMSG : -ENOMEM;
		return false;
	}
	text->s = text->n ? memcpy(copy, text->s, text->n) : copy;
	return true;
}

bool chrome_tokens_keep(struct chrome_tokens *t)
{
	for (unsigned key = 0; t->in_event && key < CHROME_KEYS; key++) {
		struct chrome_text *text = &t->event.text[key];
		if (t->event.present & 1u << key && lies_in(t, text->s) && !keep_text(t, text))
			return false;
	}
	return true;
}

static int take_text(struct chrome_tokens *t, int key, const char *s, size_t n)
{
	struct chrome_text *text = &t->event.text[key];
	*text = (struct chrome_text){s, n};
	t->event.present |= (uint8_t)(1u << key);
	return lies_in(t, s) || keep_text(t, text);
}

static int on_number(void *ctx, const char *s, size_t n)
{
	struct chrome_tokens *t = ctx;
	if (t->next < CHROME_ARGS_NAME)
		return take_text(t, t->next, s, n);
	if (t->next == NEXT_PHASE)
		t->event.phase = 0;
	return 1;
}

static int on_string(void *ctx, const unsigned char *s, size_t n)
{
	struct chrome_tokens *t = ctx;
	if (t->next < CHROME_KEYS)
		return take_text(t, t->next, (const char *)s, n);
	if (t->next == NEXT_PHASE)
		t->event.phase = n == 1 ? (char)s[0] : 0;
	return 1;
}

static const yajl_callbacks callbacks = {
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_start_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end_map,
	.yajl_start_array = on_start_array,
	.yajl_end_array = on_end_array,
};

void chrome_tokens_fini(struct chrome_tokens *t)
{
	if (t->yajl)
		yajl_free(t->yajl);
	t->yajl = NULL;
}

bool chrome_tokens_begin(struct chrome_tokens *t)
{
	chrome_tokens_fini(t);
	if (setjmp(t->no_memory))
		return false;
	yajl_alloc_funcs memory = {first_memory, take_memory, give_memory, t};
	t->yajl = yajl_alloc(&callbacks, &memory, t);
	yajl_config(t->yajl, yajl_dont_validate_strings, 1);
	yajl_config(t->yajl, yajl_allow_comments, 1);
	yajl_config(t->yajl, yajl_allow_multiple_values, 1);
	t->depth = t->event_depth = 0;
	t->in_event = false;
	t->next = NEXT_NOTHING;
	t->root_is_map = t->key_is_samples = false;
	return true;
}
