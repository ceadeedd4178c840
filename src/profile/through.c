/*
 * through: which functions a path lacks, and their counts.
 *
 * Engine thread. Functions are numbered as they are met: by module and name where a recording names
 * a frame, by function where that is known, else by the frame itself. What a path has shown is
 * marked with the path's round, so that nothing need be cleared. Samples are mostly of one kind:
 * same thread, event and weight. Of those each frame has one small number, and a recording's
 * functions fit the nearest cache; of others it has half a cache line, for the kind that came last.
 * All that goes to its cell when the kind changes or somebody asks.
 */
#include "profile/through.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keys of numbers, above module ids (below MODULES_MAX, 2^18). */
#define KEY_FUNCTION (1ull << 62)
#define KEY_FRAME    (1ull << 63)

#define SUM_MOST      UINT32_MAX /* samples */
#define SQUARE_ERROR  1e-12      /* by which squares that are the same may differ: rounding */
#define MARK_FINAL    (1u << 31)
#define MARK_MODULE   ((1u << 18) - 1) /* the lowest bits; above them some of a function's number */
#define SIMPLE_FRAMES 64               /* of more, two are too likely the same by chance */

int through_init(struct through *x, const struct tables *tables, size_t cap_bytes)
{
	*x = (struct through){.tables = tables, .cap_bytes = cap_bytes};
	map64_init(&x->numbers);
	return vec_push(&x->functions, 0); /* number 0 is no function's */
}

void through_fini(struct through *x)
{
	cells_fini(&x->cells);
	map64_fini(&x->numbers);
	vec_fini(&x->frames);
	vec_fini(&x->marks);
	vec_fini(&x->usual);
	vec_fini(&x->sums);
	vec_fini(&x->modules);
	vec_fini(&x->functions);
	*x = (struct through){0};
}

size_t through_bytes(const struct through *x)
{
	size_t slot = sizeof *x->numbers.keys + sizeof *x->numbers.values + sizeof *x->numbers.used;
	return cells_bytes(&x->cells) + x->frames.cap * sizeof *x->frames.data +
	       x->marks.cap * sizeof *x->marks.data + x->usual.cap * sizeof *x->usual.data +
	       x->sums.cap * sizeof *x->sums.data + x->modules.cap * sizeof *x->modules.data +
	       x->functions.cap * sizeof *x->functions.data + x->numbers.capacity * slot;
}

/* Room for all frames and modules there are. */
static bool make_room(struct through *x)
{
	size_t frames = tables_frame_count(x->tables) + 1,
	       modules = tables_module_count(x->tables) + 1;
	if (vec_reserve(&x->frames, frames) || vec_reserve(&x->sums, frames) ||
	    vec_reserve(&x->marks, frames) || vec_reserve(&x->usual, frames) ||
	    vec_reserve(&x->modules, modules))
		return false;
	for (; x->sums.len < frames; x->sums.len++)
		x->sums.data[x->sums.len] = (struct through_sum){0};
	for (; x->marks.len < frames; x->marks.len++)
		x->marks.data[x->marks.len] = 0;
	for (; x->usual.len < frames; x->usual.len++)
		x->usual.data[x->usual.len] = 0;
	for (; x->frames.len < frames; x->frames.len++)
		x->frames.data[x->frames.len] = (struct through_frame){0};
	for (; x->modules.len < modules; x->modules.len++)
		x->modules.data[x->modules.len] = (struct through_module){0};
	return true;
}

static uint32_t number_of(struct through *x, uint64_t key)
{
	uint32_t number = (uint32_t)x->functions.len, known;
	if (map64_get(&x->numbers, key, &known))
		return known;
	if (vec_reserve(&x->functions, number + 1) || map64_put(&x->numbers, key, number))
		return 0;
	x->functions.data[x->functions.len++] = 0;
	return number;
}

static bool identify(struct through *x, frame_id frame)
{
	const struct frame *f = tables_frame_get(x->tables, frame);
	bool named = f->flags & FRAME_NAMED;
	const struct loc *loc = named ? NULL : tables_loc(x->tables, frame);
	if (frame >= x->frames.len || f->module >= x->modules.len)
		return false;
	x->frames.data[frame] = (struct through_frame){
		.module = f->module,
		.final = named || loc,
		.what = number_of(x, named ? (uint64_t)f->module << 32 | f->name
				     : loc ? KEY_FUNCTION | loc->lines[loc->n - 1].func
					   : KEY_FRAME | frame)};
	const struct through_frame *got = &x->frames.data[frame];
	if (got->what && got->final && frame != FRAME_OVERFLOW && got->module <= MARK_MODULE)
		x->marks.data[frame] = MARK_FINAL | got->module |
				       got->what % THROUGH_MARKS * (MARK_MODULE + 1);
	return got->what;
}

/* NULL: no memory. Good until the next. */
static const struct through_frame *look_at(struct through *x, frame_id frame)
{
	if (frame >= x->frames.len && !make_room(x))
		return NULL;
	if (frame < x->frames.len && x->frames.data[frame].final)
		return &x->frames.data[frame];
	return identify(x, frame) || (make_room(x) && identify(x, frame)) ? &x->frames.data[frame]
									  : NULL;
}

