/*
 * ledger: the kernel's own account of CPU time, by task, beside which samples are checked.
 *
 * Readings are cumulative and come about once a second; what is kept by time are the differences
 * (cells flagged CELL_ACCOUNT). A process is a task with tid 0. Owned by the engine thread.
 */
#ifndef ALTPTTOP_LEDGER_H
#define ALTPTTOP_LEDGER_H

#include "profile/cells.h"
#include "sink.h"

enum account_kind {
	ACCOUNT_CPU,    /* weight: ns */
	ACCOUNT_USER,   /* ns */
	ACCOUNT_SYSTEM, /* ns */
	ACCOUNT_SPAN,   /* ns between the readings that ACCOUNT_CPU compares */
	ACCOUNT_READY,  /* ns waiting for a CPU; threads */
	ACCOUNT_RUNS,   /* how often it was put on one */
	/* Processes: ns that no sample covered, while clock n was sampled, as ACCOUNT_UNSAMPLED +
	 * n; may be below 0. */
	ACCOUNT_UNSAMPLED,
};

/* What the samples are to be compared with. */
enum account_scope {
	SCOPE_NONE,   /* nothing: only some threads or CPUs are sampled, or no clock is */
	SCOPE_ALL,    /* user and kernel */
	SCOPE_USER,   /* kernel time is not sampled */
	SCOPE_KERNEL, /* user time is not sampled */
};

/* CPU time that samples of an event stand for. */
struct ledger_sum {
	uint16_t event;
	uint64_t ns;
};

struct ledger_entry {
	bool seen;        /* a reading came */
	char state;       /* 0 unknown */
	str_id waits_on;  /* 0 unknown */
	uint64_t time_ns; /* of the last reading */
	uint64_t cpu_ns, user_ns, system_ns, ready_ns, runs;
	bool detailed; /* the last two are known */
	/* Shares of the time between the last two readings, < 0 unknown. */
	double cpu, user, system, ready;
	/* Processes: since the last reading, by the clock that was sampled last and the one before.
	 */
	struct ledger_sum now, before;
};

struct ledger {
	struct ledger_entry *data; /* by task id */
	uint32_t cap;
};

/* A reading as it comes through the queue. */
struct account {
	uint64_t time_ns;
	task_id task;
	bool process;    /* the account of a whole process, exited threads included */
	bool whole_life; /* the task was born while watched: its account began at 0 */
	uint64_t born_ns;
	uint64_t cpu_ns, user_ns, system_ns, ready_ns, runs;
	bool detailed; /* the last two are known */
	str_id waits_on;
	char state;
};

void ledger_fini(struct ledger *l);
const struct ledger_entry *ledger_get(const struct ledger *l, task_id task); /* never NULL */
void ledger_sampled(struct ledger *l, task_id process, uint16_t event, uint64_t ns);
/* Take a reading and add what changed since the last one to @cells. What @scope leaves to be
 * compared is of event @clock where nothing was sampled. */
void ledger_read(struct ledger *l, const struct account *a, enum account_scope scope,
		 uint16_t clock, struct cells *cells);

#endif
