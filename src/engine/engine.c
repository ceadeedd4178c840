/*
 * engine: making, starting and ending it, and what other threads may call.
 *
 * Setting up and tearing down happen on the main thread; engine_ask, engine_command, engine_answer,
 * engine_notice and engine_snapshot on any. Three threads are started: the source's, the engine's
 * own and one for slow jobs. None is ever waited for longer than the caller says.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/altstack.h"
#include "base/clock.h"
#include "engine/build.h"
#include "engine/core.h"
#include "profile/snap.h"

#define RING_BYTES       ((size_t)16 << 20) /* the engine may be busy for a tenth of a second */
#define COMMANDS_WAITING 32
#define NOTICES_WAITING  64
#define JOBS_WAITING     16
#define WAITS_WAITING    16

static char *copy_text(const char *s)
{
	return s ? strdup(s) : NULL;
}

static void free_texts(struct engine_setup *s)
{
	free((char *)(uintptr_t)s->symfs);
	free((char *)(uintptr_t)s->title);
	free((char *)(uintptr_t)s->target_text);
	free((char *)(uintptr_t)s->where);
	free((char *)(uintptr_t)s->event_set);
}

static int make_channels(struct engine *e)
{
	e->ring = spsc_new(RING_BYTES);
	e->commands = mailbox_new(sizeof(struct command), COMMANDS_WAITING);
	e->notices = mailbox_new(sizeof(struct notice), NOTICES_WAITING);
	e->jobs = mailbox_new(sizeof(struct job), JOBS_WAITING);
	e->waits = mailbox_new(sizeof(struct snap_wait *), WAITS_WAITING);
	e->asked = slot_new(ask_ref, ask_unref);
	e->answer = slot_new(answer_box_ref, answer_box_unref);
	e->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	e->ui_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (e->wake_fd < 0 || e->ui_fd < 0) /* mailboxes have descriptors too */
		return -EMFILE;
	return e->ring && e->commands && e->notices && e->jobs && e->waits && e->asked && e->answer
		       ? 0
		       : -ENOMEM;
}

static void tell_sentence(void *engine, const char *sentence)
{
	engine_tell(engine, NOTICE_WARN, "%s", sentence);
}

static int make_parts(struct engine *e)
{
	struct intake_config config = {.tables = e->tables,
				       .shared = &e->shared,
				       .ring = e->ring,
				       .say = tell_sentence,
				       .say_ctx = e,
				       .resolver = e->setup.resolver,
				       .symfs = e->setup.symfs,
				       .live = e->setup.live,
				       .named = e->setup.named,
				       .stitch = !e->setup.keep_stitching_off,
				       .max_frames = e->setup.max_frames};
	if (triggers_init(e))
		return -ENOMEM;
	e->counts = calloc(EVENT_MAX, sizeof *e->counts);
	e->intake = intake_new(&config);
	if (!e->counts || !e->intake || output_init(&e->output))
		return -ENOMEM;
	if (profile_init(&e->profile, e->setup.history_bytes))
		return -ENOMEM;
	return e->setup.live ? 0 : profile_of_recording(&e->profile, e->tables);
}

struct engine *engine_new(const struct engine_setup *setup, struct err *err)
{
	struct engine *e = calloc(1, sizeof *e);
	if (!e) {
		err_set(err, ENOMEM, "no memory for the engine");
		return NULL;
	}
	e->setup = *setup;
	e->setup.symfs = copy_text(setup->symfs);
	e->setup.title = copy_text(setup->title);
	e->setup.target_text = copy_text(setup->target_text);
	e->setup.where = copy_text(setup->where);
	e->setup.event_set = copy_text(setup->event_set);
	e->tables = setup->tables;
	e->no_kernel = setup->no_kernel;
	e->no_user = setup->no_user;
	e->interval_ms = setup->interval_ms ? setup->interval_ms : 1000;
	e->start_ns = clock_mono_ns();
	e->wake_fd = e->ui_fd = -1;
	pthread_mutex_init(&e->doctor.lock, NULL);
	pthread_mutex_init(&e->calls.lock, NULL);
	int failed = shared_init(&e->shared);
	if (!failed)
		failed = make_channels(e);
	if (!failed)
		failed = make_parts(e);
	if (failed) {
		err_set(err, -failed, "cannot set up the engine: %s", strerror(-failed));
		engine_free(e);
		return NULL;
	}
	if (setup->output_fd >= 0)
		fcntl(setup->output_fd, F_SETFL, fcntl(setup->output_fd, F_GETFL) | O_NONBLOCK);
	return e;
}

