/*
 * importing: what the fuzz targets of the importers share: a recording in memory, one importer, and
 * a sink that holds what it is given to its contract.
 */
#ifndef ALTPTTOP_IMPORTING_H
#define ALTPTTOP_IMPORTING_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import/importer.h"
#include "trace/analyser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition) \
	do { \
		if (!(condition)) \
			__builtin_trap(); \
	} while (0)

static volatile uint64_t
	fuzz_sum; /* reading every byte that is promised finds the ones that are not */

static void fuzz_read(const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fuzz_sum += ((const uint8_t *)p)[i];
}

static void on_event(void *ctx, uint16_t index, const struct event_desc *desc)
{
	MUST(index < EVENT_MAX && memchr(desc->name, 0, sizeof desc->name));
	(void)ctx;
}

static void on_sample(void *ctx, const struct raw_sample *s)
{
	const struct tables *t = ((struct import *)ctx)->tables;
	MUST(s->event < EVENT_MAX);
	fuzz_read(s->kernel, s->nkernel * sizeof *s->kernel);
	fuzz_read(s->user, s->nuser * sizeof *s->user);
	fuzz_read(s->stack, s->stack ? s->stack_bytes : 0);
	fuzz_read(s->values, s->nvalues * sizeof *s->values);
	for (uint32_t i = 0; i < s->nframes; i++)
		MUST(s->frames[i] && s->frames[i] <= tables_frame_count(t));
}

static void on_mmap(void *ctx, const struct raw_mmap *m)
{
	(void)ctx;
	MUST(m->path);
	fuzz_read(m->path, strlen(m->path) + 1);
	fuzz_read(m->build_id, m->build_id ? m->build_id_size : 0);
}

static void on_task(void *ctx, const struct raw_task *task)
{
	(void)ctx;
	if (task->comm)
		fuzz_read(task->comm, strlen(task->comm) + 1);
}

static void on_comm(void *ctx, const struct raw_task *task)
{
	MUST(task->comm);
	on_task(ctx, task);
}

static void on_ksymbol(void *ctx, uint64_t time_ns, uint64_t addr, uint32_t size, const char *name,
		       bool unregister)
{
	(void)ctx, (void)unregister;
	fuzz_sum += time_ns + addr + size;
	if (name)
		fuzz_read(name, strlen(name) + 1);
}

static void on_loss(void *ctx, enum loss_kind kind, uint64_t count)
{
	(void)ctx, (void)count;
	MUST((unsigned)kind < LOSS_KINDS);
}

static void on_account(void *ctx, const struct raw_account *a)
{
	(void)ctx;
	fuzz_sum += a->cpu_ns;
}

static void on_count(void *ctx, const struct raw_count *c)
{
	(void)ctx;
	MUST(c->event < EVENT_MAX);
}

static bool on_progress(void *ctx, uint64_t done, uint64_t all)
{
	(void)ctx, (void)done, (void)all;
	return true;
}

static void on_origin(void *ctx, const struct raw_origin *o)
{
	(void)ctx;
	(void)o;
}

static void on_extent(void *ctx, uint64_t from_ns, uint64_t until_ns)
{
	(void)ctx;
	MUST(from_ns <= until_ns);
}

static void on_say(void *ctx, const char *sentence)
{
	(void)ctx;
	MUST(sentence[0]);
	fuzz_read(sentence, strlen(sentence) + 1);
}

static void on_analysis(void *ctx, struct analysis *a)
{
	const struct tables *t = ((struct import *)ctx)->tables;
	for (uint32_t i = 0; i < a->nrows; i++) {
		const char *name = tables_text(t, a->rows[i].name);
		fuzz_read(name, strlen(name) + 1);
	}
	fuzz_read(a->cells, (size_t)a->nrows * a->ncolumns * sizeof *a->cells);
	analysis_unref(a);
}

static inline int fuzz_importer(const struct importer_ops *importer, const uint8_t *data,
				size_t size)
{
	static const struct sink_ops ops = {
		.event = on_event,
		.sample = on_sample,
		.mmap = on_mmap,
		.fork = on_task,
		.comm = on_comm,
		.exit = on_task,
		.ksymbol = on_ksymbol,
		.loss = on_loss,
		.account = on_account,
		.count = on_count,
		.progress = on_progress,
		.extent = on_extent,
		.say = on_say,
		.origin = on_origin,
		.analysis = on_analysis,
	};
	struct source_config config = {0};
	struct source_status status = {0};
	_Atomic bool stopping = false;
	struct import im = {.config = &config, .status = &status, .stopping = &stopping};
	struct sink sink = {&ops, &im};
	struct err err = {0};

	im.sink = &sink;
	im.tables = tables_new();
	if (!im.tables || stream_memory(data, size, &im.in))
		abort();
	/* Few spans in memory, so that spilling is met too. */
	const struct analyser_options options = {.span_bytes = 1};
	struct analyser *analyser;
	if (analyser_new(&options, im.tables, &sink, &analyser, &err))
		abort();
	im.trace = analyser_sink(analyser);
	map64_init(&im.modules);
	map64_init(&im.tasks);
	stream_utf8(im.in);
	const uint8_t *head;
	size_t n = stream_peek(im.in, 64 << 10, &head);
	int score = importer->recognise(head, n);
	MUST(score >= 0 && score <= 100);
	int rc = importer->run(&im, &err);
	MUST(rc <= 0);
	MUST(!rc || err.msg[0]); /* a failure is a sentence */
	stream_close(im.in);
	map64_fini(&im.modules);
	map64_fini(&im.tasks);
	vec_fini(&im.ends);
	analyser_free(analyser);
	tables_free(im.tables);
	return 0;
}

#endif
