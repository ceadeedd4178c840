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
	/* Mounted, or not to be looked into: then that is the reason to tell. */
	return access(roots[0], X_OK) == 0 || errno == EACCES ? roots[0] : roots[1];
}

int tracepoints_refused(struct err *err)
{
	const char *root = tracepoint_root();

	if (access(root, R_OK | X_OK) == 0)
		return 0;
	if (errno == EACCES || errno == EPERM)
		return err_set(
			err, errno,
			"%s may not be read (%s): run as root, or let a group of yours in: sudo "
			"mount -o remount,mode=750,gid=GROUP /sys/kernel/tracing",
			root, strerrorname_np(errno));
	return err_set(err, errno,
		       "tracefs is not mounted (%s); type: sudo mount -t tracefs tracefs "
		       "/sys/kernel/tracing",
		       strerrorname_np(errno));
}

bool tracepoint_name(const char *text)
{
	const char *colon = strchr(text, ':');

	return colon && colon != text && colon[1] && colon[1] != ':' && !strchr(colon + 1, ':') &&
	       !strchr(text, '/') && strncmp(text, "mem:", 4) != 0;
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
		struct err why = {0};
		int rc = errno == EACCES || errno == EPERM ? -errno : 0;

		if (!rc)
			return 0;
		if (!tracepoints_refused(&why))
			err_set(&why, -rc, "%s may not be read (%s); run as root", path,
				strerrorname_np(-rc));
		return err_set(err, -rc, "tracepoint %.*s: %s", len > 80 ? 80 : (int)len, text,
			       why.msg);
	}
	spec->type = PERF_TYPE_TRACEPOINT;
	spec->config = strtoull(id, NULL, 10);
	spec->period = 1; /* each is a sample, unless -c says otherwise */
	return 1;
}
