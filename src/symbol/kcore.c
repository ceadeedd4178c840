/*
 * kcore: reads /proc/kcore, an ELF core file of the kernel's address space (proc(5)).
 *
 * Only root may read it, some kernels have none, and a locked-down one refuses: each has its
 * sentence. The file has no size worth the name, so it is read by pread. Resolver thread.
 */
#include "kcore.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS_MAX 512

static int find_offset(int fd, uint64_t addr, size_t size, uint64_t *ret_offset)
{
	Elf64_Ehdr head;

	if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(Elf64_Phdr))
		return -EBADMSG;
	for (unsigned i = 0; i < head.e_phnum && i < SEGMENTS_MAX; i++) {
		Elf64_Phdr p;
		uint64_t at = head.e_phoff + i * sizeof p, in;

		if (at > INT64_MAX || pread(fd, &p, sizeof p, (off_t)at) != (ssize_t)sizeof p)
			return -EBADMSG;
		in = addr - p.p_vaddr;
		if (p.p_type != PT_LOAD || addr < p.p_vaddr || in >= p.p_memsz ||
		    p.p_memsz - in < size || p.p_offset > INT64_MAX - in)
			continue;
		*ret_offset = p.p_offset + in;
		return 0;
	}
	return -ENOENT;
}

/* Short: the line of a narrow screen has to hold it. */
static int refuse(int no, const char *path, char *ret_why, size_t why_size)
{
	const char *hint = no == ENOENT                  ? ": built without it"
			   : no == EACCES || no == EPERM ? ": not root, or locked down"
							 : "";
	const char *name = strerrorname_np(no);

	snprintf(ret_why, why_size, "no code: %s (%s)%s", path, name ? name : "refused", hint);
	return -no;
}

int kcore_read(const char *path, uint64_t addr, void *dst, size_t size, char *ret_why,
	       size_t why_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	uint64_t offset = 0;
	ssize_t got;

	if (fd < 0)
		return refuse(errno, path, ret_why, why_size);
	rc = find_offset(fd, addr, size, &offset);
	if (rc) {
		snprintf(ret_why, why_size,
			 rc == -ENOENT ? "no code: %s does not hold it"
				       : "no code: %s makes no sense",
			 path);
		close(fd);
		return rc;
	}
	got = pread(fd, dst, size, (off_t)offset);
	rc = got < 0 ? refuse(errno, path, ret_why, why_size) : 0;
	if (got >= 0 && (size_t)got < size) {
		snprintf(ret_why, why_size, "no code: %s ends early", path);
		rc = -EIO;
	}
	close(fd);
	return rc;
}
