/*
 * beyond: reads on where a stack dump ends, with process_vm_readv(2), while it may.
 *
 * Owned by the source thread.
 */
#include "unwind/beyond.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/living.h"

#define DUMP_MOST 65536u
#define MORE_MOST (1u << 20)
#define TAIL      1024u /* of the dump, that must be unchanged: some frames and their callers */
#define SHARE     50    /* reading takes at most a fiftieth of the time */
#define DENIED_NS 1000000000u

static ssize_t read_at(pid_t pid, uint64_t addr, void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)addr, size};

	return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

static bool is_there(pid_t pid, uint64_t addr, const uint8_t *tail, size_t size)
{
	uint8_t now[TAIL];

	return read_at(pid, addr, now, size) == (ssize_t)size && memcmp(now, tail, size) == 0;
}

static bool read_on(struct beyond *b, pid_t pid, const uint8_t *dump, uint64_t start, size_t size,
		    size_t *ret_size, bool *ret_whole)
{
	size_t tail = size < TAIL ? size : TAIL;
	ssize_t more;

	if (!is_there(pid, start + size - tail, dump + size - tail, tail))
		return false;
	more = read_at(pid, start + size, b->bytes + size, MORE_MOST);
	if (more <= 0 || !is_there(pid, start + size - tail, dump + size - tail, tail))
		return false;
	memcpy(b->bytes, dump, size);
	*ret_size = size + (size_t)more;
	*ret_whole = (size_t)more < MORE_MOST;
	return true;
}

bool beyond_read(struct beyond *b, pid_t pid, const uint8_t *dump, uint64_t start, size_t size,
		 size_t *ret_size, bool *ret_whole)
{
	uint64_t begin = clock_mono_ns(), end;
	bool got;

	if (begin < b->due_ns || size > DUMP_MOST || start > UINT64_MAX - DUMP_MOST - MORE_MOST)
		return false;
	if (!b->bytes && !(b->bytes = malloc(DUMP_MOST + MORE_MOST))) {
		b->due_ns = begin + DENIED_NS;
		return false;
	}
	got = read_on(b, living_thread(pid), dump, start, size, ret_size, ret_whole);
	end = clock_mono_ns();
	b->due_ns = end + (end - begin) * SHARE;
	return got;
}

void beyond_fini(struct beyond *b)
{
	free(b->bytes);
	*b = (struct beyond){0};
}

size_t beyond_bytes(const struct beyond *b)
{
	return b->bytes ? DUMP_MOST + MORE_MOST : 0;
}
