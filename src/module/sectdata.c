/*
 * sectdata: section contents: finding, decompressing, and the few small sections that name other
 * files.
 *
 * A compressed section says how large it will be before anybody has seen that much data; it is
 * believed only as far as its compressed bytes can explain (deflate expands at most 1032-fold; a
 * zstd block of four bytes yields 128 KiB at most). Runs on any thread.
 */
#include "module/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define DEFLATE_RATIO 1032ull
#define ZSTD_RATIO    (128ull * 1024 / 4)
#define SMALL_PACKED  4096          /* bytes of a packed section that is to hold a name */
#define ZSTD_MODEST   (64ull << 20) /* below it the window decides, above it the ratio of deflate */

const struct image_section *image_section(const struct image *i, const char *name)
{
	for (uint32_t k = 1; k < i->nsections; k++)
		if (strcmp(i->sections[k].name, name) == 0)
			return &i->sections[k];
	return NULL;
}

const uint8_t *image_section_bytes(const struct image *i, const struct image_section *s,
				   size_t *ret_size)
{
	if (!s || s->type == SHT_NOBITS || s->offset > i->size || s->size > i->size - s->offset)
		return NULL;
	*ret_size = (size_t)s->size;
	return i->bytes + s->offset;
}

/* How a compressed section announces itself: kind, size to come, bytes of header before the data.
 */
struct packing {
	enum { PACK_NONE, PACK_ZLIB, PACK_ZSTD, PACK_UNKNOWN } kind;
	uint64_t size;
	size_t header;
};

static int read_chdr(const struct image *i, const struct image_section *s, struct packing *ret)
{
	uint32_t type;
	if (i->elf32) {
		Elf32_Chdr c;
		if (s->size < sizeof c || image_read(i, s->offset, &c, sizeof c))
			return -EBADMSG;
		type = c.ch_type;
		ret->size = c.ch_size;
		ret->header = sizeof c;
	} else {
		Elf64_Chdr c;
		if (s->size < sizeof c || image_read(i, s->offset, &c, sizeof c))
			return -EBADMSG;
		type = c.ch_type;
		ret->size = c.ch_size;
		ret->header = sizeof c;
	}
	ret->kind = type == ELFCOMPRESS_ZLIB ? PACK_ZLIB : type == 2 ? PACK_ZSTD : PACK_UNKNOWN;
	return 0;
}

/* GNU's older form: "ZLIB", then the size, big-endian. */
static int read_zdebug(const struct image *i, const struct image_section *s, struct packing *ret)
{
	uint8_t head[12];
	if (s->size < sizeof head || image_read(i, s->offset, head, sizeof head) ||
	    memcmp(head, "ZLIB", 4) != 0)
		return 0; /* not compressed after all */
	ret->kind = PACK_ZLIB;
	ret->header = sizeof head;
	for (int k = 4; k < 12; k++)
		ret->size = ret->size << 8 | head[k];
	return 0;
}

struct unpack {
	const struct packing *packing;
	const uint8_t *src;
	size_t src_size;
	uint8_t *dst;
	void *state; /* z_stream or ZSTD_DCtx, freed by the caller whatever happens */
	int result;
};

static void unzlib_body(void *ctx)
{
	struct unpack *u = ctx;
	z_stream *z = u->state;
	size_t in = u->src_size, out = (size_t)u->packing->size;
	int rc = Z_OK;
	z->next_in = (Bytef *)(uintptr_t)u->src;
	z->next_out = u->dst;
	while (rc == Z_OK || rc == Z_BUF_ERROR) {
		if (z->avail_in == 0) {
			z->avail_in = in > UINT32_MAX ? UINT32_MAX : (uInt)in;
			in -= z->avail_in;
		}
		if (z->avail_out == 0) {
			z->avail_out = out > UINT32_MAX ? UINT32_MAX : (uInt)out;
			out -= z->avail_out;
		}
		if (z->avail_in == 0 && rc == Z_BUF_ERROR)
			break;
		if (z->avail_out == 0 && rc == Z_BUF_ERROR)
			break;
		rc = inflate(z, Z_NO_FLUSH);
	}
	u->result = rc == Z_STREAM_END && out == 0 && z->avail_out == 0 ? 0 : -EBADMSG;
}

