/* log: the last few hundred sentences of the program itself, from any thread; never blocks on
 * output. */
#ifndef ALTPTTOP_LOG_H
#define ALTPTTOP_LOG_H

#include <stddef.h>

void log_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
unsigned log_read(unsigned from, char (*ret_lines)[160],
		  unsigned max); /* newest last; returns how many */

#endif
