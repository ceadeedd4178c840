/*
 * err: a sentence for a person, plus the errno behind it.
 *
 * The lowest layer that knows a cause fills it: what was refused, the true errno, what to type.
 * Callers pass it up unchanged; only src/main.c and src/app/ print it. Implemented in
 * src/base/err.c.
 */
#ifndef ALTPTTOP_ERR_H
#define ALTPTTOP_ERR_H

struct err {
	int no;        /* errno value, 0 when none applies */
	char msg[512]; /* one sentence, no newline, always terminated */
};

/*
 * Fill @err (may be NULL) and return -no (or -EINVAL when no is 0), so that a caller can write
 * `return err_set(err, ENOENT, "no process %d", pid);`. The errno text is not appended by itself.
 */
int err_set(struct err *err, int no, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