static void unzstd_body(void *ctx)
{
	struct unpack *u = ctx;
	size_t n = ZSTD_decompressDCtx(u->state, u->dst, (size_t)u->packing->size, u->src,
				       u->src_size);
	u->result = !ZSTD_isError(n) && n == u->packing->size ? 0 : -EBADMSG;
}

static int unpack(const struct image *i, struct unpack *u)
{
	u->result = -EBADMSG;
	if (u->packing->kind == PACK_ZLIB) {
		z_stream z = {0};
		if (inflateInit(&z) != Z_OK)
			return -ENOMEM;
		u->state = &z;
		if (image_guarded(i, unzlib_body, u))
			u->result = -EFAULT;
		inflateEnd(&z);
	} else {
		ZSTD_DCtx *d = ZSTD_createDCtx();
		if (!d)
			return -ENOMEM;
		u->state = d;
		if (image_guarded(i, unzstd_body, u))
			u->result = -EFAULT;
		ZSTD_freeDCtx(d);
	}
	return u->result;
}

static bool explained(const struct packing *p, uint64_t packed)
{
	if (p->size > IMAGE_DATA_MAX)
		return false;
	if (p->kind == PACK_ZSTD && p->size <= ZSTD_MODEST)
		return p->size / ZSTD_RATIO <= packed;
	return p->size / DEFLATE_RATIO <= packed;
}

int image_section_data(const struct image *i, const struct image_section *s,
		       struct image_data *ret_data)
{
	struct packing p = {PACK_NONE, 0, 0};
	size_t size;
	const uint8_t *bytes = image_section_bytes(i, s, &size);
	if (!bytes)
		return -ENODATA;
	int rc = 0;
	if (s->flags & SHF_COMPRESSED)
		rc = read_chdr(i, s, &p);
	else if (strncmp(s->name, ".zdebug_", 8) == 0)
		rc = read_zdebug(i, s, &p);
	if (rc)
		return rc;
	if (p.kind == PACK_NONE) {
		*ret_data = (struct image_data){bytes, size, NULL};
		return 0;
	}
	if (p.kind == PACK_UNKNOWN)
		return -ENOTSUP;
	if (!explained(&p, size - p.header))
		return -EFBIG;
	uint8_t *dst = malloc(p.size ? p.size : 1);
	if (!dst)
		return -ENOMEM;
	struct unpack u = {&p, bytes + p.header, size - p.header, dst, NULL, 0};
	rc = unpack(i, &u);
	if (rc) {
		free(dst);
		return rc;
	}
	*ret_data = (struct image_data){dst, (size_t)p.size, dst};
	return 0;
}

void image_data_fini(struct image_data *d)
{
	free(d->owned);
	*d = (struct image_data){NULL, 0, NULL};
}

/* At most *size bytes of a section; objcopy compresses links with the other debug sections. */
static bool copy_small(const struct image *i, const char *name, uint8_t *copy, size_t *size)
{
	const struct image_section *s = image_section(i, name);
	struct image_data unpacked;
	size_t have;
	if (!s || !image_section_bytes(i, s, &have))
		return false;
	if (s->flags & SHF_COMPRESSED) {
		if (have > SMALL_PACKED || image_section_data(i, s, &unpacked))
			return false;
		*size = unpacked.size < *size ? unpacked.size : *size;
		memcpy(copy, unpacked.bytes, *size);
		image_data_fini(&unpacked);
		return true;
	}
	*size = have < *size ? have : *size;
	return image_read(i, s->offset, copy, *size) == 0;
}

