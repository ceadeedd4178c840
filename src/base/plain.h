/*
 * plain: text that anybody may have written, made fit to be printed.
 *
 * Names, paths and arguments hold any byte but NUL. A terminal obeys some of them, so whatever is
 * no UTF-8 and every control character (C0, DEL, C1) is written as the four characters \xNN.
 * Any thread.
 */
#ifndef ALTPTTOP_PLAIN_H
#define ALTPTTOP_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the UTF-8 character at @p, by its first bytes; 0 at the end and where none is. */
unsigned utf8_length(const char *p);
/* Is the character of @n bytes at @p one that terminals obey? */
bool plain_control(const char *p, unsigned n);

/* Fill @ret_text with @text made plain, line breaks become spaces; what does not fit is cut at a
 * whole character. Always terminated. */
void plain_copy(char *ret_text, size_t size, const char *text);
/* The same where it lies, in a buffer of @size bytes, which may have cut its last character. */
void plain_in_place(char *text, size_t size);

#endif
