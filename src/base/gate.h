/*
 * gate: keeps this program from being stopped (Ctrl-Z) while it holds a thread of somebody else.
 *
 * The timer sampler stops threads of the target for some ten microseconds; were it stopped itself
 * just then, they would stay stopped until somebody typed `fg`. So it passes through this gate
 * before it stops any, and whoever is about to stop this program closes the gate first. One thread
 * at a time may be inside. All calls are async-signal-safe.
 */
#ifndef ALTPTTOP_GATE_H
#define ALTPTTOP_GATE_H

#include <stdbool.h>

void gate_enter(void); /* waits while the gate is closed */
void gate_leave(void);
bool gate_closed(void); /* inside: somebody waits for us to leave */

/* Close, and wait until nobody is inside; false: still somebody after @timeout_ms. */
bool gate_close(int timeout_ms);
void gate_open(void);

#endif
