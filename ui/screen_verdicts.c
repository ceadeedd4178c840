/*
 * screen_verdicts: what kind of slowness it is, where, on what evidence, and what could be gained.
 * Enter goes to the place.
 */
#include "screen.h"

static bool enter(struct ui *ui, struct page *page, const struct row *row)
{
	struct row_key key = row_function(row);
	struct page *source;

	(void)page;
	if (row->go.kind == ROW_THREAD || row->go.kind == ROW_MODULE) {
		page_push(ui, VIEW_FUNCTIONS, row->go, row->name);
		return true;
	}
	if (!key.kind)
		return false;
	source = page_push(ui, VIEW_SOURCE, key, row->name);
	if (source)
		source->find_line = row->line;
	return true;
}

const struct screen screen_verdicts = {
	.view = VIEW_VERDICTS,
	.name = "Verdicts",
	.brief = "Verdict",
	.about =
		"What kind of slowness it is: the function or path, the kind, the numbers behind it, and "
		"how much faster everything could be at most if it cost nothing. The line below the table "
		"says what to do next. Nothing is said that the samples do not carry. Above the table: how "
		"many functions have 80 % of the time, how deep stacks go, which function has most callers "
		"(most others call it) and which most callees (it calls most others), how many recurse.",
	.empty = "no verdict that the samples carry",
	.flags = SCREEN_TOTAL | SCREEN_EXPLAINS | SCREEN_ORDERED,
	.foot = {ACTION_ENTER, ACTION_SOURCE, ACTION_CALLERS, ACTION_EVENTS},
	.enter = enter,
};
