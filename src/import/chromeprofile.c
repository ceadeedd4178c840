/*
 * chromeprofile: a profile that our own exporter wrote as a Chrome trace, read back as samples.
 *
 * Such a file's time axis is made up (export/to_chrome.c), so it is no trace to be analysed. Each
 * span tells its node, its caller's node and its own samples and weight; callers come before their
 * callees. Streamed; memory is one small record a node of the call tree. Source
 * thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "import/importer.h"
#include "import/jsonfeed.h"

#define MARK      "\"producer\":\"altpttop profile\""
#define DEPTH_MAX 1024

struct field {
	const char *name;
	uint8_t depth; /* of the braces it stands in: 2 otherData, 3 an event, 4 its args */
	size_t offset;
	enum { FIELD_STRING, FIELD_WORD, FIELD_NUMBER, FIELD_REAL } kind;
};

struct span {
	str_id name, cat, file;
	char phase[4];
	uint64_t pid, tid, samples, self, node, caller, line;
	uint64_t waiting_samples, waiting;   /* parts of samples and self */
	double effective, waiting_effective; /* of equal weight: 0 as many; of the other part, of
						this */
};

struct node {
	uint32_t node, caller;
	frame_id frame;
};

struct reader {
	struct import *im;
	const struct field *field; /* whose value comes next; NULL: of no interest */
	unsigned depth;
	struct span span;
	char unit[8], event[96];
	double scale, exact;
	uint16_t index; /* of the event, once it is announced */
	bool announced;
	struct map64 at; /* node → index in nodes; threads share the tree */
	struct {
		VEC(struct node)
	} nodes;
	struct {
		VEC(frame_id)
	} frames;
};

#define IN_SPAN(member) offsetof(struct reader, span.member)
static const struct field fields[] = {
	{"event", 2, offsetof(struct reader, event), FIELD_STRING},
	{"unit", 2, offsetof(struct reader, unit), FIELD_STRING},
	{"scale", 2, offsetof(struct reader, scale), FIELD_REAL},
	{"exact", 2, offsetof(struct reader, exact), FIELD_REAL},
	{"ph", 3, IN_SPAN(phase), FIELD_STRING},
	{"name", 3, IN_SPAN(name), FIELD_WORD},
	{"cat", 3, IN_SPAN(cat), FIELD_WORD},
	{"pid", 3, IN_SPAN(pid), FIELD_NUMBER},
	{"tid", 3, IN_SPAN(tid), FIELD_NUMBER},
	{"samples", 4, IN_SPAN(samples), FIELD_NUMBER},
	{"self", 4, IN_SPAN(self), FIELD_NUMBER},
	{"waiting_samples", 4, IN_SPAN(waiting_samples), FIELD_NUMBER},
	{"waiting", 4, IN_SPAN(waiting), FIELD_NUMBER},
	{"effective", 4, IN_SPAN(effective), FIELD_REAL},
	{"waiting_effective", 4, IN_SPAN(waiting_effective), FIELD_REAL},
	{"node", 4, IN_SPAN(node), FIELD_NUMBER},
	{"caller", 4, IN_SPAN(caller), FIELD_NUMBER},
	{"file", 4, IN_SPAN(file), FIELD_WORD},
	{"line", 4, IN_SPAN(line), FIELD_NUMBER},
	{"name", 4, IN_SPAN(file), FIELD_WORD}, /* metadata: a thread's name */
};

static size_t string_room(const struct field *f)
{
	return f->offset == IN_SPAN(phase)                   ? sizeof((struct span *)0)->phase
	       : f->offset == offsetof(struct reader, event) ? sizeof((struct reader *)0)->event
							     : sizeof((struct reader *)0)->unit;
}

/* --- what a span means --- */

static void announce(struct reader *r)
{
	struct event_desc d = {.sampled = true,
			       .unit = strstr(r->unit, "ns") ? EVENT_NS : EVENT_COUNT,
			       .cpu_time = !strcmp(r->unit, "cpu-ns"),
			       .states = !strcmp(r->unit, "wall-ns"),
			       .exact = r->exact > 0,
			       .scale = r->scale > 0 && r->scale <= 1e18 ? r->scale : 0};
	memcpy(d.name, r->event[0] ? r->event : "samples", r->event[0] ? sizeof d.name : 8);
	r->index = import_event_desc(r->im, &d);
	r->announced = true;
}

static int add_node(struct reader *r, uint32_t *ret_index)
{
	struct span *s = &r->span;
	const char *module = tables_text(r->im->tables, s->cat);
	size_t len = strlen(module);
	bool kernel = import_is_kernel(module, len);
	struct node n = {(uint32_t)s->node, (uint32_t)s->caller, 0};
	n.frame = import_frame(r->im, import_module(r->im, module, len, kernel), s->name, 0,
			       s->file, (uint32_t)s->line, kernel ? FRAME_KERNEL : 0);
	*ret_index = (uint32_t)r->nodes.len;
	int rc = vec_push(&r->nodes, n);
	return rc ? rc : map64_put(&r->at, s->node, *ret_index);
}

