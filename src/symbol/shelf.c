/*
 * shelf: the few listings that were looked at last, with counted references.
 *
 * The engine asks, the resolver thread makes; this is the slot between them and so holds a lock.
 * A listing is immutable once it is here.
 */
#include <stdatomic.h>
#include <string.h>

#include "codelist.h"

void shelf_init(struct shelf *s)
{
	memset(s, 0, sizeof *s);
	pthread_mutex_init(&s->lock, NULL);
}

void shelf_clear(struct shelf *s)
{
	pthread_mutex_lock(&s->lock);
	for (int i = 0; i < SHELF_SLOTS; i++) {
		listing_unref(s->slot[i]);
		s->slot[i] = NULL;
	}
	pthread_mutex_unlock(&s->lock);
}

void shelf_fini(struct shelf *s)
{
	shelf_clear(s);
	pthread_mutex_destroy(&s->lock);
}

static void to_front(struct shelf *s, unsigned i)
{
	const struct listing *l = s->slot[i];

	memmove(s->slot + 1, s->slot, i * sizeof *s->slot);
	s->slot[0] = l;
}

const struct listing *shelf_get(struct shelf *s, func_id func, bool *ret_new)
{
	const struct listing *l = NULL;
	unsigned i;

	*ret_new = false;
	pthread_mutex_lock(&s->lock);
	for (i = 0; i < SHELF_SLOTS && s->slot[i] && s->slot[i]->func != func; i++)
		;
	if (i < SHELF_SLOTS && s->slot[i]) {
		to_front(s, i);
		l = s->slot[0];
		atomic_fetch_add_explicit(&((struct listing *)l)->refs, 1, memory_order_relaxed);
	} else {
		for (i = 0; i < s->nwants && s->want[i] != func; i++)
			;
		*ret_new = i == s->nwants;
		if (*ret_new && s->nwants == SHELF_WANTS) /* the oldest wish is given up */
			memmove(s->want, s->want + 1, --s->nwants * sizeof *s->want);
		if (*ret_new)
			s->want[s->nwants++] = func;
	}
	pthread_mutex_unlock(&s->lock);
	return l;
}

func_id shelf_next_want(struct shelf *s)
{
	func_id func;

	pthread_mutex_lock(&s->lock);
	func = s->nwants ? s->want[s->nwants - 1] : 0;
	pthread_mutex_unlock(&s->lock);
	return func;
}

void shelf_put(struct shelf *s, const struct listing *l)
{
	unsigned at = 0;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < s->nwants; i++)
		if (s->want[i] != l->func)
			s->want[at++] = s->want[i];
	s->nwants = at;
	for (at = 0; at < SHELF_SLOTS - 1 && s->slot[at] && s->slot[at]->func != l->func; at++)
		;
	listing_unref(s->slot[at]);
	s->slot[at] = l;
	to_front(s, at);
	pthread_mutex_unlock(&s->lock);
}
