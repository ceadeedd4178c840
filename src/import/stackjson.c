/*
 * stackjson: JSON of sampling profilers, streamed into a stackprofile.
 *
 * Tables say what a bracket holds by what holds it and under which key, and which value is what of
 * that; everything else is passed over. Nodes in events of other names are taken back at the
 * event's end. Source thread.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/chromeevent.h"
#include "import/jsonfeed.h"
#include "import/stackprofile.h"

#define DEPTH_MOST 65536

enum place {
	IN_OTHER,
	IN_HOLDER, /* of a profile's lists: the whole file, or what a profile event carries */
	IN_EVENTS,
	IN_EVENT,
	IN_NODES,
	IN_NODE,
	IN_CALL_FRAME,
	IN_CHILDREN,
	IN_SAMPLES,
	IN_SAMPLE,
	IN_DELTAS,
	IN_TIMES,
	IN_STACK_FRAMES,
	PLACES
};

static const struct {
	enum place in, place;
	const char *key; /* NULL: any, or what stands in a list */
	bool map;
} brackets[] = {
	{IN_HOLDER, IN_EVENTS, "traceEvents", false},
	{IN_EVENTS, IN_EVENT, NULL, true},
	{IN_EVENT, IN_HOLDER, "args", true},
	{IN_HOLDER, IN_HOLDER, "data", true},
	{IN_HOLDER, IN_HOLDER, "cpuProfile", true},
	{IN_HOLDER, IN_HOLDER, "profile", true},
	{IN_HOLDER, IN_HOLDER, "result", true},
	{IN_HOLDER, IN_NODES, "nodes", false},
	{IN_NODES, IN_NODE, NULL, true},
	{IN_HOLDER, IN_NODE, "head", true},
	{IN_NODE, IN_CALL_FRAME, "callFrame", true},
	{IN_NODE, IN_CHILDREN, "children", false},
	{IN_CHILDREN, IN_NODE, NULL, true},
	{IN_HOLDER, IN_SAMPLES, "samples", false},
	{IN_SAMPLES, IN_SAMPLE, NULL, true},
	{IN_HOLDER, IN_DELTAS, "timeDeltas", false},
	{IN_HOLDER, IN_TIMES, "timestamps", false},
	{IN_HOLDER, IN_STACK_FRAMES, "stackFrames", true},
	{IN_STACK_FRAMES, IN_NODE, NULL, true},
};

enum value {
	NO_VALUE,
	NODE_ID,
	NODE_PARENT,
	NODE_NAME,
	NODE_URL,
	NODE_LINE,
	NODE_LINE_FROM_0,
	NODE_COLUMN,
	NODE_COLUMN_FROM_0,
	NODE_HITS,
	NODE_BYTES,
	NODE_CHILD,
	LIST_ID,
	LIST_DELTA,
	LIST_TIME,
	HOLDER_START,
	HOLDER_END,
	EVENT_PHASE,
	EVENT_NAME,
	EVENT_ID,
	EVENT_PID,
	EVENT_TID,
	EVENT_TS,
	SAMPLE_TS,
	SAMPLE_NODE,
	SAMPLE_PID,
	SAMPLE_TID,
	SAMPLE_WEIGHT,
	SAMPLE_NAME,
	SAMPLE_COMM,
};

