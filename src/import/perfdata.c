/*
 * perfdata: perf.data recordings: records → order → sink, as the live perf sampler delivers them.
 *
 * Compressed chunks are unpacked into a remainder buffer, since records may span them. Hardware
 * traces inside are recognised and skipped, and that is said. Source thread; memory is the order's
 * cap plus one record.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/vec.h"
#include "codec/perf_raw.h"
#include "import/importer.h"
#include "import/offcpu.h"
#include "import/perffile.h"
#include "import/perforigin.h"
#include "import/recordorder.h"

#define ORDER_BYTES (128ull << 20)
#define RECORD_MAX  65536
#define VALUES_MAX  32

struct perfdata {
	struct import *im;
	struct perffile file;
	struct recordorder *order;
	ZSTD_DCtx *zstd;
	struct {
		VEC(uint8_t)
	} unpacked;                   /* whole and broken records behind each other */
	uint16_t event_of[EVENT_MAX]; /* attr → event index + 1; 0: not announced */
	struct map64 last;            /* (tid, id) → index in readings */
	struct {
		VEC(uint64_t)
	} readings;
	struct raw_room room;
	_Alignas(8) uint8_t record[RECORD_MAX];
	struct perforigin origin;
	uint64_t offcpu_chain[OFFCPU_CHAIN_MAX];
	uint64_t lost, lost_in_all; /* as the kernel told of it, and in sum at the end */
	uint64_t filtered;          /* samples that perf record was told to leave out */
	uint64_t untimed, last_ns;  /* samples without a time of their own; of the last other */
	bool aux_said, unpacking;
	struct err *err;
};

static int feed_record(struct perfdata *p, uint8_t *record, const struct record_header *h);

/* --- whose layout, which event --- */

static const struct perffile_attr *attr_for(struct perfdata *p, const void *record,
					    uint32_t *ret_index)
{
	struct perffile *f = &p->file;
	struct record_ident who;
	uint64_t id;
	*ret_index = 0;
	if (!f->attrs.len)
		return NULL;
	const struct record_layout *l = &f->attrs.data[0].attr.layout;
	if (f->attrs.len > 1) {
		bool has_id = record_id(l, record, &id);
		if (!has_id && !record_ident_parse(l, record, &who) &&
		    who.fields & (FIELD_ID | FIELD_IDENTIFIER)) {
			id = who.id;
			has_id = true;
		}
		/* id 0 belongs to records that perf made up itself: any layout reads them */
		if (has_id && id &&
		    (!map64_get(&f->attr_of, id, ret_index) || *ret_index >= f->attrs.len))
			return NULL;
	}
	return &f->attrs.data[*ret_index];
}

static bool is_offcpu(const struct perffile_attr *a)
{
	return a->attr.type == 1 && a->attr.config == 10 && !strcmp(a->name, OFFCPU_EVENT);
}

static uint16_t event_for(struct perfdata *p, const struct perffile_attr *a, uint32_t index)
{
	if (index >= EVENT_MAX)
		return UINT16_MAX;
	if (p->event_of[index])
		return (uint16_t)(p->event_of[index] - 1);
	bool clock = a->attr.type == 1 && a->attr.config <= 1;
	bool freq = a->attr.flags & ATTR_FREQ;
	struct event_desc d = {.unit = clock || is_offcpu(a) ? EVENT_NS : EVENT_COUNT,
			       .sampled = true,
			       .cpu_time = clock,
			       .leader = p->im->nevents,
			       .period = freq ? 0 : a->attr.period,
			       .freq_hz = freq ? (uint32_t)a->attr.period : 0};
	memcpy(d.name, a->name, sizeof d.name);
	uint16_t event = import_event_desc(p->im, &d);
	if (event != UINT16_MAX)
		p->event_of[index] = (uint16_t)(event + 1);
	return event;
}

/* --- samples --- */

