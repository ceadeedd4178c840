/*
 * err: filling the sentence that goes up to the person.
 *
 * Any thread; the struct belongs to the caller. A sentence too long is cut at a whole UTF-8
 * character; what a terminal would obey in it (from a file name, say) is written as \xNN.
 */
#include "err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/plain.h"

int err_set(struct err *err, int no, const char *fmt, ...)
{
	if (err) {
		va_list ap;
		va_start(ap, fmt);
		int n = vsnprintf(err->msg, sizeof err->msg, fmt, ap);
		va_end(ap);
		if (n < 0)
			err->msg[0] = 0;
		plain_in_place(err->msg, sizeof err->msg);
		err->no = no;
	}
	return no ? -no : -EINVAL;
}
