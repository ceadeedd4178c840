/*
 * relay: whose turn each slot is, behind one mutex, and a condition to sleep on for each stage.
 *
 * Slots are work of some hundred microseconds, so a lock a step costs nothing to speak of.
 */
#include "base/relay.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define HELD RELAY_STAGES_MAX

struct stage {
	uint64_t taken;
	unsigned waiting; /* threads */
	bool ended;
	pthread_cond_t wake;
};

struct relay {
	pthread_mutex_t lock;
	unsigned slots, nstages;
	bool stopped;
	struct stage stages[RELAY_STAGES_MAX];
	uint8_t turn[RELAY_SLOTS_MAX]; /* the stage that may take it, HELD: it was taken */
};

struct relay *relay_new(unsigned slots, unsigned stages)
{
	struct relay *r = calloc(1, sizeof *r);
	if (!r || stages < 2 || stages > RELAY_STAGES_MAX || !slots || slots > RELAY_SLOTS_MAX) {
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

static void wake(struct stage *s)
{
	if (s->waiting)
		pthread_cond_broadcast(&s->wake);
}

/* Is the slot that @stage takes next there? */
static bool is_ready(const struct relay *r, unsigned stage)
{
	return r->turn[r->stages[stage].taken % r->slots] == stage;
}

int relay_take(struct relay *r, unsigned stage)
{
	struct stage *s = &r->stages[stage];
	const struct stage *before = stage ? s - 1 : NULL;
	int slot = -1;
	pthread_mutex_lock(&r->lock);
	s->waiting++;
	while (!r->stopped && !is_ready(r, stage) && !(before && before->ended))
		pthread_cond_wait(&s->wake, &r->lock);
	s->waiting--;
	if (!r->stopped && is_ready(r, stage)) {
		slot = (int)(s->taken++ % r->slots);
		r->turn[slot] = HELD;
		if (is_ready(r, stage)) /* it came out of turn, and nobody was told */
			wake(s);
	}
	pthread_mutex_unlock(&r->lock);
	return slot;
}

void relay_pass(struct relay *r, unsigned stage, int slot)
{
	unsigned next = (stage + 1) % r->nstages;
	pthread_mutex_lock(&r->lock);
	r->turn[slot] = (uint8_t)next;
	if (r->stages[next].taken % r->slots == (unsigned)slot)
		wake(&r->stages[next]);
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