/* What each counter of a group counted since this thread's last reading of it. */
static uint32_t fill_values(struct perfdata *p, const struct record_sample *s, uint32_t own,
			    struct sample_value values[VALUES_MAX], uint64_t *ret_own_count)
{
	uint32_t n = 0;
	bool group = s->read.format & READ_GROUP && s->read.format & READ_ID;
	for (uint64_t i = 0; group && i < s->read.nvalues && n < VALUES_MAX; i++) {
		struct record_read_value v = record_read_at(&s->read, i);
		uint32_t attr, slot;
		if (!map64_get(&p->file.attr_of, v.id, &attr) || attr >= p->file.attrs.len) {
			p->im->sink->ops->loss(p->im->sink->ctx, LOSS_UNKNOWN_ID, 1);
			continue;
		}
		uint64_t key = hash_pair((uint64_t)s->who.tid, v.id), count = v.value;
		if (map64_get(&p->last, key, &slot)) {
			count = v.value >= p->readings.data[slot] ? v.value - p->readings.data[slot]
								  : 0;
			p->readings.data[slot] = v.value;
		} else if (!vec_push(&p->readings, v.value)) {
			map64_put(&p->last, key, (uint32_t)p->readings.len - 1);
		}
		if (attr == own) {
			*ret_own_count = count;
			continue;
		}
		uint16_t event = event_for(p, &p->file.attrs.data[attr], attr);
		if (event != UINT16_MAX)
			values[n++] = (struct sample_value){event, VALUE_OK, count, 1};
	}
	return n;
}

/* What a group counted is exact; the period of a frequency is what the kernel aimed at. */
static uint64_t weight_of(const struct perffile_attr *a, const struct record_sample *s,
			  uint64_t counted)
{
	if (counted)
		return counted;
	if (s->fields & FIELD_PERIOD)
		return s->period;
	if (!(a->attr.flags & ATTR_FREQ) && a->attr.period)
		return a->attr.period;
	return 1;
}

static int deliver_sample(struct perfdata *p, void *record)
{
	const struct sink *sink = p->im->sink;
	uint32_t index;
	const struct perffile_attr *a = attr_for(p, record, &index);
	struct record_sample s;
	if (!a) {
		sink->ops->loss(sink->ctx, LOSS_UNKNOWN_ID, 1);
		return 0;
	}
	uint16_t event = event_for(p, a, index);
	if (event == UINT16_MAX || record_sample_parse(&a->attr.layout, record, &s)) {
		sink->ops->loss(sink->ctx, LOSS_BAD_RECORD, 1);
		return 0;
	}
	if (is_offcpu(a) && a->attr.layout.sample_type & FIELD_RAW &&
	    !offcpu_from_raw(&a->attr.layout, &s, p->offcpu_chain)) {
		sink->ops->loss(sink->ctx, LOSS_BAD_RECORD, 1);
		return 0;
	}
	if (s.who.time >= OFFCPU_NO_TIME) {
		s.who.time = p->last_ns;
		p->untimed++;
	}
	p->last_ns = s.who.time;
	struct sample_value values[VALUES_MAX];
	struct raw_sample raw;
	uint64_t counted = 0;
	raw_from_sample(&a->attr.layout, &s, p->file.arch, &p->room, &raw);
	raw.event = event;
	raw.values = values;
	raw.nvalues = fill_values(p, &s, index, values, &counted);
	raw.weight = weight_of(a, &s, counted);
	/* A chain that was asked for and is empty began at the address, and ended there. Where none
	 * was asked for, the address is all there is to know. */
	if (a->attr.layout.sample_type & FIELD_CALLCHAIN && !raw.nkernel && !raw.nuser && s.ip) {
		bool kernel = raw.flags & SAMPLE_KERNEL;
		*(kernel ? &raw.kernel : &raw.user) = &s.ip;
		*(kernel ? &raw.nkernel : &raw.nuser) = 1;
	}
	perforigin_sample(&p->origin, raw.time_ns);
	sink->ops->sample(sink->ctx, &raw);
	atomic_fetch_add_explicit(&p->im->status->samples, 1, memory_order_relaxed);
	return 0;
}

/* --- what is not a sample --- */

static void deliver_mmap(struct perfdata *p, const struct record_side *r)
{
	struct raw_mmap m;
	raw_from_mmap(r, &m);
	const struct perffile_build_id *b = m.build_id
						    ? NULL
						    : perffile_build_id(&p->file, m.path, m.kernel);
	if (b) {
		m.build_id = b->id;
		m.build_id_size = b->id_size;
	}
	perforigin_mmap(&p->origin, &m);
	p->im->sink->ops->mmap(p->im->sink->ctx, &m);
}

