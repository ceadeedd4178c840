/*
 * stackprofile: what sampling profilers write as JSON: a tree of calls whose nodes have numbers,
 * and samples that tell a node and a time.
 *
 * V8 (.cpuprofile, .heapprofile; Profile, ProfileChunk and CpuProfile events of a Chrome trace),
 * and the "samples" and "stackFrames" of the Trace Event Format, as Hermes writes them. All of it
 * is held until the end: less than the file is long. Source thread.
 */
#ifndef ALTPTTOP_STACKPROFILE_H
#define ALTPTTOP_STACKPROFILE_H

#include "base/hash.h"
#include "import/importer.h"

#define STACKPROFILE_NONE \
	UINT32_MAX /* no node, no event: the sample weighs the time it stands for */

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

struct stackprofile_moment {
	int64_t ns; /* when it was taken; once arranged: until when it stands */
	uint64_t weight;
	int64_t id; /* once arranged: the node's place */
	uint32_t track;
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
	} ids; /* of pieces; those of more bits are STACKPROFILE_NONE */
	struct {
		VEC(int64_t)
	} times; /* of pieces, nanoseconds */
	struct {
		VEC(struct stackprofile_moment)
	} moments;
	struct {
		VEC(frame_id)
	} stack;
	uint64_t lost;    /* samples without a time, or of a node that is not there */
	size_t next;      /* of moments */
	uint32_t stacked; /* the node whose stack is in stack */
	uint16_t wall;
	int64_t first_ns, last_ns; /* of all moments, once arranged */
};

int stackprofile_init(struct stackprofile *p, struct import *im);
void stackprofile_fini(struct stackprofile *p);

/*
 * Read JSON to its end. -EBADMSG: damaged (what came before counts), -ECANCELED, -ENOMEM, with a
 * sentence. import/stackjson.c.
 */
int stackprofile_read(struct stackprofile *p, struct stream *in, struct err *err);

/* After reading: find callers and frames, put samples in order, announce their event. -errno. What
 * was read besides is given back. */
int stackprofile_arrange(struct stackprofile *p);

/* Is there a sample that was not delivered? Until when the next one stands. */
bool stackprofile_next(const struct stackprofile *p, int64_t *ret_ns);
/* Deliver it, at this time of the sink's. -ENOMEM. */
int stackprofile_deliver(struct stackprofile *p, uint64_t time_ns);

/*
 * Of a file without such samples: what its nodes say that was counted in them, bytes or samples.
 * 1 there was some; 0; -ENOMEM.
 */
int stackprofile_deliver_sums(struct stackprofile *p);

#endif
