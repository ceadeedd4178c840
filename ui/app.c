/*
 * app: the life of the user interface without its terminal: set-up, keys and mouse to whatever
 * takes them, answers and notices from the engine, and the frame. Ui thread.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/plain.h"
#include "screen.h"

#define WINDOW_START_NS 10000000000ULL
#define MESSAGE_NS      6000000000ULL
#define MESSAGE_LINE    80
#define LEAST_NS        2000000000ULL /* before the next message takes the place of one */
#define WHEEL_LINES     3

static const struct screen *const screens[VIEW_KINDS] = {
	[VIEW_FUNCTIONS] = &screen_functions, [VIEW_CALLERS] = &screen_callers,
	[VIEW_TREE] = &screen_tree,           [VIEW_THREADS] = &screen_threads,
	[VIEW_MODULES] = &screen_modules,     [VIEW_SOURCE] = &screen_source,
	[VIEW_EVENTS] = &screen_events,       [VIEW_TOPDOWN] = &screen_topdown,
	[VIEW_VERDICTS] = &screen_verdicts,   [VIEW_DURATION] = &screen_duration,
	[VIEW_CACHE] = &screen_cache,         [VIEW_EDGE] = &screen_edge,
	[VIEW_OUTPUT] = &screen_output,       [VIEW_DOCTOR] = &screen_doctor,
};

const struct screen *screen_of(enum view_kind view)
{
	return view < VIEW_KINDS ? screens[view] : &screen_functions;
}

/* How long a sentence stays: a line for six seconds, longer ones in proportion. */
static uint64_t reading_ns(const char *text)
{
	size_t n = strlen(text);

	return n > MESSAGE_LINE ? MESSAGE_NS / MESSAGE_LINE * n : MESSAGE_NS;
}

void app_say(struct ui *ui, enum message_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ui->message, sizeof ui->message, fmt, ap);
	va_end(ap);
	ui->message_kind = kind;
	ui->notice_until_ns = 0;
	ui->message_until_ns = kind == MESSAGE_ERROR ? 0
						     : clock_mono_ns() + reading_ns(ui->message);
	ui->redraw = true;
}

/*
 * An analysis of a recording comes first; what only a live target has is left out. The output comes
 * last, so that the others have the same digit with and without it.
 */
static int make_tabs(struct ui *ui)
{
	static const enum view_kind all[] = {VIEW_FUNCTIONS, VIEW_TREE,   VIEW_THREADS,
					     VIEW_MODULES,   VIEW_EVENTS, VIEW_VERDICTS,
					     VIEW_TOPDOWN,   VIEW_DOCTOR, VIEW_OUTPUT};
	enum view_kind first = ui->config->first;
	bool analysis = first == VIEW_DURATION || first == VIEW_CACHE || first == VIEW_EDGE;

	if (analysis)
		ui->tabs[ui->ntabs++] = page_new(ui, first);
	if (first == VIEW_CACHE || first == VIEW_EDGE) /* both read the same trace */
		ui->tabs[ui->ntabs++] = page_new(ui, first == VIEW_CACHE ? VIEW_EDGE : VIEW_CACHE);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (all[i] == VIEW_OUTPUT && !ui->config->has_output)
			continue;
		if (all[i] == first)
			ui->tab = ui->ntabs;
		ui->tabs[ui->ntabs++] = page_new(ui, all[i]);
	}
	for (int i = 0; i < ui->ntabs; i++)
		if (!ui->tabs[i])
			return -ENOMEM;
	ui->tabs[analysis ? 0 : ui->tab]->sort = ui->config->sort;
	ui->pages[0] = ui->tabs[ui->tab];
	ui->depth = 1;
	return 0;
}

int app_init(struct ui *ui, struct engine *engine, const struct ui_config *config, struct err *err)
{
	struct err bad;

	*ui = (struct ui){
		.engine = engine,
		.config = config,
		.flags = config->query_flags,
		.window_ns = config->whole ? 0 : WINDOW_START_NS,
		.interval_ms = config->interval_ms ? config->interval_ms : 1000,
		.set = UINT16_MAX,
		.event = UINT16_MAX,
		.ask = true,
		.redraw = true,
	};
	keymap_init(&ui->keys);
	for (int i = 0; config->keys && config->keys[i]; i++)
		if (keymap_remap(&ui->keys, config->keys[i], &bad))
			app_say(ui, MESSAGE_ERROR, "%s", bad.msg);
	if (make_tabs(ui) || canvas_init(&ui->canvas, 80, 24, config->ascii))
		return err_set(err, ENOMEM, "not enough memory for the screen");
	return 0;
}

