/*
 * jitmap: finding, opening and re-reading the files of a process that generates code.
 *
 * A file that somebody else could have put there is not trusted: it must belong to the process's
 * user, to us or to root. One that shrinks or is replaced is read anew. Runs on the resolver
 * thread.
 */
#include "base/living.h"
#include "jitmap.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "proc/nspace.h"
#include "proc/procfs.h"

#define PIECE    (256u << 10)
#define RECORD   (64u << 20) /* largest piece held for a record that is not whole yet */
#define FILE_MAX ((off_t)2 << 30)
#define AGAIN_MAX \
	(1u << 20)      /* a held end of that size is read again when the file is looked at \
			 */
#define CLOCK_SLACK_S 5 /* what the clock of files may have been set back by */
#define SEARCH_NS     2000000000ull /* between two looks for a jitdump file, at most */

struct growing {
	int fd; /* -1: not there */
	dev_t device;
	ino_t inode;
	off_t at;      /* read up to here */
	bool not_ours; /* it is something else: left alone */
	bool beyond;   /* there is more than is ever read */
	struct {
		VEC(char)
	} held; /* the end that is not whole yet */
	struct jittable table;
};

struct jitmap {
	pid_t pid;
	uint64_t start_ticks; /* of the process, 0: it was gone before we looked */
	bool ended;
	const struct module_access *access;
	struct growing map, dump;
	uint64_t first_ns, searched_ns; /* looks for the jitdump file: the first, the last */
	char *dump_path;                /* NULL unknown; once the process ended: as we see it */
	char map_path[96];              /* where the map was found last, as the process names it */
	bool stale;                     /* the map there is older than the process */
};

static void growing_reset(struct growing *g)
{
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
	g->at = 0;
	g->not_ours = g->beyond = false;
	vec_fini(&g->held);
	jittable_fini(&g->table);
	jittable_init(&g->table);
}

struct jitmap *jitmap_new(pid_t pid, const struct module_access *access)
{
	struct jitmap *j = calloc(1, sizeof *j);
	struct proc_stat st;

	if (!j)
		return NULL;
	j->pid = pid;
	j->access = access;
	j->map.fd = j->dump.fd = -1;
	if (access->live && proc_stat_read(pid, 0, &st) == 0)
		j->start_ticks = st.start_ticks;
	return j;
}

void jitmap_free(struct jitmap *j)
{
	if (!j)
		return;
	growing_reset(&j->map);
	growing_reset(&j->dump);
	free(j->dump_path);
	free(j);
}

size_t jitmap_bytes(const struct jitmap *j)
{
	return sizeof *j + jittable_bytes(&j->map.table) + jittable_bytes(&j->dump.table);
}

/* ---- where they are ---- */

static bool trusted(int fd, pid_t pid)
{
	char path[64];
	struct stat st, owner;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	return st.st_uid == 0 || st.st_uid == geteuid() ||
	       (!stat(path, &owner) && owner.st_uid == st.st_uid);
}

static int try(const struct jitmap *j, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && !trusted(fd, j->pid)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* When the process began, on the clock of files; 0: nobody can tell. */
static time_t began(pid_t pid)
{
	struct timespec now, since_boot;
	struct proc_stat st;

	if (proc_stat_read(pid, 0, &st) || clock_gettime(CLOCK_REALTIME, &now) ||
	    clock_gettime(CLOCK_BOOTTIME, &since_boot))
		return 0;
	return now.tv_sec - since_boot.tv_sec +
	       (time_t)(st.start_ticks * proc_tick_ns() / 1000000000);
}

/* Left behind by an earlier process of this number? */
static bool older_than(int fd, pid_t pid)
{
	time_t start = began(pid);
	struct stat st;

	return start && !fstat(fd, &st) && st.st_mtime + CLOCK_SLACK_S < start;
}

static int open_map(struct jitmap *j)
{
	char path[PATH_MAX];
	int fd = -1;

	j->stale = false;

	if (j->access->symfs) {
		snprintf(path, sizeof path, "%s/tmp/perf-%d.map", j->access->symfs, (int)j->pid);
		return try(j, path);
	}
	if (j->access->live) {
		snprintf(path, sizeof path, "/proc/%d/root/tmp/perf-%d.map",
			 (int)living_thread(j->pid), (int)nspace_pid(j->pid));
		fd = try(j, path);
	}
	/* A recording of another machine or boot has nothing to do with our /tmp. */
	if (fd < 0 && (j->access->live || j->access->same_boot)) {
		snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)j->pid);
		fd = try(j, path);
	}
	snprintf(j->map_path, sizeof j->map_path, "/tmp/perf-%d.map",
		 j->access->live ? (int)nspace_pid(j->pid) : (int)j->pid);
	if (fd >= 0 && j->access->live && older_than(fd, j->pid)) {
		j->stale = true;
		close(fd);
		fd = -1;
	}
	return fd;
}

