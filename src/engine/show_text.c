/*
 * show_text: views that are lines of text: what a started command wrote, and the doctor.
 *
 * Engine thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/build.h"

static void add_line(struct build *b, uint32_t number, const char *text)
{
	struct row *row = build_row(b);
	if (!row)
		return;
	/* A line that is not indented and ends in a colon heads what follows. */
	size_t n = strlen(text);
	bool heading = b->q->view == VIEW_DOCTOR && n && text[n - 1] == ':' && text[0] != ' ';
	row->key = (struct row_key){.kind = heading ? ROW_HEADING : ROW_TEXT, .a = number};
	row->name = row->full = text;
}

void show_output(struct build *b)
{
	const struct output *o = &b->e->output;
	uint32_t lines = 0;
	for (size_t i = 0; i < o->used; i++)
		lines += !o->text[i];
	lines += o->partial > 0;
	if (!build_reserve(b, lines))
		return;
	/* The newest lines when there are more than fit. */
	uint32_t skip = lines > b->max_rows ? lines - b->max_rows : 0;
	uint32_t number = (uint32_t)o->dropped;
	for (size_t i = 0; i < o->used; number++) {
		size_t n = strnlen(o->text + i, o->used - i);
		if (skip)
			skip--;
		else
			add_line(b, number, build_text(b, "%.*s", (int)n, o->text + i));
		i += n + 1;
	}
	if (!lines && b->e->setup.output_fd < 0)
		snprintf(b->a->note, sizeof b->a->note, "no command was started here");
	else if (!lines)
		snprintf(b->a->note, sizeof b->a->note, "the command has written nothing yet");
	if (o->dropped)
		snprintf(b->a->title, sizeof b->a->title, "%llu older lines are gone",
			 (unsigned long long)o->dropped);
}

void show_doctor(struct build *b)
{
	struct text_box *box = &b->e->doctor;
	char *text = NULL;

	pthread_mutex_lock(&box->lock);
	if (box->text)
		text = arena_strdup(&b->box->arena, box->text);
	bool ask = !box->text && !box->asked;
	box->asked |= ask;
	pthread_mutex_unlock(&box->lock);
	if (ask)
		mailbox_post(b->e->jobs, &(struct job){.kind = JOB_DOCTOR});
	if (!text) {
		snprintf(b->a->note, sizeof b->a->note, "%s",
			 b->e->setup.doctor ? "looking …" : "there is nothing to say");
		return;
	}
	uint32_t lines = 0;
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	if (!build_reserve(b, lines + 1))
		return;
	char *rest = text, *line;
	for (uint32_t n = 0; (line = strsep(&rest, "\n")); n++)
		if (rest || *line)
			add_line(b, n, line);
}
