/*
 * vdso: copies the vDSO out of the target's memory, or out of our own.
 *
 * It has no file. Every 64-bit process of a running kernel maps the same one, so our own will do
 * where the target's memory is closed to us; for a recording only when the build ids agree.
 */
#include "base/living.h"
#include "module/vdso.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define VDSO_MAX (1u << 20)

static int copy_target(const struct module *m, void **ret_bytes, size_t *ret_size)
{
	char path[64];
	uint64_t start = m->base ? m->base : m->map_start;
	uint64_t size = m->base ? m->size : m->map_end - m->map_start;
	if (!m->pid || !start || !size || size > VDSO_MAX)
		return -ENOENT;
	snprintf(path, sizeof path, "/proc/%d/mem", (int)living_thread(m->pid));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	void *bytes = malloc(size);
	ssize_t n = bytes ? pread(fd, bytes, size, (off_t)start) : -1;
	close(fd);
	if (n != (ssize_t)size) {
		free(bytes);
		return -EIO;
	}
	*ret_bytes = bytes;
	*ret_size = size;
	return 0;
}

/* The size of our own is only in our maps. */
static size_t own_size(uint64_t start)
{
	char line[512];
	size_t size = 0;
	FILE *f = fopen("/proc/self/maps", "re");
	if (!f)
		return 0;
	while (!size && fgets(line, sizeof line, f)) {
		uint64_t from, to;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 && from == start &&
		    to - from <= VDSO_MAX)
			size = to - from;
	}
	fclose(f);
	return size;
}

static int copy_own(void **ret_bytes, size_t *ret_size)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	size_t size = start ? own_size(start) : 0;
	void *bytes = size ? malloc(size) : NULL;
	if (!bytes)
		return -ENOENT;
	memcpy(bytes, (const void *)(uintptr_t)start, size);
	*ret_bytes = bytes;
	*ret_size = size;
	return 0;
}

static bool agree(const struct module *m, const struct image *i)
{
	return m->build_id_size == i->build_id_size &&
	       memcmp(m->build_id, i->build_id, i->build_id_size) == 0;
}

int vdso_image(const struct module *m, const struct module_access *access, struct image **ret_image,
	       struct err *err)
{
	void *bytes = NULL;
	size_t size = 0;
	struct image *i;
	if (access->live && copy_target(m, &bytes, &size) == 0 &&
	    image_take_bytes(bytes, size, &i, NULL) == 0) {
		*ret_image = i;
		return 0;
	}
	int rc = copy_own(&bytes, &size);
	if (rc == 0)
		rc = image_take_bytes(bytes, size, &i, NULL);
	if (rc)
		return err_set(err, -rc, "this machine's vDSO cannot be read");
	bool ours = m->build_id_size ? agree(m, i) : access->live && (!m->size || m->size == size);
	if (!ours) {
		image_close(i);
		return err_set(err, ESTALE, "the vDSO of the recording is not this machine's");
	}
	*ret_image = i;
	return 0;
}
