/*
 * perfscript: `perf script` text, CPU samples with stacks or an instruction or branch trace.
 *
 * Runs on the source thread. Lines repeat, so what a line's tail says is remembered by its hash
 * (bounded); a trace is then one hash, one look-up and the time's digits a line. Taking lines apart
 * is in scriptline.c, telling samples from a trace in scriptlook.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "import/importer.h"
#include "import/insnbytes.h"
#include "import/offcpu.h"
#include "import/scriptline.h"
#include "import/scriptlook.h"

#define MEMO_MAX  (1u << 20)
#define STACK_MAX 4096

struct tail { /* what a trace line says behind its time */
	struct trace_insn insn;
	bool nothing, foreign; /* no step of the trace; a line of another event */
};

struct script {
	struct import *im;
	bool trace, branch_only, arm64;
	bool by_insn; /* instructions tell the classes: a line without one is something else's */
	/* the sample being gathered */
	bool open, in_record;
	bool flat;   /* -F ip,sym and its like without stacks: each line is a sample */
	bool deltas; /* --deltatime: times are what passed since the line before */
	struct raw_sample sample;
	struct {
		VEC(frame_id)
	} frames;
	uint32_t inlined_from; /* first frame that waits for its module: inlined ones come before
				  their holder */
	/* what was seen before */
	struct map64 memo;
	struct map64 chains; /* frames of generated code whose names tell what is inlined */
	struct {
		VEC(struct tail)
	} tails;
	struct map64 threads; /* (pid, tid) → dense index of trace_ops.thread */
	uint32_t nthreads, thread;
	char prefix[256];
	size_t prefix_len;
	uint64_t line_number, time_ns, foreign;
	uint64_t unweighed; /* samples of which nobody knows how much of the event they stand for */
	uint64_t untimed;   /* samples without a time of their own */
	bool gap;
};

static bool starts(struct text t, const char *s)
{
	size_t n = strlen(s);
	return t.n >= n && !memcmp(t.s, s, n);
}

/* What a line says of the time. */
static void take_time(struct script *s, uint64_t ns)
{
	if (ns > INT64_MAX)
		s->untimed++;
	else
		s->time_ns = s->deltas ? s->time_ns + ns : ns;
}

/* --- samples --- */

static void flush_sample(struct script *s)
{
	if (!s->open)
		return;
	s->open = false;
	static const frame_id unknown = FRAME_UNKNOWN;
	s->sample.frames = s->frames.len ? s->frames.data : &unknown;
	s->sample.nframes = s->frames.len ? (uint32_t)s->frames.len : 1;
	/* A chain of addresses begins where stacks begin. */
	if (import_end(s->im, s->sample.frames[s->sample.nframes - 1]) != END_ROOT)
		s->sample.cut = CUT_NO_ROOT;
	s->im->sink->ops->sample(s->im->sink->ctx, &s->sample);
	s->im->status->samples++;
}

static frame_id place_frame(struct script *s, const struct script_place *p, module_id module)
{
	struct import *im = s->im;
	bool kernel = p->dso.n ? import_is_kernel(p->dso.s, p->dso.n)
			       : p->has_ip && p->ip >> 47 == 0x1ffff;
	if (p->dso.n)
		module = import_module(im, p->dso.s, p->dso.n, kernel);
	str_id name = p->symbol.n ? tables_strn(im->tables, p->symbol.s, p->symbol.n)
				  : tables_str(im->tables, "[unknown]");
	return import_frame(im, module, name, p->symbol.n ? 0 : p->ip, 0, 0,
			    (kernel ? FRAME_KERNEL : 0) | (p->inlined ? FRAME_INLINED : 0));
}

/* Inlined frames name no module: they take that of the frame that holds them, which comes behind
 * them. */
static void settle_inlined(struct script *s, frame_id holder)
{
	struct tables *t = s->im->tables;
	for (size_t i = s->inlined_from; i < s->frames.len; i++) {
		struct frame f = *tables_frame_get(t, s->frames.data[i]);
		f.module = tables_frame_get(t, holder)->module;
		s->frames.data[i] = tables_frame(t, &f);
	}
}

static void add_frame(struct script *s, frame_id id)
{
	if (s->frames.len >= STACK_MAX || !id)
		return;
	bool inlined = tables_frame_get(s->im->tables, id)->flags & FRAME_INLINED;
	if (!inlined && s->inlined_from < s->frames.len)
		settle_inlined(s, id);
	if (vec_push(&s->frames, id))
		return;
	if (!inlined)
		s->inlined_from = (uint32_t)s->frames.len;
}

