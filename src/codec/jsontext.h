/* jsontext: writing JSON (RFC 8259) by hand: strings of any bytes become valid UTF-8 JSON strings.
 */
#ifndef ALTPTTOP_JSONTEXT_H
#define ALTPTTOP_JSONTEXT_H

#include <stddef.h>

#include "base/strbuf.h"

/* A quoted JSON string. Control characters are escaped, invalid UTF-8 bytes become U+FFFD. */
void json_quote(struct strbuf *out, const char *s, size_t n);

#endif
