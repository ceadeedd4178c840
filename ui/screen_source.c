/*
 * screen_source: one function's source lines with their shares, inlined callees and instructions
 * under them. `]` and `[` walk the hot lines from the hottest down; Enter follows a call or a jump.
 */
#include "screen.h"

#define ARROWS_FAR 200 /* rows that a jump arrow may span */

static bool enter(struct ui *ui, struct page *page, const struct row *row)
{
	struct row_key key = row_function(row);
	int at;

	if (key.kind && !row_key_equal(key, page->focus)) {
		page_push(ui, VIEW_SOURCE, key,
			  row->key.kind == ROW_INLINE ? row->name : row->note);
		return true;
	}
	if (row->go.kind == ROW_INSN && (at = page_find(page, row->go)) >= 0) {
		page_move(page, at);
		return true;
	}
	if (row->flags & (ROW_EXPANDABLE | ROW_EXPANDED)) {
		page_expand(ui, page, !(row->flags & ROW_EXPANDED));
		return true;
	}
	return false;
}

/* Is @a hotter than @b? Rows of equal heat in their order. */
static bool hotter(const struct page *page, int a, int b)
{
	double x = page_row(page, a)->self, y = page_row(page, b)->self;

	return x > y || (x == y && a < b);
}

static bool is_hot(const struct page *page, int i)
{
	const struct row *row = page_row(page, i);

	return row->self > 0 && (row->key.kind == ROW_LINE ||
				 (page->flags & QUERY_ASSEMBLY && row->key.kind == ROW_INSN));
}

/* The next row of less heat than the cursor's (step 1), or of more (step −1); round at the end. */
static void walk_heat(struct ui *ui, struct page *page, int step)
{
	int best = -1, end = -1, at = page->cursor;

	for (int i = 0; i < (int)page->shown.len; i++) {
		if (!is_hot(page, i))
			continue;
		if (end < 0 || hotter(page, i, end) == (step > 0))
			end = i;
		if (i == at || (is_hot(page, at) && hotter(page, at, i) != (step > 0)))
			continue;
		if (!is_hot(page, at) && step < 0)
			continue;
		if (!is_hot(page, at) ? best < 0 || hotter(page, i, best)
				      : best < 0 || hotter(page, i, best) == (step > 0))
			best = i;
	}
	if (best < 0)
		best = end;
	if (best >= 0)
		page_move(page, best);
	else
		app_say(ui, MESSAGE_INFO, "no line has samples");
}

/* Where `o` changes nothing, say why. */
static void say_no_change(struct ui *ui, const struct page *page)
{
	bool foldable = false, insns = false;

	for (uint32_t i = 0; page->answer && i < page->answer->nrows; i++) {
		const struct row *row = &page->answer->rows[i];

		foldable |= row->key.kind == ROW_LINE && row->flags & ROW_EXPANDABLE;
		insns |= row->key.kind == ROW_INSN;
	}
	if (!page->answer || foldable)
		return;
	app_say(ui, MESSAGE_INFO, "%s",
		insns ? "no source is known here: instructions are all there is"
		      : "no instructions are known for this function");
}

static bool act(struct ui *ui, struct page *page, enum action action)
{
	switch (action) {
	case ACTION_HOT_NEXT: walk_heat(ui, page, 1); return true;
	case ACTION_HOT_PREVIOUS: walk_heat(ui, page, -1); return true;
	case ACTION_ASSEMBLY:
		page->flags ^= QUERY_ASSEMBLY;
		say_no_change(ui, page);
		ui->ask = true;
		return true;
	default: return false;
	}
}

/* From the jump under the cursor an arrow to where it goes, beside the bar at the right edge. */
static void draw(struct ui *ui, struct page *page, struct rect body)
{
	const struct row *row = page_cursor(page);
	struct pen pen = {LOOK_MARK, 0};
	int x = body.x + body.w - 3, to, from = page->cursor;

	if (!row || row->key.kind != ROW_INSN || row->go.kind != ROW_INSN)
		return;
	to = page_find(page, row->go);
	if (to < 0 || to == from || to - from > ARROWS_FAR || from - to > ARROWS_FAR)
		return;
	for (int i = from < to ? from : to; i <= (from < to ? to : from); i++) {
		int y = body.y + i - page->top;

		if (y < body.y || y >= body.y + body.h)
			continue;
		canvas_put(&ui->canvas, x, y, pen,
			   i != from && i != to         ? 0x2502u
			   : (i == from) == (from < to) ? 0x256eu
							: 0x256fu);
		canvas_put(&ui->canvas, x - 1, y, pen,
			   i == to     ? 0x2190u
			   : i == from ? 0x2500u
				       : ' ');
	}
}

const struct screen screen_source = {
	.view = VIEW_SOURCE,
	.name = "Source",
	.about =
		"Source of one function with the share of each line. A line that holds inlined calls or "
		"instructions opens with + and Enter. ] walks the hot lines from the hottest down, [ back. "
		"o puts the instructions under their lines; Enter follows a call or a jump. Shares of "
		"single instructions skid: the one that was slow is often the one before. Of an instruction "
		"trace (with --maps) arcs lead from where a run of instructions begins to where it leaves "
		"the function; TAKEN counts them, the line below tells those of the cursor's line.",
	.flags = SCREEN_TREE | SCREEN_DRILL | SCREEN_CODE | SCREEN_ORDERED,
	.foot = {ACTION_HOT_NEXT, ACTION_ASSEMBLY, ACTION_ENTER, ACTION_CALLERS},
	.enter = enter,
	.act = act,
	.draw = draw,
};
