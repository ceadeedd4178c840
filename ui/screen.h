/*
 * screen: what every screen implements, and the state that screens and widgets share.
 *
 * A page is one instance of a screen: its question, its newest answer, its cursor. Each tab has a
 * root page; going in pushes pages on it, going back drops them. Everything here belongs to the ui
 * thread. Nothing here knows the terminal: ui.c feeds keys in and shows the canvas, tests do the
 * same.
 */
#ifndef ALTPTTOP_SCREEN_H
#define ALTPTTOP_SCREEN_H

#include "base/vec.h"
#include "canvas.h"
#include "keys.h"
#include "layout.h"
#include "overlay.h"
#include "ui.h"
#include "view/view.h"

#define PAGES_DEEP 24
#define TABS_MAX   16
#define ZONES_MAX  96
#define FOOT_MAX   16

struct ui;
struct page;

enum screen_flag {
	SCREEN_TREE = 1 << 0,     /* left and right collapse and expand */
	SCREEN_TEXT = 1 << 1,     /* no column titles, no filter, no sorting */
	SCREEN_FOLLOW = 1 << 2,   /* stays at its end while the cursor is there */
	SCREEN_CODE = 1 << 3,     /* rows are functions: callers, source, bottom-up work */
	SCREEN_DRILL = 1 << 4,    /* reached only by going in: has a title line */
	SCREEN_WRAP = 1 << 6,     /* long lines are broken, not cut */
	SCREEN_UNFOLDS = 1 << 7,  /* a tree that opens its hot paths by itself */
	SCREEN_ORDERED = 1 << 8,  /* rows have an order of their own: no sorting */
	SCREEN_TOTAL = 1 << 5,    /* bars show shares of everything, not of the largest */
	SCREEN_EXPLAINS = 1 << 9, /* what a row's note and hint say stands whole below the table */
};

struct screen {
	enum view_kind view;
	const char *name;  /* on its tab */
	const char *brief; /* where tabs are tight; NULL: the same */
	const char *about; /* for the help screen: what one sees here */
	const char *empty; /* where there is no row and no reason given; NULL: no samples yet */
	uint32_t flags;    /* enum screen_flag */
	enum action foot[FOOT_MAX];
	const char *thread_label; /* what `t` does here, NULL: as everywhere */

	/* A new page: set what differs from all zeroes. NULL: nothing. */
	void (*open)(struct ui *ui, struct page *page);
	/* Go into @row. False: there is nothing behind it. */
	bool (*enter)(struct ui *ui, struct page *page, const struct row *row);
	/* An action done otherwise here than everywhere. False: not this one. NULL: none. */
	bool (*act)(struct ui *ui, struct page *page, enum action action);
	/* A new answer arrived and is in page->answer. NULL: nothing to do. */
	void (*answered)(struct ui *ui, struct page *page);
	/* Draw over the table, which is drawn already. NULL: nothing. */
	void (*draw)(struct ui *ui, struct page *page, struct rect body);
};

struct page {
	const struct screen *screen;
	const struct view *view;
	struct row_key focus;
	char about[256]; /* name of the focus */
	uint32_t flags;  /* enum query_flag of this page alone */
	uint32_t sort;
	bool reverse;
	const struct answer *answer; /* a reference, NULL before the first */
	uint32_t serial;             /* of its newest question */
	struct {
		VEC(uint32_t)
	} shown;                   /* indexes of answer rows that are not hidden */
	int cursor, top;           /* in shown */
	int height;                /* of the table when it was drawn last */
	struct row_key cursor_key; /* the row the cursor stays on */
	bool pinned;               /* the person has moved the cursor */
	int shift;                 /* cells scrolled to the right */
	struct {
		VEC(struct row_key)
	} expanded; /* with expand_all: collapsed */
	bool expand_all;
	bool unfold; /* trees: open hot paths by themselves */
	char options[QUERY_TEXT];
	uint32_t find_line; /* source: go to this line when the answer comes */
};

enum zone_kind { ZONE_TAB, ZONE_SORT, ZONE_ACTION };
struct zone {
	struct rect r;
	enum zone_kind kind;
	uint32_t what;
};

enum message_kind { MESSAGE_NONE, MESSAGE_INFO, MESSAGE_WARN, MESSAGE_ERROR };

