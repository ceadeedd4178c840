/*
 * open: tries the ways to a module's file one after another and checks what each gives.
 *
 * The checks are the point: a path may by now lead to another file than the one that runs. What
 * cannot be told apart by inode or build id is settled by the target's maps, which say "(deleted)"
 * of a file that was replaced. Runs on any thread, keeps nothing.
 */
#include "base/living.h"
#include "module/open.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "module/vdso.h"
#include "module/zip.h"

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
#define FDS_MAX    4096 /* descriptors of a process looked at */

struct attempt {
	const struct module *m;
	const struct module_access *access;
	char path[4096];    /* of the file itself */
	const char *member; /* inside a zip archive, NULL */
	bool any;           /* any file will do: an archive is looked for */
	int fd;             /* result: the file, -1 none yet */
	uint64_t offset;
	struct image *image;
	int why; /* the most telling errno so far */
};

/* Which refusal to report, when several ways failed: the rarest cause says most. */
static int telling(int no)
{
	static const int order[] = {0, ENOENT, ENOEXEC, EACCES, EPERM, ESTALE};
	for (size_t k = 0; k < sizeof order / sizeof *order; k++)
		if (order[k] == no)
			return (int)k;
	return 1;
}

static void blame(struct attempt *a, int no)
{
	if (telling(no) >= telling(a->why))
		a->why = no;
}

/* Does the target's map of this module still name this path, undeleted? Then the path is right even
 * where inode numbers are not (overlayfs shows two). */
static bool maps_confirm(const struct attempt *a)
{
	char name[64], *line = NULL;
	size_t cap = 0;
	bool same = false;
	snprintf(name, sizeof name, "/proc/%d/maps", (int)living_thread(a->m->pid));
	FILE *f = fopen(name, "re");
	if (!f)
		return false;
	while (getline(&line, &cap, f) > 0) {
		uint64_t from, to;
		int at = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &from, &to, &at) < 2)
			continue;
		if (a->m->map_start < from || a->m->map_start >= to)
			continue;
		line[strcspn(line, "\n")] = 0;
		same = at > 0 && strcmp(line + at, a->path) == 0;
		break;
	}
	free(line);
	fclose(f);
	return same;
}

static bool same_build_id(const struct module *m, const struct image *i)
{
	return m->build_id_size == i->build_id_size &&
	       memcmp(m->build_id, i->build_id, i->build_id_size) == 0;
}

/* The descriptor is ours now: keep it, with its image, if it is the very file; else close it. */
static bool accept_fd(struct attempt *a, int fd, bool is_path)
{
	const struct module *m = a->m;
	struct stat st;
	struct zip_member member = {.offset = 0};
	if (fd < 0) {
		blame(a, errno);
		return false;
	}
	int no = ENOENT;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		goto refuse;
	if (a->member && zip_by_name(fd, a->member, &member))
		goto refuse;
	no = ENOEXEC;
	if (!a->any && image_open(fd, member.offset, &a->image, NULL))
		goto refuse;
	no = ESTALE;
	if (m->build_id_size && !a->any && !same_build_id(m, a->image))
		goto refuse;
	if (!m->build_id_size && a->access->live && m->inode && is_path && st.st_ino != m->inode &&
	    !maps_confirm(a))
		goto refuse;
	a->fd = fd;
	a->offset = member.offset;
	return true;
refuse:
	blame(a, no);
	image_close(a->image);
	a->image = NULL;
	close(fd);
	return false;
}

static bool way_symfs(struct attempt *a)
{
	char path[8192];
	const char *symfs = a->access->symfs, *base = strrchr(a->path, '/');
	if (!symfs || !*symfs)
		return false;
	struct attempt file = *a; /* a copy elsewhere has another inode */
	struct module_access recorded = {.symfs = symfs};
	file.access = &recorded;
	snprintf(path, sizeof path, "%s/%s", symfs, a->path);
	bool got = accept_fd(&file, open(path, OPEN_FLAGS), false);
	if (!got && base) {
		snprintf(path, sizeof path, "%s/%s", symfs, base + 1);
		got = accept_fd(&file, open(path, OPEN_FLAGS), false);
	}
	file.access = a->access;
	*a = file;
	return got;
}

static bool can_ask_process(const struct attempt *a)
{
	return a->access->live && a->m->pid > 0;
}

