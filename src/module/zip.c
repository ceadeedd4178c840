/*
 * zip: walks a zip archive's central directory for members that are stored, not compressed.
 *
 * Shapes: PKWARE APPNOTE 4.3.7 (local header), 4.3.12 (central header), 4.3.16 (end record). Zip64
 * is not needed: Android refuses it for code. Archives of more than DIRECTORY_MAX are refused.
 */
#include "module/zip.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY_MAX (64u << 20)
#define END_BYTES     22u
#define CENTRAL_BYTES 46u
#define LOCAL_BYTES   30u

static uint32_t le(const uint8_t *p, unsigned bytes)
{
	uint32_t v = 0;
	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

static bool read_at(int fd, void *dst, size_t bytes, uint64_t offset)
{
	return pread(fd, dst, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* The end record lies in the last 22 bytes plus a comment of at most 64 KiB. */
static int find_directory(int fd, uint64_t size, uint32_t *ret_offset, uint32_t *ret_bytes)
{
	size_t tail = size < END_BYTES + 65535u ? (size_t)size : END_BYTES + 65535u;
	uint8_t *buf = malloc(tail + 1);
	int rc = -EBADMSG;
	if (!buf)
		return -ENOMEM;
	if (tail < END_BYTES || !read_at(fd, buf, tail, size - tail))
		goto out;
	for (size_t at = tail - END_BYTES + 1; at-- > 0;) {
		if (memcmp(buf + at, "PK\5\6", 4) != 0)
			continue;
		*ret_bytes = le(buf + at + 12, 4);
		*ret_offset = le(buf + at + 16, 4);
		if (*ret_bytes <= DIRECTORY_MAX && (uint64_t)*ret_offset + *ret_bytes <= size)
			rc = 0;
		break;
	}
out:
	free(buf);
	return rc;
}

/* Where a member's bytes begin is known only from its local header. */
static bool locate(int fd, const uint8_t *central, uint64_t size, struct zip_member *m)
{
	uint8_t local[LOCAL_BYTES];
	uint64_t at = le(central + 42, 4);
	if (!read_at(fd, local, sizeof local, at) || memcmp(local, "PK\3\4", 4) != 0)
		return false;
	m->size = le(central + 20, 4);
	m->offset = at + LOCAL_BYTES + le(local + 26, 2) + le(local + 28, 2);
	return m->offset <= size && m->size <= size - m->offset;
}

struct wanted {
	const char *name; /* NULL: by offset */
	uint64_t offset;
};

static bool matches(int fd, const uint8_t *central, uint64_t size, const struct wanted *w,
		    struct zip_member *m)
{
	uint32_t name = le(central + 28, 2), start = le(central + 42, 4);
	if (le(central + 10, 2) != 0 || name == 0 || name >= ZIP_NAME)
		return false; /* compressed, or a name that no library has */
	if (w->name) {
		if (strlen(w->name) != name || memcmp(w->name, central + CENTRAL_BYTES, name) != 0)
			return false;
	} else if (w->offset < start ||
		   w->offset - start > (uint64_t)le(central + 20, 4) + 131100) {
		return false; /* beyond header, name, extra field and data: spare the read */
	}
	memcpy(m->name, central + CENTRAL_BYTES, name);
	m->name[name] = 0;
	if (!locate(fd, central, size, m))
		return false;
	return w->name || (w->offset >= m->offset && w->offset - m->offset < m->size);
}

static int find(int fd, const struct wanted *w, struct zip_member *ret_member)
{
	struct stat st;
	struct zip_member m;
	uint32_t offset = 0, bytes = 0;
	if (fstat(fd, &st))
		return -errno;
	int rc = find_directory(fd, (uint64_t)st.st_size, &offset, &bytes);
	if (rc)
		return rc;
	uint8_t *dir = malloc(bytes + 1);
	if (!dir)
		return -ENOMEM;
	rc = -EBADMSG;
	if (!read_at(fd, dir, bytes, offset))
		goto out;
	rc = -ENOENT;
	for (size_t at = 0; bytes - at >= CENTRAL_BYTES;) {
		const uint8_t *c = dir + at;
		size_t all = CENTRAL_BYTES + le(c + 28, 2) + le(c + 30, 2) + le(c + 32, 2);
		if (memcmp(c, "PK\1\2", 4) != 0 || all > bytes - at)
			break;
		if (matches(fd, c, (uint64_t)st.st_size, w, &m)) {
			*ret_member = m;
			rc = 0;
			break;
		}
		at += all;
	}
out:
	free(dir);
	return rc;
}

int zip_by_name(int fd, const char *name, struct zip_member *ret_member)
{
	return find(fd, &(struct wanted){name, 0}, ret_member);
}

int zip_by_offset(int fd, uint64_t offset, struct zip_member *ret_member)
{
	return find(fd, &(struct wanted){NULL, offset}, ret_member);
}
