/*
 * drain: takes records from the queue into the profile.
 *
 * Engine thread. Also brings over what the source tells beside the queue: new events, and losses,
 * which count into the bucket of time in which they are noticed.
 */
#include <string.h>

#include "base/clock.h"
#include "engine/core.h"
#include "engine/record.h"

#define LOOK_EVERY     256 /* records between two looks at the clock */
#define COUNT_GAP_NS   5e9
#define COUNT_LEAST_NS 5e8

/* Where a part is hidden, and only then, nothing is compared: the accounts of the two parts are
 * coarser than the samples, and what was hidden is not missing. */
static enum account_scope scope_of(const struct engine *e, const char *event)
{
	if (e->no_kernel || e->no_user)
		return SCOPE_NONE;
	const char *modifiers = strrchr(event, ':');
	bool user = modifiers && strchr(modifiers, 'u');
	bool kernel = modifiers && strchr(modifiers, 'k');
	if (user == kernel)
		return SCOPE_ALL;
	return user ? SCOPE_USER : SCOPE_KERNEL;
}

/* The newest; a live source says itself which it uses, as it may go back to an older one. */
static uint16_t set_in_use(const struct engine *e)
{
	const struct source_status *s = e->setup.live && e->source ? e->ops->status(e->source)
								   : NULL;
	uint32_t told = s ? atomic_load_explicit(&s->set, memory_order_acquire) : 0;
	uint16_t newest = 0;

	for (uint16_t i = 0; i < EVENT_MAX; i++) {
		const struct event_desc *d = shared_event(&e->shared, i);
		if (d && d->set == told && s)
			return d->set;
		if (d && d->set > newest)
			newest = d->set;
	}
	return newest;
}

/* One on-CPU clock a set stands for its CPU time: two would count it twice. */
static void learn_events(struct engine *e)
{
	uint64_t announced = atomic_load_explicit(&e->shared.announced, memory_order_acquire);
	uint16_t in_use = set_in_use(e);
	if (announced == e->known_events && in_use == e->newest_set)
		return;
	uint64_t clocks = 0;
	int clock_of_newest = -1;
	e->newest_set = in_use;
	uint64_t sets_done = 0;
	for (uint16_t i = 0; i < EVENT_MAX; i++) {
		const struct event_desc *d = shared_event(&e->shared, i);
		uint64_t set = d ? 1ull << (d->set & 63) : 0;
		if (!d || !d->sampled || d->unit != EVENT_NS || !d->cpu_time || sets_done & set)
			continue;
		sets_done |= set;
		clocks |= 1ull << i;
		if (d->set == e->newest_set)
			clock_of_newest = i;
	}
	e->profile.events_on_cpu = clocks;
	e->profile.scope = SCOPE_NONE;
	if (clock_of_newest >= 0 && !e->setup.partial)
		e->profile.scope = scope_of(e, e->shared.events[clock_of_newest].name);
	e->profile.clock = clock_of_newest >= 0 ? (uint16_t)clock_of_newest : 0;
	e->known_events = announced;
	e->dirty = true;
	triggers_learn(e);
}

static void learn_losses(struct engine *e)
{
	for (unsigned i = 0; i < LOSS_KINDS; i++) {
		uint64_t now = atomic_load_explicit(&e->shared.loss[i], memory_order_relaxed);
		if (now != e->loss_seen[i])
			profile_loss(&e->profile, (enum loss_kind)i, now - e->loss_seen[i]);
		e->loss_seen[i] = now;
	}
}

static void take_sample(struct engine *e, const struct sample *s)
{
	if (s->event < EVENT_MAX && !(e->known_events >> s->event & 1))
		learn_events(e);
	if (s->event < EVENT_MAX) {
		spans_add(&e->spans, e->shared.events[s->event].set, s->time_ns);
		e->counts[s->event].sampled += s->weight;
		e->counts[s->event].samples++;
	}
	triggers_sample(e, s->event, s->time_ns);
	profile_add(&e->profile, s, sample_values(s), sample_frames(s));
}

