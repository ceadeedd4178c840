/*
 * script_source: the fake source of the engine's tests.
 *
 * play() runs on the engine's source thread like a real source's run().
 */
#include "script_source.h"

#include <string.h>
#include <time.h>

struct source *script_open(struct script *s, const struct sink *sink, struct tables *tables)
{
	s->sink = sink;
	s->tables = tables;
	strcpy(s->status.arrangement, "script");
	s->status.asked_hz = 1000;
	struct event_desc d = {.name = "cpu-clock",
			       .unit = EVENT_NS,
			       .sampled = true,
			       .cpu_time = true,
			       .freq_hz = 1000};
	sink->ops->event(sink->ctx, 0, &d);
	return (struct source *)(void *)s;
}

bool script_stopped(const struct script *s)
{
	return s->stopping;
}

static int script_run(struct source *source, struct err *err)
{
	struct script *s = (struct script *)(void *)source;
	if (s->play)
		s->play(s);
	while (!s->ends && !s->stopping)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	if (s->result)
		return err_set(err, -s->result, "the script failed");
	return 0;
}

static void script_stop(struct source *source)
{
	struct script *s = (struct script *)(void *)source;
	s->stopping = true;
}

static int script_command(struct source *source, const struct source_command *command)
{
	struct script *s = (struct script *)(void *)source;
	s->last = *command;
	s->commands++;
	return 0;
}

static void script_close(struct source *source)
{
	(void)source;
}

static const struct source_status *script_status(const struct source *source)
{
	const struct script *s = (const struct script *)(const void *)source;
	return &s->status;
}

const struct source_ops source_script = {
	.name = "script",
	.run = script_run,
	.stop = script_stop,
	.command = script_command,
	.close = script_close,
	.status = script_status,
};

static module_id script_module(struct tables *t)
{
	return tables_module(t, &(struct module){.kind = MODULE_FILE,
						 .path = tables_str(t, "/bin/prog"),
						 .name = tables_str(t, "prog"),
						 .inode = 7});
}

func_id script_func(struct tables *t, const char *name)
{
	str_id text = tables_str(t, name);
	return tables_func(t, &(struct func){.module = script_module(t),
					     .raw = text,
					     .name = text,
					     .shown = text,
					     .flags = FUNC_INLINE});
}

frame_id script_inlined(struct tables *t, const char *const *names, uint32_t n, uint64_t addr)
{
	struct loc_line lines[16];
	frame_id frame = tables_frame(
		t,
		&(struct frame){.module = script_module(t), .addr = addr, .flags = FRAME_RETURN});
	for (uint32_t i = 0; i < n; i++)
		lines[i] = (struct loc_line){.func = script_func(t, names[i]),
					     .file = tables_str(t, "prog.c"),
					     .line = 10 + (uint32_t)(addr & 0xff) + i};
	tables_resolve(t, frame, lines, n);
	return frame;
}

frame_id script_frame(struct tables *t, const char *name, uint64_t addr)
{
	return script_inlined(t, &name, 1, addr);
}

void script_sample(struct script *s, uint64_t time_ns, pid_t pid, pid_t tid, uint64_t weight,
		   const frame_id *frames, uint32_t n)
{
	struct raw_sample raw = {.time_ns = time_ns,
				 .pid = pid,
				 .tid = tid,
				 .weight = weight,
				 .frames = frames,
				 .nframes = n};
	s->sink->ops->sample(s->sink->ctx, &raw);
}
