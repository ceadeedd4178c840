/*
 * pprofsample: one sample of a pprof profile: its stack, its values, whose it is.
 *
 * A stack that came before is found by the bytes of its list of locations (seen.h); what labels
 * tell is known by the string that names them. Source thread.
 */
#include <errno.h>
#include <string.h>

#include "import/pprofparts.h"

#define STACK_MAX    4096
#define FIRST_NUMBER (1u << 30) /* of threads whose ids are too large */
#define NUMBERS_MOST (1u << 18)

enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM };

static bool add_location(void *ctx, uint64_t id)
{
	struct pprof *p = ctx;
	uint32_t index;
	if (p->stack.len >= STACK_MAX)
		return true;
	if (id < p->dense.len && !p->dense.data[id].only && p->dense.data[id].mark) {
		index = p->dense.data[id].mark - 1;
	} else if (!map64_get(&p->location_of, id, &index)) {
		p->bad_references++;
		return !vec_push(&p->stack, FRAME_UNKNOWN);
	}
	const struct location *l = &p->location.data[index];
	for (uint32_t i = 0; i < l->n; i++)
		if (vec_push(&p->stack, p->frames.data[l->first + i]))
			return false;
	return true;
}

/* Numbers of one to three bytes at once; where the message may end sooner, one by one. */
static inline bool read_id(struct wire *w, uint64_t *ret_id)
{
	const uint8_t *at = w->at;
	if (w->end - at < 3)
		return wire_varint(w, ret_id);
	if (at[0] < 0x80) {
		*ret_id = at[0];
		w->at += 1;
	} else if (at[1] < 0x80) {
		*ret_id = (at[0] & 0x7fu) | at[1] << 7;
		w->at += 2;
	} else if (at[2] < 0x80) {
		*ret_id = (at[0] & 0x7fu) | (at[1] & 0x7fu) << 7 | (uint32_t)at[2] << 14;
		w->at += 3;
	} else {
		return wire_varint_long(w, ret_id);
	}
	return true;
}

static void next_round(struct pprof *p)
{
	if (++p->round)
		return;
	memset(p->met, 0, sizeof p->met);
	p->round = 1;
}

/*
 * The same for a whole list; most locations are of one frame. Is it sure that no function is met
 * twice, and all are of one module? By a few bits of each name: seldom are those of two the same by
 * chance.
 */
static bool add_locations(struct pprof *p, const struct wire_field *list)
{
	if (list->type != 2)
		return wire_each(list, add_location, p);
	if (vec_reserve(&p->stack, STACK_MAX))
		return false;
	struct wire w = wire_of(list->data, list->len);
	const struct dense *dense = p->dense.data;
	uint64_t id;
	size_t dense_len = p->dense.len, len = p->stack.len;
	uint32_t unsure = len > 0, before = 0;
	frame_id *stack = p->stack.data;
	next_round(p);
	while (w.at < w.end) {
		if (!read_id(&w, &id))
			return false;
		struct dense d = id < dense_len ? dense[id] : (struct dense){0};
		if (d.only && len < STACK_MAX) {
			uint16_t *met = &p->met[d.mark / (MARK_MODULE + 1) % MARK_NAMES];
			unsure |= !(d.mark & MARK_NAMED) | (*met == p->round) |
				  (len && ((d.mark ^ before) & MARK_MODULE));
			*met = p->round;
			before = d.mark;
			stack[len++] = d.only;
			continue;
		}
		unsure = 1;
		p->stack.len = len;
		if (!add_location(p, id))
			return false;
		len = p->stack.len;
		stack = p->stack.data;
	}
	p->stack.len = len;
	p->distinct = !unsure;
	return true;
}

struct numbers {
	int64_t v[VALUES_MAX];
	unsigned n;
};

static bool add_value(void *ctx, uint64_t value)
{
	struct numbers *n = ctx;
	if (n->n < VALUES_MAX)
		n->v[n->n++] = (int64_t)value;
	return true;
}

enum label_kind {
	LABEL_NEW,
	LABEL_OTHER,
	LABEL_TID,
	LABEL_LANGUAGE_TID, /* a language's own number: where the kernel's is not told */
	LABEL_PID,
	LABEL_NAME,
	LABEL_COMM,
	LABEL_PROCESS,
	LABEL_STATE,
	LABEL_EFFECTIVE
};

