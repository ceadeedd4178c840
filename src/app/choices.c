/*
 * choices: see choices.h.
 */
#include "choices.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "event/catalogue.h"

#define FOUND_MAX 200
#define TRY_NS    30000000ull

static void add_set(struct choices *c, const struct event_set *set, const struct err *refused)
{
	char *reason = c->reasons[c->nsets];

	if (refused)
		snprintf(reason, sizeof c->reasons[0], "%.*s", (int)sizeof c->reasons[0] - 1,
			 refused->msg);
	c->sets[c->nsets++] = (struct ui_choice){
		.name = set->name, .text = set->about, .reason = refused ? reason : NULL};
}

void choices_sets(struct choices *c, const struct event_set *sets, size_t n)
{
	struct err refused[CHOICES];

	if (n > CHOICES)
		n = CHOICES;
	for (size_t i = 0; i < n; i++) {
		refused[i] = (struct err){0};
		if (event_set_try(&sets[i], &refused[i]) == VALUE_OK)
			add_set(c, &sets[i], NULL);
		else if (!refused[i].msg[0])
			snprintf(refused[i].msg, sizeof refused[i].msg, "it does not fit here");
	}
	for (size_t i = 0; i < n; i++)
		if (refused[i].msg[0])
			add_set(c, &sets[i], &refused[i]);
}

struct found {
	struct ui_choice *ret;
	uint32_t n, max;
	uint64_t until_ns; /* trying ends here: whoever types waits for it */
};

/* The catalogue's texts live for the call only: what is shown is kept here until the next search.
 */
static char names[FOUND_MAX][128], texts[FOUND_MAX][160], reasons[FOUND_MAX][160];

/* Why it cannot be chosen, NULL: it can, or there was no time to try. */
static const char *reason_of(const struct found *f, const struct catalogue_event *e)
{
	struct err err = {0};

	if (e->kind == CATALOGUE_PATTERN) { /* not a name, but how names are written */
		snprintf(reasons[f->n], sizeof reasons[0], "type it: %.140s", e->description);
		return reasons[f->n];
	}
	if (clock_mono_ns() > f->until_ns || catalogue_try(e->name, &err) == VALUE_OK)
		return NULL;
	snprintf(reasons[f->n], sizeof reasons[0], "%.159s", err.msg);
	return reasons[f->n];
}

static bool keep(void *ctx, const struct catalogue_event *e)
{
	struct found *f = ctx;

	snprintf(names[f->n], sizeof names[0], "%.127s", e->name);
	snprintf(texts[f->n], sizeof texts[0], "%.159s",
		 e->description[0] ? e->description : catalogue_kind_name(e->kind));
	f->ret[f->n] = (struct ui_choice){
		.name = names[f->n], .text = texts[f->n], .reason = reason_of(f, e)};
	return ++f->n < f->max;
}

uint32_t choices_events(void *ctx, const char *text, struct ui_choice *ret, uint32_t max)
{
	struct found f = {.ret = ret,
			  .max = max < FOUND_MAX ? max : FOUND_MAX,
			  .until_ns = clock_mono_ns() + TRY_NS};

	(void)ctx;
	if (f.max)
		catalogue_each(text, keep, &f);
	return f.n;
}
