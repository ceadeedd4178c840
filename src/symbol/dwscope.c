/*
 * dwscope: which namespaces, classes and functions an entry lies in.
 *
 * Compilers leave the linker name out where no linker will see it (C++ functions in anonymous
 * namespaces, of local classes, templates on lambdas). DW_AT_name alone would make all those the
 * same `operator()`. Entries do not know their parents, so the scopes of a unit are listed by one
 * walk when first asked for, and forgotten by least recent use. Inside guards.
 */
#include <dwarf.h>

#include "dw.h"

#define DEPTH_MAX   512      /* nesting of entries that is followed */
#define SCOPES_MAX  1000000u /* in one unit */
#define OUTER_MAX   24       /* scopes written in front of one name */
#define CHAIN_MAX   8        /* references followed from one entry */
#define CACHE_BYTES ((size_t)32 << 20)

struct dw_scope {
	uint64_t die, end; /* its entry; behind its last child */
	uint32_t outer;    /* index, UINT32_MAX: the unit */
};

struct dw_scopes {
	struct dw_scopes *newer, *older;
	struct dw_unit *unit;
	bool built;
	size_t bytes;
	struct {
		VEC(struct dw_scope)
	} list; /* by die */
};

/* ---- kept by recent use ---- */

static void unlink_scopes(struct dw_cache *c, struct dw_scopes *s)
{
	*(s->newer ? &s->newer->older : &c->newest_scopes) = s->older;
	*(s->older ? &s->older->newer : &c->oldest_scopes) = s->newer;
	s->newer = s->older = NULL;
}

static void link_scopes(struct dw_cache *c, struct dw_scopes *s)
{
	s->older = c->newest_scopes;
	*(s->older ? &s->older->newer : &c->oldest_scopes) = s;
	c->newest_scopes = s;
}

void dw_scopes_drop(struct dw_scopes *s)
{
	struct dw_cache *c = s->unit->file->cache;

	unlink_scopes(c, s);
	c->scope_bytes -= s->bytes;
	s->unit->scopes = NULL;
	vec_fini(&s->list);
	free(s);
}

/* ---- the walk ---- */

static bool is_scope(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_module:
	case DW_TAG_subprogram: return true;
	default: return false;
	}
}

static int walk(struct dw_scopes *s, const struct dw_unit *u)
{
	uint32_t open[DEPTH_MAX]; /* innermost scope at each depth */
	struct dw_cur c = dw_unit_cur(u, u->die);
	unsigned depth = 0;
	struct dw_die d;

	open[0] = UINT32_MAX;
	while (c.p < c.end && dw_die_start(u, &c, &d)) {
		uint32_t in = open[depth];

		if (!d.abbrev) {
			if (depth && in != UINT32_MAX && in != open[depth - 1])
				s->list.data[in].end = d.offset;
			depth -= depth > 0;
			continue;
		}
		if (!dw_die_skip(u, &c, &d))
			break;
		if (!d.abbrev->children)
			continue;
		if (is_scope(d.abbrev->tag)) {
			struct dw_scope scope = {d.offset, u->end, in};

			if (s->list.len >= SCOPES_MAX || vec_push(&s->list, scope))
				return -ENOMEM;
			in = (uint32_t)s->list.len - 1;
		}
		if (++depth == DEPTH_MAX)
			return -EBADMSG;
		open[depth] = in;
	}
	return c.bad ? -EBADMSG : 0;
}

static struct dw_scopes *scopes_of(struct dw_unit *u)
{
	struct dw_cache *c = u->file->cache;
	struct dw_scopes *s = u->scopes;

	if (s && s->built) {
		unlink_scopes(c, s);
		link_scopes(c, s);
		return s;
	}
	if (s) /* a guard ended the work half way */
		dw_scopes_drop(s);
	if (!(s = calloc(1, sizeof *s)))
		return NULL;
	s->unit = u;
	u->scopes = s;
	link_scopes(c, s);
	if (walk(s, u))
		++*u->file->damage; /* what was read so far holds */
	dw_touched(u->file, u->end - u->offset);
	s->built = true;
	s->bytes = sizeof *s + s->list.cap * sizeof *s->list.data;
	c->scope_bytes += s->bytes;
	while (c->scope_bytes > CACHE_BYTES && c->oldest_scopes != s)
		dw_scopes_drop(c->oldest_scopes);
	return s;
}