/* Has the path at hand shown this before? From now on it has. */
static inline bool shown(struct through *x, uint32_t *round)
{
	bool was = *round == x->round;
	*round = x->round;
	return was;
}

static bool show_kept(struct through *x, frame_id frame)
{
	const struct through_frame *f = look_at(x, frame);
	if (!f)
		return false;
	shown(x, &x->functions.data[f->what]);
	shown(x, &x->modules.data[f->module].round);
	return true;
}

static bool add_lost(struct through *x, frame_id frame, struct through_list *io_list)
{
	const struct through_frame *f = look_at(x, frame);
	if (!f)
		return false;
	if (!shown(x, &x->functions.data[f->what]))
		io_list->own[io_list->n++] = frame;
	if (!shown(x, &x->modules.data[f->module].round))
		io_list->own[io_list->n++] = THROUGH_MODULE | f->module;
	return true;
}

static void next_round(struct through *x)
{
	if (++x->round)
		return;
	/* After four billion paths. */
	memset(x->functions.data, 0, x->functions.len * sizeof *x->functions.data);
	for (size_t i = 0; i < x->modules.len; i++)
		x->modules.data[i].round = 0;
	x->round = 1;
}

/*
 * Is it sure that no function is met twice, that all are of one module, and that none is
 * [overflow]? By a few bits of each function's number: seldom those of two are the same by chance.
 */
static bool is_simple(struct through *x, const frame_id *frames, uint32_t n)
{
	uint32_t unsure = n > SIMPLE_FRAMES, before = 0;
	if (!++x->met_round) {
		memset(x->met, 0, sizeof x->met);
		x->met_round = 1;
	}
	for (uint32_t i = 0; i < n && !unsure; i++) {
		uint32_t mark = frames[i] < x->marks.len ? x->marks.data[frames[i]] : 0;
		uint16_t *met = &x->met[mark / (MARK_MODULE + 1) % THROUGH_MARKS];
		unsure = !mark | (*met == x->met_round) | (i && ((mark ^ before) & MARK_MODULE));
		*met = x->met_round;
		before = mark;
	}
	return !unsure;
}

void through_find(struct through *x, const frame_id *frames, uint32_t n, uint32_t kept, bool leaf,
		  bool distinct, struct through_list *ret_list)
{
	ret_list->n = 0;
	ret_list->keys = ret_list->own;
	if (!x->tables)
		return;
	bool good = true;
	uint32_t inner = leaf ? 1 : 0, end = n - (kept < n ? kept : n);
	if (n > THROUGH_DEPTH) /* the call trie has no more either */
		n = THROUGH_DEPTH;
	if (end > n)
		end = n;
	if (end <= inner)
		return;
	if ((leaf || end < n) && (distinct || is_simple(x, frames, n))) {
		/* Nothing is shown twice, save the module. */
		ret_list->n = end - inner;
		ret_list->keys = frames + inner;
		return;
	}
	next_round(x);
	for (uint32_t i = end; i < n && good; i++)
		good = show_kept(x, frames[i]);
	if (leaf && n && good)
		good = show_kept(x, frames[0]);
	for (uint32_t i = inner; i < end && good; i++)
		good = frames[i] == FRAME_OVERFLOW || add_lost(x, frames[i], ret_list);
	x->lost += !good;
}

void through_find_common(struct through *x, const frame_id *frames, uint32_t n, uint32_t kept,
			 struct through_list *ret_list)
{
	bool good = x->tables;
	ret_list->n = 0;
	ret_list->keys = ret_list->own;
	next_round(x);
	for (uint32_t i = n - kept; i < n && good; i++)
		good = show_kept(x, frames[i]);
	for (uint32_t i = 0; i < n - kept && good; i++)
		good = frames[i] == FRAME_OVERFLOW || add_lost(x, frames[i], ret_list);
	x->lost += x->tables && !good;
	x->lacks_module = false;
	for (uint32_t i = 0; i < ret_list->n; i++)
		x->lacks_module |= !!(ret_list->own[i] & THROUGH_MODULE);
}

bool through_shares(struct through *x, frame_id frame)
{
	const struct through_frame *f = look_at(x, frame);
	return !f || x->functions.data[f->what] == x->round ||
	       (x->lacks_module && x->modules.data[f->module].round == x->round);
}

/* Where @key sums up; NULL: nowhere. */
static struct through_sum *sum_of(struct through *x, uint32_t key)
{
	uint32_t module = key & ~THROUGH_MODULE;
	if (key & THROUGH_MODULE)
		return module < x->modules.len ? &x->modules.data[module].sum : NULL;
	if (key >= x->sums.len && key <= tables_frame_count(x->tables) && !make_room(x))
		return NULL;
	return key < x->sums.len ? &x->sums.data[key] : NULL;
}

/* Give what was summed up to its cell. */
static void settle(struct through *x, struct through_sum *sum)
{
	if (!sum->cell)
		return;
	cell_sum(&x->cells.data[sum->cell - 1], &(struct cell){.samples = sum->samples,
							       .weight = sum->weight,
							       .weight_sq = sum->weight_sq});
	sum->samples = 0;
	sum->weight = 0;
	sum->weight_sq = 0;
}

