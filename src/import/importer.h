/*
 * importer: what every reader of recordings gets and implements. One file each, ending in its ops
 * table.
 */
#ifndef ALTPTTOP_IMPORTER_H
#define ALTPTTOP_IMPORTER_H

#include "base/hash.h"
#include "base/vec.h"
#include "codec/stream.h"
#include "err.h"
#include "sink.h"
#include "source.h"
#include "tables.h"
#include "trace.h"

/* One reading of one recording. Source thread. */
struct import {
	struct stream *in;
	const char *path; /* of a file that can be opened once more; NULL: none */
	const struct sink *sink;
	const struct trace_sink *trace; /* NULL: nobody wants spans or instructions */
	struct tables *tables;
	const struct source_config *config;
	struct source_status *status;
	_Atomic bool *stopping;
	uint16_t nevents;
	char event_names[EVENT_MAX][96];
	struct map64 modules; /* hash of a module's name → module_id */
	struct map64 tasks;   /* (pid, tid) → str_id of the comm last told */
	struct {
		VEC(uint8_t)
	} ends;                 /* by frame_id: 1 + enum import_end, 0 not known yet */
	uint64_t skipped;       /* lines or records that made no sense: told at the end */
	uint64_t first_skipped; /* where the first of them was */
	uint64_t ticks;
	uint64_t helpers_cpu_ns; /* of threads that an importer ran beside this one */
	const char *cut; /* what is missing at the end of a recording that is good so far, NULL
			    nothing */
};

struct importer_ops {
	const char *name;     /* "perf script", "Chrome trace": shown as the sampler */
	enum view_kind first; /* the screen that shows such a recording best */

	/*
	 * How sure is it that a recording begins with these bytes? 0 not at all … 100 certain. @n
	 * is at most STREAM_PEEK_MAX; text comes as UTF-8 without BOM.
	 */
	int (*recognise)(const uint8_t *head, size_t n);

	/*
	 * Deliver everything. 0 done; -ECANCELED when import_go_on said no; -EBADMSG with a
	 * sentence saying where when the input is damaged (what came before is delivered).
	 */
	int (*run)(struct import *im, struct err *err);
};

extern const struct importer_ops importer_perf_data, importer_perf_script, importer_perf_trace,
	importer_chrome, importer_chrome_profile, importer_js_profile, importer_pprof,
	importer_folded;

/* --- help for importers (import.c) --- */

/* Call once per record: reports progress now and then. False: stop, the person asked. */
bool import_go_on(struct import *im);
/* The same at once, for an importer whose stream another thread reads; @done as stream_done. */
bool import_go_on_at(struct import *im, uint64_t done);

/* Index of the event of this name, announced on first use; UINT16_MAX when there are too many. */
uint16_t import_event(struct import *im, const char *name, size_t n, enum event_unit unit,
		      bool cpu_time);
uint16_t import_event_desc(struct import *im, const struct event_desc *desc);

/* The module of this name (MODULE_NAMED, or the kernel's), 0 for an empty name. */
module_id import_module(struct import *im, const char *name, size_t n, bool kernel);

/* A frame that the recording names. @flags: FRAME_KERNEL, FRAME_INLINED, FRAME_RETURN. */
frame_id import_frame(struct import *im, module_id module, str_id name, uint64_t addr, str_id file,
		      uint32_t line, uint32_t flags);

/* What a frame's name says of the stack that ends with it. */
enum import_end { END_OTHER, END_ROOT, END_MISSING };

/* END_ROOT: stacks begin here, or it is the kernel's, which needs no caller. END_MISSING:
 * "[unknown]",
 * "[truncated]". */
enum import_end import_end(struct import *im, frame_id outermost);

/*
 * Does the recording itself say that these frames, innermost first, are no whole stack? The
 * outermost one may be the name of a command or a thread, so that the one before it is looked at
 * too. What begins with a name of some language's own is taken for whole.
 */
enum cut_reason import_cut(struct import *im, const frame_id *frames, uint32_t n);

/* Tell the sink a thread's name when it is new or changed. */
void import_comm(struct import *im, uint64_t time_ns, int64_t pid, int64_t tid, const char *comm,
		 size_t n);

/* A line or record made no sense. */
void import_skip(struct import *im, uint64_t where);

/* Does "(dso)" name the kernel or one of its modules? */
bool import_is_kernel(const char *dso, size_t n);

#endif
