/*
 * debugfile: the search for separate debug files.
 *
 * Paths are tried under --symfs alone when it is given; else under the target's root, so that a
 * container's own debug files are found, then under ours. Runs on the resolver thread, outside
 * guards: whatever is read here is read by image.h's guarded copies or into memory.
 */
#include "base/living.h"
#include "debugfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MINI_IN_MAX  (64u << 20)
#define MINI_OUT_MAX (256u << 20)
#define MINI_RATIO   64u
#define XZ_MEMORY    (128u << 20)
#define DWO_MAX      (256u << 20)

static int try_open(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

int debug_open_path(const struct debug_places *p, const char *path)
{
	char full[PATH_MAX];
	int fd;

	if (p->access->symfs) {
		snprintf(full, sizeof full, "%s/%s", p->access->symfs, path);
		return try_open(full);
	}
	if (p->access->live && p->pid > 0) {
		snprintf(full, sizeof full, "/proc/%d/root/%s", (int)living_thread(p->pid), path);
		fd = try_open(full);
		if (fd >= 0)
			return fd;
	}
	return try_open(path);
}

static struct image *open_image(const struct debug_places *p, const char *path)
{
	int fd = debug_open_path(p, path);
	struct image *image = NULL;

	if (fd < 0)
		return NULL;
	if (image_open(fd, 0, &image, NULL))
		image = NULL;
	close(fd);
	return image;
}

static struct image *open_checked(const struct debug_places *p, const char *path,
				  const uint8_t *build_id, uint8_t size)
{
	struct image *image = open_image(p, path);

	if (image && size && image->build_id_size &&
	    (image->build_id_size != size || memcmp(image->build_id, build_id, size) != 0)) {
		image_close(image);
		return NULL;
	}
	return image;
}

/* ---- by build id ---- */

static void hex(const uint8_t *bytes, size_t n, char *to)
{
	for (size_t i = 0; i < n; i++)
		sprintf(to + 2 * i, "%02x", bytes[i]);
	to[2 * n] = '\0';
}

/* The next directory of a colon-separated list; false at its end. */
static bool next_dir(const char **list, char dir[PATH_MAX])
{
	size_t len;

	while (**list == ':')
		++*list;
	len = strcspn(*list, ":");
	if (!len || len >= PATH_MAX)
		return false;
	memcpy(dir, *list, len);
	dir[len] = '\0';
	*list += len;
	return true;
}

static struct image *by_build_id(const struct debug_places *p, const uint8_t *id, uint8_t size)
{
	const char *home = getenv("HOME"), *cache = getenv("XDG_CACHE_HOME"), *list = p->dirs;
	char dir[PATH_MAX], path[2 * PATH_MAX], text[65];
	struct image *image = NULL;

	if (size < 2 || size > 32)
		return NULL;
	hex(id, size, text);
	while (!image && next_dir(&list, dir)) {
		snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug", dir, text, text + 2);
		image = open_checked(p, path, id, size);
	}
	/* perf's cache: the file itself, or its debug file. */
	for (int i = 0; !image && home && i < 2; i++) {
		snprintf(path, sizeof path, "%s/.debug/.build-id/%.2s/%s/%s", home, text, text + 2,
			 i ? "elf" : "debug");
		image = open_checked(p, path, id, size);
	}
	if (!image && p->downloads && (cache || home)) {
		snprintf(path, sizeof path, "%s%s/debuginfod_client/%s/debuginfo",
			 cache ? cache : home, cache ? "" : "/.cache", text);
		image = open_checked(p, path, id, size);
	}
	return image;
}

/* ---- by .gnu_debuglink ---- */

static bool crc_matches(const struct debug_places *p, const char *path, uint32_t want)
{
	int fd = debug_open_path(p, path);
	unsigned char piece[65536];
	uLong crc = crc32(0, NULL, 0);
	ssize_t n = -1;

	if (fd < 0)
		return false;
	while ((n = read(fd, piece, sizeof piece)) > 0)
		crc = crc32(crc, piece, (uInt)n);
	close(fd);
	return n == 0 && crc == want;
}

static void dir_of(const char *path, char dir[PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	snprintf(dir, PATH_MAX, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
}

static struct image *linked(const struct debug_places *p, const struct image *image,
			    const char *path, uint32_t crc)
{
	struct image *debug = open_checked(p, path, image->build_id, image->build_id_size);

	/* Equal build ids say more than a checksum, and cost less. */
	if (debug && !(image->build_id_size && debug->build_id_size) &&
	    !crc_matches(p, path, crc)) {
		image_close(debug);
		return NULL;
	}
	return debug;
}

static struct image *by_debuglink(const struct debug_places *p, const struct image *image)
{
	char name[256], dir[PATH_MAX], debug_dir[PATH_MAX], path[3 * PATH_MAX];
	const char *list = p->dirs;
	struct image *debug = NULL;
	uint32_t crc;

	if (!image_debuglink(image, name, &crc) || strchr(name, '/'))
		return NULL;
	dir_of(p->path, dir);
	for (int i = 0; !debug && i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s%s", dir, i ? ".debug/" : "", name);
		if (strcmp(path, p->path) != 0)
			debug = linked(p, image, path, crc);
	}
	while (!debug && next_dir(&list, debug_dir)) {
		snprintf(path, sizeof path, "%s/%s/%s", debug_dir, dir, name);
		debug = linked(p, image, path, crc);
	}
	return debug;
}

struct image *debug_find(const struct debug_places *p, const struct image *image,
			 const char *fetched)
{
	static const struct module_access here;
	struct debug_places ours = *p;
	struct image *debug = NULL;

	ours.access = &here;
	if (fetched)
		debug = open_checked(&ours, fetched, image->build_id, image->build_id_size);
	if (!debug)
		debug = by_build_id(p, image->build_id, image->build_id_size);
	return debug ? debug : by_debuglink(p, image);
}

static struct image *open_supplement(const struct debug_places *p, const char *path,
				     const uint8_t *id, uint8_t size)
{
	struct image *image = open_image(p, path);

	if (image && !image_is_supplement(image, id, size)) {
		image_close(image);
		return NULL;
	}
	return image;
}

struct image *debug_find_alt(const struct debug_places *p, const struct image *image)
{
	char name[256], dir[PATH_MAX], path[2 * PATH_MAX];
	struct image *alt = NULL;
	const char *list = p->dirs;
	uint8_t id[32], size;

	if (!image_altlink(image, name, id, &size))
		return NULL;
	if (name[0] == '/')
		alt = open_supplement(p, name, id, size);
	if (!alt)
		alt = by_build_id(p, id, size);
	dir_of(p->path, dir);
	if (!alt && name[0] != '/') {
		snprintf(path, sizeof path, "%s/%s", dir, name);
		alt = open_supplement(p, path, id, size);
	}
	/* Relative to the debug file in .build-id/xx/: ../../.dwz/name. */
	while (!alt && strstr(name, ".dwz/") && next_dir(&list, dir)) {
		snprintf(path, sizeof path, "%s/%s", dir, strstr(name, ".dwz/"));
		alt = open_supplement(p, path, id, size);
	}
	return alt;
}

struct image *debug_find_package(const struct debug_places *p, const struct image *image)
{
	char path[PATH_MAX + 8], id[65], dir[PATH_MAX];
	const char *list = p->dirs;
	struct image *package;

	snprintf(path, sizeof path, "%s.dwp", p->path);
	package = open_image(p, path);
	if (package || image->build_id_size < 2)
		return package;
	hex(image->build_id, image->build_id_size, id);
	while (!package && next_dir(&list, dir)) {
		char by_id[2 * PATH_MAX];

		snprintf(by_id, sizeof by_id, "%s/.build-id/%.2s/%s.dwp", dir, id, id + 2);
		package = open_image(p, by_id);
	}
	return package;
}

/* ---- .gnu_debugdata ---- */

static uint8_t *unxz(const uint8_t *in, size_t size, size_t *ret_size)
{
	lzma_stream z = LZMA_STREAM_INIT;
	size_t cap = size * 4 + 65536, max = size * MINI_RATIO + (1u << 20);
	uint8_t *out = NULL;
	lzma_ret rc = LZMA_OK;

	if (max > MINI_OUT_MAX)
		max = MINI_OUT_MAX;
	if (lzma_stream_decoder(&z, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
		return NULL;
	z.next_in = in;
	z.avail_in = size;
	while (rc == LZMA_OK && z.total_out < max) {
		uint8_t *more = realloc(out, cap);

		if (!more)
			break;
		out = more;
		z.next_out = out + z.total_out;
		z.avail_out = cap - z.total_out;
		rc = lzma_code(&z, LZMA_FINISH);
		cap = cap > max / 2 ? max : cap * 2;
	}
	*ret_size = z.total_out;
	lzma_end(&z);
	if (rc != LZMA_STREAM_END) {
		free(out);
		return NULL;
	}
	return out;
}

struct image *debug_unpack_mini(const struct image *image)
{
	const struct image_section *s = image_section(image, ".gnu_debugdata");
	struct image *mini = NULL;
	uint8_t *in, *out = NULL;
	size_t size = 0;

	if (!s || s->type == SHT_NOBITS || !s->size || s->size > MINI_IN_MAX ||
	    s->size > image->size || !(in = malloc(s->size)))
		return NULL;
	if (!image_read(image, s->offset, in, s->size))
		out = unxz(in, s->size, &size);
	free(in);
	if (out && image_take_bytes(out, size, &mini, NULL))
		mini = NULL; /* image_take_bytes freed the bytes */
	return mini;
}

/* ---- .dwo ---- */

static bool read_bytes(int fd, uint8_t *to, uint64_t from, uint64_t end)
{
	while (from < end) {
		ssize_t n = pread(fd, to + from, end - from, (off_t)from);

		if (n <= 0)
			return false;
		from += (uint64_t)n;
	}
	return true;
}

/* All of it save where variables are, which may be a third: that stays zeros, and takes no memory.
 */
static struct image *read_whole(int fd)
{
	struct image *mapped = NULL, *image = NULL;
	uint64_t at = 0, size;
	uint8_t *bytes = NULL;
	bool whole = true;

	if (image_open(fd, 0, &mapped, NULL))
		return NULL;
	size = mapped->size;
	if (size <= DWO_MAX)
		bytes = calloc(1, size);
	for (uint32_t i = 0; bytes && whole && i < mapped->nsections; i++) {
		const struct image_section *s = &mapped->sections[i];

		if (strncmp(s->name, ".debug_loc", 10) != 0 || s->offset < at || s->offset > size ||
		    s->size > size - s->offset)
			continue;
		whole = read_bytes(fd, bytes, at, s->offset);
		at = s->offset + s->size;
	}
	image_close(mapped);
	if (bytes && whole && read_bytes(fd, bytes, at, size)) {
		(void)image_take_bytes(bytes, size, &image, NULL);
		return image;
	}
	free(bytes);
	return NULL;
}

struct image *debug_open_dwo(const struct debug_places *p, const char *comp_dir, const char *name)
{
	char path[3 * PATH_MAX], dir[PATH_MAX];
	const char *slash = strrchr(name, '/');
	struct image *image;
	int fd;

	if (name[0] == '/' || !comp_dir)
		snprintf(path, sizeof path, "%s", name);
	else
		snprintf(path, sizeof path, "%s/%s", comp_dir, name);
	fd = debug_open_path(p, path);
	if (fd < 0) { /* moved along with the program */
		dir_of(p->path, dir);
		snprintf(path, sizeof path, "%s/%s", dir, slash ? slash + 1 : name);
		fd = debug_open_path(p, path);
	}
	if (fd < 0)
		return NULL;
	image = read_whole(fd);
	close(fd);
	return image;
}
