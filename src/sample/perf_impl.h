/*
 * perf_impl: the state of one running perf sampler. Shared by perf.c and perf_*.c of this room
 * only.
 *
 * Everything but `status`, `stopping` and `commands` belongs to the source thread (before it
 * starts: to whoever opens the source).
 */
#ifndef ALTPTTOP_PERF_IMPL_H
#define ALTPTTOP_PERF_IMPL_H

#include "base/vec.h"
#include "event/perf_open.h"
#include "event/spec.h"
#include "proc/permit.h"
#include "sample/adapt.h"
#include "sample/fleet.h"
#include "sample/idleshare.h"
#include "sample/merger.h"
#include "sample/pace.h"
#include "sample/plan.h"
#include "sample/ringset.h"
#include "sample/roster.h"
#include "source.h"

#define MS 1000000ULL
#define S  1000000000ULL

/* Records this much younger than the reading of the rings wait: an earlier one may still come. */
#define PERF_HORIZON_NS (2 * MS)

struct perf_set;

enum shift_state {
	SHIFT_NONE,
	SHIFT_BUILDING, /* the next fleets are being opened */
	SHIFT_MEETING,  /* both are open; their windows meet at shift_ns */
};

struct perf_source {
	const struct target *target;
	const struct source_config *config;
	const struct sink *sink;
	struct tables *tables;
	struct source_status status;
	_Atomic bool stopping;
	int epoll, stop_fd;
	struct mailbox *commands; /* struct source_command */

	struct permit permit;
	struct perf_allowed allowed;
	int lbr_answer; /* the kernel's to --call-graph lbr, -errno: dumps instead */
	int *cpus;
	uint32_t ncpus;
	int cgroup_fd;
	pid_t self;
	bool everything;  /* -a, -C, -G: no process is left out (but this one) */
	bool listed_only; /* -t: only the named threads */

	struct ringset rings;
	struct merger *merger;
	struct fleet_ids ids;
	struct plan_setup setup;
	struct event_spec events[EVENT_MAX]; /* of the current set */
	uint32_t nevents;
	uint16_t leader[EVENT_MAX]; /* place of each one's group leader in events */
	uint64_t sampled;           /* bit by place: one of each group */
	bool groups;                /* some are read together */
	bool groups_inherit;        /* the kernel can read them for threads born later */
	uint16_t first_event;       /* index of events[0] in the profile's event list */
	uint16_t set;               /* number of the current set */
	char set_name[SET_NAME];    /* as it was asked for */
	uint16_t sets_made;         /* number of the newest */
	struct {
		VEC(struct perf_set *)
	} sets; /* all that were in use, the current one perhaps not yet (perf_sets.c) */
	struct fleet *sampling, *side;  /* side: NULL when folded into sampling */
	struct fleet *next, *next_side; /* SHIFT_BUILDING: to take over */
	struct {
		VEC(struct fleet *)
	} leaving; /* past their window, to be closed bit by bit */
	enum shift_state shift;
	uint64_t shift_ns;
	uint64_t closed_ns; /* the old events went first, then; 0: they did not have to */
	bool shift_again;   /* asked for while one was under way */
	bool shift_cpu_wide;

	struct tasks *tasks;
	struct roster roster;
	bool starting; /* the first scan is not over: announce at once */
	uint64_t opened_ns;
	uint64_t births;                       /* threads born, in this look */
	uint64_t brief;                        /* of them, ended soon */
	uint64_t turnover_ns;                  /* when the look began */
	uint64_t scan_ns, account_ns, pace_ns; /* next time */
	uint32_t quick_scans, found; /* scans in a row that found threads nobody told of */
	uint64_t busy_ns;            /* thread CPU time at the last pace */
	uint64_t paced_samples, paced_losses;
	struct idleshare idle;
	struct adapt adapt;
	struct adapt_seen seen;
	struct fleet_count counted[EVENT_MAX]; /* whole target, by event; values scaled */
	struct fleet_count shown[PLAN_MAX];    /* what the sampling fleet's counters showed last */
	uint64_t count_ns;                     /* next time */
	uint64_t starved_said;                 /* bit by set: that it got no counters */
	bool uncounted;                        /* too many descriptors to read, or others' work in
						  them */
	struct perf_toll *toll;                /* a measurement under way or done (perf_toll.c) */
	uint64_t samples, losses;
	bool begun;             /* COMMAND: it runs what it was started for */
	bool places_due;        /* something was mapped where a symbol may be */
	uint64_t places_said;   /* hash of the last sentence: said once */
	uint64_t places_say_ns; /* when to say what is still missing; 0 never */
	uint64_t places_ns;     /* not before */
	bool side_lost;         /* side-band records were lost: look at /proc again */
	bool ended;             /* the last watched process ended, by records */
	struct {
		VEC(char *)
	} texts; /* arrangements said so far: readers may hold any */
};

