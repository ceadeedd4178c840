/*
 * jsonfeed: a stream of JSON to its end, through yajl, to whoever takes its brackets, keys and
 * values.
 *
 * Lenient: comments, several values one after the other, strings of any bytes. The thread of the
 * caller.
 */
#ifndef ALTPTTOP_JSONFEED_H
#define ALTPTTOP_JSONFEED_H

#include "import/importer.h"

/* Each returns 0, or -errno, which ends the reading. Texts are good until it returns. */
struct json_takes {
	int (*open)(void *ctx, bool map);
	int (*close)(void *ctx);
	int (*key)(void *ctx, const char *s, size_t n);
	int (*value)(void *ctx, const char *s, size_t n); /* a number or a string, as it stands */
};

/* 0; what one of @takes returned, -ENOMEM with a sentence; -ECANCELED; -EBADMSG with a sentence. */
int json_feed(struct import *im, struct stream *in, const struct json_takes *takes, void *ctx,
	      struct err *err);

#endif
