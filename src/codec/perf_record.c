/*
 * perf_record: PERF_RECORD_SAMPLE and what all records share, from bytes to fields.
 *
 * Pure functions on the caller's bytes, any thread. The other record types are in perf_side.c,
 * attrs in perf_attr.c. What the fields mean for a profile is left to sample/ and import/.
 */
#include "codec/perf_record.h"

#include <errno.h>

#include "codec/perf_cursor.h"

#define IDENT_FIELDS \
	(FIELD_TID | FIELD_TIME | FIELD_ID | FIELD_STREAM_ID | FIELD_CPU | FIELD_IDENTIFIER)

/* Markers inside a callchain: PERF_CONTEXT_*. */
#define CONTEXT_HV            ((uint64_t)-32)
#define CONTEXT_KERNEL        ((uint64_t)-128)
#define CONTEXT_USER          ((uint64_t)-512)
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)
#define CONTEXT_GUEST         ((uint64_t)-2048)
#define CONTEXT_GUEST_USER    ((uint64_t)-2560)
#define CONTEXT_MAX           ((uint64_t)-4095)

struct cursor record_cursor(const void *record, bool swap)
{
	const struct record_header *h = record;
	struct cursor c = {.at = (uint8_t *)record, .swap = swap};

	c.end = c.at + (swap ? bswap_16(h->size) : h->size);
	cursor_take(&c, sizeof *h);
	return c;
}

int record_header_parse(const void *bytes, size_t available, bool swap,
			struct record_header *ret_header)
{
	struct record_header h;

	if (available < sizeof h || ((uintptr_t)bytes & 7))
		return -EBADMSG;
	memcpy(&h, bytes, sizeof h);
	if (swap) {
		h.type = bswap_32(h.type);
		h.misc = bswap_16(h.misc);
		h.size = bswap_16(h.size);
	}
	if (h.size < sizeof h || h.size > available)
		return -EBADMSG;
	*ret_header = h;
	return 0;
}

static unsigned read_words(uint64_t format)
{
	return 1 + !!(format & READ_ID) + !!(format & READ_LOST);
}

void cursor_read(struct cursor *c, uint64_t format, struct record_read *r)
{
	memset(r, 0, sizeof *r);
	r->format = format;
	r->nvalues = 1;
	if (format & READ_GROUP) {
		r->nvalues = cursor_u64(c);
		if (format & READ_TIME_ENABLED)
			r->enabled_ns = cursor_u64(c);
		if (format & READ_TIME_RUNNING)
			r->running_ns = cursor_u64(c);
		if (r->nvalues > UINT16_MAX)
			c->bad = true;
		else
			r->values = cursor_words(c, r->nvalues * read_words(format));
		return;
	}
	/* A lone counter has its times between value and id: record_read_at steps over them. */
	r->values = cursor_words(c, 1);
	if (format & READ_TIME_ENABLED)
		r->enabled_ns = cursor_u64(c);
	if (format & READ_TIME_RUNNING)
		r->running_ns = cursor_u64(c);
	cursor_words(c, read_words(format) - 1);
}

struct record_read_value record_read_at(const struct record_read *r, uint64_t i)
{
	struct record_read_value v = {0};
	const uint64_t *w;

	if (i >= r->nvalues || !r->values)
		return v;
	w = r->values + i * read_words(r->format);
	v.value = *w++;
	if (!(r->format & READ_GROUP))
		w += !!(r->format & READ_TIME_ENABLED) + !!(r->format & READ_TIME_RUNNING);
	if (r->format & READ_ID)
		v.id = *w++;
	if (r->format & READ_LOST)
		v.lost = *w;
	return v;
}

static void cursor_branches(struct cursor *c, const struct record_layout *l,
			    struct record_sample *s)
{
	const uint64_t *words;

	s->nbranches = cursor_u64(c);
	if (l->branch_type & BRANCH_HW_INDEX)
		s->branch_index = cursor_u64(c);
	if (s->nbranches > UINT16_MAX) {
		c->bad = true;
		return;
	}
	words = cursor_words(c, s->nbranches * 3);
	s->branches = (const struct record_branch *)words;
	if (c->swap && words) /* bit fields of the other byte order run the other way round */
		for (uint64_t i = 0; i < s->nbranches; i++)
			((struct record_branch *)(uintptr_t)s->branches)[i].flags = 0;
	if (l->branch_type & BRANCH_COUNTERS)
		cursor_words(c, s->nbranches);
}

static void cursor_regs(struct cursor *c, uint64_t mask, struct record_regs *r)
{
	r->abi = cursor_u64(c);
	if (!r->abi)
		return;
	r->mask = mask;
	r->r = cursor_words(c, (uint64_t)__builtin_popcountll(mask));
}