/* The small sections: a NUL-terminated name with something after it. Copied, never borrowed. */
static bool read_link(const struct image *i, const char *section, char ret_name[256],
		      uint8_t *ret_rest, size_t *ret_rest_size, unsigned align)
{
	uint8_t copy[256 + 64];
	size_t size = sizeof copy;
	if (!copy_small(i, section, copy, &size))
		return false;
	const uint8_t *nul = memchr(copy, 0, size < 256 ? size : 256);
	if (!nul || nul == copy)
		return false;
	size_t rest = (size_t)(nul - copy) + 1;
	rest = (rest + align - 1) / align * align;
	if (rest > size)
		return false;
	memcpy(ret_name, copy, (size_t)(nul - copy) + 1);
	*ret_rest_size = size - rest < *ret_rest_size ? size - rest : *ret_rest_size;
	memcpy(ret_rest, copy + rest, *ret_rest_size);
	return true;
}

bool image_debuglink(const struct image *i, char ret_name[256], uint32_t *ret_crc)
{
	uint8_t crc[4];
	size_t size = sizeof crc;
	char name[256] = "";
	if (!read_link(i, ".gnu_debuglink", name, crc, &size, 4) || size < sizeof crc)
		return false;
	memcpy(ret_name, name, sizeof name);
	memcpy(ret_crc, crc, sizeof crc);
	return true;
}

/* DWARF 5's form of the same: version, whether this is the supplement, name, length and checksum.
 */
static bool read_sup(const struct image *i, bool supplement, char ret_name[256],
		     uint8_t ret_sum[32], uint8_t *ret_size)
{
	uint8_t copy[3 + 256 + 64] = {0};
	size_t size = sizeof copy;
	if (!copy_small(i, ".debug_sup", copy, &size) || size < 3 || copy[2] != supplement)
		return false;
	const uint8_t *name = copy + 3;
	const uint8_t *nul = memchr(name, 0, size - 3 < 256 ? size - 3 : 256);
	if (!nul || (!supplement && nul == name))
		return false;
	size_t left = size - (size_t)(nul + 1 - copy);
	if (left < 2 || nul[1] >= left || nul[1] == 0 || nul[1] > 32)
		return false;
	memcpy(ret_name, name, (size_t)(nul - name) + 1);
	memcpy(ret_sum, nul + 2, nul[1]);
	*ret_size = nul[1];
	return true;
}

bool image_altlink(const struct image *i, char ret_name[256], uint8_t ret_build_id[32],
		   uint8_t *ret_build_id_size)
{
	uint8_t id[32];
	size_t size = sizeof id;
	char name[256] = "";
	if (!read_link(i, ".gnu_debugaltlink", name, id, &size, 1) || size == 0)
		return read_sup(i, false, ret_name, ret_build_id, ret_build_id_size);
	memcpy(ret_name, name, sizeof name);
	memcpy(ret_build_id, id, size);
	*ret_build_id_size = (uint8_t)size;
	return true;
}

bool image_is_supplement(const struct image *i, const uint8_t *id, uint8_t size)
{
	char name[256];
	uint8_t sum[32], bytes;
	if (i->build_id_size == size && !memcmp(i->build_id, id, size))
		return true;
	if (read_sup(i, true, name, sum, &bytes))
		return bytes == size && !memcmp(sum, id, size);
	return !i->build_id_size;
}

uint8_t image_note_build_id(const void *notes, size_t size, unsigned align, uint8_t ret_id[32])
{
	const uint8_t *at = notes;
	while (size >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		memcpy(&n, at, sizeof n);
		uint64_t name = sizeof n, desc, next;
		desc = (name + n.n_namesz + align - 1) / align * align;
		next = (desc + n.n_descsz + align - 1) / align * align;
		if (desc > size || n.n_descsz > size - desc)
			return 0;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    memcmp(at + name, "GNU", 4) == 0 && n.n_descsz > 0) {
			uint8_t bytes = n.n_descsz < 32 ? (uint8_t)n.n_descsz : 32;
			memcpy(ret_id, at + desc, bytes);
			return bytes;
		}
		if (next >= size)
			return 0;
		at += next;
		size -= next;
	}
	return 0;
}
