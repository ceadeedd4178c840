/*
 * act_profile: actions on the profile and its source: freezing, windows, marks, events, rate,
 * refresh, saving. What the engine is to do goes to it as a command. Ui thread.
 */
#include "act.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "screen.h"
#include "view/utf8.h"

#define RATE_MOST 10000
#define RATE_WARN 4000

void do_freeze(struct ui *ui, struct page *page)
{
	ui->frozen = !ui->frozen;
	ui->until_ns = ui->frozen && page->answer ? page->answer->time_ns : 0;
	ui->ask = !ui->frozen;
}

void do_window(struct ui *ui, struct page *page)
{
	static const uint64_t seconds[] = {1, 10, 60, 0};
	const size_t n = sizeof seconds / sizeof *seconds;
	size_t at = 0;

	(void)page;
	while (at < n && seconds[at] * 1000000000ULL != ui->window_ns)
		at++;
	ui->window_ns = seconds[(at + 1) % n] * 1000000000ULL;
	ui->ask = true;
}

static void command(struct ui *ui, struct command *c)
{
	engine_command(ui->engine, c);
	ui->ask = true;
}

/* All since the mark is in view then, until another window is chosen or the mark is undone. */
void do_mark(struct ui *ui, struct page *page)
{
	struct command c = {.kind = COMMAND_MARK};

	(void)page;
	if (!ui->status.marked && (ui->config->whole || ui->status.finished)) {
		app_say(ui, MESSAGE_INFO, "nothing more comes that could be counted from here: %s",
			ui->config->whole ? "this is a recording" : "the target has ended");
		return;
	}
	if (!ui->status.marked)
		ui->unmarked_ns = ui->window_ns;
	ui->frozen = false;
	ui->window_ns = !ui->status.marked ? 0 : ui->window_ns ? ui->window_ns : ui->unmarked_ns;
	command(ui, &c);
	app_say(ui, MESSAGE_INFO,
		ui->status.marked ? "the mark is undone" : "counting from here; z again undoes it");
}

static int event_items(struct ui *ui, const char *text, struct menu_item *items)
{
	const struct ui_config *config = ui->config;
	struct ui_choice found[MENU_MAX / 2];
	uint32_t n = 0, more = 0;

	for (uint32_t i = 0; i < config->nevent_sets && n < MENU_MAX / 2; i++, n++) {
		const struct ui_choice *set = &config->event_sets[i];

		items[n] = (struct menu_item){.off = set->reason != NULL};
		snprintf(items[n].name, sizeof items[n].name, "%s", set->name);
		snprintf(items[n].text, sizeof items[n].text, "%s",
			 set->reason ? set->reason : set->text);
	}
	if (config->find_events && *text)
		more = config->find_events(config->find_ctx, text, found, MENU_MAX / 2);
	for (uint32_t i = 0; i < more && i < MENU_MAX / 2; i++, n++) {
		items[n] = (struct menu_item){.off = found[i].reason != NULL};
		snprintf(items[n].name, sizeof items[n].name, "%s", found[i].name);
		snprintf(items[n].text, sizeof items[n].text, "%s",
			 found[i].reason ? found[i].reason : found[i].text);
	}
	return (int)n;
}

/* How near a name is to what was typed; what cannot be had comes last. */
static int nearness(const struct menu_item *item, const char *text)
{
	return item->off                                      ? 3
	       : !strncasecmp(item->name, text, strlen(text)) ? 0
	       : utf8_holds(item->name, text)                 ? 1
							      : 2;
}

static void events_changed(struct ui *ui, const char *text)
{
	struct menu_item *items = calloc(2 * MENU_MAX, sizeof *items), *near = items + MENU_MAX;
	int n = items ? event_items(ui, text, items) : 0, out = 0;

	for (int rank = 0; rank < 4; rank++)
		for (int i = 0; i < n; i++)
			if (nearness(&items[i], text) == rank)
				near[out++] = items[i];
	if (items)
		overlay_menu_items(ui, near, n);
	free(items);
}

static void events_chosen(struct ui *ui, const struct menu_item *item, const char *text)
{
	struct command c = {.kind = COMMAND_EVENTS};

	snprintf(c.text, sizeof c.text, "%s", item ? item->name : text);
	ui->set = ui->event = UINT16_MAX;
	for (int i = 0; i < ui->ntabs; i++)
		page_home(ui->tabs[i]);
	page_home(page_now(ui));
	command(ui, &c);
	app_say(ui, MESSAGE_INFO, "asked for %s", c.text);
}

static void recorded_chosen(struct ui *ui, const struct menu_item *item, const char *text)
{
	(void)text;
	if (!item)
		return;
	ui->event = (uint16_t)item->id;
	ui->ask = true;
	app_say(ui, MESSAGE_INFO, "all columns are of %s", item->name);
}

