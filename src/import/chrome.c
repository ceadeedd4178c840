/*
 * chrome: Chrome Trace JSON, streamed: an array of events, or an object with "traceEvents".
 *
 * Several threads work at once on different chunks of the file. As many as there are CPUs read and
 * parse ahead, each a chunk of its own, from a place where an event seems to begin (chromeahead.c);
 * one ties the chunks together in order, parses what could not be parsed ahead (chromeparse.c,
 * yajl) and asks what events mean (chromeevent.c); the source thread takes the spans and is the
 * only one that speaks to the sink. An unterminated file is what a killed program leaves: its whole
 * events count. Memory does not depend on the file's length.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/altstack.h"
#include "base/clock.h"
#include "base/relay.h"
#include "import/chromeahead.h"
#include "import/chromeparse.h"
#include "import/chromesamples.h"
#include "import/spanpair.h"

#define CHUNKS       12
#define READERS_MOST 4

enum stage { READ, PARSE, TAKE, STAGES };

struct reading {
	struct import *im;
	struct relay *relay;
	struct chrome_chunk chunks[CHUNKS];
	pthread_mutex_t
		turn; /* of the threads that read: the stream, and all until the next line */
	struct chrome_ahead *ahead[READERS_MOST];
	unsigned readers, begun, running;

	struct chrome_events *events; /* the parse thread's */
	struct chrome_parser *parser;
	struct spanpair *pairs;
	int parsed; /* how parsing ended: 0 or -errno */
	_Atomic bool lenient;
	_Atomic uint64_t helpers_cpu_ns;
};

/* The next chunk's bytes. -1: there are no more. */
static int read_chunk(struct reading *r)
{
	struct stream *in = r->im->in;
	pthread_mutex_lock(&r->turn);
	int slot = relay_take(r->relay, READ);
	if (slot >= 0) {
		struct chrome_chunk *c = &r->chunks[slot];
		chrome_chunk_clear(c);
		c->offset = stream_offset(in);
		c->n = stream_some(in, c->data, CHROME_CHUNK);
		c->done = stream_done(in);
		slot = c->n ? slot : -1;
	}
	pthread_mutex_unlock(&r->turn);
	return slot;
}

/* One of several threads. */
static void *read_chunks(void *ctx)
{
	struct reading *r = ctx;
	int slot;
	altstack_use();
	pthread_mutex_lock(&r->turn);
	struct chrome_ahead *ahead = r->ahead[r->begun++];
	pthread_mutex_unlock(&r->turn);
	while ((slot = read_chunk(r)) >= 0) {
		if (!atomic_load_explicit(&r->lenient, memory_order_relaxed))
			chrome_ahead_run(ahead, &r->chunks[slot]);
		relay_pass(r->relay, READ, slot);
	}
	pthread_mutex_lock(&r->turn);
	if (!--r->running)
		relay_end(r->relay, READ);
	pthread_mutex_unlock(&r->turn);
	atomic_fetch_add(&r->helpers_cpu_ns, clock_thread_cpu_ns());
	return NULL;
}

/* A chunk is passed on once the next one has what it needs of it. */
static void *parse_chunks(void *ctx)
{
	struct reading *r = ctx;
	int slot, last = -1;
	altstack_use();
	while (!r->parsed && (slot = relay_take(r->relay, PARSE)) >= 0) {
		r->parsed = chrome_parser_run(r->parser, &r->chunks[slot],
					      last < 0 ? NULL : &r->chunks[last]);
		atomic_store_explicit(&r->lenient, chrome_parser_is_lenient(r->parser),
				      memory_order_relaxed);
		if (last >= 0)
			relay_pass(r->relay, PARSE, last);
		last = slot;
	}
	if (last >= 0)
		relay_pass(r->relay, PARSE, last);
	relay_end(r->relay, PARSE);
	atomic_fetch_add(&r->helpers_cpu_ns, clock_thread_cpu_ns());
	return NULL;
}

