/*
 * scriptline: one line of `perf script` text taken apart. Pure functions on borrowed text.
 *
 * The layout depends on perf's version and its -F option: any of comm, cpu, time, period and event
 * may be missing. What is certain is used as an anchor: a time `123.456:`, a cpu `[003]`,
 * `pid/tid`, an event's colon.
 */
#ifndef ALTPTTOP_SCRIPTLINE_H
#define ALTPTTOP_SCRIPTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"

struct text { /* a part of the line, not NUL-terminated */
	const char *s;
	size_t n;
};

struct script_place {
	uint64_t ip;
	bool has_ip;
	struct text symbol; /* without +0x…; empty: none. "[unknown]" comes as empty */
	uint64_t offset;    /* UINT64_MAX: none given */
	struct text dso;    /* without brackets; empty: none */
	bool inlined;       /* "(inlined)" stood in the place of the dso */
};

struct script_header {
	struct text comm;  /* empty: none */
	int64_t pid, tid;  /* -1: none */
	int32_t cpu;       /* -1: none */
	uint64_t time_ns;  /* UINT64_MAX: none */
	uint64_t period;   /* 0: none */
	struct text event; /* without the colon; empty: none */
	struct text rest;  /* what follows the event, without the instruction */
	struct text insn;  /* the instruction at the address, its bytes or mnemonic; empty: none */
};

struct script_branch {
	struct text flags; /* "call", "tr strt jmp", …; empty: none */
	enum insn_class kind;
	bool known;           /* a flags word that we know stood there */
	struct text indented; /* the callindent symbol, empty: none */
	uint32_t level;       /* no address, but "(dso)   symbol": how far it is indented, from 1 */
	struct script_place at; /* the instruction */
	struct script_place to; /* after "=>" */
	bool has_to;
};

/* A sample's first line. False: not one. */
bool scriptline_header(const char *line, size_t n, struct script_header *ret_header);

/*
 * A line above a stack that has little of a sample's first line: the event with or without a
 * period, the thread, or the name alone, as perf pads them. Only where a sample may begin: other
 * text has such lines too.
 */
bool scriptline_lone(const char *line, size_t n, struct script_header *ret_header);

/*
 * A sample without a stack or a time: the name, with a thread or without, or the event or both, and
 * a place, in perf's columns (-F comm,ip,sym). Only where all lines are such.
 */
bool scriptline_flat(const char *line, size_t n, struct script_header *ret_header,
		     struct script_place *ret_place);

/* A frame line "  7f12 symbol+0x3 (dso)". False: not one. */
bool scriptline_frame(const char *line, size_t n, struct script_place *ret_place);

/* The same without a header before it (-F ip,sym): indented, and more than a number. */
bool scriptline_bare_frame(const char *line, size_t n, struct script_place *ret_place);

/* An address alone (-F ip), or branches (-F brstack) with or without one: nothing has a name. */
bool scriptline_bare_address(const char *line, size_t n);

/*
 * What --show-mmap-events and their like print between the samples: "… PERF_RECORD_COMM: …".
 * @ret_lost: how many observations such a record says were lost.
 */
bool scriptline_record(const char *line, size_t n, uint64_t *ret_lost);

/* Branches of -F brstack, brstacksym or brstackoff. */
bool scriptline_has_branches(const char *line, size_t n);

/* How long a sample's place at @s is, with what stands before it, without what perf prints behind
 * it: branches, registers, sizes of pages. */
size_t scriptline_without_behind(const char *s, size_t n);

/* How long it is without the place that a branch leads to, " => …". */
size_t scriptline_without_target(const char *s, size_t n);

bool scriptline_is_blank(const char *line, size_t n);
bool scriptline_is_error(const char *line, size_t n); /* " instruction trace error …" */

/* A place within text: the last hexadecimal word that a symbol follows, the symbol, the dso in
 * brackets. */
bool scriptline_place(const char *s, size_t n, struct script_place *ret_place,
		      struct text *ret_before);

/* What follows the header of an instruction or branch trace line. False: no place in it. */
bool scriptline_branch(const char *s, size_t n, struct script_branch *ret_branch);

/*
 * What perf prints behind a place, of the instruction there: "ilen: 3", "insn: 48 89 e5", a tab and
 * a mnemonic, "IPC: …". Returns how long the line is without it; @ret_insn: bytes or mnemonic.
 */
size_t scriptline_without_insn(const char *line, size_t n, struct text *ret_insn);

/* "file.c:123" → true with the parts; "lib.so[11634]" and others → false. */
bool scriptline_srcline(const char *line, size_t n, struct text *ret_file, uint32_t *ret_line);

#endif
