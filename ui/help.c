/*
 * help: the help screen: what the screen at hand shows, its columns, every key from the one table,
 * the words of the header, and what was lost so far by kind. Ui thread.
 */
#include <stdio.h>

#include "screen.h"
#include "view/cell.h"
#include "view/facts.h"
#include "view/utf8.h"

static void keys_of(const struct ui *ui, enum action a, char *ret, size_t size)
{
	size_t used = 0;
	char key[KEY_TEXT];

	ret[0] = '\0';
	for (int i = 0; i < KEYS_EACH && ui->keys.keys[a][i]; i++) {
		int n = snprintf(ret + used, size - used, "%s%s", i ? " " : "",
				 key_text(key, ui->keys.keys[a][i]));

		if (n < 0 || (size_t)n >= size - used)
			break;
		used += (size_t)n;
	}
}

static void padded(struct strbuf *text, const char *s, int cells)
{
	strbuf_puts(text, s);
	for (int n = utf8_cells(s, cells); n < cells; n++)
		strbuf_putc(text, ' ');
}

/* The output of a command has a screen where one was started here. */
static const char *tabs_help(const struct ui *ui)
{
	return ui->config->whole ? ""
	       : ui->config->has_output
		       ? "; the last is the output of the command that was started"
		       : "; one more, Output, where a command is started (-- COMMAND)";
}

static void add_keys(struct ui *ui, struct strbuf *text)
{
	static const enum action_group order[GROUPS] = {GROUP_PROGRAM, GROUP_SCREENS, GROUP_PROFILE,
							GROUP_TABLE, GROUP_MOVE};
	char keys[80];

	for (int i = 0; i < GROUPS; i++) {
		int g = (int)order[i];

		strbuf_printf(text, "\n\001%s\n", action_group_title(order[i]));
		for (int a = ACTION_NONE + 1; a < ACTIONS; a++) {
			const struct action_info *info = &action_table[a];

			if ((int)info->group != g || !*info->help)
				continue;
			keys_of(ui, (enum action)a, keys, sizeof keys);
			if (a == ACTION_TAB_1)
				snprintf(keys, sizeof keys, "1 \xe2\x80\xa6 %d",
					 ui->ntabs < 9 ? ui->ntabs : 9);
			strbuf_puts(text, "  ");
			padded(text, keys, 16);
			strbuf_printf(text, "%s%s\n", info->help,
				      a == ACTION_TAB_1 ? tabs_help(ui) : "");
		}
	}
}

/* The keys of edit.c and of menus. */
static void add_typing(struct strbuf *text)
{
	static const char *const lines[][2] = {
		{"Enter", "take it"},
		{"Esc ^C ^G", "give up; nothing is changed"},
		{"Arrows ^B ^F", "a character back, forth"},
		{"Home End ^A ^E", "to the start, to the end"},
		{"Del ^D", "delete the character at the caret"},
		{"^W ^U ^K", "delete a word, all before the caret, all after it"},
	};

	strbuf_puts(text, "\n\001Where text is typed\n");
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		strbuf_puts(text, "  ");
		padded(text, lines[i][0], 16);
		strbuf_printf(text, "%s\n", lines[i][1]);
	}
}

/* Columns that the answer names. */
static void add_cells(const struct page *page, struct strbuf *text)
{
	for (uint32_t i = 0; i < page->answer->ncells; i++) {
		strbuf_puts(text, "  ");
		padded(text, page->answer->columns[i].title, 16);
		strbuf_printf(text, "%s\n",
			      view_column_help(page->view, page->answer, COLUMN_CELL + i));
	}
}

static void add_columns(const struct page *page, struct strbuf *text)
{
	if (page->screen->flags & SCREEN_TEXT)
		return;
	strbuf_puts(text, "\n\001Columns\n");
	for (int i = 0; i < page->view->ncolumns; i++) {
		const struct column *c = &page->view->columns[i];

		if (c->id == COLUMN_CELL && page->answer && page->answer->columns &&
		    c->flags & COLUMN_EACH_CELL) {
			add_cells(page, text);
			continue;
		}
		strbuf_puts(text, "  ");
		padded(text,
		       *c->title                      ? c->title
		       : c->id == COLUMN_METRIC       ? "metrics"
		       : c->id == COLUMN_METRIC_TOTAL ? "\xce\xa3metrics"
		       : c->id == COLUMN_CELL         ? "numbers"
		       : c->cell == cell_tag          ? "[k] [.]"
						      : "remark",
		       16);
		strbuf_printf(text, "%s\n", c->help);
	}
	strbuf_puts(text, "\nDimmed: few samples. Colours of metrics: good, fair, bad by their "
			  "thresholds. n/a: not known, and never 0.\n");
}

static void add_quality(const struct ui *ui, struct strbuf *text)
{
	struct fact facts[FACTS_MAX];
	int n = facts_details(&ui->status, facts, FACTS_MAX);

	if (*ui->status.arrangement)
		strbuf_printf(text, "\n\001Sampling\n  %s\n", ui->status.arrangement);
	for (int i = 0; i < n; i++)
		strbuf_printf(text, "%s%s\n", i ? "" : "\n\001Lost, cut, not known so far\n",
			      facts[i].value);
}

static void add_words(struct strbuf *text)
{
	int n;
	const struct fact_word *words = facts_words(&n);

	strbuf_puts(text, "\n\001The header's words\n");
	for (int i = 0; i < n; i++) {
		strbuf_puts(text, "  ");
		padded(text, words[i].word, 16);
		strbuf_printf(text, "%s\n", words[i].help);
	}
}

void help_open(struct ui *ui)
{
	const struct page *page = page_now(ui);
	char title[80];
	struct strbuf *text;

	snprintf(title, sizeof title, "altpttop " ALTPTTOP_VERSION "   help: %s",
		 page->screen->name);
	text = overlay_text(ui, title, false);
	strbuf_printf(text, "\n%s\n", page->screen->about);
	add_keys(ui, text);
	add_typing(text);
	add_columns(page, text);
	add_words(text);
	add_quality(ui, text);
}
