/*
 * trigger: looks for moments that --trigger describes and saves what was around them.
 *
 * Engine thread. Rules are looked at four times a second, less often when that would take more than
 * a twentieth of it; an address is noticed by its sample. What is saved begins before the rule
 * began to hold and ends after it tripped.
 */
#ifndef ALTPTTOP_TRIGGER_H
#define ALTPTTOP_TRIGGER_H

#include "insight/rule.h"

struct engine;

struct trigger {
	const struct rule *rule;
	struct rule_state state;
	uint64_t events;     /* RULE_EVENT: bit by index of the events that it waits for */
	uint64_t hit_ns;     /* RULE_EVENT: the first hit that is not answered yet; 0 none */
	uint64_t hits;       /* since then */
	uint64_t from_ns;    /* being answered: what is saved begins here; 0: not */
	uint64_t at_ns;      /* … tripped here */
	uint64_t unknown_ns; /* its value is not known since */
	bool said_unknown, said_coarse, said_never;
	bool held;    /* ever */
	double value; /* at the last look */
};

struct triggers {
	struct trigger *t; /* one a rule */
	uint64_t next_ns;  /* next look */
	uint32_t written, numbered;
};

int triggers_init(struct engine *e); /* -ENOMEM */
void triggers_fini(struct engine *e);
void triggers_learn(struct engine *e); /* there are new events */
void triggers_sample(struct engine *e, uint16_t event, uint64_t time_ns);
uint64_t triggers_due_ns(const struct engine *e); /* UINT64_MAX: never */
void triggers_look(struct engine *e, uint64_t now_ns);
/* No more will come: save what was to be saved later. */
void triggers_flush(struct engine *e);

#endif
