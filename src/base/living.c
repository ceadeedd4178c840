/*
 * living: looks for a thread that is not a zombie, in the state that /proc tells. Any thread.
 */
#include "base/living.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As in /proc/PID/stat, whose second field may hold any byte; 0: there is none. */
static char state_of(pid_t pid, const char *tid)
{
	char name[64], text[512], *end;
	ssize_t n;
	int fd;

	snprintf(name, sizeof name, "/proc/%d/task/%s/stat", (int)pid, tid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : 0;
}

static bool is_dead(char state)
{
	return !state || strchr("ZXx", state);
}

pid_t living_thread(pid_t pid)
{
	char name[64];
	const struct dirent *e;
	pid_t found = pid;
	DIR *d;

	snprintf(name, sizeof name, "%d", (int)pid);
	if (pid <= 0 || state_of(pid, name) != 'Z')
		return pid;
	snprintf(name, sizeof name, "/proc/%d/task", (int)pid);
	d = opendir(name);
	while (d && found == pid && (e = readdir(d)))
		if (e->d_name[0] != '.' && !is_dead(state_of(pid, e->d_name)))
			found = (pid_t)atoi(e->d_name);
	if (d)
		closedir(d);
	return found;
}
