/*
 * stackprofile: from nodes and samples as they stand in a file to stacks, in the order of time.
 *
 * A sample stands from when it was taken until the next one of its thread, the last one as long as
 * they do on average; that is what DevTools says of the same file. Functions of one name and file
 * are told apart by their place, which nothing else does in code that was made small. Source
 * thread.
 */
#include "import/stackprofile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK_MAX 4096

int stackprofile_init(struct stackprofile *p, struct import *im)
{
	*p = (struct stackprofile){.im = im, .stacked = STACKPROFILE_NONE, .wall = UINT16_MAX};
	map64_init(&p->track_of);
	return vec_push(&p->tracks, (struct stackprofile_track){0});
}

void stackprofile_fini(struct stackprofile *p)
{
	vec_fini(&p->nodes);
	vec_fini(&p->links);
	vec_fini(&p->tracks);
	map64_fini(&p->track_of);
	vec_fini(&p->pieces);
	vec_fini(&p->ids);
	vec_fini(&p->times);
	vec_fini(&p->moments);
	vec_fini(&p->stack);
}

/* --- nodes --- */

static uint64_t node_key(uint32_t space, int64_t id)
{
	return hash_pair(space, (uint64_t)id);
}

/* Callers become places in nodes + 1 (in holder); a chain that comes to itself is cut there. */
static int find_callers(struct stackprofile *p, const struct map64 *at)
{
	uint32_t place;
	for (size_t i = 0; i < p->links.len; i++) {
		const struct stackprofile_link *l = &p->links.data[i];
		if (map64_get(at, node_key(p->nodes.data[l->node].space, l->child), &place) &&
		    !p->nodes.data[place].parent)
			p->nodes.data[place].holder = l->node + 1;
	}
	for (size_t i = 0; i < p->nodes.len; i++) {
		struct stackprofile_node *n = &p->nodes.data[i];
		if (n->parent && map64_get(at, node_key(n->space, n->parent), &place))
			n->holder = place + 1;
	}
	uint32_t *round = calloc(p->nodes.len + 1, sizeof *round); /* in which it was passed */
	if (!round)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nodes.len; i++) {
		uint32_t k = i, last = i;
		for (; !round[k]; k = p->nodes.data[k].holder - 1) {
			round[k] = i + 1;
			last = k;
			if (!p->nodes.data[k].holder)
				break;
		}
		if (p->nodes.data[last].holder && round[k] == i + 1)
			p->nodes.data[last].holder = 0;
	}
	free(round);
	return 0;
}

static bool is_named(const struct stackprofile *p, const struct stackprofile_node *n,
		     const char *name)
{
	return !strcmp(tables_text(p->im->tables, n->name), name);
}

/* What tells functions of one name and file apart. */
static uint64_t place_of(const struct stackprofile_node *n)
{
	return (uint64_t)n->line << 32 | n->column;
}

static uint64_t name_key(const struct stackprofile_node *n)
{
	return hash_pair(n->name, n->url);
}

/* The first node of each name and file, or nothing where their places are several. */
static int find_names(const struct stackprofile *p, struct map64 *names)
{
	int rc = 0;
	for (uint32_t i = 0; i < p->nodes.len && !rc; i++) {
		const struct stackprofile_node *n = &p->nodes.data[i];
		uint32_t first;
		if (!map64_get(names, name_key(n), &first))
			rc = map64_put(names, name_key(n), i);
		else if (first != STACKPROFILE_NONE &&
			 place_of(&p->nodes.data[first]) != place_of(n))
			rc = map64_put(names, name_key(n), STACKPROFILE_NONE);
	}
	return rc;
}

