/*
 * layout: divides the screen into lines of header, tabs, table and footer. The less height there
 * is, the less surrounds the table. No state.
 */
#include "layout.h"

static struct rect line(int *y, int w, bool wanted)
{
	struct rect r = {0, *y, w, wanted ? 1 : 0};

	*y += r.h;
	return r;
}

void layout_screen(struct layout *ret, int w, int h, bool titled, bool headed)
{
	int y = 0, below;

	*ret = (struct layout){.small = w < LAYOUT_MIN_W || h < LAYOUT_MIN_H};
	if (ret->small)
		return;
	ret->facts = line(&y, w, true);
	ret->quality = line(&y, w, h >= 9);
	ret->tabs = line(&y, w, h >= 7);
	ret->title = line(&y, w, titled && h >= 10);
	ret->heads = line(&y, w, headed);
	below = h >= 16 ? 2 : 1;
	ret->body = (struct rect){0, y, w, h - y - below};
	y += ret->body.h;
	ret->hint = line(&y, w, below == 2);
	ret->foot = line(&y, w, true);
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
