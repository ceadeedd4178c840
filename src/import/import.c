/*
 * import: a recording as a source. Opens the file, finds the importer by content, runs it.
 *
 * Runs on the source thread. What all importers share (events, modules, names, progress) is here;
 * each kind of file is known to its own importer only.
 */
#include "import/importer.h"
#include "import/scriptlook.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rootname.h"

#define SURE_ENOUGH 20
#define GO_ON_EVERY 1024

struct source {
	struct import im;
	const struct importer_ops *importer;
	struct source_status status;
	_Atomic bool stopping;
	char path[256];
};

static const struct importer_ops *const importers[] = {
	&importer_perf_data, &importer_perf_script, &importer_perf_trace,     &importer_chrome,
	&importer_pprof,     &importer_folded,      &importer_chrome_profile, &importer_js_profile,
};

static const struct importer_ops *recognise(const uint8_t *head, size_t n)
{
	const struct importer_ops *best = NULL;
	int best_score = SURE_ENOUGH - 1;
	for (size_t i = 0; i < sizeof importers / sizeof *importers; i++) {
		int score = importers[i]->recognise(head, n);
		if (score > best_score) {
			best_score = score;
			best = importers[i];
		}
	}
	return best;
}

/* Kinds that are recognised but not read, and what to do about them. */
static const struct {
	size_t at;
	const char *magic;
	const char *what;
} foreign[] = {
	{0, "PK\003\004", "a zip archive: unpack it first"},
	{0, "BZh", "a bzip2 file: unpack it first"},
	{0, "\177ELF", "a program, not a recording"},
	{0, "%PDF", "a PDF"},
	{0, "SIMPLEPERF",
	 "a simpleperf report file, not perf.data: export it with `report_sample.py`"},
	{0, "--- heapz", "an old heapz text profile: convert it with `pprof -proto`"},
	{0, "heap profile:", "an old text heap profile: convert it with `pprof -proto`"},
	{0, "--- contentionz", "an old text contention profile: convert it with `pprof -proto`"},
	{0, "--- threadz", "an old threadz text: convert it with `pprof -proto`"},
	{0, "--- mutex:", "a text contention profile: convert it with `pprof -proto`"},
	{0, "--- contention:", "a text contention profile: convert it with `pprof -proto`"},
	{0, "goroutine profile:", "a text profile of Go's: convert it with `pprof -proto`"},
	{0, "threadcreate profile:", "a text profile of Go's: convert it with `pprof -proto`"},
	{0, "heap_v2/", "a jemalloc heap profile: fold it with `jeprof --collapsed PROGRAM`"},
	{0, "# callgrind format",
	 "a callgrind profile, which has no stacks: see callgrind_annotate(1)"},
	{0, "version: 1\ncreator: callgrind",
	 "a callgrind profile, which has no stacks: see callgrind_annotate(1)"},
	{0, "gmon\001", "gprof's counts, which have no stacks: see gprof(1)"},
	{0, "# To display the perf.data header info",
	 "a report of perf's: open its perf.data, or the text of `perf script`"},
	{0, "\027\010Dtracing", "a recording of trace-cmd's, not perf.data"},
	{0, "FLR", "a Java flight recording: fold it with `jfrconv -o collapsed`"},
	{0, "JAVA PROFILE ", "a dump of a Java heap"},
	{0, "MOJO", "a binary file of Austin's: convert it with `mojo2austin`"},
	{0, "@[\n", "stacks of bpftrace's: fold them with `stackcollapse-bpftrace.pl`"},
	{0, "Attaching ",
	 "what bpftrace printed: fold its stacks with `stackcollapse-bpftrace.pl`"},
	{0, "{\"linux-perf-json-version\"",
	 "perf's JSON: open its perf.data, or the text of `perf script`"},
	{0, "Nettrace",
	 "a trace of .NET's: convert it with `dotnet-trace convert --format Chromium`"},
	{0, "go 1.", "an execution trace of Go's: get a profile with `go tool trace -pprof=TYPE`"},
	{0, "*version\n", "a method trace of Android's, which has no reader here"},
	{0, "SLOW\002", "a method trace of Android's, which has no reader here"},
	{0, "SLOW\003", "a method trace of Android's, which has no reader here"},
	{0, "<!DOCTYPE", "a page: open the recording that it was made from"},
	{0, "<html", "a page: open the recording that it was made from"},
	{0, "<?xml", "XML, perhaps a picture: open the recording that it was made from"},
	{0, "<svg", "a picture: open the folded stacks that it was made from"},
	{0, "#!", "a script: run it, and record that"},
	{257, "ustar", "a tar archive: unpack it first"},
};