/* Those in one place stand together. */
static const struct {
	enum place in;
	enum value value;
	const char *key; /* NULL: what stands in a list */
} values[] = {
	{IN_NODE, NODE_ID, "id"},
	{IN_NODE, NODE_PARENT, "parent"},
	{IN_NODE, NODE_NAME, "functionName"},
	{IN_NODE, NODE_NAME, "name"},
	{IN_NODE, NODE_URL, "url"},
	{IN_NODE, NODE_LINE, "lineNumber"},
	{IN_NODE, NODE_LINE, "funcLine"},
	{IN_NODE, NODE_COLUMN, "columnNumber"},
	{IN_NODE, NODE_COLUMN, "funcColumn"},
	{IN_NODE, NODE_HITS, "hitCount"},
	{IN_NODE, NODE_BYTES, "selfSize"},
	{IN_CALL_FRAME, NODE_NAME, "functionName"},
	{IN_CALL_FRAME, NODE_URL, "url"},
	{IN_CALL_FRAME, NODE_LINE_FROM_0, "lineNumber"},
	{IN_CALL_FRAME, NODE_COLUMN_FROM_0, "columnNumber"},
	{IN_CHILDREN, NODE_CHILD, NULL},
	{IN_SAMPLES, LIST_ID, NULL},
	{IN_DELTAS, LIST_DELTA, NULL},
	{IN_TIMES, LIST_TIME, NULL},
	{IN_HOLDER, HOLDER_START, "startTime"},
	{IN_HOLDER, HOLDER_END, "endTime"},
	{IN_EVENT, EVENT_PHASE, "ph"},
	{IN_EVENT, EVENT_NAME, "name"},
	{IN_EVENT, EVENT_ID, "id"},
	{IN_EVENT, EVENT_PID, "pid"},
	{IN_EVENT, EVENT_TID, "tid"},
	{IN_EVENT, EVENT_TS, "ts"},
	{IN_SAMPLE, SAMPLE_TS, "ts"},
	{IN_SAMPLE, SAMPLE_NODE, "sf"},
	{IN_SAMPLE, SAMPLE_PID, "pid"},
	{IN_SAMPLE, SAMPLE_TID, "tid"},
	{IN_SAMPLE, SAMPLE_WEIGHT, "weight"},
	{IN_SAMPLE, SAMPLE_NAME, "name"},
	{IN_SAMPLE, SAMPLE_COMM, "comm"},
};

struct level {
	enum place place;
	uint32_t node; /* place of the innermost node around; STACKPROFILE_NONE: none */
};

/* What an event of a trace, or the file itself, says of its profile. */
struct holder {
	char name[16]; /* "Profile", "ProfileChunk", "CpuProfile"; longer ones are none of these */
	uint64_t id;   /* hash of its text */
	int64_t pid, tid, ts_ns, start_ns, end_ns;
	size_t nodes, links, ids, times; /* what there was before it */
	bool absolute;
};

struct one_sample {
	int64_t ts_ns, node, pid, tid;
	double weight;
	str_id name, comm;
	bool timed, placed;
};

struct reader {
	struct stackprofile *p;
	struct {
		VEC(struct level)
	} levels;
	uint8_t values[PLACES], values_end[PLACES]; /* of values[]: what stands there */
	char key[24]; /* of the value that comes next; "" too long to be of interest */
	struct holder holder;
	bool in_event;
	struct one_sample sample;
};

/* --- what is whole --- */

static bool is_profile(const struct holder *h)
{
	return !strcmp(h->name, "Profile") || !strcmp(h->name, "ProfileChunk") ||
	       !strcmp(h->name, "CpuProfile");
}

/* -ENOBUFS: there are too many. */
static int find_track(struct stackprofile *p, uint64_t key, uint32_t *ret_track)
{
	if (map64_get(&p->track_of, key, ret_track))
		return 0;
	if (p->tracks.len == STACKPROFILE_TRACKS_MOST)
		return -ENOBUFS;
	*ret_track = (uint32_t)p->tracks.len;
	if (vec_push(&p->tracks, (struct stackprofile_track){.key = key}))
		return -ENOMEM;
	return map64_put(&p->track_of, key, *ret_track);
}

static struct holder new_holder(const struct stackprofile *p)
{
	return (struct holder){.nodes = p->nodes.len,
			       .links = p->links.len,
			       .ids = p->ids.len,
			       .times = p->times.len};
}

/* Nodes and lists since the holder's begin are of @track. */
static int close_piece(struct reader *r, uint32_t track)
{
	struct stackprofile *p = r->p;
	const struct holder *h = &r->holder;
	struct stackprofile_track *t = &p->tracks.data[track];
	for (size_t i = h->nodes; i < p->nodes.len; i++)
		p->nodes.data[i].space = track;
	t->start_ns = h->start_ns ? h->start_ns : t->start_ns;
	t->end_ns = h->end_ns ? h->end_ns : t->end_ns;
	if (p->ids.len == h->ids)
		return 0;
	struct stackprofile_piece piece = {.track = track,
					   .ts_ns = h->ts_ns,
					   .ids = h->ids,
					   .ids_end = p->ids.len,
					   .times = h->times,
					   .times_end = p->times.len,
					   .absolute = h->absolute};
	return vec_push(&p->pieces, piece);
}

/* What was read since the holder's begin is not of a profile. */
static void take_back(struct stackprofile *p, const struct holder *h)
{
	p->nodes.len = h->nodes;
	p->links.len = h->links;
	p->ids.len = h->ids;
	p->times.len = h->times;
}

