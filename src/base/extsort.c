/*
 * extsort: runs that fit the caches are sorted as they fill, and merged by a binary heap while
 * reading.
 *
 * Beyond the cap the runs in memory are merged into one on disk, which is read back through a block
 * of its own; so memory is the cap plus one block for each of those. Runs that follow each other in
 * order, as those of a recording that was written in order do, cost one comparison a record.
 */
#include "base/extsort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RUN_BLOCK  (64u << 10)
#define RUN_BYTES  (8u << 20) /* of a run in memory, at most */
#define RUN_LEAST  1024       /* records */
#define LARGE_PAGE ((size_t)2 << 20)
#define FEW        12 /* records that are sorted by insertion */
#define WORDS_MAX  2

struct run {
	uint64_t start, count; /* on disk: records within the file; count 0: it lies in memory */
	uint64_t read;         /* records handed to the block so far */
	uint8_t *block;
	size_t pos, end; /* records in block */
};

struct extsort {
	size_t size, cap, run; /* cap of records in memory, and records in a run there */
	extsort_compare compare;
	unsigned
		words; /* of the key that compare looks at first; 0: only compare knows the order */
	uint8_t *spare; /* room for one run */
	int fd;
	uint64_t spilled, count;
	struct run *runs; /* the last nmemory of them lie in memory */
	size_t nruns, runs_cap, nmemory;
	struct run filling;
	size_t in_memory;     /* records in the runs there */
	uint32_t *heap;       /* indexes of runs, smallest head first */
	size_t nheap, second; /* place in the heap of the smallest but one; 0: none */
	bool handed;          /* the smallest head was handed out: it goes with the next call */
	int error;            /* of reading back */
};

struct extsort *extsort_new(size_t size, size_t cap_bytes, extsort_compare compare)
{
	struct extsort *x = calloc(1, sizeof *x);
	if (!x)
		return NULL;
	size_t cap = cap_bytes / size;
	x->size = size;
	x->run = cap / 8 < RUN_BYTES / size ? cap / 8 : RUN_BYTES / size;
	if (x->run < RUN_LEAST)
		x->run = RUN_LEAST;
	x->cap = cap > 2 * x->run ? cap - x->run : x->run; /* sorting needs as much as a run */
	x->compare = compare;
	x->fd = -1;
	return x;
}

struct extsort *extsort_new_words(size_t size, size_t cap_bytes, extsort_compare compare,
				  unsigned words)
{
	struct extsort *x = extsort_new(size, cap_bytes, compare);
	if (x)
		x->words = words < WORDS_MAX ? words : WORDS_MAX;
	return x;
}

static void free_runs(struct extsort *x)
{
	for (size_t i = 0; i < x->nruns; i++)
		free(x->runs[i].block);
	x->nruns = x->nmemory = 0;
}

void extsort_free(struct extsort *x)
{
	if (!x)
		return;
	free_runs(x);
	free(x->runs);
	free(x->filling.block);
	free(x->heap);
	free(x->spare);
	if (x->fd >= 0)
		close(x->fd);
	free(x);
}

/* Large runs in large pages: taking them by 4 KiB costs more than sorting them. */
static uint8_t *new_block(size_t bytes)
{
	if (bytes < LARGE_PAGE)
		return malloc(bytes);
	bytes = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
	uint8_t *block = aligned_alloc(LARGE_PAGE, bytes);
	if (block)
		madvise(block, bytes, MADV_HUGEPAGE);
	return block;
}

/* The sizes in use, told apart once and not in memcpy. */
static inline void copy_record(uint8_t *to, const void *from, size_t size)
{
	switch (size) {
	case 16: memcpy(to, from, 16); break;
	case 24: memcpy(to, from, 24); break;
	case 32: memcpy(to, from, 32); break;
	default: memcpy(to, from, size); break;
	}
}

static uint64_t word_of(const uint8_t *record, unsigned word)
{
	uint64_t key;
	memcpy(&key, record + 8 * word, 8);
	return key;
}

static int order(const struct extsort *x, const uint8_t *a, const uint8_t *b)
{
	for (unsigned i = 0; i < x->words; i++) {
		uint64_t ka = word_of(a, i), kb = word_of(b, i);
		if (ka != kb)
			return ka < kb ? -1 : 1;
	}
	return x->compare(a, b);
}

/* --- one run in memory --- */

static bool is_ordered(const uint8_t *data, size_t size, size_t n, unsigned word)
{
	for (size_t i = 1; i < n; i++)
		if (word_of(data + (i - 1) * size, word) > word_of(data + i * size, word))
			return false;
	return true;
}

/* Stable passes by the bytes of word @word that are not the same in all. The run lies in *@io_data
 * and can move to *@io_spare, which are swapped then. */