/* JSON that is no Chrome trace, by what stands near its beginning. */
static const struct {
	const char *mark, *what;
} foreign_json[] = {
	{"speedscope.app/file-format-schema",
	 "speedscope's JSON: open what it was made from, or have folded stacks written"},
	{"\"preprocessedProfileVersion\"",
	 "a profile of the Firefox Profiler: record with perf instead"},
	{"\"recording\":{\"displayName\"", "a recording of Safari's, which has no reader here"},
	{"{\"snapshot\":{\"meta\"",
	 "a heap snapshot of V8's, which has no stacks: take a .heapprofile"},
};

static const char *foreign_json_kind(const uint8_t *head, size_t n)
{
	if (head[0] != '{' || memmem(head, n, "\"traceEvents\"", 13))
		return NULL;
	for (size_t i = 0; i < sizeof foreign_json / sizeof *foreign_json; i++)
		if (memmem(head, n, foreign_json[i].mark, strlen(foreign_json[i].mark)))
			return foreign_json[i].what;
	return NULL;
}

static const char *foreign_kind(const uint8_t *head, size_t n)
{
	if (!n)
		return "empty";
	const char *json = foreign_json_kind(head, n);
	if (json)
		return json;
	for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
		size_t len = strlen(foreign[i].magic);
		if (n >= foreign[i].at + len &&
		    !memcmp(head + foreign[i].at, foreign[i].magic, len))
			return foreign[i].what;
	}
	/* gperftools' CPU profile: words 0, 3, 0, period, 0 of 4 or 8 bytes */
	static const uint8_t words8[] = {0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0,
					 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	static const uint8_t words4[] = {0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0};
	static const uint8_t words4_old[] = {0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0};
	if ((n >= sizeof words8 && !memcmp(head, words8, sizeof words8)) ||
	    (n >= sizeof words4 && !memcmp(head, words4, sizeof words4)) ||
	    (n >= sizeof words4_old && !memcmp(head, words4_old, sizeof words4_old)))
		return "an old gperftools CPU profile: convert it with `pprof -proto`";
	if (scriptlook_is_nameless(head, n))
		return "perf script text of addresses and branches, without a name: run perf "
		       "script without -F, or with -F comm,pid,tid,time,event,ip,sym,dso";
	return NULL;
}

static int file_probe(const struct target *target, const struct source_config *config,
		      struct err *err)
{
	(void)config;
	return target->file ? 0 : err_set(err, EINVAL, "no recording was named");
}

static void file_close(struct source *s)
{
	if (!s)
		return;
	stream_close(s->im.in);
	map64_fini(&s->im.modules);
	map64_fini(&s->im.tasks);
	vec_fini(&s->im.ends);
	free(s);
}

static int file_open(const struct target *target, const struct source_config *config,
		     const struct sink *sink, struct tables *tables, struct source **ret_source,
		     struct err *err)
{
	struct source *s = calloc(1, sizeof *s);
	if (!s)
		return err_set(err, ENOMEM, "no memory to read %s", target->file);
	snprintf(s->path, sizeof s->path, "%s",
		 strcmp(target->file, "-") ? target->file : "standard input");
	int rc = stream_open(target->file, &s->im.in, err);
	if (rc)
		goto fail;
	map64_init(&s->im.modules);
	map64_init(&s->im.tasks);
	stream_utf8(s->im.in);
	const uint8_t *head;
	size_t n = stream_peek(s->im.in, 64 << 10, &head);
	const char *other = foreign_kind(head, n);
	s->importer = other ? NULL : recognise(head, n);
	if (!n && stream_damage(s->im.in)) {
		rc = err_set(err, EBADMSG, "%s: %s; nothing came before it", s->path,
			     stream_damage(s->im.in));
		goto fail;
	}
	if (!s->importer) {
		static const char unknown[] =
			"of no kind known here (perf.data, perf script text, Chrome Trace "
			"JSON, pprof, folded stacks, a profile of V8)";
		rc = err_set(err, EINVAL, "%s is %s", s->path, other ? other : unknown);
		goto fail;
	}
	bool again = stream_size(s->im.in) && strcmp(target->file, "-") != 0;
	s->im.path = again ? target->file : NULL;
	s->im.sink = sink;
	s->im.trace = config->trace;
	s->im.tables = tables;
	s->im.config = config;
	s->im.status = &s->status;
	s->im.stopping = &s->stopping;
	const char *wrapper = stream_wrapper(s->im.in);
	snprintf(s->status.arrangement, sizeof s->status.arrangement, "%s%s%s", s->importer->name,
		 wrapper[0] ? ", " : "", wrapper);
	s->status.first_view = s->importer->first;
	*ret_source = s;
	return 0;
fail:
	file_close(s);
	return rc;
}