struct who {
	int64_t pid, tid, language_tid;
	uint64_t effective; /* thousandths of a sample */
	struct range name, comm, process, state;
};

static enum label_kind kind_of_text(struct range r)
{
	static const struct {
		const char *key;
		enum label_kind kind;
	} kinds[] = {{"thread_id", LABEL_TID},
		     {"os thread id", LABEL_TID},
		     {"thread native id", LABEL_TID},
		     {"thread id", LABEL_LANGUAGE_TID},
		     {"thread.id", LABEL_LANGUAGE_TID},
		     {"Thread ID", LABEL_LANGUAGE_TID},
		     {"pid", LABEL_PID},
		     {"process_id", LABEL_PID},
		     {"Process ID", LABEL_PID},
		     {"thread_name", LABEL_NAME},
		     {"thread name", LABEL_NAME},
		     {"thread.name", LABEL_NAME},
		     {"comm", LABEL_COMM},
		     {"process", LABEL_PROCESS},
		     {"state", LABEL_STATE},
		     {"effective_samples", LABEL_EFFECTIVE}};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (pprof_is(r, kinds[i].key))
			return kinds[i].kind;
	return LABEL_OTHER;
}

/* What a label with this key tells. Few keys are told again and again. */
static enum label_kind kind_of_label(struct pprof *p, uint64_t key)
{
	if (key < p->label_kinds.len && p->label_kinds.data[key])
		return (enum label_kind)p->label_kinds.data[key];
	enum label_kind kind = kind_of_text(pprof_string(p, key));
	if (key >= p->strings.len || vec_reserve(&p->label_kinds, key + 1))
		return kind;
	while (p->label_kinds.len <= key)
		p->label_kinds.data[p->label_kinds.len++] = LABEL_NEW;
	p->label_kinds.data[key] = (uint8_t)kind;
	return kind;
}

/*
 * A number, or the one a text begins with. What is no id of the kernel's (a pointer, as pthreads
 * have) gets one of its own. 0: none.
 */
static int64_t number_of(struct pprof *p, uint64_t number, uint64_t text)
{
	struct range r = text ? pprof_string(p, text) : (struct range){0};
	uint32_t id;
	for (size_t i = 0; i < r.len && i < 19 && (unsigned)(r.data[i] - '0') < 10; i++)
		number = number * 10 + (r.data[i] - '0');
	if (number <= INT32_MAX)
		return (int64_t)number;
	if (map64_get(&p->number_of, number, &id))
		return id;
	id = FIRST_NUMBER + (uint32_t)p->number_of.count;
	return p->number_of.count < NUMBERS_MOST && !map64_put(&p->number_of, number, id) ? id : 0;
}

static void read_label(struct pprof *p, const struct wire_field *label, struct who *io_who)
{
	struct wire w = wire_of(label->data, label->len);
	struct wire_field f;
	uint64_t key = 0, str = 0, num = 0;
	while (wire_next(&w, &f))
		if (f.type == 0)
			*(f.number == LABEL_KEY   ? &key
			  : f.number == LABEL_STR ? &str
			  : f.number == LABEL_NUM ? &num
						  : &(uint64_t){0}) = f.value;
	switch (kind_of_label(p, key)) {
	case LABEL_TID: io_who->tid = number_of(p, num, str); break;
	case LABEL_LANGUAGE_TID: io_who->language_tid = number_of(p, num, str); break;
	case LABEL_PID: io_who->pid = number_of(p, num, str); break;
	case LABEL_NAME: io_who->name = pprof_string(p, str); break;
	case LABEL_COMM: io_who->comm = pprof_string(p, str); break;
	case LABEL_PROCESS: io_who->process = pprof_string(p, str); break;
	case LABEL_STATE: io_who->state = pprof_string(p, str); break;
	case LABEL_EFFECTIVE: io_who->effective = num; break;
	default: break;
	}
}

/* "name (tid)" → the name alone. */
static struct range bare_name(struct range r)
{
	const uint8_t *open = r.len && r.data[r.len - 1] == ')' ? memrchr(r.data, '(', r.len)
								: NULL;
	if (open && open > r.data && open[-1] == ' ')
		r.len = (size_t)(open - 1 - r.data);
	return r;
}

