/*
 * engine: what a user interface may ask of it. Implemented in src/engine/.
 *
 * engine_ask and engine_command copy their arguments, never wait and may be called at any rate:
 * only the newest query is answered. engine_answer returns the newest answer with a reference
 * taken.
 */
#ifndef ALTPTTOP_ENGINE_H
#define ALTPTTOP_ENGINE_H

#include "answer.h"
#include "err.h"
#include "snapshot.h"

struct engine;

enum snapshot_format {
	FORMAT_AUTO,
	FORMAT_PPROF,
	FORMAT_FOLDED,
	FORMAT_CHROME,
	FORMAT_CSV,
	FORMAT_TEXT
};

struct command {
	enum {
		COMMAND_SAVE,       /* text = path, format, replace; number = until when, 0 now */
		COMMAND_MARK,       /* `z`: count from here; again: undo */
		COMMAND_RATE,       /* number = Hz */
		COMMAND_EVENTS,     /* text = event set or list */
		COMMAND_INTERVAL,   /* number = refresh in milliseconds */
		COMMAND_MODE,       /* flags = QUERY_NO_KERNEL | QUERY_NO_USER for the source */
		COMMAND_CANCEL,     /* stop reading the recording, a download, a save */
		COMMAND_KILL_CHILD, /* end the started command */
		COMMAND_CALLS,      /* count calls of function number = func_id for a moment */
	} kind;
	char text[1024];
	uint64_t number;
	uint32_t flags;
	enum snapshot_format format;
	bool replace;
};

enum notice_kind {
	NOTICE_INFO,
	NOTICE_WARN,
	NOTICE_ERROR,
	NOTICE_SAVED,    /* text names the file */
	NOTICE_EXISTS,   /* the file is there: ask, then repeat the command with replace */
	NOTICE_FINISHED, /* target exited or recording read */
};
struct notice {
	enum notice_kind kind;
	char text[512];
};

/* Events that stacks arrive for, as many as are known by now, at most @max; any thread. */
struct engine_event {
	uint16_t index; /* query.event */
	char name[96];
};
uint32_t engine_events(const struct engine *e, struct engine_event *ret_events, uint32_t max);

void engine_ask(struct engine *e, const struct query *q);
void engine_command(struct engine *e, const struct command *c);
const struct answer *
engine_answer(struct engine *e); /* newest, with a reference; NULL before the first */
/* The oldest that waits; last, a word on how many did not fit. */
bool engine_notice(struct engine *e, struct notice *ret_notice);
/* Readable when an answer or a notice arrived; engine_answer resets it, so look for notices after.
 */
int engine_fd(const struct engine *e);

/* A snapshot over @window_ns (0 all), made on the engine thread; waits for it at most @timeout_ms.
 * NULL: timed out. */
const struct snapshot *engine_snapshot(struct engine *e, uint64_t window_ns, int timeout_ms);
/* The same of a window that ends at @until_ns (a time of the profile's clock); 0: now. */
const struct snapshot *engine_snapshot_until(struct engine *e, uint64_t window_ns,
					     uint64_t until_ns, int timeout_ms);

/* The newest table of a trace analysis (VIEW_DURATION, CACHE, EDGE; trace.h), with a reference;
 * NULL none. */
struct analysis *engine_analysis(struct engine *e, enum view_kind view);

#endif
