/*
 * gzip: compressing a stream of bytes into a gzip member, in bounded memory.
 *
 * Output leaves through a callback, in pieces of at most 64 KiB. One thread at a time.
 */
#ifndef ALTPTTOP_GZIP_H
#define ALTPTTOP_GZIP_H

#include <stddef.h>

struct gzip;

/* NULL: no memory. @level as zlib's, 1 … 9. */
struct gzip *gzip_new(int level, void (*out)(void *ctx, const void *data, size_t len), void *ctx);
int gzip_add(struct gzip *z, const void *data, size_t len); /* 0 or -errno */
int gzip_finish(struct gzip *z); /* writes the trailer; nothing may be added after it */
void gzip_free(struct gzip *z);

#endif
