/*
 * publish: makes the answer to the question in force and puts it into the slot.
 *
 * Engine thread. Which function builds which view is a table; after the rows are made, the resolver
 * is asked for the names they lack, those on screen first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/build.h"
#include "profile/snap.h"
#include "symbol/resolver.h"

#define IDLE     0.0005 /* of a CPU: less is none */
#define WANT_MAX 4096   /* frames asked for at once, beside those on screen */
#define NAMELESS 0.01   /* of the time, that names may still move from row to row */

const struct view_builder view_builders[VIEW_KINDS] = {
	[VIEW_FUNCTIONS] = {.build = show_functions},
	[VIEW_CALLERS] = {.build = show_callers},
	[VIEW_TREE] = {.build = show_tree},
	[VIEW_THREADS] = {.build = show_threads, .all_threads = true},
	[VIEW_MODULES] = {.build = show_modules},
	[VIEW_SOURCE] = {.build = show_source},
	[VIEW_EVENTS] = {.build = show_events},
	[VIEW_OUTPUT] = {.build = show_output},
	[VIEW_DOCTOR] = {.build = show_doctor},
	[VIEW_DURATION] = {.build = show_analysis},
	[VIEW_CACHE] = {.build = show_analysis},
	[VIEW_EDGE] = {.build = show_analysis},
	[VIEW_VERDICTS] = {.build = show_verdicts},
	[VIEW_TOPDOWN] = {.build = show_topdown},
};

/*
 * Nodes of the fold that have no name yet. Frames recur in nodes; the resolver asks once. Rows
 * that wait for their names are worth an answer as soon as these come (build_want), others only if
 * they may change what a row shows: each new call path brings some, all the time.
 */
void build_ask_names(struct build *b)
{
	struct engine *e = b->e;
	frame_id wanted[256];
	uint32_t n = 0, asked = 0;
	uint64_t self = 0, total = 0;

	if (!e->setup.resolver)
		return;
	if (b->nwanted)
		resolver_want(e->setup.resolver, b->wanted, b->nwanted);
	for (uint32_t i = 0; i < e->flat.n && asked < WANT_MAX; i++) {
		frame_id frame = e->flat.nodes[i].frame;
		if (tables_loc(b->t, frame))
			continue;
		self += e->flat.nodes[i].self.weight;
		if (e->flat.nodes[i].total.weight > total)
			total = e->flat.nodes[i].total.weight;
		wanted[n++] = frame;
		asked++;
		if (n == sizeof wanted / sizeof *wanted) {
			resolver_want(e->setup.resolver, wanted, n);
			n = 0;
		}
	}
	if (n)
		resolver_want(e->setup.resolver, wanted, n);
	if (e->flat.tails_wanted.len)
		resolver_want_tails(e->setup.resolver, e->flat.tails_wanted.data,
				    (uint32_t)e->flat.tails_wanted.len);
	double most = (double)(self > total ? self : total);
	e->pace.nameless |= asked > 0;
	e->pace.unresolved |= asked == WANT_MAX || most > NAMELESS * (double)e->flat.all.weight;
}

/* Nothing was folded: an idle target is only one of the reasons. */
static const char *why_nothing(const struct build *b)
{
	const struct engine *e = b->e;
	const struct answer_status *s = &b->a->status;
	bool clock = b->desc && b->desc->cpu_time;

	if (b->desc && b->desc->hidden)
		return value_reason(VALUE_HIDDEN);
	if (e->profile.mark_ns && !e->setup.live)
		return "no samples after the mark, which is at the recording's end";
	if (b->q->flags & QUERY_FILTERS)
		return "no samples in this window outside the hidden code";
	if (b->q->task || b->task_mask)
		return "no samples of it in this window";
	if (!e->setup.live)
		return "no samples in this window of the recording";
	if (clock && !e->no_kernel && !e->no_user && s->cpu >= 0 && s->cpu < IDLE)
		return "no samples in this window: the target is idle";
	if (clock && s->cpu >= IDLE)
		return "no samples in this window, though the target used CPU time";
	return "no samples in this window";
}

static void say_why_empty(struct build *b)
{
	struct answer *a = b->a;
	if (a->nrows || a->note[0])
		return;
	if (!b->e->profile.begin_ns)
		snprintf(a->note, sizeof a->note, "no samples yet");
	else if (b->q->filter[0] && (b->whole || b->q->view == VIEW_THREADS)) /* these always are */
		snprintf(a->note, sizeof a->note, "nothing matches the filter");
	else if (!b->whole)
		snprintf(a->note, sizeof a->note, "%s", why_nothing(b));
}

/* QUERY_NAMES: the frames that came since this was last done. */
static void ask_new_names(struct engine *e)
{
	frame_id wanted[256];
	uint32_t n = 0, end = e->setup.resolver ? tables_frame_count(e->tables) : 0;

	while (e->names_asked < end) {
		if (tables_loc(e->tables, ++e->names_asked))
			continue;
		wanted[n++] = e->names_asked;
		if (n < sizeof wanted / sizeof *wanted)
			continue;
		resolver_want(e->setup.resolver, wanted, n);
		n = 0;
	}
	if (n)
		resolver_want(e->setup.resolver, wanted, n);
}

void engine_publish(struct engine *e, uint64_t now_ns)
{
	const struct query *q = &e->ask->query;
	if (q->flags & QUERY_NAMES) {
		ask_new_names(e);
		return;
	}
	const struct view_builder *view = (unsigned)q->view < VIEW_KINDS ? &view_builders[q->view]
									 : NULL;
	struct query asked = *q;
	struct build b = {.e = e, .t = e->tables, .q = &asked, .event = UINT16_MAX};
	uint64_t cpu = clock_thread_cpu_ns();

	b.box = answer_box_new();
	if (!b.box)
		return;
	b.a = &b.box->answer;
	b.a->query = *q;
	b.a->query.expanded = NULL;
	/* The last seconds of a set that others followed are before its end. */
	uint64_t end = set_in_view(e, q->set) == e->newest_set ? 0 : set_end_ns(e, q->set);
	if (end && (!q->until_ns || end < q->until_ns))
		asked.until_ns = end + 1;
	b.a->time_ns = q->until_ns ? q->until_ns : engine_now(e);
	b.window = engine_window(e, q->window_ns, asked.until_ns);
	task_id task = view && view->all_threads ? 0 : q->task;
	b.failed = build_fold(&b, task) != 0;
	if (!b.failed && view && view->build)
		view->build(&b);
	if (!b.failed) {
		build_status(&b, &b.a->status);
		say_why_empty(&b);
		build_ask_names(&b);
	}
	b.a->fold_ns = clock_thread_cpu_ns() - cpu;
	free(b.task_mask);
	free(b.unsampled);
	if (b.failed) {
		engine_tell(e, NOTICE_ERROR, "no memory for this view");
		answer_box_unref(b.box);
		return;
	}
	(void)now_ns;
	slot_put(e->answer, b.box);
}
