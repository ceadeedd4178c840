/*
 * unwrap: gzip (zlib), zstd, xz and UTF-16 as pull layers behind one decode hook each.
 *
 * Memory is bounded: one input buffer a layer, zstd windows up to 128 MiB, xz up to 256 MiB. A
 * wrapper cut short yields what could be unpacked and then says so.
 */
#include "codec/unwrap.h"

#include <errno.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define INPUT_BYTES     (256u << 10)
#define XZ_MEMORY       (256ull << 20)
#define ZSTD_WINDOW_LOG 27

struct unwrap {
	struct layer layer;
	const struct unwrap_kind *kind;
	struct layer *below;
	void *state;
	uint8_t *in;
	size_t in_cap, pos, end;
	uint64_t consumed;
	bool below_ended, ended;
};

struct gzip {
	z_stream z;
	bool between; /* a member ended: more may follow (RFC 1952) */
};

static void *gzip_start(void)
{
	struct gzip *g = calloc(1, sizeof *g);
	if (g && inflateInit2(&g->z, 15 + 32) != Z_OK) {
		free(g);
		g = NULL;
	}
	return g;
}

static void gzip_finish(void *state)
{
	struct gzip *g = state;
	inflateEnd(&g->z);
	free(g);
}

static int gzip_decode(void *state, const uint8_t *in, size_t *io_in, uint8_t *out, size_t *io_out,
		       int last)
{
	struct gzip *g = state;
	if (g->between) {
		bool more = *io_in >= 2 && in[0] == 0x1f && in[1] == 0x8b;
		if (!more && (last || *io_in >= 2)) {
			*io_out = 0; /* the end, or bytes behind it that are no member: ignored, as
					gzip does */
			return 1;
		}
		if (!more) {
			*io_in = *io_out = 0;
			return 0;
		}
		g->between = false;
		inflateReset(&g->z);
	}
	g->z.next_in = (Bytef *)(uintptr_t)in;
	g->z.avail_in = (uInt)*io_in;
	g->z.next_out = out;
	g->z.avail_out = (uInt)*io_out;
	int rc = inflate(&g->z, Z_NO_FLUSH);
	*io_in -= g->z.avail_in;
	*io_out -= g->z.avail_out;
	g->between = rc == Z_STREAM_END;
	return rc == Z_OK || rc == Z_BUF_ERROR || rc == Z_STREAM_END ? 0 : -EBADMSG;
}

struct zstd {
	ZSTD_DCtx *context;
	size_t hint; /* not 0: inside a frame */
};

static void *zstd_start(void)
{
	struct zstd *z = calloc(1, sizeof *z);
	if (!z)
		return NULL;
	z->context = ZSTD_createDCtx();
	if (!z->context) {
		free(z);
		return NULL;
	}
	ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
	return z;
}

static void zstd_finish(void *state)
{
	struct zstd *z = state;
	ZSTD_freeDCtx(z->context);
	free(z);
}

static int zstd_decode(void *state, const uint8_t *in, size_t *io_in, uint8_t *out, size_t *io_out,
		       int last)
{
	struct zstd *z = state;
	if (!*io_in && !z->hint) {
		/* Between frames. Asked without input the library would begin another one, and
		 * hint at its head as if that were missing. */
		*io_out = 0;
		return last;
	}
	ZSTD_inBuffer i = {in, *io_in, 0};
	ZSTD_outBuffer o = {out, *io_out, 0};
	z->hint = ZSTD_decompressStream(z->context, &o, &i);
	*io_in = i.pos;
	*io_out = o.pos;
	return ZSTD_isError(z->hint) ? -EBADMSG : 0;
}

