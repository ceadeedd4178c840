/*
 * view: places a view's columns in the cells there are, and turns a screen's state into a question.
 * Pure arithmetic over constant tables; any thread.
 */
#include "view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

#define GAP       2
#define BAR_MIN   3
#define BAR_MAX   12
#define IMPORTANT 150 /* columns kept at least so much do not go while the name can shrink */

static const struct view *const views[VIEW_KINDS] = {
	[VIEW_FUNCTIONS] = &view_functions, [VIEW_CALLERS] = &view_callers,
	[VIEW_TREE] = &view_tree,           [VIEW_THREADS] = &view_threads,
	[VIEW_MODULES] = &view_modules,     [VIEW_SOURCE] = &view_source,
	[VIEW_EVENTS] = &view_events,       [VIEW_TOPDOWN] = &view_topdown,
	[VIEW_VERDICTS] = &view_verdicts,   [VIEW_DURATION] = &view_duration,
	[VIEW_CACHE] = &view_cache,         [VIEW_EDGE] = &view_edge,
	[VIEW_OUTPUT] = &view_output,       [VIEW_DOCTOR] = &view_doctor,
};

const struct view *view_of(enum view_kind kind)
{
	return kind < VIEW_KINDS ? views[kind] : &view_functions;
}

static bool several_processes(const struct answer *a)
{
	pid_t pid = 0;

	for (uint32_t i = 0; i < a->nrows; i++) {
		if (!a->rows[i].pid)
			continue;
		if (pid && a->rows[i].pid != pid)
			return true;
		pid = a->rows[i].pid;
	}
	return false;
}

static bool has_sparks(const struct answer *a)
{
	for (uint32_t i = 0; i < a->nrows; i++)
		if (a->rows[i].nspark)
			return true;
	return false;
}

static bool has_blocked(const struct answer *a)
{
	for (uint32_t i = 0; i < a->nrows; i++)
		if (a->rows[i].blocked > 0)
			return true;
	return false;
}

static bool applies(const struct column *c, const struct answer *a)
{
	if (c->flags & COLUMN_ADDRESSES)
		return a && a->query.flags & QUERY_ADDRESSES;
	if (c->flags & COLUMN_PROCESSES)
		return a && several_processes(a);
	if (c->flags & COLUMN_SPARKS)
		return a && has_sparks(a);
	if (c->flags & COLUMN_EDGES)
		return a && a->edge_cells;
	if (c->flags & COLUMN_BLOCKS)
		return a && has_blocked(a);
	return true;
}

/* How many columns @c stands for, and the title of the @i-th. */
static int stands_for(const struct column *c, const struct answer *a)
{
	if (c->flags & COLUMN_EACH_METRIC)
		return a ? a->nmetrics : 0;
	if (c->flags & COLUMN_EACH_CELL)
		return a ? (int)a->ncells : 0;
	return 1;
}

static void title_of(const struct column *c, const struct answer *a, int i, char *ret, size_t size)
{
	const char *text = c->title, *prefix = "";

	if (c->flags & COLUMN_EACH_METRIC)
		text = a->metrics[i].name;
	else if (c->flags & COLUMN_EACH_CELL)
		text = a->columns[i].title;
	if (c->id == COLUMN_METRIC_TOTAL)
		prefix = "\xce\xa3"; /* Σ */
	snprintf(ret, size, "%s%s", prefix, text);
	for (char *p = ret; c->flags & COLUMN_EACH_CELL && *p; p++) /* as other titles are */
		*p = (char)(*p == '_' ? ' ' : *p >= 'a' && *p <= 'z' ? *p - 32 : *p);
}

