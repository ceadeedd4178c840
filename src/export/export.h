/*
 * export: snapshots as files and reports, one format an ops struct.
 *
 * Reads nothing but the snapshot and its tables. Runs on the jobs thread, or on the main thread in
 * batch mode. A new format is one file that ends in its export_ops, and a row in export.c.
 */
#ifndef ALTPTTOP_EXPORT_H
#define ALTPTTOP_EXPORT_H

#include "base/strbuf.h"
#include "engine.h"
#include "err.h"
#include "snapshot.h"

/* Where bytes go. Failures of writing are kept by the receiver and told at its end. */
struct export_out {
	void (*add)(void *ctx, const void *data, size_t len);
	void *ctx;
};

struct export_options {
	double percent_limit; /* text: rows below are counted together; 0 shows all */
	uint32_t sort;        /* text, csv: enum column_id */
	const char *event; /* text, csv: shares are of this event's weights; NULL: the main one */
};

struct export_ops {
	const char *name; /* as --format says it */
	enum snapshot_format format;
	/* Write all of @s. 0 or -errno with a sentence; @out may have got a part by then. */
	int (*write)(const struct snapshot *s, const struct export_options *o,
		     const struct export_out *out, struct err *err);
	/* What of @s such a file does not hold, as a list of nouns; "" nothing. NULL: holds all. */
	void (*lacks)(const struct snapshot *s, char *ret, size_t size);
};

extern const struct export_ops export_pprof, export_folded, export_chrome, export_csv, export_text;

const struct export_ops *export_find(enum snapshot_format format); /* NULL: none */

/*
 * Into a file that appears whole or not at all. 0, and a remark in err->msg where the format does
 * not hold all of @s; -EEXIST: there, and !replace.
 */
int export_file(const struct snapshot *s, const char *path, enum snapshot_format format,
		const struct export_options *o, bool replace, struct err *err);

/* Index of the event that @o (NULL is fine) names if anything of it was counted, else of the first
 * that stacks arrive for, of the newest set that counted anything; 0 when there is none. */
uint16_t export_main_event(const struct snapshot *s, const struct export_options *o);
/* False: @event, the main one, is not that of -s, of which nothing was counted. */
bool export_has_event(const struct snapshot *s, const struct export_options *o, uint16_t event);

/* Does the cell count for its event? A counter that is sampled itself has its weight from samples;
 * what was read of it along with other samples would count twice. */
static inline bool export_counts(const struct snapshot *s, const struct snapshot_cell *c)
{
	return c->event < s->nevents &&
	       (!(c->flags & SNAPSHOT_VALUE) || !s->events[c->event].desc.sampled);
}

/* "", or that only a part of the recording is in it. */
const char *export_part(const struct snapshot *s, char ret_text[80]);

/* Pass the buffer's text on and empty it; -ENOMEM with a sentence when it had failed. */
int export_flush(const struct export_out *out, struct strbuf *b, struct err *err);

#endif