bool jitmap_stale(const struct jitmap *j, char *ret_path, size_t size)
{
	if (j->stale)
		snprintf(ret_path, size, "%s", j->map_path);
	return j->stale;
}

enum jitmap_state jitmap_look(pid_t pid, char *ret_path, size_t size)
{
	const struct module_access access = {.live = true};
	struct jitmap *j = jitmap_new(pid, &access);
	enum jitmap_state state = JITMAP_NONE;
	int fd = j ? open_map(j) : -1;
	struct stat st;

	if (fd >= 0 || (j && j->stale)) {
		state = fd < 0                                     ? JITMAP_STALE
			: !fstat(fd, &st) && st.st_size > FILE_MAX ? JITMAP_LONG
								   : JITMAP_GOOD;
		snprintf(ret_path, size, "%s", j->map_path);
	}
	if (fd >= 0)
		close(fd);
	jitmap_free(j);
	return state;
}

bool jitmap_cut(const struct jitmap *j, char *ret_text, size_t size)
{
	const struct growing *all[] = {&j->map, &j->dump};
	const char *path[] = {j->map_path, j->dump_path ? j->dump_path : "its jitdump file"};

	for (int i = 0; i < 2; i++) {
		if (!all[i]->beyond && !all[i]->table.full)
			continue;
		snprintf(ret_text, size,
			 all[i]->beyond ? "%.90s is longer than 2 GiB, and is not read beyond"
					: "%.90s names more functions than are kept",
			 path[i]);
		return true;
	}
	return false;
}

/* The jitdump file is mapped once so that profilers see it: its name is in the maps. */
static char *search_dump(const struct jitmap *j)
{
	char maps[64], line[PATH_MAX + 128], *path = NULL;
	FILE *f;

	snprintf(maps, sizeof maps, "/proc/%d/maps", (int)living_thread(j->pid));
	f = fopen(maps, "re");
	while (f && !path && fgets(line, sizeof line, f)) {
		const char *slash = strchr(line, '/'), *name;
		size_t len = strcspn(line, "\n");

		line[len] = '\0';
		name = slash ? strrchr(slash, '/') + 1 : "";
		if (strncmp(name, "jit-", 4) != 0 || len < 5 ||
		    strcmp(line + len - 5, ".dump") != 0)
			continue;
		if (asprintf(&path, "/proc/%d/root%s", (int)living_thread(j->pid), slash) < 0)
			path = NULL;
	}
	if (f)
		fclose(f);
	return path;
}

static int open_dump(struct jitmap *j)
{
	uint64_t now = clock_mono_ns();

	if (!j->access->live || j->access->symfs)
		return -1;
	if (!j->dump_path) {
		/* Soon again at first: short programs map it when they have begun. */
		if (j->first_ns && now - j->searched_ns < SEARCH_NS &&
		    now - j->searched_ns < j->searched_ns - j->first_ns)
			return -1;
		j->first_ns = j->first_ns ? j->first_ns : now;
		j->searched_ns = now;
		j->dump_path = search_dump(j);
		if (!j->dump_path)
			return -1;
	}
	return try(j, j->dump_path);
}

/* ---- reading on ---- */

static bool consume(struct growing *g, bool dump)
{
	size_t used = dump ? jitdump_read(&g->table, (const uint8_t *)g->held.data, g->held.len)
			   : perfmap_read(&g->table, g->held.data, g->held.len);

	if (used == SIZE_MAX || g->table.wide_bad) {
		g->not_ours = true;
		vec_fini(&g->held);
		return false;
	}
	memmove(g->held.data, g->held.data + used, g->held.len - used);
	g->held.len -= used;
	return used > 0;
}

