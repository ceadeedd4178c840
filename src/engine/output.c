/*
 * output: the text of the Output screen.
 *
 * Engine thread. Lines are kept in one buffer; when it is full the older half goes at once, so that
 * a command that writes a lot costs one move a hundred kilobytes.
 */
#include "engine/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READS_AT_ONCE 8

int output_init(struct output *o)
{
	*o = (struct output){.text = malloc(OUTPUT_BYTES)};
	return o->text ? 0 : -ENOMEM;
}

void output_fini(struct output *o)
{
	free(o->text);
	*o = (struct output){0};
}

/* Drop whole lines from the front until at most half is used. */
static void drop_old(struct output *o)
{
	size_t cut = o->used - OUTPUT_BYTES / 2;
	while (cut < o->used && o->text[cut - 1])
		cut++;
	if (cut > o->used - o->partial)
		cut = o->used - o->partial;
	for (size_t i = 0; i < cut; i++)
		o->dropped += !o->text[i];
	memmove(o->text, o->text + cut, o->used - cut);
	o->used -= cut;
}

static void put(struct output *o, char c)
{
	if (o->used + 2 > OUTPUT_BYTES)
		drop_old(o);
	if (c == '\n' || o->partial >= OUTPUT_LINE) {
		o->text[o->used++] = '\0';
		o->partial = 0;
		if (c == '\n')
			return;
	}
	o->text[o->used++] = c;
	o->partial++;
}

enum { NO, BEGIN, SEQUENCE, STRING };

/*
 * ECMA-48: ESC, perhaps more from ' ' to '/', and a final character; or '[', parameters and a final
 * from '@' to '~'; or a string (a title, a link) that ends in ESC '\\', or in BEL as xterm's do.
 */
static int after(int state, char c)
{
	switch (state) {
	case BEGIN:
		if (c >= ' ' && c <= '/')
			return BEGIN;
		return c == '[' ? SEQUENCE : c && strchr("]P_^X", c) ? STRING : NO;
	case SEQUENCE: return c >= '@' && c <= '~' ? NO : SEQUENCE;
	case STRING: return c == '\a' ? NO : c == '\033' ? BEGIN : STRING;
	default: return BEGIN;
	}
}

void output_add(struct output *o, const char *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = data[i];
		if (c == '\n')
			o->escape = NO;
		if (o->escape || c == '\033') {
			o->escape = after(o->escape, c);
			continue;
		}
		if (o->over && c != '\n') {
			o->used -= o->partial;
			o->partial = 0;
		}
		o->over = c == '\r';
		if (o->over)
			continue;
		if (c == '\t') {
			do
				put(o, ' ');
			while (o->partial % 8);
			continue;
		}
		if ((unsigned char)c < ' ' && c != '\n')
			c = '.';
		put(o, c == 0x7f ? '.' : c);
	}
}

bool output_read(struct output *o, int fd)
{
	char buffer[4096];
	for (int i = 0; i < READS_AT_ONCE; i++) {
		ssize_t n = read(fd, buffer, sizeof buffer);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		if (!n) {
			o->closed = true;
			return false;
		}
		output_add(o, buffer, (size_t)n);
	}
	return true;
}
