/*
 * dw: DWARF 2 to 5 as far as names, lines and inlined functions need it, made for hostile input.
 *
 * A dw_file is the DWARF of one image: the program itself, its debug file, a dwz supplement, a .dwo
 * or a .dwp. Units are found once by their headers and the ranges of their root entries; what lies
 * inside a unit (functions, lines) is indexed when an address in it is first asked for, and
 * forgotten again by least recent use.
 *
 * Everything here touches mapped files and so runs inside guards: memory made meanwhile hangs on
 * these structures at once. One thread at a time.
 */
#ifndef ALTPTTOP_DW_H
#define ALTPTTOP_DW_H

#include "base/hash.h"
#include "base/vec.h"
#include "dwread.h"
#include "found.h"
#include "module/image.h"

enum dw_sect {
	DW_INFO,
	DW_ABBREV,
	DW_STR,
	DW_LINE,
	DW_LINE_STR,
	DW_RANGES,
	DW_RNGLISTS,
	DW_ADDR,
	DW_STR_OFFSETS,
	DW_CU_INDEX,
	DW_TYPES, /* type units, before DWARF 5 */
	DW_SECTS
};

#define DW_NONE     UINT64_MAX
#define DW_NAME_MAX 65535 /* bytes of a name that are kept */

struct dw_attr {
	uint16_t name, form;
	int8_t size;  /* of its values, or DW_SIZE_* */
	uint8_t slot; /* enum dw_slot + 1; 0: of no interest */
	int64_t implicit;
};

/* Sizes that vary. */
enum {
	DW_SIZE_VARIES = -1,
	DW_SIZE_LEB = -2,   /* one number */
	DW_SIZE_BLOCK = -3, /* a number, and so many bytes */
};

struct dw_abbrev {
	uint64_t code;
	uint32_t first; /* in dw_abbrevs.attrs */
	uint16_t nattrs;
	uint16_t tag;
	int32_t fixed; /* bytes of all attributes, -1 when they vary */
	bool children;
	bool has_pc; /* DW_AT_low_pc or DW_AT_ranges */
};

struct dw_abbrevs {
	struct dw_abbrev *list;
	size_t len;
	struct dw_attr *attrs;
	size_t nattrs;
	bool dense; /* codes are 1 … len */
};

struct dw_file;
struct dw_index;
struct dw_scopes;

struct dw_unit {
	struct dw_file *file;
	uint64_t offset, die, end; /* in .debug_info: header, root entry, behind the last */
	uint64_t abbrev;           /* offset in .debug_abbrev */
	const struct dw_abbrevs *abbrevs;
	uint8_t version, addr_size, type;
	uint8_t sect; /* DW_INFO or DW_TYPES: its offsets count from there */
	bool wide;    /* 64-bit DWARF */
	bool root_read;
	bool refused; /* damaged: no index is made again */
	/* From the root entry. */
	uint64_t low_pc;
	uint64_t str_base, addr_base, rnglists_base, ranges_base;
	uint64_t stmt_list; /* DW_NONE: no lines */
	uint64_t line_base; /* of a .dwp contribution */
	uint64_t dwo_id;
	uint64_t signature, type_die;    /* a type unit's; where the type is in it */
	const char *comp_dir, *dwo_name; /* in the mapping; NULL none */
	struct dw_unit *split;           /* skeleton: its full unit, once loaded */
	struct dw_unit *skeleton;        /* full unit: where addresses are */
	bool split_tried;
	struct dw_index *index;
	struct dw_scopes *scopes;
	uint32_t language; /* DW_LANG_*, 0 unknown */
};

/* A type unit by its signature; opened when it is asked for. */
struct dw_type {
	uint64_t signature, offset;
	uint8_t sect;
	struct dw_unit *unit; /* owned; NULL: not asked for yet */
};

struct dw_span {
	uint64_t low, high;
	uint32_t unit;
};

/* Indexes of all programs, newest first; bounded. */
struct dw_cache {
	struct dw_index *newest, *oldest;
	size_t bytes, cap;
	struct dw_scopes *newest_scopes,
		*oldest_scopes; /* of units; with a small cap of their own */
	size_t scope_bytes;
};

/* How other files are found: dwo files and packages, by the resolver's rules. */
struct dw_finder {
	/* A new dw_file for the .dwo named by a skeleton unit, or NULL. */
	struct dw_file *(*split)(void *ctx, const struct dw_unit *skeleton);
	void *ctx;
};

