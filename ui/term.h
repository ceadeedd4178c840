/*
 * term: the terminal, from set-up to restoring it on every path: return, exit(), crash, signals.
 * No other file knows curses. One terminal a process; ui thread only, save that signal handlers run
 * on any thread.
 */
#ifndef ALTPTTOP_TERM_H
#define ALTPTTOP_TERM_H

#include "canvas.h"
#include "err.h"
#include "theme.h"

struct term_config {
	bool ascii; /* asked for; term_ascii tells what it came to */
	bool mouse;
	int color; /* 0 auto, 1 always, 2 never */
};

enum term_event_kind {
	TERM_NOTHING,
	TERM_KEY,
	TERM_MOUSE,
	TERM_RESIZED,  /* the size may have changed, or what is shown is not known: draw all anew */
	TERM_FINISHED, /* hang-up, SIGTERM, or the terminal is gone */
};
enum term_button {
	BUTTON_NONE,
	BUTTON_LEFT,
	BUTTON_LEFT_TWICE,
	BUTTON_WHEEL_UP,
	BUTTON_WHEEL_DOWN
};

struct term_event {
	enum term_event_kind kind;
	uint32_t key; /* see keys.h */
	int x, y;
	enum term_button button;
};

/* 0; -ENOTTY and the like with a sentence. @config is copied. */
int term_open(const struct term_config *config, struct err *err);
void term_close(void); /* restores; again: nothing */

int term_fd(void);        /* where keys arrive */
int term_signal_fd(void); /* readable when a signal asks for attention */
int term_width(void);
int term_height(void);
bool term_ascii(void);

/* The next thing that happened, TERM_NOTHING when all is read. Never waits. */
struct term_event term_next(void);

void term_show(const struct canvas *canvas); /* only what changed is written */
void term_redraw(void);                      /* the next term_show writes everything */
void term_suspend(void);                     /* restore, stop, and come back */
void term_mouse(bool on);                    /* off: the terminal's own selecting works */

#endif