void app_fini(struct ui *ui)
{
	overlay_close(ui);
	while (ui->depth > 1)
		page_free(ui->pages[--ui->depth]);
	for (int i = 0; i < ui->ntabs; i++)
		page_free(ui->tabs[i]);
	canvas_fini(&ui->canvas);
}

int app_resize(struct ui *ui, int w, int h)
{
	ui->redraw = true;
	return canvas_resize(&ui->canvas, w, h);
}

void app_key(struct ui *ui, uint32_t key)
{
	ui->redraw = true;
	if (overlay_key(ui, key))
		return;
	ui->message_kind = MESSAGE_NONE;
	app_act(ui, keymap_find(&ui->keys, key));
}

static void zone_hit(struct ui *ui, const struct zone *zone)
{
	struct page *page = page_now(ui);

	switch (zone->kind) {
	case ZONE_TAB: page_tab(ui, (int)zone->what); break;
	case ZONE_ACTION: app_act(ui, (enum action)zone->what); break;
	case ZONE_SORT:
		page->reverse = page->sort == zone->what && !page->reverse;
		page->sort = zone->what;
		ui->ask = true;
	}
}

void app_mouse(struct ui *ui, int x, int y, bool twice, int wheel)
{
	struct page *page = page_now(ui);
	int row;

	ui->redraw = true;
	if (overlay_mouse(ui, x, y, twice, wheel))
		return;
	if (wheel) {
		page_move(page, page->cursor + wheel * WHEEL_LINES);
		return;
	}
	for (int i = 0; i < ui->nzones; i++)
		if (rect_holds(ui->zones[i].r, x, y)) {
			zone_hit(ui, &ui->zones[i]);
			return;
		}
	row = rect_holds(ui->layout.body, x, y) ? table_row_at(page, ui->layout.body, y) : -1;
	if (row < 0)
		return;
	page_move(page, row);
	if (twice)
		app_act(ui, ACTION_ENTER);
}

static void save_over(struct ui *ui, const char *yes)
{
	(void)yes;
	ui->save.replace = true;
	engine_command(ui->engine, &ui->save);
	app_say(ui, MESSAGE_INFO, "saving %s", ui->save.text);
}

/* Does @name, as notices tell it, mean the file that was to be saved last? */
static bool is_saved_last(const struct ui *ui, const char *name)
{
	char last[sizeof((struct notice *)0)->text];

	plain_copy(last, sizeof last, ui->save.text);
	return !strcmp(last, name);
}

/* What the person types elsewhere must not answer it. */
static void ask_to_replace(struct ui *ui)
{
	char question[sizeof ui->save.text + 32];

	if (!ui->exists || ui->overlay.kind != OVERLAY_NONE)
		return;
	ui->exists = false;
	snprintf(question, sizeof question, "%s exists. Replace it?", ui->save.text);
	app_say(ui, MESSAGE_WARN, "%s exists: not saved", ui->save.text); /* seen after a no */
	overlay_question(ui, question, save_over);
}

static void notice(struct ui *ui, const struct notice *n)
{
	switch (n->kind) {
	case NOTICE_INFO: app_say(ui, MESSAGE_INFO, "%s", n->text); break;
	case NOTICE_WARN: app_say(ui, MESSAGE_WARN, "%s", n->text); break;
	case NOTICE_ERROR: app_say(ui, MESSAGE_ERROR, "%s", n->text); break;
	case NOTICE_SAVED: app_say(ui, MESSAGE_INFO, "saved %s", n->text); break;
	case NOTICE_FINISHED:
		app_say(ui, MESSAGE_INFO, "%s", *n->text ? n->text : "the target has ended");
		break;
	case NOTICE_EXISTS:
		ui->exists = is_saved_last(ui, n->text);
		if (ui->exists)
			return;
		app_say(ui, MESSAGE_WARN, "%s exists: not saved", n->text);
	}
	ui->notice_until_ns = clock_mono_ns() + LEAST_NS;
}

/*
 * One after the other, so that each can be read: what lies over the screen hides none, and an error
 * stays until a key is pressed. The others wait with the engine.
 */
static bool takes_notice(const struct ui *ui)
{
	if (ui->overlay.kind != OVERLAY_NONE)
		return false;
	return !ui->message_kind ||
	       (ui->message_until_ns && clock_mono_ns() >= ui->notice_until_ns);
}

