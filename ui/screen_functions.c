/*
 * screen_functions: where the time goes, function by function. Enter leads to the call paths that
 * reach the function.
 */
#include "screen.h"

static bool enter(struct ui *ui, struct page *page, const struct row *row)
{
	struct row_key key = row_function(row);
	struct page *tree;

	(void)page;
	if (!key.kind)
		return false;
	tree = page_push(ui, VIEW_TREE, key, row->name);
	if (tree)
		tree->flags |= QUERY_BOTTOM_UP;
	return true;
}

const struct screen screen_functions = {
	.view = VIEW_FUNCTIONS,
	.name = "Functions",
	.brief = "Funcs",
	.about =
		"Where the time goes: one row a function. SELF% is what is spent in the function "
		"itself, TOTAL% what is spent in it and in everything it calls. Enter shows the call "
		"paths that lead to the function, and Enter there its source.",
	.flags = SCREEN_CODE,
	.foot = {ACTION_CALLERS, ACTION_SOURCE, ACTION_FILTER, ACTION_EVENTS},
	.enter = enter,
};
