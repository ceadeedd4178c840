/*
 * plain: text that anybody may have written, made fit to be printed.
 *
 * Any thread; no state. Quoting for the formats of files is export/escape's.
 */
#include "base/plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned utf8_length(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;
	unsigned low = 0x80, high = 0xbf, more;

	if (u[0] < 0x80)
		return u[0] != 0;
	if (u[0] >= 0xc2 && u[0] <= 0xdf)
		more = 1;
	else if (u[0] >= 0xe0 && u[0] <= 0xef)
		more = 2;
	else if (u[0] >= 0xf0 && u[0] <= 0xf4)
		more = 3;
	else
		return 0;
	if (u[0] == 0xe0)
		low = 0xa0;
	else if (u[0] == 0xed)
		high = 0x9f;
	else if (u[0] == 0xf0)
		low = 0x90;
	else if (u[0] == 0xf4)
		high = 0x8f;
	if (u[1] < low || u[1] > high)
		return 0;
	for (unsigned i = 2; i <= more; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	return more + 1;
}

bool plain_control(const char *p, unsigned n)
{
	unsigned char c = (unsigned char)p[0];

	if (n == 1)
		return c < 0x20 || c == 0x7f;
	return n == 2 && c == 0xc2 && (unsigned char)p[1] < 0xa0;
}

static bool is_break(char c)
{
	return c == '\n' || c == '\r';
}

static bool is_plain(const char *text)
{
	unsigned n;

	for (; (n = utf8_length(text)); text += n)
		if (plain_control(text, n))
			return false;
	return !*text;
}

void plain_copy(char *ret_text, size_t size, const char *text)
{
	size_t at = 0;

	while (*text) {
		char word[4 * 4 + 1];
		unsigned n = utf8_length(text), bytes = n ? n : 1, len = 0;

		if (is_break(*text))
			word[len++] = ' ';
		else if (n && !plain_control(text, n))
			len = (unsigned)(stpncpy(word, text, n) - word);
		else
			for (unsigned i = 0; i < bytes; i++)
				len += (unsigned)sprintf(word + len, "\\x%02x",
							 (unsigned char)text[i]);
		if (at + len >= size)
			break;
		memcpy(ret_text + at, word, len);
		at += len;
		text += bytes;
	}
	if (size)
		ret_text[at] = 0;
}

/* What a full buffer cut in the middle of its last character goes. */
static void drop_partial(char *text, size_t size)
{
	size_t len = strlen(text), from = len;

	if (len + 1 < size || !len)
		return;
	while (from && len - from < 3 && ((unsigned char)text[from - 1] & 0xc0) == 0x80)
		from--;
	if (from && (unsigned char)text[from - 1] >= 0xc0 && !utf8_length(text + from - 1))
		text[from - 1] = 0;
}

void plain_in_place(char *text, size_t size)
{
	drop_partial(text, size);
	if (is_plain(text))
		return;
	char *copy = strndup(text, size);
	if (copy) {
		plain_copy(text, size, copy);
		free(copy);
		return;
	}
	for (; *text; text++) /* without memory: safe is better than complete */
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
			*text = '?';
}
