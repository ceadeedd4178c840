/*
 * permit: what this process may do here: the kernel's switches, its own capabilities and limits.
 *
 * Any thread. Facts only; whether something works is tried by whoever needs it (doctor.h, the
 * sources' probes).
 */
#ifndef ALTPTTOP_PERMIT_H
#define ALTPTTOP_PERMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PERMIT_UNKNOWN (-100)

struct permit {
	int paranoid;      /* kernel.perf_event_paranoid; PERMIT_UNKNOWN: no perf events here */
	int kptr_restrict; /* kernel.kptr_restrict */
	int ptrace_scope;  /* kernel.yama.ptrace_scope; PERMIT_UNKNOWN: no Yama, as 0 */
	uint32_t perf_max_rate; /* kernel.perf_event_max_sample_rate, 0 unknown */
	uint32_t perf_max_stack;
	uint32_t mlock_kb; /* kernel.perf_event_mlock_kb, per CPU and user */
	bool cap_perfmon, cap_sys_admin, cap_sys_ptrace, cap_ipc_lock, cap_syslog,
		cap_sys_resource; /* effective */
	int seccomp;              /* 0 none, 1 strict, 2 filter */
	bool no_new_privs;
	bool user_namespace; /* capabilities count only inside it */
	uint64_t nofile_soft, nofile_hard;
	uint64_t memlock_soft, memlock_hard; /* bytes, UINT64_MAX unlimited */
	bool kernel_addresses;               /* /proc/kallsyms shows them */
	bool pmu;                            /* the kernel offers a hardware PMU */
	bool guest; /* CPU says it is a virtual machine (x86), or device tree does */
};

void permit_read(struct permit *ret);
int permit_sysctl(const char *path, int unknown); /* number in /proc/sys/@path, or @unknown */

/* Raise the soft limit of open files to the hard one; what it is afterwards. */
uint64_t permit_raise_nofile(void);

#endif
