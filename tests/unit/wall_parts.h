/*
 * wall_parts: a script of one thread on the wall clock: parts of so many milliseconds, in turns.
 */
#ifndef WALL_PARTS_H
#define WALL_PARTS_H

#include "engine_bed.h"

#define WALL_TURNS  100
#define WALL_FRAMES 20

struct wall_part {
	const char *frames[WALL_FRAMES]; /* innermost first */
	unsigned ms;
	uint16_t flags; /* SAMPLE_BLOCKED */
};

/* Thread 8 of process 7 goes through @n parts WALL_TURNS times. @states: the event tells who
 * waited. With @other a second thread, 9, sleeps in the function of that name all the while. */
static inline void wall_parts_play(struct script *s, const struct wall_part *parts, unsigned n,
				   bool states, const char *other)
{
	struct event_desc d = {
		.name = "wall", .unit = EVENT_NS, .sampled = true, .states = states, .set = 1};
	uint64_t now = 1000 * MS;

	s->sink->ops->event(s->sink->ctx, 1, &d);
	for (unsigned i = 0; i < WALL_TURNS * n; i++) {
		const struct wall_part *p = &parts[i % n];
		frame_id frames[WALL_FRAMES];
		struct raw_sample raw = {.time_ns = now += p->ms * MS,
					 .pid = 7,
					 .tid = 8,
					 .event = 1,
					 .flags = p->flags,
					 .weight = p->ms * MS,
					 .frames = frames};
		for (; raw.nframes < WALL_FRAMES && p->frames[raw.nframes]; raw.nframes++)
			frames[raw.nframes] = script_frame(s->tables, p->frames[raw.nframes],
							   0x1000 + 0x1000 * (i % n) +
								   0x10 * raw.nframes);
		s->sink->ops->sample(s->sink->ctx, &raw);
		if (!other)
			continue;
		frames[0] = script_frame(s->tables, other, 0x100000);
		raw.tid = 9;
		raw.flags = SAMPLE_BLOCKED;
		raw.nframes = 1;
		s->sink->ops->sample(s->sink->ctx, &raw);
	}
}

/* An engine that reads what @play plays to its end. */
static inline void wall_parts_read(struct bed *bed, void (*play)(struct script *s))
{
	static struct engine_setup setup;

	setup = (struct engine_setup){.live = false};
	*bed = (struct bed){.script = {.play = play, .ends = true}};
	bed_up(bed, &setup);
}

#endif