struct dw_file {
	const struct image *image;
	struct image_data sect[DW_SECTS];
	bool dwo; /* sections are named .dwo */
	struct {
		VEC(struct dw_unit)
	} units;
	struct {
		VEC(struct dw_span)
	} spans;         /* by low; high of an earlier one may reach over later ones */
	uint64_t *reach; /* highest `high` up to each span */
	struct {
		VEC(struct dw_abbrevs *)
	} tables;
	struct map64 tables_by_key;
	size_t table_bytes;
	uint64_t touched; /* bytes of the mapping read since the pages were last given back */
	struct {
		VEC(struct dw_type)
	} types; /* by signature, once read */
	bool types_read;
	bool rescued;            /* units whose root names no range were searched */
	struct dw_file *alt;     /* dwz supplement; owned */
	struct dw_file *package; /* .dwp; owned */
	struct {
		VEC(struct dw_file *)
	} splits; /* .dwo files; owned */
	struct dw_cache *cache;
	struct dw_finder finder;
	uint64_t *damage; /* counter of what did not make sense */
};

/* ---- files and units: dwfile.c ---- */

/* The DWARF of @image (which outlives it), NULL: none. @dwo: sections named .dwo. */
struct dw_file *dw_open(const struct image *image, bool dwo, struct dw_cache *cache,
			uint64_t *damage);
/* Read the unit headers, the ranges of the roots; call once, inside the guard. */
int dw_scan(struct dw_file *f);
void dw_close(struct dw_file *f);
size_t dw_bytes(const struct dw_file *f); /* without what the cache counts */
/* @bytes were read: now and then the pages are given back, so that a huge file stays small here. */
void dw_touched(struct dw_file *f, uint64_t bytes);
struct dw_unit *dw_unit_at(struct dw_file *f, uint64_t info_offset); /* that holds it; NULL */
/* Units that may hold @addr, one after the other: *at starts at 0. NULL: no more. */
struct dw_unit *dw_unit_for(struct dw_file *f, uint64_t addr, size_t *at);
/* Read the unit header at the cursor, which is in section @sect; *ret_next: behind the unit. */
bool dw_header(struct dw_file *f, enum dw_sect sect, struct dw_cur *c, struct dw_unit *ret_unit,
	       uint64_t *ret_next);
int dw_root(struct dw_unit *u); /* read the root entry once; -EBADMSG */
static inline const uint8_t *dw_sect_bytes(const struct dw_file *f, enum dw_sect s, size_t *ret_n)
{
	*ret_n = f->sect[s].size;
	return f->sect[s].bytes;
}
static inline struct dw_cur dw_sect_cur(const struct dw_file *f, enum dw_sect s, uint64_t from)
{
	return dw_cur(f->sect[s].bytes, f->sect[s].size, from, f->sect[s].size);
}

/* ---- type units: dwtypes.c ---- */

/* The unit of the type with this signature (its root read) and the type's entry; NULL: none. */
struct dw_unit *dw_type_unit(struct dw_file *f, uint64_t signature, uint64_t *ret_die);
void dw_types_free(struct dw_file *f);

/* ---- abbreviations: dwabbrev.c ---- */

const struct dw_abbrevs *dw_abbrevs_get(struct dw_file *f, const struct dw_unit *u);
void dw_abbrevs_free(struct dw_abbrevs *a);
const struct dw_abbrev *dw_abbrev(const struct dw_abbrevs *a, uint64_t code);

/* ---- attributes: dwform.c ---- */

struct dw_val {
	uint16_t form; /* DW_FORM_*, 0: absent */
	uint64_t u;
	const char *s; /* DW_FORM_string */
};

/* The attributes that matter here, by slot. */
enum dw_slot {
	DW_S_NAME,
	DW_S_LINKAGE,
	DW_S_LOW,
	DW_S_HIGH,
	DW_S_RANGES,
	DW_S_ORIGIN,
	DW_S_SPEC,
	DW_S_CALL_FILE,
	DW_S_CALL_LINE,
	DW_S_CALL_COLUMN,
	DW_S_DECL_FILE,
	DW_S_DECL_LINE,
	DW_S_EXTERNAL,
	DW_S_STMT_LIST,
	DW_S_COMP_DIR,
	DW_S_DWO_NAME,
	DW_S_DWO_ID,
	DW_S_STR_BASE,
	DW_S_ADDR_BASE,
	DW_S_RNGLISTS_BASE,
	DW_S_RANGES_BASE,
	DW_S_LANGUAGE,
	DW_S_SIGNATURE,
	DW_SLOTS
};