static void radix_word(size_t size, size_t n, unsigned word, uint8_t **io_data, uint8_t **io_spare)
{
	size_t counts[8][256] = {0};
	if (is_ordered(*io_data, size, n, word))
		return;
	for (size_t i = 0; i < n; i++) {
		uint64_t key = word_of(*io_data + i * size, word);
		for (unsigned b = 0; b < 8; b++)
			counts[b][key >> 8 * b & 255]++;
	}
	uint64_t any = word_of(*io_data, word);
	for (unsigned b = 0; b < 8; b++) {
		size_t sum = 0;
		if (counts[b][any >> 8 * b & 255] == n)
			continue;
		for (unsigned i = 0; i < 256; i++) {
			size_t here = counts[b][i];
			counts[b][i] = sum;
			sum += here;
		}
		uint8_t *from = *io_data, *to = *io_spare;
		for (size_t i = 0; i < n; i++, from += size)
			copy_record(to + counts[b][word_of(from, word) >> 8 * b & 255]++ * size,
				    from, size);
		*io_spare = *io_data;
		*io_data = to;
	}
}

static void insertion_sort(const struct extsort *x, uint8_t *data, size_t n)
{
	_Alignas(8) uint8_t held[64];
	for (size_t i = 1; i < n; i++) {
		size_t at = i;
		while (at && order(x, data + (at - 1) * x->size, data + i * x->size) > 0)
			at--;
		if (at == i)
			continue;
		memcpy(held, data + i * x->size, x->size);
		memmove(data + (at + 1) * x->size, data + at * x->size, (i - at) * x->size);
		memcpy(data + at * x->size, held, x->size);
	}
}