static int take(struct reading *r, const struct chrome_record *record)
{
	const struct trace_sink *trace = r->im->trace;
	const struct trace_span *s = &record->span;
	if (record->kind == CHROME_BEGIN)
		return spanpair_begin(r->pairs, s->thread, s->start_ns, s->name);
	if (record->kind == CHROME_END)
		return spanpair_end(r->pairs, s->thread, s->start_ns, s->name);
	int64_t end;
	if (__builtin_add_overflow(s->start_ns, (int64_t)s->dur_ns, &end))
		end = INT64_MAX;
	int rc = spanpair_seen(r->pairs, s->thread, end);
	return rc ? rc : trace->ops->span(trace->ctx, s);
}

static int take_chunks(struct reading *r)
{
	int slot, rc = 0;
	while (!rc && (slot = relay_take(r->relay, TAKE)) >= 0) {
		const struct chrome_chunk *c = &r->chunks[slot];
		for (size_t i = 0; i < c->records.len && !rc; i++)
			rc = take(r, &c->records.data[i]);
		if (!rc && !import_go_on_at(r->im, c->done))
			rc = -ECANCELED;
		relay_pass(r->relay, TAKE, slot);
	}
	return rc;
}

/* Start all threads but this one. 0, or errno. *ret_started have to be joined. */
static int start(struct reading *r, pthread_t *threads, unsigned *ret_started)
{
	int failed = pthread_create(&threads[0], NULL, parse_chunks, r);
	*ret_started = !failed;
	r->running = failed ? 0 : r->readers;
	for (unsigned i = 0; i < r->readers && !failed; i++) {
		failed = pthread_create(&threads[1 + i], NULL, read_chunks, r);
		*ret_started += !failed;
	}
	for (unsigned i = 0; i < *ret_started; i++)
		pthread_setname_np(threads[i], i ? "read" : "parse");
	return failed;
}

/* Run all of them; what the file's damage leaves was taken. */
static int read_all(struct reading *r, struct err *err)
{
	pthread_t threads[1 + READERS_MOST];
	unsigned started;
	int failed = start(r, threads, &started);
	int rc = failed ? err_set(err, failed, "no thread to read the trace: %s", strerror(failed))
			: take_chunks(r);
	relay_stop(r->relay); /* after the last chunk nobody is left to hear it */
	while (started-- > 0)
		pthread_join(threads[started], NULL);
	r->im->helpers_cpu_ns += r->helpers_cpu_ns;
	if (rc)
		return rc;
	if (r->parsed == -EBADMSG)
		return err_set(err, EBADMSG, "the JSON is damaged near byte %llu%s%s",
			       (unsigned long long)chrome_parser_at(r->parser),
			       *chrome_parser_why(r->parser) ? ": " : "",
			       chrome_parser_why(r->parser));
	if (!r->parsed && !chrome_parser_is_trace(r->parser))
		return err_set(err, EINVAL, "JSON without \"traceEvents\": not a Chrome trace");
	return r->parsed;
}

/* One for each CPU that this process may use. */
static unsigned readers_of(void)
{
	cpu_set_t cpus;
	unsigned n = sched_getaffinity(0, sizeof cpus, &cpus) ? 1 : (unsigned)CPU_COUNT(&cpus);
	return n < READERS_MOST ? n : READERS_MOST;
}

static int prepare(struct reading *r, struct err *err)
{
	pthread_mutex_init(&r->turn, NULL);
	r->readers = readers_of();
	r->relay = relay_new(CHUNKS, STAGES);
	r->events = chrome_events_new(r->im->tables);
	r->parser = r->events ? chrome_parser_new(r->events) : NULL;
	r->pairs = spanpair_new(r->im->trace);
	int rc = r->relay && r->parser && r->pairs ? 0 : -ENOMEM;
	for (int i = 0; i < CHUNKS; i++)
		if (chrome_chunk_init(&r->chunks[i]))
			rc = -ENOMEM;
	for (unsigned i = 0; i < r->readers; i++)
		if (!(r->ahead[i] = chrome_ahead_new()))
			rc = -ENOMEM;
	return rc ? err_set(err, ENOMEM, "no memory to read the trace") : 0;
}

