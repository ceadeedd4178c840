/*
 * sink: where every source, live or recorded, delivers.
 *
 * A source calls these on its own thread, in time order, one at a time. Pointers are good until the
 * call returns. The engine supplies the sink (src/engine/intake.c): it keeps the target's maps,
 * unwinds, interns frames and queues finished samples. A source never waits in it: a full queue
 * drops and counts.
 */
#ifndef ALTPTTOP_SINK_H
#define ALTPTTOP_SINK_H

#include "sample.h"

struct raw_mmap {
	uint64_t time_ns;
	pid_t pid, tid;
	uint64_t start, size, pgoff;
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	uint32_t prot;           /* PROT_*; sources without it say PROT_EXEC|PROT_READ */
	bool kernel;             /* PERF_RECORD_MISC_KERNEL: "[kernel.kallsyms]_text" or a module */
	const char *path;        /* as recorded */
	const uint8_t *build_id; /* NULL when the record has none */
	uint8_t build_id_size;
};

struct raw_task {
	uint64_t time_ns;
	pid_t pid, tid;
	pid_t ppid, ptid; /* fork: the parent */
	const char *comm; /* comm: the new name */
	bool exec;        /* comm: by execve, so the maps are forgotten */
};

/* Where a recording was made, as far as it says; what is not known is NULL or 0. */
struct raw_origin {
	const char *host, *release, *machine;
	bool same_boot; /* by this machine since it was started: its kernel and its /tmp are those
			   here */
	bool same_machine;    /* by one of this name with this kernel's release, and nothing speaks
				 against this boot */
	uint64_t kernel_text; /* run-time address of kernel_symbol */
	const char *kernel_symbol; /* "_text" or "_stext" */
	const uint8_t *kernel_build_id;
	uint8_t kernel_build_id_size;
	uint64_t wall_start_ns, duration_ns; /* when and how long, where samples tell no time */
};

struct analysis; /* trace.h */

enum loss_kind {
	LOSS_RING,       /* PERF_RECORD_LOST / LOST_SAMPLES: the kernel's ring was full */
	LOSS_THROTTLED,  /* PERF_RECORD_THROTTLE: times the kernel held an event back */
	LOSS_QUEUE,      /* the queue to the engine was full */
	LOSS_ORDER,      /* a record arrived too late to be put in order */
	LOSS_BAD_RECORD, /* a record that did not make sense */
	LOSS_TORN,       /* timer: the thread moved while it was read */
	LOSS_MISSED,     /* timer: ticks that came too late */
	LOSS_EINTR,      /* timer: system calls of the target that failed because it was stopped */
	LOSS_RESTARTED,  /* timer: system calls that were restarted in time */
	LOSS_UNKNOWN_ID, /* a sample of an event that is not known */
	LOSS_GAP,        /* milliseconds in which nothing was sampled, as events were exchanged */
	LOSS_MEMORY,     /* counts of functions, or stacks, for which the profile had no memory */
	LOSS_KINDS
};
const char *loss_kind_name(enum loss_kind kind); /* short text, static; src/base/tables.c */

/* CPU time the kernel accounts to a task, beside which samples are checked. */
struct raw_account {
	uint64_t time_ns;
	pid_t pid, tid;  /* tid 0: the whole process, exited threads included */
	uint64_t cpu_ns; /* since the task began */
	uint64_t user_ns, system_ns;
	uint64_t ready_ns;    /* waiting for a CPU */
	uint64_t runs;        /* how often it was put on one */
	bool detailed;        /* these two are known */
	char state;           /* as in /proc/PID/stat, 0 unknown */
	const char *waits_on; /* name of a system call or wait channel, NULL unknown */
};

/* A whole-target reading of a counter (Events screen), cumulative since the event was opened. */
struct raw_count {
	uint64_t time_ns;
	uint16_t event;
	uint8_t state; /* enum value_state */
	uint64_t value, enabled_ns, running_ns;
};

struct sink_ops {
	/* Announce event @index (dense from 0, before its first sample). */
	void (*event)(void *ctx, uint16_t index, const struct event_desc *desc);
	void (*sample)(void *ctx, const struct raw_sample *s);
	void (*mmap)(void *ctx, const struct raw_mmap *m);
	/* A thread or process that is born now; what was there before is told by comm, or not at
	 * all. */
	void (*fork)(void *ctx, const struct raw_task *t);
	void (*comm)(void *ctx, const struct raw_task *t);
	void (*exit)(void *ctx, const struct raw_task *t);
	/* A kernel symbol came or went (PERF_RECORD_KSYMBOL). */
	void (*ksymbol)(void *ctx, uint64_t time_ns, uint64_t addr, uint32_t size, const char *name,
			bool unregister);
	void (*loss)(void *ctx, enum loss_kind kind, uint64_t count);
	void (*account)(void *ctx, const struct raw_account *a);
	void (*count)(void *ctx, const struct raw_count *c);
	/* Progress of a recording: bytes done of bytes in all (0 unknown). False asks the source to
	 * stop. */
	bool (*progress)(void *ctx, uint64_t done, uint64_t all);
	/* Recordings whose samples do not tell over which time they reach (a span's stands where
	 * the span ends): from when to when, before the first sample. */
	void (*extent)(void *ctx, uint64_t from_ns, uint64_t until_ns);
	/* Recordings: where it was made; again whenever more of it becomes known. */
	void (*origin)(void *ctx, const struct raw_origin *o);
	/* A trace analysis is ready, or a newer version of it: takes the caller's reference. */
	void (*analysis)(void *ctx, struct analysis *a);
	/* A sentence for the person: something is missing or was done differently. Kept, shown
	 * once. */
	void (*say)(void *ctx, const char *sentence);
};

struct sink {
	const struct sink_ops *ops;
	void *ctx;
};

#endif