static void name_frame(struct stackprofile *p, struct stackprofile_node *n,
		       const struct map64 *names)
{
	struct tables *t = p->im->tables;
	const char *url = tables_text(t, n->url), *name = tables_text(t, n->name);
	uint32_t first = 0;
	char text[512];
	bool several = map64_get(names, name_key(n), &first) && first == STACKPROFILE_NONE;
	if (!name[0])
		name = "(anonymous)";
	int len = snprintf(text, sizeof text, "%s", name);
	if (n->line && (several || !n->name))
		len = n->column ? snprintf(text, sizeof text, "%.460s %u:%u", name, n->line,
					   n->column)
				: snprintf(text, sizeof text, "%.460s %u", name, n->line);
	str_id id = len < (int)sizeof text ? tables_str(t, text) : n->name;
	n->frame = import_frame(p->im, import_module(p->im, url, strlen(url), false), id, 0, n->url,
				n->line, 0);
}

static int find_frames(struct stackprofile *p)
{
	struct map64 names;
	map64_init(&names);
	int rc = find_names(p, &names);
	for (size_t i = 0; i < p->nodes.len && !rc; i++)
		name_frame(p, &p->nodes.data[i], &names);
	map64_fini(&names);
	return rc;
}

/* The stack of @node; a root that every stack has is left out. */
static int stack_up(struct stackprofile *p, uint32_t node)
{
	if (p->stacked == node)
		return 0;
	p->stacked = node;
	p->stack.len = 0;
	for (uint32_t k = node + 1; k && p->stack.len < STACK_MAX;) {
		const struct stackprofile_node *n = &p->nodes.data[k - 1];
		k = n->holder;
		bool root = !k && (is_named(p, n, "(root)") || is_named(p, n, "[root]"));
		if ((!root || !p->stack.len) && vec_push(&p->stack, n->frame))
			return -ENOMEM;
	}
	return 0;
}

/* --- moments --- */

static int compare_pieces(const void *pa, const void *pb)
{
	const struct stackprofile_piece *a = pa, *b = pb;
	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return a->ids < b->ids ? -1 : a->ids > b->ids;
}

/* Where differences count from: told, or so that the track's first piece ends when it was written.
 */
static int64_t begin_of(const struct stackprofile *p, const struct stackprofile_piece *e)
{
	int64_t begin = p->tracks.data[e->track].start_ns;
	if (begin || !e->ts_ns)
		return begin;
	begin = e->ts_ns;
	for (size_t i = e->times; i < e->times_end; i++)
		if (__builtin_sub_overflow(begin, p->times.data[i], &begin))
			return e->ts_ns;
	return begin;
}

/* The samples of all pieces, each where its time says. One time more: the end of the last. */
static int place_pieces(struct stackprofile *p)
{
	int64_t now = 0;
	if (vec_reserve(&p->moments, p->moments.len + p->ids.len))
		return -ENOMEM;
	if (p->pieces.len)
		qsort(p->pieces.data, p->pieces.len, sizeof *p->pieces.data, compare_pieces);
	for (size_t i = 0; i < p->pieces.len; i++) {
		const struct stackprofile_piece *e = &p->pieces.data[i];
		struct stackprofile_track *t = &p->tracks.data[e->track];
		if (!i || e->track != e[-1].track)
			now = begin_of(p, e);
		size_t n = e->ids_end - e->ids, k = 0;
		for (size_t at = e->times; k < n && at < e->times_end; k++, at++) {
			int64_t time = p->times.data[at];
			if (e->absolute)
				now = time;
			else if (__builtin_add_overflow(now, time, &now))
				now = time > 0 ? INT64_MAX : INT64_MIN;
			p->moments.data[p->moments.len++] = (struct stackprofile_moment){
				.ns = now,
				.id = p->ids.data[e->ids + k],
				.track = e->track,
				.event = STACKPROFILE_NONE};
		}
		p->lost += n - k;
		if (e->absolute && e->times_end - e->times > n)
			t->end_ns = p->times.data[e->times + n];
	}
	vec_fini(&p->ids);
	vec_fini(&p->times);
	return 0;
}

