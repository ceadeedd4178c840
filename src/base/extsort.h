/*
 * extsort: sort any number of fixed-size records in bounded memory.
 *
 * Records gather in memory up to a cap; beyond it sorted runs go to one unlinked temporary file and
 * are merged while reading. The order of equal records is kept. One thread.
 */
#ifndef ALTPTTOP_EXTSORT_H
#define ALTPTTOP_EXTSORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct extsort;

typedef int (*extsort_compare)(const void *a, const void *b);

/* Records of @size bytes (a multiple of 8, at most 64); at most @cap_bytes of them in memory. NULL:
 * no memory. */
struct extsort *extsort_new(size_t size, size_t cap_bytes, extsort_compare compare);
/*
 * The same of records that begin with @words (at most 2) unsigned 64-bit words, the most
 * significant first, by which @compare orders them before anything else: they are sorted faster.
 */
struct extsort *extsort_new_words(size_t size, size_t cap_bytes, extsort_compare compare,
				  unsigned words);
void extsort_free(struct extsort *x);

int extsort_add(struct extsort *x, const void *record); /* -ENOMEM, -ENOSPC, -EIO */
int extsort_finish(struct extsort *x); /* no more will come: sort what is in memory */

/* Records in order, after extsort_finish. NULL: the end, or what was spilled cannot be read back
 * (extsort_error tells which). Good until the next call. */
const void *extsort_next(struct extsort *x);
/* 0, or why reading ended too early: -ENOMEM, -EIO … Ask after the last record. */
int extsort_error(const struct extsort *x);

uint64_t extsort_count(const struct extsort *x);
bool extsort_spilled(const struct extsort *x); /* a temporary file was needed */

#endif
