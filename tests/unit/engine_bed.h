/*
 * engine_bed: an engine with a scripted source, and how tests ask it. Include after cmocka.h.
 */
#ifndef ALTPTTOP_ENGINE_BED_H
#define ALTPTTOP_ENGINE_BED_H

#include "engine/run.h"
#include "script_source.h"

#define MS 1000000ull

struct bed {
	struct tables *tables;
	struct engine *engine;
	struct script script;
	uint32_t serial;
};

/* @setup: defaults are filled in; its save, if NULL, accepts anything. */
void bed_up(struct bed *b, struct engine_setup *setup);
void bed_down(struct bed *b);

struct query bed_question(enum view_kind view);
/* Ask and wait for the answer to just that, with at least @samples in its window. NULL: none came.
 */
const struct answer *bed_ask(struct bed *b, struct query q, uint64_t samples);
const struct row *bed_row(const struct answer *a, const char *name);       /* the first, or NULL */
bool bed_notice(struct bed *b, enum notice_kind kind, struct notice *ret); /* within 20 s */

#endif
