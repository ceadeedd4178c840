/*
 * stream: a recording's bytes through a chain of layers: file → gzip/zstd/xz (at most two) → UTF-8.
 *
 * Each layer pulls from the one below into a buffer of fixed size, so memory does not depend on the
 * file. The wrapper layers live in unwrap.c; this file holds the buffer that readers look into. One
 * thread.
 */
#include "codec/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "codec/unwrap.h"

#define BUFFER_BYTES (2u * STREAM_PEEK_MAX)
#define CHUNK_BYTES  (256u << 10)
#define LITTLE_BYTES 1024u

struct stream {
	struct layer file; /* the lowest layer: reads fd or memory */
	struct layer *top;
	struct layer *unwrapped[UNWRAP_DEPTH];
	unsigned depth;
	int fd, temporary_fd, directory; /* that a recording of several files lies in, or -1 */
	bool regular;
	const uint8_t *memory;
	size_t memory_len;
	uint64_t done, size, offset, written_ns;
	uint8_t *buf;
	size_t pos, end;
	bool ended, memory_source;
	bool skip_line; /* the rest of a line that was cut */
	bool open_line; /* the last one had no end */
	char wrapper[32];
	char damage[256];
};

static ssize_t file_read(struct layer *l, uint8_t *buf, size_t n)
{
	struct stream *s = l->state;
	ssize_t got;
	if (s->memory_source) {
		got = (ssize_t)(n < s->memory_len - s->done ? n : s->memory_len - s->done);
		if (got > 0)
			memcpy(buf, s->memory + s->done, (size_t)got);
	} else {
		do
			got = read(s->fd, buf, n);
		while (got < 0 && errno == EINTR);
		if (got < 0) {
			snprintf(s->damage, sizeof s->damage, "reading stopped at byte %llu: %s",
				 (unsigned long long)s->done, strerror(errno));
			return -EIO;
		}
	}
	s->done += (uint64_t)got;
	return got;
}

/* One read from the top layer. 0: the end, or damage. */
static size_t read_top(struct stream *s, uint8_t *buf, size_t n)
{
	ssize_t got = s->ended ? 0 : s->top->read(s->top, buf, n);
	if (got > 0)
		return (size_t)got;
	s->ended = true;
	for (unsigned i = 0; i < s->depth && !s->damage[0]; i++)
		if (s->unwrapped[i]->damage[0])
			snprintf(s->damage, sizeof s->damage, "%s", s->unwrapped[i]->damage);
	return 0;
}

/* One read into the buffer's free end. */
static bool fill(struct stream *s)
{
	bool little = s->end - s->pos <=
		      LITTLE_BYTES; /* the buffer's begin is nearest to the CPU */
	if (s->pos && (little || BUFFER_BYTES - s->end < CHUNK_BYTES)) {
		memmove(s->buf, s->buf + s->pos, s->end - s->pos);
		s->end -= s->pos;
		s->pos = 0;
	}
	size_t room = BUFFER_BYTES - s->end;
	size_t got = room ? read_top(s, s->buf + s->end, room < CHUNK_BYTES ? room : CHUNK_BYTES)
			  : 0;
	s->end += got;
	return got;
}

size_t stream_peek(struct stream *s, size_t want, const uint8_t **ret_data)
{
	if (want > STREAM_PEEK_MAX)
		want = STREAM_PEEK_MAX;
	while (s->end - s->pos < want && fill(s))
		;
	*ret_data = s->buf + s->pos;
	return s->end - s->pos;
}

void stream_skip(struct stream *s, size_t n)
{
	if (n > s->end - s->pos)
		n = s->end - s->pos;
	s->pos += n;
	s->offset += n;
}

size_t stream_some(struct stream *s, void *buf, size_t n)
{
	const uint8_t *data;
	size_t have;
	if (s->pos == s->end && n >= CHUNK_BYTES) { /* past the buffer */
		have = read_top(s, buf, n);
		s->offset += have;
		return have;
	}
	have = stream_peek(s, 1, &data);
	n = n < have ? n : have;
	memcpy(buf, data, n);
	stream_skip(s, n);
	return n;
}

size_t stream_read(struct stream *s, void *buf, size_t n)
{
	size_t have = 0, got;
	while (have < n && (got = stream_some(s, (uint8_t *)buf + have, n - have)))
		have += got;
	return have;
}

/* Behind the next line end, or at the end. */
static void skip_line(struct stream *s)
{
	const uint8_t *data;
	size_t n;
	while ((n = stream_peek(s, 1, &data))) {
		const uint8_t *nl = memchr(data, '\n', n);
		stream_skip(s, nl ? (size_t)(nl - data) + 1 : n);
		if (nl)
			break;
	}
	s->skip_line = false;
}