/*
 * "outer->inner->innermost" in a perf map: what the compiler of generated code has inlined there.
 * An operator's name has no such form in a map.
 */
static void add_chain(struct script *s, frame_id id)
{
	struct tables *t = s->im->tables;
	const struct frame *f = tables_frame_get(t, id);
	const char *name = tables_text(t, f->name), *end = name + strlen(name);
	for (const char *at = end; at > name; at--) {
		bool arrow = at[0] == '-' && at[1] == '>' && at + 2 < end;
		if (!arrow)
			continue;
		add_frame(s, import_frame(s->im, f->module,
					  tables_strn(t, at + 2, (size_t)(end - at - 2)), 0, 0, 0,
					  FRAME_INLINED));
		end = at;
	}
	add_frame(s, import_frame(s->im, f->module, tables_strn(t, name, (size_t)(end - name)), 0,
				  0, 0, 0));
}

static void add_place(struct script *s, frame_id id)
{
	uint32_t unused;
	if (s->chains.count && map64_get(&s->chains, id, &unused))
		add_chain(s, id);
	else
		add_frame(s, id);
}

/* A source line stands behind its frame: the frame becomes one with file and line. */
static bool add_srcline(struct script *s, const char *line, size_t n)
{
	struct text file;
	uint32_t number;
	if (!s->frames.len || !scriptline_srcline(line, n, &file, &number))
		return false;
	struct frame f = *tables_frame_get(s->im->tables, s->frames.data[s->frames.len - 1]);
	f.file = tables_strn(s->im->tables, file.s, file.n);
	f.line = number;
	s->frames.data[s->frames.len - 1] = tables_frame(s->im->tables, &f);
	return true;
}

static void memo_put(struct script *s, uint64_t key, uint32_t value)
{
	if (s->memo.count >= MEMO_MAX) {
		map64_clear(&s->memo);
		s->tails.len = 0;
	}
	map64_put(&s->memo, key, value);
}

static bool frame_line(struct script *s, const char *line, size_t n)
{
	uint64_t key = hash_bytes(line, n);
	uint32_t id;
	if (!map64_get(&s->memo, key, &id)) {
		struct script_place p;
		if (!scriptline_frame(line, n, &p))
			return false;
		id = place_frame(s, &p, 0);
		memo_put(s, key, id);
		if (starts(p.dso, "/tmp/perf-") && p.symbol.n > 4 &&
		    memmem(p.symbol.s + 1, p.symbol.n - 1, "->", 2))
			map64_put(&s->chains, id, 1);
	}
	add_place(s, id);
	return true;
}

/* "sched:sched_switch" and not "cycles:ppp". */
static bool is_tracepoint(struct text event)
{
	const char *end = event.s + event.n,
		   *colon = event.n ? memchr(event.s, ':', event.n) : NULL;
	for (const char *p = colon; p && ++p < end;)
		if (!memchr("ukhpPGHSDWIeb", *p, 13))
			return !memchr(event.s, '=', event.n) && !memchr(event.s, '/', event.n);
	return false;
}

/*
 * Does @p come from a place behind the event? A tracepoint's fields may look like one: "NR 0 (0,
 * 7ffc, 1000)" or "flags: 0x80000 (O_CLOEXEC)".
 */
static bool is_place(const struct script_header *h, size_t n, const struct script_place *p,
		     struct text before)
{
	if (!p->has_ip || (!p->dso.n && before.n))
		return false;
	return !is_tracepoint(h->event) || (p->dso.n && memchr("/[", p->dso.s[0], 2) &&
					    (p->symbol.n || memmem(h->rest.s, n, "[unknown]", 9)));
}

static void open_sample(struct script *s, const struct script_header *h)
{
	struct import *im = s->im;
	flush_sample(s);
	struct text name = h->event.n ? h->event : (struct text){"samples", 7};
	bool clock = h->period && (starts(name, "cpu-clock") || starts(name, "task-clock"));
	bool ns = clock || (h->period && starts(name, OFFCPU_EVENT));
	uint16_t event = import_event(im, name.s, name.n, ns ? EVENT_NS : EVENT_COUNT, clock);
	if (event == UINT16_MAX) {
		import_skip(im, s->line_number);
		return;
	}
	if (h->time_ns != UINT64_MAX)
		take_time(s, h->time_ns);
	int64_t pid = h->pid == -1 ? 0 : h->pid, tid = h->tid == -1 ? pid : h->tid;
	s->sample = (struct raw_sample){.time_ns = s->time_ns,
					.pid = (pid_t)pid,
					.tid = (pid_t)tid,
					.cpu = h->cpu >= 0 ? (uint32_t)h->cpu : UINT32_MAX,
					.event = event,
					.weight = h->period ? h->period : 1};
	s->unweighed += !h->period && h->event.n && !is_tracepoint(h->event);
	if (h->comm.n)
		import_comm(im, s->time_ns, pid, tid, h->comm.s, h->comm.n);
	s->frames.len = s->inlined_from = 0;
	s->open = true;
	struct script_place p;
	struct text before;
	size_t n = h->rest.n ? scriptline_without_behind(h->rest.s, h->rest.n) : 0;
	n = n ? scriptline_without_target(h->rest.s, n) : 0;
	if (n && scriptline_place(h->rest.s, n, &p, &before) && is_place(h, n, &p, before))
		add_frame(s, place_frame(s, &p, 0));
}

