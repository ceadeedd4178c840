/*
 * cellcode: a sorted list of cells packed into bytes, for history that is kept by the second.
 *
 * About ten bytes a cell instead of forty: keys are differences to the cell before, counts are
 * variable-length, and Σ weight² is left out where it follows from the rest (equal weights).
 */
#ifndef ALTPTTOP_CELLCODE_H
#define ALTPTTOP_CELLCODE_H

#include "profile/cells.h"

#define CELLCODE_MAX 56 /* most bytes one cell can take */

/* Pack @n cells, sorted by cell_compare, to @out (room for n × CELLCODE_MAX). Returns bytes. */
size_t cellcode_pack(const struct cell *cells, uint32_t n, uint8_t *out);

struct cellcode_reader {
	const uint8_t *at, *end;
	struct cell cell;
};

static inline struct cellcode_reader cellcode_reader(const uint8_t *data, size_t bytes)
{
	return (struct cellcode_reader){.at = data, .end = data + bytes};
}
bool cellcode_next(struct cellcode_reader *r); /* false: the end; else r->cell is the next */

#endif
