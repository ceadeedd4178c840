/*
 * rowcache: memory of the row caches. Pages of it are touched only as entries are made, so a small
 * target costs little. Owned by the source thread.
 */
#include "unwind/rowcache.h"

#include <errno.h>
#include <sys/mman.h>

int cache_init(struct cache *c, unsigned log2_sets)
{
	size_t sets = (size_t)1 << log2_sets;
	void *p = mmap(NULL, sets * 2 * sizeof *c->entries, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	c->entries = p;
	c->sets = sets;
	return 0;
}

void cache_fini(struct cache *c)
{
	if (c->entries)
		munmap(c->entries, c->sets * 2 * sizeof *c->entries);
	*c = (struct cache){NULL, 0};
}

/* Gives the pages back: they read as zero afterwards. */
void cache_clear(struct cache *c)
{
	madvise(c->entries, c->sets * 2 * sizeof *c->entries, MADV_DONTNEED);
}