/* -F brstackinsn: "\tmain+12:", then the instructions that ran there, "\t401005\tinsn: e8 …". */
static bool block_line(const char *line, size_t n)
{
	struct text insn;
	return line[0] == '\t' &&
	       (line[n - 1] == ':' || (scriptline_without_insn(line, n, &insn) < n && insn.n));
}

static void sample_line(struct script *s, const char *line, size_t n)
{
	if (scriptline_is_blank(line, n)) {
		/* A blank line ends a sample; one right behind its header, before any frame, does
		 * not. */
		if (s->frames.len)
			flush_sample(s);
		return;
	}
	struct script_header h;
	struct script_place at;
	if (s->flat && scriptline_flat(line, n, &h, &at)) {
		open_sample(s, &h);
		if (s->open)
			add_frame(s, place_frame(s, &at, 0));
		flush_sample(s);
		return;
	}
	if ((!s->open || !s->frames.len) && scriptline_lone(line, n, &h)) {
		open_sample(s, &h);
		return;
	}
	struct text insn;
	if (line[0] == '#' ||
	    (s->open && scriptline_is_blank(line, scriptline_without_insn(line, n, &insn))))
		return;
	if (s->open && (frame_line(s, line, n) || block_line(line, n)))
		return;
	uint64_t lost;
	if (scriptline_record(line, n, &lost)) {
		flush_sample(s);
		s->in_record = true;
		if (s->deltas && scriptline_header(line, n, &h) && h.time_ns != UINT64_MAX)
			take_time(s, h.time_ns);
		if (lost)
			s->im->sink->ops->loss(s->im->sink->ctx, LOSS_RING, lost);
		return;
	}
	if (s->in_record && line[0] == '\t' &&
	    !scriptline_bare_frame(line, n, &(struct script_place){0}))
		return; /* the namespaces of a task, below their record */
	s->in_record = false;
	struct script_place place;
	if (!s->open &&
	    scriptline_bare_frame(line, n, &place)) { /* -F ip,sym: stacks without a word on them */
		open_sample(s, &(struct script_header){
				       .pid = -1, .tid = -1, .cpu = -1, .time_ns = UINT64_MAX});
		frame_line(s, line, n);
		if (s->flat)
			flush_sample(s);
		return;
	}
	if (scriptline_header(line, n, &h)) {
		open_sample(s, &h);
		return;
	}
	if (s->open && (add_srcline(s, line, n) || scriptline_has_branches(line, n)))
		return;
	if (scriptline_is_error(line, n))
		s->im->sink->ops->loss(s->im->sink->ctx, LOSS_RING, 1);
	else if (!(s->open && (line[0] == ' ' || line[0] == '\t')))
		import_skip(s->im, s->line_number);
}

/* --- instruction and branch traces --- */

static uint32_t thread_index(struct script *s, const struct script_header *h)
{
	uint64_t key = hash_pair((uint64_t)h->pid, (uint64_t)h->tid);
	uint32_t index;
	if (!map64_get(&s->threads, key, &index)) {
		index = s->nthreads++;
		map64_put(&s->threads, key, index);
		char comm[64];
		size_t n = h->comm.n < sizeof comm - 1 ? h->comm.n : sizeof comm - 1;
		memcpy(comm, h->comm.s ? h->comm.s : "", n);
		comm[n] = 0;
		s->im->trace->ops->thread(s->im->trace->ctx, index, h->pid, h->tid, comm);
	}
	return index;
}

static str_id symbol_id(struct script *s, struct text t)
{
	return t.n ? tables_strn(s->im->tables, t.s, t.n) : 0;
}

/*
 * Between the lines of a trace there may be samples of other events (of which --call-trace prints
 * nothing but the time), and messages of the decoder's:
 * "psb: psb offs: 0x42". "probe:x: (address) a=1" looks like a call that tells its level.
 */