static void deliver_task(struct perfdata *p, const struct record_side *r)
{
	const struct sink *sink = p->im->sink;
	struct raw_task t = {.time_ns = r->who.time};
	if (r->header.type == RECORD_COMM) {
		t.pid = r->comm.pid;
		t.tid = r->comm.tid;
		t.comm = r->comm.name;
		t.exec = r->comm.exec;
		sink->ops->comm(sink->ctx, &t);
		return;
	}
	t.time_ns = r->task.time;
	t.pid = r->task.pid;
	t.tid = r->task.tid;
	t.ppid = r->task.ppid;
	t.ptid = r->task.ptid;
	(r->header.type == RECORD_FORK ? sink->ops->fork : sink->ops->exit)(sink->ctx, &t);
}

/*
 * What a full ring lost the kernel tells as soon as there is room again (LOST), and perf record
 * reads it once more from each event when it ends (LOST_SAMPLES without a time): the same losses,
 * and those that no record followed. Other LOST_SAMPLES are the processor's own.
 */
static void deliver_lost(struct perfdata *p, const struct perffile_attr *a,
			 const struct record_side *r)
{
	bool samples = r->header.type == RECORD_LOST_SAMPLES;
	if (samples && r->header.misc & MISC_LOST_SAMPLES_BPF) {
		p->filtered += r->lost.count;
	} else if (samples && !r->who.time && a && a->attr.layout.read_format & READ_LOST) {
		p->lost_in_all += r->lost.count;
	} else {
		p->lost += samples ? 0 : r->lost.count;
		p->im->sink->ops->loss(p->im->sink->ctx, LOSS_RING, r->lost.count);
	}
}

static void tell_sums(struct perfdata *p)
{
	const struct sink *sink = p->im->sink;
	char text[160];
	if (p->lost_in_all > p->lost)
		sink->ops->loss(sink->ctx, LOSS_RING, p->lost_in_all - p->lost);
	if (recordorder_late(p->order))
		sink->ops->loss(sink->ctx, LOSS_ORDER, recordorder_late(p->order));
	if (p->filtered) {
		snprintf(text, sizeof text,
			 "%llu samples are not in this file because of perf record's --filter",
			 (unsigned long long)p->filtered);
		sink->ops->say(sink->ctx, text);
	}
	if (p->untimed) {
		snprintf(text, sizeof text, "%llu " OFFCPU_UNTIMED, (unsigned long long)p->untimed);
		sink->ops->say(sink->ctx, text);
	}
}

static int deliver(void *ctx, void *record)
{
	struct perfdata *p = ctx;
	const struct sink *sink = p->im->sink;
	struct record_header h;
	record_header_parse(record, RECORD_MAX, p->file.swap, &h);
	if (h.type == RECORD_SAMPLE)
		return deliver_sample(p, record);
	uint32_t index;
	const struct perffile_attr *a = attr_for(p, record, &index);
	struct record_layout none = {.swap = p->file.swap};
	struct record_side r;
	int rc = record_side_parse(a ? &a->attr.layout : &none, record, &r);
	if (rc == -ENOTSUP)
		return 0;
	if (rc) {
		sink->ops->loss(sink->ctx, LOSS_BAD_RECORD, 1);
		return 0;
	}
	switch (h.type) {
	case RECORD_MMAP:
	case RECORD_MMAP2: deliver_mmap(p, &r); break;
	case RECORD_COMM:
	case RECORD_FORK:
	case RECORD_EXIT: deliver_task(p, &r); break;
	case RECORD_LOST:
	case RECORD_LOST_SAMPLES: deliver_lost(p, a, &r); break;
	case RECORD_THROTTLE: sink->ops->loss(sink->ctx, LOSS_THROTTLED, 1); break;
	case RECORD_KSYMBOL:
		sink->ops->ksymbol(sink->ctx, r.who.time, r.ksymbol.addr, r.ksymbol.len,
				   r.ksymbol.name, r.ksymbol.flags & 1);
		break;
	default: break;
	}
	return 0;
}

/* --- compressed chunks --- */

