/*
 * nspace: reads a process's namespaces and cgroup and says in a few letters where it lives.
 *
 * Container engines name their cgroups by a 64-digit id behind a prefix of their own, or put it
 * below a directory of their own; a table knows them. Anything else is named as systemd names it.
 */
#include "base/living.h"
#include "proc/nspace.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc/procfs.h"

#define CGROUP_TEXT 8192
#define ID_DIGITS   64 /* of a container's id; 12 are shown, as the engines do */

pid_t nspace_pid(pid_t pid)
{
	char value[128];
	const char *last;
	int inner;

	if (proc_status_field(pid, 0, "NSpid", value, sizeof value))
		return pid;
	last = strrchr(value, '\t');
	inner = atoi(last ? last + 1 : value);
	return inner > 0 ? inner : pid;
}

bool nspace_other_files(pid_t pid)
{
	char name[64], ours[64], theirs[64];
	struct stat a, b;
	ssize_t n, m;

	pid = living_thread(pid);
	snprintf(name, sizeof name, "/proc/%d/ns/mnt", pid);
	n = readlink(name, theirs, sizeof theirs);
	m = readlink("/proc/self/ns/mnt", ours, sizeof ours);
	if (n > 0 && m > 0 && (n != m || memcmp(ours, theirs, (size_t)n) != 0))
		return true;
	snprintf(name, sizeof name, "/proc/%d/root", pid);
	return stat(name, &a) == 0 && stat("/", &b) == 0 &&
	       (a.st_dev != b.st_dev || a.st_ino != b.st_ino);
}

/* How good a hierarchy's path is as an answer: version 2, then systemd's, then any. */
static int rank(const char *controllers)
{
	if (!*controllers)
		return 3;
	return strcmp(controllers, "name=systemd") == 0 ? 2 : 1;
}

/* The best path of the file's lines "id:controllers:path", but for root paths. */
static bool best_path(const char *text, char *buf, size_t size)
{
	int best = 0;

	while (*text) {
		const char *end = strchrnul(text, '\n');
		const char *a = memchr(text, ':', (size_t)(end - text));
		const char *b = a ? memchr(a + 1, ':', (size_t)(end - a - 1)) : NULL;
		char controllers[64];

		if (b && end - b > 2) {
			snprintf(controllers, sizeof controllers, "%.*s", (int)(b - a - 1), a + 1);
			if (rank(controllers) > best) {
				best = rank(controllers);
				snprintf(buf, size, "%.*s", (int)(end - b - 1), b + 1);
			}
		}
		text = *end ? end + 1 : end;
	}
	return best > 0;
}

static const char *container_id(const char *name)
{
	size_t len = strlen(name);

	for (size_t run = 0, i = 0; i < len; i++) {
		run = isxdigit((unsigned char)name[i]) ? run + 1 : 0;
		if (run == ID_DIGITS)
			return name + i + 1 - ID_DIGITS;
	}
	return NULL;
}

/* The last component, without ".scope"; @parent gets the one before it. Cuts @path. */
static char *last_component(char *path, const char **ret_parent)
{
	char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot;

	*ret_parent = "";
	if (slash && slash != path) {
		char *before;

		*slash = '\0';
		before = strrchr(path, '/');
		*ret_parent = before ? before + 1 : path;
	}
	dot = strrchr(name, '.');
	if (dot && strcmp(dot, ".scope") == 0)
		*dot = '\0';
	return name;
}

static bool starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* "docker-ID", or ID below "docker": the engine that uses this prefix or this directory. */
static const char *engine_name(const char *component, const char *parent)
{
	static const struct {
		const char *prefix, *name;
	} engines[] = {
		{"docker", "docker"},         {"libpod", "podman"},
		{"cri-containerd", "pod"},    {"crio", "pod"},
		{"kubepods", "pod"},          {"pod", "pod"},
		{"containerd", "containerd"}, {"buildkit", "buildkit"},
	};

	for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
		if (starts(component, engines[i].prefix) || starts(parent, engines[i].prefix))
			return engines[i].name;
	return "container";
}

static bool named_container(const char *name, const char *parent, char *buf, size_t size)
{
	static const struct {
		const char *prefix, *what;
	} prefixes[] = {{"lxc.payload.", "lxc"}, {"machine-", "machine"}};

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (starts(name, prefixes[i].prefix)) {
			snprintf(buf, size, "%s %s", prefixes[i].what,
				 name + strlen(prefixes[i].prefix));
			return true;
		}
	if (strcmp(parent, "lxc") != 0)
		return false;
	snprintf(buf, size, "lxc %s", name);
	return true;
}

void nspace_where_text(const char *text, char *buf, size_t size)
{
	char path[CGROUP_TEXT];
	const char *id, *parent;
	char *name;

	buf[0] = '\0';
	if (!best_path(text, path, sizeof path))
		return;
	name = last_component(path, &parent);
	id = container_id(name);
	if (id)
		snprintf(buf, size, "%s %.12s", engine_name(name, parent), id);
	else if (!named_container(name, parent, buf, size) && !starts(name, "session-") &&
		 strcmp(name, "init") != 0)
		snprintf(buf, size, "%s", name);
}

void nspace_where(pid_t pid, char *buf, size_t size)
{
	char text[CGROUP_TEXT];

	buf[0] = '\0';
	if (procfs_read(pid, 0, "cgroup", text, sizeof text) > 0)
		nspace_where_text(text, buf, size);
}
