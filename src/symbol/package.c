/*
 * package: which package to install for the debug files of a program file.
 *
 * dpkg knows whose a file is, by the path it was installed under: with or without /usr in front,
 * since /bin and /lib are links into it now. One short-lived child, its output bounded; where there
 * is no dpkg nothing is said. Runs on the errand thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errand.h"

#define TIMEOUT_MS 5000

/* Names that are not PACKAGE-dbgsym: what Debian builds by hand. */
static const struct {
	const char *package, *debug;
} by_hand[] = {
	{"libc6", "libc6-dbg"},
	{"libc-bin", "libc6-dbg"},
};

static ssize_t read_all(int fd, char *text, size_t size)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t got = 0;
	ssize_t n;

	while (got < size - 1 && poll(&p, 1, TIMEOUT_MS) > 0 &&
	       (n = read(fd, text + got, size - 1 - got)) > 0)
		got += (size_t)n;
	text[got] = '\0';
	return (ssize_t)got;
}

static bool ask(const char *path, char *text, size_t size)
{
	char *argv[] = {"dpkg-query", "-S", (char *)path, NULL};
	posix_spawn_file_actions_t actions;
	int fds[2], rc, status = -1;
	pid_t child;

	if (pipe2(fds, O_CLOEXEC))
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&child, "dpkg-query", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (!rc) {
		read_all(fds[0], text, size);
		kill(child, SIGTERM); /* it has ended, or takes too long */
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
	}
	close(fds[0]);
	return !rc && text[0];
}

bool package_of(const char *path, char *ret_name, size_t size)
{
	char text[1024];
	size_t len;

	if (path[0] != '/')
		return false;
	if (!ask(path, text, sizeof text) &&
	    (strncmp(path, "/usr/", 5) != 0 || !ask(path + 4, text, sizeof text)))
		return false;
	/* "libllvm14:amd64: /usr/lib/…"; a diversion says so before its colon. */
	len = strcspn(text, ":, \n");
	if (!len || len > 100 || !strncmp(text, "diversion", 9))
		return false;
	text[len] = '\0';
	for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++)
		if (!strcmp(text, by_hand[i].package)) {
			snprintf(ret_name, size, "%s", by_hand[i].debug);
			return true;
		}
	snprintf(ret_name, size, "%.100s-dbgsym", text);
	return true;
}