static void cursor_stack(struct cursor *c, struct record_sample *s)
{
	s->stack_asked = cursor_u64(c);
	if (!s->stack_asked)
		return;
	s->stack = cursor_take(c, s->stack_asked);
	s->stack_bytes = cursor_u64(c);
	if (s->stack_bytes > s->stack_asked)
		c->bad = true;
}

/* The fields up to PERIOD: one word each. */
static void cursor_scalars(struct cursor *c, uint64_t fields, struct record_sample *s)
{
	struct record_ident *who = &s->who;

	if (fields & FIELD_IDENTIFIER)
		who->id = cursor_u64(c);
	if (fields & FIELD_IP)
		s->ip = cursor_u64(c);
	if (fields & FIELD_TID) {
		who->pid = (pid_t)cursor_u32(c);
		who->tid = (pid_t)cursor_u32(c);
	}
	if (fields & FIELD_TIME)
		who->time = cursor_u64(c);
	if (fields & FIELD_ADDR)
		s->addr = cursor_u64(c);
	if (fields & FIELD_ID) {
		uint64_t id = cursor_u64(c);

		if (!(fields & FIELD_IDENTIFIER))
			who->id = id;
	}
	if (fields & FIELD_STREAM_ID)
		who->stream_id = cursor_u64(c);
	if (fields & FIELD_CPU) {
		who->cpu = cursor_u32(c);
		cursor_u32(c);
	}
	if (fields & FIELD_PERIOD)
		s->period = cursor_u64(c);
}

static void cursor_bulk(struct cursor *c, const struct record_layout *l, struct record_sample *s)
{
	uint64_t fields = l->sample_type;

	if (fields & FIELD_READ)
		cursor_read(c, l->read_format, &s->read);
	if (fields & FIELD_CALLCHAIN) {
		s->nchain = cursor_u64(c);
		s->chain = cursor_words(c, s->nchain);
	}
	if (fields & FIELD_RAW) {
		s->raw_size = cursor_u32(c);
		s->raw = cursor_take(c, s->raw_size);
	}
	if (fields & FIELD_BRANCH)
		cursor_branches(c, l, s);
	if (fields & FIELD_REGS_USER)
		cursor_regs(c, l->regs_user, &s->regs_user);
	if (fields & FIELD_STACK_USER)
		cursor_stack(c, s);
}

static void cursor_tail(struct cursor *c, const struct record_layout *l, struct record_sample *s)
{
	uint64_t fields = l->sample_type;

	if (fields & (FIELD_WEIGHT | FIELD_WEIGHT_STRUCT)) {
		s->weight = cursor_u64(c);
		if (fields & FIELD_WEIGHT_STRUCT)
			s->weight &= UINT32_MAX; /* var1_dw: the latency */
	}
	if (fields & FIELD_DATA_SRC)
		s->data_src = cursor_u64(c);
	if (fields & FIELD_TRANSACTION)
		s->transaction = cursor_u64(c);
	if (fields & FIELD_REGS_INTR)
		cursor_regs(c, l->regs_intr, &s->regs_intr);
	if (fields & FIELD_PHYS_ADDR)
		s->phys_addr = cursor_u64(c);
	if (fields & FIELD_CGROUP)
		s->cgroup = cursor_u64(c);
	if (fields & FIELD_DATA_PAGE_SIZE)
		s->data_page_size = cursor_u64(c);
	if (fields & FIELD_CODE_PAGE_SIZE)
		s->code_page_size = cursor_u64(c);
	if (fields & FIELD_AUX) {
		s->aux_size = cursor_u64(c);
		s->aux = cursor_take(c, s->aux_size);
	}
}

int record_sample_parse(const struct record_layout *l, void *record, struct record_sample *ret)
{
	const struct record_header *h = record;
	uint16_t misc = l->swap ? bswap_16(h->misc) : h->misc;
	struct cursor c = record_cursor(record, l->swap);

	if (l->sample_type & ~(uint64_t)FIELDS_KNOWN || l->read_format & ~(uint64_t)READS_KNOWN)
		return -ENOTSUP;
	memset(ret, 0, sizeof *ret);
	ret->fields = l->sample_type;
	ret->who.fields = l->sample_type & IDENT_FIELDS;
	ret->cpumode = misc & MISC_CPUMODE;
	ret->exact_ip = misc & MISC_EXACT_IP;
	cursor_scalars(&c, l->sample_type, ret);
	cursor_bulk(&c, l, ret);
	cursor_tail(&c, l, ret);
	return c.bad ? -EBADMSG : 0;
}

