/*
 * shared: what the source thread tells the engine thread beside the queue of samples.
 *
 * Events and loss counters must arrive even when the queue is full, so they are published here:
 * an event's description is written once before its bit is set with release; counters only grow.
 * A recording's source waits for room in the queue; that handshake lives here too.
 */
#ifndef ALTPTTOP_SHARED_H
#define ALTPTTOP_SHARED_H

#include <stdatomic.h>

#include "base/mailbox.h"
#include "base/spsc.h"
#include "trace.h"

#define ANALYSIS_KINDS (VIEW_EDGE - VIEW_DURATION + 1)

struct shared {
	struct event_desc events[EVENT_MAX];
	_Atomic uint64_t announced; /* bit by event */
	_Atomic uint64_t loss[LOSS_KINDS];
	_Atomic uint64_t progress_done, progress_all;
	_Atomic size_t intake_bytes;  /* memory the intake holds */
	_Atomic uint32_t main_module; /* program of the first process; 0 unknown */
	_Atomic str_id executed; /* name of the process `named` since it did exec; 0: it did not */
	_Atomic str_id origin;   /* host, kernel and machine of a recording; 0 unknown */
	_Atomic uint64_t wall_start_ns, duration_ns; /* of a recording without times; 0 unknown */
	atomic_bool stopping;
	atomic_bool cancelled;
	atomic_bool finished;                  /* source->run returned */
	atomic_bool waiting;                   /* the producer waits for room */
	int room_fd;                           /* eventfd that wakes it */
	struct slot *analyses[ANALYSIS_KINDS]; /* the newest table of each trace analysis */
};

int shared_init(struct shared *s); /* -errno */
void shared_fini(struct shared *s);

void shared_announce(struct shared *s, uint16_t index, const struct event_desc *desc);
const struct event_desc *shared_event(const struct shared *s, uint16_t index); /* NULL: unknown */
uint32_t shared_event_count(const struct shared *s); /* highest announced index + 1 */

void shared_loss(struct shared *s, enum loss_kind kind, uint64_t count);

/* Producer: room for @len bytes, waiting for it as long as the engine is not stopping. NULL then.
 */
void *shared_wait_room(struct shared *s, struct spsc *ring, size_t len);
/* Consumer, after it released records: wake a waiting producer. */
void shared_made_room(struct shared *s);

/* Producer: a newer table of a trace analysis; takes the reference. */
void shared_put_analysis(struct shared *s, struct analysis *a);
/* Any thread: the newest one, with a new reference; NULL none. */
struct analysis *shared_analysis(const struct shared *s, enum view_kind view);

#endif
