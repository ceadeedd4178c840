/*
 * header: the lines above the table: facts of the target, history and quality, tabs with the state
 * one should not forget, and the title of a screen that was gone into. What does not fit goes in
 * the order that facts.h gives. Ui thread.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "paragraph.h"
#include "screen.h"
#include "view/facts.h"
#include "view/number.h"
#include "view/shorten.h"
#include "view/utf8.h"

#define GAP 2

static int fact_cells(const struct fact *f)
{
	int value = utf8_cells(f->value, 112);

	return (*f->label ? utf8_cells(f->label, 20) + 1 : 0) +
	       (value > f->width ? value : f->width);
}

/* Drop facts, the least kept first, until the rest fits @w; returns the cells they take. */
static int fit_facts(struct fact *facts, int *n, int w)
{
	for (;;) {
		int cells = 0, victim = 0;

		for (int i = 0; i < *n; i++) {
			cells += fact_cells(&facts[i]) + (i ? GAP : 0);
			if (facts[i].keep < facts[victim].keep)
				victim = i;
		}
		if (cells <= w || *n <= 1)
			return cells;
		memmove(facts + victim, facts + victim + 1,
			sizeof *facts * (size_t)(*n - victim - 1));
		--*n;
	}
}

static int draw_fact(struct canvas *c, const struct fact *f, int x, int y, int max)
{
	int used = 0;

	if (*f->label) {
		used += canvas_text(c, x, y, max, (struct pen){LOOK_LABEL, 0}, f->label);
		used += used < max;
	}
	canvas_text(c, x + used, y, max - used, (struct pen){(uint8_t)f->look, 0}, f->value);
	return fact_cells(f);
}

static void draw_facts(struct canvas *c, struct fact *facts, int n, struct rect r)
{
	int x = r.x, right = r.x + r.w;

	fit_facts(facts, &n, r.w);
	for (int i = 0; i < n; i++) {
		if (facts[i].right) {
			right -= fact_cells(&facts[i]);
			draw_fact(c, &facts[i], right, r.y, r.x + r.w - right);
		} else {
			x += draw_fact(c, &facts[i], x, r.y, r.x + r.w - x) + GAP;
		}
	}
}

/* A recording that is being read: how far, how long it will still take, and how to stop. */
static void draw_progress(struct ui *ui, struct rect r)
{
	struct canvas *c = &ui->canvas;
	double done = ui->status.progress < 1 ? ui->status.progress : 1;
	double took = (double)(clock_mono_ns() - ui->progress_from_ns) / 1e9;
	char text[80], number[NUMBER_TEXT];
	int bar = r.w > 70 ? 30 : r.w > 50 ? 12 : 0, x = r.x;

	x += canvas_text(c, x, r.y, r.w, (struct pen){LOOK_LABEL, 0}, "reading ");
	canvas_fill(c, (struct rect){x, r.y, bar, 1}, (struct pen){LOOK_TRACK, 0}, 0xb7);
	canvas_bar(c, x, r.y, bar, done, (struct pen){LOOK_BAR, 0});
	x += bar + (bar > 0);
	number_elapsed(number, (uint64_t)(done > 0.01 ? took * (1 - done) / done * 1e9 : 0));
	snprintf(text, sizeof text, done > 0.01 ? "%3.0f%%  %s left  " : "%3.0f%%  ", done * 100,
		 number);
	x += canvas_text(c, x, r.y, r.x + r.w - x, (struct pen){LOOK_VALUE, 0}, text);
	x += canvas_text(c, x, r.y, r.x + r.w - x, (struct pen){LOOK_KEY, 0},
			 keymap_text(&ui->keys, ACTION_BACK, number));
	canvas_text(c, x + 1, r.y, r.x + r.w - x - 1, (struct pen){LOOK_DOES, 0}, "stops");
}

