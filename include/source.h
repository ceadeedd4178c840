/*
 * source: what is watched, how, and the ops struct that every live sampler and importer implements.
 */
#ifndef ALTPTTOP_SOURCE_H
#define ALTPTTOP_SOURCE_H

#include <stdatomic.h>
#include <sys/types.h>

#include "err.h"
#include "sink.h"
#include "tables.h"

/* What to watch. Arrays are owned by whoever filled the target (src/app/). */
struct target {
	pid_t *pids;
	pid_t *tids; /* -t: threads by themselves */
	uint32_t npids, ntids;
	bool all;           /* -a */
	const char *cpus;   /* -C list as typed, NULL none */
	const char *cgroup; /* -G */
	bool by_user;       /* -u */
	uid_t user;
	char **argv;      /* -- COMMAND, NULL none; app/ starts it stopped, its pid is pids[0] */
	const char *file; /* a recording; "-" is standard input */
};

struct trace_sink; /* trace.h */

enum call_graph {
	CALL_GRAPH_AUTO,
	CALL_GRAPH_FP,
	CALL_GRAPH_DWARF,
	CALL_GRAPH_LBR,
	CALL_GRAPH_NONE
};

/* Where a symbol lies in a running process (mem:SYMBOL). */
struct symbol_place {
	uint64_t addr, size; /* size 0: not known */
	bool code;
	char path[256]; /* of the module that has it, as the process's maps name it */
};

/*
 * Find @symbol, "name" or "module:name", in process @pid. -ENOENT: no module that is mapped has it,
 * another may; else it cannot be had: several have it (the sentence names them), it is
 * thread-local, … Reads files: milliseconds to a tenth of a second.
 */
typedef int place_finder(pid_t pid, const char *symbol, const char *symfs,
			 struct symbol_place *ret_place, struct err *err);

struct source_config {
	uint32_t rate_hz; /* 997 */
	bool rate_auto;   /* -F auto */
	uint64_t period;  /* -c, 0 none */
	enum call_graph call_graph;
	uint32_t stack_bytes;      /* dwarf,SIZE; 0: the source adapts */
	bool wall;                 /* --clock wall */
	bool no_kernel, no_user;   /* -K -U */
	uint32_t max_stack;        /* 0: 127 as the kernel's default, own unwinding 1024 */
	const char *const *events; /* -e as typed, nevents of them; NULL: cpu-clock */
	uint32_t nevents;
	const char *event_set; /* -E, NULL none */
	const char *const
		*also; /* sampled beside whatever set is in use (triggers), nalso of them */
	uint32_t nalso;
	const struct trace_sink
		*trace;       /* recordings: where spans and instructions go; NULL: nowhere */
	const char *symfs;    /* --symfs DIR */
	place_finder *locate; /* NULL: symbols as addresses are refused */
};

/* How the source is doing; written by its thread, read by anyone (relaxed atomics). */
struct source_status {
	_Atomic uint32_t asked_hz;
	_Atomic uint64_t samples;        /* delivered to the sink */
	_Atomic uint64_t cpu_ns;         /* CPU time of the source's own threads */
	_Atomic uint64_t stops;          /* timer: times a thread was stopped */
	_Atomic uint64_t stop_median_ns; /* timer */
	_Atomic uint64_t stop_max_ns;
	_Atomic uint32_t stack_bytes; /* dump size in use */
	_Atomic uint32_t threads;     /* threads watched */
	_Atomic uint32_t unwatched;   /* threads that exist but could not be watched */
	_Atomic uint32_t set;         /* number of the event set in use (event_desc.set) */
	_Atomic uint32_t sample_cost_ns, read_cost_ns; /* measured: of a sample, and what reading
							  its group adds; 0: not measured */
	_Atomic uint64_t cost_ppm; /* estimated slow-down of the target, parts per million */
	_Atomic uint32_t unplaced; /* str_id: an event whose symbol was in no mapped file so far;
				      0: there is none */
	_Atomic bool finished;     /* target gone, or the recording read to its end */
	int first_view; /* recordings: the screen that shows them best, enum view_kind; set when
			   opened */
	char arrangement[96]; /* "perf cpu-clock, one event per CPU": set before the thread starts
			       */
	_Atomic(const char *) arrangement_now; /* NULL: still that; else what it is now (acquire),
						  good as long as the source */
};

static inline const char *source_arrangement(const struct source_status *s)
{
	const char *now = atomic_load_explicit(&s->arrangement_now, memory_order_acquire);

	return now ? now : s->arrangement;
}

struct source; /* one running source: opaque, its implementation embeds what it needs */

/* Commands that ui and engine pass on to a running source. Called on any thread; returns at once.
 */
struct source_command {
	enum {
		SOURCE_SET_RATE,   /* rate_hz */
		SOURCE_SET_EVENTS, /* events (owned by the command's receiver afterwards, free()) */
		SOURCE_SET_STACK,  /* stack_bytes */
		SOURCE_SET_MODE,   /* no_kernel/no_user */
	} kind;
	uint32_t rate_hz;
	uint32_t stack_bytes;
	bool no_kernel, no_user;
	char *events;
};

struct source_ops {
	const char *name; /* as --sampler says it: "perf", "timer"; importers: "perf.data" … */

	/* Can this source serve the target here? 0, or -errno with the reason and what to type.
	 * Opens nothing for good. */
	int (*probe)(const struct target *target, const struct source_config *config,
		     struct err *err);

	/* Open everything, announce events to @sink; no thread runs yet. Borrowed arguments outlive
	 * the source. */
	int (*open)(const struct target *target, const struct source_config *config,
		    const struct sink *sink, struct tables *tables, struct source **ret_source,
		    struct err *err);

	/* Body of the source's thread: returns when stopped, when the target is gone, or at the
	 * file's end. 0 done; -errno with a sentence when it ended early (what was delivered stays
	 * good). */
	int (*run)(struct source *source, struct err *err);

	/* Ask run() to return soon; any thread; async-signal-safe. */
	void (*stop)(struct source *source);

	/* Pass on a command; any thread; -ENOTSUP where it has no meaning. NULL: none supported. */
	int (*command)(struct source *source, const struct source_command *command);

	/* Release everything (after run() returned, or without run()). NULL is fine. */
	void (*close)(struct source *source);

	const struct source_status *(*status)(const struct source *source);
};

extern const struct source_ops source_perf;  /* src/sample/perf.c */
extern const struct source_ops source_timer; /* src/sample/timer.c */
extern const struct source_ops source_file;  /* src/import/import.c: any recording */

#endif
