/*
 * dwtail: functions that left no frame because they ended in a tail call.
 *
 * A caller's DWARF says what it calls at a return address. When the stack shows another function
 * there, the called one must have jumped on; its own call sites tell where to. Only an unambiguous
 * way is told: one path of direct tail calls, no function on it that jumps to where DWARF does not
 * say, none that can be gone through twice. Functions are known by their entry, so that parts of
 * one (.cold) are the same. A call into another module is followed there, by the function's name.
 * Inside guards; DWARF 5 section 3.4.1 and GNU's forms before it.
 */
#include <dwarf.h>

#include "dw.h"

#define DEPTH_MAX   512 /* nesting of entries that is followed */
#define CALLS_MAX   256 /* tail calls of one function */
#define STARTS_MAX  4   /* copies of one called function */
#define CHAIN_MAX   8   /* references followed from one entry */
#define VISITS_MAX  400 /* functions looked into for one question */
#define SUSPECT_MAX 64

/* A function: its entry; without DWARF where it begins, or its name in another module. */
struct place {
	struct dw_unit *unit;
	uint64_t die, start;
	const char *name;
};

struct site {
	uint64_t pc; /* of the jump or call, or behind it */
	bool behind, tail;
	struct dw_val origin; /* form 0: not known */
};

struct search {
	struct dw_file *f;
	const struct dw_tail_query *q;
	struct place callee;
	struct place path[DW_TAIL_MAX];
	struct dw_tail_step steps[DW_TAIL_MAX];
	unsigned depth;
	struct place found[DW_TAIL_MAX];
	struct dw_tail_step found_steps[DW_TAIL_MAX];
	unsigned nfound, paths, visits;
	struct place suspect[SUSPECT_MAX]; /* jump to somewhere unknown, or in circles */
	unsigned nsuspect;
	bool unsure; /* too much to look at */
};

static bool name_is(const char *a, const char *b)
{
	size_t n = a ? strcspn(a, "@") : 0, m = b ? strcspn(b, "@") : 0;

	return n && n == m && !memcmp(a, b, n);
}

static bool same_place(const struct place *a, const struct place *b)
{
	if (a->unit && b->unit)
		return a->unit == b->unit && a->die == b->die;
	if (a->start && b->start)
		return a->start == b->start;
	return name_is(a->name, b->name);
}

/* The function that holds @addr. */
static bool place_at(struct dw_file *f, uint64_t addr, struct place *ret_place)
{
	struct dw_unit *u;
	size_t at = 0;

	while ((u = dw_unit_for(f, addr, &at))) {
		struct dw_unit *split = dw_split_unit(u);
		struct dw_index *i = dw_index_get(split ? split : u);
		const struct dw_func *fn = i ? dw_index_func(i, addr) : NULL;

		if (!fn)
			continue;
		*ret_place = (struct place){i->unit, fn->die, fn->low, NULL};
		return true;
	}
	return false;
}

/* ---- call sites ---- */

static bool read_site(const struct dw_unit *u, struct dw_cur *c, const struct dw_die *d,
		      struct site *ret_site)
{
	const struct dw_attr *a = u->abbrevs->attrs + d->abbrev->first;
	bool gnu = d->abbrev->tag == DW_TAG_GNU_call_site;

	*ret_site = (struct site){0};
	for (uint16_t i = 0; i < d->abbrev->nattrs; i++, a++) {
		struct dw_val v = {0};

		dw_form_read(c, u, a->form, a->implicit, &v);
		switch (a->name) {
		case DW_AT_low_pc:
		case DW_AT_call_return_pc:
			if (dw_val_addr(u, &v, &ret_site->pc))
				ret_site->behind = true;
			break;
		case DW_AT_call_pc:
			if (!ret_site->behind)
				(void)dw_val_addr(u, &v, &ret_site->pc);
			break;
		case DW_AT_abstract_origin:
			if (gnu)
				ret_site->origin = v;
			break;
		case DW_AT_call_origin: ret_site->origin = v; break;
		case DW_AT_call_tail_call:
		case DW_AT_GNU_tail_call: ret_site->tail = v.u != 0; break;
		default: break;
		}
	}
	return !c->bad;
}

/*
 * Call @each for the call sites of a function, nested functions left out, until it says so. False:
 * damaged.
 */
static bool sites(const struct place *p, bool (*each)(void *ctx, const struct site *s), void *ctx)
{
	const struct dw_unit *u = p->unit;
	struct dw_cur c = dw_unit_cur(u, p->die);
	bool off[DEPTH_MAX] = {false};
	unsigned depth = 0;
	struct dw_die d;

	if (!dw_die_start(u, &c, &d) || !d.abbrev || !dw_die_skip(u, &c, &d))
		return false;
	if (!d.abbrev->children)
		return true;
	while (dw_die_start(u, &c, &d)) {
		if (!d.abbrev) {
			if (!depth--)
				return true;
			continue;
		}
		if (!off[depth] &&
		    (d.abbrev->tag == DW_TAG_call_site || d.abbrev->tag == DW_TAG_GNU_call_site)) {
			struct site s;

			if (!read_site(u, &c, &d, &s))
				return false;
			if (!each(ctx, &s))
				return true;
		} else if (!dw_die_skip(u, &c, &d)) {
			return false;
		}
		if (!d.abbrev->children)
			continue;
		if (depth + 1 == DEPTH_MAX)
			return false;
		off[depth + 1] = off[depth] || d.abbrev->tag == DW_TAG_subprogram;
		depth++;
	}
	return false;
}