/* The frames of a stack that is written as one list, found by its bytes if they came before. */
static bool find_stack(struct pprof *p, const struct wire_field *list, struct raw_sample *s)
{
	bool learn;
	struct seen_stack *e = seen_find(&p->seen, list->data, list->len, &learn);
	if (!e || learn) {
		uint64_t bad = p->bad_references;
		if (!add_locations(p, list))
			return false;
		s->frames = p->stack.data;
		s->nframes = (uint32_t)p->stack.len;
		s->flags |= p->distinct ? SAMPLE_DISTINCT : 0;
		/* Every sample's bad references are counted. */
		if (!e || bad != p->bad_references ||
		    !seen_learn(&p->seen, e, list->data, s->frames, s->nframes))
			return true;
	}
	s->frames = e->frames;
	s->nframes = e->nframes;
	s->recurring = e->number;
	s->renumbered = e->fresh;
	e->fresh = false;
	return true;
}

/* Most samples have one list of locations; of others everything is put together. */
static bool take_locations(struct pprof *p, const struct wire_field *f, struct wire_field *io_list)
{
	if (f->type == 2 && !io_list->data && !p->stack.len) {
		*io_list = *f;
		return true;
	}
	bool good = !io_list->data || add_locations(p, io_list);
	io_list->data = NULL;
	return good && add_locations(p, f);
}

int pprof_sample(struct pprof *p, struct range r)
{
	struct wire w = wire_of(r.data, r.len);
	struct wire_field f, list = {0};
	struct numbers numbers;
	struct who who = {0};
	numbers.n = 0; /* clearing the others takes longer than all of them */
	p->stack.len = 0;
	p->distinct = false;
	while (wire_next(&w, &f)) {
		bool good = true;
		if (f.number == SAMPLE_LOCATION)
			good = take_locations(p, &f, &list);
		else if (f.number == SAMPLE_VALUE)
			good = wire_each(&f, add_value, &numbers);
		else if (f.number == SAMPLE_LABEL && f.type == 2)
			read_label(p, &f, &who);
		if (f.number == SAMPLE_LOCATION && list.data)
			seen_foresee(&p->seen, list.data, list.len);
		if (!good)
			return -EBADMSG;
	}
	who.tid = who.tid ? who.tid : who.language_tid;
	struct sample_value values[VALUES_MAX];
	static const struct raw_sample blank = {
		.cpu = UINT32_MAX, .flags = SAMPLE_TIMELESS, .hits = 1};
	struct raw_sample s = blank; /* which is copied faster than cleared */
	s.pid = (pid_t)who.pid;
	s.tid = (pid_t)(who.tid ? who.tid : who.pid);
	s.values = values;
	for (unsigned i = 0; i < numbers.n && i < p->nvalues; i++) {
		const struct value_type *v = &p->values[i];
		if (numbers.v[i] < 0) {
			p->negative++;
			continue;
		}
		uint64_t value = (uint64_t)numbers.v[i] * v->factor;
		if ((int)i == p->hits)
			s.hits = value;
		if ((int)i == p->weight) {
			s.event = v->event;
			s.weight = value;
		} else if (v->event != UINT16_MAX) {
			values[s.nvalues++] = (struct sample_value){v->event, VALUE_OK, value, 1};
		}
	}
	if (!s.hits && (!s.weight || p->ours)) /* of other values alone, or [unsampled] */
		s.flags |= SAMPLE_ACCOUNTED;
	if (p->ours && pprof_is(who.state, "waiting"))
		s.flags |= SAMPLE_BLOCKED;
	if (p->ours)
		s.effective = (double)who.effective / 1000;
	if (!s.hits && !s.weight && !s.nvalues)
		return 0;
	static const frame_id unknown = FRAME_UNKNOWN;
	s.frames = p->stack.data;
	s.nframes = (uint32_t)p->stack.len;
	if (list.data && !find_stack(p, &list, &s))
		return -EBADMSG;
	if (!s.nframes) {
		s.frames = &unknown;
		s.nframes = 1;
	}
	s.cut = (uint8_t)import_cut(p->im, s.frames, s.nframes);
	struct range name = who.name.len ? bare_name(who.name) : who.comm;
	if (who.process.len && s.tid != s.pid)
		import_comm(p->im, 0, s.pid, s.pid, (const char *)who.process.data,
			    who.process.len);
	if (name.len)
		import_comm(p->im, 0, s.pid, s.tid, (const char *)name.data, name.len);
	p->im->sink->ops->sample(p->im->sink->ctx, &s);
	return 0;
}
