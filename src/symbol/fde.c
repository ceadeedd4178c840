/*
 * fde: the binary search table of .eh_frame_hdr, read for function starts only.
 *
 * Linkers write one form of it: encoded as (udata4, datarel|sdata4). Others are not searched. The
 * entry itself tells how far the function reaches. Runs on the resolver thread, inside guards.
 */
#include "fde.h"

#include <string.h>

enum { PE_OMIT = 0xff, PE_UDATA4 = 0x03, PE_DATAREL_SDATA4 = 0x3b };

static bool u32_at(const struct image *image, uint64_t addr, uint32_t *ret_value)
{
	const uint8_t *p = image_at(image, addr, 4, NULL);

	if (p)
		memcpy(ret_value, p, 4);
	return p != NULL;
}

static uint64_t leb(const uint8_t **p, const uint8_t *end)
{
	uint64_t v = 0;

	for (unsigned shift = 0; *p < end; shift += 7) {
		uint8_t b = *(*p)++;

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			break;
	}
	return v;
}

/* How addresses are encoded in entries of the CIE at @addr ('R' of its augmentation), and whether
 * its code is where signal handlers return to ('S'). */
static uint8_t cie_encoding(const struct image *image, uint64_t addr, bool *ret_signal)
{
	uint32_t length = 0;
	const uint8_t *p, *end;
	const char *augmentation;

	if (!u32_at(image, addr, &length) || length < 9 || length >= 0xfffffff0 ||
	    !(p = image_at(image, addr + 4, length, NULL)))
		return PE_OMIT;
	end = p + length;
	augmentation = (const char *)p + 5;
	if (!memchr(augmentation, '\0', (size_t)(end - (const uint8_t *)augmentation)))
		return PE_OMIT;
	if (augmentation[0] != 'z')
		return 0; /* absolute */
	p = (const uint8_t *)augmentation + strlen(augmentation) + 1;
	leb(&p, end);
	leb(&p, end);
	if ((const uint8_t *)augmentation - 1 < end && *((const uint8_t *)augmentation - 1) == 1)
		p += p < end; /* version 1: the return register is one byte */
	else
		leb(&p, end);
	leb(&p, end);
	*ret_signal = strchr(augmentation, 'S') != NULL;
	for (const char *a = augmentation + 1; *a && p < end; a++) {
		if (*a == 'R')
			return *p;
		if (*a == 'L')
			p++;
		else if (*a == 'P')
			p += 1 + ((*p & 7) == 3 ? 4 : (*p & 7) == 2 ? 2 : 8);
		else if (*a != 'S' && *a != 'B' && *a != 'G')
			break;
	}
	return 0;
}

static uint64_t fde_length(const struct image *image, uint64_t fde, bool *ret_signal)
{
	uint32_t length, cie, size;
	const uint8_t *p;
	uint8_t encoding;
	uint64_t wide;

	if (!u32_at(image, fde, &length) || length >= 0xfffffff0 || !u32_at(image, fde + 4, &cie) ||
	    !cie)
		return 0;
	encoding = cie_encoding(image, fde + 4 - cie, ret_signal) & 0x0f;
	if (encoding == 0x03 || encoding == 0x0b) /* udata4, sdata4 */
		return u32_at(image, fde + 12, &size) ? size : 0;
	if (encoding != 0 && encoding != 0x04 && encoding != 0x0c)
		return 0;
	p = image_at(image, fde + (image->elf32 ? 12 : 16), 8, NULL);
	if (!p)
		return 0;
	memcpy(&wide, p, 8);
	return image->elf32 ? (uint32_t)wide : wide;
}

bool fde_find(const struct image *image, uint64_t addr, uint64_t *ret_start, uint64_t *ret_end,
	      bool *ret_signal)
{
	uint64_t hdr = image->eh_frame_hdr, start, length;
	const uint8_t *p = image_at(image, hdr, 12, NULL);
	uint32_t count, lo = 0, hi;
	int32_t entry[2];
	size_t avail;

	if (!image->eh_frame_hdr_size || !p || p[0] != 1 || p[1] == PE_OMIT || (p[1] & 7) != 3 ||
	    p[2] != PE_UDATA4 || p[3] != PE_DATAREL_SDATA4)
		return false;
	memcpy(&count, p + 8, 4);
	p = image_at(image, hdr + 12, 8, &avail);
	if (!p)
		return false;
	hi = count < avail / 8 ? count : (uint32_t)(avail / 8);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		memcpy(entry, p + (size_t)mid * 8, 8);
		if (hdr + (uint64_t)(int64_t)entry[0] <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	memcpy(entry, p + (size_t)(lo - 1) * 8, 8);
	start = hdr + (uint64_t)(int64_t)entry[0];
	*ret_signal = false;
	length = fde_length(image, hdr + (uint64_t)(int64_t)entry[1], ret_signal);
	if (addr < start || addr - start >= length || length > UINT64_MAX - start)
		return false;
	*ret_start = start;
	*ret_end = start + length;
	return true;
}
