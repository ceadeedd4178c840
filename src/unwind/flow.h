/*
 * flow: where the running function has its return address, told by how the code ahead returns.
 *
 * For code without CFI. What lies ahead of an instruction says more than what lies before: every
 * way out has to find the return address, whatever the function is and wherever it begins. x86-64.
 */
#ifndef ALTPTTOP_FLOW_H
#define ALTPTTOP_FLOW_H

#include "unwind/row.h"

/*
 * A row for the instruction at @code[@at], if no frame is made there yet, or any more, or ever.
 * @called: it is where a call returns to. Most callers have a frame, so only one is believed to
 * have none that goes from there straight to its own return.
 * False: there is a frame, or it cannot be told; the frame pointer is the best there is.
 */
bool flow_row(const uint8_t *code, size_t size, size_t at, bool called, struct row *ret_row);

#endif
