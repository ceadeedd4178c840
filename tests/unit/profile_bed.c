/*
 * profile_bed: shared by the tests of folding.
 */
#include "profile_bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "profile_bed: %s\n", what);
	abort();
}

void pbed_up(struct profile_bed *b)
{
	memset(b, 0, sizeof *b);
	b->t = tables_new();
	must(b->t && !profile_init(&b->p, 0), "no memory");
	b->p.events_on_cpu = 1;
	b->now_ns = BED_NS;
}

void pbed_down(struct profile_bed *b)
{
	flat_fini(&b->flat);
	profile_fini(&b->p);
	tables_free(b->t);
}

frame_id pbed_frame(struct profile_bed *b, const char *name)
{
	char copy[256];
	const char *names[8];
	uint32_t n = 0;
	if (strcmp(name, "[truncated]") == 0)
		return FRAME_TRUNCATED;
	snprintf(copy, sizeof copy, "%s", name);
	for (char *at = copy, *part; (part = strsep(&at, "<"));)
		names[n++] = part;
	return script_inlined(b->t, names, n, 0x1000 + (hash_bytes(name, strlen(name)) & 0xffff));
}

void pbed_add(struct profile_bed *b, task_id task, const char *path, unsigned count,
	      uint64_t weight)
{
	char copy[512];
	frame_id outermost_first[64], frames[64];
	uint32_t n = 0;
	snprintf(copy, sizeof copy, "%s", path);
	for (char *at = copy, *part; (part = strsep(&at, ">"));)
		outermost_first[n++] = pbed_frame(b, part);
	for (uint32_t i = 0; i < n; i++)
		frames[i] = outermost_first[n - 1 - i];
	struct sample s = {.weight = weight, .hits = 1, .task = task, .nframes = (uint16_t)n};
	for (unsigned i = 0; i < count; i++) {
		s.time_ns = b->now_ns;
		b->now_ns += 1000000;
		profile_add(&b->p, &s, NULL, frames);
	}
}

struct window pbed_all(const struct profile_bed *b)
{
	return profile_window(&b->p, 0, 0, b->p.newest_ns);
}

void pbed_flat(struct profile_bed *b, uint32_t flags, task_id task)
{
	struct fold_query q = {.window = pbed_all(b), .flags = flags, .task = task};
	must(!flat_build(&b->flat, &b->p, b->t, &q), "no flat");
}
