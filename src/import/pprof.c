/*
 * pprof: profile.proto of any producer, several sample types, symbolised or not.
 *
 * The message is read whole (it refers backwards and forwards by id) and walked in place; memory is
 * the unpacked file plus its locations. The first time-like value becomes the weight, "samples" or
 * "*_objects" counts the hits, all others ride along. References that lead nowhere become [unknown]
 * and are counted. Source thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "codec/protowire.h"
#include "import/importer.h"

#define VALUES_MAX 16
#define STACK_MAX  4096
#define LINES_MAX  1024
/* Producers number locations from 1 up: an index finds them then, whatever else there may be. */
#define DENSE_FACTOR 4
#define DENSE_LEAST  65536
#define FILE_MAX     (4ull << 30)

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME = 9,
	PROFILE_DURATION,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE
};
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM };
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_OFFSET,
	MAPPING_FILE,
	MAPPING_BUILD_ID
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

struct range {
	const uint8_t *data;
	size_t len;
};

struct value_type {
	char name[96];
	enum event_unit unit;
	uint64_t factor;
	uint16_t event; /* UINT16_MAX: counts hits only */
};

struct mapping {
	uint64_t id, start, offset;
	module_id module;
	bool kernel;
};

struct function {
	uint64_t id;
	str_id name, file;
};

struct location {
	uint32_t first, n; /* in frames */
};

struct pprof {
	struct import *im;
	struct {
		VEC(struct range)
	} strings, types, samples, mappings, locations, functions;
	uint64_t default_type, time_ns, duration_ns;
	struct {
		VEC(uint64_t)
	} comments;
	struct value_type values[VALUES_MAX];
	unsigned nvalues;
	int weight, hits; /* places in values; -1 none */
	struct map64 mapping_of, function_of, location_of;
	struct {
		VEC(uint32_t)
	} dense; /* by location id, where ids are small: index in location + 1 */
	struct {
		VEC(struct mapping)
	} mapping;
	struct {
		VEC(struct function)
	} function;
	struct {
		VEC(struct location)
	} location;
	struct {
		VEC(frame_id)
	} frames, stack;
	bool ours; /* we wrote it */
	uint64_t bad_references, negative;
};

static bool add_comment(void *ctx, uint64_t text)
{
	struct pprof *p = ctx;
	return !vec_push(&p->comments, text);
}

static int collect(struct pprof *p, const uint8_t *data, size_t len)
{
	struct wire w = wire_of(data, len);
	struct wire_field f;
	int rc = 0;
	while (!rc && wire_next(&w, &f)) {
		struct range r = {f.data, f.len};
		if (f.type == 0 && f.number == PROFILE_DEFAULT_TYPE)
			p->default_type = f.value;
		if (f.type == 0 && f.number == PROFILE_TIME)
			p->time_ns = f.value;
		if (f.type == 0 && f.number == PROFILE_DURATION)
			p->duration_ns = f.value;
		if (f.number == PROFILE_COMMENT && !wire_each(&f, add_comment, p))
			rc = -EBADMSG;
		if (f.type != 2)
			continue;
		switch (f.number) {
		case PROFILE_SAMPLE_TYPE: rc = vec_push(&p->types, r); break;
		case PROFILE_SAMPLE: rc = vec_push(&p->samples, r); break;
		case PROFILE_MAPPING: rc = vec_push(&p->mappings, r); break;
		case PROFILE_LOCATION: rc = vec_push(&p->locations, r); break;
		case PROFILE_FUNCTION: rc = vec_push(&p->functions, r); break;
		case PROFILE_STRING: rc = vec_push(&p->strings, r); break;
		default: break;
		}
	}
	return rc ? rc : w.damaged ? -EBADMSG : 0;
}

static struct range string_at(struct pprof *p, uint64_t index)
{
	if (index < p->strings.len)
		return p->strings.data[index];
	p->bad_references++;
	return (struct range){(const uint8_t *)"", 0};
}

static str_id intern(struct pprof *p, uint64_t index)
{
	struct range r = string_at(p, index);
	return tables_strn(p->im->tables, (const char *)r.data, r.len);
}

static bool is(struct range r, const char *s)
{
	return r.len == strlen(s) && !memcmp(r.data, s, r.len);
}

