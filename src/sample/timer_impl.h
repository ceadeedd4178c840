/*
 * timer_impl: what the files of the timer sampler share. Private to src/sample/timer*.c.
 *
 * Everything here belongs to the sampler's own thread, which alone may trace (ptrace knows threads,
 * not processes); other threads only post commands, ask it to stop and read the status.
 */
#ifndef ALTPTTOP_TIMER_IMPL_H
#define ALTPTTOP_TIMER_IMPL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/hash.h"
#include "base/vec.h"
#include "sample/idleshare.h"
#include "source.h"

struct err;
struct mailbox;
struct tasks;

#define MS 1000000ull

#define TIMER_STACK_START (16u << 10)
#define TIMER_STACK_MOST  (64u << 10)
#define TIMER_CAPTURES    16   /* samples taken but not delivered yet */
#define TIMER_HEAT        32   /* visits in a row that find a hot thread idle until it is cold */
#define TIMER_PAUSES      2048 /* buckets of the pause histogram */
#define TIMER_PAUSE_NS    500  /* width of one */

/* schedstat: CPU time and how often it was put on a CPU. Equal readings: it did not run. */
struct timer_ran {
	uint64_t ns, times; /* on CPUs, how often it got one */
	uint64_t ready_ns;  /* waiting for one */
};

/*
 * A stop takes effect some microseconds after it was asked for. Who enters the kernel meanwhile
 * stops there, so that system calls are seen more often than their time is worth. The kernel's own
 * account of user and system time, taken by its clock tick, tells by how much.
 */
struct timer_modes {
	double call_ns, seen_ns;               /* weight of samples: in system calls, of all */
	double system_ns, accounted_ns;        /* the kernel's account over the same time */
	uint64_t last_user_ns, last_system_ns; /* as read last */
	double keep; /* what a sample in a system call keeps of its weight */
};

enum timer_mode {
	MODE_WAITS, /* it was not stopped */
	MODE_USER,
	MODE_CALL, /* stopped on the way out of a system call */
};

struct timer_thread {
	pid_t pid, tid;
	size_t at;                    /* index in threads */
	size_t hot_at;                /* index in hot, SIZE_MAX: cold */
	int syscall_fd, schedstat_fd; /* kept open, -1: not */
	struct timer_ran sampled;     /* at its last sample: a CPU sample weighs what came since */
	struct timer_ran looked;      /* when it was last seen to wait, or was stopped */
	struct timer_ran read;        /* as it was read last, when that began; 0: never */
	uint64_t read_ns;
	uint64_t sampled_ns; /* when that sample was taken, or the thread first seen; wall clock: up
				to which its time is told */
	uint64_t asked_ns;   /* when it was asked to stop, while `pending` */
	uint64_t refused_ns; /* when tracing it was refused, 0: not */
	uint64_t lent_ns;    /* taken from samples in calls: the next in user code gets it */
	struct timer_modes modes;
	uint32_t stack_bytes; /* to read of its stack */
	uint16_t flags;       /* of its last sample */
	uint8_t heat;         /* visits until it counts as idle */
	bool pending;         /* seized and asked to stop: its stop or its end will be reported */
	bool known;           /* a stack of it was delivered: it may be repeated */
	bool gone;            /* its files were gone: left alone until the next scan */
	bool ended;           /* as a scan found: dropped when it is not pending */
};

struct timer_code { /* a mapping of a file's code */
	uint64_t start, end, pgoff, inode;
};

struct timer_process {
	pid_t pid;
	int maps_fd;      /* to ask for single mappings, -1: not possible */
	uint64_t image;   /* stands for the program: changes with exec */
	uint64_t faults;  /* when its mappings were read last */
	uint64_t due_ns;  /* when they may be read again */
	uint64_t exec_ns; /* when an exec was noticed last, 0: never */
	bool read;        /* they were read since its last exec */
	struct {
		VEC(struct timer_code)
	} code; /* as told to the sink, by address */
};

/* A sample on its way to the sink: everything is copied, so that the thread runs on. */
struct timer_capture {
	struct raw_sample s;
	enum timer_mode mode;
	struct sample_regs regs;
	uint8_t *stack; /* TIMER_STACK_MOST bytes */
	uint64_t chain[128];
};