struct dw_die {
	uint64_t offset;                /* in .debug_info */
	const struct dw_abbrev *abbrev; /* NULL: the null entry that ends siblings */
	struct dw_val v[DW_SLOTS];
};

/* Read the entry at the cursor with its attributes, leaving the cursor behind it. */
bool dw_die_read(const struct dw_unit *u, struct dw_cur *c, struct dw_die *ret_die);
/* Read its abbreviation only; then dw_die_attrs or dw_die_skip. */
bool dw_die_start(const struct dw_unit *u, struct dw_cur *c, struct dw_die *ret_die);
bool dw_die_attrs(const struct dw_unit *u, struct dw_cur *c, struct dw_die *d);
bool dw_die_skip(const struct dw_unit *u, struct dw_cur *c, const struct dw_die *d);
struct dw_cur dw_unit_cur(const struct dw_unit *u, uint64_t info_offset);

int dw_form_size(uint16_t form, const struct dw_unit *u); /* or DW_SIZE_* */
uint8_t dw_attr_slot(uint16_t attr);                      /* enum dw_slot + 1, or 0 */
void dw_form_read(struct dw_cur *c, const struct dw_unit *u, uint16_t form, int64_t implicit,
		  struct dw_val *ret_val);
const char *dw_val_text(const struct dw_unit *u, const struct dw_val *v); /* NULL: none */
bool dw_val_addr(const struct dw_unit *u, const struct dw_val *v, uint64_t *ret_addr);
/* The entry a reference means: its unit (roots read) and offset. */
struct dw_unit *dw_val_ref(const struct dw_unit *u, const struct dw_val *v, uint64_t *ret_offset);
bool dw_addr_index(const struct dw_unit *u, uint64_t index, uint64_t *ret_addr);

/* ---- ranges: dwrange.c ---- */

/* Call @each for the code ranges of an entry. False when they make no sense or @each said so. */
bool dw_ranges(const struct dw_unit *u, const struct dw_die *d,
	       bool (*each)(void *ctx, uint64_t low, uint64_t high), void *ctx);

/* ---- lines: dwline.c ---- */

struct dw_row {
	uint32_t delta; /* from the sequence's low */
	uint32_t line;
	uint16_t file, column; /* file UINT16_MAX: none */
};

struct dw_sequence {
	uint64_t low, high;
	uint32_t first, count; /* rows */
};

struct dw_line_file {
	const char *name;
	uint32_t dir;
};

struct dw_lines {
	uint16_t version;
	bool read; /* the header and file table */
	bool rows_read;
	struct {
		VEC(struct dw_row)
	} rows;
	struct {
		VEC(struct dw_sequence)
	} sequences;
	struct {
		VEC(const char *)
	} dirs;
	struct {
		VEC(struct dw_line_file)
	} files;
};

void dw_lines_fini(struct dw_lines *l);
size_t dw_lines_bytes(const struct dw_lines *l);
/* Read the tables of @u's line program, with @rows also the rows. */
int dw_lines_read(const struct dw_unit *u, struct dw_lines *l, bool rows);
/* The row that covers @addr, NULL none. */
const struct dw_row *dw_lines_find(const struct dw_lines *l, uint64_t addr, uint64_t *ret_row_end);
/* Keep the path of file number @file (joined with its directory and the unit's); 0 unknown. */
uint32_t dw_lines_path(const struct dw_unit *u, const struct dw_lines *l, uint64_t file,
		       struct found *found);

/* ---- functions and inlined code: dwfunc.c ---- */

struct dw_func {
	uint64_t low, high;
	uint64_t die;    /* offset in .debug_info */
	uint32_t origin; /* offset of its abstract instance in the same unit, relative; 0 none */
};

struct dw_inline {
	uint64_t low, high;
	uint32_t parent; /* node index, UINT32_MAX: the function itself */
	uint32_t node;
	uint16_t depth;
};

struct dw_node {
	uint64_t die;
	uint32_t parent, call_line;
	uint32_t call_file;
	uint16_t call_column;
};