/* Nothing can be counted that was not: which of the recording's events is shown is the question. */
static void recorded_events(struct ui *ui)
{
	struct engine_event events[EVENT_MAX];
	struct menu_item items[EVENT_MAX];
	uint32_t n = engine_events(ui->engine, events, EVENT_MAX);

	if (n < 2) {
		app_say(ui, MESSAGE_INFO,
			n ? "this recording has one event: %s"
			  : "this recording has no sampled event",
			n ? events[0].name : "");
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		items[i] = (struct menu_item){.id = events[i].index};
		snprintf(items[i].name, sizeof items[i].name, "%s", events[i].name);
		snprintf(items[i].text, sizeof items[i].text, "%s",
			 events[i].index == ui->event || (ui->event == UINT16_MAX && !i)
				 ? "shown now"
				 : "");
	}
	overlay_menu(ui, "Show which event of the recording?", items, (int)n, recorded_chosen);
	ui->overlay.filters = true;
}

void do_events(struct ui *ui, struct page *page)
{
	(void)page;
	if (ui->config->whole) {
		recorded_events(ui);
		return;
	}
	overlay_menu(ui, "Count what? Sets, and events by name (type to search)", NULL, 0,
		     events_chosen);
	ui->overlay.filters = ui->overlay.free = true;
	ui->overlay.changed = events_changed;
	events_changed(ui, "");
}

static void save_done(struct ui *ui, const char *text)
{
	if (!*text)
		return;
	ui->save = (struct command){.kind = COMMAND_SAVE,
				    .format = FORMAT_AUTO,
				    .number = ui->frozen ? ui->until_ns : 0};
	snprintf(ui->save.text, sizeof ui->save.text, "%s", text);
	snprintf(ui->save_name, sizeof ui->save_name, "%s", text);
	engine_command(ui->engine, &ui->save);
	app_say(ui, MESSAGE_INFO, "saving %s", text);
}

void do_save(struct ui *ui, struct page *page)
{
	const char *name = ui->config->save_name;

	(void)page;
	overlay_prompt(ui, "Save as (.pb.gz .folded .json .csv .txt):",
		       *ui->save_name ? ui->save_name
		       : name         ? name
				      : "altpttop.pb.gz",
		       save_done);
}

static void rate_done(struct ui *ui, const char *text)
{
	char *end;
	unsigned long hz = strtoul(text, &end, 10);
	struct command c = {.kind = COMMAND_RATE, .number = hz};

	if (!*text)
		return;
	if (*end || hz < 1 || hz > RATE_MOST) {
		app_say(ui, MESSAGE_ERROR, "a rate is a number from 1 to %d Hz", RATE_MOST);
		return;
	}
	command(ui, &c);
	app_say(ui, hz > RATE_WARN ? MESSAGE_WARN : MESSAGE_INFO, "asked for %lu Hz%s", hz,
		hz > RATE_WARN ? ": above 4,000 the target will feel it" : "");
}

void do_rate(struct ui *ui, struct page *page)
{
	char now[16] = "";

	(void)page;
	if (ui->status.asked_hz)
		snprintf(now, sizeof now, "%u", ui->status.asked_hz);
	overlay_prompt(ui, "Samples a second (Hz):", now, rate_done);
}

static void interval_done(struct ui *ui, const char *text)
{
	char *end;
	double s = strtod(text, &end);
	struct command c = {.kind = COMMAND_INTERVAL};

	if (!*text)
		return;
	if (*end || !(s >= 0.1 && s <= 3600)) {
		app_say(ui, MESSAGE_ERROR, "an interval is a number of seconds from 0.1 to 3600");
		return;
	}
	c.number = (uint64_t)lround(s * 10) * 100;
	ui->interval_ms = (uint32_t)c.number;
	command(ui, &c);
}

void do_interval(struct ui *ui, struct page *page)
{
	char now[16];

	(void)page;
	snprintf(now, sizeof now, "%.1f", ui->interval_ms / 1000.0);
	overlay_prompt(ui, "Seconds between refreshes:", now, interval_done);
}

/* Of the row's function, or of the one the page is about. */
void do_calls(struct ui *ui, struct page *page)
{
	const struct row *row = page_cursor(page);
	struct row_key key = row ? row_function(row) : (struct row_key){0};
	struct command c = {.kind = COMMAND_CALLS};

	if (!key.kind && page->focus.kind == ROW_FUNCTION)
		key = page->focus;
	if (!key.kind || (row && row->flags & ROW_UNRESOLVED)) {
		app_say(ui, MESSAGE_INFO, "this row is no function with a name");
		return;
	}
	c.number = key.a;
	command(ui, &c);
	app_say(ui, MESSAGE_INFO, "counting calls, for a second at most");
}
