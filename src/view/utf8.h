/*
 * utf8: text of unknown origin, made safe for a terminal. Names come from files and from targets:
 * they hold control characters, broken UTF-8, wide and combining characters, direction marks.
 *
 * Every function agrees on one thing: what utf8_next yields is what is drawn, and utf8_width is how
 * many cells it takes. Thread-safe.
 */
#ifndef ALTPTTOP_UTF8_H
#define ALTPTTOP_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT 0xfffdu

/*
 * The next character to draw of *@s, which ends at a NUL; moves *@s behind it. 0 at the end.
 * Broken bytes, control characters and direction marks come out as UTF8_REPLACEMENT, one for each
 * byte that makes no sense; marks that only join or vary glyphs are skipped.
 */
uint32_t utf8_next(const char **s);

/* Cells that a character takes: 0 combines with the one before, 1 or 2. */
int utf8_width(uint32_t c);

/* Cells that the whole of @s takes, counted up to @max (so that huge names cost little). */
int utf8_cells(const char *s, int max);

/* Bytes of @s that make up its last character before @at; 0 at the start. For line editing. */
size_t utf8_back(const char *s, size_t at);
size_t utf8_forward(const char *s, size_t at);

/* Write @c as UTF-8 (1–4 bytes, not terminated); how many bytes. */
int utf8_put(char ret_bytes[4], uint32_t c);

/* Does @text hold @part, ASCII letters compared without case? An empty part is everywhere. */
int utf8_holds(const char *text, const char *part);

#endif