static void release(struct reading *r)
{
	for (unsigned i = 0; i < r->readers; i++)
		chrome_ahead_free(r->ahead[i]);
	for (int i = 0; i < CHUNKS; i++)
		chrome_chunk_fini(&r->chunks[i]);
	spanpair_free(r->pairs);
	chrome_parser_free(r->parser);
	chrome_events_free(r->events);
	relay_free(r->relay);
	pthread_mutex_destroy(&r->turn);
}

/* All that was read to the analysis, however the reading ended. */
static int finish(struct reading *r)
{
	const struct import *im = r->im;
	char text[CHROME_SUMMARY];
	chrome_events_threads(r->events, im->trace);
	int rc = spanpair_finish(r->pairs);
	chrome_events_summary(r->events, spanpair_unopened(r->pairs), spanpair_unclosed(r->pairs),
			      text);
	if (text[0])
		im->sink->ops->say(im->sink->ctx, text);
	return rc;
}

/* What a sampling profiler saw is read on a second way through the file: it may be named late. */
static int read_samples(struct reading *r, struct chrome_samples *samples, bool whole,
			struct err *err)
{
	if (!chrome_parser_samples(r->parser) && !chrome_events_profiles(r->events))
		return 0;
	int rc = chrome_samples_read(samples, whole, err);
	const struct trace_beside *beside = rc ? NULL : chrome_samples_beside(samples);
	if (beside)
		r->im->trace->ops->beside(r->im->trace->ctx, beside);
	return rc;
}

/* The sentence of an error that has none yet. */
static int explain(int rc, struct err *err)
{
	if (err->msg[0])
		return rc;
	if (rc == -ENOMEM)
		return err_set(err, ENOMEM, "no memory to read the trace");
	if (rc == -E2BIG)
		return err_set(err, E2BIG, "more than 65,536 spans of one thread are open at once");
	if (rc == -ENOSPC || rc == -EIO)
		return err_set(err, -rc, "the temporary file of the spans: %s; set TMPDIR",
			       strerror(-rc));
	return rc;
}

static int chrome_run(struct import *im, struct err *err)
{
	struct reading r = {.im = im};
	if (!im->trace)
		return err_set(err, EINVAL, "a Chrome trace needs the duration analysis");
	int rc = im->trace->ops->begin(im->trace->ctx, TRACE_SPANS);
	if (rc)
		return rc;
	im->nevents = 1; /* the analysis' own */
	struct chrome_samples samples;
	rc = chrome_samples_init(&samples, im);
	rc = rc ? rc : prepare(&r, err);
	if (!rc) {
		rc = read_all(&r, err);
		im->cut = chrome_parser_missing(r.parser);
		int finished = finish(&r);
		rc = rc ? rc : finished;
		struct err why = {0};
		int read = rc && rc != -EBADMSG ? 0
						: read_samples(&r, &samples, !rc && !im->cut, &why);
		if (read && !rc) {
			rc = read;
			*err = why;
		}
	}
	struct err ending = {0};
	int end = im->trace->ops->end(im->trace->ctx, &ending);
	if (!rc && end)
		*err = ending;
	chrome_samples_fini(&samples);
	release(&r);
	return explain(rc ? rc : end, err);
}

static int chrome_recognise(const uint8_t *head, size_t n)
{
	size_t i = 0;
	while (i < n && (head[i] == ' ' || head[i] == '\n' || head[i] == '\r' || head[i] == '\t'))
		i++;
	if (i == n || (head[i] != '{' && head[i] != '['))
		return 0;
	bool array = head[i] == '[', whole = n < 64 << 10;
	for (i++;
	     i < n && (head[i] == ' ' || head[i] == '\n' || head[i] == '\r' || head[i] == '\t');
	     i++)
		;
	if (memmem(head, n, "\"traceEvents\"", 13) && !array)
		return 95;
	if (array)
		return i == n || head[i] == ']'                         ? 40
		       : head[i] == '{' && memmem(head, n, "\"ph\"", 4) ? 90
									: 0;
	return whole || i == n || head[i] != '"' ? 0 : 25;
}

const struct importer_ops importer_chrome = {"Chrome trace", VIEW_DURATION, chrome_recognise,
					     chrome_run};
