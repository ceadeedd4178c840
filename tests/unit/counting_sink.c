/* counting_sink: see counting_sink.h. */
#include "counting_sink.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_event(void *ctx, uint16_t index, const struct event_desc *d)
{
	struct counting *c = ctx;
	if (index < EVENT_MAX)
		c->events[index] = *d;
	if (index + 1 > c->nevents)
		c->nevents = (uint16_t)(index + 1);
}

static void on_sample(void *ctx, const struct raw_sample *s)
{
	struct counting *c = ctx;
	if (c->each_sample)
		c->each_sample(c, s);
	c->samples++;
	c->hits += s->flags & SAMPLE_ACCOUNTED ? 0 : s->hits ? s->hits : 1;
	c->weight += s->weight;
	double n = s->effective > 0 ? s->effective : s->hits ? (double)s->hits : 1;
	double square = s->flags & SAMPLE_ACCOUNTED ? 0 : (double)s->weight * (double)s->weight / n;
	c->squares += square;
	c->waiting_squares += s->flags & SAMPLE_BLOCKED ? square : 0;
	c->waiting += s->flags & SAMPLE_BLOCKED ? s->weight : 0;
	c->waiting_hits += s->flags & SAMPLE_BLOCKED ? s->hits : 0;
	c->accounted += s->flags & SAMPLE_ACCOUNTED ? s->weight : 0;
	if (s->nframes && tables_frame_get(c->tables, s->frames[0])->flags & FRAME_KERNEL)
		c->kernel_weight += s->weight;
	c->backwards += s->time_ns < c->last_time_ns;
	c->last_time_ns = s->time_ns;
	for (uint32_t i = 0; i < s->nvalues; i++)
		c->values[s->values[i].event] += s->values[i].count;
	for (uint32_t i = s->nframes; i-- > 0;) {
		const struct frame *f = tables_frame_get(c->tables, s->frames[i]);
		if (f->flags & FRAME_NAMED)
			strbuf_puts(&c->folded, tables_text(c->tables, f->name));
		else
			strbuf_printf(&c->folded, "0x%llx", (unsigned long long)f->addr);
		if (i)
			strbuf_putc(&c->folded, ';');
	}
	strbuf_printf(&c->folded, " %llu\n", (unsigned long long)s->weight);
}

static void on_mmap(void *ctx, const struct raw_mmap *m)
{
	struct counting *c = ctx;
	if (c->each_mmap)
		c->each_mmap(c, m);
	c->mmaps++;
}

static void on_fork(void *ctx, const struct raw_task *t)
{
	(void)t;
	((struct counting *)ctx)->forks++;
}

static void on_comm(void *ctx, const struct raw_task *t)
{
	struct counting *c = ctx;
	c->comm_records++;
	strbuf_printf(&c->comms, "%d/%d %s\n", t->pid, t->tid, t->comm);
}

static void on_exit_record(void *ctx, const struct raw_task *t)
{
	(void)t;
	((struct counting *)ctx)->exits++;
}

static void on_ksymbol(void *ctx, uint64_t time_ns, uint64_t addr, uint32_t size, const char *name,
		       bool unregister)
{
	(void)time_ns;
	(void)addr;
	(void)size;
	(void)name;
	(void)unregister;
	((struct counting *)ctx)->ksymbols++;
}

static void on_origin(void *ctx, const struct raw_origin *o)
{
	struct counting *c = ctx;
	c->origins++;
	c->same_boot = o->same_boot;
	c->kernel_text = o->kernel_text;
	c->kernel_build_id_size = o->kernel_build_id_size;
	c->wall_start_ns = o->wall_start_ns;
	c->duration_ns = o->duration_ns;
	snprintf(c->host, sizeof c->host, "%s", o->host ? o->host : "");
	snprintf(c->release, sizeof c->release, "%s", o->release ? o->release : "");
}

