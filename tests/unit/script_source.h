/*
 * script_source: a source that delivers what a test's function tells it to, on its own thread.
 *
 * The function gets the sink and plays its part; then the source waits to be stopped, or ends when
 * `ends` is set. Helpers make named frames (resolved at once) and samples of them.
 */
#ifndef ALTPTTOP_SCRIPT_SOURCE_H
#define ALTPTTOP_SCRIPT_SOURCE_H

#include <stdatomic.h>

#include "source.h"

struct script {
	void (*play)(struct script *s);
	void *ctx;
	bool ends; /* run returns after play */
	int result;

	const struct sink *sink;
	struct tables *tables;
	struct source_status status;
	atomic_bool stopping;
	_Atomic unsigned commands;
	struct source_command last;
};

extern const struct source_ops source_script;

/* Open @s on @sink: announces "cpu-clock" as event 0. */
struct source *script_open(struct script *s, const struct sink *sink, struct tables *tables);
bool script_stopped(const struct script *s);

/* A frame of function @name in module "prog", address @addr, resolved to that function. */
frame_id script_frame(struct tables *t, const char *name, uint64_t addr);
/* The same frame with an inlined chain, innermost first: names[n - 1] holds the code. */
frame_id script_inlined(struct tables *t, const char *const *names, uint32_t n, uint64_t addr);
func_id script_func(struct tables *t, const char *name);

/* Deliver one sample: frames innermost first. */
void script_sample(struct script *s, uint64_t time_ns, pid_t pid, pid_t tid, uint64_t weight,
		   const frame_id *frames, uint32_t n);

#endif
