/*
 * escape: names of any bytes made fit for a format. Each yields valid UTF-8 and appends to @b.
 *
 * Bytes that are no UTF-8, and control characters where the format has no way to say them, become
 * the four characters \xNN.
 */
#ifndef ALTPTTOP_ESCAPE_H
#define ALTPTTOP_ESCAPE_H

#include "base/plain.h" /* utf8_length */
#include "base/strbuf.h"

void escape_plain(struct strbuf *b, const char *text); /* one line of text */
/* As escape_plain; of what is wider than a report can bear (ESCAPE_NAME_MAX characters) the middle
 * becomes "…". */
#define ESCAPE_NAME_MAX 160
void escape_name(struct strbuf *b, const char *text);
void escape_folded(struct strbuf *b, const char *text); /* a frame: no ';', no line breaks */
void escape_json(struct strbuf *b, const char *text);   /* with the quotes */
void escape_csv(struct strbuf *b, const char *text);    /* a field, quoted where it must be */

#endif
