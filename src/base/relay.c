/*
 * relay: three counters a stage behind one mutex, and a condition to sleep on for each.
 *
 * Slots are work of some hundred microseconds, so a lock a step costs nothing to speak of.
 */
#include "base/relay.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct stage {
	uint64_t taken, passed;
	bool ended, waits;
	pthread_cond_t wake;
};

struct relay {
	pthread_mutex_t lock;
	unsigned slots, nstages;
	bool stopped;
	struct stage stages[RELAY_STAGES_MAX];
};

struct relay *relay_new(unsigned slots, unsigned stages)
{
	struct relay *r = calloc(1, sizeof *r);
	if (!r || stages < 2 || stages > RELAY_STAGES_MAX || !slots) {
		free(r);
		return NULL;
	}
	r->slots = slots;
	r->nstages = stages;
	pthread_mutex_init(&r->lock, NULL);
	for (unsigned i = 0; i < stages; i++)
		pthread_cond_init(&r->stages[i].wake, NULL);
	return r;
}

void relay_free(struct relay *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->nstages; i++)
		pthread_cond_destroy(&r->stages[i].wake);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static struct stage *before(struct relay *r, unsigned stage)
{
	return &r->stages[stage ? stage - 1 : r->nstages - 1];
}

static bool may_take(struct relay *r, unsigned stage)
{
	uint64_t given = before(r, stage)->passed + (stage ? 0 : r->slots);
	return r->stages[stage].taken < given;
}

static void wake(struct stage *s)
{
	if (s->waits)
		pthread_cond_signal(&s->wake);
}

int relay_take(struct relay *r, unsigned stage)
{
	struct stage *s = &r->stages[stage];
	int slot = -1;
	pthread_mutex_lock(&r->lock);
	s->waits = true;
	while (!r->stopped && !may_take(r, stage) && !(stage && before(r, stage)->ended))
		pthread_cond_wait(&s->wake, &r->lock);
	s->waits = false;
	if (!r->stopped && may_take(r, stage))
		slot = (int)(s->taken++ % r->slots);
	pthread_mutex_unlock(&r->lock);
	return slot;
}

void relay_pass(struct relay *r, unsigned stage)
{
	pthread_mutex_lock(&r->lock);
	r->stages[stage].passed++;
	wake(&r->stages[(stage + 1) % r->nstages]);
	pthread_mutex_unlock(&r->lock);
}

void relay_end(struct relay *r, unsigned stage)
{
	pthread_mutex_lock(&r->lock);
	r->stages[stage].ended = true;
	wake(&r->stages[(stage + 1) % r->nstages]);
	pthread_mutex_unlock(&r->lock);
}

void relay_stop(struct relay *r)
{
	pthread_mutex_lock(&r->lock);
	r->stopped = true;
	for (unsigned i = 0; i < r->nstages; i++)
		wake(&r->stages[i]);
	pthread_mutex_unlock(&r->lock);
}
