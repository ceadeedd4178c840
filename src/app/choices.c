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

void choices_sets(struct choices *c, const struct event_set *sets, size_t n)
{
	for (size_t i = 0; i < n && c->nsets < CHOICES; i++) {
		struct err err = {0};
		bool fits = event_set_try(&sets[i], &err) == VALUE_OK;

		snprintf(c->reasons[c->nsets], sizeof c->reasons[0], "%.*s",
			 (int)sizeof c->reasons[0] - 1, err.msg);
		c->sets[c->nsets] = (struct ui_choice){.name = sets[i].name,
						       .text = sets[i].about,
						       .reason = fits ? NULL
								      : c->reasons[c->nsets]};
		c->nsets++;
	}
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
