/*
 * err: filling the sentence that goes up to the person.
 *
 * Any thread; the struct belongs to the caller. A sentence too long is cut at a whole UTF-8
 * character, a newline in it (from a file name, say) becomes a space.
 */
#include "err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, int no, const char *fmt, ...)
{
	if (err) {
		va_list ap;
		va_start(ap, fmt);
		int n = vsnprintf(err->msg, sizeof err->msg, fmt, ap);
		va_end(ap);
		if (n < 0)
			err->msg[0] = 0;
		if (n >= (int)sizeof err->msg) {
			size_t end = sizeof err->msg - 1;
			while (end && (err->msg[end - 1] & 0xc0) == 0x80)
				end--;
			if (end && (unsigned char)err->msg[end - 1] >= 0xc0)
				err->msg[end - 1] = 0;
		}
		for (char *p = err->msg; (p = strpbrk(p, "\r\n")); p++)
			*p = ' ';
		err->no = no;
	}
	return no ? -no : -EINVAL;
}