static void draw_quality(struct ui *ui, struct rect r)
{
	const struct answer_status *s = &ui->status;
	struct fact facts[FACTS_MAX];
	float scaled[SPARK_MAX];
	int n = facts_quality(s, facts), spark, cells, least = r.w >= 60 ? 16 : 0;
	float top = 1; /* at least one CPU, so that little use looks like little */

	cells = fit_facts(facts, &n, r.w - least);
	spark = r.w - cells - GAP;
	if (spark > SPARK_MAX)
		spark = SPARK_MAX;
	for (int i = 0; i < s->nspark && i < SPARK_MAX; i++)
		top = s->spark[i] > top ? s->spark[i] : top;
	for (int i = 0; i < s->nspark && i < SPARK_MAX; i++)
		scaled[i] = s->spark[i] >= 0 ? s->spark[i] / top : -1;
	if (spark >= 8) {
		canvas_spark(&ui->canvas, r.x, r.y, spark, scaled,
			     s->nspark < SPARK_MAX ? s->nspark : SPARK_MAX,
			     (struct pen){LOOK_SPARK, 0});
		r.x += spark + GAP;
		r.w -= spark + GAP;
	}
	draw_facts(&ui->canvas, facts, n, r);
}

/* A tab's name; where space is short the others go by a shorter one. */
static const char *tab_name(const struct ui *ui, int tab, bool tight)
{
	const struct screen *s = ui->tabs[tab]->screen;

	return tight && tab != ui->tab && s->brief ? s->brief : s->name;
}

static int tab_cells(const struct ui *ui, int tab, bool tight)
{
	return (tab < 9 ? 1 : 0) + (!tight || tab == ui->tab) +
	       utf8_cells(tab_name(ui, tab, tight), 20);
}

static int draw_tab(struct ui *ui, int tab, int x, int y, bool tight)
{
	struct canvas *c = &ui->canvas;
	bool on = tab == ui->tab;
	char number[12];
	int start = x;

	if (tab < 9) {
		snprintf(number, sizeof number, "%d", tab + 1);
		x += canvas_text(c, x, y, c->w - x, (struct pen){on ? LOOK_KEY : LOOK_DIM, 0},
				 number);
	}
	x += !tight || on;
	x += canvas_text(c, x, y, c->w - x, (struct pen){on ? LOOK_TAB_ON : LOOK_TAB, 0},
			 tab_name(ui, tab, tight));
	zone_add(ui, (struct rect){start, y, x - start, 1}, ZONE_TAB, (uint32_t)tab);
	return x - start;
}

/* Tabs from the first that lets the one shown fit; others that do not fit are left out. */
static void draw_tab_list(struct ui *ui, struct rect r)
{
	int cells = 0, first = 0, x = r.x, gap;
	bool tight;

	for (int i = 0; i < ui->ntabs; i++)
		cells += tab_cells(ui, i, false) + (i ? GAP : 0);
	tight = cells > r.w;
	gap = tight ? 1 : GAP;
	cells = 0;
	for (int i = 0; i <= ui->tab; i++)
		cells += tab_cells(ui, i, tight) + gap;
	for (; first < ui->tab && cells - gap > r.w; first++)
		cells -= tab_cells(ui, first, tight) + gap;
	for (int i = first; i < ui->ntabs && x + tab_cells(ui, i, tight) <= r.x + r.w; i++)
		x += draw_tab(ui, i, x, r.y, tight) + gap;
}

/* 0: all, as it is where samples tell no time that they could be left out by. */
static uint64_t window_shown(const struct ui *ui)
{
	const struct answer_status *s = &ui->status;
	bool whole = s->recording && s->covered_ns == s->elapsed_ns;

	return whole && (!s->covered_ns || s->covered_ns > ui->window_ns) ? 0 : ui->window_ns;
}

