/*
 * stackprofile: what sampling profilers write as JSON: a tree of calls whose nodes have numbers,
 * and samples that tell a node and a time.
 *
 * V8 (.cpuprofile, .heapprofile; Profile, ProfileChunk and CpuProfile events of a Chrome trace),
 * and the "samples" and "stackFrames" of the Trace Event Format, as Hermes writes them. Nodes and
 * lists are held until the end, up to a number of each; samples are sorted outside of memory where
 * they are many. So all of it takes less than half a GiB. Source thread.
 */
#ifndef ALTPTTOP_STACKPROFILE_H
#define ALTPTTOP_STACKPROFILE_H

#include "base/extsort.h"
#include "base/hash.h"
#include "import/importer.h"

#define STACKPROFILE_NONE \
	UINT32_MAX /* no node, no event: the sample weighs the time it stands for */

#define STACKPROFILE_NODES_MOST  (1u << 20)  /* nodes, and children that they tell */
#define STACKPROFILE_LISTED_MOST (16u << 20) /* samples that stand in lists */
#define STACKPROFILE_TRACKS_MOST (1u << 18)
#define STACKPROFILE_PIECES_MOST (1u << 20)

struct stackprofile_node {
	int64_t id;
	int64_t parent;  /* an id; 0 none */
	uint32_t holder; /* place of the node it stands in + 1; 0 none */
	uint32_t space;  /* of its id: a track's */
	str_id name, url;
	uint32_t line, column; /* from 1; 0 unknown */
	uint64_t hits, bytes;  /* of its own */
	frame_id frame;        /* set by stackprofile_arrange */
};

/* "This node has that child", told by the caller. */
struct stackprofile_link {
	uint32_t node; /* place */
	int64_t child; /* id */
};

/* One profile, of one thread. */
struct stackprofile_track {
	uint64_t key;
	int64_t pid, tid;
	int64_t start_ns, end_ns; /* as told; 0 unknown */
};

/* A run of samples that follow one another. */
struct stackprofile_piece {
	uint32_t track;
	int64_t ts_ns; /* pieces follow one another by this */
	size_t ids, ids_end, times, times_end;
	bool absolute; /* times are no differences */
};

/* As it is sorted: by track and when it was taken; then by until when it stands, and track. */
struct stackprofile_moment {
	uint64_t key[2];
	uint64_t weight;
	uint32_t node;  /* its id; then its place, STACKPROFILE_NONE: not there */
	uint32_t event; /* STACKPROFILE_NONE, or an import_event */
};

struct stackprofile {
	struct import *im;
	struct {
		VEC(struct stackprofile_node)
	} nodes;
	struct {
		VEC(struct stackprofile_link)
	} links;
	struct {
		VEC(struct stackprofile_track)
	} tracks;              /* the first is of what stands in no event */
	struct map64 track_of; /* by key */
	struct {
		VEC(struct stackprofile_piece)
	} pieces;
	struct {
		VEC(uint32_t)
	} ids; /* of pieces: stackprofile_id */
	struct {
		VEC(int64_t)
	} times;                      /* of pieces, nanoseconds */
	struct extsort *taken, *ends; /* moments; NULL none */
	const struct stackprofile_moment *next;
	uint64_t nmoments; /* in ends */
	struct {
		VEC(frame_id)
	} stack;
	uint64_t lost;             /* samples without a time, or of a node that is not there */
	uint64_t beyond;           /* samples, nodes and children that there was no room for */
	uint32_t stacked;          /* the node whose stack is in stack */
	uint16_t wall;             /* event of those that weigh their time; UINT16_MAX none */
	bool ends_told;            /* it was announced, or there are too many */
	int64_t first_ns, last_ns; /* of all moments, once arranged */
};

/* A sample at @m->key[1] (of stackprofile_time) of track @m->key[0]. -ENOMEM, -ENOSPC, -EIO. */
int stackprofile_add(struct stackprofile *p, const struct stackprofile_moment *m);
/* Nodes with ids of more bits have no samples. */
static inline uint32_t stackprofile_id(int64_t id)
{
	return id >= 0 && id < STACKPROFILE_NONE ? (uint32_t)id : STACKPROFILE_NONE;
}
static inline uint64_t stackprofile_time(int64_t ns)
{
	return (uint64_t)ns ^ 1ull << 63; /* in the order of ns */
}

int stackprofile_init(struct stackprofile *p, struct import *im);
void stackprofile_fini(struct stackprofile *p);

/*
 * Read JSON to its end. -EBADMSG: damaged (what came before counts), -ECANCELED, -ENOMEM, with a
 * sentence. import/stackjson.c.
 */
int stackprofile_read(struct stackprofile *p, struct stream *in, struct err *err);

/* After reading: find callers and frames, put samples in order, announce their event. -errno with a
 * sentence. What was read besides is given back. */
int stackprofile_arrange(struct stackprofile *p, struct err *err);
/* Say how many of @whose ("samples") were lost, and how many were too many. */
void stackprofile_say_lost(const struct stackprofile *p, const char *whose);

/* Is there a sample that was not delivered? Until when the next one stands. */
bool stackprofile_next(const struct stackprofile *p, int64_t *ret_ns);
/* Deliver it, at this time of the sink's. -ENOMEM, -EIO. */
int stackprofile_deliver(struct stackprofile *p, uint64_t time_ns);

/*
 * Of a file without such samples: what its nodes say that was counted in them, bytes or samples.
 * 1 there was some; 0; -ENOMEM.
 */
int stackprofile_deliver_sums(struct stackprofile *p);

#endif