static int close_event(struct reader *r)
{
	struct stackprofile *p = r->p;
	const struct holder *h = &r->holder;
	uint32_t track;
	r->in_event = false;
	if (!is_profile(h)) {
		take_back(p, h);
		return 0;
	}
	int rc = find_track(p, hash_pair((uint64_t)h->pid, h->id ? h->id : (uint64_t)h->tid),
			    &track);
	if (rc == -ENOBUFS || (!rc && p->pieces.len == STACKPROFILE_PIECES_MOST)) {
		p->beyond += p->ids.len - h->ids;
		take_back(p, h);
		return 0;
	}
	if (rc)
		return rc;
	struct stackprofile_track *t = &p->tracks.data[track];
	t->pid = h->pid;
	if (!t->tid || strcmp(h->name, "ProfileChunk") != 0) /* whose thread may be V8's own */
		t->tid = h->tid;
	return close_piece(r, track);
}

/* "f(bundle.js:12:3)" → f, bundle.js, 12, 3. */
static void split_name(struct stackprofile *p, struct stackprofile_node *n)
{
	const char *name = tables_text(p->im->tables, n->name), *open = strchr(name, '(');
	size_t len = strlen(name);
	unsigned numbers[2] = {0}, unit = 1, which = 0;
	size_t at = len > 1 ? len - 1 : 0;
	if (!open || n->url || name[at] != ')')
		return;
	for (; at-- > 0 && which < 2;) {
		unsigned digit = (unsigned char)name[at] - '0';
		if (digit < 10 && unit <= 100000000) {
			numbers[which] += digit * unit;
			unit *= 10;
		} else if (name[at] == ':' && unit > 1) {
			which++;
			unit = 1;
			if (which == 2)
				break;
		} else
			return;
	}
	if (which < 2 || name + at < open)
		return;
	n->url = tables_strn(p->im->tables, open + 1, (size_t)(name + at - open - 1));
	n->name = tables_strn(p->im->tables, name, (size_t)(open - name));
	if (!n->line) {
		n->line = numbers[1];
		n->column = numbers[0];
	}
}

static int close_sample(struct reader *r)
{
	struct stackprofile *p = r->p;
	const struct one_sample *s = &r->sample;
	struct stackprofile_moment m = {.node = stackprofile_id(s->node),
					.event = STACKPROFILE_NONE};
	uint32_t track;
	if (!s->placed) /* a heap profile's: its nodes have the sums */
		return 0;
	if (!s->timed || s->pid != (pid_t)s->pid || s->tid != (pid_t)s->tid) {
		p->lost++;
		return 0;
	}
	int rc = find_track(p, hash_pair((uint64_t)s->pid, (uint64_t)s->tid), &track);
	p->beyond += rc == -ENOBUFS;
	if (rc)
		return rc == -ENOBUFS ? 0 : rc;
	p->tracks.data[track].pid = s->pid;
	p->tracks.data[track].tid = s->tid;
	const char *name = tables_text(p->im->tables, s->name),
		   *comm = tables_text(p->im->tables, s->comm);
	if (name[0]) {
		uint16_t event = import_event(p->im, name, strlen(name), EVENT_COUNT, false);
		if (event == UINT16_MAX) {
			p->lost++;
			return 0;
		}
		m.event = event;
		m.weight = s->weight >= 0 && s->weight < 1e18 ? (uint64_t)llround(s->weight) : 1;
	}
	if (comm[0])
		import_comm(p->im, 0, s->pid, s->tid, comm, strlen(comm));
	m.key[0] = track;
	m.key[1] = stackprofile_time(s->ts_ns);
	return stackprofile_add(p, &m);
}

/* --- brackets --- */

static struct level *top(struct reader *r)
{
	return r->levels.len ? &r->levels.data[r->levels.len - 1] : NULL;
}

static int add_node(struct reader *r, const struct level *outer, struct level *inner)
{
	struct stackprofile *p = r->p;
	struct stackprofile_node n = {.frame = FRAME_UNKNOWN};
	if (p->nodes.len == STACKPROFILE_NODES_MOST) {
		p->beyond++;
		inner->place = IN_OTHER;
		return 0;
	}
	if (outer->place == IN_CHILDREN)
		n.holder = outer->node + 1;
	if (outer->place == IN_STACK_FRAMES)
		n.id = strtoll(r->key, NULL, 10);
	inner->node = (uint32_t)p->nodes.len;
	return vec_push(&p->nodes, n);
}

