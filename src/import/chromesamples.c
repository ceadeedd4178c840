/*
 * chromesamples: a trace is read a second time for what is seldom in it.
 *
 * So the first reading stays fast, and needs no memory for samples that come before their stacks.
 * The thread of the caller.
 */
#include "import/chromesamples.h"

#include <errno.h>
#include <stdio.h>

int chrome_samples_init(struct chrome_samples *s, struct import *im)
{
	s->beside = (struct trace_beside){0};
	return stackprofile_init(&s->profile, im);
}

void chrome_samples_fini(struct chrome_samples *s)
{
	stackprofile_fini(&s->profile);
}

static void say(const struct stackprofile *p, const char *text)
{
	p->im->sink->ops->say(p->im->sink->ctx, text);
}

static void say_what(const struct stackprofile *p)
{
	const struct import *im = p->im;
	char text[256];
	uint32_t event = p->next ? p->next->event : 0;
	const char *name = im->event_names[event == STACKPROFILE_NONE ? p->wall : event];
	if (p->next)
		snprintf(text, sizeof text,
			 "%llu samples of a sampling profiler lie beside the spans: they are the "
			 "event %.64s (-s %.64s)",
			 (unsigned long long)p->nmoments, name, name);
	else
		snprintf(text, sizeof text,
			 "there is a sampling profiler's data beside the events, without samples");
	say(p, text);
	stackprofile_say_lost(p, "of its samples");
}

static bool next(void *ctx, int64_t *ret_ns)
{
	return stackprofile_next(ctx, ret_ns);
}

static int deliver(void *ctx, uint64_t time_ns)
{
	struct stackprofile *p = ctx;
	return import_go_on(p->im) ? stackprofile_deliver(p, time_ns) : -ECANCELED;
}

/* The file's beginning once more. *ret_own: to be closed. NULL: nothing of it is left. */
static struct stream *open_again(const struct import *im, struct stream **ret_own, struct err *err)
{
	*ret_own = NULL;
	if (stream_is_plain(im->in))
		return stream_rewind(im->in, err) ? NULL : im->in;
	return im->path && !stream_open(im->path, ret_own, err) ? *ret_own : NULL;
}

int chrome_samples_read(struct chrome_samples *s, bool whole, struct err *err)
{
	struct stackprofile *p = &s->profile;
	struct stream *own, *in = open_again(p->im, &own, err);
	if (!in) {
		say(p, "samples of a sampling profiler lie beside the events; they are not read, "
		       "since that takes a file that can be read twice");
		return 0;
	}
	stream_utf8(in);
	int rc = stackprofile_read(p, in, err);
	stream_close(own);
	if (rc == -EBADMSG && whole)
		say(p, "a sampling profiler's samples are read up to where the JSON is not strict");
	rc = rc == -EBADMSG ? 0 : rc;
	rc = rc ? rc : stackprofile_arrange(p, err);
	if (rc)
		return rc;
	say_what(p);
	s->beside = (struct trace_beside){next, deliver, p, p->first_ns, p->last_ns};
	return 0;
}

const struct trace_beside *chrome_samples_beside(const struct chrome_samples *s)
{
	return s->profile.nmoments ? &s->beside : NULL;
}
