/*
 * spanpair: begin and end events in any order → complete spans, in bounded memory. As long as they
 * are in order and each end is that of the innermost begin, the sink hears of them at once.
 *
 * An end closes the innermost open begin of its thread with its name, or the innermost of all when
 * it has no name; one that matches none is counted. A begin without end closes at its thread's last
 * time.
 */
#ifndef ALTPTTOP_SPANPAIR_H
#define ALTPTTOP_SPANPAIR_H

#include "trace.h"

struct spanpair;

struct spanpair *spanpair_new(const struct trace_sink *trace); /* borrowed */
void spanpair_free(struct spanpair *p);

int spanpair_begin(struct spanpair *p, uint32_t thread, int64_t ts_ns, str_id name);
int spanpair_end(struct spanpair *p, uint32_t thread, int64_t ts_ns,
		 str_id name); /* name 0: none given */
int spanpair_seen(struct spanpair *p, uint32_t thread,
		  int64_t ts_ns); /* the thread lived at this time */

/* Deliver all spans that the sink did not make of the edges. 0 or -errno. */
int spanpair_finish(struct spanpair *p);
uint64_t spanpair_unopened(const struct spanpair *p);
uint64_t spanpair_unclosed(const struct spanpair *p);

#endif