static void *xz_start(void)
{
	lzma_stream *l = calloc(1, sizeof *l);
	if (l && lzma_stream_decoder(l, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK) {
		free(l);
		l = NULL;
	}
	return l;
}

static void xz_finish(void *state)
{
	lzma_end(state);
	free(state);
}

static int xz_decode(void *state, const uint8_t *in, size_t *io_in, uint8_t *out, size_t *io_out,
		     int last)
{
	lzma_stream *l = state;
	l->next_in = in;
	l->avail_in = *io_in;
	l->next_out = out;
	l->avail_out = *io_out;
	lzma_ret rc = lzma_code(l, last ? LZMA_FINISH : LZMA_RUN);
	*io_in -= l->avail_in;
	*io_out -= l->avail_out;
	if (rc == LZMA_STREAM_END)
		return 1;
	return rc == LZMA_OK || rc == LZMA_BUF_ERROR ? 0
	       : rc == LZMA_MEMLIMIT_ERROR           ? -ENOMEM
						     : -EBADMSG;
}

/* UTF-16 → UTF-8; a lone surrogate becomes U+FFFD. The state is the byte order. */
static int utf16_decode(const uint8_t *in, size_t *io_in, uint8_t *out, size_t *io_out, int last,
			bool be)
{
	size_t i = 0, o = 0, n = *io_in, room = *io_out;
	while (n - i >= 2 && room - o >= 4) {
		uint32_t c = be ? (uint32_t)in[i] << 8 | in[i + 1]
				: (uint32_t)in[i + 1] << 8 | in[i];
		size_t used = 2;
		if (c >= 0xd800 && c < 0xe000) {
			if (n - i < 4 && !last)
				break;
			uint32_t d = n - i < 4 ? 0
				     : be      ? (uint32_t)in[i + 2] << 8 | in[i + 3]
					       : (uint32_t)in[i + 3] << 8 | in[i + 2];
			bool pair = c < 0xdc00 && d >= 0xdc00 && d < 0xe000;
			c = pair ? 0x10000 + ((c - 0xd800) << 10) + (d - 0xdc00) : 0xfffd;
			used = pair ? 4 : 2;
		}
		i += used;
		if (c < 0x80) {
			out[o++] = (uint8_t)c;
		} else if (c < 0x800) {
			out[o++] = (uint8_t)(0xc0 | c >> 6);
			out[o++] = (uint8_t)(0x80 | (c & 0x3f));
		} else if (c < 0x10000) {
			out[o++] = (uint8_t)(0xe0 | c >> 12);
			out[o++] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
			out[o++] = (uint8_t)(0x80 | (c & 0x3f));
		} else {
			out[o++] = (uint8_t)(0xf0 | c >> 18);
			out[o++] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
			out[o++] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
			out[o++] = (uint8_t)(0x80 | (c & 0x3f));
		}
	}
	bool end = last && n - i < 2;
	*io_in = end ? n : i;
	*io_out = o;
	return end ? 1 : 0;
}

static int utf16_le(void *state, const uint8_t *in, size_t *io_in, uint8_t *out, size_t *io_out,
		    int last)
{
	(void)state;
	return utf16_decode(in, io_in, out, io_out, last, false);
}

static int utf16_be(void *state, const uint8_t *in, size_t *io_in, uint8_t *out, size_t *io_out,
		    int last)
{
	(void)state;
	return utf16_decode(in, io_in, out, io_out, last, true);
}

static void *no_state(void)
{
	return calloc(1, 1);
}

static const struct unwrap_kind kinds[] = {
	{"gzip", {0x1f, 0x8b, 0x08}, 3, gzip_decode, gzip_start, gzip_finish},
	{"zstd", {0x28, 0xb5, 0x2f, 0xfd}, 4, zstd_decode, zstd_start, zstd_finish},
	{"xz", {0xfd, '7', 'z', 'X', 'Z', 0}, 6, xz_decode, xz_start, xz_finish},
};
const struct unwrap_kind unwrap_utf16_le = {"", {0}, 0, utf16_le, no_state, free};
const struct unwrap_kind unwrap_utf16_be = {"", {0}, 0, utf16_be, no_state, free};

const struct unwrap_kind *unwrap_recognise(const uint8_t *head, size_t n)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (n >= kinds[i].magic_len && !memcmp(head, kinds[i].magic, kinds[i].magic_len))
			return &kinds[i];
	return NULL;
}

/* Refill the input; what was not consumed moves to the front. */
static void refill(struct unwrap *u)
{
	memmove(u->in, u->in + u->pos, u->end - u->pos);
	u->end -= u->pos;
	u->pos = 0;
	if (u->end == u->in_cap || u->below_ended)
		return;
	ssize_t got = u->below->read(u->below, u->in + u->end, u->in_cap - u->end);
	if (got <= 0)
		u->below_ended = true;
	else
		u->end += (size_t)got;
}

static ssize_t unwrap_read(struct layer *l, uint8_t *buf, size_t n)
{
	struct unwrap *u = l->state;
	while (!u->ended) {
		size_t in = u->end - u->pos, out = n;
		bool was_last = u->below_ended;
		int rc = u->kind->decode(u->state, u->in + u->pos, &in, buf, &out, u->below_ended);
		u->pos += in;
		u->consumed += in;
		if (rc)
			u->ended = true;
		if (rc < 0)
			snprintf(l->damage, sizeof l->damage,
				 "the %s wrapper is damaged at byte %llu", u->kind->name,
				 (unsigned long long)u->consumed);
		if (out)
			return (ssize_t)out;
		if (u->ended)
			break;
		if (u->below_ended && !in && was_last) {
			u->ended = true;
			if (u->kind->magic_len)
				snprintf(l->damage, sizeof l->damage,
					 "the %s wrapper is cut off at byte %llu", u->kind->name,
					 (unsigned long long)u->consumed);
			break;
		}
		if (!in || u->pos == u->end)
			refill(u);
	}
	return l->damage[0] ? -EBADMSG : 0;
}

int unwrap_new(const struct unwrap_kind *kind, struct layer *below, const uint8_t *held,
	       size_t nheld, struct layer **ret_layer)
{
	struct unwrap *u = calloc(1, sizeof *u);
	if (!u)
		return -ENOMEM;
	u->in_cap = nheld > INPUT_BYTES ? nheld : INPUT_BYTES;
	u->in = malloc(u->in_cap);
	u->state = kind->start();
	if (!u->in || !u->state) {
		if (u->state)
			kind->finish(u->state);
		free(u->in);
		free(u);
		return -ENOMEM;
	}
	memcpy(u->in, held, nheld);
	u->end = nheld;
	u->kind = kind;
	u->below = below;
	u->layer.read = unwrap_read;
	u->layer.state = u;
	*ret_layer = &u->layer;
	return 0;
}

void unwrap_free(struct layer *l)
{
	struct unwrap *u = l->state;
	u->kind->finish(u->state);
	free(u->in);
	free(u);
}