/* Keep a counter's rate for each of the last seconds. */
static void take_count(struct engine *e, const struct raw_count *c)
{
	if (c->event >= EVENT_MAX)
		return;
	struct count_state *s = &e->counts[c->event];
	s->state = c->state;
	if (!s->seen)
		s->first = s->told = *c;
	s->seen = true;
	s->last = *c;
	/* Readings come by the second, and where events are opened anew one more: a rate over a
	 * moment is none. */
	double span = c->time_ns > s->told.time_ns ? (double)(c->time_ns - s->told.time_ns) : 0;
	if (span < COUNT_LEAST_NS && c->value >= s->told.value)
		return;
	/* A set that was left and chosen again counted nothing between. */
	if (span < COUNT_GAP_NS && c->value >= s->told.value) {
		if (s->nspark == SPARK_MAX)
			memmove(s->per_second, s->per_second + 1,
				(SPARK_MAX - 1) * sizeof *s->per_second);
		else
			s->nspark++;
		s->per_second[s->nspark - 1] = (double)(c->value - s->told.value) * 1e9 / span;
	}
	s->told = *c;
}

static void take_extent(struct engine *e, const struct extent *x)
{
	profile_extent(&e->profile, x->from_ns, x->until_ns);
	spans_add(&e->spans, 0, x->from_ns);
	spans_add(&e->spans, 0, x->until_ns);
}

static void take_record(struct engine *e, const struct record_head *head)
{
	const void *payload = head + 1;
	switch ((enum record_kind)head->kind) {
	case RECORD_SAMPLE: take_sample(e, payload); break;
	case RECORD_ACCOUNT: profile_account(&e->profile, payload); break;
	case RECORD_COUNT: take_count(e, payload); break;
	case RECORD_EXTENT: take_extent(e, payload); break;
	}
}

/* Takes the oldest records, as many as may be looked ahead at. 0: there are none. */
static uint32_t take_some(struct engine *e)
{
	const struct record_head *heads[TRIE_AHEAD];
	struct coming coming[TRIE_AHEAD];
	uint32_t n = 0, ncoming = 0;
	size_t len;

	heads[0] = spsc_peek(e->ring, &len);
	while (heads[n]) {
		const struct sample *s = (const void *)(heads[n] + 1);
		if (heads[n]->kind == RECORD_SAMPLE)
			coming[ncoming++] = (struct coming){s, sample_frames(s)};
		if (++n == TRIE_AHEAD)
			break;
		heads[n] = spsc_peek_next(e->ring, &len);
	}
	profile_foresee(&e->profile, coming, ncoming);
	for (uint32_t i = 0; i < n; i++)
		take_record(e, heads[i]);
	if (n)
		spsc_release(e->ring);
	return n;
}

static void say_when_full(struct engine *e)
{
	const struct profile *p = &e->profile;
	if (e->said_full || !(p->pruned || p->overflowed || p->overflowed_paths))
		return;
	e->said_full = true;
	const char *after = p->recording ? "; shares of functions stay what they are" : "";
	if (p->starved)
		engine_tell(e, NOTICE_WARN,
			    "there is no memory for more call paths: what is left out is "
			    "[overflow]%s",
			    after);
	else
		engine_tell(e, NOTICE_WARN,
			    "the memory for call paths (%zu MiB) is full: rare paths are "
			    "shortened, what is left out is [overflow]%s",
			    p->trie.cap_bytes >> 20, after);
}

bool engine_drain(struct engine *e, uint64_t budget_ns)
{
	uint64_t until = clock_mono_ns() + budget_ns;
	uint32_t taken = 0, some;

	learn_events(e);
	while ((some = take_some(e))) {
		e->dirty = true;
		taken += some;
		if (taken / LOOK_EVERY == (taken - some) / LOOK_EVERY)
			continue;
		if (spsc_used(e->ring) <= spsc_size(e->ring) / 2) /* waking costs as well */
			shared_made_room(&e->shared);
		if (clock_mono_ns() > until || atomic_load(&e->stopping))
			break;
	}
	learn_losses(e);
	say_when_full(e);
	if (taken)
		shared_made_room(&e->shared);
	return some;
}