/* The inlined code of one function. */
struct dw_tree {
	uint64_t die; /* of the function */
	struct {
		VEC(struct dw_node)
	} nodes;
	struct {
		VEC(struct dw_inline)
	} spans; /* by depth, then low */
	uint32_t depths;
	bool built;
};

struct dw_index {
	struct dw_index *newer, *older;
	struct dw_unit *unit;
	size_t bytes;
	bool built;
	struct {
		VEC(struct dw_func)
	} funcs; /* by low */
	uint64_t *reach;
	struct {
		VEC(uint32_t)
	} by_origin; /* indexes of funcs that have one, sorted by it */
	struct {
		VEC(struct dw_tree *)
	} trees;
	struct map64 tree_of;       /* function entry → index in trees */
	struct dw_lines lines;      /* of the unit, or of its skeleton */
	struct dw_lines decl_lines; /* split units: what decl_file and call_file refer to */
};

struct dw_index *dw_index_get(struct dw_unit *u); /* NULL: damaged or no memory */
void dw_index_drop(struct dw_index *i);           /* from the cache, and free */
const struct dw_func *dw_index_func(const struct dw_index *i, uint64_t addr);
struct dw_tree *dw_index_tree(struct dw_index *i, const struct dw_func *f);
/* The deepest inlined node at @addr, UINT32_MAX: none. */
uint32_t dw_tree_find(const struct dw_tree *t, uint64_t addr);

/* What an entry and the ones it comes from say of a function. */
struct dw_names {
	const char *name, *linkage; /* NULL unknown; in the mapping */
	const struct dw_unit *decl_unit;
	uint64_t decl_file;
	uint32_t decl_line;
	bool external;
	uint64_t abstract; /* entry that abstract_origin of @die names in the same file, 0 none */
	struct dw_unit *last_unit; /* the entry that all others refer to, mostly the declaration: */
	uint64_t last;             /* its scopes are the function's */
};
void dw_names(struct dw_unit *u, uint64_t die, struct dw_names *ret_names);

/* ---- scopes: dwscope.c ---- */

/* Append @name with the namespaces, classes and functions that hold the entry @die in front:
 * a::(anonymous namespace)::b. False: nothing goes in front, or its language has no scopes. */
bool dw_qualified(struct dw_unit *u, uint64_t die, const char *name, struct strbuf *out);
void dw_scopes_drop(struct dw_scopes *s);

/* ---- tail calls: dwtail.c ---- */

#define DW_TAIL_MAX  8 /* frames that may be missing between two */
#define DW_TAIL_NAME 256

/* Who called the function at hand, when it was reached from @ret's call by jumps? */
struct dw_tail_query {
	uint64_t ret;           /* return address in the caller; 0: it is in another module … */
	const char *first_name; /* … whose DWARF says that this function of ours is called there */
	uint64_t callee_addr;  /* code of the function that seems called; 0: another module's … */
	uint64_t callee_start; /* … its symbol's start, 0 unknown … */
	const char *callee_name; /* … and linker name */
	char *ret_elsewhere; /* NULL, or where the name of another module's function goes that the
				call is to, when that is told (DW_TAIL_NAME bytes) */
	uint64_t (*start_of)(void *ctx, const char *linker_name);
	void *ctx;
};
struct dw_tail_step {
	uint64_t pc;
	bool behind; /* behind the jump, as a return address; else at it */
};
/* The functions in between, outermost first; 0: none, or not told for certain. */
unsigned dw_tail_calls(struct dw_file *f, const struct dw_tail_query *q,
		       struct dw_tail_step ret_steps[DW_TAIL_MAX]);

/* ---- the whole: dwfind.c ---- */

/*
 * Fill lines of @found for @addr: innermost inlined function first, the function that holds the
 * code last. False: nothing is known. @start_of may tell where a function of that linker name
 * begins (0: unknown).
 */
struct dw_query {
	uint64_t addr;
	bool no_inline;
	uint64_t (*start_of)(void *ctx, const char *linker_name);
	void *ctx;
};
bool dw_find(struct dw_file *f, const struct dw_query *q, struct found *found);

/* ---- split units: dwsplit.c ---- */

struct dw_unit *dw_split_unit(struct dw_unit *skeleton); /* NULL: not found */

#endif
