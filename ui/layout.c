/*
 * layout: divides the screen into lines of header, tabs, table and footer. The less height there
 * is, the less surrounds the table. No state.
 */
#include "layout.h"

#define TITLE_MOST 3

static struct rect lines(int *y, int w, int n)
{
	struct rect r = {0, *y, w, n};

	*y += r.h;
	return r;
}

void layout_screen(struct layout *ret, int w, int h, int title, int hint, bool headed)
{
	int y = 0, below;

	*ret = (struct layout){.small = w < LAYOUT_MIN_W || h < LAYOUT_MIN_H};
	if (ret->small)
		return;
	title = h < 10 ? 0 : h < 16 ? title > 0 : title < TITLE_MOST ? title : TITLE_MOST;
	below = h < 16 ? 0 : hint < 1 ? 1 : hint < h / 4 ? hint : h / 4;
	ret->facts = lines(&y, w, 1);
	ret->quality = lines(&y, w, h >= 9);
	ret->tabs = lines(&y, w, h >= 7);
	ret->title = lines(&y, w, title);
	ret->heads = lines(&y, w, headed);
	ret->body = lines(&y, w, h - y - below - 1);
	ret->hint = lines(&y, w, below);
	ret->foot = lines(&y, w, 1);
}

struct rect layout_box(int screen_w, int screen_h, int w, int h)
{
	struct rect r;

	r.w = w < screen_w ? w : screen_w;
	r.h = h < screen_h ? h : screen_h;
	r.x = (screen_w - r.w) / 2;
	r.y = (screen_h - r.h) / 2;
	return r;
}