static int compare_taken(const void *pa, const void *pb)
{
	const struct stackprofile_moment *a = pa, *b = pb;
	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	return a->ns < b->ns ? -1 : a->ns > b->ns;
}

static int compare_ends(const void *pa, const void *pb)
{
	const struct stackprofile_moment *a = pa, *b = pb;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->track < b->track ? -1 : a->track > b->track;
}

/* Sorting takes as much memory again, and is seldom needed. */
static void sort_moments(struct stackprofile *p, int (*compare)(const void *, const void *))
{
	for (size_t i = 1; i < p->moments.len; i++)
		if (compare(&p->moments.data[i - 1], &p->moments.data[i]) > 0) {
			qsort(p->moments.data, p->moments.len, sizeof *p->moments.data, compare);
			return;
		}
}

/* How long the last of @n samples of a track stands. */
static uint64_t last_span(const struct stackprofile *p, const struct stackprofile_moment *m,
			  size_t n)
{
	uint64_t all = (uint64_t)m[n - 1].ns - (uint64_t)m[0].ns;
	int64_t end = p->tracks.data[m->track].end_ns;
	bool exact = n == 1 || (p->pieces.len && p->pieces.data[0].absolute);
	if (exact && end > m[n - 1].ns)
		return (uint64_t)end - (uint64_t)m[n - 1].ns;
	return n > 1 ? all / (n - 1) : 0;
}

/* Each of the @n samples of one track weighs the time until the next. */
static void weigh(struct stackprofile *p, struct stackprofile_moment *m, size_t n)
{
	uint64_t last = last_span(p, m, n);
	p->first_ns = m[0].ns < p->first_ns ? m[0].ns : p->first_ns;
	for (size_t i = 0; i < n; i++) {
		if (m[i].event != STACKPROFILE_NONE)
			continue;
		m[i].weight = i + 1 < n ? (uint64_t)m[i + 1].ns - (uint64_t)m[i].ns : last;
		if (__builtin_add_overflow(m[i].ns, (int64_t)m[i].weight, &m[i].ns))
			m[i].ns = INT64_MAX;
	}
	p->last_ns = m[n - 1].ns > p->last_ns ? m[n - 1].ns : p->last_ns;
}

/* Which of them have a node. Those of pieces ask in their track's nodes, others in the first's. */
static void find_nodes(struct stackprofile *p, const struct map64 *at, size_t of_pieces)
{
	size_t kept = 0;
	for (size_t i = 0; i < p->moments.len; i++) {
		struct stackprofile_moment m = p->moments.data[i];
		uint32_t place;
		if (!map64_get(at, node_key(i < of_pieces ? m.track : 0, m.id), &place)) {
			p->lost++;
			place = STACKPROFILE_NONE;
		}
		m.id = place;
		p->moments.data[kept++] = m;
	}
	p->moments.len = kept;
}

/* The event of those that weigh their time. Where there are too many events there is none. */
static void announce(struct stackprofile *p)
{
	static const char name[] = "wall";
	for (size_t i = 0; i < p->moments.len; i++) {
		if (p->moments.data[i].event != STACKPROFILE_NONE)
			continue;
		p->wall = import_event(p->im, name, sizeof name - 1, EVENT_NS, false);
		break;
	}
	size_t kept = 0;
	for (size_t i = 0; i < p->moments.len && p->wall == UINT16_MAX; i++)
		if (p->moments.data[i].event != STACKPROFILE_NONE)
			p->moments.data[kept++] = p->moments.data[i];
	if (p->wall == UINT16_MAX) {
		p->lost += p->moments.len - kept;
		p->moments.len = kept;
	}
}