void engine_free(struct engine *e)
{
	struct job job;
	struct snap_wait *wait;

	if (!e)
		return;
	while (e->jobs && mailbox_take(e->jobs, &job))
		snapshot_unref(job.snapshot);
	while (e->waits && mailbox_take(e->waits, &wait))
		snap_wait_unref(wait);
	ask_unref(e->ask);
	intake_free(e->intake);
	profile_fini(&e->profile);
	flat_fini(&e->flat);
	fold_rows_fini(&e->rows);
	fold_edges_fini(&e->edges);
	output_fini(&e->output);
	triggers_fini(e);
	free(e->counts);
	free(e->fits);
	free(e->doctor.text);
	pthread_mutex_destroy(&e->doctor.lock);
	pthread_mutex_destroy(&e->calls.lock);
	slot_free(e->asked);
	slot_free(e->answer);
	mailbox_free(e->commands);
	mailbox_free(e->notices);
	mailbox_free(e->jobs);
	mailbox_free(e->waits);
	spsc_free(e->ring);
	shared_fini(&e->shared);
	if (e->wake_fd >= 0)
		close(e->wake_fd);
	if (e->ui_fd >= 0)
		close(e->ui_fd);
	free_texts(&e->setup);
	free(e);
}

const struct sink *engine_sink(struct engine *e)
{
	return intake_sink(e->intake);
}

static void *source_main(void *arg)
{
	struct engine *e = arg;

	altstack_use();
	e->result = e->ops->run(e->source, &e->result_err);
	atomic_store(&e->shared.finished, true);
	engine_wake(e);
	return NULL;
}

int engine_start(struct engine *e, const struct source_ops *ops, struct source *source,
		 struct err *err)
{
	static void *(*const mains[THREADS])(void *) = {
		[THREAD_SOURCE] = source_main,
		[THREAD_ENGINE] = engine_main,
		[THREAD_JOBS] = jobs_main,
	};
	static const char *const names[THREADS] = {"source", "engine", "jobs"};

	e->ops = ops;
	e->source = source;
	/* The source comes last: what it delivers finds its takers. */
	for (int i = THREADS; i-- > 0;) {
		int failed = pthread_create(&e->threads[i], NULL, mains[i], e);
		if (failed) {
			engine_stop(e);
			return err_set(err, failed, "cannot start a thread: %s", strerror(failed));
		}
		e->running[i] = true;
		pthread_setname_np(e->threads[i], names[i]);
	}
	return 0;
}

void engine_stop(struct engine *e)
{
	struct job end = {.kind = JOB_END};
	atomic_store(&e->shared.stopping, true);
	atomic_store(&e->stopping, true);
	if (e->source && e->running[THREAD_SOURCE])
		e->ops->stop(e->source);
	mailbox_post(e->jobs, &end);
	engine_wake(e);
	shared_made_room(&e->shared);
}

bool engine_join(struct engine *e, int timeout_ms)
{
	struct timespec until = clock_deadline(CLOCK_REALTIME, timeout_ms);
	bool all = true;

	for (int i = 0; i < THREADS; i++) {
		if (e->running[i] && !pthread_timedjoin_np(e->threads[i], NULL, &until))
			e->running[i] = false;
		all &= !e->running[i];
	}
	return all;
}

uint32_t engine_saving(const struct engine *e)
{
	return atomic_load(&e->saving);
}

bool engine_finished(const struct engine *e)
{
	return atomic_load(&e->shared.finished);
}

int engine_result(const struct engine *e, struct err *ret_err)
{
	if (!engine_finished(e))
		return 0;
	if (ret_err)
		*ret_err = e->result_err;
	return e->result;
}

/* What any thread may ask. */

