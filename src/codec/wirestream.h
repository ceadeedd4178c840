/*
 * wirestream: the fields of a message that is read in pieces, from a stream, in bounded memory.
 *
 * Only a field longer than what a stream can be peeked at is held whole. One thread.
 */
#ifndef ALTPTTOP_WIRESTREAM_H
#define ALTPTTOP_WIRESTREAM_H

#include "base/vec.h"
#include "codec/protowire.h"
#include "codec/stream.h"

struct wirestream {
	struct stream *in;
	const uint8_t *from; /* where what was peeked at begins … */
	struct wire window;  /* … and what of it is still to be read */
	struct {
		VEC(uint8_t)
	} large;      /* a field that did not fit */
	bool damaged; /* a field made no sense, or is cut off: reading ended there */
};

struct wirestream wirestream_of(struct stream *in); /* from where it is */
void wirestream_fini(struct wirestream *x);

/* What @ret_field points to is good until the next call. False: the end, or damage. */
bool wirestream_next(struct wirestream *x, struct wire_field *ret_field);

#endif
