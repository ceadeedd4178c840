/*
 * wirestream: a window that moves over the stream, and begins with the next field.
 *
 * Any one thread. What looks damaged may only be cut off by the window's end, so more is asked for
 * first.
 */
#include "codec/wirestream.h"

#define STEP ((size_t)1 << 20) /* a long field is believed so much at a time */

struct wirestream wirestream_of(struct stream *in)
{
	static const uint8_t nothing[1];
	return (struct wirestream){.in = in, .from = nothing, .window = wire_of(nothing, 0)};
}

void wirestream_fini(struct wirestream *x)
{
	vec_fini(&x->large);
}

/* Let the window begin at @at. False: it has no more in it than it had from there on. */
static bool move_on(struct wirestream *x, const uint8_t *at)
{
	size_t had = (size_t)(x->window.end - at);
	stream_skip(x->in, (size_t)(at - x->from));
	size_t n = stream_peek(x->in, had + 1, &x->from);
	x->window = wire_of(x->from, n);
	return n > had;
}

/* A field at the window's begin that is longer than it. */
static bool read_long(struct wirestream *x, struct wire_field *ret_field)
{
	struct wire *w = &x->window;
	uint64_t tag, len;
	if (!wire_varint(w, &tag) || (tag & 7) != 2 || !(tag >> 3) || tag >> 3 >= 1u << 29 ||
	    !wire_varint(w, &len))
		return false;
	stream_skip(x->in, (size_t)(w->at - x->from));
	x->from = w->at = w->end;
	for (x->large.len = 0; x->large.len < len;) {
		size_t more = len - x->large.len < STEP ? (size_t)(len - x->large.len) : STEP;
		if (vec_reserve(&x->large, x->large.len + more))
			return false;
		size_t got = stream_read(x->in, x->large.data + x->large.len, more);
		x->large.len += got;
		if (got < more)
			return false;
	}
	*ret_field = (struct wire_field){.number = (uint32_t)(tag >> 3),
					 .type = 2,
					 .data = x->large.data,
					 .len = x->large.len};
	return true;
}

bool wirestream_next(struct wirestream *x, struct wire_field *ret_field)
{
	const uint8_t *at;
	if (x->damaged)
		return false;
	do {
		at = x->window.at;
		if (wire_next(&x->window, ret_field))
			return true;
	} while (move_on(x, at));
	if (x->window.at == x->window.end)
		return false;
	x->damaged = !read_long(x, ret_field);
	return !x->damaged;
}