/*
 * Our own comments are the command line, the machine and how it was sampled; of the machine there
 * are four words: "Linux HOST RELEASE MACHINE".
 */
static bool read_machine(struct pprof *p, char host[4][96])
{
	struct range first = p->comments.len ? string_at(p, p->comments.data[0])
					     : (struct range){0};
	p->ours = first.len >= 8 && !memcmp(first.data, "altpttop", 8);
	if (!p->ours || p->comments.len < 2)
		return false;
	struct range r = string_at(p, p->comments.data[1]);
	char text[256], end;
	snprintf(text, sizeof text, "%.*s", (int)(r.len < 255 ? r.len : 255), (const char *)r.data);
	return sscanf(text, "%95s %95s %95s %95s %c", host[0], host[1], host[2], host[3], &end) ==
		       4 &&
	       !strcmp(host[0], "Linux");
}

/* Where, when and how long. What is beyond a signed 64-bit number is damage. */
static void tell_origin(struct pprof *p)
{
	char host[4][96];
	struct raw_origin o = {.wall_start_ns = p->time_ns <= INT64_MAX ? p->time_ns : 0,
			       .duration_ns = p->duration_ns <= INT64_MAX ? p->duration_ns : 0};
	if (read_machine(p, host)) {
		o.host = host[1];
		o.release = host[2];
		o.machine = host[3];
	}
	p->im->sink->ops->origin(p->im->sink->ctx, &o);
}

/* --- sample types --- */

static void read_types(struct pprof *p)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"nanoseconds", 1},
		     {"microseconds", 1000},
		     {"milliseconds", 1000000},
		     {"seconds", 1000000000}};
	for (size_t i = 0; i < p->types.len && p->nvalues < VALUES_MAX; i++) {
		struct wire w = wire_of(p->types.data[i].data, p->types.data[i].len);
		struct wire_field f;
		uint64_t type = 0, unit = 0;
		while (wire_next(&w, &f))
			*(f.number == 1 ? &type : &unit) = f.value;
		struct range name = string_at(p, type), what = string_at(p, unit);
		struct value_type *v = &p->values[p->nvalues];
		*v = (struct value_type){.unit = EVENT_COUNT, .factor = 1};
		for (size_t k = 0; k < sizeof units / sizeof *units; k++)
			if (is(what, units[k].unit)) {
				v->unit = EVENT_NS;
				v->factor = units[k].ns;
			}
		int n = (int)(name.len < sizeof v->name - 1 ? name.len : sizeof v->name - 1);
		snprintf(v->name, sizeof v->name, "%.*s", n, (const char *)name.data);
		bool plain = is(what, "count") && (is(name, "samples") || is(name, "sample"));
		if (plain && p->hits < 0)
			p->hits = (int)p->nvalues;
		else if (type == p->default_type && p->default_type)
			p->weight = (int)p->nvalues;
		p->nvalues++;
	}
	/* No default named: the last time-like value, else the last of all, as pprof itself takes
	 * it. */
	for (int i = 0; i < (int)p->nvalues && p->weight < 0; i++)
		if (p->values[p->nvalues - 1 - (unsigned)i].unit == EVENT_NS)
			p->weight = (int)p->nvalues - 1 - i;
	if (p->weight < 0)
		p->weight = (int)p->nvalues - 1;
	if (p->weight == p->hits && p->nvalues > 1)
		p->weight = p->hits == (int)p->nvalues - 1 ? (int)p->nvalues - 2
							   : (int)p->nvalues - 1;
}

static void announce(struct pprof *p)
{
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < (int)p->nvalues; i++) {
			struct value_type *v = &p->values[i];
			bool weight = i == p->weight;
			if (weight == (pass == 1))
				continue;
			v->event = UINT16_MAX;
			if (i == p->hits && !weight)
				continue;
			struct event_desc d = {.unit = v->unit,
					       .sampled = weight,
					       .cpu_time = v->unit == EVENT_NS &&
							   !strcmp(v->name, "cpu")};
			memcpy(d.name, v->name, sizeof d.name);
			v->event = import_event_desc(p->im, &d);
		}
}

/* --- mappings, functions, locations --- */

