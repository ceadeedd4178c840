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

#define STACK_MAX  4096
#define SORT_BYTES (128u << 20) /* of samples in memory, twice: by begin and by end */

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
	extsort_free(p->taken);
	extsort_free(p->ends);
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

/* The keys say all of the order. */
static int compare_nothing(const void *a, const void *b)
{
	(void)a, (void)b;
	return 0;
}

static struct extsort *new_sort(void)
{
	return extsort_new_words(sizeof(struct stackprofile_moment), SORT_BYTES, compare_nothing,
				 2);
}

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

int stackprofile_add(struct stackprofile *p, const struct stackprofile_moment *m)
{
	if (!p->taken && !(p->taken = new_sort()))
		return -ENOMEM;
	return extsort_add(p->taken, m);
}

/* The place of node @id of @space. Without one the sample stands where nobody knows. */
static uint32_t place_in(struct stackprofile *p, const struct map64 *at, uint32_t space,
			 uint32_t id)
{
	uint32_t place;
	if (map64_get(at, node_key(space, id), &place))
		return place;
	p->lost++;
	return STACKPROFILE_NONE;
}

/* The samples of one track, as they come. */
struct lane {
	struct stackprofile_moment last; /* whose weight is not known yet */
	int64_t first_ns;
	size_t n;
};

static int64_t ns_of(uint64_t time)
{
	return (int64_t)(time ^ 1ull << 63);
}

/* How long the last sample of a track stands. */
static uint64_t last_span(const struct stackprofile *p, const struct lane *lane)
{
	int64_t last = ns_of(lane->last.key[1]), end = p->tracks.data[lane->last.key[0]].end_ns;
	uint64_t all = (uint64_t)last - (uint64_t)lane->first_ns;
	bool exact = lane->n == 1 || (p->pieces.len && p->pieces.data[0].absolute);
	if (exact && end > last)
		return (uint64_t)end - (uint64_t)last;
	return lane->n > 1 ? all / (lane->n - 1) : 0;
}

/* @m stands for @span, where it has no weight of its own. Its end is in *ret_end. */
static int put_end(struct stackprofile *p, const struct stackprofile_moment *m, uint64_t span,
		   int64_t *ret_end)
{
	static const char name[] = "wall";
	struct stackprofile_moment end = *m;
	*ret_end = ns_of(m->key[1]);
	if (m->event == STACKPROFILE_NONE) {
		if (p->wall == UINT16_MAX && !p->ends_told)
			p->wall = import_event(p->im, name, sizeof name - 1, EVENT_NS, false);
		p->ends_told = true;
		end.weight = span;
		if (__builtin_add_overflow(*ret_end, (int64_t)span, ret_end))
			*ret_end = INT64_MAX;
		if (p->wall == UINT16_MAX) { /* there are too many events */
			p->lost++;
			return 0;
		}
	}
	end.key[0] = stackprofile_time(*ret_end);
	end.key[1] = m->key[0];
	p->nmoments++;
	return extsort_add(p->ends, &end);
}

static int end_lane(struct stackprofile *p, const struct lane *lane)
{
	int64_t end;
	int rc = lane->n ? put_end(p, &lane->last, last_span(p, lane), &end) : 0;
	if (lane->n && end > p->last_ns)
		p->last_ns = end;
	return rc;
}

/* Each sample of a track weighs the time until the next. They come by track, and in order. */
static int weigh(struct stackprofile *p, struct lane *lane, const struct stackprofile_moment *m)
{
	int64_t ns = ns_of(m->key[1]), end;
	int rc;
	if (lane->n && m->key[0] == lane->last.key[0]) {
		rc = put_end(p, &lane->last, (uint64_t)ns - (uint64_t)ns_of(lane->last.key[1]),
			     &end);
		lane->n++;
	} else {
		rc = end_lane(p, lane);
		lane->n = 1;
		lane->first_ns = ns;
		p->first_ns = ns < p->first_ns ? ns : p->first_ns;
	}
	lane->last = *m;
	return rc;
}

static int weigh_sorted(struct stackprofile *p, const struct map64 *at, struct lane *lane)
{
	const struct stackprofile_moment *m;
	int rc = extsort_finish(p->taken);
	while (!rc && (m = extsort_next(p->taken))) {
		rc = weigh(p, lane, m);
		if (!p->pieces.len) /* a frame of the whole file */
			lane->last.node = place_in(p, at, 0, m->node);
	}
	rc = rc ? rc : extsort_error(p->taken);
	extsort_free(p->taken);
	p->taken = NULL;
	return rc;
}

/* Is each sample of the sorted pieces taken after the one before it? */
static bool in_order(const struct stackprofile *p)
{
	for (size_t i = 0; i < p->pieces.len; i++) {
		const struct stackprofile_piece *e = &p->pieces.data[i];
		if (e->absolute && i && e->track == e[-1].track)
			return false;
		for (size_t k = e->times + e->absolute; k < e->times_end; k++)
			if (p->times.data[k] < (e->absolute ? p->times.data[k - 1] : 0))
				return false;
	}
	return true;
}

