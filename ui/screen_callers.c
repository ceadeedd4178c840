/*
 * screen_callers: one function, who calls it and whom it calls. Enter moves along the edge; on the
 * function itself it opens the source.
 */
#include "screen.h"

static bool enter(struct ui *ui, struct page *page, const struct row *row)
{
	struct row_key key = row_function(row);

	(void)page;
	if (!key.kind)
		return false;
	page_push(ui, row->key.kind == ROW_SELF ? VIEW_SOURCE : VIEW_CALLERS, key, row->name);
	return true;
}

const struct screen screen_callers = {
	.view = VIEW_CALLERS,
	.name = "Callers",
	.about =
		"One function with its callers above and its callees below. OF IT% is the part of the "
		"function's total that a caller brings or a callee takes. Enter goes to that function, "
		"on the function itself to its source.",
	.flags = SCREEN_CODE | SCREEN_DRILL | SCREEN_TOTAL | SCREEN_ORDERED,
	.foot = {ACTION_ENTER, ACTION_SOURCE, ACTION_BOTTOM_UP},
	.enter = enter,
};
