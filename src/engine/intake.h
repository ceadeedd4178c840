/*
 * intake: the sink that sources deliver to: lives, mappings, unwinding, the queue.
 *
 * Every function runs on the source's thread (or before that starts). What it makes of an
 * observation is a finished sample in the queue; what the queue cannot take is dropped and counted,
 * save from recordings, whose source waits.
 */
#ifndef ALTPTTOP_INTAKE_H
#define ALTPTTOP_INTAKE_H

#include "engine/lives.h"
#include "engine/shared.h"

struct intake_config {
	struct tables *tables;
	struct shared *shared;
	struct spsc *ring;
	void (*say)(void *ctx, const char *sentence); /* on the source thread */
	void *say_ctx;
	struct resolver *resolver; /* told where a recording was made; may be NULL */
	const char *symfs;
	bool live;
	bool stitch;
	pid_t named; /* whose name is told again when it executes another program; 0 none */
	uint32_t max_frames;
};

struct intake;

struct intake *intake_new(const struct intake_config *config); /* NULL: no memory */
void intake_free(struct intake *in);
const struct sink *intake_sink(struct intake *in);

#endif
