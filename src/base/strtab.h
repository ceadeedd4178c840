/*
 * strtab: interned strings: equal bytes have equal ids, texts never move. Id 0 is the empty string.
 *
 * Any thread may intern and read. A string that is there already is found without a lock; a new one
 * takes the mutex inside.
 */
#ifndef ALTPTTOP_STRTAB_H
#define ALTPTTOP_STRTAB_H

#include <pthread.h>

#include "base/arena.h"
#include "base/chunk.h"
#include "base/idset.h"
#include "frame.h"

struct strtab {
	pthread_mutex_t lock;
	struct chunk entries;
	struct idset index;
	struct arena text;
	size_t cap_bytes;
	_Atomic uint64_t refused; /* strings that did not fit: they got id 0 */
};

void strtab_init(struct strtab *t, size_t cap_bytes);
void strtab_fini(struct strtab *t);
str_id strtab_add(struct strtab *t, const char *s, size_t len); /* 0 for empty, or refused */
const char *strtab_text(const struct strtab *t, str_id id);     /* never NULL */
size_t strtab_bytes(struct strtab *t);

#endif
