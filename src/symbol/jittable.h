/*
 * jittable: functions that a running program made, by address, and the readers of the two files
 * such programs write: perf maps and jitdump.
 *
 * Readers take bytes as they come and say how many they used: the rest (half a line, half a record)
 * is to be offered again with more behind it. Memory is bounded. One thread.
 */
#ifndef ALTPTTOP_JITTABLE_H
#define ALTPTTOP_JITTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct jit_entry {
	uint64_t start, end;
	uint64_t code;  /* offset of its bytes in the jitdump file, 0 none */
	uint32_t name;  /* offset in text */
	uint32_t order; /* a later one replaces what it covers */
	uint32_t lines; /* first of its lines, nlines of them */
	uint32_t nlines;
};

struct jit_line {
	uint64_t addr;
	uint32_t line, file; /* file: offset in text */
};

struct jittable {
	struct {
		VEC(struct jit_entry)
	} entries;
	struct {
		VEC(struct jit_line)
	} lines;
	struct {
		VEC(char)
	} text;
	uint64_t *reach;  /* highest end up to each entry, once sorted */
	size_t sorted;    /* entries that are; fewer than all: sort before a look-up */
	uint64_t refused; /* lines and records that made no sense */
	bool full;        /* more was told of than is kept */
	/* jitdump: where we are */
	bool header_read, wide_bad;
	uint64_t offset;            /* in the file, of the next byte offered */
	uint32_t pending, npending; /* lines waiting for their function */
	uint64_t pending_addr;
};

struct jit_symbol {
	uint64_t start, end, code;
	const char *name; /* good until the next change */
	const char *file; /* "" unknown */
	uint32_t line;
	uint32_t lines, nlines; /* all of its lines, as in jit_entry */
};

void jittable_init(struct jittable *t);
void jittable_fini(struct jittable *t);
size_t jittable_bytes(const struct jittable *t);
int jittable_add(struct jittable *t, const struct jit_entry *e, const char *name, size_t len);
bool jittable_find(struct jittable *t, uint64_t addr, struct jit_symbol *ret_symbol);
/*
 * The function of this name that began at @start (0: wherever), though others may have taken its
 * place: the last one written; of those anywhere, one whose code is kept before others.
 */
bool jittable_find_named(struct jittable *t, uint64_t start, const char *name,
			 struct jit_symbol *ret_symbol);
/* File and line of an address in this very code; false: not known. */
bool jittable_line(const struct jittable *t, const struct jit_symbol *s, uint64_t addr,
		   const char **ret_file, uint32_t *ret_line);

/* "START SIZE name" lines in hex. */
size_t perfmap_read(struct jittable *t, const char *bytes, size_t size);
/* tools/perf/Documentation/jitdump-specification.txt. SIZE_MAX: not a jitdump file. */
size_t jitdump_read(struct jittable *t, const uint8_t *bytes, size_t size);

#endif