static uint8_t hex_bytes(struct range r, uint8_t out[32])
{
	size_t n = r.len / 2;
	if (r.len % 2 || n > 32)
		return 0;
	for (size_t i = 0; i < r.len; i++) {
		uint8_t c = r.data[i] | 0x20;
		int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
		if (d < 0)
			return 0;
		out[i / 2] = (uint8_t)(i % 2 ? out[i / 2] | d : d << 4);
	}
	return (uint8_t)n;
}

static int read_mappings(struct pprof *p)
{
	for (size_t i = 0; i < p->mappings.len; i++) {
		struct wire w = wire_of(p->mappings.data[i].data, p->mappings.data[i].len);
		struct wire_field f;
		uint64_t v[16] = {0};
		while (wire_next(&w, &f))
			if (f.type == 0 && f.number < 16)
				v[f.number] = f.value;
		struct range path = string_at(p, v[MAPPING_FILE]),
			     id = string_at(p, v[MAPPING_BUILD_ID]);
		struct module m = {.kind = path.len && path.data[0] == '/' ? MODULE_FILE
									   : MODULE_NAMED};
		const uint8_t *slash = path.len ? memrchr(path.data, '/', path.len) : NULL;
		struct range base = slash && path.data[0] == '/'
					    ? (struct range){slash + 1,
							     path.len - (size_t)(slash + 1 -
										 path.data)}
					    : path;
		m.path = tables_strn(p->im->tables, (const char *)path.data, path.len);
		m.name = tables_strn(p->im->tables, (const char *)base.data, base.len);
		m.build_id_size = hex_bytes(id, m.build_id);
		struct mapping out = {v[MAPPING_ID], v[MAPPING_START], v[MAPPING_OFFSET],
				      path.len ? tables_module(p->im->tables, &m) : 0,
				      path.len &&
					      import_is_kernel((const char *)path.data, path.len)};
		map64_put(&p->mapping_of, out.id, (uint32_t)p->mapping.len);
		int rc = vec_push(&p->mapping, out);
		if (rc)
			return rc;
	}
	return 0;
}

static int read_functions(struct pprof *p)
{
	for (size_t i = 0; i < p->functions.len; i++) {
		struct wire w = wire_of(p->functions.data[i].data, p->functions.data[i].len);
		struct wire_field f;
		uint64_t v[8] = {0};
		while (wire_next(&w, &f))
			if (f.type == 0 && f.number < 8)
				v[f.number] = f.value;
		uint64_t name = v[FUNCTION_SYSTEM_NAME] ? v[FUNCTION_SYSTEM_NAME]
							: v[FUNCTION_NAME];
		struct function out = {v[FUNCTION_ID], intern(p, name),
				       intern(p, v[FUNCTION_FILE])};
		if (!out.name)
			out.name = intern(p, v[FUNCTION_NAME]);
		map64_put(&p->function_of, out.id, (uint32_t)p->function.len);
		int rc = vec_push(&p->function, out);
		if (rc)
			return rc;
	}
	return 0;
}

static frame_id line_frame(struct pprof *p, const struct wire_field *line, const struct mapping *m,
			   bool inlined)
{
	struct wire w = wire_of(line->data, line->len);
	struct wire_field f;
	uint64_t function = 0, number = 0;
	while (wire_next(&w, &f))
		if (f.type == 0)
			*(f.number == LINE_FUNCTION ? &function
			  : f.number == LINE_LINE   ? &number
						    : &(uint64_t){0}) = f.value;
	uint32_t index;
	if (!map64_get(&p->function_of, function, &index)) {
		p->bad_references++;
		return FRAME_UNKNOWN;
	}
	const struct function *fn = &p->function.data[index];
	str_id name = fn->name ? fn->name : tables_str(p->im->tables, "[unknown]");
	return import_frame(p->im, m ? m->module : 0, name, 0, fn->file,
			    number < UINT32_MAX ? (uint32_t)number : 0,
			    (inlined ? FRAME_INLINED : 0) | (m && m->kernel ? FRAME_KERNEL : 0));
}

/* An address without a name: the resolver may find one in the mapping's file. */
static frame_id address_frame(struct pprof *p, const struct mapping *m, uint64_t address)
{
	if (m && m->module && !m->kernel && address >= m->start) {
		struct frame f = {.module = m->module,
				  .flags = FRAME_OFFSET,
				  .addr = address - m->start + m->offset};
		frame_id id = tables_frame(p->im->tables, &f);
		if (id)
			return id;
	}
	char text[32];
	snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
	return import_frame(p->im, m ? m->module : 0, tables_str(p->im->tables, text), address, 0,
			    0, m && m->kernel ? FRAME_KERNEL : 0);
}