static bool way_root(struct attempt *a)
{
	char name[64];
	if (!can_ask_process(a) || a->path[0] != '/' || a->m->deleted)
		return false;
	snprintf(name, sizeof name, "/proc/%d/root", (int)living_thread(a->m->pid));
	int root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0) {
		blame(a, errno);
		return false;
	}
	struct open_how how = {.flags = OPEN_FLAGS, .resolve = RESOLVE_IN_ROOT};
	int fd = (int)syscall(SYS_openat2, root, a->path, &how, sizeof how);
	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* old kernel, or a seccomp filter */
		fd = openat(root, a->path + strspn(a->path, "/"), OPEN_FLAGS);
	int no = errno;
	close(root);
	errno = no;
	return accept_fd(a, fd, true);
}

static bool way_map_files(struct attempt *a)
{
	char name[128];
	if (!can_ask_process(a) || !a->m->map_end)
		return false;
	snprintf(name, sizeof name, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 (int)living_thread(a->m->pid), a->m->map_start, a->m->map_end);
	return accept_fd(a, open(name, OPEN_FLAGS), false);
}

static bool is_inode(const struct attempt *a, const struct stat *st)
{
	return a->m->inode && st->st_ino == a->m->inode && major(st->st_dev) == a->m->dev_major &&
	       minor(st->st_dev) == a->m->dev_minor;
}

static bool way_exe(struct attempt *a)
{
	char name[64];
	struct stat st;
	if (!can_ask_process(a))
		return false;
	snprintf(name, sizeof name, "/proc/%d/exe", (int)living_thread(a->m->pid));
	if (stat(name, &st) || !is_inode(a, &st))
		return false;
	return accept_fd(a, open(name, OPEN_FLAGS), false);
}

static bool way_descriptor(struct attempt *a)
{
	char name[64];
	bool got = false;
	if (!can_ask_process(a) || !a->m->inode)
		return false;
	snprintf(name, sizeof name, "/proc/%d/fd", (int)a->m->pid);
	DIR *d = opendir(name);
	if (!d)
		return false;
	struct dirent *e;
	for (int n = 0; !got && n < FDS_MAX && (e = readdir(d)) != NULL; n++) {
		struct stat st;
		if (fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode) &&
		    is_inode(a, &st))
			got = accept_fd(a, openat(dirfd(d), e->d_name, OPEN_FLAGS), false);
	}
	closedir(d);
	return got;
}

static bool way_plain(struct attempt *a)
{
	if (a->path[0] != '/' || (a->access->live && a->m->deleted))
		return false;
	return accept_fd(a, open(a->path, OPEN_FLAGS), true);
}

static bool (*const ways[])(struct attempt *a) = {
	way_symfs, way_root, way_map_files, way_exe, way_descriptor, way_plain,
};

static int try_ways(const struct tables *t, struct attempt *a, struct err *err)
{
	const char *path = tables_text(t, a->m->path);
	char *bang;
	if (a->m->kind != MODULE_FILE)
		return err_set(err, ENOTSUP, "%s has no file", path);
	snprintf(a->path, sizeof a->path, "%s", path);
	bang = strstr(a->path, "!/");
	if (bang) {
		*bang = 0;
		a->member = bang + 2;
	}
	for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
		if (ways[k](a))
			return 0;
	int no = a->why ? a->why : ENOENT;
	return err_set(err, no, "%s cannot be used: %s", path,
		       no == ESTALE    ? "the file there now is not the one that runs"
		       : no == ENOEXEC ? "it is no ELF file of a known kind"
				       : strerror(no));
}

int module_member(const struct tables *t, const struct module *m,
		  const struct module_access *access, uint64_t offset,
		  struct zip_member *ret_member)
{
	struct attempt a = {.m = m, .access = access, .fd = -1, .any = true};
	int rc = try_ways(t, &a, NULL);
	if (rc)
		return rc;
	rc = zip_by_offset(a.fd, offset, ret_member);
	close(a.fd);
	return rc;
}

int module_image(const struct tables *t, const struct module *m, const struct module_access *access,
		 struct image **ret_image, struct err *err)
{
	struct attempt a = {.m = m, .access = access, .fd = -1};
	if (m->kind == MODULE_VDSO)
		return vdso_image(m, access, ret_image, err);
	int rc = try_ways(t, &a, err);
	if (rc)
		return rc;
	close(a.fd);
	*ret_image = a.image;
	return 0;
}
