/*
 * loop: the engine thread: drain the queue, obey commands, answer in time.
 *
 * It sleeps in poll until a sample, a command, output or the next answer is due. After a drain the
 * queue is left alone for a moment, so that a busy target wakes it a hundred times a second and not
 * ten thousand. Folding keeps to a fifth of a core: an answer that cost c is not followed by the
 * next before 5c have passed.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/altstack.h"
#include "base/clock.h"
#include "base/plain.h"
#include "engine/core.h"

#define MS              1000000ull
#define REST_NS         (10 * MS)  /* between two drains */
#define REST_FILE_NS    (2 * MS)   /* likewise, of a recording: its source must not wait for room */
#define DRAIN_NS        (20 * MS)  /* of draining before commands and answers get a look */
#define EARLY_NS        (100 * MS) /* between answers in the first second */
#define NAMES_NS        (50 * MS)  /* before an answer that only brings names */
#define NAMES_FAR_NS    (1000 * MS) /* likewise, to rows that are not on screen */
#define FIRST_SECOND_NS (1000 * MS)
#define SHARE           5 /* folding takes at most 1/SHARE of the time */
#define IDLE_NS         (1000 * MS)

void engine_wake(struct engine *e)
{
	uint64_t one = 1;
	if (write(e->wake_fd, &one, sizeof one) < 0)
		return; /* a full counter is readable already */
}

static void wake_ui(struct engine *e)
{
	uint64_t one = 1;
	if (write(e->ui_fd, &one, sizeof one) < 0)
		return;
}

void engine_tell(struct engine *e, enum notice_kind kind, const char *fmt, ...)
{
	struct notice n = {.kind = kind};
	va_list args;
	va_start(args, fmt);
	vsnprintf(n.text, sizeof n.text, fmt, args);
	va_end(args);
	plain_in_place(n.text, sizeof n.text);
	mailbox_post(e->notices, &n);
	wake_ui(e);
}

uint64_t engine_now(const struct engine *e)
{
	if (!e->setup.live)
		return e->profile.newest_ns;
	return e->said_finished ? e->ended_ns : clock_mono_ns();
}

struct window engine_window(const struct engine *e, uint64_t length_ns, uint64_t until_ns)
{
	const struct profile *p = &e->profile;
	struct window w = profile_window(p, length_ns, until_ns, engine_now(e));

	if (!e->setup.live && p->newest_ns <= p->begin_ns && !p->mark_ns && !w.covered_ns)
		w.covered_ns = atomic_load(&e->shared.duration_ns);
	return w;
}

static void take_question(struct engine *e)
{
	struct ask *a = slot_take(e->asked);
	if (!a)
		return;
	ask_unref(e->ask);
	e->ask = a;
	e->pace.answered = false;
}

static void take_end(struct engine *e)
{
	if (e->said_finished || !atomic_load(&e->shared.finished))
		return;
	size_t len;
	if (spsc_peek(e->ring, &len))
		return; /* first what it delivered */
	e->said_finished = true;
	e->ended_ns = clock_mono_ns();
	e->dirty = true;
	triggers_flush(e);
	if (e->result < 0)
		engine_tell(e, NOTICE_ERROR, "%s", e->result_err.msg);
	engine_tell(e, NOTICE_FINISHED, "%s",
		    e->setup.live ? "the target has ended; its profile stays"
				  : "the recording is read");
}

/* Is there anything a new answer would say that the last did not? */
static bool something_changed(const struct engine *e)
{
	bool moving = e->setup.live && !e->said_finished;
	return moving || e->dirty || e->pace.unread || atomic_load(&e->doctor.fresh) ||
	       tables_generation(e->tables) != e->pace.generation;
}