static bool is_foreign(const struct script *s, const struct script_header *h,
		       const struct script_branch *b)
{
	bool own = !h->event.n || starts(h->event, "branches") || starts(h->event, "instructions");
	return (!b->known && !own) || (b->level && h->event.n) || (s->by_insn && !h->insn.n);
}

static struct tail parse_tail(struct script *s, const char *text, size_t n)
{
	struct script_header h = {0};
	struct tail t = {.nothing = true};
	struct script_branch b;
	/* The tail is a header's period, event and rest: let the header's own rules take it apart.
	 */
	char line[64] = "0/0 0.0: ";
	size_t lead = strlen(line);
	char *joined = malloc(lead + n);
	if (!joined)
		return t;
	memcpy(joined, line, lead);
	memcpy(joined + lead, text, n);
	bool place = scriptline_header(joined, lead + n, &h) &&
		     scriptline_branch(h.rest.s, h.rest.n, &b);
	t.foreign = place ? is_foreign(s, &h, &b) : scriptline_is_blank(text, n);
	if (place && !t.foreign) {
		struct script_place at = b.at;
		if (b.kind == INSN_START) {
			if (b.has_to)
				at = b.to;
			else if (b.indented.n && !at.symbol.n &&
				 !scriptline_place(b.indented.s, b.indented.n, &at, NULL))
				at = (struct script_place){.symbol = b.indented,
							   .offset = UINT64_MAX};
		}
		bool branches = h.event.n ? !starts(h.event, "instructions") : s->branch_only;
		unsigned unused;
		if (!b.known && h.insn.n)
			b.kind = insnbytes_class(h.insn.s, h.insn.n, s->arm64, &unused);
		if (!b.known && b.level) /* calls alone bear no flags */
			b.kind = INSN_CALL;
		t.insn = (struct trace_insn){.ip = at.ip,
					     .offset = at.offset,
					     .symbol = symbol_id(s, at.symbol),
					     .module = symbol_id(s, at.dso),
					     .to = b.has_to ? b.to.ip : 0,
					     .to_symbol = symbol_id(s, b.to.symbol),
					     .kind = b.kind,
					     .level = b.level,
					     .branch_only = branches || b.level};
		t.nothing = false;
	}
	free(joined);
	return t;
}

/* The time at @p (blanks before it allowed): its end behind the colon, or NULL. */
static const char *fast_time(const char *p, const char *end, uint64_t *ret_ns)
{
	while (p < end && *p == ' ')
		p++;
	uint64_t seconds = 0, ns = 0;
	const char *start = p;
	while (p < end && (unsigned)(*p - '0') < 10)
		seconds = seconds * 10 + (uint64_t)(*p++ - '0');
	if (p == start || p - start > 10 || p == end || *p++ != '.')
		return NULL;
	uint64_t scale = 1000000000;
	while (p < end && (unsigned)(*p - '0') < 10) {
		ns = ns * 10 + (uint64_t)(*p++ - '0');
		if ((scale /= 10) == 0)
			return NULL;
	}
	if (p == end || *p != ':' || (p + 1 < end && p[1] != ' ' && p[1] != '\t'))
		return NULL;
	*ret_ns = seconds * 1000000000 + ns * scale;
	return p + 1;
}

/* Thread and time of a line; where its tail begins, or NULL when it is no trace line. */
static const char *trace_prefix(struct script *s, const char *line, size_t n)
{
	const char *end = line + n, *tail;
	uint64_t ns;
	if (s->prefix_len && n > s->prefix_len && !memcmp(line, s->prefix, s->prefix_len) &&
	    (tail = fast_time(line + s->prefix_len, end, &ns))) {
		take_time(s, ns);
		return tail;
	}
	struct script_header h;
	if (!scriptline_header(line, n, &h) || h.time_ns == UINT64_MAX)
		return NULL;
	s->thread = thread_index(s, &h);
	take_time(s, h.time_ns);
	s->prefix_len = 0;
	/* The time is the first thing behind which the tail can begin: find it again from the left.
	 */
	for (const char *p = line; p < end && (p = memchr(p, '.', (size_t)(end - p))); p++) {
		const char *start = p;
		while (start > line && (unsigned)(start[-1] - '0') < 10)
			start--;
		if (!(tail = fast_time(start, end, &ns)) || ns != h.time_ns)
			continue;
		s->prefix_len = (size_t)(start - line) < sizeof s->prefix ? (size_t)(start - line)
									  : 0;
		memcpy(s->prefix, line, s->prefix_len);
		return tail;
	}
	return NULL;
}

