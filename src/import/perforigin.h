/*
 * perforigin: where a perf.data recording was made, for whoever looks for its kernel and its files.
 */
#ifndef ALTPTTOP_PERFORIGIN_H
#define ALTPTTOP_PERFORIGIN_H

#include "import/importer.h"
#include "import/perffile.h"

struct perforigin {
	struct import *im;
	const struct perffile *file;
	uint64_t kernel_text, first_sample_ns;
	char kernel_symbol[16];
	uint8_t kernel_id[20], kernel_id_size;
	bool said;
};

void perforigin_mmap(struct perforigin *o, const struct raw_mmap *m);
void perforigin_sample(struct perforigin *o, uint64_t time_ns);
void perforigin_tell(struct perforigin *o); /* what is known by now, to the sink */

#endif
