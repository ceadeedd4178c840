/*
 * chromeparse: yajl's callbacks, which keep where an event's texts lie, and what ties chunks
 * together.
 *
 * Strict parsing is the fast way. Where it stops inside the events (a trailing comma, raw control
 * characters, NaN), the reading goes on from that event through jsonfix; for that the bytes of an
 * event that a chunk's end cuts come again before those of the next one. The thread of the caller.
 */
#include "import/chromeparse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "codec/jsonfix.h"

#define AGAIN_MAX   (512u << 10) /* a longer event cannot be tried again */
#define FIXED_PIECE (16u << 10)

enum next { NEXT_PHASE = CHROME_KEYS, NEXT_NOTHING };

struct chrome_parser {
	yajl_handle yajl;
	struct chrome_chunk *chunk;
	const char *lo; /* what yajl is fed: @len bytes that stay as long as the chunk */
	size_t len;
	struct chrome_event *event; /* that is being read, behind the chunk's whole ones; or NULL */
	int next;                   /* which of its texts the next value is */
	int depth, event_depth;     /* event_depth: that of an event's braces, 0 not among them */
	bool root_is_map, key_is_events, key_is_args, seen_events;
	size_t fed_at;      /* in the chunk's data: where the bytes that yajl is fed begin */
	size_t event_start; /* the same of the current event's brace */
	size_t event_end;   /* and behind the last whole event */
	bool start_lost;    /* the current event's beginning is gone */
	bool lenient;
	struct jsonfix fix;
	uint64_t at;
	int rc;
};

static size_t here(const struct chrome_parser *p)
{
	return p->fed_at + yajl_get_bytes_consumed(p->yajl);
}

