/*
 * arena: bump allocation out of malloc'ed blocks that are freed together.
 *
 * Blocks grow from 4 KiB to 1 MiB; a request too big for that gets a block of its own behind the
 * current one, so that the room left in the current one is not wasted.
 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_ALIGN     16
#define ARENA_BLOCK_MIN 4096
#define ARENA_BLOCK_MAX (1 << 20)

struct arena_block {
	struct arena_block *next;
	size_t size, used;
	_Alignas(ARENA_ALIGN) unsigned char data[];
};

void arena_init(struct arena *a)
{
	*a = (struct arena){0};
}

static void free_blocks(struct arena_block *b)
{
	while (b) {
		struct arena_block *next = b->next;
		free(b);
		b = next;
	}
}

void arena_fini(struct arena *a)
{
	free_blocks(a->head);
	arena_init(a);
}

void arena_reset(struct arena *a)
{
	struct arena_block *keep = a->head;
	if (!keep)
		return;
	free_blocks(keep->next);
	keep->next = NULL;
	keep->used = 0;
	a->bytes = sizeof *keep + keep->size;
}

static struct arena_block *add_block(struct arena *a, size_t size)
{
	if (size > SIZE_MAX - sizeof(struct arena_block))
		return NULL;
	struct arena_block *b = malloc(sizeof *b + size);
	if (!b)
		return NULL;
	b->size = size;
	b->used = 0;
	a->bytes += sizeof *b + size;
	return b;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	if (bytes > PTRDIFF_MAX)
		return NULL;
	bytes = (bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	struct arena_block *b = a->head;
	if (!b || b->size - b->used < bytes) {
		size_t size = b ? b->size * 2 : ARENA_BLOCK_MIN;
		if (size > ARENA_BLOCK_MAX)
			size = ARENA_BLOCK_MAX;
		bool alone = bytes > size / 2;
		struct arena_block *fresh = add_block(a, alone ? bytes : size);
		if (!fresh)
			return NULL;
		if (alone && b) {
			fresh->next = b->next;
			b->next = fresh;
		} else {
			fresh->next = b;
			a->head = fresh;
		}
		b = fresh;
	}
	void *p = b->data + b->used;
	b->used += bytes;
	return memset(p, 0, bytes);
}

char *arena_strdup(struct arena *a, const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = arena_alloc(a, n);
	return p ? memcpy(p, s, n) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *p = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
	if (p)
		vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return p;
}
