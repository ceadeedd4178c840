/*
 * through: functions that samples went through in frames that were left out of their paths.
 *
 * When a path is shortened (prune.h), or not all of a new one is taken in, what its middle frames
 * and their modules counted in total is kept here, so that shares per function stay what they were
 * although callers and callees are no longer known. As everywhere, a sample counts once for a
 * function however often it recurs: what is in the part that is kept is not counted again.
 * Functions that are inlined in a frame are told apart only as far as their frames are. Counts
 * everything from the beginning, not by time. Owned by the engine thread.
 */
#ifndef ALTPTTOP_THROUGH_H
#define ALTPTTOP_THROUGH_H

#include "base/hash.h"
#include "base/vec.h"
#include "profile/cells.h"
#include "tables.h"

#define THROUGH_MODULE 0x80000000u /* a cell's node: with a module_id; without it, a frame_id */
#define THROUGH_DEPTH  2048        /* frames of a path looked at */

/* Frames and modules that a shortened path lacks, as in a cell's node. */
struct through_list {
	uint32_t n;
	const uint32_t *keys; /* own, or where the path is */
	uint32_t own[2 * THROUGH_DEPTH];
};

#define THROUGH_MARKS 8192

/* By frame id. */
struct through_frame {
	uint32_t what;    /* number of its function, 0: not known yet */
	module_id module; /* its module */
	bool final;       /* its function will not get another number */
};

/* What a frame or module counted lately, all in one cell, which does not have it yet. */
struct through_sum {
	uint32_t cell; /* index + 1 in cells, 0: in none */
	task_id task;  /* of the cell */
	uint16_t event, flags;
	uint32_t samples;
	uint64_t weight;
	double weight_sq;
};

/* By module id. */
struct through_module {
	uint32_t round; /* of the last path that showed it */
	uint32_t usual; /* see through_usual */
	struct through_sum sum;
};

/* Most samples differ in nothing but the number of their hits: so many came of these, by frame. */
struct through_usual {
	struct cell one; /* what a hit counts; samples 0: not known yet */
	uint64_t hits;   /* all of them, at most UINT32_MAX */
	size_t others;   /* samples of another kind lately */
	VEC(uint32_t)    /* by frame id */
};

struct through {
	const struct tables *tables; /* NULL: nothing is kept */
	struct cells cells;          /* node: see above; read it by through_cells */
	size_t cap_bytes;
	uint64_t lost; /* counts, or all of a path, that had no room */
	uint32_t round;
	bool lacks_module; /* so does the part that is common to paths */
	struct {
		VEC(struct through_frame)
	} frames;
	struct {
		VEC(uint32_t)
	} marks; /* by frame id: what is_simple looks at, 0: see frames */
	uint16_t met[THROUGH_MARKS], met_round; /* by number in a mark: the last path that had it */
	struct through_usual usual;
	struct {
		VEC(struct through_sum)
	} sums; /* by frame id: of all other samples */
	struct {
		VEC(struct through_module)
	} modules;
	struct {
		VEC(uint32_t)
	} functions;          /* by number: round of the last path that showed it */
	struct map64 numbers; /* what a function is known by → its number */
};

int through_init(struct through *x, const struct tables *tables, size_t cap_bytes); /* -ENOMEM */
void through_fini(struct through *x); /* a zeroed struct is empty; so is it afterwards */
size_t through_bytes(const struct through *x);

/* All that was counted. */
const struct cells *through_cells(const struct through *x);

/*
 * What is lost of a path of @n frames, innermost first, when its outer @kept stay and, if @leaf,
 * its innermost one. [overflow] is nothing that could be lost. @distinct: as SAMPLE_DISTINCT. The
 * list is good as long as @frames are.
 */
void through_find(struct through *x, const frame_id *frames, uint32_t n, uint32_t kept, bool leaf,
		  bool distinct, struct through_list *ret_list);
/*
 * The same for all paths that have @frames in common and keep their own innermost frame besides:
 * what each of them lacks, unless through_shares says of that frame that it is not all of it lost.
 */
void through_find_common(struct through *x, const frame_id *frames, uint32_t n, uint32_t kept,
			 struct through_list *ret_list);
/* Until the next path is looked at. */
bool through_shares(struct through *x, frame_id frame);
/* Count @c, of a path that lacks @keys. */
void through_add(struct through *x, const uint32_t *keys, uint32_t n, const struct cell *c);

#endif
