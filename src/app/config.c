/*
 * config: the config file, by inih.
 *
 * The command line was parsed before it and wins (options_set). Values live in the options' arena.
 * Main thread.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "xdg.h"

#define BYTES_MAX (1u << 20) /* longer is no config file: a log, /dev/zero */

struct reading {
	struct options *o;
	const char *from, *to; /* of [source] */
	struct err err;        /* of the first bad line */
	bool bad;
};

static int add_key(struct options *o, const char *action, const char *key)
{
	char *text = arena_printf(&o->texts, "%s=%s", action, key);
	const char **grown = realloc((void *)o->keys, (o->nkeys + 2) * sizeof *grown);

	if (grown)
		o->keys = grown;
	if (!grown || !text)
		return -ENOMEM;
	grown[o->nkeys++] = text;
	grown[o->nkeys] = NULL;
	return 0;
}

static int set_source(struct reading *r, const char *name, const char *value, struct err *err)
{
	if (!strcmp(name, "from"))
		r->from = value;
	else if (!strcmp(name, "to"))
		r->to = value;
	else
		return err_set(err, EINVAL, "[source] knows from and to, not %s", name);
	return 0;
}

/* inih: nonzero goes on. */
static int on_line(void *ctx, const char *section, const char *name, const char *value)
{
	struct reading *r = ctx;
	const char *kept = arena_strdup(&r->o->texts, value ? value : "");
	struct err err;
	int rc;

	if (r->bad)
		return 0;
	if (!kept)
		rc = err_set(&err, ENOMEM, "out of memory");
	else if (!strcmp(section, "options"))
		rc = options_set(r->o, name, kept, &err);
	else if (!strcmp(section, "keys"))
		rc = add_key(r->o, name, kept) ? err_set(&err, ENOMEM, "out of memory") : 0;
	else if (!strcmp(section, "source"))
		rc = set_source(r, name, kept, &err);
	else
		rc = err_set(&err, EINVAL,
			     "there are sections [options], [keys] and [source], not [%s]",
			     section);
	if (rc) {
		r->bad = true;
		r->err = err;
	}
	return rc == 0;
}

/* The whole of @fd as a string, which the caller frees; NULL: errno says why not. */
static char *read_text(int fd)
{
	char *text = malloc(BYTES_MAX + 1);
	size_t len = 0;
	ssize_t n = 0;

	while (text && len <= BYTES_MAX && (n = read(fd, text + len, BYTES_MAX + 1 - len)) > 0)
		len += (size_t)n;
	if (text && n >= 0 && len <= BYTES_MAX && !memchr(text, '\0', len)) {
		text[len] = '\0';
		return text;
	}
	if (text && n >= 0)
		errno = len > BYTES_MAX ? EFBIG : EILSEQ;
	int no = errno;
	free(text);
	errno = no;
	return NULL;
}

int config_load(struct options *o, const char *path, struct err *err)
{
	struct reading r = {.o = o};
	/* Not to hang where somebody made it a FIFO. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char *text = fd < 0 ? NULL : read_text(fd);
	int no = errno;

	if (fd >= 0)
		close(fd);
	if (!text) {
		struct stat st;
		/* In a directory that may not even be looked into (another user's) nothing is ours.
		 */
		if (no == ENOENT || no == ENOTDIR || (no == EACCES && stat(path, &st)))
			return 0;
		return err_set(err, no, "cannot read %s: %s", path,
			       no == EILSEQ ? "it is no text" : strerror(no));
	}
	int line = ini_parse_string(text, on_line, &r);
	free(text);
	if (r.bad)
		return err_set(err, EINVAL, "%s:%d: %s", path, line, r.err.msg);
	if (line)
		return err_set(err, EINVAL, "%s:%d: neither [section] nor name = value", path,
			       line);
	if (!r.from != !r.to)
		return err_set(err, EINVAL, "%s: [source] needs both from and to", path);
	if (!o->path_from) {
		o->path_from = r.from;
		o->path_to = r.to;
	}
	return 0;
}

int config_load_default(struct options *o, struct err *err)
{
	char path[PATH_MAX];

	return xdg_config("config", path, sizeof path) ? 0 : config_load(o, path, err);
}
