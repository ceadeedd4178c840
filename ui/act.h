/* act: actions that live outside act.c's table, each called with the page at hand. Ui thread. */
#ifndef ALTPTTOP_ACT_H
#define ALTPTTOP_ACT_H

struct ui;
struct page;
typedef void act_fn(struct ui *ui, struct page *page);

act_fn do_freeze, do_window, do_mark, do_events, do_save, do_rate, do_interval, do_calls;

#endif
