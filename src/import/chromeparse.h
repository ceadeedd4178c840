/*
 * chromeparse: the bytes of a Chrome trace, a chunk at a time, through yajl into records.
 *
 * An event's texts point into the bytes where they lie; what lies nowhere whole (a text with
 * escapes, one that a chunk's end cuts) is copied. What an event means is asked once it is whole
 * (chromeevent.c), so that a chunk's records are taken by another thread while the next one is
 * parsed. The events that were parsed ahead (chromeahead.c) are taken as they are where they begin
 * as was supposed. Own thread; the chunks are handed over by import/chrome.c.
 */
#ifndef ALTPTTOP_CHROMEPARSE_H
#define ALTPTTOP_CHROMEPARSE_H

#include "base/arena.h"
#include "base/vec.h"
#include "import/chromeevent.h"

#define CHROME_CHUNK (512u << 10)
#define CHROME_LEAD  (16u << 10)

/* Bytes of the trace and what the events say that end in them. */
struct chrome_chunk {
	uint8_t *room;   /* CHROME_LEAD + CHROME_CHUNK bytes: what is read begins at CHROME_LEAD */
	uint8_t *data;   /* in room, or in longer: the bytes, @n of them */
	uint8_t *longer; /* malloc'ed where an event is longer than CHROME_LEAD, else NULL */
	size_t lead, n;  /* of data: bytes that come again from the chunk before; all */
	uint64_t offset; /* of the first new byte, in the unpacked stream */
	uint64_t done;   /* bytes of the file read so far */
	uint8_t *fixed;  /* what jsonfix made of the bytes, NULL nothing */
	struct {
		VEC(struct chrome_record)
	} records;

	/* Events parsed ahead: the whole ones behind the first @ahead_from new bytes, up to
	 * @ahead_to, if an event of the list ends at the former (else they go). Both 0: none. */
	struct {
		VEC(struct chrome_event)
	} ahead;
	size_t ahead_from, ahead_to;
	struct arena texts; /* theirs that do not lie in room */
};

int chrome_chunk_init(struct chrome_chunk *c);
void chrome_chunk_fini(struct chrome_chunk *c);
void chrome_chunk_clear(struct chrome_chunk *c); /* before bytes are read into it once more */

struct chrome_parser;

struct chrome_parser *chrome_parser_new(struct chrome_events *events); /* borrowed */
void chrome_parser_free(struct chrome_parser *p);

/*
 * Parse the bytes of @c, which follow those of @last (NULL: they are the first). @c->room from
 * CHROME_LEAD on holds @c->n bytes; @last is needed no more afterwards. 0; -EBADMSG: damaged at
 * chrome_parser_at, chrome_parser_why; -ENOMEM.
 */
int chrome_parser_run(struct chrome_parser *p, struct chrome_chunk *c,
		      const struct chrome_chunk *last);

uint64_t chrome_parser_at(const struct chrome_parser *p);         /* where the damage is */
const char *chrome_parser_why(const struct chrome_parser *p);     /* "" nothing is known */
bool chrome_parser_is_trace(const struct chrome_parser *p);       /* it had a list of events */
uint64_t chrome_parser_samples(const struct chrome_parser *p);    /* beside that list */
bool chrome_parser_is_lenient(const struct chrome_parser *p);     /* nothing is taken from ahead */
const char *chrome_parser_missing(const struct chrome_parser *p); /* at the end; NULL nothing */

#endif
