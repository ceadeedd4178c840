/*
 * chrome: Chrome Trace JSON, streamed through yajl: an array of events, or an object with
 * "traceEvents".
 *
 * Strict parsing is the fast way. Where it stops inside the events (a trailing comma, raw control
 * characters, NaN), the reading goes on from that event through jsonfix. An unterminated file is
 * what a killed program leaves: its whole events count. Source thread; memory does not depend on
 * the file's length.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "codec/jsonfix.h"
#include "import/chromeevent.h"
#include "import/importer.h"

#define FEED_BYTES (64u << 10)

enum key { KEY_OTHER, KEY_PH, KEY_TS, KEY_DUR, KEY_NAME, KEY_PID, KEY_TID, KEY_ARGS };

struct reader {
	struct import *im;
	struct chrome_events *events;
	yajl_handle yajl;
	int depth, event_depth; /* event_depth: that of an event's braces, 0 not in the events */
	bool root_is_map, key_is_events, seen_events;
	enum key key;
	bool args_name; /* inside args, at key "name" */
	bool in_event;
	struct chrome_event event;
	size_t fed_at;      /* window offset of the bytes that yajl is being fed */
	size_t event_start; /* window offset of the current event's brace */
	size_t event_end;   /* window offset behind the last whole event */
	bool start_lost;    /* the current event began before the window */
	bool lenient;
	struct jsonfix fix;
	uint8_t *fixed;
	int rc;
};

static const struct {
	const char *name;
	uint8_t n;
	enum key key;
} keys[] = {{"ph", 2, KEY_PH},   {"ts", 2, KEY_TS},   {"dur", 3, KEY_DUR},  {"name", 4, KEY_NAME},
	    {"pid", 3, KEY_PID}, {"tid", 3, KEY_TID}, {"args", 4, KEY_ARGS}};

static size_t here(const struct reader *r)
{
	return r->fed_at + yajl_get_bytes_consumed(r->yajl);
}

static int on_start_map(void *ctx)
{
	struct reader *r = ctx;
	if (!r->depth++)
		r->root_is_map = true;
	if (r->event_depth && r->depth == r->event_depth) {
		memset(&r->event, 0, offsetof(struct chrome_event, ts));
		r->event.ts.known = r->event.dur.known = r->event.pid.known = r->event.tid.known =
			false;
		r->event.name = r->event.args_name = 0;
		r->in_event = true;
		r->event_start = here(r) - (here(r) > 0);
		r->start_lost = false;
	}
	r->args_name = false;
	return 1;
}

static int on_key(void *ctx, const unsigned char *s, size_t n)
{
	struct reader *r = ctx;
	r->args_name = false;
	if (r->in_event && r->depth == r->event_depth) {
		r->key = KEY_OTHER;
		for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
			if (keys[i].n == n && keys[i].name[0] == (char)s[0] &&
			    !memcmp(keys[i].name, s, n)) {
				r->key = keys[i].key;
				break;
			}
	} else if (r->in_event && r->depth == r->event_depth + 1) {
		r->args_name = r->key == KEY_ARGS && n == 4 && !memcmp(s, "name", 4);
	} else if (r->depth == 1 && r->root_is_map) {
		r->key_is_events = n == 11 && !memcmp(s, "traceEvents", 11);
	}
	return 1;
}

static int on_end_map(void *ctx)
{
	struct reader *r = ctx;
	if (r->in_event && r->depth == r->event_depth) {
		r->in_event = false;
		r->event_end = here(r);
		r->rc = import_go_on(r->im) ? chrome_events_add(r->events, &r->event) : -ECANCELED;
	}
	r->depth--;
	return !r->rc;
}

static int on_start_array(void *ctx)
{
	struct reader *r = ctx;
	r->depth++;
	bool events = r->depth == 1 || (r->depth == 2 && r->root_is_map && r->key_is_events);
	if (events && !r->event_depth) {
		r->event_depth = r->depth + 1;
		r->seen_events = true;
		r->event_end = here(r);
	}
	r->args_name = false;
	return 1;
}

