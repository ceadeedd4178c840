/*
 * session: one run of the profiler: what was made, in the order in which it is unmade.
 *
 * Everything here belongs to the main thread. Used by src/app/ only.
 */
#ifndef ALTPTTOP_SESSION_H
#define ALTPTTOP_SESSION_H

#include "engine/run.h"
#include "event/set.h"
#include "export/export.h"
#include "insight/rule.h"
#include "options.h"
#include "proc/spawn.h"
#include "symbol/resolver.h"

#define LEAVE_MS 50 /* what threads get to end in; then the process ends without them */

struct session {
	struct options *options;
	bool batch;
	struct spawn *spawn; /* NULL: no command was started */
	struct tables *tables;
	struct resolver *resolver;
	struct engine *engine;
	bool running; /* threads were started, which have to end before what they use is freed */
	bool warm;    /* --delay is over */
	const struct source_ops *ops;
	struct source *source;
	struct analyser *analyser; /* NULL: not a recording */
	uint64_t started_ns, ended_ns;
	uint64_t until_ns;      /* where the snapshot ends; sampling goes on while it is written */
	struct event_set *sets; /* all there are, owned */
	size_t nsets;
	struct rule rules[TRIGGERS_MAX];
	const char *also[TRIGGERS_MAX]; /* events that rules wait for */
	char trigger_prefix[1024]; /* of the files that triggers write: path, to which more comes */
	const char *trigger_suffix;
	char title[512], target_text[96], where[64];
	uint32_t name_len, name_tail; /* of the one process that they name; 0: they do not */
	struct export_options exports;
};

/* Which samplers were tried and why they were refused. Zeroed: none yet. */
struct choice {
	size_t next; /* the attempt that holds, or the next to try */
	int first_rc;
	struct strbuf reasons;
	struct err only; /* the last refusal by itself */
};

/*
 * Find the best source that may work here and fill @s->ops: the recording; perf, then timer; or
 * what
 * --sampler asks for. Fails with the reasons of all that were tried.
 */
int choose_next(struct choice *c, struct session *s, struct err *err);
/* Open it on the engine's sink; what fails even now is passed over for the next best. */
int choose_open(struct choice *c, struct session *s, struct err *err);
/* "", or a sentence on what was chosen instead of what, and why. */
void choose_note(const struct choice *c, char *ret_note, size_t size);

/* A sentence on standard error, after "altpttop: ". */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Parse --trigger's rules by the metrics of the event set in use. After the sets are loaded, before
 * the source is chosen. A usage error: one sentence. */
int triggers_prepare(struct session *s, struct err *err);
/* What the engine is told of them. */
struct trigger_setup triggers_setup(struct session *s);
/* Files of triggers are still written: wait at most @wait_ms. */
void triggers_settle(struct session *s, int wait_ms);

/* Nanoseconds until --delay is over, 0: it is, and counting begins there. */
uint64_t session_warmed_up(struct session *s);

/* Watch without a screen, then report. Exit status. */
int batch_run(struct session *s);

/*
 * The snapshot of --duration's window with every name that can be had, waiting for names at most
 * @wait_ms. NULL with a sentence: none could be made.
 */
const struct snapshot *session_snapshot(struct session *s, int wait_ms, struct err *err);
/* Write it to -o FILE if that was given. Exit status. */
int session_output(struct session *s, const struct snapshot *snapshot);

/* The engine's save hook: jobs thread. save_setup before the engine is made. */
void save_setup(struct resolver *resolver, const struct export_options *exports);
int save_snapshot(const struct snapshot *s, const char *path, enum snapshot_format format,
		  bool replace, struct err *err);

/* The trace analysis that --pattern or the recording asks for; VIEW_FUNCTIONS: none. After opening.
 */
enum view_kind session_analysis(const struct session *s);
/* Write it: as @csv, or as a table of at most @rows rows. Waits for an edge's source lines. */
int analysis_write(struct session *s, bool csv, uint32_t rows, const struct export_out *out,
		   struct err *err);
/* The verdicts on the snapshot's window as text, best first; nothing when there are none. */
void verdicts_ask(struct session *s);
void verdicts_write(struct session *s, const struct export_out *out);

/* Text of --doctor and of the doctor screen, malloc'ed. @session: struct session; jobs thread. */
char *doctor_report(void *session);

#endif