/* All columns in order, at their preferred width; nothing dropped yet. */
static int collect(const struct view *view, const struct answer *a, uint32_t sort, struct placed *p,
		   int *keep)
{
	int n = 0;

	for (int i = 0; i < view->ncolumns; i++) {
		const struct column *c = &view->columns[i];
		int times = applies(c, a) ? stands_for(c, a) : 0;

		for (int k = 0; k < times && n < VIEW_COLUMNS; k++, n++) {
			int title;

			p[n] = (struct placed){.column = c, .id = c->id + (uint32_t)k, .index = k};
			title_of(c, a, k, p[n].title, sizeof p[n].title);
			title = utf8_cells(p[n].title, c->most);
			p[n].width = title > c->width ? title : c->width;
			p[n].least = title > c->least ? title : c->least;
			p[n].bar = c->flags & COLUMN_HAS_BAR ? BAR_MIN : 0;
			keep[n] = c->keep == 255 ? 255 : c->keep - (k < 8 ? k : 8);
			if (sort && p[n].id == sort)
				keep[n] = 254;
		}
	}
	return n;
}

static int needed(const struct placed *p, int n)
{
	int cells = 0;

	for (int i = 0; i < n; i++)
		cells += p[i].width + (p[i].bar ? p[i].bar + 1 : 0) + (i ? GAP : 0);
	return cells;
}

/*
 * Take cells from columns that can be narrower than preferred, @always from the one that always
 * stays too.
 */
static bool shrink(struct placed *p, int n, int over, bool always)
{
	for (int i = 0; i < n && over > 0; i++) {
		int slack = p[i].width - p[i].least, take = slack < over ? slack : over;

		if (slack > 0 && (always || p[i].column->keep != 255)) {
			p[i].width -= take;
			over -= take;
		}
	}
	return over <= 0;
}

/* The column that goes next, -1: all that are left stay. */
static int victim(const int *keep, int n)
{
	int found = -1;

	for (int i = 0; i < n; i++)
		if (keep[i] != 255 && (found < 0 || keep[i] <= keep[found]))
			found = i;
	return found;
}

/*
 * Until all fits: first columns shrink, then the unimportant go, then the one that always stays
 * gives what it can, then the important go.
 */
static int squeeze(struct placed *p, int *keep, int n, int width)
{
	int over;

	while ((over = needed(p, n) - width) > 0) {
		int out = victim(keep, n);
		bool important = out < 0 || keep[out] >= IMPORTANT;

		if (shrink(p, n, over, important) || out < 0)
			break;
		memmove(p + out, p + out + 1, sizeof *p * (size_t)(n - out - 1));
		memmove(keep + out, keep + out + 1, sizeof *keep * (size_t)(n - out - 1));
		n--;
		for (int i = 0; i < n; i++) /* those that shrank may have their width back */
			if (p[i].width < p[i].column->width)
				p[i].width = p[i].column->width;
	}
	return n;
}

/* Give what is left over: bars first to a comfortable size, then growing columns, then the name. */
static void spread(struct placed *p, int n, int left)
{
	int grower = -1;

	for (int i = 0; i < n; i++)
		if (p[i].column->flags & COLUMN_GROWS || (grower < 0 && p[i].column->keep == 255))
			grower = i;
	for (int i = 0; i < n && left > 20; i++) {
		if (p[i].bar) {
			int more = left / 8 < BAR_MAX - p[i].bar ? left / 8 : BAR_MAX - p[i].bar;

			p[i].bar += more;
			left -= more;
		}
	}
	for (int i = 0; i < n && left > 20; i++) {
		const struct column *c = p[i].column;
		int more = c->most - p[i].width;

		if (i != grower && c->flags & COLUMN_LEFT && more > 0) {
			more = more < left / 4 ? more : left / 4;
			p[i].width += more;
			left -= more;
		}
	}
	if (grower >= 0)
		p[grower].width += left;
}

int view_place(const struct view *view, const struct answer *answer, int width, uint32_t sort,
	       struct placed ret[VIEW_COLUMNS])
{
	int keep[VIEW_COLUMNS];
	int n = collect(view, answer, sort, ret, keep), over, x = 0;

	n = squeeze(ret, keep, n, width);
	over = needed(ret, n) - width;
	if (over < 0)
		spread(ret, n, -over);
	for (int i = 0; i < n; i++) {
		int full = ret[i].width + (ret[i].bar ? ret[i].bar + 1 : 0);

		ret[i].x = x;
		ret[i].width = full < width - x ? full : width - x > 0 ? width - x : 0;
		x += full + GAP;
	}
	return n;
}