static int arrange_moments(struct stackprofile *p, const struct map64 *at)
{
	/* those that are there already come from no piece */
	size_t loose = p->moments.len;
	int rc = place_pieces(p);
	if (rc || !p->moments.len)
		return rc;
	size_t of_pieces = p->moments.len - loose;
	if (loose && of_pieces) { /* which never comes together in a file */
		memmove(p->moments.data, p->moments.data + loose,
			of_pieces * sizeof *p->moments.data);
		p->moments.len = of_pieces;
		p->lost += loose;
		loose = 0;
	}
	find_nodes(p, at, of_pieces);
	struct stackprofile_moment *m = p->moments.data;
	sort_moments(p, compare_taken);
	p->first_ns = INT64_MAX;
	p->last_ns = INT64_MIN;
	for (size_t i = 0, n; i < p->moments.len; i += n) {
		for (n = 1; i + n < p->moments.len && m[i + n].track == m[i].track;)
			n++;
		weigh(p, m + i, n);
	}
	sort_moments(p, compare_ends);
	announce(p);
	return 0;
}

int stackprofile_arrange(struct stackprofile *p)
{
	struct map64 at;
	map64_init(&at);
	int rc = 0;
	for (uint32_t i = 0; i < p->nodes.len && !rc; i++)
		rc = map64_put(&at, node_key(p->nodes.data[i].space, p->nodes.data[i].id), i);
	rc = rc ? rc : find_callers(p, &at);
	rc = rc ? rc : find_frames(p);
	rc = rc ? rc : arrange_moments(p, &at);
	map64_fini(&at);
	return rc;
}

bool stackprofile_next(const struct stackprofile *p, int64_t *ret_ns)
{
	if (p->next == p->moments.len)
		return false;
	*ret_ns = p->moments.data[p->next].ns;
	return true;
}

static void send(struct stackprofile *p, struct raw_sample *s)
{
	static const frame_id unknown = FRAME_UNKNOWN;
	s->cpu = UINT32_MAX;
	s->frames = p->stack.len ? p->stack.data : &unknown;
	s->nframes = p->stack.len ? (uint32_t)p->stack.len : 1;
	s->cut = (uint8_t)import_cut(p->im, s->frames, s->nframes);
	p->im->sink->ops->sample(p->im->sink->ctx, s);
}

int stackprofile_deliver(struct stackprofile *p, uint64_t time_ns)
{
	const struct stackprofile_moment *m = &p->moments.data[p->next++];
	const struct stackprofile_track *t = &p->tracks.data[m->track];
	struct raw_sample s = {.time_ns = time_ns,
			       .pid = (pid_t)t->pid,
			       .tid = (pid_t)t->tid,
			       .event = m->event == STACKPROFILE_NONE ? p->wall
								      : (uint16_t)m->event,
			       .weight = m->weight,
			       .hits = 1};
	p->stack.len = m->id == STACKPROFILE_NONE ? 0 : p->stack.len;
	int rc = m->id == STACKPROFILE_NONE ? 0 : stack_up(p, (uint32_t)m->id);
	if (m->id == STACKPROFILE_NONE)
		p->stacked = STACKPROFILE_NONE;
	if (!rc)
		send(p, &s);
	return rc;
}

int stackprofile_deliver_sums(struct stackprofile *p)
{
	uint64_t bytes = 0, hits = 0;
	for (size_t i = 0; i < p->nodes.len; i++) {
		bytes += p->nodes.data[i].bytes;
		hits += p->nodes.data[i].hits;
	}
	if (!bytes && !hits)
		return 0;
	const char *name = bytes ? "inuse_space" : "samples";
	uint16_t event = import_event(p->im, name, strlen(name), EVENT_COUNT, false);
	for (uint32_t i = 0; i < p->nodes.len; i++) {
		const struct stackprofile_node *n = &p->nodes.data[i];
		struct raw_sample s = {.flags = SAMPLE_TIMELESS,
				       .event = event,
				       .weight = bytes ? n->bytes : n->hits,
				       .hits = bytes ? 1 : n->hits};
		if (!s.weight)
			continue;
		if (!import_go_on(p->im))
			return -ECANCELED;
		int rc = stack_up(p, i);
		if (rc)
			return rc;
		send(p, &s);
	}
	return 1;
}