/* When the next answer is due; UINT64_MAX: not before something happens. */
static uint64_t due_ns(const struct engine *e, uint64_t now_ns)
{
	const struct pace *p = &e->pace;
	if (!e->ask)
		return UINT64_MAX;
	if (!p->answered) { /* a new question: at most half the time goes to them */
		uint64_t after = p->start_ns + 2 * p->cost_ns;
		return after > now_ns ? after : now_ns;
	}
	uint64_t step = e->interval_ms * MS;
	if (p->start_ns - p->first_ns < FIRST_SECOND_NS && step > EARLY_NS)
		step = EARLY_NS;
	bool named = tables_generation(e->tables) != p->generation;
	if (((named && p->unresolved) || p->unread) && step > NAMES_NS)
		step = NAMES_NS;
	else if (named && p->nameless && step > NAMES_FAR_NS)
		step = NAMES_FAR_NS;
	if (step < SHARE * p->cost_ns)
		step = SHARE * p->cost_ns;
	return p->start_ns + step;
}

static void answer_if_due(struct engine *e)
{
	uint64_t now = clock_mono_ns();
	if (due_ns(e, now) > now)
		return;
	if (e->pace.answered && !something_changed(e)) {
		e->pace.start_ns = now; /* look again at the next step */
		return;
	}
	uint64_t cpu = clock_thread_cpu_ns();
	struct pace next = {.start_ns = now,
			    .first_ns = e->pace.first_ns ? e->pace.first_ns : now,
			    .generation = tables_generation(e->tables),
			    .answered = true};
	e->pace.unresolved = e->pace.nameless = e->pace.unread = false;
	e->dirty = false;
	atomic_store(&e->doctor.fresh, false);
	engine_publish(e, now);
	next.unresolved = e->pace.unresolved;
	next.nameless = e->pace.nameless;
	next.unread = e->pace.unread;
	next.cost_ns = clock_thread_cpu_ns() - cpu;
	e->pace = next;
	wake_ui(e);
}

static void wait_for_more(struct engine *e, bool armed)
{
	uint64_t now = clock_mono_ns();
	uint64_t until = due_ns(e, now), look = triggers_due_ns(e);
	if (until > look)
		until = look;
	if (until > now + IDLE_NS)
		until = now + IDLE_NS;
	if (!armed && until > e->rest_until_ns)
		until = e->rest_until_ns;
	uint64_t wait = until > now ? until - now : 0;
	struct timespec timeout = {.tv_sec = (time_t)(wait / 1000000000),
				   .tv_nsec = (long)(wait % 1000000000)};
	bool reads = e->setup.output_fd >= 0 && !e->output.closed;
	struct pollfd fds[] = {
		{.fd = e->wake_fd, .events = POLLIN},
		{.fd = reads ? e->setup.output_fd : -1, .events = POLLIN},
		{.fd = armed ? spsc_fd(e->ring) : -1, .events = POLLIN},
	};
	if (ppoll(fds, sizeof fds / sizeof *fds, &timeout, NULL) <= 0)
		return;
	uint64_t count;
	if (fds[0].revents && read(e->wake_fd, &count, sizeof count) < 0)
		return;
	if (fds[1].revents) {
		output_read(&e->output, e->setup.output_fd);
		e->dirty = true;
	}
}

void *engine_main(void *arg)
{
	struct engine *e = arg;

	altstack_use();
	while (!atomic_load(&e->stopping)) {
		engine_obey(e);
		take_question(e);
		bool more = false;
		uint64_t now = clock_mono_ns();
		bool resting = now < e->rest_until_ns && !atomic_load(&e->shared.finished);
		if (!resting) {
			bool had = spsc_used(e->ring) > 0;
			more = engine_drain(e, DRAIN_NS);
			now = e->setup.live ? now : clock_mono_ns();
			e->rest_until_ns = !had            ? 0
					   : e->setup.live ? now + REST_NS
					   : more          ? 0
							   : now + REST_FILE_NS;
		}
		take_end(e);
		engine_serve_waits(e);
		triggers_look(e, clock_mono_ns());
		answer_if_due(e);
		if (more)
			continue;
		bool armed = !e->rest_until_ns;
		if (armed)
			spsc_arm(e->ring);
		wait_for_more(e, armed);
	}
	return NULL;
}
