/*
 * extsort: merge sort in memory, sorted runs on disk beyond the cap, merged by a binary heap while
 * reading.
 *
 * Each run is read back through a block of its own, so memory is the cap plus one block a run.
 */
#include "base/extsort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN_BLOCK (64u << 10)

struct run {
	uint64_t start, count; /* in records, within the file; the last run lies in memory */
	uint64_t read;         /* records handed to the block so far */
	uint8_t *block;
	size_t pos, end; /* records in block */
};

struct extsort {
	size_t size, cap; /* cap in records */
	extsort_compare compare;
	unsigned words; /* of the key; 0: only compare knows the order */
	uint8_t *data, *spare;
	size_t len, room;
	int fd;
	uint64_t spilled, count;
	struct run *runs;
	size_t nruns, runs_cap;
	uint32_t *heap; /* indexes of runs, smallest head first */
	size_t nheap;
	size_t at; /* memory-only reading */
	int error; /* of reading back */
	_Alignas(8) uint8_t current[64];
};

struct extsort *extsort_new(size_t size, size_t cap_bytes, extsort_compare compare)
{
	struct extsort *x = calloc(1, sizeof *x);
	if (!x)
		return NULL;
	x->size = size;
	x->cap = cap_bytes / (2 * size); /* sorting needs as much again */
	if (x->cap < 1024)
		x->cap = 1024;
	x->compare = compare;
	x->fd = -1;
	return x;
}

struct extsort *extsort_new_words(size_t size, size_t cap_bytes, extsort_compare compare,
				  unsigned words)
{
	struct extsort *x = extsort_new(size, cap_bytes, compare);
	if (x)
		x->words = words;
	return x;
}

void extsort_free(struct extsort *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->nruns; i++)
		free(x->runs[i].block);
	free(x->runs);
	free(x->heap);
	free(x->data);
	free(x->spare);
	if (x->fd >= 0)
		close(x->fd);
	free(x);
}

/* One stable pass by byte @shift / 8 of word @word; false: it is the same in all, nothing moved. */
static bool radix_pass(struct extsort *x, unsigned word, unsigned shift)
{
	size_t counts[256] = {0}, at[256], sum = 0, size = x->size, n = x->len;
	uint64_t key;
	for (size_t i = 0; i < n; i++) {
		memcpy(&key, x->data + i * size + 8 * word, 8);
		counts[key >> shift & 255]++;
	}
	memcpy(&key, x->data + 8 * word, 8);
	if (counts[key >> shift & 255] == n)
		return false;
	for (int b = 0; b < 256; b++) {
		at[b] = sum;
		sum += counts[b];
	}
	for (size_t i = 0; i < n; i++) {
		const uint8_t *from = x->data + i * size;
		memcpy(&key, from + 8 * word, 8);
		memcpy(x->spare + at[key >> shift & 255]++ * size, from, size);
	}
	return true;
}

static void radix_sort(struct extsort *x)
{
	for (unsigned word = x->words; word-- > 0;)
		for (unsigned shift = 0; shift < 64; shift += 8) {
			if (!radix_pass(x, word, shift))
				continue;
			uint8_t *swap = x->data;
			x->data = x->spare;
			x->spare = swap;
		}
}

/* Bottom-up merge sort, stable; starts from already sorted stretches, so sorted input costs one
 * pass. */
static int sort_memory(struct extsort *x)
{
	size_t n = x->len, size = x->size;
	size_t ordered = 1;
	while (ordered < n &&
	       x->compare(x->data + (ordered - 1) * size, x->data + ordered * size) <= 0)
		ordered++;
	if (ordered >= n)
		return 0;
	if (!x->spare && !(x->spare = malloc(x->room * size)))
		return -ENOMEM;
	if (x->words) {
		radix_sort(x);
		return 0;
	}
	uint8_t *from = x->data, *to = x->spare;
	for (size_t width = 1; width < n; width *= 2) {
		for (size_t lo = 0; lo < n; lo += 2 * width) {
			size_t mid = lo + width < n ? lo + width : n,
			       hi = lo + 2 * width < n ? lo + 2 * width : n;
			if (mid == hi ||
			    x->compare(from + (mid - 1) * size, from + mid * size) <= 0) {
				memcpy(to + lo * size, from + lo * size, (hi - lo) * size);
				continue;
			}
			size_t a = lo, b = mid, o = lo;
			while (a < mid && b < hi)
				memcpy(to + o++ * size,
				       x->compare(from + a * size, from + b * size) <= 0
					       ? from + a++ * size
					       : from + b++ * size,
				       size);
			memcpy(to + o * size, from + a * size, (mid - a) * size);
			o += mid - a;
			memcpy(to + o * size, from + b * size, (hi - b) * size);
		}
		uint8_t *swap = from;
		from = to;
		to = swap;
	}
	x->data = from;
	x->spare = to;
	return 0;
}

