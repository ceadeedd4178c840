/*
 * run: making, starting and ending an engine. Used by src/app/ only; screens use include/engine.h.
 */
#ifndef ALTPTTOP_RUN_H
#define ALTPTTOP_RUN_H

#include "engine.h"
#include "source.h"

struct event_set;
struct resolver;
struct rule;

/* What --trigger waits for, and where what it saves goes. */
struct trigger_setup {
	const struct rule *rules; /* they outlive the engine */
	uint32_t nrules;
	uint64_t before_ns, after_ns; /* what is saved around the moment */
	uint32_t files;               /* at most so many are written */
	const char *prefix, *suffix;  /* PREFIX-20260131-235959-1SUFFIX */
	enum snapshot_format format;
};

struct engine_setup {
	struct tables *tables;
	struct resolver *resolver; /* NULL: frames stay module+0x… */
	const char *symfs;
	bool live;
	bool keep_stitching_off; /* tests, measuring */
	uint32_t max_frames;     /* --max-stack, 0 default */
	uint32_t interval_ms;
	size_t history_bytes; /* cap of call trie, totals and history together, 0: 256 MiB */
	const char *title, *target_text, *where; /* NULL: not told */
	/* Where both name one process, which may execute another program: its number (0: they do
	 * not), and of how many bytes its name is, with how many behind it. */
	pid_t named;
	uint32_t name_len, name_tail;
	const struct event_set
		*sets; /* known event sets, for derived columns; they outlive the engine */
	size_t nsets;
	int output_fd; /* read end of a started command's output, -1 none; stays the caller's */
	pid_t child;   /* the started command, for COMMAND_KILL_CHILD; 0 none */
	/* Only some threads or CPUs are watched (-t, -C), so that samples cannot be compared with
	 * what the kernel accounts to whole processes: there is no [unsampled]. */
	bool partial;
	bool no_kernel, no_user; /* as the source was told */
	uint32_t rate_hz;        /* asked rate, 0 unknown */
	const char *event_set;   /* as -E or -e said, NULL: the default */
	/* Write a snapshot to a file; runs on the jobs thread. 0, perhaps with a remark in
	 * err->msg; -EEXIST: there and !replace. */
	int (*save)(const struct snapshot *s, const char *path, enum snapshot_format format,
		    bool replace, struct err *err);
	struct trigger_setup triggers;
	/* Text of the doctor screen, malloc'ed, made on the jobs thread; NULL none. */
	char *(*doctor)(void *ctx);
	void *doctor_ctx;
};

struct engine *engine_new(const struct engine_setup *setup, struct err *err);
const struct sink *engine_sink(struct engine *e);
/* The source that delivers to engine_sink, for commands and status; the engine runs it on a thread
 * of its own. */
int engine_start(struct engine *e, const struct source_ops *ops, struct source *source,
		 struct err *err);
void engine_stop(
	struct engine *e); /* ask source, engine and jobs threads to end; returns at once */
bool engine_join(struct engine *e, int timeout_ms); /* false: something is still busy */
void engine_free(struct engine *e);                 /* after a successful join */
/* Files that are still to be written. Any thread. */
uint32_t engine_saving(const struct engine *e);
bool engine_finished(const struct engine *e);                   /* the source ended by itself */
int engine_result(const struct engine *e, struct err *ret_err); /* what source->run returned */

#endif
