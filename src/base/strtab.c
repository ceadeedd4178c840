/*
 * strtab: the intern table of names, on chunk, idset and arena.
 *
 * A text that holds a NUL is kept up to it only: all readers take C strings.
 */
#include "base/strtab.h"

#include <string.h>

#include "base/hash.h"

struct strtab_entry {
	const char *text;
	uint32_t len;
};

void strtab_init(struct strtab *t, size_t cap_bytes)
{
	pthread_mutex_init(&t->lock, NULL);
	chunk_init(&t->entries, sizeof(struct strtab_entry), UINT32_MAX);
	idset_init(&t->index);
	arena_init(&t->text);
	t->cap_bytes = cap_bytes;
	atomic_init(&t->refused, 0);
}

void strtab_fini(struct strtab *t)
{
	chunk_fini(&t->entries);
	idset_fini(&t->index);
	arena_fini(&t->text);
	pthread_mutex_destroy(&t->lock);
}

static str_id find(const struct strtab *t, uint64_t hash, const char *s, size_t len)
{
	struct idset_walk w = idset_walk(&t->index, hash);
	uint32_t id;
	while ((id = idset_next(&w))) {
		const struct strtab_entry *e = chunk_at(&t->entries, id - 1);
		if (e->len == len && !memcmp(e->text, s, len))
			return id;
	}
	return 0;
}

static str_id append(struct strtab *t, uint64_t hash, const char *s, size_t len)
{
	if (t->text.bytes + t->entries.bytes + t->index.bytes + len > t->cap_bytes)
		return 0;
	struct strtab_entry *e = chunk_next(&t->entries);
	char *text = e ? arena_alloc(&t->text, len + 1) : NULL;
	if (!text)
		return 0;
	e->text = memcpy(text, s, len);
	e->len = (uint32_t)len;
	str_id id = chunk_publish(&t->entries) + 1;
	/* Published first: whoever finds the id may read the entry. Without memory for the index
	 * the string is only stored again the next time. */
	idset_add(&t->index, hash, id);
	return id;
}

str_id strtab_add(struct strtab *t, const char *s, size_t len)
{
	if (!s)
		return 0;
	len = strnlen(s, len < UINT32_MAX ? len : UINT32_MAX - 1);
	if (!len)
		return 0;
	uint64_t hash = hash_bytes(s, len);
	str_id id = find(t, hash, s, len);
	if (id)
		return id;
	pthread_mutex_lock(&t->lock);
	id = find(t, hash, s, len);
	if (!id)
		id = append(t, hash, s, len);
	pthread_mutex_unlock(&t->lock);
	if (!id)
		atomic_fetch_add_explicit(&t->refused, 1, memory_order_relaxed);
	return id;
}

const char *strtab_text(const struct strtab *t, str_id id)
{
	const struct strtab_entry *e = id ? chunk_get(&t->entries, id - 1) : NULL;
	return e ? e->text : "";
}

size_t strtab_bytes(struct strtab *t)
{
	pthread_mutex_lock(&t->lock);
	size_t bytes = t->text.bytes + t->entries.bytes + t->index.bytes;
	pthread_mutex_unlock(&t->lock);
	return bytes;
}
