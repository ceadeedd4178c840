/*
 * chromeparse: yajl's callbacks, which keep where an event's texts lie, and what ties chunks
 * together.
 *
 * yajl takes memory by the length of a text and the depth of brackets, and does not ask whether
 * there is any: both are bounded, and where there is none its call is left by a jump.
 *
 * Strict parsing is the fast way. Where it stops inside the events (a trailing comma, raw control
 * characters, NaN), the reading goes on from that event through jsonfix; for that the bytes of an
 * event that a chunk's end cuts come again before those of the next one. The thread of the caller.
 */
#include "import/chromeparse.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "codec/jsonfix.h"

#define AGAIN_MAX   (512u << 10) /* a longer event cannot be tried again */
#define FIXED_PIECE (16u << 10)
#define TEXT_MOST   (16u << 20) /* of one text, and of an event's that are copied */
#define DEPTH_MOST  65536

enum next { NEXT_PHASE = CHROME_KEYS, NEXT_NOTHING };

struct chrome_parser {
	yajl_handle yajl;
	struct chrome_chunk *chunk;
	const char *lo; /* what yajl is fed: @len bytes that stay as long as the chunk */
	size_t len;
	struct chrome_events *events;
	struct chrome_event event; /* that is being read, if any */
	struct arena texts;        /* its texts that do not lie in the chunk's bytes */
	bool in_event;
	int next;               /* which of its texts the next value is */
	int depth, event_depth; /* event_depth: that of an event's braces, 0 not among them */
	bool root_is_map, key_is_events, key_is_args, seen_events;
	size_t fed_at;      /* in the chunk's data: where the bytes that yajl is fed begin */
	size_t event_start; /* the same of the current event's brace */
	size_t event_end;   /* and behind the last whole event */
	bool start_lost; /* the current event's beginning is gone, or what follows the last one */
	bool lenient;
	struct jsonfix fix;
	jmp_buf no_memory;
	const char *why; /* what is wrong with it, NULL: it is no JSON */
	uint64_t at;
	int rc;
};

/* --- the memory of yajl --- */