static void on_loss(void *ctx, enum loss_kind kind, uint64_t n)
{
	((struct counting *)ctx)->loss[kind] += n;
}

static void on_account(void *ctx, const struct raw_account *a)
{
	(void)ctx;
	(void)a;
}

static void on_count(void *ctx, const struct raw_count *n)
{
	(void)ctx;
	(void)n;
}

static bool on_progress(void *ctx, uint64_t done, uint64_t all)
{
	struct counting *c = ctx;
	(void)done;
	(void)all;
	return ++c->progress_calls <= c->stop_after || !c->stop_after;
}

static void on_extent(void *ctx, uint64_t from_ns, uint64_t until_ns)
{
	struct counting *c = ctx;
	c->extent_ns = until_ns - from_ns;
	c->extent_from_ns = c->last_time_ns = from_ns;
	c->extents++;
	c->backwards += c->samples != 0;
}

static void on_say(void *ctx, const char *sentence)
{
	struct counting *c = ctx;
	strbuf_puts(&c->said, sentence);
	strbuf_putc(&c->said, '\n');
}

static void on_analysis(void *ctx, struct analysis *a)
{
	struct counting *c = ctx;
	if (c->nanalyses < COUNTING_ANALYSES)
		c->analyses[c->nanalyses++] = a;
	else
		analysis_unref(a);
}

static const struct sink_ops ops = {
	.event = on_event,
	.sample = on_sample,
	.mmap = on_mmap,
	.fork = on_fork,
	.comm = on_comm,
	.exit = on_exit_record,
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

void counting_init(struct counting *c)
{
	memset(c, 0, sizeof *c);
	c->sink = (struct sink){&ops, c};
	c->tables = tables_new();
	strbuf_init(&c->folded);
	strbuf_init(&c->said);
	strbuf_init(&c->comms);
}

void counting_fini(struct counting *c)
{
	for (unsigned i = 0; i < c->nanalyses; i++)
		analysis_unref(c->analyses[i]);
	strbuf_fini(&c->folded);
	strbuf_fini(&c->said);
	strbuf_fini(&c->comms);
	tables_free(c->tables);
}

int counting_read(struct counting *c, const char *path, const struct analyser_options *options,
		  struct err *err)
{
	struct analyser *analyser = NULL;
	int rc = options ? analyser_new(options, c->tables, &c->sink, &analyser, err) : 0;
	if (rc)
		return rc;
	struct source_config config = {.trace = analyser ? analyser_sink(analyser) : NULL};
	struct target target = {.file = path};
	struct source *source;
	rc = source_file.open(&target, &config, &c->sink, c->tables, &source, err);
	if (!rc) {
		rc = source_file.run(source, err);
		source_file.close(source);
	}
	analyser_free(analyser);
	return rc;
}

int counting_text(struct counting *c, const char *text, size_t len,
		  const struct analyser_options *options, struct err *err)
{
	char path[] = "/tmp/altpttop-test-XXXXXX";
	int fd = mkstemp(path);
	if (fd < 0)
		return -1;
	ssize_t put = write(fd, text, len);
	close(fd);
	int rc = put == (ssize_t)len ? counting_read(c, path, options, err) : -1;
	unlink(path);
	return rc;
}

int counting_row(const struct analysis *a, const struct tables *t, const char *name)
{
	for (uint32_t i = 0; i < a->nrows; i++)
		if (!strcmp(tables_text(t, a->rows[i].name), name))
			return (int)i;
	return -1;
}

double counting_cell(const struct analysis *a, int row, const char *title)
{
	for (uint32_t i = 0; i < a->ncolumns && row >= 0; i++)
		if (!strcmp(a->columns[i].title, title))
			return a->cells[(size_t)row * a->ncolumns + i];
	return NAN;
}

bool counting_corpus(void)
{
	if (!access("../shared/corpus/MANIFEST.md", R_OK))
		return true;
	printf("# skipped: no corpus at ../shared/corpus\n");
	return false;
}