static int read_location(struct pprof *p, struct range r)
{
	struct wire w = wire_of(r.data, r.len);
	struct wire_field f, lines[LINES_MAX];
	uint64_t v[4] = {0};
	unsigned n = 0;
	while (wire_next(&w, &f)) {
		if (f.type == 0 && f.number < 4)
			v[f.number] = f.value;
		else if (f.type == 2 && f.number == LOCATION_LINE && n < LINES_MAX)
			lines[n++] = f;
	}
	uint32_t index;
	const struct mapping *m = v[LOCATION_MAPPING] && map64_get(&p->mapping_of,
								   v[LOCATION_MAPPING], &index)
					  ? &p->mapping.data[index]
					  : NULL;
	p->bad_references += v[LOCATION_MAPPING] && !m;
	struct location out = {(uint32_t)p->frames.len, n ? n : 1};
	int rc = vec_reserve(&p->frames, p->frames.len + out.n);
	if (rc)
		return rc;
	if (!n)
		p->frames.data[p->frames.len++] = address_frame(p, m, v[LOCATION_ADDRESS]);
	for (unsigned i = 0; i < n; i++)
		p->frames.data[p->frames.len++] = line_frame(p, &lines[i], m, i + 1 < n);
	map64_put(&p->location_of, v[LOCATION_ID], (uint32_t)p->location.len);
	if (v[LOCATION_ID] < DENSE_FACTOR * (p->location.len + 1) + DENSE_LEAST) {
		while (p->dense.len <= v[LOCATION_ID])
			if (vec_push(&p->dense, 0))
				return -ENOMEM;
		p->dense.data[v[LOCATION_ID]] = (uint32_t)p->location.len + 1;
	}
	return vec_push(&p->location, out);
}

/* --- samples --- */

