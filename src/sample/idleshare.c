/*
 * idleshare: the first line of /proc/stat. The thread of the caller.
 */
#include "sample/idleshare.h"

#include <inttypes.h>
#include <stdio.h>

#include "proc/procfs.h"

double idleshare_look(struct idleshare *s)
{
	uint64_t v[8] = {0}, all = 0, idle;
	char text[256];
	double share = 0;

	if (procfs_read_at(-1, "/proc/stat", text, sizeof text) <= 0 ||
	    sscanf(text,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64,
		   &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) < 5)
		return 0;
	for (size_t i = 0; i < 8; i++)
		all += v[i];
	idle = v[3] + v[4];
	/* Waiting for disks is no time that only grows. */
	if (s->all && all > s->all && idle > s->idle)
		share = (double)(idle - s->idle) / (double)(all - s->all);
	*s = (struct idleshare){.idle = idle, .all = all};
	return share;
}
