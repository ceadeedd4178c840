/*
 * stream: the bytes of a recording, whatever it is wrapped in (gzip, zstd, xz, UTF-16), in bounded
 * memory.
 *
 * A wrapper is recognised by its magic number, at most two deep. Damage in a wrapper ends the
 * stream early: what was unpacked before it stays good, and stream_damage tells the sentence. Used
 * by one thread.
 */
#ifndef ALTPTTOP_STREAM_H
#define ALTPTTOP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"

struct stream;

/* "-" is standard input. A directory, a missing or unreadable file: -errno with a sentence. */
int stream_open(const char *path, struct stream **ret_stream, struct err *err);
/* Bytes in memory (borrowed): tests and fuzzing. */
int stream_memory(const void *data, size_t len, struct stream **ret_stream);
void stream_close(struct stream *s);

/*
 * The bytes that come next, at least @want (at most STREAM_PEEK_MAX) unless the stream ends before;
 * they stay good until the next call. Returns how many there are.
 */
#define STREAM_PEEK_MAX (1u << 20)
size_t stream_peek(struct stream *s, size_t want, const uint8_t **ret_data);
void stream_skip(struct stream *s, size_t n); /* of what was peeked */

/*
 * Next line without its line end (LF or CR LF), good until the next call; false at the end. A line
 * longer than STREAM_PEEK_MAX is cut there and the rest skipped. The bytes may contain NUL;
 * text[len] is writable.
 */
bool stream_line(struct stream *s, char **ret_text, size_t *ret_len);
bool stream_line_open(const struct stream *s); /* the last line had no line end */

/* Up to @n of the bytes that come next, as many as one read gives; 0: the end. */
size_t stream_some(struct stream *s, void *buf, size_t n);
/* Read exactly @n bytes unless the end comes first; returns how many. */
size_t stream_read(struct stream *s, void *buf, size_t n);

void stream_utf8(
	struct stream *s); /* from here on convert UTF-16 (by its BOM) to UTF-8, drop a UTF-8 BOM */

uint64_t stream_offset(const struct stream *s); /* unpacked bytes consumed */
uint64_t stream_done(const struct stream *s);   /* bytes of the file consumed, before unpacking */
uint64_t stream_size(const struct stream *s);   /* size of the file, 0 unknown (a pipe) */
/* CLOCK_REALTIME when it was written: a file's time; a pipe's bytes are from now. */
uint64_t stream_written_ns(const struct stream *s);
const char *stream_wrapper(const struct stream *s); /* "gzip", "zstd", "xz", "" */
const char *stream_damage(const struct stream *s);  /* sentence, or NULL */

/*
 * A seekable descriptor of the unpacked bytes, from the stream's start (nothing may have been
 * skipped): the file itself, or an unlinked temporary file that the stream is unpacked to. The
 * stream keeps it. -errno.
 */
int stream_seekable(struct stream *s, int *ret_fd, uint64_t *ret_size, struct err *err);

/*
 * A descriptor of the file @name beside the one that is read, where a directory was opened (its
 * "data" is read then); -1 where there is none. The caller closes it.
 */
int stream_beside(const struct stream *s, const char *name);

/* Can it be rewound as it is? */
bool stream_is_plain(const struct stream *s);

/*
 * Begin anew, to read all of it once more. The first time nothing may have been skipped but what
 * stream_utf8 skips (call that again). What is no plain file is unpacked to a temporary file first.
 * -errno.
 */
int stream_rewind(struct stream *s, struct err *err);

#endif