static int trace_line(struct script *s, const char *line, size_t n)
{
	if (!n || line[0] == '#')
		return 0;
	const char *tail = scriptline_is_error(line, n) ? NULL : trace_prefix(s, line, n);
	if (!tail) {
		if (scriptline_is_error(line, n)) {
			s->gap = true;
			s->im->sink->ops->loss(s->im->sink->ctx, LOSS_RING, 1);
		} else if (!scriptline_is_blank(line, n)) {
			import_skip(s->im, s->line_number);
		}
		return 0;
	}
	size_t len = (size_t)(line + n - tail);
	uint64_t key = hash_bytes(tail, len);
	uint32_t index;
	if (!map64_get(&s->memo, key, &index)) {
		struct tail t = parse_tail(s, tail, len);
		if (s->memo.count >= MEMO_MAX) {
			map64_clear(&s->memo);
			s->tails.len = 0;
		}
		index = (uint32_t)s->tails.len;
		if (vec_push(&s->tails, t))
			return -ENOMEM;
		map64_put(&s->memo, key, index);
	}
	const struct tail *t = &s->tails.data[index];
	if (t->foreign)
		s->foreign++;
	else if (t->nothing)
		import_skip(s->im, s->line_number);
	if (t->nothing)
		return 0;
	struct trace_insn insn = t->insn;
	insn.time_ns = s->time_ns;
	insn.thread = s->thread;
	insn.gap = s->gap;
	s->gap = false;
	return s->im->trace->ops->insn(s->im->trace->ctx, &insn);
}

/* --- the room's face --- */

static int script_recognise(const uint8_t *head, size_t n)
{
	return scriptlook_recognise(head, n, false);
}

static int trace_recognise(const uint8_t *head, size_t n)
{
	return scriptlook_recognise(head, n, true);
}

static void say_count(const struct script *s, uint64_t n, const char *what)
{
	char text[160];
	snprintf(text, sizeof text, "%llu %s", (unsigned long long)n, what);
	if (n)
		s->im->sink->ops->say(s->im->sink->ctx, text);
}

static int script_run(struct import *im, struct err *err)
{
	struct script s = {.im = im, .thread = 0};
	const uint8_t *head;
	size_t n = stream_peek(im->in, 64 << 10, &head);
	struct scriptlook look;
	scriptlook_at(head, n, &look);
	s.trace = im->trace && scriptlook_is_trace(&look);
	s.branch_only = !look.plain;
	s.arm64 = scriptlook_is_arm64(&look);
	s.by_insn = s.trace && !look.traced;
	s.flat = scriptlook_is_flat(&look);
	s.deltas = scriptlook_has_deltas(head, n);
	map64_init(&s.memo);
	map64_init(&s.chains);
	map64_init(&s.threads);
	int rc = s.trace ? im->trace->ops->begin(im->trace->ctx, TRACE_INSNS) : 0;
	char *line;
	size_t len;
	while (!rc && stream_line(im->in, &line, &len)) {
		s.line_number++;
		if (!import_go_on(im))
			rc = -ECANCELED;
		else if (s.trace)
			rc = trace_line(&s, line, len);
		else
			sample_line(&s, line, len);
	}
	flush_sample(&s);
	if (stream_line_open(im->in)) /* perf ends every line */
		im->sink->ops->say(im->sink->ctx,
				   "the recording seems to be cut off: its last line has no end, "
				   "so that the last sample may be wrong");
	if (s.unweighed)
		im->sink->ops->say(im->sink->ctx,
				   "samples without periods are in the text: how much of an event "
				   "they stand for is not known, and each counts as one");
	if (s.deltas)
		im->sink->ops->say(im->sink->ctx,
				   "times in the text are what passed since the line before "
				   "(--deltatime): added up, to the digits that are printed");
	say_count(&s, s.foreign, "lines of other events are not in the trace");
	say_count(&s, s.untimed, OFFCPU_UNTIMED);
	if (s.trace) {
		int end = im->trace->ops->end(im->trace->ctx, err);
		rc = rc ? rc : end;
	}
	map64_fini(&s.memo);
	map64_fini(&s.chains);
	map64_fini(&s.threads);
	vec_fini(&s.frames);
	vec_fini(&s.tails);
	return rc;
}

const struct importer_ops importer_perf_script = {"perf script", VIEW_FUNCTIONS, script_recognise,
						  script_run};
const struct importer_ops importer_perf_trace = {"perf script trace", VIEW_CACHE, trace_recognise,
						 script_run};
