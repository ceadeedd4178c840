/*
 * log: a ring of the newest sentences, for the doctor screen and for bug reports.
 *
 * Any thread. The sentence is formatted outside the lock, which is held for one copy only.
 */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"

#define LOG_LINES 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char lines[LOG_LINES][LOG_LINE_BYTES];
static unsigned said;

void log_say(const char *fmt, ...)
{
	char line[LOG_LINE_BYTES];
	va_list ap;
	va_start(ap, fmt);
	if (vsnprintf(line, sizeof line, fmt, ap) < 0)
		line[0] = 0;
	va_end(ap);
	plain_in_place(line, sizeof line);

	pthread_mutex_lock(&lock);
	memcpy(lines[said % LOG_LINES], line, sizeof line);
	said++;
	pthread_mutex_unlock(&lock);
}

unsigned log_count(void)
{
	pthread_mutex_lock(&lock);
	unsigned n = said;
	pthread_mutex_unlock(&lock);
	return n;
}

unsigned log_read(unsigned from, char (*ret_lines)[LOG_LINE_BYTES], unsigned max)
{
	pthread_mutex_lock(&lock);
	unsigned kept = said < LOG_LINES ? said : LOG_LINES;
	unsigned n = from >= said ? 0 : said - from;
	if (n > kept)
		n = kept;
	if (n > max)
		n = max;
	for (unsigned i = 0; i < n; i++)
		memcpy(ret_lines[i], lines[(said - n + i) % LOG_LINES], LOG_LINE_BYTES);
	pthread_mutex_unlock(&lock);
	return n;
}
