/*
 * engine_bed: set-up and questions shared by the engine's tests.
 */
#include "engine_bed.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define PATIENCE_NS (20000 * MS)

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "engine_bed: %s\n", what);
	abort();
}

static int save_nothing(const struct snapshot *s, const char *path, enum snapshot_format format,
			bool replace, struct err *err)
{
	(void)s, (void)path, (void)format, (void)replace, (void)err;
	return 0;
}

void bed_up(struct bed *b, struct engine_setup *setup)
{
	struct err err = {0};
	b->tables = tables_new();
	setup->tables = b->tables;
	setup->target_text = "7 prog";
	if (!setup->save)
		setup->save = save_nothing;
	if (!setup->interval_ms)
		setup->interval_ms = 100;
	if (!setup->output_fd)
		setup->output_fd = -1;
	b->engine = engine_new(setup, &err);
	must(b->engine != NULL, err.msg);
	struct source *source = script_open(&b->script, engine_sink(b->engine), b->tables);
	must(!engine_start(b->engine, &source_script, source, &err), err.msg);
}

void bed_down(struct bed *b)
{
	engine_stop(b->engine);
	must(engine_join(b->engine, 5000), "the engine does not end");
	engine_free(b->engine);
	tables_free(b->tables);
}

struct query bed_question(enum view_kind view)
{
	return (struct query){.view = view, .event = UINT16_MAX, .set = UINT16_MAX};
}

const struct answer *bed_ask(struct bed *b, struct query q, uint64_t samples)
{
	q.serial = ++b->serial;
	engine_ask(b->engine, &q);
	uint64_t until = clock_mono_ns() + PATIENCE_NS;
	while (clock_mono_ns() < until) {
		struct pollfd p = {.fd = engine_fd(b->engine), .events = POLLIN};
		poll(&p, 1, 100);
		const struct answer *a = engine_answer(b->engine);
		if (a && a->query.serial == q.serial && a->status.samples >= samples)
			return a;
		answer_unref(a);
	}
	return NULL;
}

const struct row *bed_row(const struct answer *a, const char *name)
{
	for (uint32_t i = 0; i < a->nrows; i++)
		if (strcmp(a->rows[i].name, name) == 0)
			return &a->rows[i];
	return NULL;
}

bool bed_notice(struct bed *b, enum notice_kind kind, struct notice *ret)
{
	uint64_t until = clock_mono_ns() + PATIENCE_NS;
	while (clock_mono_ns() < until) {
		while (engine_notice(b->engine, ret))
			if (ret->kind == kind)
				return true;
		struct pollfd p = {.fd = engine_fd(b->engine), .events = POLLIN};
		poll(&p, 1, 10);
	}
	return false;
}