/* Does @a answer what @page asks, though perhaps with an older sort or window? */
static bool fits(const struct ui *ui, const struct page *page, const struct answer *a)
{
	if (ui->frozen) /* only what was asked since */
		return a->query.serial == page->serial &&
		       (!page->answer || page->answer->query.serial != page->serial);
	return a->query.view == page->view->kind && row_key_equal(a->query.focus, page->focus) &&
	       a->query.task == ui->task && a->query.set == ui->set &&
	       a->query.event == ui->event &&
	       (a->query.flags & QUERY_BOTTOM_UP) == (page->flags & QUERY_BOTTOM_UP);
}

bool app_reading(const struct ui *ui)
{
	const struct answer_status *s = &ui->status;

	return ui->has_status && s->recording && !s->finished && s->progress >= 0;
}

static void take_answer(struct ui *ui)
{
	const struct answer *a = engine_answer(ui->engine);
	struct page *page = page_now(ui);

	if (!a)
		return;
	if (a == page->answer || !fits(ui, page, a)) {
		answer_unref(a);
		return;
	}
	ui->status = a->status;
	ui->has_status = true;
	if (ui->frozen && !ui->until_ns) /* nothing was there yet to be frozen */
		ui->until_ns = a->time_ns;
	if (app_reading(ui) && !ui->progress_from_ns)
		ui->progress_from_ns = clock_mono_ns();
	page_take(ui, page, a);
	ui->redraw = true;
}

/* -s EVENT: shown as soon as it is known, unless another was chosen meanwhile. */
static void find_event(struct ui *ui)
{
	struct engine_event events[EVENT_MAX];
	uint32_t n = 0;

	if (ui->config->event && !ui->event_found)
		n = engine_events(ui->engine, events, EVENT_MAX);
	for (uint32_t i = 0; i < n && !ui->event_found; i++) {
		if (!event_is_called(events[i].name, ui->config->event))
			continue;
		ui->event_found = ui->ask = true;
		if (ui->event == UINT16_MAX)
			ui->event = events[i].index;
	}
	if (!ui->config->event || ui->event_found || !ui->status.recording || !ui->status.finished)
		return;
	ui->event_found = true;
	app_say(ui, MESSAGE_ERROR, "-s %s: this recording has no such event", ui->config->event);
}

void app_poll(struct ui *ui)
{
	struct notice n;

	find_event(ui);

	take_answer(ui); /* first: it rests engine_fd */
	while (takes_notice(ui) && engine_notice(ui->engine, &n))
		notice(ui, &n);
	ask_to_replace(ui);
	if (ui->message_kind && ui->message_until_ns && clock_mono_ns() > ui->message_until_ns) {
		ui->message_kind = MESSAGE_NONE;
		ui->redraw = true;
	}
	if (ui->ask) {
		ui->ask = false;
		page_ask(ui, page_now(ui));
	}
}

static void too_small(struct ui *ui)
{
	struct canvas *c = &ui->canvas;
	char text[80], key[KEY_TEXT];

	snprintf(text, sizeof text, "too small: %dx%d", c->w, c->h);
	canvas_text(c, 0, 0, c->w, (struct pen){LOOK_WARN, 0}, text);
	snprintf(text, sizeof text, "needs %dx%d", LAYOUT_MIN_W, LAYOUT_MIN_H);
	canvas_text(c, 0, 1, c->w, (struct pen){LOOK_NORMAL, 0}, text);
	if (ui->overlay.kind == OVERLAY_NONE)
		snprintf(text, sizeof text, "%s quits", keymap_text(&ui->keys, ACTION_QUIT, key));
	else
		snprintf(text, sizeof text, "Esc goes back");
	canvas_text(c, 0, 2, c->w, (struct pen){LOOK_DIM, 0}, text);
}

void app_frame(struct ui *ui)
{
	struct page *page = page_now(ui);
	struct canvas *c = &ui->canvas;
	bool text = page->screen->flags & SCREEN_TEXT;

	ui->redraw = false;
	ui->nzones = 0;
	canvas_clear(c);
	layout_screen(&ui->layout, c->w, c->h, header_title_lines(ui, c->w),
		      explain_lines(page, c->w), !text);
	if (ui->layout.small) {
		too_small(ui);
		return;
	}
	header_draw(ui);
	table_draw(ui, page, ui->layout.heads, ui->layout.body);
	if (page->screen->draw)
		page->screen->draw(ui, page, ui->layout.body);
	footer_draw(ui);
	overlay_draw(ui);
}