bool stream_line(struct stream *s, char **ret_text, size_t *ret_len)
{
	size_t seen = 0;
	if (s->skip_line)
		skip_line(s);
	for (;;) {
		size_t have = s->end - s->pos;
		uint8_t *nl = have > seen ? memchr(s->buf + s->pos + seen, '\n', have - seen)
					  : NULL;
		bool cut = !nl && have >= STREAM_PEEK_MAX;
		if (!nl && !cut) {
			seen = have;
			if (fill(s))
				continue;
			if (!have)
				return false;
		}
		size_t len = nl ? (size_t)(nl - s->buf) - s->pos : cut ? STREAM_PEEK_MAX - 1 : have;
		*ret_text = (char *)s->buf + s->pos;
		*ret_len = len;
		if (len && (*ret_text)[len - 1] == '\r')
			(*ret_len)--;
		s->skip_line = cut;
		s->open_line = !nl && !cut;
		stream_skip(s, len + (nl != NULL));
		return true;
	}
}

/* Put one more layer on top if the next bytes are a known wrapper's. */
static int unwrap_next(struct stream *s)
{
	const uint8_t *head;
	size_t n = stream_peek(s, 16, &head);
	const struct unwrap_kind *kind = unwrap_recognise(head, n);
	if (!kind)
		return 0;
	/* What is in the buffer belongs to the layer below: give it back as that layer's
	 * pushed-back bytes. */
	struct layer *l;
	int err = unwrap_new(kind, s->top, s->buf + s->pos, s->end - s->pos, &l);
	if (err)
		return err;
	s->pos = s->end = 0;
	s->ended = false;
	s->top = s->unwrapped[s->depth++] = l;
	size_t used = strlen(s->wrapper);
	snprintf(s->wrapper + used, sizeof s->wrapper - used, "%s%s", used ? "+" : "", kind->name);
	return 1;
}

static int prepare(struct stream *s, struct stream **ret_stream, struct err *err)
{
	s->file.read = file_read;
	s->file.state = s;
	s->top = &s->file;
	s->temporary_fd = -1;
	s->buf = malloc(BUFFER_BYTES + 1);
	int rc = s->buf ? 1 : -ENOMEM;
	while (rc > 0 && s->depth < UNWRAP_DEPTH)
		rc = unwrap_next(s);
	if (rc < 0) {
		stream_close(s);
		return err_set(err, -rc, "no memory to unpack the file");
	}
	*ret_stream = s;
	return 0;
}

