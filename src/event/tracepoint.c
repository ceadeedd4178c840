/*
 * tracepoint: subsystem:name, by the ids in tracefs. Reads files; any thread.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/sysfs.h"

static const char *other_root; /* tests */

void tracepoint_root_set(const char *dir)
{
	other_root = dir;
}

const char *tracepoint_root(void)
{
	static const char *const roots[] = {
		"/sys/kernel/tracing/events",
		"/sys/kernel/debug/tracing/events",
	};

	if (other_root)
		return other_root;
	return access(roots[0], X_OK) == 0 ? roots[0] : roots[1];
}

bool tracepoints_there(void)
{
	return access(tracepoint_root(), F_OK) == 0 || errno == EACCES;
}

int event_tracepoint(const char *text, size_t len, struct event_spec *spec, struct err *err)
{
	const char *colon = memchr(text, ':', len);
	char path[512], id[32];

	if (!colon || colon == text || memchr(text, '/', len) || colon + 1 == text + len ||
	    colon[1] == ':' || memchr(colon + 1, ':', (size_t)(text + len - colon - 1)))
		return 0;
	if (text[0] == '.' || colon[1] == '.')
		return 0;
	snprintf(path, sizeof path, "%s/%.*s/%.*s/id", tracepoint_root(), (int)(colon - text), text,
		 (int)(text + len - colon - 1), colon + 1);
	if (sysfs_read(path, id, sizeof id) < 0) {
		if (errno == EACCES || errno == EPERM)
			return err_set(err, errno,
				       "tracepoint %.*s: %s may not be read (%s); run as root",
				       len > 80 ? 80 : (int)len, text, tracepoint_root(),
				       strerrorname_np(errno));
		return 0;
	}
	spec->type = PERF_TYPE_TRACEPOINT;
	spec->config = strtoull(id, NULL, 10);
	return 1;
}
