/*
 * pprofparts: what the two files of the pprof reader share: pprof.c reads what samples refer to,
 * pprofsample.c the samples.
 */
#ifndef ALTPTTOP_PPROFPARTS_H
#define ALTPTTOP_PPROFPARTS_H

#include "base/arena.h"
#include "base/vec.h"
#include "codec/protowire.h"
#include "import/importer.h"
#include "import/seen.h"

#define VALUES_MAX 16

struct range {
	const uint8_t *data;
	size_t len;
};

struct ranges {
	VEC(struct range)
};

struct value_type {
	char name[96];
	enum event_unit unit;
	uint64_t factor;
	uint16_t event; /* UINT16_MAX: counts hits only */
};

struct mapping {
	uint64_t id, start, offset;
	module_id module;
	bool kernel;
};

struct function {
	uint64_t id;
	str_id name, file;
};

struct location {
	uint32_t first, n; /* in frames */
};

/* What is needed of most locations, so small that a cache holds many. */
struct dense {
	frame_id only; /* its frame, if it has just one; 0: it has none or more */
	uint32_t mark; /* of one: below, 0 without a name; else its index in location + 1, 0 none */
};
#define MARK_NAMED  (1u << 31)
#define MARK_NAMES  8192             /* so many numbers of names are told apart, … */
#define MARK_MODULE ((1u << 18) - 1) /* … above the module's number, in the lowest bits */

struct pprof {
	struct import *im;
	struct arena bytes; /* of what follows */
	struct ranges strings, types, mappings, locations, functions;
	uint64_t nsamples;
	uint64_t default_type, time_ns, duration_ns;
	struct {
		VEC(uint64_t)
	} comments;
	struct value_type values[VALUES_MAX];
	unsigned nvalues;
	int weight, hits; /* places in values; -1 none */
	unsigned unnamed; /* of them: the string is not there */
	struct map64 mapping_of, function_of, location_of;
	struct map64 number_of; /* of threads: by an id that is none of the kernel's */
	unsigned filled;        /* by value: some sample has it */
	struct {
		VEC(struct dense)
	} dense; /* by location id, where ids are small */
	struct {
		VEC(struct mapping)
	} mapping;
	struct {
		VEC(struct function)
	} function;
	struct {
		VEC(struct location)
	} location;
	struct {
		VEC(frame_id)
	} frames, stack;
	bool distinct;            /* SAMPLE_DISTINCT of what is in stack */
	uint16_t met[MARK_NAMES]; /* by a name's number: the round in which it was met */
	uint16_t round;           /* of the stack at hand */
	struct seen seen;
	struct {
		VEC(uint8_t)
	} label_kinds; /* by the string of the key: enum label_kind */
	bool ours;     /* we wrote it */
	uint64_t bad_references, negative;
};

/* String @index, empty (and counted as a bad reference) when there is none. */
struct range pprof_string(struct pprof *p, uint64_t index);
bool pprof_is(struct range r, const char *text);

/* Deliver one sample; -EBADMSG. */
int pprof_sample(struct pprof *p, struct range r);

#endif
