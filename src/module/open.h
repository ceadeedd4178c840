/*
 * open: a module's file, as the target sees it.
 *
 * The maps name a path in the target's mount namespace, which may have been deleted, replaced, or
 * never have been a path (memfd, vDSO). The ways, in this order, until one gives the very file:
 *   --symfs DIR: DIR/path, DIR/name;
 *   live: /proc/PID/root/path (resolved inside that root), /proc/PID/map_files/START-END,
 *   /proc/PID/exe, a descriptor of the process with the same inode (memfd);
 *   the plain path, when the target is not live or /proc/PID is not ours to look into.
 * A live file must have the mapping's inode, and every file the module's build id when that is
 * known: one that differs is never used. "base.apk!/lib/x.so" is an ELF file that a zip archive
 * holds uncompressed. Any thread; nothing is cached here.
 */
#ifndef ALTPTTOP_OPEN_H
#define ALTPTTOP_OPEN_H

#include "module/image.h"
#include "tables.h"

struct module_access {
	const char *symfs; /* --symfs DIR, NULL */
	bool live;         /* /proc/PID files may be opened */
	bool same_boot;    /* a recording that this machine made since it was started */
};

/*
 * Where a mapping of a zip archive at file offset @offset really is: the member that holds it. Its
 * module has the path "ARCHIVE!/MEMBER". -EBADMSG: the file is no archive; -ENOENT: no member is
 * stored there.
 */
struct zip_member;
int module_member(const struct tables *t, const struct module *m,
		  const struct module_access *access, uint64_t offset,
		  struct zip_member *ret_member);

/*
 * Its image; the vDSO's too: from the target's memory, or from our own when the build ids agree or
 * the target is live and its memory closed to us. -ENOTSUP for kinds without a file (JIT, kernel).
 */
int module_image(const struct tables *t, const struct module *m, const struct module_access *access,
		 struct image **ret_image, struct err *err);

#endif
