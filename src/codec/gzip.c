/*
 * gzip: zlib's deflate behind a callback.
 *
 * The header carries no name and no time, so that equal input gives equal files. Reading is
 * unwrap.c's.
 */
#include "codec/gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#define OUT_BYTES        65536
#define GZIP_WINDOW_BITS (15 + 16) /* zlib.h: adding 16 writes a gzip header and trailer */
#define MEMORY_LEVEL     8

struct gzip {
	z_stream z;
	void (*out)(void *ctx, const void *data, size_t len);
	void *ctx;
	unsigned char buffer[OUT_BYTES];
};

struct gzip *gzip_new(int level, void (*out)(void *ctx, const void *data, size_t len), void *ctx)
{
	struct gzip *g = calloc(1, sizeof *g);

	if (!g)
		return NULL;
	g->out = out;
	g->ctx = ctx;
	if (deflateInit2(&g->z, level, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(g);
		return NULL;
	}
	return g;
}

/* Run deflate until it has taken all input (or, with Z_FINISH, written all output). */
static int squeeze(struct gzip *g, int flush)
{
	int rc;

	do {
		g->z.next_out = g->buffer;
		g->z.avail_out = OUT_BYTES;
		rc = deflate(&g->z, flush);
		if (rc == Z_STREAM_ERROR)
			return -EINVAL;
		g->out(g->ctx, g->buffer, OUT_BYTES - g->z.avail_out);
	} while (g->z.avail_out == 0 || (flush == Z_FINISH && rc != Z_STREAM_END));
	return 0;
}

int gzip_add(struct gzip *g, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len) {
		uInt piece = len > INT_MAX ? INT_MAX : (uInt)len;
		g->z.next_in = (unsigned char *)p; /* zlib reads only */
		g->z.avail_in = piece;
		int rc = squeeze(g, Z_NO_FLUSH);
		if (rc)
			return rc;
		p += piece;
		len -= piece;
	}
	return 0;
}

int gzip_finish(struct gzip *g)
{
	g->z.next_in = NULL;
	g->z.avail_in = 0;
	return squeeze(g, Z_FINISH);
}

void gzip_free(struct gzip *g)
{
	if (!g)
		return;
	deflateEnd(&g->z);
	free(g);
}
