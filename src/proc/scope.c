/*
 * scope: lists the processes of the whole system, of a user, or of a cgroup and those below it.
 *
 * Whose a process is, is read in every list as long as there are not too many of them, and of many
 * in turns: who logs in begins as root and changes hands. Cgroups are directories: their files
 * cgroup.procs say who is in. Source thread.
 */
#include "proc/scope.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/vec.h"
#include "proc/procfs.h"

#define DEPTH_MOST   32  /* of cgroups in cgroups */
#define FORGET_AFTER 64  /* lists */
#define READ_MOST    512 /* processes looked at again in one list */

struct pids {
	VEC(pid_t)
};

struct scope {
	const struct target *target;
	char dir[PATH_MAX];
	struct map64 mine; /* by_user: pid → 1 ours, 0 not */
	unsigned lists;
};

bool scope_wanted(const struct target *target)
{
	return target->all || target->cgroup || target->by_user;
}

/* A line of mountinfo of a cgroup hierarchy: its mount point and how well it suits. */
static int mount_rank(const char *line, char *dir, size_t size)
{
	const char *dash = strstr(line, " - ");
	char type[32], options[256];
	char point[PATH_MAX];

	if (!dash || sscanf(line, "%*s %*s %*s %*s %4095s", point) != 1 ||
	    sscanf(dash, " - %31s %*s %255s", type, options) != 2 ||
	    strncmp(type, "cgroup", 6) != 0)
		return 0;
	snprintf(dir, size, "%s", point);
	if (strstr(options, "perf_event"))
		return 3;
	return strcmp(type, "cgroup2") == 0 ? 2 : 1;
}

static bool is_cgroup(const char *dir)
{
	char file[2 * PATH_MAX + 16];

	snprintf(file, sizeof file, "%s/cgroup.procs", dir);
	return access(file, F_OK) == 0;
}

int scope_cgroup_dir(const char *name, char *buf, size_t size, struct err *err)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, dir[PATH_MAX], whole[2 * PATH_MAX];
	size_t cap = 0;
	int best = 0;

	while (f && getline(&line, &cap, f) > 0) {
		int rank = mount_rank(line, dir, sizeof dir);

		if (rank <= best)
			continue;
		if (strncmp(name, dir, strlen(dir)) == 0 && name[strlen(dir)] == '/')
			snprintf(whole, sizeof whole, "%s", name);
		else
			snprintf(whole, sizeof whole, "%s/%s", dir, name);
		if (!is_cgroup(whole))
			continue;
		snprintf(buf, size, "%s", whole);
		best = rank;
	}
	free(line);
	if (f)
		fclose(f);
	return best ? 0
		    : err_set(err, ENOENT, "there is no cgroup %s in any mounted hierarchy", name);
}

struct scope *scope_new(const struct target *target, struct err *err)
{
	struct scope *s = calloc(1, sizeof *s);

	if (!s) {
		err_set(err, ENOMEM, "no memory");
		return NULL;
	}
	s->target = target;
	map64_init(&s->mine);
	if (target->cgroup && scope_cgroup_dir(target->cgroup, s->dir, sizeof s->dir, err)) {
		scope_free(s);
		return NULL;
	}
	return s;
}

void scope_free(struct scope *s)
{
	if (!s)
		return;
	map64_fini(&s->mine);
	free(s);
}

static bool is_mine(struct scope *s, pid_t pid, bool again)
{
	uint32_t mine;
	char text[64];

	if (map64_get(&s->mine, (uint64_t)pid, &mine) && !again)
		return mine;
	if (proc_status_field(pid, 0, "Uid", text, sizeof text))
		return false;
	mine = (uid_t)strtoul(text, NULL, 10) == s->target->user;
	map64_put(&s->mine, (uint64_t)pid, mine);
	return mine;
}

static int list_system(struct scope *s, struct pids *v)
{
	pid_t *ids;
	size_t n;
	int rc = procfs_list("/proc", &ids, &n);

	if (rc)
		return rc;
	if (s->lists++ % FORGET_AFTER == 0)
		map64_clear(&s->mine);
	unsigned turns = (unsigned)(n / READ_MOST) + 1;
	for (size_t i = 0; !rc && i < n; i++) {
		bool again = (unsigned)ids[i] % turns == s->lists % turns;
		if (ids[i] != getpid() && (s->target->all || is_mine(s, ids[i], again)))
			rc = vec_push(v, ids[i]);
	}
	free(ids);
	return rc;
}

static int read_procs(const char *dir, struct pids *v)
{
	char file[PATH_MAX + 16], *line = NULL;
	size_t cap = 0;
	int rc = 0;
	FILE *f;

	snprintf(file, sizeof file, "%s/cgroup.procs", dir);
	f = fopen(file, "re");
	if (!f)
		return -errno;
	while (!rc && getline(&line, &cap, f) > 0) {
		pid_t pid = atoi(line);

		if (pid > 0 && pid != getpid())
			rc = vec_push(v, pid);
	}
	free(line);
	fclose(f);
	return rc;
}

static int list_cgroup(const char *dir, struct pids *v, unsigned depth)
{
	int rc = read_procs(dir, v);
	struct dirent *e;
	DIR *d;

	if (rc == -ENOMEM || depth >= DEPTH_MOST)
		return rc;
	d = opendir(dir);
	if (!d)
		return rc;
	while ((e = readdir(d))) {
		char sub[PATH_MAX];
		int n = snprintf(sub, sizeof sub, "%s/%s", dir, e->d_name);

		if (e->d_type == DT_DIR && e->d_name[0] != '.' && n > 0 && (size_t)n < sizeof sub)
			list_cgroup(sub, v, depth + 1);
	}
	closedir(d);
	return rc;
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

int scope_list(struct scope *s, pid_t **ret_pids, size_t *ret_n)
{
	struct pids v = {0};
	int rc = s->target->cgroup ? list_cgroup(s->dir, &v, 0) : list_system(s, &v);

	if (rc) {
		vec_fini(&v);
		return rc;
	}
	if (v.len)
		qsort(v.data, v.len, sizeof *v.data, by_number);
	*ret_pids = v.data;
	*ret_n = v.len;
	return 0;
}
