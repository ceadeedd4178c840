/*
 * answer: the counted life of an answer.
 *
 * Made on the engine thread, immutable once it is in the slot, dropped on any thread by whoever
 * holds the last reference.
 */
#include "answer.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "engine/build.h"

struct answer_box *answer_box_new(void)
{
	struct answer_box *box = calloc(1, sizeof *box);
	if (!box)
		return NULL;
	atomic_init(&box->refs, 1);
	arena_init(&box->arena);
	return box;
}

void answer_box_ref(void *box)
{
	struct answer_box *b = box;
	atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
}

void answer_box_unref(void *box)
{
	struct answer_box *b = box;
	if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1)
		return;
	arena_fini(&b->arena);
	free(b);
}

void answer_unref(const struct answer *a)
{
	answer_box_unref((void *)(uintptr_t)a);
}
