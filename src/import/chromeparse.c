/*
 * chromeparse: what ties chunks together, and what is done where JSON is not strict.
 *
 * Strict parsing is the fast way. Where it stops inside the events (a trailing comma, raw control
 * characters, NaN), the reading goes on from that event through jsonfix; for that the bytes of an
 * event that a chunk's end cuts come again before those of the next one.
 *
 * What was parsed ahead began as if an event of the list ended right before. If one does, a parser
 * that comes from the file's beginning is there in the same state as the one that began there: it
 * is spared those bytes. Else it reads them itself, so that what is told never depends on guesses.
 * The thread of the caller.
 */
#include "import/chromeparse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/jsonfix.h"
#include "import/chrometokens.h"

#define AGAIN_MAX   (512u << 10) /* a longer event cannot be tried again */
#define FIXED_PIECE (16u << 10)

struct chrome_parser {
	struct chrome_tokens tokens; /* places are in the chunk's data */
	struct chrome_chunk *chunk;
	struct chrome_events *events;
	struct arena texts; /* of the event at hand, that do not lie in the chunk's bytes */
	bool lenient;
	struct jsonfix fix;
	uint64_t at;
};

static int whole(void *ctx, const struct chrome_event *event)
{
	struct chrome_parser *p = ctx;
	struct chrome_chunk *c = p->chunk;
	int rc = vec_reserve(&c->records, c->records.len + 1);
	rc = rc ? rc : chrome_events_read(p->events, event, &c->records.data[c->records.len]);
	if (p->texts.head)
		arena_reset(&p->texts);
	if (rc < 0)
		return rc;
	c->records.len += (size_t)rc;
	return 0;
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
	vec_fini(&c->ahead);
	arena_fini(&c->texts);
}

void chrome_chunk_clear(struct chrome_chunk *c)
{
	free(c->longer);
	free(c->fixed);
	arena_reset(&c->texts);
	c->longer = c->fixed = NULL;
	c->records.len = c->ahead.len = 0;
	c->data = c->room + CHROME_LEAD;
	c->n = c->lead = c->ahead_from = c->ahead_to = 0;
}

