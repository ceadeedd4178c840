/*
 * snapshot: a profile at one moment, flattened for exporters and analyses: immutable, counted
 * references.
 *
 * Made by the engine thread from the call trie over a window; read on the jobs thread. Names are
 * looked up through the tables (tables_loc of a node's frame). Nodes are in depth-first preorder,
 * so parent < child.
 */
#ifndef ALTPTTOP_SNAPSHOT_H
#define ALTPTTOP_SNAPSHOT_H

#include "sink.h"
#include "source.h"
#include "tables.h"

#define SNAPSHOT_ROOT  UINT32_MAX
#define SNAPSHOT_VALUE (1u << 15) /* cell.flags: a counter that was read along with samples */

struct snapshot_node {
	uint32_t parent; /* index in nodes, SNAPSHOT_ROOT for outermost frames */
	frame_id frame;
};

/* One cell: what thread @task gathered of @event with its innermost frame at @node (UINT32_MAX: no
 * stack). */
struct snapshot_cell {
	uint32_t node;
	task_id task;
	uint16_t event;
	uint16_t flags;   /* SAMPLE_BLOCKED apart from running; SNAPSHOT_VALUE */
	uint64_t samples; /* observations (hits); 0 for counters read along and for [unsampled] */
	uint64_t weight;  /* Σ ns or Σ counts */
	double weight_sq; /* Σ weight², for n = (Σw)²/Σw² */
};

/*
 * What samples went through in frames that their shortened paths lack: counts in the total of the
 * frame's functions, or of the module alone, beside what the nodes tell. In no sum and in no self.
 */
struct snapshot_through {
	frame_id frame;   /* 0: of a module */
	module_id module; /* likewise */
	task_id task;
	uint16_t event;
	uint16_t flags; /* as of cells */
	uint64_t samples, weight;
	double weight_sq;
};

/* A thread's parts of wall time in the window, 0…1; below 0: not known. */
struct snapshot_usage {
	task_id task;
	double cpu, ready; /* as the kernel accounts it: running; ready to run, without a CPU */
	double waiting;    /* by the samples of the wall clock */
};

struct snapshot_event {
	struct event_desc desc;
	uint64_t samples, weight; /* totals of the window */
	uint8_t state;            /* enum value_state */
	double running;           /* share of time on the hardware, 1 when always */
	double astray;            /* its samples stand for this share of its count; 0: in order */
};

struct snapshot {
	const struct tables *tables; /* outlives every snapshot */
	const struct snapshot_node *nodes;
	const struct snapshot_cell *cells; /* sorted by node, task, event */
	const struct snapshot_event *events;
	uint32_t nnodes, ncells, nevents;
	const struct snapshot_through *through;
	uint32_t nthrough;
	const struct snapshot_usage *usages; /* of threads, by task */
	uint32_t nusages;
	uint64_t start_ns, end_ns; /* window, CLOCK_MONOTONIC or the recording's clock */
	uint64_t wall_start_ns;    /* CLOCK_REALTIME of start_ns, 0 unknown */
	uint64_t loss[LOSS_KINDS];
	bool shortened;  /* rare call paths were: their memory was full, the rest is [overflow] */
	bool totals_low; /* and totals lack what they went through, which is known of all only */
	uint64_t cut[CUT_REASONS]; /* stacks by end reason, CUT_NONE = complete */
	char title[512];           /* "altpttop -p 4242: 4242 (mysqld)": the command line, target */
	char host[128];            /* uname of the machine */
	char sampler[96];          /* the arrangement */
	module_id main_module;     /* mapping[0] of pprof; 0 unknown */
	uint32_t rate_hz;
	uint32_t sample_cost_ns, read_cost_ns; /* of a sample, of reading its group; 0 not known */
	uint64_t cost_ppm;                     /* of the time of a thread that works */
	bool recorded;                         /* of a file, not of something that ran */
	bool partial;    /* of which a part was read: reading was stopped or went on */
	double part;     /* how much, 0…1; 0: not known */
	uint64_t cpu_ns; /* that the kernel accounted in the window; UINT64_MAX: not known */
	bool no_kernel, no_user; /* filters in force when it was made */
	bool tail_calls;         /* frames that tail calls left out are wanted in it */
};

const struct snapshot *snapshot_ref(const struct snapshot *s);
void snapshot_unref(const struct snapshot *s); /* NULL is fine; any thread */

#endif
