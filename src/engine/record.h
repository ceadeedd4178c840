/*
 * record: what travels the queue from the source thread to the engine thread.
 *
 * A record is a struct record_head and its payload: RECORD_SAMPLE a struct sample with its values
 * and frames behind it, RECORD_ACCOUNT a struct account, RECORD_COUNT a struct raw_count,
 * RECORD_EXTENT a struct extent.
 */
#ifndef ALTPTTOP_RECORD_H
#define ALTPTTOP_RECORD_H

#include "profile/ledger.h"
#include "sample.h"

enum record_kind { RECORD_SAMPLE, RECORD_ACCOUNT, RECORD_COUNT, RECORD_EXTENT };

struct extent { /* of a recording */
	uint64_t from_ns, until_ns;
};

struct record_head {
	uint32_t kind;  /* enum record_kind */
	uint32_t bytes; /* payload */
};

static inline const struct sample_value *sample_values(const struct sample *s)
{
	return (const struct sample_value *)(const void *)(s + 1);
}
static inline const frame_id *sample_frames(const struct sample *s)
{
	return (const frame_id *)(const void *)(sample_values(s) + s->nvalues);
}
static inline size_t sample_bytes(uint32_t nvalues, uint32_t nframes)
{
	return sizeof(struct sample) + nvalues * sizeof(struct sample_value) +
	       nframes * sizeof(frame_id);
}

#endif