static int file_run(struct source *s, struct err *err)
{
	struct import *im = &s->im;
	struct err why = {0};
	uint64_t cpu = clock_thread_cpu_ns();
	int rc = s->importer->run(im, &why);
	if (!rc && im->cut) {
		rc = -EBADMSG;
		snprintf(why.msg, sizeof why.msg, "the recording is cut off: %s", im->cut);
	}
	if (!rc && stream_damage(im->in)) {
		rc = -EBADMSG;
		snprintf(why.msg, sizeof why.msg, "%s", stream_damage(im->in));
	}
	im->sink->ops->progress(im->sink->ctx, stream_done(im->in), stream_done(im->in));
	if (im->skipped) {
		char text[160];
		snprintf(text, sizeof text,
			 "%llu lines or records made no sense and were left out, the first at %llu",
			 (unsigned long long)im->skipped, (unsigned long long)im->first_skipped);
		im->sink->ops->say(im->sink->ctx, text);
		im->sink->ops->loss(im->sink->ctx, LOSS_BAD_RECORD, im->skipped);
	}
	atomic_store(&s->status.cpu_ns, clock_thread_cpu_ns() - cpu + im->helpers_cpu_ns);
	atomic_store(&s->status.finished, true);
	if (rc == -EBADMSG)
		return err_set(err, EBADMSG, "%s: %s; what came before it is shown", s->path,
			       why.msg);
	if (rc == -ECANCELED)
		return err_set(err, ECANCELED, "%s: reading was cancelled; what was read is shown",
			       s->path);
	if (rc)
		return err_set(err, -rc, "%s: %s", s->path, why.msg[0] ? why.msg : strerror(-rc));
	return 0;
}

static void file_stop(struct source *s)
{
	atomic_store(&s->stopping, true);
}

static const struct source_status *file_status(const struct source *s)
{
	return &s->status;
}

bool import_go_on(struct import *im)
{
	return ++im->ticks % GO_ON_EVERY || import_go_on_at(im, stream_done(im->in));
}

bool import_go_on_at(struct import *im, uint64_t done)
{
	if (atomic_load_explicit(im->stopping, memory_order_relaxed))
		return false;
	return im->sink->ops->progress(im->sink->ctx, done, stream_size(im->in));
}

uint16_t import_event_desc(struct import *im, const struct event_desc *desc)
{
	if (im->nevents == EVENT_MAX)
		return UINT16_MAX;
	uint16_t index = im->nevents++;
	memcpy(im->event_names[index], desc->name, sizeof im->event_names[index]);
	im->sink->ops->event(im->sink->ctx, index, desc);
	return index;
}

uint16_t import_event(struct import *im, const char *name, size_t n, enum event_unit unit,
		      bool cpu_time)
{
	if (n >= sizeof im->event_names[0])
		n = sizeof im->event_names[0] - 1;
	for (uint16_t i = 0; i < im->nevents; i++)
		if (!strncmp(im->event_names[i], name, n) && !im->event_names[i][n])
			return i;
	struct event_desc d = {
		.unit = unit, .sampled = true, .cpu_time = cpu_time, .leader = im->nevents};
	memcpy(d.name, name, n);
	return import_event_desc(im, &d);
}

/* Do the @n bytes begin with one of the words of a list that ends in NULL? */
static bool begins_with(const char *s, size_t n, const char *const *words)
{
	for (; *words; words++) {
		size_t len = strlen(*words);
		if (n >= len && !memcmp(s, *words, len))
			return true;
	}
	return false;
}