/*
 * perf_values.c: what a group counted since the thread's reading before. How many values: none for
 * an event that reads nothing, or is not a sample. Whole CPUs: to be called for everybody's.
 */
struct record_sample;
uint32_t perf_values(struct perf_source *ps, struct fleet *f, const struct opened *opened,
		     const struct record_sample *s, bool watched,
		     struct sample_value ret[PLAN_MAX]);
void perf_values_lost(struct perf_source *ps, uint32_t cpu); /* records of a CPU's ring */

/* perf_deliver.c: one record, in order of time, to where it belongs. */
void perf_deliver(struct perf_source *ps, const struct ordered *o);
void perf_loss(struct perf_source *ps, enum loss_kind kind, uint64_t count);

/* perf_tasks.c: births, names and ends, as records tell them. */
struct record_side;
void perf_take_fork(struct perf_source *ps, const struct record_side *r, uint64_t time);
void perf_take_comm(struct perf_source *ps, const struct record_side *r, uint64_t time);
void perf_take_exit(struct perf_source *ps, const struct record_side *r, uint64_t time);
/* … as /proc shows them. */
int perf_scan(struct perf_source *ps);
/* CPU time of processes that ended, by READ records. */
void perf_sweep(struct perf_source *ps, uint64_t before_ns);
void perf_announce(struct perf_source *ps, struct member *m, const char *comm);

/* perf_watch.c: which events are open on what. */
int perf_arrange(struct perf_source *ps, struct err *err); /* at the start */
/* Open what waits to be opened, for at most @budget_ns; true: nothing is left to do now. */
bool perf_watch_work(struct perf_source *ps, uint64_t budget_ns);
void perf_watch_tick(struct perf_source *ps, uint64_t now);     /* turnover, unwatched threads */
struct fleet **perf_fleets(struct perf_source *ps, unsigned i); /* i < PERF_FLEETS: each, or NULL */
#define PERF_FLEETS 4
int perf_plans(struct perf_source *ps, bool cpu_wide, bool folded, struct plan *ret_sampling,
	       struct plan *ret_side);

/* perf_counts.c: what the whole target counted, once a second, and as the fleet changes. */
void perf_counts_begin(struct perf_source *ps); /* a fleet takes over */
void perf_counts_take(struct perf_source *ps, uint64_t now);
void perf_counts_tick(struct perf_source *ps, uint64_t now);

/*
 * perf_places.c: mem:SYMBOL in the target. perf_places_find: place all events of the set as far as
 * the mapped files allow; fails where that cannot be done at all. Then records of execve and mmap
 * say when to look (again), and a tick does.
 */
int perf_places_find(struct perf_source *ps, struct err *err);
void perf_places_exec(struct perf_source *ps, pid_t pid);
void perf_places_mapped(struct perf_source *ps, pid_t pid, const char *path);
void perf_places_end(struct perf_source *ps); /* the target is gone */
void perf_places_tick(struct perf_source *ps, uint64_t now);
/* Does an access by process @pid count: does it run the program in which the symbol was found? */
bool perf_places_counts(const struct perf_source *ps, const struct event_spec *spec, pid_t pid);

/* perf_toll.c: what a sample costs the target, measured beside. */
void perf_toll_begin(struct perf_source *ps);
void perf_toll_end(struct perf_source *ps);

/* perf_shift.c: from one way of opening events to another, with no gap. */
void perf_shift(struct perf_source *ps, bool cpu_wide);
void perf_shift_step(struct perf_source *ps, uint64_t now, uint64_t drained_ns);
void perf_text(struct perf_source *ps);

#endif
