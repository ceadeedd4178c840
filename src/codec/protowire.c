/*
 * protowire: tags, varints and lengths. Groups (types 3 and 4) are long out of use and count as
 * damage.
 */
#include "codec/protowire.h"

#include <string.h>

bool wire_varint_long(struct wire *w, uint64_t *ret_value)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64 && w->at < w->end; shift += 7) {
		uint8_t b = *w->at++;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*ret_value = v;
			return true;
		}
	}
	w->damaged = true;
	return false;
}

static bool fixed(struct wire *w, size_t n, uint64_t *ret_value)
{
	if ((size_t)(w->end - w->at) < n) {
		w->damaged = true;
		return false;
	}
	*ret_value = 0;
	memcpy(ret_value, w->at, n);
	w->at += n;
	return true;
}

bool wire_next_long(struct wire *w, struct wire_field *ret_field)
{
	uint64_t tag, len;
	if (w->damaged || w->at == w->end || !wire_varint(w, &tag))
		return false;
	struct wire_field f = {.number = (uint32_t)(tag >> 3), .type = tag & 7};
	bool good = tag >> 3 && tag >> 3 < 1u << 29;
	switch (good ? f.type : 7) {
	case 0: good = wire_varint(w, &f.value); break;
	case 1: good = fixed(w, 8, &f.value); break;
	case 5: good = fixed(w, 4, &f.value); break;
	case 2:
		good = wire_varint(w, &len) && len <= (size_t)(w->end - w->at);
		if (good) {
			f.data = w->at;
			f.len = len;
			w->at += len;
		}
		break;
	default: good = false;
	}
	if (good)
		*ret_field = f;
	else
		w->damaged = true;
	return good;
}

bool wire_each(const struct wire_field *f, bool (*add)(void *ctx, uint64_t value), void *ctx)
{
	if (f->type == 0)
		return add(ctx, f->value);
	if (f->type != 2)
		return false;
	struct wire w = wire_of(f->data, f->len);
	uint64_t v;
	while (w.at < w.end)
		if (!wire_varint(&w, &v) || !add(ctx, v))
			return false;
	return true;
}
