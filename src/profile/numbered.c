/*
 * numbered: a table by number, and a list of keys for those whose path was shortened.
 *
 * Engine thread.
 */
#include "profile/numbered.h"

#include <stdlib.h>
#include <string.h>

#include "sample.h"

void numbered_fini(struct numbered *x)
{
	for (uint32_t i = 0; x->data && i < STACKS_MAX; i++)
		free(x->data[i].lacks);
	free(x->data);
	*x = (struct numbered){0};
}

size_t numbered_bytes(const struct numbered *x)
{
	return x->lacks_bytes + (x->data ? STACKS_MAX * sizeof *x->data : 0);
}

struct place *numbered_at(struct numbered *x, uint32_t stack)
{
	if (!stack || stack >= STACKS_MAX)
		return NULL;
	if (!x->data)
		x->data = calloc(STACKS_MAX, sizeof *x->data);
	return x->data ? &x->data[stack] : NULL;
}

static void forget(struct numbered *x, struct place *place)
{
	if (place->lacks)
		x->lacks_bytes -= (1 + (size_t)place->lacks[0]) * sizeof *place->lacks;
	free(place->lacks);
	place->lacks = NULL;
	place->lossy = false;
}

void numbered_lack_more(struct numbered *x, struct place *place, const struct through_list *list)
{
	uint32_t old = place->lacks ? place->lacks[0] : 0;
	if (!list->n || place->lossy)
		return;
	uint32_t *lacks = realloc(place->lacks, (1 + (size_t)old + list->n) * sizeof *lacks);
	if (!lacks) {
		forget(x, place);
		place->lossy = true;
		return;
	}
	memcpy(lacks + 1 + old, list->keys, list->n * sizeof *lacks);
	lacks[0] = old + list->n;
	x->lacks_bytes += (list->n + (old ? 0 : 1)) * sizeof *lacks;
	place->lacks = lacks;
}

void numbered_lack(struct numbered *x, struct place *place, const struct through_list *list)
{
	if (place->lacks || place->lossy)
		forget(x, place);
	numbered_lack_more(x, place, list);
}
