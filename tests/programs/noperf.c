/*
 * noperf: runs a command under a seccomp filter that refuses perf_event_open with EPERM (or with
 * the errno named by NOPERF_ERRNO), as containers do; with NOPERF_PTRACE also ptrace and
 * process_vm_readv.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSE(nr, no) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (no))

int main(int argc, char **argv)
{
	const char *text = getenv("NOPERF_ERRNO");
	unsigned no = text ? (unsigned)atoi(text) : EPERM;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		REFUSE(SYS_perf_event_open, no),
		REFUSE(SYS_ptrace, EPERM),
		REFUSE(SYS_process_vm_readv, EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog all = {sizeof filter / sizeof *filter, filter};
	if (!getenv("NOPERF_PTRACE")) {
		filter[3] = filter[7];
		all.len = 4;
	}
	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all)) {
		perror("noperf");
		return 126;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
