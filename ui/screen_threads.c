/*
 * screen_threads: threads, or groups of them by name or by process. Enter shows the functions of
 * one; `t` groups.
 */
#include <stdio.h>

#include "screen.h"

static bool enter(struct ui *ui, struct page *page, const struct row *row)
{
	(void)page;
	if (row_is_group(&row->key)) {
		page_push(ui, VIEW_FUNCTIONS, row->key, row->name);
		return true;
	}
	if (row->key.kind != ROW_THREAD)
		return false;
	ui->task = row->key.a;
	snprintf(ui->thread, sizeof ui->thread, "%s (%d)", row->name, (int)row->tid);
	ui->last_task = ui->task;
	snprintf(ui->last_thread, sizeof ui->last_thread, "%s", ui->thread);
	for (int i = 0; i < ui->ntabs; i++)
		if (ui->tabs[i]->view->kind == VIEW_FUNCTIONS)
			page_tab(ui, i);
	return true;
}

static bool act(struct ui *ui, struct page *page, enum action action)
{
	if (action != ACTION_THREAD)
		return false;
	page->flags = page->flags & QUERY_GROUP_THREADS     ? QUERY_GROUP_PROCESSES
		      : page->flags & QUERY_GROUP_PROCESSES ? 0
							    : QUERY_GROUP_THREADS;
	page->pinned = false;
	ui->ask = true;
	return true;
}

/* Where many processes are watched, they are what one looks for first. */
static void open_page(struct ui *ui, struct page *page)
{
	if (ui->config->processes)
		page->flags |= QUERY_GROUP_PROCESSES;
}

/* Remember whom `t` means on other screens. */
static void draw(struct ui *ui, struct page *page, struct rect body)
{
	const struct row *row = page_cursor(page);

	(void)body;
	if (row && row->key.kind == ROW_THREAD) {
		ui->last_task = row->key.a;
		snprintf(ui->last_thread, sizeof ui->last_thread, "%s (%d)", row->name,
			 (int)row->tid);
	}
}

const struct screen screen_threads = {
	.view = VIEW_THREADS,
	.name = "Threads",
	.about =
		"What each thread uses, does and waits on, and the function most of its samples are in. "
		"CPU% is the kernel's account, 100 is one CPU. Enter shows the functions of one thread "
		"(Esc or t shows all again); t groups threads by name, as worker-*, then by process. STATE: "
		"running, sleeping, futex (sleeps on a lock or condition), disk wait (cannot be woken), "
		"stopped, traced, zombie (not collected), parked and idle (kernel threads), ended.",
	.flags = SCREEN_TREE,
	.foot = {ACTION_ENTER, ACTION_THREAD, ACTION_CALLERS, ACTION_SOURCE, ACTION_FILTER},
	.thread_label = "group",
	.open = open_page,
	.enter = enter,
	.act = act,
	.draw = draw,
};