struct timer_pauses {
	uint32_t count[TIMER_PAUSES + 1]; /* the last: everything longer */
	uint64_t stops, max_ns, sum_ns;
};

struct timer_source {
	const struct target *target;
	const struct source_config *config;
	const struct sink *sink;
	struct source_status status;
	struct mailbox *commands;
	atomic_bool stopping;
	int wake_fd; /* eventfd of stop() */
	bool wall;
	int result; /* of the sampler's thread */
	struct err *err;

	/* The tick. */
	uint64_t interval_ns;
	uint64_t deadline_ns;
	uint64_t seed;
	uint64_t lately_ran_ns, lately_ready_ns; /* of samples of the CPU clock */
	bool crowded;                            /* threads wait for CPUs */
	timer_t breaker;                         /* breaks a wait that outlasts the tick */
	bool has_breaker;
	uint64_t stop_cost_ns; /* moving average of what one stop takes */

	/* Who. */
	struct tasks *tasks;
	struct {
		VEC(struct timer_thread *)
	} threads, hot;
	struct {
		VEC(struct timer_process)
	} processes;
	struct map64 by_tid; /* → index in threads */
	size_t hot_next, cold_next;
	uint32_t kept_fds, kept_fds_most;
	uint64_t scan_ns, account_ns; /* when each is due */
	uint64_t second_ns;           /* when timer_second was last called */
	bool scanned;                 /* the first scan is done */
	uint64_t scan_began_ns;       /* the last one */
	bool said_refused;

	/* Stops and samples under way. */
	uint32_t pending;
	struct timer_capture captures[TIMER_CAPTURES];
	uint32_t ncaptures;
	struct timer_pauses pauses;
	int own_fd;           /* this thread's own schedstat, -1 none */
	uint64_t own_wait_ns; /* how long it had waited for a CPU before it last slept */
	uint64_t woke_ns;     /* when it woke then */
	bool no_schedstat;    /* this kernel has none: stat's ticks are too coarse for weights */

	struct timer_modes modes; /* of all threads: for those that did not run long enough */

	/* Rate control. */
	uint64_t second_cpu_ns, second_samples, second_paused, second_losses, second_weight;
	uint64_t weight_ns; /* of samples of running threads */
	uint64_t losses;
	struct idleshare idle;
};

/* timer_thread.c: the watched threads. */
/* Find threads that came, ended, were renamed; tells the sink. */
int timer_scan(struct timer_source *ts);
struct timer_thread *timer_find(const struct timer_source *ts, pid_t tid);
void timer_heat(struct timer_source *ts, struct timer_thread *t); /* visit it every tick */
void timer_cool(struct timer_source *ts, struct timer_thread *t); /* found idle: perhaps no more */
void timer_threads_free(struct timer_source *ts);

/* timer_maps.c: programs and mappings that changed, told to the sink. */
void timer_process_new(struct timer_source *ts, pid_t pid);
void timer_process_gone(struct timer_source *ts, pid_t pid);
/* Does it run another program than @parent, its parent? It did exec since it was forked. */
bool timer_process_differs(const struct timer_source *ts, pid_t pid, pid_t parent);
/* Did @pid exec at or after @since_ns, noticed by a scan or not yet? */
bool timer_process_execed(const struct timer_source *ts, pid_t pid, uint64_t since_ns);
void timer_watch_processes(struct timer_source *ts); /* with every scan */
/* @pc was seen running: is it the code that the sink was told of? Else tell, as of @time_ns. */
void timer_check_code(struct timer_source *ts, pid_t pid, uint64_t pc, uint64_t time_ns);
void timer_processes_free(struct timer_source *ts);

/* timer_look.c: seeing a thread without stopping it. */
enum timer_state {
	TIMER_RUNNING, /* on a CPU or waiting for one */
	TIMER_BLOCKED, /* sp and pc are known */
	TIMER_GONE,
	TIMER_HIDDEN, /* not allowed */
};
struct timer_look {
	enum timer_state state;
	uint64_t sp, pc;
	char line[192]; /* as read: equal lines, same system call */
};
void timer_look(struct timer_source *ts, struct timer_thread *t, struct timer_look *ret);
/* 0 or -ESRCH. Without schedstat: stat's ticks and status's voluntary switches. */
int timer_ran(struct timer_source *ts, struct timer_thread *t, struct timer_ran *ret);
/* Sample a thread that waits (wall clock). False: it moved meanwhile, nothing was delivered. */
bool timer_take_blocked(struct timer_source *ts, struct timer_thread *t,
			const struct timer_look *look, const struct timer_ran *before);

