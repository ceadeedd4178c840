/*
 * beyond: what lies beyond the end of a stack dump, read from the process itself.
 *
 * A dump has 64 KiB at most. Where stacks stay deeper than that, no whole one ever comes by that
 * cut ones could be completed from; but then their outer part is still there when the sample
 * arrives. It is believed only if the end of the dump is found unchanged in the process, both
 * before and after reading. Owned by the source thread.
 */
#ifndef ALTPTTOP_BEYOND_H
#define ALTPTTOP_BEYOND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct beyond {
	uint8_t *bytes;  /* the dump, and what lies beyond it; NULL: never asked for */
	uint64_t due_ns; /* not before: reading takes a bounded share of the time */
};

/*
 * The stack that @dump (of @size bytes at @start) is the beginning of, as far as it goes on and
 * there is room: b->bytes, good until the next call; *ret_size is more than @size. *ret_whole: to
 * its end. False: not now, it may not be read, or it is another stack by now.
 */
bool beyond_read(struct beyond *b, pid_t pid, const uint8_t *dump, uint64_t start, size_t size,
		 size_t *ret_size, bool *ret_whole);
void beyond_fini(struct beyond *b);
size_t beyond_bytes(const struct beyond *b);

#endif
