/*
 * cellcode: packing and unpacking of cell lists.
 *
 * Engine thread. The bytes never leave the program, yet the reader checks its end before every
 * field, so that a mistake ends a list early instead of reading past it.
 */
#include "profile/cellcode.h"

#include <math.h>
#include <string.h>

enum {
	SAME_NODE = 1 << 0,
	SAME_TASK = 1 << 1,
	SAME_EVENT = 1 << 2, /* event and flags */
	NO_SAMPLES = 1 << 3,
	ONE_SAMPLE = 1 << 4,
	SQUARE = 1 << 5, /* weight_sq follows as it is */
};

static uint8_t *put_varint(uint8_t *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*out++ = (uint8_t)(v | 0x80);
	*out++ = (uint8_t)v;
	return out;
}

static bool get_varint(struct cellcode_reader *r, uint64_t *ret_v)
{
	uint64_t v = 0;
	for (unsigned shift = 0; r->at < r->end && shift < 64; shift += 7) {
		uint8_t byte = *r->at++;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret_v = v;
			return true;
		}
	}
	return false;
}

/* Accounts may be negative: fold the sign into the lowest bit. */
static uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ (uint64_t)((int64_t)v >> 63);
}

static uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

/* Σ weight² of @n samples that all weigh the same. */
static double even_square(uint64_t n, uint64_t weight)
{
	return n ? (double)weight * (double)weight / (double)n : 0;
}

size_t cellcode_pack(const struct cell *cells, uint32_t n, uint8_t *out)
{
	struct cell last = {0};
	uint8_t *at = out;

	for (uint32_t i = 0; i < n; i++) {
		const struct cell *c = &cells[i];
		double even = even_square(c->samples, c->weight);
		bool same_node = i && c->node == last.node;
		bool same_event = i && c->event == last.event && c->flags == last.flags;
		bool square = fabs(c->weight_sq - even) > even * 1e-9;
		uint8_t *head = at++;
		*head = (uint8_t)((same_node ? SAME_NODE : 0) |
				  (i && c->task == last.task ? SAME_TASK : 0) |
				  (same_event ? SAME_EVENT : 0) | (c->samples ? 0 : NO_SAMPLES) |
				  (c->samples == 1 ? ONE_SAMPLE : 0) | (square ? SQUARE : 0));
		if (!same_node)
			at = put_varint(at, c->node - last.node);
		if (!(*head & SAME_TASK))
			at = put_varint(at, c->task);
		if (!same_event) {
			at = put_varint(at, c->event);
			at = put_varint(at, c->flags);
		}
		if (c->samples > 1)
			at = put_varint(at, c->samples);
		at = put_varint(at, zigzag(c->weight));
		if (square) {
			memcpy(at, &c->weight_sq, sizeof c->weight_sq);
			at += sizeof c->weight_sq;
		}
		last = *c;
	}
	return (size_t)(at - out);
}

static bool read_key(struct cellcode_reader *r, uint8_t head)
{
	struct cell *c = &r->cell;
	uint64_t v;

	if (!(head & SAME_NODE)) {
		if (!get_varint(r, &v))
			return false;
		c->node += (uint32_t)v;
	}
	if (!(head & SAME_TASK)) {
		if (!get_varint(r, &v))
			return false;
		c->task = (task_id)v;
	}
	if (!(head & SAME_EVENT)) {
		uint64_t flags;
		if (!get_varint(r, &v) || !get_varint(r, &flags))
			return false;
		c->event = (uint16_t)v;
		c->flags = (uint16_t)flags;
	}
	return true;
}

bool cellcode_next(struct cellcode_reader *r)
{
	struct cell *c = &r->cell;
	uint64_t v;

	if (r->at >= r->end)
		return false;
	uint8_t head = *r->at++;
	if (!read_key(r, head))
		return false;
	c->samples = head & ONE_SAMPLE ? 1 : 0;
	if (!(head & (ONE_SAMPLE | NO_SAMPLES)) && !get_varint(r, &c->samples))
		return false;
	if (!get_varint(r, &v))
		return false;
	c->weight = unzigzag(v);
	c->weight_sq = even_square(c->samples, c->weight);
	if (head & SQUARE) {
		if ((size_t)(r->end - r->at) < sizeof c->weight_sq)
			return false;
		memcpy(&c->weight_sq, r->at, sizeof c->weight_sq);
		r->at += sizeof c->weight_sq;
	}
	return true;
}
