/*
 * utf8: decoding, widths and searching of text that nobody vouches for. Widths come from the C
 * library's tables, as those of the curses library do, so that both count the same cells;
 * characters on whose width terminals disagree are replaced or skipped. No state, any thread.
 */
#include "utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <wchar.h>

struct range {
	uint32_t first, last;
};

/* Drawn as nothing: joiners, variation selectors, skin tones, tags. Sorted. */
static const struct range skipped[] = {
	{0x00ad, 0x00ad}, {0x034f, 0x034f},   {0x180b, 0x180f},
	{0x200b, 0x200d}, {0x2060, 0x2064},   {0xfe00, 0xfe0f},
	{0xfeff, 0xfeff}, {0x1f3fb, 0x1f3ff}, {0xe0000, 0xe0fff},
};

/* Drawn as the replacement: controls, direction marks, separators, surrogates. Sorted. */
static const struct range replaced[] = {
	{0x0001, 0x001f}, {0x007f, 0x009f}, {0x061c, 0x061c}, {0x200e, 0x200f}, {0x2028, 0x202e},
	{0x2065, 0x206f}, {0xd800, 0xdfff}, {0xfdd0, 0xfdef}, {0xfff0, 0xfffb}, {0xfffe, 0xffff},
};

static bool in_ranges(uint32_t c, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n && ranges[i].first <= c; i++)
		if (c <= ranges[i].last)
			return true;
	return false;
}

/* One code point by the Unicode standard's table 3-7; UTF8_REPLACEMENT and one byte where broken.
 */
static uint32_t decode(const unsigned char *s, int *ret_bytes)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	int n = s[0] < 0x80   ? 1
		: s[0] < 0xc2 ? 0
		: s[0] < 0xe0 ? 2
		: s[0] < 0xf0 ? 3
		: s[0] < 0xf5 ? 4
			      : 0;
	uint32_t c;

	*ret_bytes = 1;
	if (n == 1)
		return s[0];
	if (n == 0)
		return UTF8_REPLACEMENT;
	c = s[0] & (0xffu >> (n + 1));
	for (int i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) /* a NUL ends it too */
			return UTF8_REPLACEMENT;
		c = c << 6 | (s[i] & 0x3fu);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return UTF8_REPLACEMENT;
	*ret_bytes = n;
	return c;
}

uint32_t utf8_next(const char **s)
{
	for (;;) {
		int bytes;
		uint32_t c = decode((const unsigned char *)*s, &bytes);

		if (!c)
			return 0;
		*s += bytes;
		if (c >= 0x20 && c < 0x7f)
			return c;
		if (in_ranges(c, replaced, sizeof replaced / sizeof *replaced))
			return UTF8_REPLACEMENT;
		if (!in_ranges(c, skipped, sizeof skipped / sizeof *skipped))
			return c;
	}
}

int utf8_width(uint32_t c)
{
	int w;

	if (c < 0x7f || c == UTF8_REPLACEMENT)
		return 1;
	w = wcwidth((wchar_t)c);
	return w < 0 || w > 2 ? 1 : w;
}

int utf8_cells(const char *s, int max)
{
	int cells = 0;
	uint32_t c;

	while (cells < max && (c = utf8_next(&s)))
		cells += utf8_width(c);
	return cells < max ? cells : max;
}

size_t utf8_back(const char *s, size_t at)
{
	size_t n = 0;

	while (n < at && n < 4) {
		n++;
		if (((unsigned char)s[at - n] & 0xc0) != 0x80)
			break;
	}
	return n;
}

size_t utf8_forward(const char *s, size_t at)
{
	int bytes;

	if (!s[at])
		return 0;
	decode((const unsigned char *)s + at, &bytes);
	return (size_t)bytes;
}

int utf8_put(char ret_bytes[4], uint32_t c)
{
	unsigned char *b = (unsigned char *)ret_bytes;

	if (c < 0x80) {
		b[0] = (unsigned char)c;
		return 1;
	}
	if (c < 0x800) {
		b[0] = (unsigned char)(0xc0 | c >> 6);
		b[1] = (unsigned char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		b[0] = (unsigned char)(0xe0 | c >> 12);
		b[1] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
		b[2] = (unsigned char)(0x80 | (c & 0x3f));
		return 3;
	}
	b[0] = (unsigned char)(0xf0 | c >> 18);
	b[1] = (unsigned char)(0x80 | (c >> 12 & 0x3f));
	b[2] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
	b[3] = (unsigned char)(0x80 | (c & 0x3f));
	return 4;
}

int utf8_holds(const char *text, const char *part)
{
	size_t n = strlen(part);

	if (!n)
		return 1;
	for (; *text; text++) {
		size_t i = 0;

		while (i < n && text[i] &&
		       tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
			i++;
		if (i == n)
			return 1;
	}
	return 0;
}