bool import_is_kernel(const char *dso, size_t n)
{
	static const char *const kernels[] = {"[kernel",       "[guest.kernel", "vmlinux",
					      "/boot/vmlinux", "bpf_prog_",     NULL};
	static const char *const users[] = {"[vdso", "[unknown",  "[anon", "[stack",
					    "[heap", "[vsyscall", "[JIT",  NULL};
	if (begins_with(dso, n, kernels))
		return true;
	const char *slash = n ? memrchr(dso, '/', n) : NULL;
	const char *base = slash ? slash + 1 : dso;
	size_t len = (size_t)(dso + n - base);
	if (len >= 7 && !memcmp(base, "vmlinux", 7))
		return true;
	if (memmem(dso, n, ".ko", 3) && memmem(dso, n, "/modules/", 9))
		return true;
	/* "[nf_tables]" is a kernel module, "[vdso]" and "[unknown]" and "[anon]" are not */
	return n > 2 && dso[0] == '[' && dso[n - 1] == ']' && !begins_with(dso, n, users);
}

module_id import_module(struct import *im, const char *name, size_t n, bool kernel)
{
	if (!n)
		return 0;
	uint64_t key = hash_bytes(name, n) ^ kernel;
	uint32_t id;
	if (map64_get(&im->modules, key, &id))
		return id;
	static const char deleted[] = " (deleted)";
	size_t len = n;
	bool gone = len > sizeof deleted &&
		    !memcmp(name + len - sizeof deleted + 1, deleted, sizeof deleted - 1);
	if (gone)
		len -= sizeof deleted - 1;
	const char *slash = name[0] == '[' ? NULL : memrchr(name, '/', len);
	const char *base = slash && slash + 1 < name + len ? slash + 1 : name;
	struct module m = {.kind = MODULE_NAMED, .deleted = gone};
	m.path = tables_strn(im->tables, name, len);
	m.name = tables_strn(im->tables, base, (size_t)(name + len - base));
	id = tables_module(im->tables, &m);
	map64_put(&im->modules, key, id);
	return id;
}

frame_id import_frame(struct import *im, module_id module, str_id name, uint64_t addr, str_id file,
		      uint32_t line, uint32_t flags)
{
	struct frame f = {.module = module,
			  .flags = flags | FRAME_NAMED,
			  .addr = addr,
			  .name = name,
			  .file = file,
			  .line = line};
	frame_id id = tables_frame(im->tables, &f);
	return id ? id : FRAME_UNKNOWN;
}

static enum import_end end_by_name(const struct import *im, frame_id outermost)
{
	static const char *const missing[] = {"[unknown]", "[truncated]"};
	const struct frame *f = tables_frame_get(im->tables, outermost);
	const char *name = tables_text(im->tables, f->name);
	if (f->flags & FRAME_KERNEL || rootname_is(name, strlen(name)) || !strcmp(name, "main"))
		return END_ROOT;
	for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
		if (outermost < FRAME_SPECIAL_COUNT || !strcmp(name, missing[i]))
			return END_MISSING;
	return END_OTHER;
}

enum import_end import_end(struct import *im, frame_id outermost)
{
	if (outermost < im->ends.len && im->ends.data[outermost])
		return (enum import_end)(im->ends.data[outermost] - 1);
	enum import_end end = end_by_name(im, outermost);
	if (vec_reserve(&im->ends, (size_t)outermost + 1))
		return end;
	while (im->ends.len <= outermost)
		im->ends.data[im->ends.len++] = 0;
	im->ends.data[outermost] = (uint8_t)(end + 1);
	return end;
}

enum cut_reason import_cut(struct import *im, const frame_id *frames, uint32_t n)
{
	for (uint32_t k = n; k && n - k < 2; k--) {
		enum import_end end = import_end(im, frames[k - 1]);
		if (end != END_OTHER)
			return end == END_MISSING ? CUT_NO_ROOT : CUT_NONE;
	}
	return CUT_NONE;
}

void import_comm(struct import *im, uint64_t time_ns, int64_t pid, int64_t tid, const char *comm,
		 size_t n)
{
	str_id id = tables_strn(im->tables, comm, n);
	uint64_t key = hash_pair((uint64_t)pid, (uint64_t)tid);
	uint32_t old;
	if (map64_get(&im->tasks, key, &old) && old == id)
		return;
	map64_put(&im->tasks, key, id);
	struct raw_task t = {.time_ns = time_ns,
			     .pid = (pid_t)pid,
			     .tid = (pid_t)tid,
			     .comm = tables_text(im->tables, id)};
	im->sink->ops->comm(im->sink->ctx, &t);
}

void import_skip(struct import *im, uint64_t where)
{
	if (!im->skipped++)
		im->first_skipped = where;
}

const struct source_ops source_file = {
	.name = "file",
	.probe = file_probe,
	.open = file_open,
	.run = file_run,
	.stop = file_stop,
	.command = NULL,
	.close = file_close,
	.status = file_status,
};