static int on_open(void *ctx, bool map)
{
	struct reader *r = ctx;
	const struct level *outer = top(r);
	struct level inner = {IN_OTHER, outer ? outer->node : STACKPROFILE_NONE};
	int rc = 0;
	if (!outer)
		inner.place = map ? IN_HOLDER : IN_EVENTS;
	for (size_t i = 0; outer && outer->place && i < sizeof brackets / sizeof *brackets; i++)
		if (brackets[i].in == outer->place && brackets[i].map == map &&
		    (!brackets[i].key || !strcmp(brackets[i].key, r->key))) {
			inner.place = brackets[i].place;
			break;
		}
	if (r->levels.len == DEPTH_MOST)
		return -E2BIG;
	if (inner.place == IN_NODE)
		rc = add_node(r, outer, &inner);
	else if (inner.place == IN_EVENT) {
		r->holder = new_holder(r->p);
		r->in_event = true;
	} else if (inner.place == IN_SAMPLE)
		r->sample = (struct one_sample){.weight = 1};
	r->key[0] = 0;
	return rc ? rc : vec_push(&r->levels, inner);
}

static int on_close(void *ctx)
{
	struct reader *r = ctx;
	struct level closed = r->levels.data[--r->levels.len];
	const struct level *outer = top(r);
	int rc = 0;
	if (closed.place == IN_EVENT)
		rc = close_event(r);
	else if (closed.place == IN_SAMPLE && !r->in_event)
		rc = close_sample(r);
	else if (closed.place == IN_NODE && outer->place == IN_STACK_FRAMES)
		split_name(r->p, &r->p->nodes.data[closed.node]);
	else if (!r->levels.len && closed.place == IN_HOLDER)
		rc = close_piece(r, 0);
	if (closed.place == IN_EVENT || closed.place == IN_EVENTS || !r->levels.len)
		r->holder = new_holder(r->p); /* what comes then is the file's own */
	return rc;
}

static int on_key(void *ctx, const char *s, size_t n)
{
	struct reader *r = ctx;
	n = n < sizeof r->key ? n : 0;
	memcpy(r->key, s, n);
	r->key[n] = 0;
	return 0;
}

/* --- values --- */

static uint32_t from_0(int64_t n)
{
	return n >= 0 && n < INT32_MAX ? (uint32_t)n + 1 : 0;
}

static void set_node(struct reader *r, enum value v, const char *s, size_t n, int64_t number)
{
	struct stackprofile_node *node = &r->p->nodes.data[top(r)->node];
	uint32_t small = number > 0 && number <= INT32_MAX ? (uint32_t)number : 0;
	switch (v) {
	case NODE_ID: node->id = number; break;
	case NODE_PARENT: node->parent = number; break;
	case NODE_NAME: node->name = tables_strn(r->p->im->tables, s, n); break;
	case NODE_URL: node->url = tables_strn(r->p->im->tables, s, n); break;
	case NODE_LINE: node->line = small; break;
	case NODE_COLUMN: node->column = small; break;
	case NODE_LINE_FROM_0: node->line = from_0(number); break;
	case NODE_COLUMN_FROM_0: node->column = from_0(number); break;
	case NODE_HITS: node->hits = number > 0 ? (uint64_t)number : 0; break;
	case NODE_BYTES: node->bytes = number > 0 ? (uint64_t)number : 0; break;
	default: break;
	}
}

/* What stands in a list, as long as there is room. */
static int add_to_list(struct reader *r, enum value v, int64_t number)
{
	struct stackprofile *p = r->p;
	bool room = v == NODE_CHILD
			    ? p->links.len < STACKPROFILE_NODES_MOST
			    : (v == LIST_ID ? p->ids.len : p->times.len) < STACKPROFILE_LISTED_MOST;
	if (!room) {
		p->beyond += v != LIST_DELTA && v != LIST_TIME; /* which are counted by their ids */
		return 0;
	}
	if (v == LIST_ID)
		return vec_push(&p->ids, stackprofile_id(number));
	if (v == NODE_CHILD)
		return vec_push(&p->links, ((struct stackprofile_link){top(r)->node, number}));
	r->holder.absolute = v == LIST_TIME;
	return vec_push(&p->times, number);
}