static void *take_memory(void *ctx, void *old, size_t bytes)
{
	struct chrome_parser *p = ctx;
	void *memory = realloc(old, bytes);
	if (!memory)
		longjmp(p->no_memory, 1);
	if (bytes > TEXT_MOST)
		p->why = "a text is longer than 16 MiB";
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

static yajl_status feed(struct chrome_parser *p, const uint8_t *data, size_t n)
{
	if (!setjmp(p->no_memory)) {
		yajl_status status = yajl_parse(p->yajl, data, n);
		return p->why ? yajl_status_error : status;
	}
	p->rc = -ENOMEM;
	return yajl_status_error;
}

/* --- callbacks --- */

static size_t here(const struct chrome_parser *p)
{
	return p->fed_at + yajl_get_bytes_consumed(p->yajl);
}

/* One bracket deeper. False: too deep. */
static bool deeper(struct chrome_parser *p)
{
	if (p->depth == DEPTH_MOST)
		p->why = "brackets stand in more than 65,536 others";
	p->depth++;
	return !p->why;
}

static int on_start_map(void *ctx)
{
	struct chrome_parser *p = ctx;
	p->next = NEXT_NOTHING;
	if (!deeper(p))
		return 0;
	if (p->depth == p->event_depth) {
		if (p->texts.head)
			arena_reset(&p->texts);
		p->in_event = true;
		p->event.phase = 0;
		p->event.present = 0;
		p->event.average = false;
		p->key_is_args = false;
		size_t at = here(p);
		p->event_start = at - (at > 0);
		p->start_lost = false;
	} else if (p->depth == 1) {
		p->root_is_map = true;
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
	struct chrome_parser *p = ctx;
	int next = NEXT_NOTHING;
	if (p->in_event && p->depth == p->event_depth) {
		next = key_of_event(s, n);
		p->key_is_args = n == 4 && !memcmp(s, "args", 4);
	} else if (p->in_event && p->depth == p->event_depth + 1) {
		if (p->key_is_args && n == 4 && !memcmp(s, "name", 4))
			next = CHROME_ARGS_NAME;
		else if (p->key_is_args && n == 6 && !memcmp(s, "avg ms", 6))
			p->event.average = true;
	} else if (p->depth == 1 && p->root_is_map) {
		p->key_is_events = n == 11 && !memcmp(s, "traceEvents", 11);
	}
	p->next = next;
	return 1;
}

static int on_end_map(void *ctx)
{
	struct chrome_parser *p = ctx;
	p->next = NEXT_NOTHING; /* a bare value may follow in the list */
	if (p->depth-- != p->event_depth || !p->in_event)
		return 1;
	p->in_event = p->start_lost = false;
	p->event_end = here(p);
	int rc = vec_reserve(&p->chunk->records, p->chunk->records.len + 1);
	if (!rc)
		rc = chrome_events_read(p->events, &p->event,
					&p->chunk->records.data[p->chunk->records.len]);
	if (rc < 0)
		p->rc = rc;
	else
		p->chunk->records.len += (size_t)rc;
	return rc >= 0;
}

static int on_start_array(void *ctx)
{
	struct chrome_parser *p = ctx;
	if (!deeper(p))
		return 0;
	if (p->depth == 1)
		p->root_is_map = false;
	bool events = p->depth == 1 || (p->depth == 2 && p->root_is_map && p->key_is_events);
	if (events && !p->event_depth) {
		p->event_depth = p->depth + 1;
		p->seen_events = true;
		p->start_lost = false;
		p->event_end = here(p);
	}
	p->next = NEXT_NOTHING;
	return 1;
}

static int on_end_array(void *ctx)
{
	struct chrome_parser *p = ctx;
	if (p->event_depth && p->depth == p->event_depth - 1)
		p->event_depth = 0;
	p->depth--;
	return 1;
}

/* A text that does not lie in the bytes themselves, or not for long. */
static bool keep_text(struct chrome_parser *p, struct chrome_text *t)
{
	if (p->texts.bytes > TEXT_MOST)
		p->why = "an event has more than 16 MiB of texts";
	char *copy = p->why ? NULL : arena_alloc(&p->texts, t->n ? t->n : 1);
	if (!copy) {
		p->rc = p->why ? -EBADMSG : -ENOMEM;
		return false;
	}
	t->s = t->n ? memcpy(copy, t->s, t->n) : copy;
	return true;
}

static int take_text(struct chrome_parser *p, int key, const char *s, size_t n)
{
	struct chrome_text *t = &p->event.text[key];
	*t = (struct chrome_text){s, n};
	p->event.present |= (uint8_t)(1u << key);
	return (size_t)((uintptr_t)s - (uintptr_t)p->lo) < p->len || keep_text(p, t);
}

static int on_number(void *ctx, const char *s, size_t n)
{
	struct chrome_parser *p = ctx;
	if (p->next < CHROME_ARGS_NAME)
		return take_text(p, p->next, s, n);
	if (p->next == NEXT_PHASE)
		p->event.phase = 0;
	return 1;
}

static int on_string(void *ctx, const unsigned char *s, size_t n)
{
	struct chrome_parser *p = ctx;
	if (p->next < CHROME_KEYS)
		return take_text(p, p->next, (const char *)s, n);
	if (p->next == NEXT_PHASE)
		p->event.phase = n == 1 ? (char)s[0] : 0;
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

static bool new_yajl(struct chrome_parser *p)
{
	if (p->yajl)
		yajl_free(p->yajl);
	p->yajl = NULL;
	if (setjmp(p->no_memory))
		return false;
	yajl_alloc_funcs memory = {first_memory, take_memory, give_memory, p};
	p->yajl = yajl_alloc(&callbacks, &memory, p);
	yajl_config(p->yajl, yajl_dont_validate_strings, 1);
	yajl_config(p->yajl, yajl_allow_comments, 1);
	yajl_config(p->yajl, yajl_allow_multiple_values, 1);
	p->depth = p->event_depth = 0;
	p->in_event = false;
	p->next = NEXT_NOTHING;
	p->root_is_map = false;
	return true;
}

/* --- chunks --- */

int chrome_chunk_init(struct chrome_chunk *c)
{
	*c = (struct chrome_chunk){.room = malloc(CHROME_LEAD + CHROME_CHUNK)};
	return c->room ? 0 : -ENOMEM;
}

void chrome_chunk_fini(struct chrome_chunk *c)
{
	free(c->room);
	free(c->longer);
	free(c->fixed);
	vec_fini(&c->records);
}

/* Empty what an earlier use left; the new bytes stay. */
static void chunk_clear(struct chrome_chunk *c)
{
	free(c->longer);
	free(c->fixed);
	c->longer = c->fixed = NULL;
	c->records.len = 0;
	c->data = c->room + CHROME_LEAD;
	c->lead = 0;
}

/* The event goes on in the next chunk: keep its texts that lie in the bytes of this one. */
static bool keep_event(struct chrome_parser *p)
{
	for (unsigned key = 0; key < CHROME_KEYS; key++) {
		struct chrome_text *t = &p->event.text[key];
		if (p->event.present & 1u << key &&
		    (size_t)((uintptr_t)t->s - (uintptr_t)p->lo) < p->len && !keep_text(p, t))
			return false;
	}
	return true;
}

/* Put before the new bytes those of @last that a second try would need. */
static int join(struct chrome_parser *p, struct chrome_chunk *c, const struct chrome_chunk *last)
{
	size_t keep = p->lenient || p->start_lost ? last->n
		      : p->in_event               ? p->event_start
		      : p->event_depth            ? p->event_end
						  : last->n;
	if (last->n - keep > AGAIN_MAX) {
		p->start_lost = true;
		keep = last->n;
	}
	size_t lead = last->n - keep;
	if (lead <= CHROME_LEAD) {
		c->data -= lead;
	} else {
		if (!(c->longer = malloc(lead + c->n)))
			return -ENOMEM;
		memcpy(c->longer + lead, c->data, c->n);
		c->data = c->longer;
	}
	memcpy(c->data, last->data + keep, lead);
	c->lead = lead;
	c->n += lead;
	p->event_start = p->event_start > keep ? p->event_start - keep : 0;
	p->event_end = p->event_end > keep ? p->event_end - keep : 0;
	return 0;
}

/*
 * The strict parser stopped. Begin anew inside the events, from the event where it stopped (or
 * behind the last whole one), through jsonfix. False: that is not where it stopped.
 */
static bool go_lenient(struct chrome_parser *p, size_t *ret_from)
{
	if (p->lenient || !p->event_depth || p->start_lost || p->why)
		return false;
	bool map = p->root_is_map, in_event = p->in_event;
	size_t from = in_event ? p->event_start : p->event_end;
	if (!new_yajl(p))
		return false;
	char text[40];
	int n = snprintf(text, sizeof text, "%s0%s", map ? "{\"traceEvents\":[" : "[",
			 in_event ? "," : "");
	if (feed(p, (const uint8_t *)text, (size_t)n) != yajl_status_ok)
		return false;
	p->lenient = true;
	p->fix = (struct jsonfix){0};
	*ret_from = from;
	return true;
}

/* The chunk's bytes from @from on through jsonfix. -EBADMSG: near p->at. */
static int feed_fixed(struct chrome_parser *p, size_t from)
{
	struct chrome_chunk *c = p->chunk;
	size_t room = JSONFIX_ROOM(c->n - from) + JSONFIX_ROOM(0) * (c->n / FIXED_PIECE + 1);
	size_t made = 0;
	if (!(c->fixed = malloc(room)))
		return -ENOMEM;
	p->lo = (const char *)c->fixed;
	while (from < c->n) {
		size_t n = c->n - from < FIXED_PIECE ? c->n - from : FIXED_PIECE;
		size_t got = jsonfix_run(&p->fix, c->data + from, n, c->fixed + made);
		p->len = made + got;
		p->fed_at = from;
		yajl_status status = got ? feed(p, c->fixed + made, got) : yajl_status_ok;
		if (p->rc)
			return p->rc;
		if (status != yajl_status_ok) {
			p->at = c->offset - c->lead + from;
			return -EBADMSG;
		}
		made += got;
		from += n;
	}
	return 0;
}

int chrome_parser_run(struct chrome_parser *p, struct chrome_chunk *c,
		      const struct chrome_chunk *last)
{
	chunk_clear(c);
	p->chunk = c;
	if (p->in_event && !keep_event(p))
		return p->rc;
	int rc = last ? join(p, c, last) : 0;
	if (rc)
		return rc;
	if (p->lenient)
		return feed_fixed(p, c->lead);
	p->lo = (const char *)c->data;
	p->len = c->n;
	p->fed_at = c->lead;
	yajl_status status = feed(p, c->data + c->lead, c->n - c->lead);
	size_t from;
	if (p->rc || status == yajl_status_ok)
		return p->rc;
	p->at = c->offset + yajl_get_bytes_consumed(p->yajl);
	return go_lenient(p, &from) ? feed_fixed(p, from) : -EBADMSG;
}

struct chrome_parser *chrome_parser_new(struct chrome_events *events)
{
	struct chrome_parser *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->events = events;
	arena_init(&p->texts);
	if (!new_yajl(p)) {
		free(p);
		return NULL;
	}
	return p;
}

void chrome_parser_free(struct chrome_parser *p)
{
	if (!p)
		return;
	if (p->yajl)
		yajl_free(p->yajl);
	arena_fini(&p->texts);
	free(p);
}

uint64_t chrome_parser_at(const struct chrome_parser *p)
{
	return p->at;
}

const char *chrome_parser_why(const struct chrome_parser *p)
{
	return p->why ? p->why : "";
}

bool chrome_parser_is_trace(const struct chrome_parser *p)
{
	return p->seen_events;
}

const char *chrome_parser_missing(const struct chrome_parser *p)
{
	/* The end of a bare array of events may lack: that is how they are written. */
	return p->in_event                  ? "its last event is not whole and not counted"
	       : p->root_is_map && p->depth ? "the end of its JSON is missing"
					    : NULL;
}