static bool add_location(void *ctx, uint64_t id)
{
	struct pprof *p = ctx;
	uint32_t index;
	if (p->stack.len >= STACK_MAX)
		return true;
	if (id < p->dense.len && p->dense.data[id]) {
		index = p->dense.data[id] - 1;
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

struct who {
	int64_t pid, tid;
	struct range name, comm, process;
};

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
	struct range k = string_at(p, key);
	if (is(k, "thread_id"))
		io_who->tid = (int64_t)num;
	else if (is(k, "pid"))
		io_who->pid = (int64_t)num;
	else if (is(k, "thread_name"))
		io_who->name = string_at(p, str);
	else if (is(k, "comm"))
		io_who->comm = string_at(p, str);
	else if (is(k, "process"))
		io_who->process = string_at(p, str);
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

static int read_sample(struct pprof *p, struct range r)
{
	struct wire w = wire_of(r.data, r.len);
	struct wire_field f;
	struct numbers numbers = {.n = 0};
	struct who who = {0};
	p->stack.len = 0;
	while (wire_next(&w, &f)) {
		bool good = true;
		if (f.number == SAMPLE_LOCATION)
			good = wire_each(&f, add_location, p);
		else if (f.number == SAMPLE_VALUE)
			good = wire_each(&f, add_value, &numbers);
		else if (f.number == SAMPLE_LABEL && f.type == 2)
			read_label(p, &f, &who);
		if (!good)
			return -EBADMSG;
	}
	struct sample_value values[VALUES_MAX];
	struct raw_sample s = {.cpu = UINT32_MAX,
			       .pid = (pid_t)who.pid,
			       .tid = (pid_t)(who.tid ? who.tid : who.pid),
			       .values = values,
			       .hits = 1};
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
	if (!s.hits && s.weight && p->ours) /* [unsampled] */
		s.flags = SAMPLE_ACCOUNTED;
	if (!s.hits && !s.weight && !s.nvalues)
		return 0;
	static const frame_id unknown = FRAME_UNKNOWN;
	s.frames = p->stack.len ? p->stack.data : &unknown;
	s.nframes = p->stack.len ? (uint32_t)p->stack.len : 1;
	struct range name = who.name.len ? bare_name(who.name) : who.comm;
	if (who.process.len && s.tid != s.pid)
		import_comm(p->im, 0, s.pid, s.pid, (const char *)who.process.data,
			    who.process.len);
	if (name.len)
		import_comm(p->im, 0, s.pid, s.tid, (const char *)name.data, name.len);
	p->im->sink->ops->sample(p->im->sink->ctx, &s);
	return 0;
}

static int deliver(struct pprof *p)
{
	read_types(p);
	if (!p->nvalues)
		return -EINVAL;
	announce(p);
	tell_origin(p);
	int rc = read_mappings(p);
	rc = rc ? rc : read_functions(p);
	for (size_t i = 0; i < p->locations.len && !rc; i++)
		rc = read_location(p, p->locations.data[i]);
	for (size_t i = 0; i < p->samples.len && !rc; i++)
		rc = import_go_on(p->im) ? read_sample(p, p->samples.data[i]) : -ECANCELED;
	return rc;
}

static int read_whole(struct import *im, uint8_t **ret_data, size_t *ret_len, struct err *err)
{
	size_t cap = 1 << 20, len = 0, got;
	uint8_t *data = malloc(cap);
	while (data && (got = stream_read(im->in, data + len, cap - len)) > 0) {
		len += got;
		if (len < cap)
			continue;
		uint8_t *more = cap < FILE_MAX ? realloc(data, cap *= 2) : NULL;
		if (!more) {
			free(data);
			return err_set(err, EFBIG,
				       "the profile is larger than %llu bytes, or than memory",
				       (unsigned long long)FILE_MAX);
		}
		data = more;
	}
	*ret_data = data;
	*ret_len = len;
	return data ? 0 : err_set(err, ENOMEM, "no memory for the profile");
}

static int pprof_run(struct import *im, struct err *err)
{
	struct pprof p = {.im = im, .weight = -1, .hits = -1};
	uint8_t *data = NULL;
	size_t len = 0;
	int rc = read_whole(im, &data, &len, err);
	if (rc)
		return rc;
	map64_init(&p.mapping_of);
	map64_init(&p.function_of);
	map64_init(&p.location_of);
	int damage = collect(&p, data, len);
	rc = damage == -ENOMEM ? damage : deliver(&p);
	if (rc == -EINVAL)
		err_set(err, EINVAL, "a pprof profile without sample types: nothing to show");
	else if (rc == -EBADMSG || (!rc && damage))
		rc = err_set(err, EBADMSG, "the profile is damaged or cut off");
	char text[160];
	if (p.bad_references || p.negative) {
		snprintf(text, sizeof text,
			 "%llu references lead nowhere, %llu values are negative and left out",
			 (unsigned long long)p.bad_references, (unsigned long long)p.negative);
		im->sink->ops->say(im->sink->ctx, text);
	}
	map64_fini(&p.mapping_of);
	map64_fini(&p.function_of);
	map64_fini(&p.location_of);
	vec_fini(&p.dense);
	vec_fini(&p.comments);
	vec_fini(&p.strings);
	vec_fini(&p.types);
	vec_fini(&p.samples);
	vec_fini(&p.mappings);
	vec_fini(&p.locations);
	vec_fini(&p.functions);
	vec_fini(&p.mapping);
	vec_fini(&p.function);
	vec_fini(&p.location);
	vec_fini(&p.frames);
	vec_fini(&p.stack);
	free(data);
	return rc;
}

static int pprof_recognise(const uint8_t *head, size_t n)
{
	struct wire w = wire_of(head, n);
	struct wire_field f;
	unsigned fields = 0, types = 0;
	/* The last field may be cut off by the end of what was peeked; everything before it must be
	 * right. */
	while (wire_next(&w, &f)) {
		static const uint8_t expected[] = {9, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0};
		bool packed_comment = f.number == 13 && f.type == 2;
		if (f.number > 15 || (f.type != expected[f.number] && !packed_comment))
			return 0;
		types += f.number == PROFILE_SAMPLE_TYPE;
		fields++;
	}
	return types && (fields > 3 || !w.damaged) ? 75 : 0;
}

const struct importer_ops importer_pprof = {"pprof", VIEW_FUNCTIONS, pprof_recognise, pprof_run};