static bool read_on(struct growing *g, bool dump)
{
	bool added = false;
	struct stat st;
	ssize_t n;

	if (g->fd < 0 || g->not_ours || fstat(g->fd, &st))
		return false;
	if (g->held.len <= AGAIN_MAX) { /* what was not whole may have been zeros then */
		g->at -= (off_t)g->held.len;
		g->held.len = 0;
	}
	while (g->at < st.st_size && g->at < FILE_MAX && g->held.len < RECORD && !g->not_ours) {
		if (vec_reserve(&g->held, g->held.len + PIECE))
			break;
		n = pread(g->fd, g->held.data + g->held.len, PIECE, g->at);
		if (n <= 0)
			break;
		g->held.len += (size_t)n;
		g->at += n;
		added |= consume(g, dump);
	}
	g->beyond = g->at >= FILE_MAX && st.st_size > g->at;
	return added;
}

/* Open it when it is there; start anew when it is another file or shorter than it was. */
static void follow(struct growing *g, int fd)
{
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) || (g->fd >= 0 && st.st_ino == g->inode && st.st_size >= g->at)) {
		close(fd);
		return;
	}
	growing_reset(g);
	g->fd = fd;
	g->device = st.st_dev;
	g->inode = st.st_ino;
}

bool jitmap_alive(const struct jitmap *j)
{
	struct proc_stat st;

	return proc_stat_read(j->pid, 0, &st) == 0 && st.start_ticks == j->start_ticks &&
	       st.state != 'Z' && st.state != 'X';
}

static void leave(struct growing *g)
{
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
	vec_fini(&g->held);
}

void jitmap_end(struct jitmap *j)
{
	char link[64], path[PATH_MAX];
	ssize_t n = -1;

	snprintf(link, sizeof link, "/proc/self/fd/%d", j->dump.fd);
	if (j->dump.fd >= 0)
		n = readlink(link, path, sizeof path);
	free(j->dump_path);
	j->dump_path = n > 0 ? strndup(path, (size_t)n) : NULL;
	leave(&j->map);
	leave(&j->dump);
	j->ended = true;
}

void jitmap_forget(struct jitmap *j)
{
	growing_reset(&j->map);
	growing_reset(&j->dump);
}

bool jitmap_refresh(struct jitmap *j)
{
	bool added;

	if (j->ended)
		return false;
	follow(&j->map, open_map(j));
	follow(&j->dump, open_dump(j));
	added = read_on(&j->map, false);
	return read_on(&j->dump, true) || added;
}

bool jitmap_find(struct jitmap *j, uint64_t addr, struct jit_symbol *ret_symbol)
{
	/* jitdump says more: lines, code. */
	return jittable_find(&j->dump.table, addr, ret_symbol) ||
	       jittable_find(&j->map.table, addr, ret_symbol);
}

bool jitmap_find_named(struct jitmap *j, uint64_t start, const char *name,
		       struct jit_symbol *ret_symbol)
{
	return jittable_find_named(&j->dump.table, start, name, ret_symbol) ||
	       jittable_find_named(&j->map.table, start, name, ret_symbol);
}

/* Only jitdump tells lines. */
bool jitmap_line(struct jitmap *j, const struct jit_symbol *s, uint64_t addr, const char **ret_file,
		 uint32_t *ret_line)
{
	return s->nlines && jittable_line(&j->dump.table, s, addr, ret_file, ret_line);
}

/* The jitdump file, when it is still the one that was read; the caller closes it. -1: not there. */
static int dump_again(const struct jitmap *j)
{
	int fd = j->dump_path ? try(j, j->dump_path) : -1;
	struct stat st;

	if (fd >= 0 &&
	    (fstat(fd, &st) || st.st_dev != j->dump.device || st.st_ino != j->dump.inode)) {
		close(fd);
		return -1;
	}
	return fd;
}

bool jitmap_code(struct jitmap *j, const struct jit_symbol *s, void *dst, size_t size)
{
	int fd;
	bool got;

	if (!s->code || size > s->end - s->start)
		return false;
	fd = j->ended ? dump_again(j) : j->dump.fd;
	got = fd >= 0 && pread(fd, dst, size, (off_t)s->code) == (ssize_t)size;
	if (j->ended && fd >= 0)
		close(fd);
	return got;
}
