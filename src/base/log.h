/* log: the last few hundred sentences of the program itself, from any thread; never blocks on
 * output. */
#ifndef ALTPTTOP_LOG_H
#define ALTPTTOP_LOG_H

#include <stddef.h>

#define LOG_LINE_BYTES 160 /* with the NUL; longer sentences are cut */

void log_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
unsigned log_count(void); /* sentences said since the start */
/* The newest sentences numbered @from and up (the first ever is 0), at most @max, newest last;
 * returns how many. */
unsigned log_read(unsigned from, char (*ret_lines)[LOG_LINE_BYTES], unsigned max);

#endif