static struct ask *ask_new(const struct query *q)
{
	size_t bytes = q->expanded ? q->nexpanded * sizeof *q->expanded : 0;
	struct ask *a = malloc(sizeof *a + bytes);
	if (!a)
		return NULL;
	atomic_init(&a->refs, 1);
	a->query = *q;
	if (bytes)
		memcpy(a->expanded, q->expanded, bytes);
	else
		a->query.nexpanded = 0;
	a->query.expanded = a->query.nexpanded ? a->expanded : NULL;
	a->query.filter[QUERY_TEXT - 1] = a->query.options[QUERY_TEXT - 1] = '\0';
	return a;
}

void ask_ref(void *ask)
{
	struct ask *a = ask;
	atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
}

void ask_unref(void *ask)
{
	struct ask *a = ask;
	if (a && atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) == 1)
		free(a);
}

void engine_ask(struct engine *e, const struct query *q)
{
	struct ask *a = ask_new(q);
	if (!a)
		return;
	slot_put(e->asked, a);
	engine_wake(e);
}

void engine_command(struct engine *e, const struct command *c)
{
	if (!mailbox_post(e->commands, c))
		engine_tell(e, NOTICE_WARN, "too many commands are waiting: this one was dropped");
	engine_wake(e);
}

static void drain_ui_fd(struct engine *e)
{
	uint64_t count;
	if (read(e->ui_fd, &count, sizeof count) < 0)
		return; /* nothing new */
}

uint32_t engine_events(const struct engine *e, struct engine_event *ret_events, uint32_t max)
{
	uint32_t n = 0, count = shared_event_count(&e->shared);

	for (uint16_t i = 0; i < count && n < max; i++) {
		const struct event_desc *d = shared_event(&e->shared, i);

		if (!d || !d->sampled)
			continue;
		ret_events[n].index = i;
		build_copy(ret_events[n++].name, sizeof ret_events->name, d->name);
	}
	return n;
}

const struct answer *engine_answer(struct engine *e)
{
	drain_ui_fd(e);
	return slot_get(e->answer);
}

bool engine_notice(struct engine *e, struct notice *ret_notice)
{
	size_t lost;

	if (mailbox_take(e->notices, ret_notice))
		return true;
	lost = mailbox_refused(e->notices);
	if (!lost)
		return false;
	ret_notice->kind = NOTICE_WARN;
	snprintf(ret_notice->text, sizeof ret_notice->text,
		 "%zu more message%s came too fast to be kept", lost, lost == 1 ? "" : "s");
	return true;
}

int engine_fd(const struct engine *e)
{
	return e->ui_fd;
}

void snap_wait_unref(struct snap_wait *w)
{
	if (atomic_fetch_sub_explicit(&w->refs, 1, memory_order_acq_rel) != 1)
		return;
	snapshot_unref(w->snapshot);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->done);
	free(w);
}

static struct snap_wait *snap_wait_new(uint64_t window_ns, uint64_t until_ns)
{
	struct snap_wait *w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	atomic_init(&w->refs, 2);
	w->window_ns = window_ns;
	w->until_ns = until_ns;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->done, &attr);
	pthread_condattr_destroy(&attr);
	return w;
}

const struct snapshot *engine_snapshot(struct engine *e, uint64_t window_ns, int timeout_ms)
{
	return engine_snapshot_until(e, window_ns, 0, timeout_ms);
}

const struct snapshot *engine_snapshot_until(struct engine *e, uint64_t window_ns,
					     uint64_t until_ns, int timeout_ms)
{
	if (!e->running[THREAD_ENGINE]) /* it ended: the profile is nobody else's */
		return engine_freeze(e, window_ns, until_ns);
	struct snap_wait *w = snap_wait_new(window_ns, until_ns);
	if (!w)
		return NULL;
	if (!mailbox_post(e->waits, &w)) {
		snap_wait_unref(w);
		snap_wait_unref(w);
		return NULL;
	}
	engine_wake(e);

	struct timespec until = clock_deadline(CLOCK_MONOTONIC, timeout_ms);
	pthread_mutex_lock(&w->lock);
	while (!w->answered && !pthread_cond_timedwait(&w->done, &w->lock, &until))
		;
	const struct snapshot *s = w->snapshot;
	w->snapshot = NULL;
	pthread_mutex_unlock(&w->lock);
	snap_wait_unref(w);
	return s;
}

struct analysis *engine_analysis(struct engine *e, enum view_kind view)
{
	return shared_analysis(&e->shared, view);
}
