/*
 * perf_side: every record of the kernel's that is no sample: mappings, tasks, losses, switches, …
 *
 * One small reader a type, in one table. Each reads its fixed fields from the front; the trailing
 * sample_id was cut off before, so that a name can only reach up to it. Pure, any thread.
 */
#include <errno.h>

#include "codec/perf_cursor.h"
#include "codec/perf_record.h"

/* The NUL-terminated text that fills the rest of the record. */
static const char *cursor_text(struct cursor *c)
{
	const char *text = (const char *)c->at;

	if (c->bad || !memchr(text, 0, (size_t)(c->end - c->at)))
		c->bad = true;
	return text;
}

/*
 * Build id or device and inode? While another profiler on the machine asks for build ids, the
 * kernel can set the bit in records of those who did not. A build id has its size, three zero
 * bytes, and then itself; without having been asked for, a short one is a disk of that major
 * number.
 */
#define BUILD_ID_LEAST 16
static bool holds_build_id(const struct record_layout *l, const struct record_side *r,
			   const uint8_t *id)
{
	return r->header.misc & MISC_MMAP_BUILD_ID && id[0] >= (l->build_id ? 1 : BUILD_ID_LEAST) &&
	       id[0] <= 20 && !id[1] && !id[2] && !id[3];
}

static void side_mmap(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	r->mmap.pid = (pid_t)cursor_u32(c);
	r->mmap.tid = (pid_t)cursor_u32(c);
	r->mmap.addr = cursor_u64(c);
	r->mmap.len = cursor_u64(c);
	r->mmap.pgoff = cursor_u64(c);
	if (r->header.type == RECORD_MMAP2) {
		uint8_t *id = cursor_take(c, 24);
		struct cursor who = {.at = id, .end = id ? id + 24 : NULL, .swap = c->swap};

		if (id && holds_build_id(l, r, id)) {
			r->mmap.build_id_size = id[0];
			r->mmap.build_id = id + 4;
		} else if (id) {
			r->mmap.major = cursor_u32(&who);
			r->mmap.minor = cursor_u32(&who);
			r->mmap.inode = cursor_u64(&who);
			r->mmap.inode_generation = cursor_u64(&who);
		}
		/* The backport in RHEL 7's 3.10 has no prot and flags: a name stands in their
		 * place. */
		const uint8_t *next = c->at;
		bool named = c->end - c->at >= 4 && (next[0] == '/' || next[0] == '[') && next[1];
		if (named) {
			r->mmap.prot = r->header.misc & MISC_MMAP_DATA
					       ? 1
					       : 5; /* PROT_READ, PROT_EXEC */
		} else {
			r->mmap.prot = cursor_u32(c);
			r->mmap.flags = cursor_u32(c);
		}
	}
	r->mmap.path = cursor_text(c);
}

static void side_lost(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	(void)l;
	if (r->header.type == RECORD_LOST)
		r->lost.id = cursor_u64(c);
	r->lost.count = cursor_u64(c);
}

static void side_comm(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	(void)l;
	r->comm.pid = (pid_t)cursor_u32(c);
	r->comm.tid = (pid_t)cursor_u32(c);
	r->comm.exec = r->header.misc & MISC_COMM_EXEC;
	r->comm.name = cursor_text(c);
}

static void side_task(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	(void)l;
	r->task.pid = (pid_t)cursor_u32(c);
	r->task.ppid = (pid_t)cursor_u32(c);
	r->task.tid = (pid_t)cursor_u32(c);
	r->task.ptid = (pid_t)cursor_u32(c);
	r->task.time = cursor_u64(c);
}

static void side_throttle(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	(void)l;
	r->throttle.time = cursor_u64(c);
	r->throttle.id = cursor_u64(c);
	r->throttle.stream_id = cursor_u64(c);
}

static void side_read(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	r->read.pid = (pid_t)cursor_u32(c);
	r->read.tid = (pid_t)cursor_u32(c);
	cursor_read(c, l->read_format, &r->read.values);
}

static void side_aux(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	(void)l;
	r->aux.offset = cursor_u64(c);
	r->aux.size = cursor_u64(c);
	r->aux.flags = cursor_u64(c);
}

static void side_itrace(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	(void)l;
	r->itrace.pid = (pid_t)cursor_u32(c);
	r->itrace.tid = (pid_t)cursor_u32(c);
}