static int on_start_map(void *ctx)
{
	struct chrome_parser *p = ctx;
	p->next = NEXT_NOTHING;
	if (++p->depth == p->event_depth) {
		if (vec_reserve(&p->chunk->events, p->chunk->events.len + 1)) {
			p->rc = -ENOMEM;
			return 0;
		}
		p->event = &p->chunk->events.data[p->chunk->events.len];
		p->event->phase = 0;
		p->event->present = 0;
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
	if (p->event && p->depth == p->event_depth) {
		next = key_of_event(s, n);
		p->key_is_args = n == 4 && !memcmp(s, "args", 4);
	} else if (p->event && p->depth == p->event_depth + 1) {
		if (p->key_is_args && n == 4 && !memcmp(s, "name", 4))
			next = CHROME_ARGS_NAME;
	} else if (p->depth == 1 && p->root_is_map) {
		p->key_is_events = n == 11 && !memcmp(s, "traceEvents", 11);
	}
	p->next = next;
	return 1;
}

static int on_end_map(void *ctx)
{
	struct chrome_parser *p = ctx;
	if (p->event && p->depth == p->event_depth) {
		p->event = NULL;
		p->chunk->events.len++;
		p->event_end = here(p);
	}
	p->next = NEXT_NOTHING; /* a bare value may follow in the list */
	p->depth--;
	return 1;
}

static int on_start_array(void *ctx)
{
	struct chrome_parser *p = ctx;
	p->depth++;
	bool events = p->depth == 1 || (p->depth == 2 && p->root_is_map && p->key_is_events);
	if (events && !p->event_depth) {
		p->event_depth = p->depth + 1;
		p->seen_events = true;
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

/* A text that does not lie in the bytes themselves: into the chunk's memory. */
static bool keep_text(struct chrome_chunk *c, struct chrome_text *t)
{
	char *copy = arena_alloc(&c->texts, t->n ? t->n : 1);
	if (!copy)
		return false;
	t->s = t->n ? memcpy(copy, t->s, t->n) : copy;
	return true;
}

static int take_text(struct chrome_parser *p, int key, const char *s, size_t n)
{
	struct chrome_text *t = &p->event->text[key];
	*t = (struct chrome_text){s, n};
	p->event->present |= (uint8_t)(1u << key);
	if ((size_t)((uintptr_t)s - (uintptr_t)p->lo) < p->len)
		return 1;
	if (!keep_text(p->chunk, t))
		p->rc = -ENOMEM;
	return !p->rc;
}

static int on_number(void *ctx, const char *s, size_t n)
{
	struct chrome_parser *p = ctx;
	if (p->next < CHROME_ARGS_NAME)
		return take_text(p, p->next, s, n);
	if (p->next == NEXT_PHASE)
		p->event->phase = 0;
	return 1;
}

static int on_string(void *ctx, const unsigned char *s, size_t n)
{
	struct chrome_parser *p = ctx;
	if (p->next < CHROME_KEYS)
		return take_text(p, p->next, (const char *)s, n);
	if (p->next == NEXT_PHASE)
		p->event->phase = n ? (char)s[0] : 0;
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
	p->yajl = yajl_alloc(&callbacks, NULL, p);
	if (!p->yajl)
		return false;
	yajl_config(p->yajl, yajl_dont_validate_strings, 1);
	yajl_config(p->yajl, yajl_allow_comments, 1);
	yajl_config(p->yajl, yajl_allow_trailing_garbage, 1);
	p->depth = p->event_depth = 0;
	p->event = NULL;
	p->next = NEXT_NOTHING;
	p->root_is_map = false;
	return true;
}

/* --- chunks --- */

int chrome_chunk_init(struct chrome_chunk *c)
{
	*c = (struct chrome_chunk){.room = malloc(CHROME_LEAD + CHROME_CHUNK)};
	arena_init(&c->texts);
	return c->room ? 0 : -ENOMEM;
}

void chrome_chunk_fini(struct chrome_chunk *c)
{
	free(c->room);
	free(c->longer);
	free(c->fixed);
	arena_fini(&c->texts);
	vec_fini(&c->events);
}

/* Empty what an earlier use left; the new bytes stay. */
static void chunk_clear(struct chrome_chunk *c)
{
	free(c->longer);
	free(c->fixed);
	c->longer = c->fixed = NULL;
	arena_reset(&c->texts);
	c->events.len = 0;
	c->data = c->room + CHROME_LEAD;
	c->lead = 0;
}

/* The event that goes on in the next chunk: its texts there. @keep: from where on data comes again.
 */
static int move_event(struct chrome_parser *p, struct chrome_chunk *c,
		      const struct chrome_chunk *last, size_t keep)
{
	if (vec_reserve(&c->events, 1))
		return -ENOMEM;
	struct chrome_event *e = &c->events.data[0];
	*e = *p->event;
	for (unsigned key = 0; key < CHROME_KEYS; key++) {
		struct chrome_text *t = &e->text[key];
		if (!(e->present & 1u << key))
			continue;
		size_t at = (uintptr_t)t->s - (uintptr_t)last->data;
		if (at >= keep && at < last->n)
			t->s = (const char *)c->data + (at - keep);
		else if (!keep_text(c, t))
			return -ENOMEM;
	}
	p->event = e;
	return 0;
}

/* Put before the new bytes those of @last that a second try would need. */
static int join(struct chrome_parser *p, struct chrome_chunk *c, const struct chrome_chunk *last)
{
	size_t keep = p->lenient || (p->event && p->start_lost) ? last->n
		      : p->event                                ? p->event_start
		      : p->event_depth                          ? p->event_end
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
	return p->event ? move_event(p, c, last, keep) : 0;
}

/*
 * The strict parser stopped. Begin anew inside the events, from the event where it stopped (or
 * behind the last whole one), through jsonfix. False: that is not where it stopped.
 */
static bool go_lenient(struct chrome_parser *p, size_t *ret_from)
{
	if (p->lenient || !p->event_depth || (p->event && p->start_lost))
		return false;
	bool map = p->root_is_map, in_event = p->event;
	size_t from = in_event ? p->event_start : p->event_end;
	if (!new_yajl(p))
		return false;
	char text[40];
	int n = snprintf(text, sizeof text, "%s0%s", map ? "{\"traceEvents\":[" : "[",
			 in_event ? "," : "");
	if (yajl_parse(p->yajl, (const unsigned char *)text, (size_t)n) != yajl_status_ok)
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
		yajl_status status = got ? yajl_parse(p->yajl, c->fixed + made, got)
					 : yajl_status_ok;
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
	int rc = last ? join(p, c, last) : 0;
	if (rc)
		return rc;
	if (p->lenient)
		return feed_fixed(p, c->lead);
	p->lo = (const char *)c->data;
	p->len = c->n;
	p->fed_at = c->lead;
	yajl_status status = yajl_parse(p->yajl, c->data + c->lead, c->n - c->lead);
	size_t from;
	if (p->rc || status == yajl_status_ok)
		return p->rc;
	p->at = c->offset + yajl_get_bytes_consumed(p->yajl);
	return go_lenient(p, &from) ? feed_fixed(p, from) : -EBADMSG;
}

struct chrome_parser *chrome_parser_new(void)
{
	struct chrome_parser *p = calloc(1, sizeof *p);
	if (p && !new_yajl(p)) {
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
	free(p);
}

uint64_t chrome_parser_at(const struct chrome_parser *p)
{
	return p->at;
}

bool chrome_parser_is_trace(const struct chrome_parser *p)
{
	return p->seen_events;
}

const char *chrome_parser_missing(const struct chrome_parser *p)
{
	/* The end of a bare array of events may lack: that is how they are written. */
	return p->event                     ? "its last event is not whole and not counted"
	       : p->root_is_map && p->depth ? "the end of its JSON is missing"
					    : NULL;
}
