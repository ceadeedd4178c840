/*
 * profile: everything that was sampled, ready to be asked for any window of time.
 *
 * Counters are cells by (leaf node, task, event). The open bucket gathers them; as it closes they
 * go to the history (packed, by time) and to the totals. Totals are two tables: `since` counts from
 * the mark (or from the beginning), `base` holds what came before it, so that undoing a mark loses
 * nothing. Memory is capped: a quarter each for the trie and the totals, half for the history.
 * Owned by the engine thread.
 */
#ifndef ALTPTTOP_PROFILE_H
#define ALTPTTOP_PROFILE_H

#include "profile/history.h"
#include "profile/ledger.h"
#include "profile/numbered.h"
#include "profile/through.h"
#include "profile/trie.h"
#include "sample.h"

#define PROFILE_BYTES ((size_t)256 << 20) /* default cap */

/* A path that is there already, of a sample that comes next. */
struct coming_path {
	const frame_id *frames;
	node_id node;  /* where it ends … */
	frame_id leaf; /* … but for this frame */
	uint32_t len;  /* outer frames that are there */
	bool refused;  /* for more there was no room */
};

struct profile {
	struct trie trie;
	struct history history;
	struct ledger ledger;
	struct cells open, since, base;
	struct cells leaves;  /* of since, innermost frames without a node (leaves.h) */
	uint32_t leaves_most; /* of them and of nodes */
	struct tally open_tally, since_tally, base_tally;
	uint64_t open_start_ns, open_end_ns;
	uint64_t begin_ns;  /* of the first thing that came; 0: nothing yet */
	uint64_t newest_ns; /* time of the newest thing */
	uint64_t mark_ns;   /* 0: not marked */
	size_t totals_cap;
	uint64_t overflowed_paths;      /* samples whose path had no room: they are in [overflow] */
	uint64_t overflowed;            /* cells that lost their thread or their node to the cap */
	bool starved;                   /* something was refused memory below its cap */
	uint64_t events_on_cpu;         /* bit by event: its weights are on-CPU time */
	uint64_t events_read;           /* bit by event: values of it came along with samples */
	uint8_t value_state[EVENT_MAX]; /* of the newest such value (enum value_state) */
	enum account_scope scope;
	uint16_t clock;              /* the event that is compared with accounts now */
	bool recording;              /* see profile_of_recording */
	struct through through;      /* what shortened paths of a recording went through */
	uint32_t pruned;             /* times that rare paths were shortened (prune.h) */
	uint64_t added, prune_after; /* samples; no pruning before so many */
	uint64_t lost, told_lost;    /* samples and counts that had no memory; in a tally so many */
	bool timeless;               /* samples came of which nobody knows when */
	struct numbered numbered;
	struct through_list list; /* of the path at hand */
	struct coming_path coming[TRIE_AHEAD];
	uint32_t coming_at, coming_n; /* the next of them, and how many */
};

int profile_init(struct profile *p, size_t cap_bytes); /* 0: PROFILE_BYTES; -ENOMEM */
void profile_fini(struct profile *p);
/*
 * Before the first sample: a recording comes as fast as it is taken, and is asked for whole. Its
 * trie holds a sixteenth of the cap, which can still be folded at once; when that was full, new
 * paths grow only where many samples miss the same (trie_spare). What shortened paths lack is kept
 * per function (through.h), in another sixteenth. Samples without time (SAMPLE_TIMELESS) have no
 * history: they count into the totals at once, and every window is the whole. Of them innermost
 * frames have no nodes from then on, until profile_settle. -ENOMEM.
 */
int profile_of_recording(struct profile *p, const struct tables *tables);

/* Times beyond 2^62 are cut to it; a time before the open bucket counts into that. */
void profile_add(struct profile *p, const struct sample *s, const struct sample_value *values,
		 const frame_id *frames);
/* A sample that comes next, with its frames. */
struct coming {
	const struct sample *sample;
	const frame_id *frames;
};
/* TRIE_AHEAD at most, in this order and from these places. They will be added faster. */
void profile_foresee(struct profile *p, const struct coming *coming, uint32_t n);
void profile_account(struct profile *p, const struct account *a);
void profile_loss(struct profile *p, enum loss_kind kind, uint64_t count);

/* A recording reaches over this time, whatever the times of its samples. Before the first one. */
void profile_extent(struct profile *p, uint64_t from_ns, uint64_t until_ns);

void profile_mark(struct profile *p, uint64_t now_ns); /* count from here */
void profile_unmark(struct profile *p);

size_t profile_bytes(const struct profile *p);

/* All cells are those of nodes from here on, until more is added: what walks them does it first. */
void profile_settle(const struct profile *p);
void profile_total(struct profile *p, const struct cell *c); /* more of since; for the above */

/*
 * A window of time: [from, until). `all` counts from the mark or the beginning whatever from_ns
 * says. covered_ns is the time that shares of wall time divide by.
 */
struct window {
	bool all;
	uint64_t from_ns, until_ns; /* until UINT64_MAX: everything newer */
	uint64_t covered_ns;
};

/* The last @length_ns (0: all) before @now_ns, or before @until_ns when that is not 0. */
struct window profile_window(const struct profile *p, uint64_t length_ns, uint64_t until_ns,
			     uint64_t now_ns);

/* Does what shortened paths lack belong to this window? Only to the whole of a recording. */
static inline bool profile_has_through(const struct profile *p, const struct window *w)
{
	return p->through.cells.len && w->all && w->until_ns == UINT64_MAX && !p->mark_ns;
}

/*
 * Walk the cells of a window; the same key may come several times, and sums are what counts: a cell
 * can come negated (two's complement) to take back what lies behind the window.
 *
 *	struct profile_walk w = profile_walk(p, &window);
 *	while (profile_next(&w))
 *		… w.cell, w.time_ns …
 */
struct profile_walk {
	const struct profile *p;
	struct window window;
	uint32_t stage, at;
	struct cellcode_reader reader;
	bool in_bucket, negate;
	const struct cell *cell;
	struct cell copy;
	uint64_t time_ns; /* start of the bucket, 0: from the totals */
};
struct profile_walk profile_walk(const struct profile *p, const struct window *w);
bool profile_next(struct profile_walk *w);
void profile_tally(const struct profile *p, const struct window *w, struct tally *ret_tally);

#endif
