/*
 * timer_maps: notices that a process runs another program or maps other files, and tells the sink.
 *
 * The perf sampler gets records of both; here they are looked for. After an exec the stack lies
 * elsewhere (its start is randomised) and the program file may be another. Mappings are read every
 * second, because a library that takes the place of a closed one would go unnoticed: addresses that
 * lie in no known mapping are found by the sink itself. Sampler thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "proc/maps.h"
#include "proc/procfs.h"
#include "sample/timer_impl.h"

#define MAPS_EVERY_NS (1000 * MS)
#define MAPS_SHARE    50 /* reading them takes at most a fiftieth of the time */
#define MAPS_AT_ONCE  8  /* processes */

static uint64_t image_of(pid_t pid)
{
	struct proc_stat st = {0};
	struct stat exe = {0};
	char path[32];

	snprintf(path, sizeof path, "/proc/%d/exe", pid);
	if (proc_stat_read(pid, 0, &st) || stat(path, &exe) != 0)
		return 0; /* ended, or a kernel thread */
	return hash_pair(st.start_stack, hash_pair(exe.st_dev, exe.st_ino));
}

static struct timer_process *find(const struct timer_source *ts, pid_t pid)
{
	for (size_t i = 0; i < ts->processes.len; i++)
		if (ts->processes.data[i].pid == pid)
			return &ts->processes.data[i];
	return NULL;
}

void timer_process_new(struct timer_source *ts, pid_t pid)
{
	struct timer_process p = {.pid = pid, .image = image_of(pid)};
	struct timer_process *old = find(ts, pid);

	if (old)
		*old = p;
	else if (vec_push(&ts->processes, p))
		return; /* no memory: its execs go unnoticed */
}

void timer_process_gone(struct timer_source *ts, pid_t pid)
{
	struct timer_process *p = find(ts, pid);

	if (p)
		*p = ts->processes.data[--ts->processes.len];
}

bool timer_process_differs(const struct timer_source *ts, pid_t pid, pid_t parent)
{
	const struct timer_process *p = find(ts, pid), *q = find(ts, parent);

	return p && q && p->image != q->image;
}

void timer_watch_exec(struct timer_source *ts)
{
	for (size_t i = 0; i < ts->processes.len; i++) {
		struct timer_process *p = &ts->processes.data[i];
		uint64_t image = image_of(p->pid);
		struct proc_stat st;
		struct raw_task raw = {.pid = p->pid, .tid = p->pid, .comm = st.comm, .exec = true};

		if (!image || image == p->image || proc_stat_read(p->pid, 0, &st))
			continue;
		p->image = image;
		p->maps = 0;
		raw.time_ns = clock_mono_ns();
		ts->sink->ops->comm(ts->sink->ctx, &raw);
	}
}

static bool is_code_of_file(const struct maps_line *l)
{
	return l->prot & PROT_EXEC && maps_name_kind(l->path) == MAPS_FILE;
}

static uint64_t hash_maps(const char *text, size_t len)
{
	const char *end = text + len;
	struct maps_line l;
	uint64_t h = 1;

	while (maps_next(&text, end, &l))
		if (is_code_of_file(&l))
			h = hash_pair(h, hash_pair(l.start, hash_pair(l.inode, l.pgoff)));
	return h;
}

static void tell_maps(struct timer_source *ts, pid_t pid, const char *text, size_t len)
{
	const char *end = text + len;
	struct maps_line l;

	while (maps_next(&text, end, &l)) {
		const struct raw_mmap m = {
			.time_ns = clock_mono_ns(),
			.pid = pid,
			.tid = pid,
			.start = l.start,
			.size = l.end - l.start,
			.pgoff = l.pgoff,
			.dev_major = l.dev_major,
			.dev_minor = l.dev_minor,
			.inode = l.inode,
			.prot = l.prot,
			.path = l.path,
		};

		if (is_code_of_file(&l))
			ts->sink->ops->mmap(ts->sink->ctx, &m);
	}
}

static void check_maps(struct timer_source *ts, struct timer_process *p)
{
	uint64_t hash;
	char *text;
	size_t len;

	if (maps_read(p->pid, &text, &len, NULL))
		return;
	hash = hash_maps(text, len);
	if (p->maps && p->maps != hash)
		tell_maps(ts, p->pid, text, len);
	p->maps = hash;
	free(text);
}

void timer_watch_maps(struct timer_source *ts, uint64_t now_ns)
{
	uint64_t cost;

	timer_deliver(ts);
	for (size_t n = 0; n < MAPS_AT_ONCE && n < ts->processes.len; n++) {
		if (ts->maps_next >= ts->processes.len)
			ts->maps_next = 0;
		check_maps(ts, &ts->processes.data[ts->maps_next++]);
	}
	cost = clock_mono_ns() - now_ns;
	ts->maps_ns = now_ns +
		      (cost * MAPS_SHARE > MAPS_EVERY_NS ? cost * MAPS_SHARE : MAPS_EVERY_NS);
}
