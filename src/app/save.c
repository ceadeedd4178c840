/*
 * save: writing snapshots with their names.
 *
 * save_snapshot runs on the engine's jobs thread (key `s`), the rest on the main thread. Names come
 * from the resolver thread; what is not known in time is written as module+0x….
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/filewrite.h"
#include "profile/snap.h"
#include "session.h"

#define WANT_AT_ONCE 512
#define NAMES_ONCE   16384
#define SAVE_WAIT_MS 10000

static struct {
	struct resolver *resolver;
	struct export_options exports;
} saving;

void save_setup(struct resolver *resolver, const struct export_options *exports)
{
	saving.resolver = resolver;
	saving.exports = *exports;
}

/* Each frame of @s once; *ret_n of them. NULL: no memory. */
static frame_id *frames_of(const struct snapshot *s, uint32_t *ret_n)
{
	uint32_t count = tables_frame_count(s->tables) + 1, n = 0;
	uint8_t *met = calloc(count, 1);
	frame_id *frames = malloc(count * sizeof *frames);

	for (uint32_t i = 0; met && frames && i < s->nnodes + s->nthrough; i++) {
		frame_id frame = i < s->nnodes ? s->nodes[i].frame
					       : s->through[i - s->nnodes].frame;
		if (frame >= count || met[frame])
			continue;
		met[frame] = 1;
		frames[n++] = frame;
	}
	if (!met) {
		free(frames);
		frames = NULL;
	}
	free(met);
	*ret_n = n;
	return frames;
}

/* Ask for all names of @s and wait for them; false: timed out, some will show as module+0x…. */
static bool save_names(struct resolver *resolver, const struct snapshot *s, int wait_ms)
{
	uint64_t end = clock_mono_ns() + (uint64_t)wait_ms * 1000000;
	uint32_t n = 0, i = 0;
	frame_id *frames = resolver ? frames_of(s, &n) : NULL;

	while (i < n) {
		uint32_t some = n - i < NAMES_ONCE ? n - i : NAMES_ONCE;
		uint64_t now = clock_mono_ns();
		resolver_want(resolver, frames + i, some);
		if (now >= end || !resolver_settle(resolver, (int)((end - now) / 1000000) + 1))
			break;
		i += some;
	}
	bool all = i == n && (frames || !resolver);
	if (all && resolver)
		resolver_look(resolver);
	free(frames);
	return all;
}

/* @s, or a copy of it with the frames that tail calls left out, where they are wanted. */
static const struct snapshot *with_tail_calls(struct resolver *resolver, const struct snapshot *s,
					      int wait_ms)
{
	uint64_t end = clock_mono_ns() + (uint64_t)wait_ms * 1000000;
	struct frame_pair wanted[WANT_AT_ONCE];
	uint32_t n = 0;

	if (!resolver || !s->tail_calls)
		return snapshot_ref(s);
	for (uint32_t i = 0; i <= s->nnodes; i++) {
		uint64_t now = clock_mono_ns();
		uint32_t up = i < s->nnodes ? s->nodes[i].parent : SNAPSHOT_ROOT;

		if (up != SNAPSHOT_ROOT &&
		    tables_tail_possible(s->tables, s->nodes[up].frame, s->nodes[i].frame))
			wanted[n++] = (struct frame_pair){s->nodes[up].frame, s->nodes[i].frame};
		if (!n || (n < WANT_AT_ONCE && i < s->nnodes))
			continue;
		resolver_want_tails(resolver, wanted, n);
		if (now >= end || !resolver_settle(resolver, (int)((end - now) / 1000000) + 1))
			break;
		n = 0;
	}
	const struct snapshot *with = snap_with_tail_calls(s);
	return with ? with : snapshot_ref(s);
}

int save_snapshot(const struct snapshot *s, const char *path, enum snapshot_format format,
		  bool replace, struct err *err)
{
	enum snapshot_format as = options_format((int)format, path);

	save_names(saving.resolver, s, SAVE_WAIT_MS);
	const struct snapshot *whole = with_tail_calls(saving.resolver, s, SAVE_WAIT_MS);
	int rc = export_file(whole, path, as, &saving.exports, replace, err);
	snapshot_unref(whole);
	return rc;
}

const struct snapshot *session_snapshot(struct session *s, int wait_ms, struct err *err)
{
	uint64_t tail = s->options->tail_ns, end = s->ended_ns;
	uint64_t until = tail ? (end > tail ? end - tail : 1) : 0;
	uint64_t asked = clock_mono_ns();
	const struct snapshot *snapshot = engine_snapshot_until(s->engine, 0, until, wait_ms);

	if (!snapshot && clock_mono_ns() - asked < (uint64_t)wait_ms * 1000000) {
		err_set(err, ENOMEM, "no memory to sum the profile up");
		return NULL;
	}
	if (!snapshot) {
		err_set(err, ETIMEDOUT, "the profile could not be summed up within %d s",
			wait_ms / 1000);
		return NULL;
	}
	s->until_ns = until ? until : snapshot->end_ns + 1;
	if (!save_names(s->resolver, snapshot, wait_ms))
		complain("some names were not found in time and show as addresses");
	const struct snapshot *whole = with_tail_calls(s->resolver, snapshot, wait_ms);
	snapshot_unref(snapshot);
	return whole;
}

static void add_to_file(void *ctx, const void *data, size_t len)
{
	filewrite_add(ctx, data, len);
}

/* -o FILE.csv under --pattern: the analysis. */
static int analysis_file(struct session *s, struct err *err)
{
	struct filewrite file;
	int rc = filewrite_open(&file, s->options->output, true, err);
	if (rc)
		return rc;
	rc = analysis_write(s, true, 0, &(struct export_out){.add = add_to_file, .ctx = &file},
			    err);
	if (!rc)
		return filewrite_commit(&file, err);
	filewrite_abort(&file);
	return rc;
}

int session_output(struct session *s, const struct snapshot *snapshot)
{
	const struct options *o = s->options;
	struct err err = {0};

	if (!o->output)
		return 0;
	enum snapshot_format format = options_format(o->format, o->output);
	bool analysis = format == FORMAT_CSV && session_analysis(s) != VIEW_FUNCTIONS;
	if (analysis ? analysis_file(s, &err)
		     : export_file(snapshot, o->output, format, &s->exports, true, &err)) {
		complain("%s", err.msg);
		return 1;
	}
	complain("wrote %s%s%s", o->output, *err.msg ? "; " : "", err.msg);
	return 0;
}