static void deliver(struct reader *r, uint16_t flags, uint64_t hits, uint64_t weight,
		    double effective)
{
	struct raw_sample sample = {.pid = (pid_t)r->span.pid,
				    .tid = (pid_t)r->span.tid,
				    .cpu = UINT32_MAX,
				    .event = r->index,
				    .weight = weight,
				    .flags = flags,
				    .hits = hits,
				    .effective = effective,
				    .frames = r->frames.data,
				    .nframes = (uint32_t)r->frames.len};
	sample.cut = (uint8_t)import_cut(r->im, sample.frames, sample.nframes);
	r->im->sink->ops->sample(r->im->sink->ctx, &sample);
}

static int take_span(struct reader *r)
{
	struct span *s = &r->span;
	uint32_t at;
	if (!s->node || s->node > UINT32_MAX || s->caller > UINT32_MAX) {
		import_skip(r->im, stream_offset(r->im->in));
		return 0;
	}
	int rc = map64_get(&r->at, s->node, &at) ? 0 : add_node(r, &at);
	if (rc || (!s->samples && !s->self))
		return rc;
	r->frames.len = 0;
	for (;;) { /* a caller lies before its callee in nodes, so this ends */
		uint32_t caller;
		if (vec_push(&r->frames, r->nodes.data[at].frame))
			return -ENOMEM;
		if (!r->nodes.data[at].caller ||
		    !map64_get(&r->at, r->nodes.data[at].caller, &caller))
			break;
		if (caller >= at || r->frames.len == DEPTH_MAX)
			break;
		at = caller;
	}
	if (!r->announced)
		announce(r);
	bool parts = s->waiting_samples <= s->samples && s->waiting <= s->self;
	uint64_t samples = parts ? s->waiting_samples : 0, waiting = parts ? s->waiting : 0;
	if (samples)
		deliver(r, SAMPLE_BLOCKED, samples, waiting, s->waiting_effective);
	if (s->samples > samples)
		deliver(r, 0, s->samples - samples, s->self - waiting, s->effective);
	else if (!s->samples)
		deliver(r, SAMPLE_ACCOUNTED, 0, s->self, 0);
	return 0;
}

static int take_event(struct reader *r)
{
	const struct span *s = &r->span;
	if (!import_go_on(r->im))
		return -ECANCELED;
	if (s->phase[0] == 'X')
		return take_span(r);
	const char *what = tables_text(r->im->tables, s->name);
	if (s->phase[0] == 'M' && s->file &&
	    (!strcmp(what, "thread_name") || !strcmp(what, "process_name"))) {
		const char *comm = tables_text(r->im->tables, s->file);
		import_comm(r->im, 0, (pid_t)s->pid, (pid_t)s->tid, comm, strlen(comm));
	}
	return 0;
}

/* --- JSON --- */

static int on_open(void *ctx, bool map)
{
	struct reader *r = ctx;
	(void)map;
	if (++r->depth == 3)
		r->span = (struct span){0};
	r->field = NULL;
	return 0;
}

static int on_close(void *ctx)
{
	struct reader *r = ctx;
	return r->depth-- == 3 ? take_event(r) : 0;
}

static int on_key(void *ctx, const char *s, size_t n)
{
	struct reader *r = ctx;
	r->field = NULL;
	for (size_t i = 0; i < sizeof fields / sizeof *fields && !r->field; i++)
		if (fields[i].depth == r->depth && strlen(fields[i].name) == n &&
		    !memcmp(fields[i].name, s, n))
			r->field = &fields[i];
	return 0;
}

static int on_value(void *ctx, const char *s, size_t n)
{
	struct reader *r = ctx;
	const struct field *f = r->field;
	char text[40];
	r->field = NULL;
	if (!f)
		return 0;
	void *to = (char *)r + f->offset;
	if (f->kind == FIELD_WORD) {
		*(str_id *)to = tables_strn(r->im->tables, s, n);
		return 0;
	}
	if (f->kind == FIELD_STRING) {
		size_t room = string_room(f) - 1;
		memset(to, 0, room + 1);
		memcpy(to, s, n < room ? n : room);
		return 0;
	}
	n = n < sizeof text ? n : sizeof text - 1;
	memcpy(text, s, n);
	text[n] = 0;
	if (f->kind == FIELD_REAL)
		*(double *)to = strtod(text, NULL);
	else
		*(uint64_t *)to = text[0] == '-' ? (uint64_t)strtoll(text, NULL, 10)
						 : strtoull(text, NULL, 10);
	return 0;
}

static int chrome_profile_run(struct import *im, struct err *err)
{
	static const struct json_takes takes = {on_open, on_close, on_key, on_value};
	struct reader r = {.im = im};
	map64_init(&r.at);
	int rc = json_feed(im, im->in, &takes, &r, err);
	if (!r.announced)
		announce(&r);
	map64_fini(&r.at);
	vec_fini(&r.nodes);
	vec_fini(&r.frames);
	return rc;
}

static int chrome_profile_recognise(const uint8_t *head, size_t n)
{
	if (!n || head[0] != '{')
		return 0;
	return memmem(head, n < 1024 ? n : 1024, MARK, sizeof MARK - 1) ? 100 : 0;
}

const struct importer_ops importer_chrome_profile = {"profile in a Chrome trace", VIEW_FUNCTIONS,
						     chrome_profile_recognise, chrome_profile_run};
