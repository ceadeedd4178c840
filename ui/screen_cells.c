/*
 * screen_cells: screens whose numbers the answer names itself: events, top-down, and the analyses
 * of recorded traces. Enter leads to the function where one is known.
 */
#include <stdio.h>

#include "screen.h"

static bool enter(struct ui *ui, struct page *page, const struct row *row)
{
	struct row_key key = row_function(row);

	(void)page;
	if (!key.kind && (row->key.kind == ROW_SPAN || row->key.kind == ROW_CALLS ||
			  row->key.kind == ROW_EDGE)) {
		app_say(ui, MESSAGE_INFO, "%s",
			row->key.kind == ROW_EDGE
				? "where this is in the source is not known: --maps FILE tells"
				: "a trace tells no source of it: \\ and its name in Tree shows who "
				  "called it");
		return true;
	}
	if (!key.kind)
		return false;
	struct page *source = page_push(ui, VIEW_SOURCE, key, row->name);
	if (source)
		source->find_line = row->line;
	return true;
}

/* A set that was in use before can be looked at again, in all screens. */
static bool enter_set(struct ui *ui, struct page *page, const struct row *row)
{
	uint16_t set = (uint16_t)row->key.b;
	bool headed = false;

	if (row->key.kind != ROW_HEADING && row->key.kind != ROW_EVENT)
		return false;
	for (uint32_t i = 0; i < page->answer->nrows; i++) {
		const struct row *r = &page->answer->rows[i];

		headed |= r->key.kind == ROW_HEADING;
		if (r->key.kind == ROW_HEADING && r->flags & ROW_CURRENT && r->key.b == row->key.b)
			set = UINT16_MAX; /* whatever is in use */
	}
	if (!headed || set == ui->set)
		return false;
	ui->set = set;
	ui->ask = true;
	app_say(ui, MESSAGE_INFO, "%s",
		set == UINT16_MAX ? "the set in use now"
				  : "this set's data: Enter on the set in use goes back");
	return true;
}

/* Where no event tells of slots, rows are sentences; a part of the slots unfolds. */
static bool enter_slots(struct ui *ui, struct page *page, const struct row *row)
{
	if (row->key.kind == ROW_METRIC && row->flags & ROW_EXPANDABLE) {
		page_expand(ui, page, !(row->flags & ROW_EXPANDED));
		return true;
	}
	return enter(ui, page, row);
}

static void options_done(struct ui *ui, const char *text)
{
	struct page *page = page_now(ui);

	snprintf(page->options, sizeof page->options, "%s", text);
	ui->ask = true;
}

/* A filter over numbers, as --filter takes it, or by name. */
static bool act(struct ui *ui, struct page *page, enum action action)
{
	if (action != ACTION_FILTER)
		return false;
	overlay_prompt(ui, "Filter, as count>=10,total>50 or a part of a name:", page->options,
		       options_done);
	ui->overlay.edit.most = sizeof page->options - 1;
	return true;
}

const struct screen screen_events = {
	.view = VIEW_EVENTS,
	.name = "Events",
	.about =
		"What is counted over the whole target: each event a second and in all, the share of time "
		"it was on the hardware, over how many seconds, and the metrics made of it in the window. "
		"A value that is not there says why. e chooses another set while all goes on; sets that "
		"were in use before stay below, and Enter shows all screens by one of them.",
	.flags = SCREEN_TREE | SCREEN_EXPLAINS | SCREEN_ORDERED,
	.foot = {ACTION_EVENTS, ACTION_ENTER, ACTION_RATE},
	.enter = enter_set,
};

const struct screen screen_topdown = {
	.view = VIEW_TOPDOWN,
	.name = "Top-down",
	.brief = "Top",
	.about =
		"Where the pipeline's slots go: retiring useful work, lost to bad speculation, starved by "
		"the front end or held up by the back end, each divided further where the event set can, "
		"and under each the functions that cause it: OF IT is a function's share of that part, "
		"OWN how much of its own slots go there. The line above names the part to look at and "
		"what to do next. e chooses a set that counts slots.",
	.empty = "no samples of events that count slots yet",
	.flags = SCREEN_TREE | SCREEN_UNFOLDS | SCREEN_TOTAL | SCREEN_CODE | SCREEN_EXPLAINS |
		 SCREEN_ORDERED,
	.foot = {ACTION_ENTER, ACTION_EVENTS, ACTION_EXPAND, ACTION_EXPAND_ALL, ACTION_SOURCE},
	.enter = enter_slots,
};

const struct screen screen_duration = {
	.view = VIEW_DURATION,
	.name = "Duration",
	.about =
		"Spans of a trace by name: how often, how long, how evenly. The score weighs count, total, "
		"average, longest and spread. max_avg: longest over average; sd_avg: standard deviation over "
		"average; cachemiss: time above the average in cache misses of 150 ns; avg_child_nb: "
		"children a span; avg_loop_size: children over different names. \\ filters, as count>=10,total>50,avg<200 (ns).",
	.foot = {ACTION_ENTER, ACTION_SORT_MENU, ACTION_FILTER},
	.enter = enter,
	.act = act,
};

const struct screen screen_cache = {
	.view = VIEW_CACHE,
	.name = "Calls",
	.about =
		"Functions of an instruction trace: instructions and time for a call, with and without "
		"what they call, and instructions per cycle.",
	.foot = {ACTION_ENTER, ACTION_SORT_MENU, ACTION_FILTER},
	.enter = enter,
	.act = act,
};

const struct screen screen_edge = {
	.view = VIEW_EDGE,
	.name = "Edges",
	.about =
		"Runs of instructions inside one symbol: how often each was taken and what it took, a "
		"control-flow graph as it really was. Enter shows them beside the source (with --maps).",
	.foot = {ACTION_ENTER, ACTION_SORT_MENU, ACTION_FILTER},
	.enter = enter,
	.act = act,
};
