/*
 * errand: a short list of things to do, a thread that does them, and a list of what came out.
 *
 * One mutex covers both lists: this is a channel between threads. A download looks at an atomic
 * flag many times a second, so that stopping never waits for a server.
 */
#include "errand.h"
#include "base/altstack.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define WAITING_MAX 256
#define RESULTS_MAX 256

struct errands {
	pthread_mutex_t lock;
	pthread_cond_t some;
	pthread_t thread;
	bool started, stop;
	struct errand *waiting[WAITING_MAX]; /* newest last */
	unsigned nwaiting;
	struct errand_result *results[RESULTS_MAX];
	unsigned nresults;
	module_id fetching;
	struct fetch_state fetch;
};

struct errands *errands_new(void)
{
	struct errands *e = calloc(1, sizeof *e);

	if (!e)
		return NULL;
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->some, NULL);
	return e;
}

/* With the lock held. */
static void drop_waiting(struct errands *e, bool all)
{
	unsigned left = 0;

	for (unsigned i = 0; i < e->nwaiting; i++)
		if (all || e->waiting[i]->kind == ERRAND_FETCH)
			free(e->waiting[i]);
		else
			e->waiting[left++] = e->waiting[i];
	e->nwaiting = left;
}

void errands_stop(struct errands *e)
{
	pthread_mutex_lock(&e->lock);
	e->stop = true;
	atomic_store_explicit(&e->fetch.cancel, true, memory_order_relaxed);
	drop_waiting(e, true);
	pthread_cond_broadcast(&e->some);
	pthread_mutex_unlock(&e->lock);
}

bool errands_free(struct errands *e, int timeout_ms)
{
	struct timespec until;

	if (!e)
		return true;
	errands_stop(e);
	until = clock_deadline(CLOCK_REALTIME, timeout_ms);
	if (e->started && pthread_timedjoin_np(e->thread, NULL, &until))
		return false;
	for (unsigned i = 0; i < e->nresults; i++)
		free(e->results[i]);
	pthread_mutex_destroy(&e->lock);
	pthread_cond_destroy(&e->some);
	free(e);
	return true;
}

static void run(struct errands *e, const struct errand *errand, struct errand_result *to)
{
	char package[128];

	to->kind = errand->kind;
	to->module = errand->module;
	if (errand->kind == ERRAND_FETCH) {
		to->ok = fetch_debug(errand->build_id, errand->build_id_size, &e->fetch, to->text,
				     sizeof to->text);
		return;
	}
	to->ok = package_of(errand->path, package, sizeof package);
	if (to->ok)
		strcpy(to->text, package);
}

static void *errands_main(void *arg)
{
	struct errands *e = arg;

	altstack_use();
	pthread_mutex_lock(&e->lock);
	while (!e->stop) {
		struct errand_result *result;
		struct errand *errand;

		if (!e->nwaiting) {
			pthread_cond_wait(&e->some, &e->lock);
			continue;
		}
		errand = e->waiting[--e->nwaiting];
		e->fetching = errand->kind == ERRAND_FETCH ? errand->module : 0;
		atomic_store_explicit(&e->fetch.cancel, false, memory_order_relaxed);
		atomic_store_explicit(&e->fetch.done, 0, memory_order_relaxed);
		atomic_store_explicit(&e->fetch.all, 0, memory_order_relaxed);
		pthread_mutex_unlock(&e->lock);
		result = calloc(1, sizeof *result);
		if (result)
			run(e, errand, result);
		free(errand);
		pthread_mutex_lock(&e->lock);
		e->fetching = 0;
		if (result && e->nresults < RESULTS_MAX)
			e->results[e->nresults++] = result;
		else
			free(result);
	}
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

void errands_post(struct errands *e, const struct errand *errand)
{
	struct errand *copy = malloc(sizeof *copy);

	if (!copy)
		return;
	*copy = *errand;
	pthread_mutex_lock(&e->lock);
	if (!e->started && !e->stop)
		e->started = !pthread_create(&e->thread, NULL, errands_main, e);
	if (e->started && !e->stop && e->nwaiting < WAITING_MAX) {
		e->waiting[e->nwaiting++] = copy;
		copy = NULL;
	}
	pthread_cond_signal(&e->some);
	pthread_mutex_unlock(&e->lock);
	free(copy);
}

void errands_cancel(struct errands *e)
{
	pthread_mutex_lock(&e->lock);
	drop_waiting(e, false);
	if (e->fetching)
		atomic_store_explicit(&e->fetch.cancel, true, memory_order_relaxed);
	pthread_mutex_unlock(&e->lock);
}

bool errands_result(struct errands *e, struct errand_result *ret_result)
{
	struct errand_result *r = NULL;

	pthread_mutex_lock(&e->lock);
	if (e->nresults) {
		r = e->results[0];
		memmove(e->results, e->results + 1, --e->nresults * sizeof *e->results);
	}
	pthread_mutex_unlock(&e->lock);
	if (!r)
		return false;
	*ret_result = *r;
	free(r);
	return true;
}

void errands_progress(struct errands *e, struct errand_progress *ret_progress)
{
	pthread_mutex_lock(&e->lock);
	*ret_progress = (struct errand_progress){
		.module = e->fetching,
		.done = atomic_load_explicit(&e->fetch.done, memory_order_relaxed),
		.all = atomic_load_explicit(&e->fetch.all, memory_order_relaxed),
	};
	for (unsigned i = 0; i < e->nwaiting; i++)
		ret_progress->waiting += e->waiting[i]->kind == ERRAND_FETCH;
	pthread_mutex_unlock(&e->lock);
}
