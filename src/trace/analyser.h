/*
 * analyser: the trace analyses (duration, cache, edge) behind one trace_sink.
 *
 * Made by src/app/ before the source is opened; everything else runs on the source thread. Its
 * results go to the sink: an analysis table, and samples, so that the ordinary screens work on
 * traces too.
 */
#ifndef ALTPTTOP_ANALYSER_H
#define ALTPTTOP_ANALYSER_H

#include "trace.h"

enum pattern { PATTERN_AUTO, PATTERN_DURATION, PATTERN_CACHE, PATTERN_EDGE };

struct analyser_options {
	enum pattern pattern;
	bool leaf, leaf_parent;    /* duration: only leaves; only spans all of whose children are
				      leaves */
	const char *filter;        /* duration: "count>=10,total>50", NULL none */
	const char *function;      /* cache: glob of functions to keep, NULL all */
	double ghz;                /* cache: clock, 0 unknown: then IPC is unknown */
	const char *maps;          /* edge: a copy of /proc/PID/maps, NULL none */
	const char *chrometracing; /* cache: file for the rebuilt stacks as B/E events, NULL none */
	const char *ipc_trending;  /* cache: file for the CSV of paths, NULL none */
	size_t span_bytes; /* duration: spans beyond this go to a temporary file; 0: 512 MiB */
};

struct analyser;

/* Checks the options (a filter's columns). -EINVAL … with a sentence. Strings are borrowed. */
int analyser_new(const struct analyser_options *options, struct tables *tables,
		 const struct sink *sink, struct analyser **ret_analyser, struct err *err);
void analyser_free(struct analyser *a);
/* At the end: a file was asked for that this recording has nothing for, -ENODATA with a sentence.
 */
int analyser_missed(const struct analyser *a, struct err *err);
const struct trace_sink *analyser_sink(struct analyser *a);

#endif
