/*
 * screen_tree: call paths, from the roots down or from a function up to its callers. Enter opens
 * the source where the path passes.
 */
#include "screen.h"

static bool enter_source(struct ui *ui, struct page *page, const struct row *row)
{
	struct row_key key = row_function(row);
	struct page *source;
	char name[256];

	if (!key.kind)
		return false;
	row_function_name(row, name, sizeof name);
	source = page_push(ui, VIEW_SOURCE, key, name);
	if (source && page->flags & QUERY_BOTTOM_UP && row->depth)
		source->find_line = row->line; /* where it calls what is above */
	return true;
}

const struct screen screen_tree = {
	.view = VIEW_TREE,
	.name = "Tree",
	.about =
		"Call paths. From the top: every stack from its root on. Bottom-up (b on a function): "
		"the function, then its callers, then theirs. The hottest path opens by itself; + and - "
		"or the arrows open and close, * opens all. Stacks that did not reach their root hang "
		"under [truncated]. Enter opens the source.",
	.flags = SCREEN_CODE | SCREEN_TREE | SCREEN_UNFOLDS | SCREEN_TOTAL | SCREEN_ORDERED,
	.foot = {ACTION_EXPAND, ACTION_COLLAPSE, ACTION_EXPAND_ALL, ACTION_ENTER, ACTION_CALLERS},
	.enter = enter_source,
};
