/*
 * mailbox: small messages from any thread to one, and one-slot exchange of counted answers.
 */
#ifndef ALTPTTOP_MAILBOX_H
#define ALTPTTOP_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>

/* A queue of fixed-size messages, bounded; posting never waits: false when full, which is counted.
 * Wakes an eventfd. */
struct mailbox;
struct mailbox *mailbox_new(size_t message_bytes, unsigned capacity);
void mailbox_free(struct mailbox *m);
bool mailbox_post(struct mailbox *m, const void *message);
bool mailbox_take(struct mailbox *m, void *ret_message); /* one consumer; false: empty */
size_t mailbox_refused(struct mailbox *m); /* messages that did not fit since this was last asked */
int mailbox_fd(const struct mailbox *m);   /* readable while messages may wait */
void mailbox_drain_fd(struct mailbox *m);  /* consumer: reset before taking */

/*
 * One slot that holds the newest of something with reference counts (an answer, a query). The slot
 * owns one reference. Any thread may put and take.
 */
struct slot;
struct slot *slot_new(void (*ref)(void *), void (*unref)(void *));
void slot_free(struct slot *s);
void slot_put(struct slot *s, void *object); /* takes the caller's reference, drops the old one */
void *slot_get(struct slot *s);              /* with a new reference; NULL empty */
void *slot_take(struct slot *s);             /* moves the slot's reference out; NULL empty */

#endif
