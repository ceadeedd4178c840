/*
 * jobs: what may take long and must hold up neither samples nor screens: files, the doctor,
 * counting calls.
 *
 * Jobs thread. It reads snapshots by reference and tells the outcome by notice. Jobs run in the
 * order in which they came; the last one ends the thread.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/altstack.h"
#include "engine/core.h"

#define NUMBERS_TRIED 100

bool jobs_save(struct engine *e, const struct job *job)
{
	atomic_fetch_add(&e->saving, 1);
	if (mailbox_post(e->jobs, job))
		return true;
	atomic_fetch_sub(&e->saving, 1);
	snapshot_unref(job->snapshot);
	engine_tell(e, NOTICE_ERROR, "still busy with the files before: not saved");
	return false;
}

/* Of a trigger's moment the next number: another profiler may have had one in this second. */
static int save_as(struct engine *e, const struct job *job, char *ret_path, size_t size,
		   struct err *err)
{
	int rc = -ENOTSUP;
	snprintf(ret_path, size, "%s", job->path);
	for (uint32_t i = 0; i < NUMBERS_TRIED; i++) {
		if (job->number)
			snprintf(ret_path, size, "%.990s-%u%.20s", job->path, job->number + i,
				 job->suffix);
		if (e->setup.save)
			rc = e->setup.save(job->snapshot, ret_path, job->format, job->replace, err);
		if (rc != -EEXIST || !job->number)
			break;
	}
	return rc;
}

static void save(struct engine *e, const struct job *job)
{
	struct err err = {0};
	char path[sizeof job->path];
	int rc = save_as(e, job, path, sizeof path, &err);
	if (rc == 0)
		engine_tell(e, NOTICE_SAVED, "%s: %s%s%s", path, job->span, *err.msg ? "; " : "",
			    err.msg);
	else if (rc == -EEXIST && !job->number)
		engine_tell(e, NOTICE_EXISTS, "%s", job->path);
	else
		engine_tell(e, NOTICE_ERROR, "%s", err.msg[0] ? err.msg : "it could not be saved");
	snapshot_unref(job->snapshot);
	atomic_fetch_sub(&e->saving, 1);
}

static void doctor(struct engine *e, const struct job *job)
{
	(void)job;
	char *text = e->setup.doctor ? e->setup.doctor(e->setup.doctor_ctx) : NULL;
	pthread_mutex_lock(&e->doctor.lock);
	free(e->doctor.text);
	e->doctor.text = text;
	atomic_store(&e->doctor.fresh, true);
	pthread_mutex_unlock(&e->doctor.lock);
	engine_wake(e);
}

void *jobs_main(void *arg)
{
	static void (*const run[])(struct engine *, const struct job *) = {
		[JOB_SAVE] = save,
		[JOB_DOCTOR] = doctor,
		[JOB_CALLS] = calls_job,
	};
	struct engine *e = arg;
	struct pollfd p = {.fd = mailbox_fd(e->jobs), .events = POLLIN};
	struct job job;

	altstack_use();
	for (;;) {
		while (mailbox_take(e->jobs, &job)) {
			if (job.kind == JOB_END)
				return NULL;
			run[job.kind](e, &job);
		}
		if (atomic_load(&e->stopping))
			return NULL;
		if (poll(&p, 1, -1) > 0)
			mailbox_drain_fd(e->jobs);
	}
}
