/*
 * scriptlook: what the first lines of `perf script` text say of the rest: samples or a hardware
 * trace. Pure functions on borrowed text.
 */
#ifndef ALTPTTOP_SCRIPTLOOK_H
#define ALTPTTOP_SCRIPTLOOK_H

#include "import/scriptline.h"

/*
 * Lines with instructions but without flags or an event: ordinary samples, or instruction after
 * instruction? In a trace each comes after the one before it, but where that leads elsewhere.
 */
struct scriptlook_sequence {
	uint64_t ip;
	int64_t pid, tid;
	unsigned len; /* bytes, 0 unknown */
	enum insn_class kind;
	unsigned pairs, follow, elsewhere;
	unsigned fours, others; /* by their length: arm64 has none but of four bytes */
};

struct scriptlook {
	unsigned headers, timed, traced, plain, stacked, strange;
	unsigned flat;       /* a name or an event, and a place, in columns */
	unsigned bare, tabs; /* frames without a header before them; of these behind a tab */
	unsigned blanks, addresses, branches, records; /* lines: empty; -F ip; of these -F brstack;
							  of --show-mmap-events and its like */
	unsigned weak, odd; /* headers of which hardly anything is certain; lines that are nothing,
			       indented or not */
	bool banner, captured; /* "# ========"; "# captured on" */
	struct scriptlook_sequence sequence;
};

void scriptlook_at(const uint8_t *head, size_t n, struct scriptlook *ret_look);
bool scriptlook_is_trace(const struct scriptlook *l);
bool scriptlook_is_arm64(const struct scriptlook *l); /* by the instructions' lengths */

/* Frames without headers (-F ip,sym) where nothing parts them: each is a sample of its own. */
/* Is each time what passed since the line before (--deltatime)? */
bool scriptlook_has_deltas(const uint8_t *head, size_t n);
bool scriptlook_is_flat(const struct scriptlook *l);

/* Is it text of `perf script` in which nothing has a name (-F ip,brstack)? */
bool scriptlook_is_nameless(const uint8_t *head, size_t n);

/* How sure is it that these bytes begin a trace, or else samples? As importer_ops.recognise. */
int scriptlook_recognise(const uint8_t *head, size_t n, bool trace);

#endif
