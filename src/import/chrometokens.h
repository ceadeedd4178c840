/*
 * chrometokens: yajl's tokens of a Chrome trace as events: which list holds them, where each begins
 * and ends, and where the texts of its keys lie.
 *
 * The texts point into the bytes that are fed, as long as they lie there whole; what does not (a
 * text with escapes, one that is fed in two pieces) is copied into an arena. Own thread.
 */
#ifndef ALTPTTOP_CHROMETOKENS_H
#define ALTPTTOP_CHROMETOKENS_H

#include <setjmp.h>
#include <yajl/yajl_parse.h>

#include "base/arena.h"
#include "import/chromeevent.h"

#define CHROME_DEPTH_MOST 65536

struct chrome_tokens {
	/* An event is whole; its texts stay until what they lie in goes. Not 0: what rc says. */
	int (*whole)(void *ctx, const struct chrome_event *event);
	void *ctx;
	struct arena *texts; /* of copies; its owner empties it */
	int depth_most;      /* of brackets; more is an error */
	bool one_list;       /* the end of a list of events is an error, too */

	/* What is fed: @lo + @len are bytes that stay, @fed_at the place of those fed now. */
	const char *lo;
	size_t len, fed_at;

	yajl_handle yajl;
	struct chrome_event event; /* that is being read, if any */
	bool in_event;
	int next;               /* which of its texts the next value is */
	int depth, event_depth; /* event_depth: that of an event's braces, 0 not among them */
	bool root_is_map, key_is_events, key_is_args, key_is_samples, seen_events;
	uint64_t samples;   /* of a sampling profiler, in a list of their own beside the events */
	size_t event_start; /* place of the current event's brace */
	size_t event_end;   /* and behind the last whole event, or what the list begins with */
	bool start_lost; /* the current event's beginning is gone, or what follows the last one */
	const char *why; /* what is wrong, NULL: it is no JSON */
	int rc;          /* -ENOMEM, or what whole() said */
	jmp_buf no_memory;
};

bool chrome_tokens_begin(struct chrome_tokens *t); /* before the first byte; false: no memory */
void chrome_tokens_fini(struct chrome_tokens *t);

/* False: yajl stops, whole() did, or rc or why say it. */
bool chrome_tokens_feed(struct chrome_tokens *t, const uint8_t *data, size_t n);

size_t chrome_tokens_here(const struct chrome_tokens *t); /* the place behind what was parsed */

/* Keep those of the current event's texts that lie in the bytes at hand, which go. False: rc. */
bool chrome_tokens_keep(struct chrome_tokens *t);

#endif
