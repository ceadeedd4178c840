/*
 * permit: gathers the kernel's switches, our capabilities and limits into one struct.
 *
 * What cannot be read stays unknown; nothing here is an error. Any thread.
 */
#include "proc/permit.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "proc/procfs.h"

/* Numbers of capabilities(7); linux/capability.h may be older than the kernel. */
enum {
	CAP_IPC_LOCK_BIT = 14,
	CAP_SYS_PTRACE_BIT = 19,
	CAP_SYS_ADMIN_BIT = 21,
	CAP_SYS_RESOURCE_BIT = 24,
	CAP_SYSLOG_BIT = 34,
	CAP_PERFMON_BIT = 38
};

int permit_sysctl(const char *path, int unknown)
{
	char name[128], text[64], *end;
	long v;

	snprintf(name, sizeof name, "/proc/sys/%s", path);
	if (procfs_read_at(-1, name, text, sizeof text) <= 0)
		return unknown;
	v = strtol(text, &end, 10);
	return end > text && v > INT32_MIN && v < INT32_MAX ? (int)v : unknown;
}

static void read_capabilities(struct permit *p)
{
	char text[32];
	uint64_t caps;

	if (proc_status_field(getpid(), 0, "CapEff", text, sizeof text))
		return;
	caps = strtoull(text, NULL, 16);
	p->cap_ipc_lock = caps >> CAP_IPC_LOCK_BIT & 1;
	p->cap_sys_ptrace = caps >> CAP_SYS_PTRACE_BIT & 1;
	p->cap_sys_admin = caps >> CAP_SYS_ADMIN_BIT & 1;
	p->cap_sys_resource = caps >> CAP_SYS_RESOURCE_BIT & 1;
	p->cap_syslog = caps >> CAP_SYSLOG_BIT & 1;
	p->cap_perfmon = caps >> CAP_PERFMON_BIT & 1;
}

static int status_number(const char *key)
{
	char text[32];

	return proc_status_field(getpid(), 0, key, text, sizeof text) ? 0 : atoi(text);
}

/* The first user namespace maps everything to itself: "0 0 4294967295". */
static bool in_user_namespace(void)
{
	char text[256];
	unsigned a, b, n;

	if (procfs_read(getpid(), 0, "uid_map", text, sizeof text) <= 0)
		return false;
	return sscanf(text, "%u %u %u", &a, &b, &n) != 3 || a != 0 || b != 0 || n != UINT32_MAX;
}

static void read_limit(__rlimit_resource_t which, uint64_t *ret_soft, uint64_t *ret_hard)
{
	struct rlimit l;

	if (getrlimit(which, &l) != 0)
		return;
	*ret_soft = l.rlim_cur == RLIM_INFINITY ? UINT64_MAX : l.rlim_cur;
	*ret_hard = l.rlim_max == RLIM_INFINITY ? UINT64_MAX : l.rlim_max;
}

/* Hidden addresses read as zero. */
static bool kernel_addresses_shown(void)
{
	/* The first symbols may be per-CPU ones at address 0: look for any address in a page full.
	 */
	char text[4096];
	ssize_t n = procfs_read_at(-1, "/proc/kallsyms", text, sizeof text);
	uint64_t addr = 0;

	for (char *line = text; n > 0 && line && *line;) {
		addr |= strtoull(line, NULL, 16);
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return addr != 0;
}

/* A CPU PMU is called cpu (x86, s390), cpu_core/cpu_atom (hybrid x86), armv8_… (arm), … */
static bool has_pmu(void)
{
	static const char *const prefixes[] = {"cpu", "armv", "power", "fsl", "apple_", "riscv"};
	DIR *d = opendir("/sys/bus/event_source/devices");
	struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d)))
		for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
			found = found || strncmp(e->d_name, prefixes[i], strlen(prefixes[i])) == 0;
	if (d)
		closedir(d);
	return found;
}

static bool is_guest(void)
{
	char text[8192];
	static const char flag[] = " hypervisor";
	const char *p;

	if (access("/proc/device-tree/hypervisor", F_OK) == 0 ||
	    access("/sys/hypervisor/type", F_OK) == 0)
		return true;
	if (procfs_read_at(-1, "/proc/cpuinfo", text, sizeof text) <= 0)
		return false;
	p = strstr(text, flag);
	return p && (p[sizeof flag - 1] == ' ' || p[sizeof flag - 1] == '\n');
}

void permit_read(struct permit *ret)
{
	struct permit p = {
		.paranoid = permit_sysctl("kernel/perf_event_paranoid", PERMIT_UNKNOWN),
		.kptr_restrict = permit_sysctl("kernel/kptr_restrict", PERMIT_UNKNOWN),
		.ptrace_scope = permit_sysctl("kernel/yama/ptrace_scope", PERMIT_UNKNOWN),
		.perf_max_rate = (uint32_t)permit_sysctl("kernel/perf_event_max_sample_rate", 0),
		.perf_max_stack = (uint32_t)permit_sysctl("kernel/perf_event_max_stack", 0),
		.mlock_kb = (uint32_t)permit_sysctl("kernel/perf_event_mlock_kb", 0),
	};

	read_capabilities(&p);
	p.seccomp = status_number("Seccomp");
	p.no_new_privs = status_number("NoNewPrivs") > 0;
	p.user_namespace = in_user_namespace();
	read_limit(RLIMIT_NOFILE, &p.nofile_soft, &p.nofile_hard);
	read_limit(RLIMIT_MEMLOCK, &p.memlock_soft, &p.memlock_hard);
	p.kernel_addresses = kernel_addresses_shown();
	p.pmu = has_pmu();
	p.guest = is_guest();
	*ret = p;
}

uint64_t permit_raise_nofile(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) != 0)
		return 0;
	if (l.rlim_cur < l.rlim_max) {
		struct rlimit more = {.rlim_cur = l.rlim_max, .rlim_max = l.rlim_max};

		if (setrlimit(RLIMIT_NOFILE, &more) == 0)
			l = more;
	}
	return l.rlim_cur;
}
