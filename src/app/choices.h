/*
 * choices: what key `e` offers: event sets, and events found by name. Main thread.
 */
#ifndef ALTPTTOP_CHOICES_H
#define ALTPTTOP_CHOICES_H

#include <stddef.h>

#include "event/set.h"
#include "ui/ui.h"

#define CHOICES 64

struct choices {
	struct ui_choice sets[CHOICES];
	uint32_t nsets;
	char reasons[CHOICES][160]; /* why a set cannot be had here */
};

/* Each set is tried: a few system calls. Texts point into @sets and @c. */
void choices_sets(struct choices *c, const struct event_set *sets, size_t n);

/* As ui_config.find_events. Texts are good until the next call. */
uint32_t choices_events(void *ctx, const char *text, struct ui_choice *ret, uint32_t max);

#endif
