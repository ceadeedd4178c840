/*
 * jsontext: one pass over the bytes; a run that needs nothing is copied at once.
 */
#include "codec/jsontext.h"

#include <stdint.h>

/* Length of the valid UTF-8 sequence at @s, 0 when there is none (Unicode 15, table 3-7). */
static size_t utf8_length(const unsigned char *s, size_t n)
{
	if (s[0] < 0x80)
		return 1;
	size_t len = s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
	if (s[0] >= 0xf5 || !len || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	bool bad = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
		   (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90);
	return bad ? 0 : len;
}

void json_quote(struct strbuf *out, const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t from = 0, i = 0;
	strbuf_putc(out, '"');
	while (i < n) {
		size_t len = utf8_length(s + i, n - i);
		if (len && s[i] >= 0x20 && s[i] != '"' && s[i] != '\\' && s[i] != 0x7f) {
			i += len;
			continue;
		}
		strbuf_add(out, s + from, i - from);
		if (!len)
			strbuf_puts(out, "\xef\xbf\xbd");
		else if (s[i] == '"' || s[i] == '\\')
			strbuf_printf(out, "\\%c", s[i]);
		else
			strbuf_printf(out, "\\u%04x", s[i]);
		from = ++i;
	}
	strbuf_add(out, s + from, n - from);
	strbuf_putc(out, '"');
}
