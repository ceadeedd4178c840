/*
 * maps: parses the text of /proc/PID/maps.
 *
 * The kernel writes "start-end perms offset major:minor inode   path", pads before the path, and
 * escapes only newlines in it (seq_path: \012), so spaces and everything else arrive raw. Whoever
 * keeps mappings (space.c) decides what a line means; here is only syntax.
 */
#include "base/living.h"
#include "proc/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAPS_TEXT_MAX (256u << 20) /* about 2.5 million lines: nobody honest has more */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Hexadecimal or decimal number at *@p, at least one digit, no overflow; moves *@p past it. */
static bool parse_number(const char **p, const char *end, unsigned base, uint64_t *ret)
{
	const char *start = *p;
	uint64_t v = 0;

	for (; *p < end; ++*p) {
		int d = hex_digit(**p);

		if (d < 0 || (unsigned)d >= base)
			break;
		if (__builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)d, &v))
			return false;
	}
	*ret = v;
	return *p > start;
}

static bool parse_char(const char **p, const char *end, char c)
{
	if (*p >= end || **p != c)
		return false;
	++*p;
	return true;
}

static bool parse_perms(const char **p, const char *end, struct maps_line *l)
{
	const char *s = *p;

	if (end - s < 4)
		return false;
	l->prot = (s[0] == 'r' ? PROT_READ : 0) | (s[1] == 'w' ? PROT_WRITE : 0) |
		  (s[2] == 'x' ? PROT_EXEC : 0);
	l->shared = s[3] == 's';
	*p += 4;
	return true;
}

/* The name, with the kernel's one escape undone; too long a name is cut. */
static void copy_path(struct maps_line *l, const char *p, const char *end)
{
	size_t n = 0;

	while (p < end && n + 1 < sizeof l->path) {
		if (end - p >= 4 && memcmp(p, "\\012", 4) == 0) {
			l->path[n++] = '\n';
			p += 4;
		} else {
			l->path[n++] = *p++;
		}
	}
	l->path[n] = '\0';
	l->deleted = maps_cut_deleted(l->path);
}

static bool parse_line(const char *p, const char *end, struct maps_line *l)
{
	uint64_t major, minor;

	if (!parse_number(&p, end, 16, &l->start) || !parse_char(&p, end, '-') ||
	    !parse_number(&p, end, 16, &l->end) || !parse_char(&p, end, ' ') ||
	    !parse_perms(&p, end, l) || !parse_char(&p, end, ' ') ||
	    !parse_number(&p, end, 16, &l->pgoff) || !parse_char(&p, end, ' ') ||
	    !parse_number(&p, end, 16, &major) || !parse_char(&p, end, ':') ||
	    !parse_number(&p, end, 16, &minor) || !parse_char(&p, end, ' ') ||
	    !parse_number(&p, end, 10, &l->inode))
		return false;
	if (l->start >= l->end || major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	l->dev_major = (uint32_t)major;
	l->dev_minor = (uint32_t)minor;
	while (p < end && *p == ' ')
		p++;
	copy_path(l, p, end);
	return true;
}

bool maps_next(const char **text, const char *end, struct maps_line *ret_line)
{
	while (*text < end) {
		const char *line = *text;
		const char *nl = memchr(line, '\n', (size_t)(end - line));
		const char *stop = nl ? nl : end;

		*text = nl ? nl + 1 : end;
		if (parse_line(line, stop, ret_line))
			return true;
	}
	return false;
}

bool maps_cut_deleted(char *path)
{
	static const char suffix[] = " (deleted)";
	size_t len = strlen(path), n = sizeof suffix - 1;

	if (len <= n || strcmp(path + len - n, suffix) != 0)
		return false;
	path[len - n] = '\0';
	return true;
}

static bool starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

enum maps_name maps_name_kind(const char *path)
{
	static const struct {
		const char *prefix;
		enum maps_name kind;
	} names[] = {
		{"//anon", MAPS_ANON},
		{"[anon", MAPS_ANON}, /* [anon:NAME], [anon_shmem:NAME] */
		{"[heap]", MAPS_ANON},
		{"[stack", MAPS_STACK},
		{"[vdso", MAPS_VDSO}, /* [vdso], [vdso32] */
		{"[", MAPS_SPECIAL},
		{"/memfd:", MAPS_MEMFD},
		{"/SYSV", MAPS_MEMFD},
		{"/dev/zero", MAPS_MEMFD},
		{"/anon_hugepage", MAPS_MEMFD},
		{"anon_inode:", MAPS_MEMFD},
	};

	if (!*path)
		return MAPS_ANON;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (starts(path, names[i].prefix))
			return names[i].kind;
	return MAPS_FILE;
}

static int read_all(int fd, char **ret_text, size_t *ret_len)
{
	size_t cap = 64 << 10, len = 0;
	char *text = malloc(cap);

	while (text) {
		ssize_t n = read(fd, text + len, cap - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int no = errno;

			free(text);
			return -no;
		}
		if (n == 0) {
			*ret_text = text;
			*ret_len = len;
			return 0;
		}
		len += (size_t)n;
		if (len == cap) {
			char *more = cap < MAPS_TEXT_MAX ? realloc(text, cap * 2) : NULL;

			if (!more)
				free(text);
			text = more;
			cap *= 2;
		}
	}
	return -ENOMEM;
}

int maps_read(pid_t pid, char **ret_text, size_t *ret_len, struct err *err)
{
	char name[64];
	int fd, rc;

	snprintf(name, sizeof name, "/proc/%d/maps", (int)living_thread(pid));
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		int no = errno == ENOENT ? ESRCH : errno;

		return err_set(err, no,
			       no == ESRCH ? "process %d does not exist"
					   : "the mappings of process %d cannot be read",
			       pid);
	}
	rc = read_all(fd, ret_text, ret_len);
	close(fd);
	if (rc == -ESRCH)
		return err_set(err, ESRCH, "process %d is gone", pid);
	if (rc)
		return err_set(err, -rc, "reading the mappings of process %d: %s", pid,
			       strerror(-rc));
	return 0;
}