static int open_temporary(void)
{
	const char *places[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	for (unsigned i = 0; i < 3; i++) {
		int fd = places[i] ? open(places[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
		if (fd >= 0)
			return fd;
	}
	return -1;
}

static int add_run(struct extsort *x, uint64_t start, uint64_t count)
{
	if (x->nruns == x->runs_cap) {
		size_t cap = x->runs_cap ? x->runs_cap * 2 : 16;
		struct run *runs = realloc(x->runs, cap * sizeof *runs);
		if (!runs)
			return -ENOMEM;
		x->runs = runs;
		x->runs_cap = cap;
	}
	x->runs[x->nruns++] = (struct run){.start = start, .count = count};
	return 0;
}

static int spill(struct extsort *x)
{
	int rc = sort_memory(x);
	if (rc)
		return rc;
	if (x->fd < 0 && (x->fd = open_temporary()) < 0)
		return -errno;
	size_t left = x->len * x->size;
	off_t at = (off_t)(x->spilled * x->size);
	for (const uint8_t *p = x->data; left;) {
		ssize_t put = pwrite(x->fd, p, left, at);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put ? -errno : -ENOSPC;
		p += put;
		at += put;
		left -= (size_t)put;
	}
	rc = add_run(x, x->spilled, x->len);
	if (rc)
		return rc;
	x->spilled += x->len;
	x->len = 0;
	return 0;
}

int extsort_add(struct extsort *x, const void *record)
{
	if (x->len == x->room) {
		if (x->room == x->cap) {
			int rc = spill(x);
			if (rc)
				return rc;
		} else {
			size_t room = x->room ? x->room * 2 : 1024;
			if (room > x->cap)
				room = x->cap;
			uint8_t *data = realloc(x->data, room * x->size);
			if (!data)
				return -ENOMEM;
			x->data = data;
			x->room = room;
		}
	}
	memcpy(x->data + x->len++ * x->size, record, x->size);
	x->count++;
	return 0;
}

/* The head of a run; false: used up, or unreadable, which x->error keeps. */
static bool load(struct extsort *x, struct run *r)
{
	if (r->pos < r->end)
		return true;
	uint64_t left = r->count - r->read;
	if (!left)
		return false;
	size_t n = RUN_BLOCK / x->size;
	if (n > left)
		n = (size_t)left;
	if (!r->block && !(r->block = malloc(RUN_BLOCK))) {
		x->error = -ENOMEM;
		return false;
	}
	ssize_t got;
	do
		got = pread(x->fd, r->block, n * x->size, (off_t)((r->start + r->read) * x->size));
	while (got < 0 && errno == EINTR);
	if (got < (ssize_t)x->size) { /* fewer bytes than were written: the disk lost them */
		x->error = got < 0 ? -errno : -EIO;
		return false;
	}
	r->pos = 0;
	r->end = (size_t)got / x->size;
	r->read += r->end;
	return true;
}

static const uint8_t *head(const struct extsort *x, uint32_t run)
{
	return x->runs[run].block + x->runs[run].pos * x->size;
}

static bool before(const struct extsort *x, uint32_t a, uint32_t b)
{
	int c = x->compare(head(x, a), head(x, b));
	return c < 0 || (c == 0 && a < b);
}

static void sift_down(struct extsort *x, size_t i)
{
	for (;;) {
		size_t least = i, l = 2 * i + 1, r = l + 1;
		if (l < x->nheap && before(x, x->heap[l], x->heap[least]))
			least = l;
		if (r < x->nheap && before(x, x->heap[r], x->heap[least]))
			least = r;
		if (least == i)
			return;
		uint32_t swap = x->heap[i];
		x->heap[i] = x->heap[least];
		x->heap[least] = swap;
		i = least;
	}
}

int extsort_rewind(struct extsort *x)
{
	x->at = 0;
	x->error = 0;
	x->nheap = 0;
	for (uint32_t i = 0; i < x->nruns; i++) {
		x->runs[i].read = 0;
		x->runs[i].pos = x->runs[i].end = 0;
		if (load(x, &x->runs[i]))
			x->heap[x->nheap++] = i;
	}
	for (size_t i = x->nheap; i-- > 0;)
		sift_down(x, i);
	return x->error;
}

int extsort_error(const struct extsort *x)
{
	return x->error;
}

int extsort_finish(struct extsort *x)
{
	int rc = x->nruns && x->len ? spill(x) : sort_memory(x);
	if (rc)
		return rc;
	if (x->nruns) {
		free(x->data);
		x->data = NULL;
		x->room = 0;
		if (!(x->heap = malloc(x->nruns * sizeof *x->heap)))
			return -ENOMEM;
	}
	free(x->spare);
	x->spare = NULL;
	return extsort_rewind(x);
}

const void *extsort_next(struct extsort *x)
{
	if (!x->nruns)
		return x->at < x->len ? x->data + x->at++ * x->size : NULL;
	if (!x->nheap || x->error)
		return NULL;
	uint32_t run = x->heap[0];
	memcpy(x->current, head(x, run), x->size);
	x->runs[run].pos++;
	if (!load(x, &x->runs[run]))
		x->heap[0] = x->heap[--x->nheap];
	if (x->nheap)
		sift_down(x, 0);
	return x->current;
}

uint64_t extsort_count(const struct extsort *x)
{
	return x->count;
}

bool extsort_spilled(const struct extsort *x)
{
	return x->nruns > 0;
}
