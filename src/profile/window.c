/*
 * window: which cells a window of time holds.
 *
 * Engine thread. "All" reads the totals and takes back what came after its end (a frozen screen);
 * shorter windows read the history's buckets. Both end with the open bucket.
 */
#include <string.h>

#include "profile/profile.h"

/* Samples reach us a moment after they were taken. */
#define DELIVERY_NS 250000000ull

struct window profile_window(const struct profile *p, uint64_t length_ns, uint64_t until_ns,
			     uint64_t now_ns)
{
	/* A window ends where its newest data does, unless the target is simply quiet. */
	uint64_t end = now_ns;
	if (p->newest_ns < end)
		end = p->newest_ns + DELIVERY_NS > end ? p->newest_ns : end - DELIVERY_NS;
	bool timeless = p->timeless && !p->newest_ns;
	struct window w = {.all = !length_ns || timeless, .until_ns = UINT64_MAX};
	if (until_ns) {
		w.until_ns = until_ns;
		end = until_ns < end ? until_ns : end;
	}
	uint64_t begin = p->mark_ns > p->begin_ns ? p->mark_ns : p->begin_ns;
	if (!p->begin_ns || end < begin)
		end = begin;
	w.from_ns = begin;
	if (length_ns && end - begin > length_ns) {
		/* Buckets are cut at steps: a window of exactly so many of them. */
		uint64_t from = end - length_ns;
		from += HISTORY_STEP_NS - 1;
		w.from_ns = from - from % HISTORY_STEP_NS;
		if (w.from_ns < begin)
			w.from_ns = begin;
	}
	uint64_t known = w.from_ns;
	if (!w.all && p->history.forgotten_ns > known)
		known = p->history.forgotten_ns;
	w.covered_ns = end > known ? end - known : 0;
	if (!w.all && w.from_ns <= p->begin_ns)
		w.from_ns = p->mark_ns; /* late arrivals count into buckets that begin before */
	return w;
}

enum stage { STAGE_BASE, STAGE_SINCE, STAGE_BUCKETS, STAGE_OPEN, STAGE_END };

struct profile_walk profile_walk(const struct profile *p, const struct window *w)
{
	struct profile_walk walk = {.p = p, .window = *w};
	profile_settle(p);
	walk.stage = !w->all ? STAGE_BUCKETS : p->mark_ns ? STAGE_SINCE : STAGE_BASE;
	if (!w->all)
		walk.at = history_first(&p->history, w->from_ns);
	return walk;
}

static bool next_of(struct profile_walk *w, const struct cells *cells)
{
	if (w->at >= cells->len)
		return false;
	w->cell = &cells->data[w->at++];
	return true;
}

/* Totals hold everything: take back the buckets that begin at or after the window's end. */
static void enter_buckets(struct profile_walk *w)
{
	const struct history *h = &w->p->history;
	w->stage = STAGE_BUCKETS;
	w->negate = w->window.all;
	w->at = h->len;
	if (!w->negate || w->window.until_ns == UINT64_MAX)
		return;
	uint64_t from = w->window.until_ns;
	if (from < w->p->mark_ns)
		from = w->p->mark_ns;
	w->at = history_first(h, from);
}

static bool next_in_buckets(struct profile_walk *w)
{
	const struct history *h = &w->p->history;
	for (;;) {
		if (w->in_bucket && cellcode_next(&w->reader)) {
			w->cell = &w->reader.cell;
			if (w->negate) {
				w->copy = w->reader.cell;
				w->copy.samples = -w->copy.samples;
				w->copy.weight = -w->copy.weight;
				w->copy.weight_sq = -w->copy.weight_sq;
				w->cell = &w->copy;
			}
			return true;
		}
		w->in_bucket = false;
		if (w->at >= h->len)
			return false;
		const struct bucket *b = h->buckets[w->at];
		if (!w->negate && b->start_ns >= w->window.until_ns)
			return false;
		w->at++;
		w->in_bucket = true;
		w->time_ns = b->start_ns;
		w->reader = cellcode_reader(b->data, b->bytes);
	}
}

bool profile_next(struct profile_walk *w)
{
	const struct profile *p = w->p;
	if (w->stage == STAGE_BASE) {
		if (next_of(w, &p->base))
			return true;
		w->stage = STAGE_SINCE;
		w->at = 0;
	}
	if (w->stage == STAGE_SINCE) {
		if (next_of(w, &p->since))
			return true;
		enter_buckets(w);
	}
	if (w->stage == STAGE_BUCKETS) {
		if (next_in_buckets(w))
			return true;
		w->stage = STAGE_OPEN;
		w->at = 0;
		w->time_ns = p->open_start_ns;
		if (p->open_start_ns >= w->window.until_ns ||
		    (!w->window.all && p->open_start_ns < w->window.from_ns))
			w->stage = STAGE_END;
	}
	if (w->stage == STAGE_OPEN && next_of(w, &p->open))
		return true;
	w->stage = STAGE_END;
	return false;
}

void profile_tally(const struct profile *p, const struct window *w, struct tally *ret_tally)
{
	const struct history *h = &p->history;
	memset(ret_tally, 0, sizeof *ret_tally);
	if (!w->all) {
		uint32_t i = history_first(h, w->from_ns);
		for (; i < h->len && h->buckets[i]->start_ns < w->until_ns; i++)
			tally_add(ret_tally, &h->buckets[i]->tally);
	} else {
		if (!p->mark_ns)
			tally_add(ret_tally, &p->base_tally);
		tally_add(ret_tally, &p->since_tally);
		uint64_t from = w->until_ns > p->mark_ns ? w->until_ns : p->mark_ns;
		for (uint32_t i = w->until_ns == UINT64_MAX ? h->len : history_first(h, from);
		     i < h->len; i++)
			tally_sub(ret_tally, &h->buckets[i]->tally);
	}
	if (p->open_start_ns < w->until_ns && (w->all || p->open_start_ns >= w->from_ns))
		tally_add(ret_tally, &p->open_tally);
}
