/*
 * timer_maps: notices that a process runs another program or maps other files, and tells the sink.
 *
 * The perf sampler gets records of both; here they are looked for. After an exec the stack lies
 * elsewhere (its start is randomised) and the program file may be another. A library may take the
 * place of a closed one: so the mapping under each sampled address is asked for (PROCMAP_QUERY,
 * Linux 6.11), and all are read again, as often as a share of the time allows, when the process had
 * page faults, as new mappings cause. Sampler thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/living.h"
#include "base/clock.h"
#include "proc/maps.h"
#include "proc/procfs.h"
#include "sample/timer_impl.h"

#define MAPS_SHARE   50 /* reading a process's mappings takes at most a fiftieth of the time */
#define FDS_MOST     64 /* processes whose maps are kept open */
#define LOST_WAIT_NS (2 * MS)

/* struct procmap_query of linux/fs.h, which older headers do not have. */
struct map_query {
	uint64_t size, flags, addr;
	uint64_t start, end, vma_flags, page_size, pgoff, inode;
	uint32_t dev_major, dev_minor, name_size, build_id_size;
	uint64_t name_addr, build_id_addr;
};
#define MAP_QUERY _IOWR('f', 17, struct map_query)

static uint64_t image_of(pid_t pid, struct proc_stat *ret_stat)
{
	struct stat exe = {0};
	char path[32];

	snprintf(path, sizeof path, "/proc/%d/exe", (int)living_thread(pid));
	if (proc_stat_read(pid, 0, ret_stat) || stat(path, &exe) != 0)
		return 0; /* ended, or a kernel thread */
	return hash_pair(ret_stat->start_stack, hash_pair(exe.st_dev, exe.st_ino));
}

static struct timer_process *find(const struct timer_source *ts, pid_t pid)
{
	for (size_t i = 0; i < ts->processes.len; i++)
		if (ts->processes.data[i].pid == pid)
			return &ts->processes.data[i];
	return NULL;
}

static void release(struct timer_process *p)
{
	if (p->maps_fd >= 0)
		close(p->maps_fd);
	vec_fini(&p->code);
}

static int open_maps(const struct timer_source *ts, pid_t pid)
{
	char path[32];

	if (ts->processes.len > FDS_MOST)
		return -1;
	snprintf(path, sizeof path, "/proc/%d/maps", (int)living_thread(pid));
	return open(path, O_RDONLY | O_CLOEXEC);
}

void timer_process_new(struct timer_source *ts, pid_t pid)
{
	struct timer_process p = {.pid = pid};
	struct proc_stat st;

	timer_process_gone(ts, pid);
	p.image = image_of(pid, &st);
	p.maps_fd = open_maps(ts, pid);
	if (vec_push(&ts->processes, p))
		release(&p); /* no memory: its execs go unnoticed */
}

void timer_process_gone(struct timer_source *ts, pid_t pid)
{
	struct timer_process *p = find(ts, pid);

	if (!p)
		return;
	release(p);
	*p = ts->processes.data[--ts->processes.len];
}

void timer_processes_free(struct timer_source *ts)
{
	while (ts->processes.len)
		release(&ts->processes.data[--ts->processes.len]);
	vec_fini(&ts->processes);
}

bool timer_process_differs(const struct timer_source *ts, pid_t pid, pid_t parent)
{
	const struct timer_process *p = find(ts, pid), *q = find(ts, parent);

	return p && q && p->image != q->image;
}

bool timer_process_execed(const struct timer_source *ts, pid_t pid, uint64_t since_ns)
{
	const struct timer_process *p = find(ts, pid);
	struct proc_stat st;

	return p && (p->exec_ns >= since_ns || image_of(pid, &st) != p->image);
}