/* The trailing sample_id of a record that is no sample: fixed size, so read from its end. */
static void cursor_ident(struct cursor *c, const struct record_layout *l, struct record_ident *who)
{
	uint64_t fields = l->sample_id_all ? l->sample_type & IDENT_FIELDS : 0;
	uint64_t bytes = 8 * (uint64_t)__builtin_popcountll(fields);
	struct record_sample s;

	memset(who, 0, sizeof *who);
	if (bytes > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		return;
	}
	memset(&s, 0, sizeof s);
	c->at = c->end - bytes;
	cursor_scalars(c, fields & ~(uint64_t)FIELD_IDENTIFIER, &s);
	if (fields & FIELD_IDENTIFIER)
		s.who.id = cursor_u64(c);
	*who = s.who;
	who->fields = fields;
}

void cursor_trailer(struct cursor *c, const struct record_layout *l, struct record_ident *who)
{
	struct cursor tail = *c;

	cursor_ident(&tail, l, who);
	if (tail.bad)
		c->bad = true;
	else
		c->end -= 8 * __builtin_popcountll(who->fields);
}

int record_ident_parse(const struct record_layout *l, const void *record, struct record_ident *ret)
{
	const struct record_header *h = record;
	uint32_t type = l->swap ? bswap_32(h->type) : h->type;
	struct cursor c = record_cursor(record, l->swap);
	struct record_sample s;

	if (type != RECORD_SAMPLE) {
		cursor_ident(&c, l, ret);
		return c.bad ? -EBADMSG : 0;
	}
	s.who = (struct record_ident){.fields = l->sample_type & IDENT_FIELDS};
	cursor_scalars(&c, l->sample_type, &s);
	*ret = s.who;
	return c.bad ? -EBADMSG : 0;
}

bool record_id(const struct record_layout *l, const void *record, uint64_t *ret_id)
{
	const struct record_header *h = record;
	uint32_t type = l->swap ? bswap_32(h->type) : h->type;
	struct cursor c = record_cursor(record, l->swap);
	uint64_t id;

	if (!(l->sample_type & FIELD_IDENTIFIER))
		return false;
	if (type != RECORD_SAMPLE) {
		if (!l->sample_id_all || c.end - c.at < 8)
			return false;
		c.at = c.end - 8;
	}
	id = cursor_u64(&c);
	if (c.bad)
		return false;
	*ret_id = id;
	return true;
}

enum chain_class { CHAIN_KERNEL, CHAIN_USER, CHAIN_DROP, CHAIN_COOKIE };

static enum chain_class marker_class(uint64_t marker)
{
	switch (marker) {
	case CONTEXT_HV:
	case CONTEXT_KERNEL: return CHAIN_KERNEL;
	case CONTEXT_USER: return CHAIN_USER;
	case CONTEXT_USER_DEFERRED: return CHAIN_COOKIE;
	default: return CHAIN_DROP;
	}
}

/* Entries before any marker; old kernels and other tools write chains without markers. */
static enum chain_class cpumode_class(uint8_t cpumode)
{
	switch (cpumode) {
	case CPUMODE_KERNEL:
	case CPUMODE_HYPERVISOR: return CHAIN_KERNEL;
	case CPUMODE_GUEST_KERNEL:
	case CPUMODE_GUEST_USER: return CHAIN_DROP;
	default: return CHAIN_USER;
	}
}

/* A run of addresses of one class: kept in place, or gathered behind earlier runs of its class. */
static void chain_run(const uint64_t *run, uint32_t n, const uint64_t **chain, uint32_t *nchain,
		      uint64_t *scratch, size_t room)
{
	if (!n)
		return;
	if (!*nchain) {
		*chain = run;
		*nchain = n;
		return;
	}
	if (!scratch || (size_t)*nchain + n > room)
		return;
	if (*chain != scratch)
		memcpy(scratch, *chain, *nchain * sizeof *scratch);
	memcpy(scratch + *nchain, run, n * sizeof *scratch);
	*chain = scratch;
	*nchain += n;
}

void record_chain_split(const uint64_t *chain, uint64_t n, uint8_t cpumode, uint64_t *scratch,
			size_t room, struct record_chain *ret)
{
	enum chain_class class = cpumode_class(cpumode);
	size_t half = scratch ? room / 2 : 0;
	uint64_t i = 0;

	memset(ret, 0, sizeof *ret);
	while (i < n) {
		uint64_t from = i;

		while (i < n && chain[i] < CONTEXT_MAX)
			i++;
		if (class == CHAIN_KERNEL)
			chain_run(chain + from, (uint32_t)(i - from), &ret->kernel, &ret->nkernel,
				  scratch, half);
		else if (class == CHAIN_USER)
			chain_run(chain + from, (uint32_t)(i - from), &ret->user, &ret->nuser,
				  scratch ? scratch + half : NULL, half);
		else if (class == CHAIN_COOKIE && i > from) {
			ret->deferred = true;
			ret->cookie = chain[from];
		}
		if (i == n)
			break;
		if (chain[i] <= CONTEXT_GUEST && chain[i] >= CONTEXT_GUEST_USER)
			ret->guest = true;
		class = marker_class(chain[i++]);
	}
}
