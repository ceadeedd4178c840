/*
 * zip: ELF files that a zip archive (an APK) stores uncompressed, to be mapped from inside it.
 *
 * Reads the central directory with pread; every field is checked against the file. Any thread.
 */
#ifndef ALTPTTOP_ZIP_H
#define ALTPTTOP_ZIP_H

#include <stddef.h>
#include <stdint.h>

#define ZIP_NAME 256

struct zip_member {
	char name[ZIP_NAME];
	uint64_t offset, size; /* of its bytes in the archive */
};

/* The stored member named @name. -ENOENT: no such (or it is compressed); -EBADMSG: no archive. */
int zip_by_name(int fd, const char *name, struct zip_member *ret_member);
/* The stored member that holds byte @offset of the archive. */
int zip_by_offset(int fd, uint64_t offset, struct zip_member *ret_member);

#endif
