/*
 * screen_modules: program files and the kernel. Enter shows the functions of one.
 */
#include "screen.h"

static bool enter(struct ui *ui, struct page *page, const struct row *row)
{
	(void)page;
	if (row->key.kind != ROW_MODULE)
		return false;
	page_push(ui, VIEW_FUNCTIONS, row->key, row->name);
	return true;
}

const struct screen screen_modules = {
	.view = VIEW_MODULES,
	.name = "Modules",
	.about =
		"Time by program file: the program, its libraries, the kernel, code made at run time. "
		"Enter shows the functions of one. A remark says where symbols are missing.",
	.foot = {ACTION_ENTER, ACTION_FILTER, ACTION_EVENTS},
	.enter = enter,
};