/* The innermost scope around @die, UINT32_MAX: the unit itself. */
static uint32_t around(const struct dw_scopes *s, uint64_t die)
{
	size_t lo = 0, hi = s->list.len;
	uint32_t at;

	while (lo < hi) { /* the last scope that begins before it */
		size_t mid = lo + (hi - lo) / 2;

		if (s->list.data[mid].die < die)
			lo = mid + 1;
		else
			hi = mid;
	}
	at = lo ? (uint32_t)lo - 1 : UINT32_MAX;
	while (at != UINT32_MAX && s->list.data[at].end <= die)
		at = s->list.data[at].outer;
	return at;
}

/* ---- names ---- */

/* Languages whose names are written with their scopes. C's and Go's are whole as they are. */
static bool qualifies(const struct dw_unit *u)
{
	switch (u->language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2a: /* C++17 */
	case 0x2b: /* C++20 */
	case 0x3a: /* C++23 */
	case DW_LANG_Rust:
	case DW_LANG_D: return true;
	default: return false;
	}
}

/* gcc writes `<lambda(int)>`, demanglers `{lambda(int)#1}`: braces, so that folding keeps it. */
static void add_name(struct strbuf *out, const char *name, size_t max)
{
	size_t len = strnlen(name, max);

	if (len > 9 && !memcmp(name, "<lambda(", 8) && name[len - 1] == '>') {
		strbuf_putc(out, '{');
		strbuf_add(out, name + 1, len - 2);
		strbuf_putc(out, '}');
	} else {
		strbuf_add(out, name, len);
	}
}

static const char nameless_class[] = "(anonymous)";

/* What an entry that is a scope is called: itself, or by the entry it completes. */
static const char *scope_name(struct dw_unit *u, uint64_t die, struct dw_unit **ret_unit,
			      uint64_t *ret_die)
{
	const char *name = NULL, *nameless = "";

	for (int i = 0; u && i < CHAIN_MAX; i++) {
		struct dw_cur c = dw_unit_cur(u, die);
		const struct dw_val *next;
		struct dw_die d;

		if (!dw_die_read(u, &c, &d))
			break;
		if (d.abbrev->tag == DW_TAG_namespace)
			nameless = "(anonymous namespace)";
		else if (d.abbrev->tag != DW_TAG_subprogram)
			nameless = nameless_class;
		if (!name)
			name = dw_val_text(u, &d.v[DW_S_NAME]);
		*ret_unit = u;
		*ret_die = die;
		if (d.v[DW_S_SIGNATURE].form == DW_FORM_ref_sig8) { /* only a stub is here */
			u = dw_type_unit(u->file, d.v[DW_S_SIGNATURE].u, &die);
			continue;
		}
		next = d.v[DW_S_ORIGIN].form ? &d.v[DW_S_ORIGIN] : &d.v[DW_S_SPEC];
		if (!next->form)
			break;
		u = dw_val_ref(u, next, &die);
	}
	return name ? name : nameless;
}

bool dw_qualified(struct dw_unit *u, uint64_t die, const char *name, struct strbuf *out)
{
	const char *outer[OUTER_MAX];
	unsigned n = 0;

	if (!u || dw_root(u) || !qualifies(u))
		return false;
	while (n < OUTER_MAX) {
		struct dw_scopes *s = scopes_of(u);
		uint32_t at = s ? around(s, die) : UINT32_MAX;
		const char *text;

		if (at == UINT32_MAX)
			break;
		/* Where a scope completes a declaration, that one's scopes count. */
		text = scope_name(u, s->list.data[at].die, &u, &die);
		if (!n && text == nameless_class && !strncmp(name, "operator()", 10))
			text = "{lambda}"; /* gcc gives closures no name */
		if (text[0])
			outer[n++] = text;
	}
	if (!n)
		return false;
	while (n--) {
		add_name(out, outer[n], DW_NAME_MAX);
		strbuf_puts(out, "::");
		if (out->len > DW_NAME_MAX)
			return false;
	}
	add_name(out, name, DW_NAME_MAX);
	return !out->failed;
}
