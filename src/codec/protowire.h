/*
 * protowire: walking protobuf wire format without copying. Encoding:
 * protobuf.dev/programming-guides/encoding.
 *
 * A message is a range of bytes; every length is checked against it. For messages too large to
 * unpack into objects first. Any thread.
 */
#ifndef ALTPTTOP_PROTOWIRE_H
#define ALTPTTOP_PROTOWIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire {
	const uint8_t *at, *end;
	bool damaged; /* a field did not fit: reading ended there */
};

struct wire_field {
	uint32_t number;
	uint8_t type;        /* 0 varint, 1 fixed64, 2 bytes, 5 fixed32 */
	uint64_t value;      /* types 0, 1, 5 */
	const uint8_t *data; /* type 2 */
	size_t len;
};

static inline struct wire wire_of(const uint8_t *data, size_t len)
{
	return (struct wire){data, data + len, false};
}

bool wire_varint_long(struct wire *w, uint64_t *ret_value); /* of any length */

static inline bool wire_varint(struct wire *w, uint64_t *ret_value)
{
	size_t left = (size_t)(w->end - w->at);
	if (left && w->at[0] < 0x80) {
		*ret_value = *w->at++;
		return true;
	}
	if (left < 2 || w->at[1] >= 0x80)
		return wire_varint_long(w, ret_value);
	*ret_value = (w->at[0] & 0x7fu) | (uint32_t)w->at[1] << 7;
	w->at += 2;
	return true;
}

bool wire_next_long(struct wire *w, struct wire_field *ret_field); /* of any tag and length */

/* False: the end, or damage. Most tags, numbers and lengths are of one byte. */
static inline bool wire_next(struct wire *w, struct wire_field *ret_field)
{
	size_t left = (size_t)(w->end - w->at);
	if (left < 2 || (w->at[0] | w->at[1]) & 0x80 || w->at[0] < 8)
		return wire_next_long(w, ret_field);
	uint8_t type = w->at[0] & 7, second = w->at[1];
	if ((type != 0 && type != 2) || (type == 2 && second > left - 2) || w->damaged)
		return wire_next_long(w, ret_field);
	*ret_field = (struct wire_field){.number = w->at[0] >> 3, .type = type};
	w->at += 2;
	if (type == 0) {
		ret_field->value = second;
	} else {
		ret_field->data = w->at;
		ret_field->len = second;
		w->at += second;
	}
	return true;
}

/*
 * A repeated integer field, packed or not: calls @add for each value in @f. False: damaged.
 */
bool wire_each(const struct wire_field *f, bool (*add)(void *ctx, uint64_t value), void *ctx);

#endif