static int feed_bytes(struct perfdata *p)
{
	size_t at = 0;
	int rc = 0;
	while (!rc && p->unpacked.len - at >= 8) {
		struct record_header h;
		if (record_header_parse(p->unpacked.data + at, RECORD_MAX, p->file.swap, &h))
			return err_set(p->err, EBADMSG,
				       "a compressed chunk before byte %llu holds a damaged record",
				       (unsigned long long)perffile_offset(&p->file));
		if (h.size > p->unpacked.len - at)
			break;
		rc = feed_record(p, p->unpacked.data + at, &h);
		at += h.size;
	}
	memmove(p->unpacked.data, p->unpacked.data + at, p->unpacked.len - at);
	p->unpacked.len -= at;
	return rc;
}

static int unpack(struct perfdata *p, const uint8_t *data, size_t n)
{
	if (p->unpacking)
		return err_set(p->err, EBADMSG, "a compressed chunk lies inside another");
	ZSTD_inBuffer in = {data, n, 0};
	if (!p->zstd && !(p->zstd = ZSTD_createDCtx()))
		return -ENOMEM;
	int rc = 0;
	bool full = true;
	while (!rc && (in.pos < in.size || full)) {
		rc = vec_reserve(&p->unpacked, p->unpacked.len + 2 * RECORD_MAX);
		if (rc)
			break;
		ZSTD_outBuffer out = {p->unpacked.data, p->unpacked.cap, p->unpacked.len};
		size_t hint = ZSTD_decompressStream(p->zstd, &out, &in);
		if (ZSTD_isError(hint))
			return err_set(p->err, EBADMSG,
				       "the compressed chunk before byte %llu is damaged",
				       (unsigned long long)perffile_offset(&p->file));
		full = out.pos == out.size;
		p->unpacked.len = out.pos;
		p->unpacking = true;
		rc = feed_bytes(p);
		p->unpacking = false;
	}
	return rc;
}

/* --- records in file order --- */

static int skip_payload(struct perfdata *p, uint64_t n)
{
	uint8_t buf[4096];
	while (n) {
		size_t want = n < sizeof buf ? (size_t)n : sizeof buf,
		       got = perffile_read(&p->file, buf, want);
		if (!got)
			return err_set(p->err, EBADMSG, "the recording is cut off at byte %llu",
				       (unsigned long long)perffile_offset(&p->file));
		n -= got;
	}
	return 0;
}

/* How perf makes text of a trace, by what wrote it (perf's enum auxtrace_type). */
static void say_aux(struct perfdata *p, uint32_t type)
{
#define FIELDS "--ns -Fcomm,tid,pid,time,cpu,event,ip,sym,addr,symoff,flags"
	static const struct {
		const char *what, *options;
	} kinds[] = {
		[0] = {"hardware", ""},
		[1] = {"Intel PT", " --itrace=i0ns " FIELDS ",callindent"},
		[2] = {"Intel BTS", " --itrace=b " FIELDS},
		[3] = {"Arm CoreSight", " --itrace=b " FIELDS},
		[4] = {"Arm SPE", ""},
		[5] = {"s390 sampling", ""},
	};
#undef FIELDS
	char text[256];
	if (type >= sizeof kinds / sizeof *kinds)
		type = 0;
	snprintf(text, sizeof text,
		 "a trace of %s (AUXTRACE) is in this file and left out: decode it with "
		 "`perf script%s` and open the text",
		 kinds[type].what, kinds[type].options);
	if (!p->aux_said)
		p->im->sink->ops->say(p->im->sink->ctx, text);
	p->aux_said = true;
}

static int feed_own(struct perfdata *p, uint8_t *record, const struct record_header *h)
{
	const struct perffile *f = &p->file;
	switch (h->type) {
	case PERFFILE_FINISHED_ROUND: return f->parted ? 0 : recordorder_round(p->order);
	case PERFFILE_TRACING_DATA:
		return f->pipe && h->size >= 12
			       ? skip_payload(p, (perffile_u32(f, record + 8) + 7ull) & ~7ull)
			       : 0;
	case PERFFILE_AUXTRACE_INFO:
		say_aux(p, h->size >= 12 ? perffile_u32(f, record + 8) : 0);
		return 0;
	case PERFFILE_AUXTRACE:
		say_aux(p, 0);
		return h->size >= 16 ? skip_payload(p, perffile_u64(f, record + 8)) : 0;
	case PERFFILE_COMPRESSED: return unpack(p, record + 8, h->size - 8u);
	case PERFFILE_COMPRESSED2: {
		uint64_t n = h->size >= 16 ? perffile_u64(f, record + 8) : 0;
		return n <= h->size - 16u ? unpack(p, record + 16, (size_t)n) : 0;
	}
	default: perffile_describe(&p->file, record, h); return 0;
	}
}