/* Does the compiler vouch that every tail call of the function has a call site? */
static bool tells_all(const struct place *p)
{
	struct dw_cur c = dw_unit_cur(p->unit, p->die);
	const struct dw_attr *a;
	struct dw_die d;

	if (!dw_die_start(p->unit, &c, &d) || !d.abbrev)
		return false;
	a = p->unit->abbrevs->attrs + d.abbrev->first;
	for (uint16_t i = 0; i < d.abbrev->nattrs; i++, a++) {
		struct dw_val v = {0};

		dw_form_read(&c, p->unit, a->form, a->implicit, &v);
		switch (a->name) {
		case DW_AT_call_all_calls:
		case DW_AT_call_all_source_calls:
		case DW_AT_call_all_tail_calls:
		case DW_AT_GNU_all_call_sites:
		case DW_AT_GNU_all_source_call_sites:
		case DW_AT_GNU_all_tail_call_sites:
			if (v.u && !c.bad)
				return true;
			break;
		default: break;
		}
	}
	return false;
}

/* ---- what is called ---- */

/* Where the out-of-line copies of the abstract function @die begin. */
static unsigned copies_of(struct dw_unit *u, uint64_t die, uint64_t starts[STARTS_MAX])
{
	const struct dw_index *i = dw_index_get(u);
	unsigned n = 0;

	for (size_t k = 0; i && k < i->by_origin.len; k++) {
		const struct dw_func *fn = &i->funcs.data[i->by_origin.data[k]];

		if (fn->origin != die - u->offset)
			continue;
		if (n == STARTS_MAX)
			return STARTS_MAX + 1;
		starts[n++] = fn->low;
	}
	return n;
}

static bool first_low(void *ctx, uint64_t low, uint64_t high)
{
	(void)high;
	*(uint64_t *)ctx = low;
	return false;
}

/*
 * Places that a call site's origin may mean: the entry's own code, the copies of an abstract one,
 * the symbol of a declaration; else one by name alone. More than STARTS_MAX: too many.
 */
static unsigned targets(const struct search *s, const struct dw_unit *from, const struct dw_val *v,
			struct place ret_places[STARTS_MAX])
{
	const char *name = NULL, *linkage = NULL;
	uint64_t starts[STARTS_MAX], die = 0, start = 0;
	struct dw_unit *u = dw_val_ref(from, v, &die);
	unsigned n = 0;

	for (int i = 0; u && i < CHAIN_MAX && !n; i++) {
		struct dw_cur c = dw_unit_cur(u, die);
		const struct dw_val *next;
		struct dw_die d;

		if (!dw_die_read(u, &c, &d))
			break;
		if (d.abbrev->has_pc) {
			(void)dw_ranges(u, &d, first_low, &start);
			ret_places[0] = (struct place){u, die, start, NULL};
			return start ? 1 : 0;
		}
		name = name ? name : dw_val_text(u, &d.v[DW_S_NAME]);
		linkage = linkage ? linkage : dw_val_text(u, &d.v[DW_S_LINKAGE]);
		n = copies_of(u, die, starts);
		next = d.v[DW_S_ORIGIN].form ? &d.v[DW_S_ORIGIN] : &d.v[DW_S_SPEC];
		u = next->form ? dw_val_ref(u, next, &die) : NULL;
	}
	if (n > STARTS_MAX)
		return n;
	name = linkage ? linkage : name;
	if (!n && name && s->q->start_of && (start = s->q->start_of(s->q->ctx, name)))
		starts[n++] = start;
	for (unsigned k = 0; k < n; k++)
		if (!place_at(s->f, starts[k], &ret_places[k]))
			ret_places[k] = (struct place){NULL, 0, starts[k], name};
	if (n || !name)
		return n;
	ret_places[0] = (struct place){NULL, 0, 0, name};
	return 1;
}

/* ---- the search ---- */

static void suspect(struct search *s, const struct place *p)
{
	if (s->nsuspect == SUSPECT_MAX)
		s->unsure = true;
	else
		s->suspect[s->nsuspect++] = *p;
}

struct gathered {
	struct site list[CALLS_MAX];
	unsigned n;
	bool unknown; /* one whose target is not told */
};

static bool gather(void *ctx, const struct site *site)
{
	struct gathered *g = ctx;

	if (!site->tail)
		return true;
	if (g->n == CALLS_MAX || !site->origin.form) {
		g->unknown = true;
		return true;
	}
	g->list[g->n++] = *site;
	return true;
}

