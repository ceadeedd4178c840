/*
 * core: the engine's insides, shared by the files of this room and seen by no other.
 *
 * Fields are grouped by the thread that owns them. The engine thread alone touches the profile and
 * the folds; what other threads reach goes through the channels at the top.
 */
#ifndef ALTPTTOP_CORE_H
#define ALTPTTOP_CORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/mailbox.h"
#include "base/spsc.h"
#include "engine/calls.h"
#include "engine/intake.h"
#include "engine/output.h"
#include "engine/run.h"
#include "engine/shared.h"
#include "engine/spans.h"
#include "engine/trigger.h"
#include "profile/fold.h"
#include "profile/profile.h"

#define SPARK_SECONDS (SPARK_MAX + 1)

/* A query with its expanded keys, counted. */
struct ask {
	_Atomic unsigned refs;
	struct query query;
	struct row_key expanded[];
};
void ask_ref(void *a);
void ask_unref(void *a); /* NULL is fine */

/* Somebody waits for a snapshot: shared by the waiter and the engine, freed by the last. */
struct snap_wait {
	_Atomic unsigned refs;
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool answered;
	uint64_t window_ns, until_ns;
	const struct snapshot *snapshot;
};
void snap_wait_unref(struct snap_wait *w);

struct job {
	enum { JOB_SAVE, JOB_DOCTOR, JOB_CALLS, JOB_END } kind;
	func_id func;                    /* JOB_CALLS: whose */
	const struct snapshot *snapshot; /* the job's own reference */
	char path[1024];
	char span[320]; /* what is saved, in words */
	enum snapshot_format format;
	bool replace;
	uint32_t number; /* of a trigger's file: PATH-NUMBER SUFFIX; nobody is asked to replace */
	const char *suffix; /* likewise; outlives the engine */
};

enum { THREAD_SOURCE, THREAD_ENGINE, THREAD_JOBS, THREADS };

/* Text of the doctor screen, handed from the jobs thread. */
struct text_box {
	pthread_mutex_t lock;
	char *text;
	bool asked;
	atomic_bool fresh; /* not in an answer yet */
};

/* What is known of a counter that is read for the whole target. */
struct count_state {
	bool seen;
	uint8_t state; /* enum value_state */
	struct raw_count first, last;
	struct raw_count told;        /* the reading that the newest rate goes up to */
	double per_second[SPARK_MAX]; /* newest last */
	uint32_t nspark;
	uint64_t sampled; /* what its samples stand for, since the beginning */
	uint64_t samples; /* of the event, as long as it was in use */
};

struct topdown_fit;

struct pace {
	uint64_t start_ns, cost_ns; /* of the last answer */
	uint64_t first_ns;          /* of the first */
	uint64_t generation;        /* of the tables it saw */
	bool unresolved;            /* it had rows without names that may be seen */
	bool nameless;              /* it had something without a name */
	bool unread;                /* it had no source yet: the resolver makes it without a word */
	bool answered;              /* the question in force has had an answer */
};

struct engine {
	struct engine_setup setup; /* texts are our copies */
	struct tables *tables;

	/* Channels. */
	struct shared shared;
	struct spsc *ring;
	struct mailbox *commands, *notices, *jobs, *waits;
	struct slot *asked, *answer;
	struct text_box doctor;
	struct calls_box calls;
	int wake_fd, ui_fd;
	atomic_bool stopping;
	atomic_uint saving; /* files that are still to be written */

	/* Source thread. */
	struct intake *intake;
	const struct source_ops *ops;
	struct source *source;
	int result;
	struct err result_err;

	/* Threads. */
	pthread_t threads[THREADS];
	bool running[THREADS];

	/* Engine thread. */
	struct profile profile;
	struct ask *ask; /* the query in force */
	struct pace pace;
	bool dirty;           /* something came since the last answer */
	frame_id names_asked; /* QUERY_NAMES: names were asked for of frames up to it */
	bool said_finished, said_full;
	uint64_t ended_ns; /* when: windows of a live profile end here from then on */
	uint32_t interval_ms;
	uint64_t rest_until_ns; /* the ring is left alone so that samples come in batches */
	uint64_t start_ns;
	uint64_t known_events; /* bits of events the profile was told of */
	uint16_t newest_set;   /* the set in use */
	struct spans spans;
	uint64_t loss_seen[LOSS_KINDS];
	struct count_state *counts; /* [EVENT_MAX] */
	struct topdown_fit *fits;   /* by set, NULL: not tried yet */
	bool no_kernel, no_user;
	struct triggers triggers;
	struct output output;
	/* Folds keep their memory from answer to answer. */
	struct flat flat;
	struct fold_rows rows;
	struct fold_edges edges;
	/* Own cost. */
	uint64_t own_cpu_ns, own_seen_ns, own_rss;
	double own_cpu;
};

/* loop.c */
void *engine_main(void *arg);
void engine_wake(struct engine *e);
void engine_tell(struct engine *e, enum notice_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
uint64_t engine_now(const struct engine *e); /* end of "now" on the profile's clock */
/* As profile_window; a recording whose samples tell no time lasted as long as it says. */
struct window engine_window(const struct engine *e, uint64_t length_ns, uint64_t until_ns);

/* drain.c */
bool engine_drain(struct engine *e, uint64_t budget_ns); /* true: more waits */

/* commands.c */
void engine_obey(struct engine *e);

/* jobs.c */
/* Takes the snapshot's reference. False: too many wait; nothing is done then. */
bool jobs_save(struct engine *e, const struct job *job);
void *jobs_main(void *arg);

/* calls.c */
void calls_job(struct engine *e, const struct job *job); /* jobs thread */

/* freeze.c */
/* Of a recording that is being read, 0…1, 0: its size is not known; negative: none is. */
double engine_progress(const struct engine *e);
const struct snapshot *engine_freeze(struct engine *e, uint64_t window_ns, uint64_t until_ns);
void engine_serve_waits(struct engine *e);

/* publish.c */
void engine_publish(struct engine *e, uint64_t now_ns);

#endif