static int on_end_array(void *ctx)
{
	struct reader *r = ctx;
	if (r->event_depth && r->depth == r->event_depth - 1)
		r->event_depth = 0;
	r->depth--;
	return 1;
}

static void set_value(struct chrome_value *v, const char *s, size_t n, bool string)
{
	if (n >= sizeof v->text)
		n = sizeof v->text - 1;
	memcpy(v->text, s, n);
	v->text[n] = 0;
	v->n = (uint8_t)n;
	v->known = true;
	v->string = string;
}

static int scalar(struct reader *r, const char *s, size_t n, bool string)
{
	if (!r->in_event)
		return 1;
	if (r->depth == r->event_depth + 1 && r->args_name && string)
		r->event.args_name = tables_strn(r->im->tables, s, n);
	if (r->depth != r->event_depth)
		return 1;
	switch (r->key) {
	case KEY_PH: r->event.phase = string && n ? s[0] : 0; break;
	case KEY_TS: set_value(&r->event.ts, s, n, string); break;
	case KEY_DUR: set_value(&r->event.dur, s, n, string); break;
	case KEY_PID: set_value(&r->event.pid, s, n, string); break;
	case KEY_TID: set_value(&r->event.tid, s, n, string); break;
	case KEY_NAME: r->event.name = tables_strn(r->im->tables, s, n); break;
	default: break;
	}
	return 1;
}

static int on_number(void *ctx, const char *s, size_t n)
{
	return scalar(ctx, s, n, false);
}