void view_env_init(struct view_env *env, const struct answer *answer)
{
	static const double steps[] = {0.05, 0.10, 0.25, 0.50};
	double most = 0;

	*env = (struct view_env){.answer = answer, .scale = 1, .whole = 1};
	for (uint32_t i = 0; i < answer->nrows; i++) {
		most = fmax(most, answer->rows[i].self);
		if (answer->rows[i].key.kind == ROW_SELF)
			env->whole = answer->rows[i].total;
	}
	for (size_t i = sizeof steps / sizeof *steps; i-- > 0;)
		if (most <= steps[i])
			env->scale = steps[i];
}

void view_cell_fill(const struct placed *placed, const struct row *row, struct view_env *env,
		    struct view_cell *cell)
{
	cell->nspans = 0;
	cell->bar = -1;
	cell->spark = NULL;
	cell->nspark = 0;
	cell->scrolls = CELL_SPANS;
	env->index = placed->index;
	env->width = placed->width - (placed->bar ? placed->bar + 1 : 0);
	placed->column->cell(row, env, cell);
	cell->bar = cell->bar >= 0 ? fmin(cell->bar, 1) : -1;
}

bool view_hides(const struct view *view, const struct row *row, double percent_limit)
{
	if (!view->limited || percent_limit <= 0 || row->key.kind == ROW_REST ||
	    row->key.kind == ROW_SELF || row->key.kind == ROW_HEADING || row->key.kind == ROW_TEXT)
		return false;
	return fmax(row->self, row->total) * 100 < percent_limit;
}

int view_sorts(const struct view *view, const struct answer *answer, uint32_t ret[VIEW_COLUMNS])
{
	int n = 0;

	for (int i = 0; i < view->ncolumns; i++) {
		const struct column *c = &view->columns[i];
		int times = applies(c, answer) ? stands_for(c, answer) : 0;

		if (c->flags & COLUMN_UNSORTED)
			continue;
		for (int k = 0; k < times && n < VIEW_COLUMNS; k++)
			ret[n++] = c->id + (uint32_t)k;
	}
	return n;
}

const char *view_column_title(const struct view *view, const struct answer *answer, uint32_t id)
{
	for (int i = 0; i < view->ncolumns; i++) {
		const struct column *c = &view->columns[i];
		int times = stands_for(c, answer);

		if (id < c->id || id >= c->id + (uint32_t)times)
			continue;
		if (c->flags & COLUMN_EACH_METRIC)
			return answer->metrics[id - c->id].name;
		if (c->flags & COLUMN_EACH_CELL)
			return answer->columns[id - c->id].title;
		return c->title;
	}
	return "";
}

uint32_t view_default_sort(const struct view *view)
{
	for (int i = 0; i < view->ncolumns; i++)
		if (!(view->columns[i].flags & COLUMN_UNSORTED))
			return view->columns[i].id;
	return COLUMN_DEFAULT;
}

void view_query(const struct view *view, const struct view_state *s, struct query *ret)
{
	uint32_t serial = ret->serial;

	*ret = (struct query){
		.view = view->kind,
		.serial = serial,
		.flags = s->flags & view->flags,
		.window_ns = s->window_ns,
		.until_ns = s->until_ns,
		.task = s->task,
		.sort = s->sort,
		.set = s->set,
		.event = s->event,
		.focus = s->focus,
		.expanded = s->expanded,
		.nexpanded = s->nexpanded,
	};
	if (s->reverse)
		ret->flags |= QUERY_REVERSE;
	if (s->expand_all)
		ret->flags |= QUERY_EXPAND_ALL;
	snprintf(ret->filter, sizeof ret->filter, "%s",
		 s->filter && view->filtered ? s->filter : "");
	snprintf(ret->options, sizeof ret->options, "%s", s->options ? s->options : "");
}
