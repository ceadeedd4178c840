/*
 * counting_sink: a sink for tests of sources: counts what arrives, keeps stacks as folded text and
 * analyses.
 */
#ifndef ALTPTTOP_COUNTING_SINK_H
#define ALTPTTOP_COUNTING_SINK_H

#include "base/strbuf.h"
#include "source.h"
#include "trace.h"
#include "trace/analyser.h"

#define COUNTING_ANALYSES 4

struct counting {
	struct sink sink;
	struct tables *tables;
	struct strbuf folded; /* "a;b;c WEIGHT\n" a sample, outermost first */
	struct strbuf said;   /* sentences, one a line */
	struct strbuf comms;  /* "pid/tid name\n" */
	uint64_t samples, hits, weight, mmaps, forks, comm_records, exits, ksymbols,
		loss[LOSS_KINDS];
	uint64_t values[EVENT_MAX]; /* Σ of what rode along */
	struct event_desc events[EVENT_MAX];
	uint16_t nevents;
	uint64_t last_time_ns, backwards;
	struct analysis *analyses[COUNTING_ANALYSES];
	unsigned nanalyses;
	uint64_t stop_after; /* progress says no after so many calls; 0: never */
	uint64_t progress_calls;
	/* Called with each, besides; NULL: not. */
	void (*each_sample)(struct counting *c, const struct raw_sample *s);
	void (*each_mmap)(struct counting *c, const struct raw_mmap *m);
	void *each_ctx;
	uint64_t origins, kernel_text;
	bool same_boot;
	uint8_t kernel_build_id_size;
	char release[96], host[96];
	uint64_t wall_start_ns, duration_ns;
	uint64_t extents, extent_from_ns, extent_ns; /* how often it was told; the last one */
	uint64_t kernel_weight, accounted; /* innermost frame in the kernel; SAMPLE_ACCOUNTED */
	uint64_t waiting, waiting_hits;    /* SAMPLE_BLOCKED */
	double squares, waiting_squares;   /* Σ weight², as told; of all, and of these */
};

void counting_init(struct counting *c);
void counting_fini(struct counting *c);

/* Read the file @path as a recording, analysed by @options (NULL: no analysis). What run() or
 * open() returned. */
int counting_read(struct counting *c, const char *path, const struct analyser_options *options,
		  struct err *err);
/* The same of @text, through a temporary file. */
int counting_text(struct counting *c, const char *text, size_t len,
		  const struct analyser_options *options, struct err *err);

/* A row of an analysis by name, -1 none; a cell by its column's title. */
int counting_row(const struct analysis *a, const struct tables *t, const char *name);
double counting_cell(const struct analysis *a, int row, const char *title);

/* Does the corpus lie beside the checkout? Says why not, for skip(). */
bool counting_corpus(void);

#endif
