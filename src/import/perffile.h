/*
 * perffile: the frame of a perf.data file: header, attributes with their ids, feature sections, and
 * the records of its data section one by one, in file mode and in pipe mode.
 *
 * Layout: tools/perf/Documentation/perf.data-file-format.txt of the Linux source. Every offset and
 * length is checked against the file; a damaged feature section is left out, damaged data ends the
 * reading.
 */
#ifndef ALTPTTOP_PERFFILE_H
#define ALTPTTOP_PERFFILE_H

#include "base/hash.h"
#include "base/vec.h"
#include "codec/perf_record.h"
#include "codec/stream.h"
#include "event.h"
#include "sample.h"

/* Record types that perf itself writes. */
enum perffile_type {
	PERFFILE_HEADER_ATTR = 64,
	PERFFILE_TRACING_DATA = 66,
	PERFFILE_BUILD_ID = 67,
	PERFFILE_FINISHED_ROUND = 68,
	PERFFILE_AUXTRACE_INFO = 70,
	PERFFILE_AUXTRACE = 71,
	PERFFILE_EVENT_UPDATE = 78,
	PERFFILE_HEADER_FEATURE = 80,
	PERFFILE_COMPRESSED = 81,
	PERFFILE_COMPRESSED2 = 83,
};

struct perffile_attr {
	struct record_attr attr;
	char name[96];
};

struct perffile_build_id {
	bool kernel;
	uint8_t id[20];
	uint8_t id_size;
	char path[256];
};

struct perffile {
	struct stream *in;
	bool pipe, swap;
	int fd;             /* file mode */
	uint64_t size;      /* of the file, file mode */
	bool cut, data_cut; /* file mode: of the features, of the records some are missing */
	bool unclosed;      /* file mode: the writer never came to its end */
	bool parted;        /* file mode: threads wrote what they recorded to files beside it */
	unsigned part;      /* of these the next one */
	int part_fd;        /* the one that is read, -1 none */
	uint64_t data_at, data_end; /* file mode: where the next record is, where records end */
	struct {
		VEC(struct perffile_attr)
	} attrs;
	struct map64 attr_of; /* event id → index in attrs */
	struct {
		VEC(struct perffile_build_id)
	} build_ids;
	struct map64 build_id_of; /* hash of path and kernel → index in build_ids */
	char host[64], release[96], arch_name[32], command[256], cpu[128];
	uint64_t first_ns, last_ns; /* times of the first and last sample, 0 unknown */
	enum arch arch;
	uint8_t *window; /* file mode: read ahead */
	uint64_t window_at;
	size_t window_len;
};

bool perffile_recognise(const uint8_t *head, size_t n);

/* Read header, attributes and features (in pipe mode they come as records). -EBADMSG with a
 * sentence. */
int perffile_open(struct perffile *f, struct stream *in, struct err *err);
void perffile_close(struct perffile *f);

/*
 * The next @n bytes of the data section into @buf; returns how many there were. For records and for
 * the payload that follows some of them.
 */
size_t perffile_read(struct perffile *f, void *buf, size_t n);
/* Go on with the next of the files beside it (@parted). False: there is none. */
bool perffile_next_part(struct perffile *f);
uint64_t perffile_offset(const struct perffile *f); /* where reading stands, for sentences */

/* Records that describe the file itself, as pipe mode has them: ATTR, EVENT_UPDATE, FEATURE,
 * BUILD_ID. */
void perffile_describe(struct perffile *f, const uint8_t *record, const struct record_header *h);

/* What the file tells of the program at @path, good until the next record; NULL nothing. */
const struct perffile_build_id *perffile_build_id(const struct perffile *f, const char *path,
						  bool kernel);

uint64_t perffile_u64(const struct perffile *f, const void *p);
uint32_t perffile_u32(const struct perffile *f, const void *p);

/* A name for an attribute that the file does not name. */
void perffile_event_name(const struct record_attr *a, char *ret_name, size_t size);

#endif
