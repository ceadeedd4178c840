/*
 * errand: what takes long and may fail, done by a thread of its own beside the resolver: asking
 * dpkg whose a file is, downloading debug files by debuginfod.
 *
 * The thread starts with the first errand. Any thread may post, cancel and look at the progress;
 * the resolver takes the results.
 */
#ifndef ALTPTTOP_ERRAND_H
#define ALTPTTOP_ERRAND_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"

enum errand_kind { ERRAND_PACKAGE, ERRAND_FETCH };

struct errand {
	enum errand_kind kind;
	module_id module;
	char path[PATH_MAX]; /* PACKAGE: the file, on this machine */
	uint8_t build_id[32];
	uint8_t build_id_size; /* FETCH */
};

struct errand_result {
	enum errand_kind kind;
	module_id module;
	bool ok;
	char text[512]; /* PACKAGE: a package's name; FETCH: where the file is, or why not */
};

/* How the download under way is doing. */
struct errand_progress {
	module_id module;   /* 0: none under way */
	uint64_t done, all; /* bytes, all 0: unknown */
	uint32_t waiting;   /* more to come */
};

struct errands;

struct errands *errands_new(void);
void errands_stop(struct errands *e); /* ask the thread to end; returns at once */
/* After errands_stop: waits up to @timeout_ms. False: still busy, and nothing may be freed. */
bool errands_free(struct errands *e, int timeout_ms);

void errands_post(struct errands *e, const struct errand *errand); /* newest first */
void errands_cancel(struct errands *e); /* the download under way and those waiting */
bool errands_result(struct errands *e, struct errand_result *ret_result);
void errands_progress(struct errands *e, struct errand_progress *ret_progress);

/* ---- the work itself ---- */

/* package.c: the installed package that holds @path, by dpkg; and its debug package's name. */
bool package_of(const char *path, char *ret_name, size_t size);

/* fetch.c: a debug file by its build id. @state is called now and then: true ends the download. */
struct fetch_state {
	_Atomic bool cancel;
	_Atomic uint64_t done, all;
};
bool fetch_debug(const uint8_t *build_id, uint8_t size, struct fetch_state *state, char *ret_text,
		 size_t text_size);

#endif
