/*
 * filewrite: a file that appears whole or not at all.
 *
 * The text goes to a temporary file beside the target, which is synced and renamed at the end.
 * Through a symbolic link the linked file is replaced. A target that exists and is no regular file
 * (/dev/null, a pipe) is written in place. One thread at a time.
 */
#ifndef ALTPTTOP_FILEWRITE_H
#define ALTPTTOP_FILEWRITE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct filewrite {
	char path[PATH_MAX]; /* where it will be */
	char temp[PATH_MAX]; /* "" when written in place */
	bool replace;
	int fd;
	int failed; /* first errno, 0 none */
	unsigned char *buffer;
	size_t used;
	unsigned long long bytes; /* written so far */
};

/* -EEXIST when @path is there and !replace; else 0 or -errno, all with a sentence. */
int filewrite_open(struct filewrite *w, const char *path, bool replace, struct err *err);
/* Buffered. After a failure it does nothing: the error is told by filewrite_commit. */
void filewrite_add(struct filewrite *w, const void *data, size_t len);
/* Bring it into place. On failure (a full disk …) the old file is untouched, the new one is gone.
 */
int filewrite_commit(struct filewrite *w, struct err *err);
void filewrite_abort(struct filewrite *w); /* instead of a commit; also fine after one */

/* All of it at once. */
int filewrite_all(const char *path, bool replace, const void *data, size_t len, struct err *err);

#endif
