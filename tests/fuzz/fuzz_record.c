/*
 * fuzz_record: one perf record under any layout. The first bytes choose the attr, the rest is the
 * record, as a ring or a file would hold it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "codec/perf_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sum;

static void read_all(const void *p, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		sum += ((const uint8_t *)p)[i];
}

static void read_sample(const struct record_sample *s)
{
	read_all(s->chain, s->nchain * 8);
	read_all(s->raw, s->raw_size);
	read_all(s->branches, s->nbranches * sizeof *s->branches);
	read_all(s->stack, s->stack ? s->stack_bytes : 0);
	read_all(s->aux, s->aux_size);
	for (uint64_t i = 0; i < s->read.nvalues; i++)
		sum += record_read_at(&s->read, i).value;
	if (s->stack_bytes > s->stack_asked)
		__builtin_trap();
}

static void read_side(const struct record_side *s)
{
	switch (s->header.type) {
	case RECORD_MMAP:
	case RECORD_MMAP2: read_all(s->mmap.path, strlen(s->mmap.path) + 1); break;
	case RECORD_COMM: read_all(s->comm.name, strlen(s->comm.name) + 1); break;
	case RECORD_NAMESPACES: read_all(s->namespaces.links, s->namespaces.n * 16); break;
	case RECORD_KSYMBOL: read_all(s->ksymbol.name, strlen(s->ksymbol.name) + 1); break;
	case RECORD_CGROUP: read_all(s->cgroup.path, strlen(s->cgroup.path) + 1); break;
	case RECORD_TEXT_POKE:
		read_all(s->text_poke.bytes, (uint64_t)s->text_poke.old_len + s->text_poke.new_len);
		break;
	case RECORD_CALLCHAIN_DEFERRED: read_all(s->deferred.chain, s->deferred.n * 8); break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record_layout layout = {0};
	struct record_header header;
	struct record_attr attr;
	struct {
		uint32_t type;
		uint8_t read, swap, id_all, branch;
		uint64_t regs;
	} choice;

	record_attr_parse(data, size, size & 1, &attr);
	if (size < sizeof choice + 8)
		return 0;
	memcpy(&choice, data, sizeof choice);
	layout.sample_type = choice.type;
	layout.read_format = choice.read & READS_KNOWN;
	layout.branch_type = choice.branch ? BRANCH_HW_INDEX : 0;
	layout.regs_user = layout.regs_intr = choice.regs;
	layout.sample_id_all = choice.id_all & 1;
	layout.swap = choice.swap & 1;

	/* Exactly as long as it claims and 8-byte aligned, so that a step too far is seen. */
	size_t len = size - sizeof choice;
	void *record = malloc(len);
	memcpy(record, data + sizeof choice, len);
	if (!record_header_parse(record, len, layout.swap, &header)) {
		void *exact = malloc(header.size);
		struct record_ident who;
		memcpy(exact, record, header.size);
		record_ident_parse(&layout, exact, &who);
		if (header.type == RECORD_SAMPLE) {
			struct record_sample s;
			if (!record_sample_parse(&layout, exact, &s))
				read_sample(&s);
		} else {
			struct record_side s;
			if (!record_side_parse(&layout, exact, &s))
				read_side(&s);
		}
		free(exact);
	}
	free(record);
	return 0;
}
