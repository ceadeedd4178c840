/*
 * relay: a ring of slots that pass through a fixed chain of stages, in order.
 *
 * A stage is one thread or several. The first stage takes free slots, each further one those that
 * the stage before has passed on; what the last one passes is free again. Slots are taken in the
 * order of the ring, whoever takes them, and may be held and passed in any. Who has nothing to take
 * sleeps, so that memory is bounded by the slots and the slowest stage sets the pace. Writes before
 * a pass are seen after the take.
 */
#ifndef ALTPTTOP_RELAY_H
#define ALTPTTOP_RELAY_H

#define RELAY_STAGES_MAX 4
#define RELAY_SLOTS_MAX  64

struct relay;

struct relay *relay_new(unsigned slots, unsigned stages); /* NULL: no memory */
void relay_free(struct relay *r);

/* The next slot, waiting for it. -1: all that there will be was taken, or somebody stopped. */
int relay_take(struct relay *r, unsigned stage);
void relay_pass(struct relay *r, unsigned stage, int slot); /* which the stage has taken */
void relay_end(struct relay *r, unsigned stage); /* it passes no more: the next ones may end */
void relay_stop(struct relay *r);                /* any thread: nobody takes any more */

#endif