/* timer_stop.c: stopping threads that run. */
void timer_stop(struct timer_source *ts, struct timer_thread *t); /* seize it and ask it to stop */
void timer_refused(struct timer_source *ts, struct timer_thread *t, int no);
void timer_not_pending(struct timer_source *ts, struct timer_thread *t); /* NULL is fine */
void timer_await(struct timer_source *ts,
		 uint64_t until_ns); /* handle stops until none is pending */
int timer_breaker_new(struct timer_source *ts);
void timer_breaker_arm(struct timer_source *ts, uint64_t at_ns);
void timer_breaker_free(struct timer_source *ts);

/* timer_capture.c: from registers and stack to the sink. */
struct timer_capture *
timer_capture(struct timer_source *ts); /* an empty one; delivers the others if full */
/* Read @t's stack from @c->regs' stack pointer on; 0 bytes are no error. */
void timer_read_stack(struct timer_source *ts, struct timer_thread *t, struct timer_capture *c);
/*
 * @t was seen at @c->s.time_ns having run @ran: fill in weight and the rest, keep for delivery. On
 * the wall clock what it weighs is told by timer_repeat.
 */
void timer_finish(struct timer_source *ts, struct timer_thread *t, struct timer_capture *c,
		  const struct timer_ran *ran);
/* Wall clock: up to @until_ns it did what its last sample shows. */
void timer_repeat(struct timer_source *ts, struct timer_thread *t, uint64_t until_ns);
void timer_deliver(struct timer_source *ts); /* hand what was captured to the sink */

/* timer_regs.c: what depends on the architecture. */
struct timer_regs {
	union {
		uint64_t words[64];
		uint8_t bytes[512];
	};
	size_t size; /* as NT_PRSTATUS gave it: tells 32-bit threads */
};
int timer_regs_read(pid_t tid, struct timer_regs *ret);
void timer_regs_convert(const struct timer_regs *r, struct sample_regs *ret);
void timer_regs_blocked(uint64_t sp, uint64_t pc, struct sample_regs *ret);
uint64_t timer_regs_sp(const struct sample_regs *r);
uint64_t timer_regs_pc(const struct sample_regs *r);
bool timer_regs_in_call(pid_t tid, const struct timer_regs *r); /* stopped as a system call ends */
bool timer_regs_fp(const struct sample_regs *r, uint64_t *ret_fp);

enum timer_restart {
	RESTART_NONE, /* no system call failed */
	RESTART_DONE, /* it will be made again */
	RESTART_LOST, /* it fails with EINTR because of us */
};
/* Did our stop make a system call of this stopped thread fail? Then let it be made again. */
enum timer_restart timer_restart_call(pid_t pid, pid_t tid, struct timer_regs *r);

/* timer_modes.c: user code against system calls. */
void timer_modes_begin(struct timer_modes *m, uint64_t user_ns, uint64_t system_ns);
/* The kernel accounted this to the same time as the samples so far. */
void timer_modes_learn(struct timer_modes *m, double system_ns, double user_ns);
/* After an account: how did samples and account divide the time? */
void timer_modes_account(struct timer_source *ts);
/* The weight of a sample that stands for @ns; what it does not keep goes to @t's next in user code.
 */
uint64_t timer_modes_weigh(struct timer_source *ts, struct timer_thread *t, enum timer_mode mode,
			   uint64_t ns);

/* timer_pace.c: pauses, cost, rate. */
void timer_slept(struct timer_source *ts, bool before); /* round a wait for stops */
/* A thread asked to stop at @asked_ns goes on now: how long was it held? */
void timer_paused(struct timer_source *ts, uint64_t asked_ns);
void timer_second(struct timer_source *ts,
		  uint64_t now_ns); /* once a second: status and rate control */
void timer_set_rate(struct timer_source *ts, uint32_t hz);
void timer_loss(struct timer_source *ts, enum loss_kind kind, uint64_t count);

/* timer_tick.c */
int timer_loop(struct timer_source *ts, struct err *err);

#endif
