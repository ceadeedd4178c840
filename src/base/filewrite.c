/*
 * filewrite: writing snapshots so that a full disk or a crash never costs an older file.
 *
 * Runs on the jobs thread or in batch mode. Not replacing is decided twice: early, so that nothing
 * is computed in vain, and by RENAME_NOREPLACE (or a hard link where the file system has none) at
 * the end, so that a file that appeared meanwhile survives.
 */
#include "base/filewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES 65536

static int exists(struct err *err, const char *path)
{
	return err_set(err, EEXIST, "%s exists already: choose another name or replace it", path);
}

static int cannot(struct err *err, int no, const char *path)
{
	return err_set(err, no, "cannot write %s: %s", path, strerror(no));
}

/* The real file behind @path: links followed as far as they lead. */
static int find_target(struct filewrite *w, const char *path, struct err *err)
{
	if (!*path)
		return err_set(err, ENOENT, "cannot write a file without a name");
	if (realpath(path, w->path))
		return 0;
	if (errno != ENOENT)
		return cannot(err, errno, path);
	char link[PATH_MAX];
	if (readlink(path, link, sizeof link) >= 0)
		return err_set(err, ENOENT, "cannot write %s: the link leads nowhere", path);
	if (snprintf(w->path, sizeof w->path, "%s", path) >= (int)sizeof w->path)
		return cannot(err, ENAMETOOLONG, path);
	return 0;
}

static int open_temp(struct filewrite *w, mode_t mode, struct err *err)
{
	const char *slash = strrchr(w->path, '/');
	int dir = slash ? (int)(slash - w->path) + 1 : 0;
	if (snprintf(w->temp, sizeof w->temp, "%.*s.altpttop-XXXXXX", dir, w->path) >=
	    (int)sizeof w->temp) {
		w->temp[0] = 0;
		return cannot(err, ENAMETOOLONG, w->path);
	}
	w->fd = mkostemp(w->temp, O_CLOEXEC);
	if (w->fd < 0) {
		int no = errno;
		w->temp[0] = 0;
		return cannot(err, no, w->path);
	}
	if (fchmod(w->fd, mode))
		w->failed = errno;
	return 0;
}

static mode_t default_mode(void)
{
	/* The umask can only be read by setting it, which would race with other threads. */
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	unsigned mask = 022;
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "Umask: %o", &mask) == 1)
			break;
	if (f)
		fclose(f);
	return 0666 & ~mask;
}

int filewrite_open(struct filewrite *w, const char *path, bool replace, struct err *err)
{
	*w = (struct filewrite){.fd = -1, .replace = replace};
	int rc = find_target(w, path, err);
	if (rc)
		return rc;
	w->buffer = malloc(BUFFER_BYTES);
	if (!w->buffer)
		return cannot(err, ENOMEM, path);

	struct stat st;
	bool there = !stat(w->path, &st);
	if (there && S_ISDIR(st.st_mode)) {
		rc = cannot(err, EISDIR, path);
	} else if (there && !S_ISREG(st.st_mode)) {
		w->fd = open(w->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		rc = w->fd < 0 ? cannot(err, errno, path) : 0;
	} else if (there && !replace) {
		rc = exists(err, path);
	} else {
		rc = open_temp(w, there ? st.st_mode & 0777 : default_mode(), err);
	}
	if (rc)
		filewrite_abort(w);
	return rc;
}

static void write_out(struct filewrite *w, const unsigned char *data, size_t len)
{
	while (len && !w->failed) {
		ssize_t n = write(w->fd, data, len);
		if (n < 0 && errno != EINTR)
			w->failed = errno;
		if (n <= 0)
			continue;
		data += n;
		len -= (size_t)n;
		w->bytes += (unsigned long long)n;
	}
}

static void flush(struct filewrite *w)
{
	write_out(w, w->buffer, w->used);
	w->used = 0;
}

void filewrite_add(struct filewrite *w, const void *data, size_t len)
{
	if (w->failed || w->fd < 0)
		return;
	if (len > BUFFER_BYTES - w->used)
		flush(w);
	if (len >= BUFFER_BYTES) {
		write_out(w, data, len);
		return;
	}
	if (len)
		memcpy(w->buffer + w->used, data, len);
	w->used += len;
}

/* rename, never onto an existing file. */
static int rename_fresh(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (link(from, to))
		return -1;
	return unlink(from);
}

int filewrite_commit(struct filewrite *w, struct err *err)
{
	if (w->fd < 0)
		return err_set(err, EBADF, "no file is open for writing");
	flush(w);
	if (!w->failed && w->temp[0] && fsync(w->fd))
		w->failed = errno;
	if (close(w->fd) && !w->failed)
		w->failed = errno;
	w->fd = -1;
	if (!w->failed && w->temp[0]) {
		if (w->replace ? rename(w->temp, w->path) : rename_fresh(w->temp, w->path))
			w->failed = errno;
		else
			w->temp[0] = 0;
	}

	int rc = 0;
	if (w->failed == EEXIST)
		rc = exists(err, w->path);
	else if (w->failed == ENOSPC || w->failed == EDQUOT)
		rc = err_set(err, w->failed, "cannot write %s: %s after %llu KiB%s", w->path,
			     strerror(w->failed), w->bytes / 1024,
			     w->temp[0] ? "; nothing was changed" : "");
	else if (w->failed)
		rc = cannot(err, w->failed, w->path);
	filewrite_abort(w);
	return rc;
}

void filewrite_abort(struct filewrite *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	if (w->temp[0])
		unlink(w->temp);
	w->temp[0] = 0;
	free(w->buffer);
	w->buffer = NULL;
}

int filewrite_all(const char *path, bool replace, const void *data, size_t len, struct err *err)
{
	struct filewrite w;
	int rc = filewrite_open(&w, path, replace, err);
	if (rc)
		return rc;
	filewrite_add(&w, data, len);
	return filewrite_commit(&w, err);
}