static void side_switch(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	(void)l;
	r->sched.out = r->header.misc & MISC_SWITCH_OUT;
	r->sched.preempted = r->sched.out && r->header.misc & MISC_SWITCH_PREEMPT;
	r->sched.other_pid = r->sched.other_tid = -1;
	if (r->header.type == RECORD_SWITCH_CPU_WIDE) {
		r->sched.other_pid = (pid_t)cursor_u32(c);
		r->sched.other_tid = (pid_t)cursor_u32(c);
	}
}

static void side_namespaces(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	(void)l;
	r->namespaces.pid = (pid_t)cursor_u32(c);
	r->namespaces.tid = (pid_t)cursor_u32(c);
	r->namespaces.n = cursor_u64(c);
	if (r->namespaces.n > UINT16_MAX)
		c->bad = true;
	else
		r->namespaces.links = cursor_words(c, r->namespaces.n * 2);
}

static void side_ksymbol(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	(void)l;
	r->ksymbol.addr = cursor_u64(c);
	r->ksymbol.len = cursor_u32(c);
	r->ksymbol.kind = cursor_u16(c);
	r->ksymbol.flags = cursor_u16(c);
	r->ksymbol.name = cursor_text(c);
}

static void side_bpf(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	(void)l;
	r->bpf.kind = cursor_u16(c);
	r->bpf.flags = cursor_u16(c);
	r->bpf.id = cursor_u32(c);
	r->bpf.tag = cursor_take(c, 8);
}

static void side_cgroup(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	(void)l;
	r->cgroup.id = cursor_u64(c);
	r->cgroup.path = cursor_text(c);
}

static void side_text_poke(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	(void)l;
	r->text_poke.addr = cursor_u64(c);
	r->text_poke.old_len = cursor_u16(c);
	r->text_poke.new_len = cursor_u16(c);
	r->text_poke.bytes = cursor_take(c, (uint64_t)r->text_poke.old_len + r->text_poke.new_len);
}

static void side_hw_id(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	(void)l;
	r->hw_id.hw_id = cursor_u64(c);
}

static void side_deferred(struct cursor *c, const struct record_layout *l, struct record_side *r)
{
	(void)l;
	r->deferred.cookie = cursor_u64(c);
	r->deferred.n = cursor_u64(c);
	r->deferred.chain = cursor_words(c, r->deferred.n);
}

typedef void side_reader(struct cursor *c, const struct record_layout *l, struct record_side *r);
static side_reader *const side_readers[] = {
	[RECORD_MMAP] = side_mmap,
	[RECORD_LOST] = side_lost,
	[RECORD_COMM] = side_comm,
	[RECORD_EXIT] = side_task,
	[RECORD_THROTTLE] = side_throttle,
	[RECORD_UNTHROTTLE] = side_throttle,
	[RECORD_FORK] = side_task,
	[RECORD_READ] = side_read,
	[RECORD_MMAP2] = side_mmap,
	[RECORD_AUX] = side_aux,
	[RECORD_ITRACE_START] = side_itrace,
	[RECORD_LOST_SAMPLES] = side_lost,
	[RECORD_SWITCH] = side_switch,
	[RECORD_SWITCH_CPU_WIDE] = side_switch,
	[RECORD_NAMESPACES] = side_namespaces,
	[RECORD_KSYMBOL] = side_ksymbol,
	[RECORD_BPF_EVENT] = side_bpf,
	[RECORD_CGROUP] = side_cgroup,
	[RECORD_TEXT_POKE] = side_text_poke,
	[RECORD_AUX_OUTPUT_HW_ID] = side_hw_id,
	[RECORD_CALLCHAIN_DEFERRED] = side_deferred,
};

int record_side_parse(const struct record_layout *l, void *record, struct record_side *ret)
{
	struct cursor c = record_cursor(record, l->swap);
	const size_t known = sizeof side_readers / sizeof *side_readers;

	memset(ret, 0, sizeof *ret);
	if (record_header_parse(record, (size_t)(c.end - (uint8_t *)record), l->swap, &ret->header))
		return -EBADMSG;
	if (ret->header.type >= known || !side_readers[ret->header.type])
		return -ENOTSUP;
	cursor_trailer(&c, l, &ret->who);
	side_readers[ret->header.type](&c, l, ret);
	return c.bad ? -EBADMSG : 0;
}
