/*
 * jsprofile: profiles of JavaScript engines as recordings: V8's .cpuprofile and .heapprofile, old
 * and new, and Hermes' files of samples.
 *
 * What they hold is read by stackjson.c and put in order by stackprofile.c. Source thread.
 */
#include <errno.h>
#include <string.h>

#include "import/stackprofile.h"

#define FIRST_NS 100000000 /* a sink's time is never 0 */

static int deliver(struct stackprofile *p, struct err *err)
{
	struct import *im = p->im;
	int64_t ns;
	int rc = stackprofile_arrange(p, err);
	if (rc)
		return rc;
	if (p->nmoments) {
		uint64_t all = (uint64_t)p->last_ns - (uint64_t)p->first_ns;
		all = all < INT64_MAX / 2 ? all : INT64_MAX / 2;
		im->sink->ops->extent(im->sink->ctx, FIRST_NS, FIRST_NS + all);
	}
	while (!rc && stackprofile_next(p, &ns)) {
		uint64_t since = (uint64_t)ns - (uint64_t)p->first_ns;
		since = since < INT64_MAX / 2 ? since : INT64_MAX / 2;
		rc = import_go_on(im) ? stackprofile_deliver(p, FIRST_NS + since) : -ECANCELED;
	}
	if (rc || p->nmoments)
		return rc;
	rc = stackprofile_deliver_sums(p);
	return rc < 0 ? rc : rc ? 0 : -ENODATA;
}

static int jsprofile_run(struct import *im, struct err *err)
{
	struct stackprofile p;
	struct err why = {0};
	int rc = stackprofile_init(&p, im);
	rc = rc ? rc : stackprofile_read(&p, im->in, err);
	int delivered = rc && rc != -EBADMSG ? rc : deliver(&p, &why);
	if (delivered == -ENODATA && !rc) {
		rc = err_set(err, EINVAL, "JSON of a profile without samples: nothing to show");
	} else if (delivered && delivered != rc && delivered != -ENODATA) {
		rc = delivered;
		if (!why.msg[0] && rc != -ECANCELED)
			err_set(&why, -rc, "the profile's samples: %s", strerror(-rc));
		*err = why;
	}
	stackprofile_say_lost(&p, "samples");
	stackprofile_fini(&p);
	return rc;
}

/* The first bracket and one of these keys; all of a list. */
static int jsprofile_recognise(const uint8_t *head, size_t n)
{
	static const struct {
		const char *all[3];
		int sure;
	} marks[] = {{{"\"nodes\"", "\"callFrame\"", "\"functionName\""}, 90},
		     {{"\"head\"", "\"children\"", "\"functionName\""}, 90},
		     {{"\"samples\"", "\"timeDeltas\"", "\"samples\""}, 60},
		     {{"\"traceEvents\"", "\"samples\"", "\"sf\""}, 96},
		     {{"\"stackFrames\"", "\"category\"", "\"parent\""}, 80}};
	size_t i = 0;
	while (i < n && strchr(" \t\r\n", head[i]) && head[i])
		i++;
	if (i == n || head[i] != '{')
		return 0;
	bool events = memmem(head, n, "\"traceEvents\"", 13);
	/* Where there are spans, samples come beside them (import/chrome.c). */
	if (events && (memmem(head, n, "\"X\"", 3) || memmem(head, n, "\"B\"", 3)))
		return 0;
	for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
		bool all = !events || k == 3;
		for (size_t m = 0; m < 3 && all; m++)
			all = memmem(head, n, marks[k].all[m], strlen(marks[k].all[m]));
		if (all)
			return marks[k].sure;
	}
	return 0;
}

const struct importer_ops importer_js_profile = {"JavaScript profile", VIEW_FUNCTIONS,
						 jsprofile_recognise, jsprofile_run};
