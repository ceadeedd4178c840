/*
 * spans: see spans.h. Engine thread.
 */
#include "engine/spans.h"

#include <string.h>

#include "engine/core.h"

void spans_add(struct spans *s, uint16_t set, uint64_t time_ns)
{
	struct span *last = s->n ? &s->s[s->n - 1] : NULL;

	/* Records of the old set may come a moment after the new one's first. */
	for (uint32_t i = s->n; i-- > 0 && i + 3 > s->n;)
		if (s->s[i].set == set && (i + 1 == s->n || time_ns < s->s[i + 1].from_ns)) {
			if (time_ns > s->s[i].until_ns)
				s->s[i].until_ns = time_ns;
			return;
		}
	if (s->n == SPANS_MAX) {
		memmove(s->s, s->s + 1, (SPANS_MAX - 1) * sizeof *s->s);
		last = &s->s[--s->n - 1];
		s->forgot = true;
	}
	if (last && time_ns < last->until_ns)
		time_ns = last->until_ns;
	s->s[s->n++] = (struct span){.set = set, .from_ns = time_ns, .until_ns = time_ns + 1};
}

uint16_t set_in_view(const struct engine *e, uint16_t asked)
{
	return asked == UINT16_MAX ? e->newest_set : asked;
}

/* The set in use goes on though its target rests. */
static uint64_t end_of(const struct engine *e, const struct span *x)
{
	bool goes_on = e->setup.live && x == &e->spans.s[e->spans.n - 1] && x->set == e->newest_set;
	uint64_t now = engine_now(e);

	return goes_on && now > x->until_ns ? now : x->until_ns;
}

uint64_t set_covered_ns(const struct engine *e, uint16_t set, uint64_t from_ns, uint64_t until_ns)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < e->spans.n; i++) {
		const struct span *x = &e->spans.s[i];
		uint64_t from = x->from_ns > from_ns ? x->from_ns : from_ns, end = end_of(e, x);

		if (x->set != set)
			continue;
		/* It rested at first. */
		if (!i && !e->spans.forgot && e->setup.live && e->start_ns < x->from_ns)
			from = e->start_ns > from_ns ? e->start_ns : from_ns;
		end = end < until_ns ? end : until_ns;
		sum += end > from ? end - from : 0;
	}
	return sum;
}

uint64_t set_end_ns(const struct engine *e, uint16_t set)
{
	for (uint32_t i = e->spans.n; i-- > 0;)
		if (e->spans.s[i].set == set)
			return e->spans.s[i].until_ns;
	return 0;
}

const char *set_name(const struct engine *e, uint16_t set)
{
	for (uint16_t i = 0; i < EVENT_MAX; i++) {
		const struct event_desc *d = shared_event(&e->shared, i);

		if (d && d->set == set && d->set_name[0])
			return d->set_name;
	}
	return !set && e->setup.event_set ? e->setup.event_set : "";
}
