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

static void offer_sets(struct build *b)
{
	for (size_t i = 0; i < b->e->setup.nsets; i++) {
		const struct event_set *s = &b->e->setup.sets[i];
		const struct topdown_fit *f = s->has_slots ? fit_of(b->e, i) : NULL;

		if (f && f->fits)
			say(b, ROW_TEXT, ROW_GOOD, build_text(b, "  %s: %s", s->name, s->about));
	}
}

/* Why a set does not fit; NULL: it does, or has nothing to do with slots. */
static const char *reason_of(struct build *b, size_t i)
{
	const struct event_set *s = &b->e->setup.sets[i];
	const struct topdown_fit *f = s->has_slots ? fit_of(b->e, i) : NULL;

	return f && !f->fits ? f->reason : NULL;
}

/* What is true of the machine whatever the set: "it is for x, and this CPU is y" has it at its end.
 */
static const char *common_part(const char *reason)
{
	const char *common = strstr(reason, ", and ");

	return common ? common + strlen(", and ") : reason;
}

static bool alike(const char *a, const char *b)
{
	return a && b && (common_part(a) == a) == (common_part(b) == b) &&
	       !strcmp(common_part(a), common_part(b));
}

/* All sets with the reason of set @first, said once. */
static void say_unfit(struct build *b, size_t first)
{
	const char *reason = reason_of(b, first), *names = NULL;
	size_t own = (size_t)(common_part(reason) - reason), n = b->e->setup.nsets;
	unsigned many = 0;

	for (size_t i = first; i < n; i++)
		many += alike(reason, reason_of(b, i));
	if (own && many > 1)
		say(b, ROW_TEXT, 0, build_text(b, "  %s:", common_part(reason)));
	for (size_t i = first; i < n; i++) {
		const char *name = b->e->setup.sets[i].name, *r = reason_of(b, i);

		if (!alike(reason, r))
			continue;
		if (own && many > 1)
			say(b, ROW_TEXT, 0,
			    build_text(b, "    %s: %.*s", name,
				       (int)(common_part(r) - r - (ptrdiff_t)strlen(", and ")), r));
		else
			names = names ? build_text(b, "%s, %s", names, name) : name;
	}
	if (names)
		say(b, ROW_TEXT, 0, build_text(b, "  %s: %s", names, reason));
}

static void say_all_unfit(struct build *b)
{
	for (size_t i = 0; i < b->e->setup.nsets; i++) {
		size_t k = 0;

		while (k < i && !alike(reason_of(b, i), reason_of(b, k)))
			k++;
		if (k == i && reason_of(b, i))
			say_unfit(b, i);
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

	if (!build_reserve(b, 2 * (uint32_t)b->e->setup.nsets + 6))
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
		offer_sets(b);
		say(b, ROW_TEXT, 0, "These do not fit this machine:");
	} else {
		say(b, ROW_TEXT, ROW_WARN, "No set that does fits this machine:");
	}
	say_all_unfit(b);
}
