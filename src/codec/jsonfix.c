/*
 * jsonfix: one byte at a time; used only behind the first place where the strict parser gave up.
 */
#include "codec/jsonfix.h"

#include <ctype.h>
#include <string.h>

static size_t string_byte(struct jsonfix *f, uint8_t c, uint8_t *out)
{
	size_t o = 0;
	if (f->escape) {
		f->escape = false;
		out[o++] = '\\';
		if (c < 0x20 || !strchr("\"\\/bfnrtu", c))
			out[o++] = '\\';
	} else if (c == '\\') {
		f->escape = true;
		return 0;
	} else if (c == '"') {
		f->in_string = false;
	}
	out[o++] = c < 0x20 ? ' ' : c;
	return o;
}

size_t jsonfix_run(struct jsonfix *f, const uint8_t *in, size_t n, uint8_t *out)
{
	size_t o = 0;
	for (size_t i = 0; i < n; i++) {
		uint8_t c = in[i];
		if (f->in_string) {
			o += string_byte(f, c, out + o);
			continue;
		}
		if (f->in_word) { /* the rest of NaN or Infinity */
			if (isalpha(c))
				continue;
			f->in_word = false;
		}
		if (f->minus && c != 'N' && c != 'I')
			out[o++] = '-';
		f->minus = false;
		if (isspace(c)) {
			out[o++] = c;
			continue;
		}
		if (f->comma) {
			f->comma = false;
			if (c != ']' && c != '}')
				out[o++] = ',';
		}
		if (c == ',') {
			f->comma = true;
		} else if (c == '-') {
			f->minus = true;
		} else if (c == 'N' || c == 'I') {
			memcpy(out + o, "null", 4);
			o += 4;
			f->in_word = true;
		} else {
			f->in_string = c == '"';
			out[o++] = c;
		}
	}
	return o;
}
