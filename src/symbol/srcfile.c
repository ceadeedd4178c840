/*
 * srcfile: reading source text from disk for listings.
 *
 * Paths in DWARF are those of the machine that built the program; one substitution (from the
 * command line or the config file) moves them. Runs on the resolver thread.
 */
#include "srcfile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE_MAX (32u << 20)

static int open_source(const struct debug_places *places, const char *path, const char *from,
		       const char *to)
{
	char moved[PATH_MAX];
	size_t len = from ? strlen(from) : 0;
	struct debug_places ours = *places;
	struct module_access access = {0};
	int fd = -ENOENT;

	if (len && to && !strncmp(path, from, len)) {
		snprintf(moved, sizeof moved, "%s%s", to, path + len);
		ours.access = &access; /* the person named a place on this machine */
		fd = debug_open_path(&ours, moved);
	}
	if (fd < 0 && path[0] == '/')
		fd = debug_open_path(places, path);
	if (fd < 0 && path[0] == '/' && places->access->symfs) {
		ours.access = &access;
		fd = debug_open_path(&ours, path);
	}
	return fd;
}

static uint32_t count_lines(const char *text, size_t size)
{
	uint32_t n = 0;

	for (size_t i = 0; i < size; i++)
		n += text[i] == '\n';
	return n + (size && text[size - 1] != '\n');
}

static int split(char *text, size_t size, struct arena *arena, struct srcfile *f)
{
	uint32_t n = count_lines(text, size), at = 0;
	bool fresh = true;

	f->lines = arena_alloc(arena, (n + 1) * sizeof *f->lines);
	if (!f->lines)
		return -ENOMEM;
	for (size_t i = 0; i < size; i++) {
		if (fresh)
			f->lines[at++] = text + i;
		fresh = text[i] == '\n';
		if (fresh)
			text[i] = '\0';
		else if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
			text[i] = ' ';
	}
	f->nlines = at;
	return 0;
}

int srcfile_read(const struct debug_places *places, const char *path, const char *from,
		 const char *to, struct arena *arena, struct srcfile *ret_file)
{
	int fd = open_source(places, path, from, to), rc = 0;
	struct srcfile f = {0};
	struct stat st;
	size_t got = 0;
	ssize_t n = 0;
	char *text;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		rc = -errno;
	else if (st.st_size > SOURCE_MAX)
		rc = -EFBIG;
	text = rc ? NULL : arena_alloc(arena, (size_t)st.st_size + 1);
	if (!rc && !text)
		rc = -ENOMEM;
	while (!rc && got < (size_t)st.st_size &&
	       (n = read(fd, text + got, (size_t)st.st_size - got)) > 0)
		got += (size_t)n;
	if (n < 0)
		rc = -errno;
	close(fd);
	if (!rc)
		rc = split(text, got, arena, &f);
	if (rc)
		return rc;
	f.modified = st.st_mtime;
	*ret_file = f;
	return 0;
}