static void draw_tabs(struct ui *ui, struct rect r)
{
	const struct page *page = page_now(ui);
	struct facts_state state = {
		.window_ns = window_shown(ui),
		.covered_ns = ui->status.covered_ns,
		.since_mark_ns = ui->status.since_mark_ns,
		.recording = ui->status.recording,
		.flags = (ui->flags | page->flags) & page->view->flags,
		.frozen = ui->frozen,
		.older = ui->set != UINT16_MAX,
		.marked = ui->status.marked,
		.filter = page->view->filtered ? ui->filter : "",
		.thread = ui->thread,
		.narrowed = page->focus.kind == ROW_MODULE || row_is_group(&page->focus)
				    ? page->about
				    : "",
	};
	struct fact facts[FACTS_MAX];
	int n = facts_state(&state, facts), cells = fit_facts(facts, &n, r.w * 2 / 3);

	draw_tab_list(ui, (struct rect){r.x, r.y, r.w - cells - GAP, 1});
	draw_facts(&ui->canvas, facts, n, (struct rect){r.x + r.w - cells, r.y, cells, 1});
}

/* What the page is about, in its own words or the answer's. */
static void title_spans(const struct page *page, const char *ret_text[3])
{
	bool up = page->flags & QUERY_BOTTOM_UP;

	ret_text[0] = ret_text[1] = "";
	ret_text[2] = page->answer ? page->answer->title : "";
	if (*ret_text[2])
		return;
	ret_text[0] = up ? "Paths" : page->screen->name;
	ret_text[1] = !*page->about ? "" : up ? " to " : " of ";
	ret_text[2] = page->about;
}

/* The answer's sentence of a root page that is longer than the line; NULL: no such. */
static const char *long_title(const struct ui *ui, int w)
{
	const struct page *page = ui->pages[ui->depth - 1];
	const char *title = page->answer ? page->answer->title : "";

	return ui->depth == 1 && utf8_cells(title, w + 1) > w ? title : NULL;
}

int header_title_lines(const struct ui *ui, int w)
{
	const struct answer *a = ui->pages[ui->depth - 1]->answer;
	const char *title = long_title(ui, w);

	return title ? paragraph_lines(title, strlen(title), w, 0)
		     : ui->depth > 1 || (a && *a->title);
}

/* The way here as far as there is room for it, then the title. */
static void draw_title(struct ui *ui, struct rect r)
{
	const char *whole = r.h > 1 ? long_title(ui, r.w) : NULL;
	static const enum look looks[] = {LOOK_VALUE, LOOK_DIM, LOOK_STRONG};
	static const char arrow[] = " \xe2\x80\xba ";
	struct canvas *c = &ui->canvas;
	const char *text[3];
	char name[SHORT_NAME];
	int x = r.x, end = r.x + r.w, room = r.w, first = ui->depth - 1;

	if (whole) {
		paragraph_draw(c, whole, strlen(whole), r, r.y, (struct pen){LOOK_STRONG, 0}, 0);
		return;
	}
	title_spans(page_now(ui), text);
	text[2] = shorten(text[2], r.w - 20, name, sizeof name);
	for (int i = 0; i < 3; i++)
		room -= utf8_cells(text[i], r.w);
	for (; first > 0; first--) {
		room -= utf8_cells(ui->pages[first - 1]->screen->name, 20) + 3;
		if (room < 0)
			break;
	}
	for (; first < ui->depth - 1; first++) {
		x += canvas_text(c, x, r.y, end - x, (struct pen){LOOK_DIM, 0},
				 ui->pages[first]->screen->name);
		x += canvas_text(c, x, r.y, end - x, (struct pen){LOOK_DIM, 0}, arrow);
	}
	for (int i = 0; i < 3; i++)
		x += canvas_text(c, x, r.y, end - x, (struct pen){(uint8_t)looks[i], 0}, text[i]);
}

void header_draw(struct ui *ui)
{
	const struct layout *l = &ui->layout;
	struct fact facts[FACTS_MAX];

	draw_facts(&ui->canvas, facts, facts_target(&ui->status, facts), l->facts);
	if (l->quality.h && app_reading(ui))
		draw_progress(ui, l->quality);
	else if (l->quality.h)
		draw_quality(ui, l->quality);
	if (l->tabs.h)
		draw_tabs(ui, l->tabs);
	if (l->title.h)
		draw_title(ui, l->title);
}
