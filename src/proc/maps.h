/*
 * maps: the text of /proc/PID/maps, line by line, and what kind of memory a mapping's name says.
 *
 * Pure functions over bytes, any thread. The text is hostile: a line that makes no sense is left
 * out. See proc_pid_maps(5).
 */
#ifndef ALTPTTOP_MAPS_H
#define ALTPTTOP_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "frame.h"

#define MAPS_PATH_MAX 4096

struct maps_line {
	uint64_t start, end; /* start < end */
	uint64_t pgoff;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint32_t prot; /* PROT_* */
	bool shared;
	bool deleted;             /* the name ended in " (deleted)", which is cut off */
	char path[MAPS_PATH_MAX]; /* \012 turned back into a newline; "" for anonymous memory */
};

/*
 * Parse the line at *@text (up to @end) and move *@text past it. False: no line is left. Lines that
 * make no sense are skipped.
 */
bool maps_next(const char **text, const char *end, struct maps_line *ret_line);

/* Read /proc/@pid/maps whole: malloc'ed bytes, not terminated. -ESRCH, -EACCES … with a sentence.
 */
int maps_read(pid_t pid, char **ret_text, size_t *ret_len, struct err *err);

/* What a name of executable memory stands for. */
enum maps_name {
	MAPS_ANON, /* no name, "//anon", "[heap]", "[anon:…]": code made at run time */
	MAPS_FILE, /* a path */
	MAPS_MEMFD, /* "/memfd:…", /SYSV…, /dev/zero …: made at run time unless it is an ELF file */
	MAPS_VDSO,    /* "[vdso]" */
	MAPS_STACK,   /* "[stack]", "[stack:TID]" */
	MAPS_SPECIAL, /* "[vsyscall]", "[uprobes]": the kernel's, no file behind it */
};
enum maps_name maps_name_kind(const char *path);

/* Cut a trailing " (deleted)" off @path (NUL-terminated, in place). True when there was one. */
bool maps_cut_deleted(char *path);

#endif