/* Put before the new bytes those of @last that a second try would need. */
static int join(struct chrome_parser *p, struct chrome_chunk *c, const struct chrome_chunk *last)
{
	struct chrome_tokens *t = &p->tokens;
	size_t keep = p->lenient || t->start_lost ? last->n
		      : t->in_event               ? t->event_start
		      : t->event_depth            ? t->event_end
						  : last->n;
	if (last->n - keep > AGAIN_MAX) {
		t->start_lost = true;
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
	t->event_start = t->event_start > keep ? t->event_start - keep : 0;
	t->event_end = t->event_end > keep ? t->event_end - keep : 0;
	return 0;
}

/*
 * The strict parser stopped. Begin anew inside the events, from the event where it stopped (or
 * behind the last whole one), through jsonfix. False: that is not where it stopped.
 */
static bool go_lenient(struct chrome_parser *p, size_t *ret_from)
{
	struct chrome_tokens *t = &p->tokens;
	if (p->lenient || !t->event_depth || t->start_lost || t->why)
		return false;
	bool map = t->root_is_map, in_event = t->in_event;
	size_t from = in_event ? t->event_start : t->event_end;
	if (!chrome_tokens_begin(t))
		return false;
	char text[40];
	int n = snprintf(text, sizeof text, "%s0%s", map ? "{\"traceEvents\":[" : "[",
			 in_event ? "," : "");
	if (!chrome_tokens_feed(t, (const uint8_t *)text, (size_t)n))
		return false;
	p->lenient = true;
	p->fix = (struct jsonfix){0};
	*ret_from = from;
	return true;
}

/* The chunk's bytes from @from on through jsonfix. -EBADMSG: near p->at. */
static int feed_fixed(struct chrome_parser *p, size_t from)
{
	struct chrome_tokens *t = &p->tokens;
	struct chrome_chunk *c = p->chunk;
	size_t room = JSONFIX_ROOM(c->n - from) + JSONFIX_ROOM(0) * (c->n / FIXED_PIECE + 1);
	size_t made = 0;
	if (!(c->fixed = malloc(room)))
		return -ENOMEM;
	t->lo = (const char *)c->fixed;
	while (from < c->n) {
		size_t n = c->n - from < FIXED_PIECE ? c->n - from : FIXED_PIECE;
		size_t got = jsonfix_run(&p->fix, c->data + from, n, c->fixed + made);
		t->len = made + got;
		t->fed_at = from;
		bool good = !got || chrome_tokens_feed(t, c->fixed + made, got);
		if (t->rc)
			return t->rc;
		if (!good) {
			p->at = c->offset - c->lead + from;
			return -EBADMSG;
		}
		made += got;
		from += n;
	}
	return 0;
}

/* The chunk's bytes from @from up to @to. False: the parser stopped at p->at. */
static bool feed_strict(struct chrome_parser *p, size_t from, size_t to)
{
	struct chrome_tokens *t = &p->tokens;
	t->fed_at = from;
	bool good = chrome_tokens_feed(t, p->chunk->data + from, to - from);
	if (!good)
		p->at = p->chunk->offset - p->chunk->lead + chrome_tokens_here(t);
	return good;
}

/* What was parsed ahead, if an event of the list ends at @from, up to which all was fed. -errno. */
static int take_ahead(struct chrome_parser *p, size_t from, size_t *ret_fed)
{
	struct chrome_chunk *c = p->chunk;
	struct chrome_tokens *t = &p->tokens;
	int rc = 0;
	*ret_fed = from;
	if (t->event_end != from) {
		c->ahead.len = 0;
		return 0;
	}
	for (size_t i = 0; i < c->ahead.len && !rc; i++)
		rc = whole(p, &c->ahead.data[i]);
	*ret_fed = t->event_end = from + c->ahead_to - c->ahead_from;
	return t->rc = rc;
}

/* False: as with feed_strict, or rc says it. */
static bool feed_chunk(struct chrome_parser *p)
{
	struct chrome_chunk *c = p->chunk;
	size_t fed = c->lead;
	if (c->ahead_to > c->ahead_from) {
		size_t from = c->lead + c->ahead_from;
		if (!feed_strict(p, fed, from) || take_ahead(p, from, &fed))
			return false;
	}
	return fed == c->n || feed_strict(p, fed, c->n);
}

int chrome_parser_run(struct chrome_parser *p, struct chrome_chunk *c,
		      const struct chrome_chunk *last)
{
	struct chrome_tokens *t = &p->tokens;
	p->chunk = c;
	if (!chrome_tokens_keep(t))
		return t->rc;
	int rc = last ? join(p, c, last) : 0;
	if (rc)
		return rc;
	if (p->lenient)
		return feed_fixed(p, c->lead);
	t->lo = (const char *)c->data;
	t->len = c->n;
	size_t from;
	if (feed_chunk(p) || t->rc)
		return t->rc;
	return go_lenient(p, &from) ? feed_fixed(p, from) : -EBADMSG;
}

struct chrome_parser *chrome_parser_new(struct chrome_events *events)
{
	struct chrome_parser *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->events = events;
	p->tokens = (struct chrome_tokens){
		.whole = whole, .ctx = p, .texts = &p->texts, .depth_most = CHROME_DEPTH_MOST};
	if (!chrome_tokens_begin(&p->tokens)) {
		free(p);
		return NULL;
	}
	return p;
}

void chrome_parser_free(struct chrome_parser *p)
{
	if (!p)
		return;
	chrome_tokens_fini(&p->tokens);
	arena_fini(&p->texts);
	free(p);
}

uint64_t chrome_parser_at(const struct chrome_parser *p)
{
	return p->at;
}

const char *chrome_parser_why(const struct chrome_parser *p)
{
	return p->tokens.why ? p->tokens.why : "";
}

bool chrome_parser_is_trace(const struct chrome_parser *p)
{
	return p->tokens.seen_events;
}

uint64_t chrome_parser_samples(const struct chrome_parser *p)
{
	return p->tokens.samples;
}

bool chrome_parser_is_lenient(const struct chrome_parser *p)
{
	return p->lenient;
}

const char *chrome_parser_missing(const struct chrome_parser *p)
{
	const struct chrome_tokens *t = &p->tokens;
	/* The end of a bare array of events may lack: that is how they are written. */
	return t->in_event                  ? "its last event is not whole and not counted"
	       : t->root_is_map && t->depth ? "the end of its JSON is missing"
					    : NULL;
}
