/*
 * ui: the curses application. ui_run owns the terminal from call to return and restores it on every
 * path.
 */
#ifndef ALTPTTOP_UI_H
#define ALTPTTOP_UI_H

#include "engine.h"

/* One line of a menu: an event set or an event that can be chosen. */
struct ui_choice {
	const char *name;   /* what is chosen */
	const char *text;   /* what it is, in a few words */
	const char *reason; /* why it cannot be had here; NULL: it can */
};

struct ui_config {
	bool ascii, no_mouse;
	int color; /* 0 auto, 1 always, 2 never; NO_COLOR is honoured by auto */
	uint32_t interval_ms;
	uint32_t query_flags;    /* enum query_flag to start with */
	uint32_t sort;           /* enum column_id */
	const char *event;       /* shares are of this event first; NULL: of the main one */
	double percent_limit;    /* rows below are hidden, in per cent */
	enum view_kind first;    /* first screen: VIEW_FUNCTIONS, or an analysis of a recording */
	bool whole;              /* start with all there is instead of the last 10 s: recordings */
	bool processes;          /* many processes are watched: Threads starts with those */
	bool has_output;         /* a command was started: the Output screen exists */
	const char *save_name;   /* proposed file name for `s` */
	const char *const *keys; /* remappings "action=key" from the config file, NULL-terminated,
				    may be NULL */
	const struct ui_choice *event_sets; /* key `e`; may be NULL */
	uint32_t nevent_sets;
	/* Events whose name or description holds @text: at most @max of @ret, how many. NULL: none.
	 */
	uint32_t (*find_events)(void *ctx, const char *text, struct ui_choice *ret, uint32_t max);
	void *find_ctx;
	bool (*done)(void *ctx); /* polled each refresh: leave when true (--duration, -n); NULL */
	void *done_ctx;
};

/* Run until the user quits. 0, or -errno with a sentence when there is no usable terminal. Main
 * thread only. */
int ui_run(struct engine *engine, const struct ui_config *config, struct err *err);

#endif