/* The cell of @key; NULL: no room, not even for that of all threads together. */
static struct cell *cell_of(struct through *x, struct cell *key)
{
	bool full = x->cells.len == x->cells.cap && cells_bytes_next(&x->cells) > x->cap_bytes;
	if (full && !cells_find(&x->cells, key))
		key->task = 0;
	return full && !cells_find(&x->cells, key) ? NULL : cells_at(&x->cells, key);
}

/* The same of all that the usual samples counted; there is a cell for each of them. */
static void settle_usual(struct through *x)
{
	struct through_usual *u = &x->usual;
	for (size_t i = 0; u->hits && i < u->len + x->modules.len; i++) {
		bool module = i >= u->len;
		uint32_t *hits = module ? &x->modules.data[i - u->len].usual : &u->data[i];
		struct cell key = u->one;
		key.node = module ? THROUGH_MODULE | (uint32_t)(i - u->len) : (uint32_t)i;
		struct cell *to = *hits ? cell_of(x, &key) : NULL;
		if (to)
			cell_sum(to, &(struct cell){.samples = *hits,
						    .weight = *hits * u->one.weight,
						    .weight_sq = *hits * u->one.weight_sq});
		*hits = 0;
	}
	u->hits = 0;
}

const struct cells *through_cells(const struct through *x)
{
	struct through *own = (struct through *)(uintptr_t)x; /* its value stays the same */
	for (size_t i = 0; i < own->sums.len; i++)
		settle(own, &own->sums.data[i]);
	for (size_t i = 0; i < own->modules.len; i++)
		settle(own, &own->modules.data[i].sum);
	settle_usual(own);
	return &x->cells;
}

/* Counts of another thread or event than before. */
static void change_cell(struct through *x, struct through_sum *sum, uint32_t what,
			const struct cell *c)
{
	struct cell key = *c;
	key.node = what;
	key.leaf = 0;
	struct cell *to = cell_of(x, &key);
	x->lost += !to;
	if (to)
		cell_sum(to, c);
	if (!sum)
		return;
	settle(x, sum);
	*sum = (struct through_sum){.cell = to ? (uint32_t)(to - x->cells.data) + 1 : 0,
				    .task = key.task,
				    .event = key.event,
				    .flags = key.flags};
}

/* Does @c differ from what is usual in its number of hits alone? */
static bool is_usual(const struct through *x, const struct cell *c)
{
	const struct cell *one = &x->usual.one;
	double square = one->weight_sq * (double)c->samples;
	return one->samples && c->samples && c->task == one->task && c->event == one->event &&
	       c->flags == one->flags && c->weight == one->weight * c->samples &&
	       fabs(c->weight_sq - square) <= SQUARE_ERROR * square;
}

/* Samples like @c are the usual ones from now on, if others than those came as often as it costs.
 */
static void learn_usual(struct through *x, const struct cell *c)
{
	struct through_usual *u = &x->usual;
	if (!c->samples || c->weight % c->samples || (u->one.samples && u->others++ < u->len))
		return;
	settle_usual(x);
	u->one = *c;
	u->one.leaf = 0;
	u->one.samples = 1;
	u->one.weight = c->weight / c->samples;
	u->one.weight_sq = c->weight_sq / (double)c->samples;
	u->others = 0;
}

/* Where hits of @key are counted; NULL: nowhere. */
static uint32_t *usual_of(struct through *x, uint32_t key)
{
	if (key >= x->usual.len && !sum_of(x, key))
		return NULL;
	return key & THROUGH_MODULE ? &x->modules.data[key & ~THROUGH_MODULE].usual
				    : &x->usual.data[key];
}

/* The first hit of @key needs a cell to go to. */
static bool has_cell(struct through *x, uint32_t key)
{
	struct cell c = x->usual.one;
	c.node = key;
	return cell_of(x, &c);
}

static void add_usual(struct through *x, const uint32_t *keys, uint32_t n, uint32_t hits)
{
	if (hits > UINT32_MAX - x->usual.hits)
		settle_usual(x);
	x->usual.hits += hits;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *to = usual_of(x, keys[i]);
		if (to && (*to || has_cell(x, keys[i])))
			*to += hits;
		else
			x->lost++;
	}
}

void through_add(struct through *x, const uint32_t *keys, uint32_t n, const struct cell *c)
{
	bool usual = is_usual(x, c);
	if (!usual)
		learn_usual(x, c);
	if ((usual || is_usual(x, c)) && c->samples <= UINT32_MAX) {
		x->usual.others -= x->usual.others && usual;
		add_usual(x, keys, n, (uint32_t)c->samples);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct through_sum *sum = sum_of(x, keys[i]);
		if (!sum || !sum->cell || sum->task != c->task || sum->event != c->event ||
		    sum->flags != c->flags || c->samples > SUM_MOST - sum->samples) {
			change_cell(x, sum, keys[i], c);
			continue;
		}
		sum->samples += (uint32_t)c->samples;
		sum->weight += c->weight;
		sum->weight_sq += c->weight_sq;
	}
}