/* Bottom-up merge sort, stable. The outcome is where *@io_data says then, as with radix_word. */
static void merge_sort(const struct extsort *x, size_t n, uint8_t **io_data, uint8_t **io_spare)
{
	size_t size = x->size;
	uint8_t *from = *io_data, *to = *io_spare;
	for (size_t width = 1; width < n; width *= 2) {
		for (size_t lo = 0; lo < n; lo += 2 * width) {
			size_t mid = lo + width < n ? lo + width : n,
			       hi = lo + 2 * width < n ? lo + 2 * width : n;
			if (mid == hi ||
			    order(x, from + (mid - 1) * size, from + mid * size) <= 0) {
				memcpy(to + lo * size, from + lo * size, (hi - lo) * size);
				continue;
			}
			size_t a = lo, b = mid, o = lo;
			while (a < mid && b < hi)
				memcpy(to + o++ * size,
				       order(x, from + a * size, from + b * size) <= 0
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
	*io_data = from;
	*io_spare = to;
}

/* Records whose words are equal stand together: now those in the order of compare. */
static void sort_ties(const struct extsort *x, size_t n, uint8_t *data, uint8_t *spare)
{
	size_t size = x->size, hi;
	for (size_t lo = 0; lo < n; lo = hi) {
		for (hi = lo + 1; hi < n; hi++)
			if (memcmp(data + lo * size, data + hi * size, 8 * x->words))
				break;
		uint8_t *tied = data + lo * size, *other = spare;
		if (hi - lo <= FEW) {
			insertion_sort(x, tied, hi - lo);
			continue;
		}
		merge_sort(x, hi - lo, &tied, &other);
		if (tied == spare)
			memcpy(data + lo * size, spare, (hi - lo) * size);
	}
}

static int sort_run(struct extsort *x, struct run *r)
{
	size_t n = r->end, ordered = 1;
	while (ordered < n &&
	       order(x, r->block + (ordered - 1) * x->size, r->block + ordered * x->size) <= 0)
		ordered++;
	if (ordered >= n)
		return 0;
	if (!x->spare && !(x->spare = new_block(x->run * x->size)))
		return -ENOMEM;
	if (!x->words) {
		merge_sort(x, n, &r->block, &x->spare);
		return 0;
	}
	for (unsigned word = x->words; word-- > 0;)
		radix_word(x->size, n, word, &r->block, &x->spare);
	sort_ties(x, n, r->block, x->spare);
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

static int add_run(struct extsort *x, const struct run *r)
{
	if (x->nruns == x->runs_cap) {
		size_t cap = x->runs_cap ? x->runs_cap * 2 : 64;
		struct run *runs = realloc(x->runs, cap * sizeof *runs);
		if (!runs)
			return -ENOMEM;
		x->runs = runs;
		uint32_t *heap = realloc(x->heap, cap * sizeof *heap);
		if (!heap)
			return -ENOMEM;
		x->heap = heap;
		x->runs_cap = cap;
	}
	x->runs[x->nruns++] = *r;
	return 0;
}

/* --- merging --- */

/* The head of a run; false: used up, or unreadable, which x->error keeps. */
static bool load_head(struct extsort *x, struct run *r)
{
	if (r->pos < r->end)
		return true;
	uint64_t left = r->count - r->read;
	if (!r->count || !left)
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
	int c = order(x, head(x, a), head(x, b));
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

static void find_second(struct extsort *x)
{
	x->second = x->nheap < 2 ? 0 : x->nheap == 2 || before(x, x->heap[1], x->heap[2]) ? 1 : 2;
}

/* Begin to merge the runs from @first on. */
static int merge_begin(struct extsort *x, size_t first)
{
	x->error = 0;
	x->handed = false;
	x->nheap = 0;
	for (size_t i = first; i < x->nruns; i++) {
		struct run *r = &x->runs[i];
		r->read = r->pos = 0;
		if (r->count)
			r->end = 0;
		if (load_head(x, r))
			x->heap[x->nheap++] = (uint32_t)i;
	}
	for (size_t i = x->nheap; i-- > 0;)
		sift_down(x, i);
	find_second(x);
	return x->error;
}

/* The record that was handed out goes: what is the smallest now? */
static void merge_step(struct extsort *x)
{
	struct run *r = &x->runs[x->heap[0]];
	r->pos++;
	x->handed = false;
	if (!load_head(x, r))
		x->heap[0] = x->heap[--x->nheap];
	else if (!x->second || !before(x, x->heap[x->second], x->heap[0]))
		return;
	sift_down(x, 0);
	find_second(x);
}

const void *extsort_next(struct extsort *x)
{
	if (x->handed)
		merge_step(x);
	if (!x->nheap || x->error)
		return NULL;
	x->handed = true;
	return head(x, x->heap[0]);
}

/* --- beyond the cap --- */

static int put_all(const struct extsort *x, const uint8_t *data, size_t n, off_t at)
{
	while (n) {
		ssize_t put = pwrite(x->fd, data, n, at);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put ? -errno : -ENOSPC;
		data += put;
		at += put;
		n -= (size_t)put;
	}
	return 0;
}

/* All runs in memory become one on disk. */
static int spill(struct extsort *x)
{
	size_t room = RUN_BLOCK / x->size, n = 0, first = x->nruns - x->nmemory;
	struct run out = {.start = x->spilled, .count = x->in_memory};
	uint8_t *block = malloc(RUN_BLOCK);
	if (!block)
		return -ENOMEM;
	int rc = x->fd < 0 && (x->fd = open_temporary()) < 0 ? -errno : 0;
	rc = rc ? rc : merge_begin(x, first);
	const void *record = NULL;
	while (!rc && ((record = extsort_next(x)) || n)) {
		if (record)
			memcpy(block + n++ * x->size, record, x->size);
		if (n < room && record)
			continue;
		rc = put_all(x, block, n * x->size, (off_t)(x->spilled * x->size));
		x->spilled += n;
		n = 0;
	}
	free(block);
	if (rc)
		return rc;
	for (size_t i = first; i < x->nruns; i++)
		free(x->runs[i].block);
	x->nruns = first;
	x->nmemory = x->in_memory = 0;
	return add_run(x, &out);
}

/* The run that was filled is sorted and counts among the others. */
static int end_run(struct extsort *x)
{
	int rc = sort_run(x, &x->filling);
	rc = rc ? rc : add_run(x, &x->filling);
	if (rc)
		return rc;
	x->nmemory++;
	x->in_memory += x->filling.end;
	x->filling = (struct run){0};
	return 0;
}

static int begin_run(struct extsort *x)
{
	int rc = x->filling.block ? end_run(x) : 0;
	if (!rc && x->in_memory && x->in_memory + x->run > x->cap)
		rc = spill(x);
	if (!rc && !(x->filling.block = new_block(x->run * x->size)))
		rc = -ENOMEM;
	return rc;
}

int extsort_add(struct extsort *x, const void *record)
{
	if (!x->filling.block || x->filling.end == x->run) {
		int rc = begin_run(x);
		if (rc)
			return rc;
	}
	copy_record(x->filling.block + x->filling.end++ * x->size, record, x->size);
	x->count++;
	return 0;
}

int extsort_finish(struct extsort *x)
{
	int rc = x->filling.block ? end_run(x) : 0;
	free(x->spare);
	x->spare = NULL;
	return rc ? rc : merge_begin(x, 0);
}

int extsort_error(const struct extsort *x)
{
	return x->error;
}

uint64_t extsort_count(const struct extsort *x)
{
	return x->count;
}

bool extsort_spilled(const struct extsort *x)
{
	return x->fd >= 0;
}
