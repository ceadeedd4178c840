/*
 * paths: the calling-context tree of a rebuilt trace: instructions, time and calls a path. Capped
 * in nodes; what does not fit is counted to the deepest path that does.
 */
#ifndef ALTPTTOP_PATHS_H
#define ALTPTTOP_PATHS_H

#include <stdint.h>

#include "base/strbuf.h"

struct paths;

struct paths *paths_new(void);
void paths_free(struct paths *p);

uint32_t paths_child(struct paths *p, uint32_t node,
		     uint32_t func);             /* 0 is the root; made when new */
void paths_call(struct paths *p, uint32_t node); /* one more entry */
void paths_add(struct paths *p, uint32_t node, uint64_t insns, uint64_t time_ns); /* its own */

/*
 * CSV, depth first: function (names joined by "->"), depth, inclusive_ipc, self_ipc,
 * ipc_drop_from_parent, call_count. IPC cells are empty where time or @ghz is not known.
 */
void paths_csv(const struct paths *p, const char *(*name)(void *ctx, uint32_t func), void *ctx,
	       double ghz, struct strbuf *out);

#endif