struct ui {
	struct engine *engine;
	const struct ui_config *config;
	struct keymap keys;
	struct canvas canvas;
	struct layout layout;
	struct page *tabs[TABS_MAX]; /* root pages */
	int ntabs, tab;
	struct page *pages[PAGES_DEEP]; /* pages[0] is tabs[tab] */
	int depth;                      /* of pages, ≥ 1 */
	uint32_t serial;
	uint32_t flags; /* enum query_flag, toggled by keys, for all pages */
	uint64_t window_ns;
	uint64_t unmarked_ns; /* the window before `z` */
	uint16_t set;         /* event set in view, UINT16_MAX: the newest */
	uint16_t event;       /* whose weights are shares, UINT16_MAX: the first of the set */
	bool event_found;     /* that of -s, or it is not there */
	task_id task;
	char thread[64];   /* its name, "" no zoom */
	task_id last_task; /* under the cursor of Threads at last, for `t` */
	char last_thread[64];
	char filter[QUERY_TEXT];
	char filter_before[QUERY_TEXT]; /* when its prompt was opened */
	char search[QUERY_TEXT];
	struct row_key search_key; /* the cursor's when the search began, kind 0: nobody moved it */
	int search_from;           /* and where it was */
	bool frozen;
	uint64_t until_ns;
	struct answer_status status; /* of the newest answer */
	bool has_status;
	uint64_t progress_from_ns; /* when reading was first seen */
	struct overlay overlay;
	struct zone zones[ZONES_MAX];
	int nzones;
	enum message_kind message_kind;
	char message[600];
	uint64_t message_until_ns; /* 0: until a key is pressed */
	uint64_t notice_until_ns;  /* the next waits, so that this one can be read */
	struct command save;       /* to be repeated with replace */
	char save_name[EDIT_TEXT];
	bool exists; /* that file does: to be asked as soon as nothing lies over the screen */
	uint32_t interval_ms;
	bool ask, quit, redraw, anew, suspend; /* wishes to the loop */
	void (*mouse)(bool on); /* switch the terminal's mouse reporting; NULL in tests */
};

/* ui: life and events. */
int app_init(struct ui *ui, struct engine *engine, const struct ui_config *config, struct err *err);
void app_fini(struct ui *ui);
int app_resize(struct ui *ui, int w, int h); /* -ENOMEM */
void app_key(struct ui *ui, uint32_t key);
void app_mouse(struct ui *ui, int x, int y, bool twice, int wheel); /* wheel: lines, 0 a press */
void app_poll(struct ui *ui);  /* take answers and notices, ask what is to be asked */
void app_frame(struct ui *ui); /* draw everything on ui->canvas */
void app_act(struct ui *ui, enum action action);
bool app_reading(const struct ui *ui); /* a recording, not yet to its end */
__attribute__((format(printf, 3, 4))) void app_say(struct ui *ui, enum message_kind kind,
						   const char *fmt, ...);

/* page: questions, navigation, the cursor. */
struct page *page_new(struct ui *ui, enum view_kind view);
void page_free(struct page *page);
struct page *page_now(struct ui *ui);
/* Go in: a new page on @view about @focus, named @about. */
struct page *page_push(struct ui *ui, enum view_kind view, struct row_key focus, const char *about);
bool page_pop(struct ui *ui); /* false: at the root */
void page_tab(struct ui *ui, int tab);
void page_take(struct ui *ui, struct page *page,
	       const struct answer *answer); /* takes the reference */
void page_ask(struct ui *ui, struct page *page);
const struct row *page_row(const struct page *page, int index); /* of shown; NULL: none */
const struct row *page_cursor(const struct page *page);
int page_find(const struct page *page, struct row_key key); /* in shown; -1: not there */
void page_move(struct page *page, int to);                  /* clamps, pins */
void page_home(struct page *page); /* to the top, as if it had never been moved */
void page_expand(struct ui *ui, struct page *page, bool expand);
bool page_search(struct ui *ui, struct page *page, int step); /* from the cursor, 0: itself too */
/* The function a row is or leads to; kind 0: none. */
struct row_key row_function(const struct row *row);
/* Its name: of a thread its top function's, of a chain that of the one it leads to. */
void row_function_name(const struct row *row, char *ret, size_t size);

/* Widgets. */
void table_draw(struct ui *ui, struct page *page, struct rect heads, struct rect body);
/* The row of shown that line @y of @body belongs to, -1: none. */
int table_row_at(const struct page *page, struct rect body, int y);
void header_draw(struct ui *ui);
void footer_draw(struct ui *ui);
int footer_sentence(struct ui *ui, const char *text, struct pen pen); /* how many lines */
int explain_lines(const struct page *page, int w); /* that the row below the table wants */
void explain_draw(struct ui *ui, const struct page *page, struct rect r);
int header_title_lines(const struct ui *ui, int w); /* 0: the screen has no title */
void zone_add(struct ui *ui, struct rect r, enum zone_kind kind, uint32_t what);

void help_open(struct ui *ui);

const struct screen *screen_of(enum view_kind view);
extern const struct screen screen_functions, screen_callers, screen_tree, screen_threads,
	screen_modules, screen_source, screen_events, screen_topdown, screen_verdicts,
	screen_duration, screen_cache, screen_edge, screen_output, screen_doctor;

#endif