static void arrive(struct search *s)
{
	bool same = s->paths && s->nfound == s->depth;

	for (unsigned i = 0; same && i < s->depth; i++)
		same = same_place(&s->found[i], &s->path[i]);
	if (same) /* another jump of the same functions */
		return;
	s->paths++;
	s->nfound = s->depth;
	memcpy(s->found, s->path, sizeof s->found);
	memcpy(s->found_steps, s->steps, sizeof s->found_steps);
}

static void visit(struct search *s, const struct place *p);

static void follow(struct search *s, const struct place *to)
{
	if (same_place(&s->callee, to)) {
		arrive(s);
		return;
	}
	for (unsigned i = 0; i < s->depth; i++) {
		if (!same_place(&s->path[i], to))
			continue;
		for (; i < s->depth; i++)
			suspect(s, &s->path[i]);
		return;
	}
	if (to->unit)
		visit(s, to);
}

static void visit(struct search *s, const struct place *p)
{
	struct gathered g = {.n = 0};

	if (s->depth == DW_TAIL_MAX || ++s->visits > VISITS_MAX || s->unsure) {
		s->unsure = true;
		return;
	}
	if (!sites(p, gather, &g) || !tells_all(p) || g.unknown)
		suspect(s, p);
	s->path[s->depth] = *p;
	s->depth++;
	for (unsigned i = 0; i < g.n && s->paths < 2 && !s->unsure; i++) {
		struct place to[STARTS_MAX];
		unsigned n = targets(s, p->unit, &g.list[i].origin, to);

		if (!n || n > STARTS_MAX)
			suspect(s, p);
		s->steps[s->depth - 1] = (struct dw_tail_step){g.list[i].pc, g.list[i].behind};
		for (unsigned k = 0; k < n && n <= STARTS_MAX; k++)
			follow(s, &to[k]);
	}
	s->depth--;
}

/* The one function that the call which returns to @ret calls. */
struct calling {
	uint64_t ret;
	struct dw_val origin;
};

static bool is_call(void *ctx, const struct site *site)
{
	struct calling *c = ctx;

	if (!site->behind || site->tail || site->pc != c->ret)
		return true;
	c->origin = site->origin;
	return false;
}

static void note_elsewhere(const struct search *s, const struct place *p)
{
	size_t n = p->name ? strcspn(p->name, "@") : 0;

	if (p->unit || !s->q->ret_elsewhere || !n || n >= DW_TAIL_NAME)
		return;
	memcpy(s->q->ret_elsewhere, p->name, n);
	s->q->ret_elsewhere[n] = '\0';
}

static bool called(const struct search *s, struct place *ret_place)
{
	struct calling c = {.ret = s->q->ret};
	struct place caller, to[STARTS_MAX];
	unsigned n;

	if (!c.ret || !place_at(s->f, c.ret - 1, &caller) || !sites(&caller, is_call, &c) ||
	    !c.origin.form)
		return false;
	n = targets(s, caller.unit, &c.origin, to);
	for (unsigned i = 0; i < n && n <= STARTS_MAX; i++)
		if (same_place(&s->callee, &to[i]))
			return false; /* called as it seems */
	if (n == 1)
		note_elsewhere(s, &to[0]);
	*ret_place = to[0];
	return n == 1 && to[0].unit;
}

/* The function that another module's call is to, by its name here. */
static bool called_by_name(const struct search *s, struct place *ret_place)
{
	uint64_t start = s->q->start_of ? s->q->start_of(s->q->ctx, s->q->first_name) : 0;

	return start && place_at(s->f, start, ret_place) && ret_place->start == start &&
	       ret_place->unit && !same_place(&s->callee, ret_place);
}

static bool doubtful(const struct search *s)
{
	for (unsigned i = 0; i < s->nfound; i++)
		for (unsigned k = 0; k < s->nsuspect; k++)
			if (same_place(&s->found[i], &s->suspect[k]))
				return true;
	return s->unsure || s->paths != 1;
}

/* May the callee have come back to itself on its way? */
static bool circles(const struct search *s)
{
	struct search again = {.f = s->f, .q = s->q, .callee = s->callee};

	if (!s->callee.unit)
		return false;
	visit(&again, &s->callee);
	return again.paths > 0;
}

unsigned dw_tail_calls(struct dw_file *f, const struct dw_tail_query *q,
		       struct dw_tail_step ret_steps[DW_TAIL_MAX])
{
	struct search s = {.f = f, .q = q};
	struct place first;

	if (!q->callee_addr || !place_at(f, q->callee_addr, &s.callee))
		s.callee.start = q->callee_start;
	s.callee.name = q->callee_name;
	if (q->first_name ? !called_by_name(&s, &first) : !called(&s, &first))
		return 0;
	visit(&s, &first);
	if (doubtful(&s) || circles(&s))
		return 0;
	for (unsigned i = 0; i < s.nfound; i++) {
		ret_steps[i] = s.found_steps[i];
		if (!ret_steps[i].pc)
			ret_steps[i] = (struct dw_tail_step){s.found[i].start, false};
	}
	return s.nfound;
}