/* As strtoll: "12.5" is 12. */
static int64_t whole(const char *s, size_t n)
{
	char text[24];
	int64_t number = 0;
	size_t i = n && *s == '-', digits = i;
	for (; i < n && (unsigned char)(s[i] - '0') < 10; i++)
		number = i < 18 ? number * 10 + (s[i] - '0') : 0;
	if (i > digits && i <= 18)
		return *s == '-' ? -number : number;
	n = n < sizeof text ? n : sizeof text - 1;
	memcpy(text, s, n);
	text[n] = 0;
	return strtoll(text, NULL, 10);
}

static double real(const char *s, size_t n)
{
	char text[40];
	if (n == 1 && (unsigned char)(*s - '0') < 10) /* as nearly all are */
		return *s - '0';
	n = n < sizeof text ? n : sizeof text - 1;
	memcpy(text, s, n);
	text[n] = 0;
	return strtod(text, NULL);
}

static void set_other(struct reader *r, enum value v, const char *s, size_t n, int64_t number)
{
	struct holder *h = &r->holder;
	struct one_sample *o = &r->sample;
	struct tables *t = r->p->im->tables;
	switch (v) {
	case HOLDER_START: h->start_ns = number; break;
	case HOLDER_END: h->end_ns = number; break;
	case EVENT_NAME:
		n = n < sizeof h->name ? n : 0;
		memcpy(h->name, s, n);
		h->name[n] = 0;
		break;
	case EVENT_ID: h->id = hash_bytes(s, n); break;
	case EVENT_PID: h->pid = (pid_t)number; break;
	case EVENT_TID: h->tid = (pid_t)number; break;
	case EVENT_TS: h->ts_ns = number; break;
	case SAMPLE_TS:
		o->ts_ns = number;
		o->timed = true;
		break;
	case SAMPLE_NODE:
		o->node = number;
		o->placed = true;
		break;
	case SAMPLE_PID: o->pid = number; break;
	case SAMPLE_TID: o->tid = number; break;
	case SAMPLE_WEIGHT: o->weight = real(s, n); break;
	case SAMPLE_NAME: o->name = n ? tables_strn(t, s, n) : 0; break;
	case SAMPLE_COMM: o->comm = n ? tables_strn(t, s, n) : 0; break;
	default: break;
	}
}

/* Times are in nanoseconds from here on. */
static bool is_time(enum value v)
{
	static const bool times[] = {
		[LIST_DELTA] = true, [LIST_TIME] = true, [HOLDER_START] = true, [HOLDER_END] = true,
		[EVENT_TS] = true,   [SAMPLE_TS] = true, [SAMPLE_COMM] = false};
	return times[v];
}

static int on_value(void *ctx, const char *s, size_t n)
{
	struct reader *r = ctx;
	const struct level *l = top(r);
	enum value v = NO_VALUE;
	int64_t number;
	for (size_t i = l ? r->values[l->place] : 0; l && i < r->values_end[l->place] && !v; i++)
		if (!values[i].key ||
		    (values[i].key[0] == r->key[0] && !strcmp(values[i].key, r->key)))
			v = values[i].value;
	if (!v)
		return 0;
	if (!is_time(v)) {
		number = whole(s, n);
	} else if (!chrome_ns(s, n, &number)) {
		r->p->lost += v == LIST_DELTA || v == LIST_TIME;
		return 0;
	}
	if (v >= NODE_CHILD && v <= LIST_TIME)
		return add_to_list(r, v, number);
	if (v < NODE_CHILD)
		set_node(r, v, s, n, number);
	else
		set_other(r, v, s, n, number);
	return 0;
}

int stackprofile_read(struct stackprofile *p, struct stream *in, struct err *err)
{
	static const struct json_takes takes = {on_open, on_close, on_key, on_value};
	struct reader r = {.p = p};
	for (size_t i = sizeof values / sizeof *values; i-- > 0;) {
		r.values[values[i].in] = (uint8_t)i;
		if (!r.values_end[values[i].in])
			r.values_end[values[i].in] = (uint8_t)(i + 1);
	}
	int rc = json_feed(p->im, in, &takes, &r, err);
	if (rc == -E2BIG)
		rc = err_set(err, EBADMSG, "brackets stand in more than 65,536 others");
	/* What a file that is cut off holds of its own profile counts. */
	if (rc == -EBADMSG && !r.in_event && close_piece(&r, 0))
		rc = err_set(err, ENOMEM, "no memory for the profile");
	vec_fini(&r.levels);
	return rc;
}