/* The samples of all pieces, each where its time says. One time more: the end of the last. */
static int place_pieces(struct stackprofile *p, const struct map64 *at, struct lane *lane)
{
	int64_t now = 0;
	int rc = 0;
	qsort(p->pieces.data, p->pieces.len, sizeof *p->pieces.data, compare_pieces);
	bool ordered = in_order(p);
	for (size_t i = 0; i < p->pieces.len && !rc; i++) {
		const struct stackprofile_piece *e = &p->pieces.data[i];
		struct stackprofile_track *t = &p->tracks.data[e->track];
		size_t n = e->ids_end - e->ids, k = 0;
		if (!i || e->track != e[-1].track)
			now = begin_of(p, e);
		if (e->absolute && e->times_end - e->times > n)
			t->end_ns = p->times.data[e->times + n];
		for (size_t time = e->times; k < n && time < e->times_end && !rc; k++, time++) {
			int64_t ns = p->times.data[time];
			if (e->absolute)
				now = ns;
			else if (__builtin_add_overflow(now, ns, &now))
				now = ns > 0 ? INT64_MAX : INT64_MIN;
			struct stackprofile_moment m = {
				.key = {e->track, stackprofile_time(now)},
				.node = place_in(p, at, e->track, p->ids.data[e->ids + k]),
				.event = STACKPROFILE_NONE};
			rc = ordered ? weigh(p, lane, &m) : stackprofile_add(p, &m);
		}
		p->lost += n - k;
	}
	vec_fini(&p->ids);
	vec_fini(&p->times);
	return rc;
}

static int arrange_moments(struct stackprofile *p, const struct map64 *at)
{
	struct lane lane = {.n = 0};
	if (p->pieces.len && p->taken) { /* which never comes together in a file */
		p->lost += extsort_count(p->taken);
		extsort_free(p->taken);
		p->taken = NULL;
	}
	if (!p->pieces.len && !p->taken)
		return 0;
	p->first_ns = INT64_MAX;
	p->last_ns = INT64_MIN;
	p->ends = new_sort();
	int rc = p->ends ? 0 : -ENOMEM;
	if (!rc && p->pieces.len)
		rc = place_pieces(p, at, &lane);
	if (!rc && p->taken)
		rc = weigh_sorted(p, at, &lane);
	rc = rc ? rc : end_lane(p, &lane);
	rc = rc ? rc : extsort_finish(p->ends);
	p->next = rc ? NULL : extsort_next(p->ends);
	return rc ? rc : extsort_error(p->ends);
}

int stackprofile_arrange(struct stackprofile *p, struct err *err)
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
	if (rc == -ENOMEM)
		return err_set(err, ENOMEM, "no memory for the profile");
	return rc ? err_set(err, -rc, "cannot sort the profile's samples: %s", strerror(-rc)) : 0;
}

void stackprofile_say_lost(const struct stackprofile *p, const char *whose)
{
	char text[256];
	snprintf(text, sizeof text, "%llu %s have no time, or stand where no call is known",
		 (unsigned long long)p->lost, whose);
	if (p->lost)
		p->im->sink->ops->say(p->im->sink->ctx, text);
	snprintf(text, sizeof text,
		 "%llu samples and calls are left out: more than %u in lists, %u nodes or %u "
		 "threads are not kept",
		 (unsigned long long)p->beyond, STACKPROFILE_LISTED_MOST, STACKPROFILE_NODES_MOST,
		 STACKPROFILE_TRACKS_MOST);
	if (p->beyond)
		p->im->sink->ops->say(p->im->sink->ctx, text);
}

bool stackprofile_next(const struct stackprofile *p, int64_t *ret_ns)
{
	if (p->next)
		*ret_ns = ns_of(p->next->key[0]);
	return p->next != NULL;
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
	const struct stackprofile_moment *m = p->next;
	const struct stackprofile_track *t = &p->tracks.data[m->key[1]];
	struct raw_sample s = {.time_ns = time_ns,
			       .pid = (pid_t)t->pid,
			       .tid = (pid_t)t->tid,
			       .event = m->event == STACKPROFILE_NONE ? p->wall
								      : (uint16_t)m->event,
			       .weight = m->weight,
			       .hits = 1};
	int rc = 0;
	if (m->node == STACKPROFILE_NONE) {
		p->stack.len = 0;
		p->stacked = STACKPROFILE_NONE;
	} else {
		rc = stack_up(p, m->node);
		s.recurring = m->node + 1 < STACKS_MAX ? m->node + 1 : 0;
	}
	if (rc)
		return rc;
	send(p, &s);
	p->next = extsort_next(p->ends);
	return p->next ? 0 : extsort_error(p->ends);
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
