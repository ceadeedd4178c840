/*
 * kcore: the code of the running kernel, as it is (patched by itself), from its memory image.
 */
#ifndef ALTPTTOP_KCORE_H
#define ALTPTTOP_KCORE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copy @size bytes at kernel address @addr out of the core file @path (/proc/kcore). 0, or -errno
 * with a sentence on why not.
 */
int kcore_read(const char *path, uint64_t addr, void *dst, size_t size, char *ret_why,
	       size_t why_size);

#endif