static int on_string(void *ctx, const unsigned char *s, size_t n)
{
	return scalar(ctx, (const char *)s, n, true);
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

static bool new_parser(struct reader *r)
{
	if (r->yajl)
		yajl_free(r->yajl);
	r->yajl = yajl_alloc(&callbacks, NULL, r);
	if (!r->yajl)
		return false;
	yajl_config(r->yajl, yajl_dont_validate_strings, 1);
	yajl_config(r->yajl, yajl_allow_comments, 1);
	yajl_config(r->yajl, yajl_allow_trailing_garbage, 1);
	return true;
}

static yajl_status feed(struct reader *r, const uint8_t *data, size_t n)
{
	if (!r->lenient)
		return yajl_parse(r->yajl, data, n);
	size_t made = jsonfix_run(&r->fix, data, n, r->fixed);
	return made ? yajl_parse(r->yajl, r->fixed, made) : yajl_status_ok;
}

/*
 * The strict parser stopped. Begin anew inside the events, from the event where it stopped (or
 * behind the last whole one), through jsonfix. False: that is not where it stopped.
 */
static bool go_lenient(struct reader *r, size_t *ret_from)
{
	if (r->lenient || !r->event_depth || (r->in_event && r->start_lost))
		return false;
	bool map = r->root_is_map, in_event = r->in_event;
	size_t from = in_event ? r->event_start : r->event_end;
	r->fixed = malloc(JSONFIX_ROOM(STREAM_PEEK_MAX));
	if (!r->fixed || !new_parser(r))
		return false;
	r->depth = r->event_depth = 0;
	r->in_event = r->root_is_map = false;
	char lead[40];
	int n = snprintf(lead, sizeof lead, "%s0%s", map ? "{\"traceEvents\":[" : "[",
			 in_event ? "," : "");
	if (yajl_parse(r->yajl, (const unsigned char *)lead, (size_t)n) != yajl_status_ok)
		return false;
	r->lenient = true;
	r->fix = (struct jsonfix){0};
	*ret_from = from;
	return true;
}

/* Feed the whole stream. -EBADMSG: damaged at stream_offset. */
static int read_all(struct reader *r)
{
	size_t fed = 0; /* bytes of the window that yajl has seen */
	for (;;) {
		const uint8_t *data;
		size_t n = stream_peek(r->im->in, fed + 1, &data);
		if (n <= fed)
			return 0;
		size_t len = n - fed < FEED_BYTES ? n - fed : FEED_BYTES;
		r->fed_at = fed;
		yajl_status status = feed(r, data + fed, len);
		if (r->rc)
			return r->rc;
		if (status != yajl_status_ok) {
			size_t from;
			if (!go_lenient(r, &from)) {
				stream_skip(r->im->in, fed);
				return -EBADMSG;
			}
			stream_skip(r->im->in, from);
			fed = 0;
			r->event_end = r->event_start = 0;
			continue;
		}
		fed += len;
		/* Keep what a second try would need: the current event, or what lies behind the
		 * last one. */
		size_t keep = r->lenient       ? fed
			      : r->in_event    ? r->event_start
			      : r->event_depth ? r->event_end
					       : fed;
		if (fed - keep >= STREAM_PEEK_MAX / 2) {
			r->start_lost = true;
			keep = fed;
		}
		stream_skip(r->im->in, keep);
		fed -= keep;
		r->event_start = r->event_start > keep ? r->event_start - keep : 0;
		r->event_end = r->event_end > keep ? r->event_end - keep : 0;
	}
}

static int chrome_run(struct import *im, struct err *err)
{
	struct reader r = {.im = im};
	if (!im->trace)
		return err_set(err, EINVAL, "a Chrome trace needs the duration analysis");
	int rc = im->trace->ops->begin(im->trace->ctx, TRACE_SPANS);
	r.events = rc ? NULL : chrome_events_new(im);
	if (!rc && (!r.events || !new_parser(&r)))
		rc = err_set(err, ENOMEM, "no memory to read the trace");
	if (!rc) {
		rc = read_all(&r);
		if (rc == -EBADMSG)
			err_set(err, EBADMSG, "the JSON is damaged near byte %llu",
				(unsigned long long)stream_offset(im->in));
		if (!rc && !r.seen_events)
			rc = err_set(err, EINVAL,
				     "JSON without \"traceEvents\": not a Chrome trace");
		/* The end of a bare array of events may lack: that is how they are written. */
		if (r.in_event || (r.root_is_map && r.depth))
			im->cut = r.in_event ? "its last event is not whole and not counted"
					     : "the end of its JSON is missing";
		int finish = chrome_events_finish(r.events);
		rc = rc ? rc : finish;
		if (rc == -ENOSPC || rc == -EIO)
			err_set(err, -rc, "the temporary file of the events: %s; set TMPDIR",
				strerror(-rc));
		struct err ending = {0};
		int end = im->trace->ops->end(im->trace->ctx, &ending);
		if (!rc && end)
			*err = ending;
		rc = rc ? rc : end;
	}
	if (r.yajl)
		yajl_free(r.yajl);
	free(r.fixed);
	chrome_events_free(r.events);
	return rc;
}

static int chrome_recognise(const uint8_t *head, size_t n)
{
	size_t i = 0;
	while (i < n && (head[i] == ' ' || head[i] == '\n' || head[i] == '\r' || head[i] == '\t'))
		i++;
	if (i == n || (head[i] != '{' && head[i] != '['))
		return 0;
	bool array = head[i] == '[', whole = n < 64 << 10;
	for (i++;
	     i < n && (head[i] == ' ' || head[i] == '\n' || head[i] == '\r' || head[i] == '\t');
	     i++)
		;
	if (memmem(head, n, "\"traceEvents\"", 13) && !array)
		return 95;
	if (array)
		return i == n || head[i] == ']'                         ? 40
		       : head[i] == '{' && memmem(head, n, "\"ph\"", 4) ? 90
									: 0;
	return whole || i == n || head[i] != '"' ? 0 : 25;
}

const struct importer_ops importer_chrome = {"Chrome trace", VIEW_DURATION, chrome_recognise,
					     chrome_run};