/* The code at @addr as the sink knows it. */
static const struct timer_code *code_at(const struct timer_process *p, uint64_t addr)
{
	size_t lo = 0, hi = p->code.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->code.data[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo < p->code.len && p->code.data[lo].start <= addr ? &p->code.data[lo] : NULL;
}

/* @l lies in @c, and an address in it means the same. */
static bool same_code(const struct timer_code *c, const struct timer_code *l)
{
	return c && c->inode == l->inode && c->end >= l->end &&
	       c->start - c->pgoff == l->start - l->pgoff;
}

static void tell(struct timer_source *ts, pid_t pid, const struct maps_line *l, uint64_t time_ns)
{
	const struct raw_mmap m = {
		.time_ns = time_ns,
		.pid = pid,
		.tid = pid,
		.start = l->start,
		.size = l->end - l->start,
		.pgoff = l->pgoff,
		.dev_major = l->dev_major,
		.dev_minor = l->dev_minor,
		.inode = l->inode,
		.prot = l->prot,
		.path = l->path,
	};

	ts->sink->ops->mmap(ts->sink->ctx, &m);
}

/* Tell what is new in the text, and remember what is there now. */
static void take_text(struct timer_source *ts, struct timer_process *p, const char *text,
		      size_t len, uint64_t time_ns)
{
	const char *end = text + len;
	struct timer_process now = {.maps_fd = -1};
	struct maps_line l;

	while (maps_next(&text, end, &l)) {
		struct timer_code c = {l.start, l.end, l.pgoff, l.inode};

		if (!(l.prot & PROT_EXEC) || maps_name_kind(l.path) != MAPS_FILE)
			continue;
		/* At first the sink reads them by itself, when it meets the process. */
		if (p->read && !same_code(code_at(p, c.start), &c))
			tell(ts, p->pid, &l, time_ns);
		if (vec_push(&now.code, c))
			break;
	}
	vec_fini(&p->code);
	p->code.data = now.code.data;
	p->code.len = now.code.len;
	p->code.cap = now.code.cap;
	p->read = true;
}

static void read_maps(struct timer_source *ts, struct timer_process *p, uint64_t time_ns)
{
	uint64_t start = clock_mono_ns(), now;
	char *text;
	size_t len;

	if (maps_read(p->pid, &text, &len, NULL) == 0) {
		take_text(ts, p, text, len, time_ns);
		free(text);
	}
	now = clock_mono_ns();
	p->due_ns = now + (now - start) * MAPS_SHARE;
}

static void watch_exec(struct timer_source *ts, struct timer_process *p, uint64_t image,
		       const struct proc_stat *st)
{
	const struct raw_task raw = {
		.time_ns = clock_mono_ns(),
		.pid = p->pid,
		.tid = p->pid,
		.comm = st->comm,
		.exec = true,
	};

	if (image == p->image)
		return;
	p->image = image;
	p->exec_ns = raw.time_ns;
	p->read = false;
	p->due_ns = 0;
	p->code.len = 0;
	if (p->maps_fd >= 0) { /* it belongs to the program that was there before */
		close(p->maps_fd);
		p->maps_fd = open_maps(ts, p->pid);
	}
	ts->sink->ops->comm(ts->sink->ctx, &raw);
}

void timer_watch_processes(struct timer_source *ts)
{
	for (size_t i = 0; i < ts->processes.len; i++) {
		struct timer_process *p = &ts->processes.data[i];
		struct proc_stat st;
		uint64_t image = image_of(p->pid, &st), now = clock_mono_ns();

		if (!image)
			continue;
		watch_exec(ts, p, image, &st);
		if (p->read && (st.faults == p->faults || now < p->due_ns))
			continue;
		p->faults = st.faults;
		read_maps(ts, p, now);
	}
}

void timer_check_code(struct timer_source *ts, pid_t pid, uint64_t pc, uint64_t time_ns)
{
	struct timer_process *p = find(ts, pid);
	struct map_query q = {.size = sizeof q, .addr = pc};
	struct timer_code c;
	bool known;

	if (!p || p->maps_fd < 0 || !p->read)
		return;
	if (ioctl(p->maps_fd, MAP_QUERY, &q) != 0) {
		if (errno == ENOTTY) { /* an older kernel */
			close(p->maps_fd);
			p->maps_fd = -1;
		}
		return;
	}
	c = (struct timer_code){q.start, q.end, q.pgoff, q.inode};
	known = same_code(code_at(p, pc), &c);
	if (known || !q.inode || clock_mono_ns() < p->due_ns)
		return;
	read_maps(ts, p, time_ns);
	if (!same_code(code_at(p, pc), &c)) /* no file's code (a memfd's perhaps): not every time */
		p->due_ns += LOST_WAIT_NS;
}