int stream_open(const char *path, struct stream **ret_stream, struct err *err)
{
	bool standard_input = !strcmp(path, "-");
	/* Of a FIFO it waits for a writer, as whatever reads one does. */
	int fd = standard_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
				: open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return err_set(err, errno, "cannot open %s: %s", path, strerror(errno));
	struct stat st;
	int directory = -1;
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) { /* perf record --threads, --kcore */
		directory = fd;
		fd = openat(directory, "data", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	struct stream *s = NULL;
	int rc = 0;
	if (fd < 0 || fstat(fd, &st) || S_ISDIR(st.st_mode) ||
	    (directory >= 0 && !S_ISREG(st.st_mode)))
		rc = err_set(err, EISDIR, "%s is a directory, not a recording", path);
	else if (!(s = calloc(1, sizeof *s)))
		rc = err_set(err, ENOMEM, "no memory to read %s", path);
	if (rc) {
		if (fd >= 0)
			close(fd);
		if (directory >= 0)
			close(directory);
		return rc;
	}
	s->fd = fd;
	s->directory = directory;
	off_t at = lseek(fd, 0, SEEK_CUR);
	s->regular = S_ISREG(st.st_mode) && at == 0;
	s->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	if (S_ISREG(st.st_mode))
		s->written_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000ull +
				(uint64_t)st.st_mtim.tv_nsec;
	return prepare(s, ret_stream, err);
}

int stream_beside(const struct stream *s, const char *name)
{
	return s->directory >= 0
		       ? openat(s->directory, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
		       : -1;
}

int stream_memory(const void *data, size_t len, struct stream **ret_stream)
{
	struct stream *s = calloc(1, sizeof *s);
	if (!s)
		return -ENOMEM;
	s->fd = s->directory = -1;
	s->memory = data;
	s->memory_len = len;
	s->memory_source = true;
	s->size = len;
	return prepare(s, ret_stream, NULL);
}

void stream_close(struct stream *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->depth; i++)
		unwrap_free(s->unwrapped[i]);
	if (s->fd >= 0)
		close(s->fd);
	if (s->temporary_fd >= 0)
		close(s->temporary_fd);
	if (s->directory >= 0)
		close(s->directory);
	free(s->buf);
	free(s);
}

void stream_utf8(struct stream *s)
{
	const uint8_t *head;
	size_t n = stream_peek(s, 3, &head);
	if (n >= 3 && head[0] == 0xef && head[1] == 0xbb && head[2] == 0xbf) {
		stream_skip(s, 3);
		return;
	}
	bool le = n >= 2 && head[0] == 0xff && head[1] == 0xfe;
	bool be = n >= 2 && head[0] == 0xfe && head[1] == 0xff;
	if ((!le && !be) || s->depth == UNWRAP_DEPTH)
		return;
	stream_skip(s, 2);
	struct layer *l;
	const struct unwrap_kind *kind = le ? &unwrap_utf16_le : &unwrap_utf16_be;
	if (unwrap_new(kind, s->top, s->buf + s->pos, s->end - s->pos, &l))
		return;
	s->pos = s->end = 0;
	s->ended = false;
	s->top = s->unwrapped[s->depth++] = l;
}

bool stream_line_open(const struct stream *s)
{
	return s->open_line;
}

uint64_t stream_offset(const struct stream *s)
{
	return s->offset;
}

uint64_t stream_done(const struct stream *s)
{
	return s->depth ? s->done : s->done - (s->end - s->pos);
}

uint64_t stream_size(const struct stream *s)
{
	return s->size;
}

uint64_t stream_written_ns(const struct stream *s)
{
	return s->written_ns ? s->written_ns : clock_real_ns();
}

const char *stream_wrapper(const struct stream *s)
{
	return s->wrapper;
}

const char *stream_damage(const struct stream *s)
{
	return s->damage[0] ? s->damage : NULL;
}

/* The directory for temporary files: TMPDIR, else /var/tmp (which is on disk), else /tmp. */
static int temporary_file(void)
{
	const char *places[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	for (unsigned i = 0; i < 3; i++) {
		if (!places[i])
			continue;
		int fd = open(places[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
	}
	FILE *f = tmpfile();
	int fd = f ? dup(fileno(f)) : -1;
	if (f)
		fclose(f);
	return fd;
}

static int write_all(int fd, const uint8_t *data, size_t n)
{
	while (n) {
		ssize_t put = write(fd, data, n);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		data += put;
		n -= (size_t)put;
	}
	return 0;
}

int stream_seekable(struct stream *s, int *ret_fd, uint64_t *ret_size, struct err *err)
{
	if (!s->depth && s->regular) {
		*ret_fd = s->fd;
		*ret_size = s->size;
		return 0;
	}
	if (s->temporary_fd < 0) {
		s->temporary_fd = temporary_file();
		if (s->temporary_fd < 0)
			return err_set(err, errno,
				       "cannot make a temporary file to unpack to: %s; set TMPDIR",
				       strerror(errno));
		const uint8_t *data;
		size_t n;
		while ((n = stream_peek(s, 1, &data)) > 0) {
			int rc = write_all(s->temporary_fd, data, n);
			if (rc)
				return err_set(err, -rc,
					       "cannot unpack to a temporary file: %s; set TMPDIR",
					       strerror(-rc));
			stream_skip(s, n);
		}
	}
	off_t end = lseek(s->temporary_fd, 0, SEEK_END);
	*ret_fd = s->temporary_fd;
	*ret_size = end > 0 ? (uint64_t)end : 0;
	return 0;
}

bool stream_is_plain(const struct stream *s)
{
	return !s->depth && (s->regular || s->memory_source);
}

int stream_rewind(struct stream *s, struct err *err)
{
	int fd = s->fd;
	uint64_t size;
	int rc = stream_is_plain(s) ? 0 : stream_seekable(s, &fd, &size, err);
	if (rc)
		return rc;
	if (fd != s->fd) { /* from here on the temporary file is the file */
		if (s->fd >= 0)
			close(s->fd);
		for (unsigned i = 0; i < s->depth; i++)
			unwrap_free(s->unwrapped[i]);
		s->depth = 0;
		s->top = &s->file;
		s->fd = fd;
		s->temporary_fd = -1;
		s->memory_source = false;
		s->regular = true;
		s->size = size;
	}
	if (s->fd >= 0 && lseek(s->fd, 0, SEEK_SET) < 0)
		return err_set(err, errno, "cannot read the file again: %s", strerror(errno));
	s->pos = s->end = 0;
	s->done = s->offset = 0;
	s->ended = s->skip_line = false;
	return 0;
}