static int feed_record(struct perfdata *p, uint8_t *record, const struct record_header *h)
{
	if (!import_go_on(p->im))
		return -ECANCELED;
	if (h->type >= RECORD_USER_TYPE_START)
		return feed_own(p, record, h);
	uint32_t index;
	const struct perffile_attr *a = attr_for(p, record, &index);
	struct record_ident who;
	bool timed = a && !record_ident_parse(&a->attr.layout, record, &who) &&
		     who.fields & FIELD_TIME;
	return recordorder_add(p->order, timed ? who.time : 0, record, h->size);
}

static int read_records(struct perfdata *p)
{
	uint8_t *record = p->record;
	int rc = 0;
	while (!rc) {
		struct record_header h;
		uint64_t at = perffile_offset(&p->file);
		size_t got = perffile_read(&p->file, record, 8);
		if (!got && p->file.data_cut)
			return err_set(p->err, EBADMSG, "the recording is cut off at byte %llu",
				       (unsigned long long)at);
		if (!got)
			return 0;
		bool whole = got == 8 && !record_header_parse(record, RECORD_MAX, p->file.swap, &h);
		if (!whole || perffile_read(&p->file, record + 8, h.size - 8u) != h.size - 8u)
			return err_set(p->err, EBADMSG,
				       "the recording is damaged or cut off at byte %llu",
				       (unsigned long long)at);
		rc = feed_record(p, record, &h);
	}
	return rc;
}

/* Each thread of perf record --threads wrote a file of what it read, and packed it alone. */
static int read_parts(struct perfdata *p)
{
	int rc = 0;
	while (!rc && perffile_next_part(&p->file)) {
		p->unpacked.len = 0;
		if (p->zstd)
			ZSTD_DCtx_reset(p->zstd, ZSTD_reset_session_only);
		rc = read_records(p);
	}
	if (p->file.part == 1)
		p->im->sink->ops->say(p->im->sink->ctx,
				      "perf record --threads wrote its samples to files beside "
				      "this one: open the directory that they lie in");
	return rc;
}

static int perfdata_run(struct import *im, struct err *err)
{
	struct perfdata *p = calloc(1, sizeof *p);
	if (!p)
		return err_set(err, ENOMEM, "no memory to read the recording");
	p->im = im;
	p->err = err;
	map64_init(&p->last);
	p->order = recordorder_new(ORDER_BYTES, deliver, p);
	int rc = p->order ? perffile_open(&p->file, im->in, err) : -ENOMEM;
	if (!rc) {
		p->origin = (struct perforigin){.im = im, .file = &p->file};
		if (!p->file.pipe)
			perforigin_tell(&p->origin);
		if (p->file.cut)
			im->cut =
				"what describes its machine, its events and its files lacks in part";
		if (p->file.unclosed)
			im->sink->ops->say(im->sink->ctx,
					   "perf record did not come to its end: what it writes "
					   "there is missing, as the machine and the build ids of "
					   "program files");
		rc = read_records(p);
		if (!rc && p->file.parted)
			rc = read_parts(p);
		int rest = recordorder_finish(p->order);
		rc = rc ? rc : rest;
		if (p->file.pipe) /* build ids come last */
			perforigin_tell(&p->origin);
		tell_sums(p);
	}
	if (p->order)
		perffile_close(&p->file);
	recordorder_free(p->order);
	ZSTD_freeDCtx(p->zstd);
	map64_fini(&p->last);
	vec_fini(&p->readings);
	vec_fini(&p->unpacked);
	free(p);
	return rc;
}

static int perfdata_recognise(const uint8_t *head, size_t n)
{
	return perffile_recognise(head, n) ? 100 : 0;
}

const struct importer_ops importer_perf_data = {"perf.data", VIEW_FUNCTIONS, perfdata_recognise,
						perfdata_run};
