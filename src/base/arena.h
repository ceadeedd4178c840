/* arena: memory that is freed all at once. Not thread-safe. */
#ifndef ALTPTTOP_ARENA_H
#define ALTPTTOP_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_block;
struct arena {
	struct arena_block *head;
	size_t bytes; /* held from malloc */
};

void arena_init(struct arena *a);
void arena_fini(struct arena *a);
void arena_reset(struct arena *a);                /* forget everything, keep one block */
void *arena_alloc(struct arena *a, size_t bytes); /* 16-byte aligned, zeroed; NULL: no memory */
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
