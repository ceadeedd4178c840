/*
 * topdown_offer: see topdown_offer.h. Trying a set costs a few system calls, so that it is done
 * once and only when somebody looks. Engine thread.
 */
#include "engine/topdown_offer.h"

#include <stdlib.h>
#include <string.h>

static const struct topdown_fit *fit_of(struct engine *e, size_t i)
{
	if (e->fits)
		return &e->fits[i];
	e->fits = calloc(e->setup.nsets + 1, sizeof *e->fits);
	for (size_t k = 0; e->fits && k < e->setup.nsets; k++) {
		struct err err = {0};

		if (!e->setup.sets[k].has_slots)
			continue;
		e->fits[k].fits = event_set_try(&e->setup.sets[k], &err) == VALUE_OK;
		build_copy(e->fits[k].reason, sizeof e->fits[k].reason, err.msg);
	}
	return e->fits ? &e->fits[i] : NULL;
}

/* A sentence: as long as it is, it stands below the table when the cursor is on it. */
static void say(struct build *b, enum row_kind kind, uint32_t flags, const char *text)
{
	struct row *row = build_row(b);

	if (!row)
		return;
	row->key = (struct row_key){.kind = kind, .a = b->nrows};
	row->name = row->full = row->hint = text;
	row->flags = flags;
}

static void offer_sets(struct build *b, bool fits)
{
	for (size_t i = 0; i < b->e->setup.nsets; i++) {
		const struct event_set *s = &b->e->setup.sets[i];
		const struct topdown_fit *f = s->has_slots ? fit_of(b->e, i) : NULL;

		if (f && f->fits == fits)
			say(b, ROW_TEXT, fits ? ROW_GOOD : 0,
			    build_text(b, "  %s: %s", s->name, fits ? s->about : f->reason));
	}
}

static bool any_fits(struct build *b)
{
	for (size_t i = 0; i < b->e->setup.nsets; i++)
		if (b->e->setup.sets[i].has_slots && fit_of(b->e, i) && fit_of(b->e, i)->fits)
			return true;
	return false;
}

/* What is counted now, by the name it was asked for or its first event. */
static const char *counted_now(const struct build *b)
{
	const char *asked = set_name(b->e, b->e->newest_set);

	return *asked ? asked : b->desc ? b->desc->name : "nothing yet";
}

static void offer_events(struct build *b)
{
	for (size_t i = 0; i < b->e->setup.nsets; i++)
		if (b->e->setup.sets[i].has_slots)
			say(b, ROW_TEXT, 0,
			    build_text(b, "  %s: %s", b->e->setup.sets[i].name,
				       b->e->setup.sets[i].about));
}

void topdown_offer(struct build *b)
{
	bool timer = b->e->ops && strcmp(b->e->ops->name, "timer") == 0;

	if (!build_reserve(b, (uint32_t)b->e->setup.nsets + 6))
		return;
	say(b, ROW_HEADING, 0,
	    build_text(b, "%s: that does not tell where the pipeline's slots go", counted_now(b)));
	if (!b->e->setup.live) {
		say(b, ROW_TEXT, 0,
		    "A recording does when it has the events of one of these sets:");
		offer_events(b);
		return;
	}
	if (timer)
		say(b, ROW_TEXT, ROW_WARN,
		    "The timer sampler counts no events: start with --sampler perf where it is "
		    "allowed.");
	if (any_fits(b)) {
		if (!timer)
			say(b, ROW_TEXT, 0, "Press e and choose a set that does:");
		offer_sets(b, true);
		say(b, ROW_TEXT, 0, "These do not fit this machine:");
	} else {
		say(b, ROW_TEXT, ROW_WARN, "No set that does fits this machine:");
	}
	offer_sets(b, false);
}
