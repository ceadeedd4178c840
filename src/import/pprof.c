/*
 * pprof: profile.proto of any producer, several sample types, symbolised or not.
 *
 * The message refers backwards and forwards by id, so it is read twice: what samples refer to is
 * kept, then they are delivered. Memory is that; of what is no plain file the unpacked file too.
 * The first time-like value becomes the weight, "samples" or "*_objects" counts the hits, all
 * others ride along. References that lead nowhere become [unknown] and are counted. Source thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "codec/wirestream.h"
#include "import/pprofparts.h"

#define LINES_MAX  1024
#define FILE_MAX   (4ull << 30)
#define STEP_BYTES ((size_t)1 << 20)
#define LOOK_EVERY 4096 /* fields between two looks at whether the person still wants it */
#define YEAR_NS    (31556952ull * 1000000000)
#define YEARS_MAX  10 /* a longer duration is a date, counted from 1970 */
/* Producers number locations from 1 up: an index finds them then, whatever else there may be. */
#define DENSE_FACTOR 4
#define DENSE_LEAST  65536

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
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_OFFSET,
	MAPPING_FILE,
	MAPPING_BUILD_ID
};
enum { SAMPLE_VALUE = 2 };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

static bool add_comment(void *ctx, uint64_t text)
{
	struct pprof *p = ctx;
	return !vec_push(&p->comments, text);
}

struct filling {
	unsigned at, bits;
};

static bool fill_value(void *ctx, uint64_t value)
{
	struct filling *f = ctx;
	if (value && f->at < VALUES_MAX)
		f->bits |= 1u << f->at;
	f->at++;
	return true;
}

/* Which values are more than 0 anywhere? Looked at until all are. */
static void fill(struct pprof *p, const struct wire_field *sample)
{
	struct filling filling = {0};
	struct wire w = wire_of(sample->data, sample->len);
	struct wire_field f;
	if (p->types.len && p->types.len <= VALUES_MAX && p->filled + 1 == 1u << p->types.len)
		return;
	while (wire_next(&w, &f))
		if (f.number == SAMPLE_VALUE)
			wire_each(&f, fill_value, &filling);
	p->filled |= filling.bits;
}

/* What samples refer to is kept; they themselves are only counted. */
static int keep(struct pprof *p, const struct wire_field *f)
{
	struct ranges *const lists[] = {[PROFILE_SAMPLE_TYPE] = &p->types,
					[PROFILE_MAPPING] = &p->mappings,
					[PROFILE_LOCATION] = &p->locations,
					[PROFILE_FUNCTION] = &p->functions,
					[PROFILE_STRING] = &p->strings};
	if (f->number == PROFILE_SAMPLE) {
		p->nsamples++;
		fill(p, f);
	}
	struct ranges *list = f->number < sizeof lists / sizeof *lists ? lists[f->number] : NULL;
	if (!list)
		return 0;
	uint8_t *copy = arena_alloc(&p->bytes, f->len);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, f->data, f->len);
	return vec_push(list, ((struct range){copy, f->len}));
}

static int collect(struct pprof *p, struct stream *in)
{
	struct wirestream x = wirestream_of(in);
	struct wire_field f;
	int rc = 0;
	for (uint32_t n = 1; !rc && wirestream_next(&x, &f); n++) {
		if (f.type == 0 && f.number == PROFILE_DEFAULT_TYPE)
			p->default_type = f.value;
		if (f.type == 0 && f.number == PROFILE_TIME)
			p->time_ns = f.value;
		if (f.type == 0 && f.number == PROFILE_DURATION)
			p->duration_ns = f.value;
		if (f.number == PROFILE_COMMENT && !wire_each(&f, add_comment, p))
			rc = -EBADMSG;
		else if (f.type == 2)
			rc = keep(p, &f);
		if (n % LOOK_EVERY == 0 && !import_go_on_at(p->im, 0))
			rc = -ECANCELED;
	}
	wirestream_fini(&x);
	return rc ? rc : x.damaged ? -EBADMSG : 0;
}

struct range pprof_string(struct pprof *p, uint64_t index)
{
	if (index < p->strings.len)
		return p->strings.data[index];
	p->bad_references++;
	return (struct range){(const uint8_t *)"", 0};
}

static str_id intern(struct pprof *p, uint64_t index)
{
	struct range r = pprof_string(p, index);
	return tables_strn(p->im->tables, (const char *)r.data, r.len);
}

bool pprof_is(struct range r, const char *s)
{
	return r.len == strlen(s) && !memcmp(r.data, s, r.len);
}

/*
 * Our own comments are the command line, the machine and how it was sampled; of the machine there
 * are four words: "Linux HOST RELEASE MACHINE".
 */
static void know_writer(struct pprof *p)
{
	struct range first = p->comments.len ? pprof_string(p, p->comments.data[0])
					     : (struct range){0};
	p->ours = first.len >= 8 && !memcmp(first.data, "altpttop", 8);
}

static bool read_machine(struct pprof *p, char host[4][96])
{
	if (!p->ours || p->comments.len < 2)
		return false;
	struct range r = pprof_string(p, p->comments.data[1]);
	char text[256], end;
	snprintf(text, sizeof text, "%.*s", (int)(r.len < 255 ? r.len : 255), (const char *)r.data);
	return sscanf(text, "%95s %95s %95s %95s %c", host[0], host[1], host[2], host[3], &end) ==
		       4 &&
	       !strcmp(host[0], "Linux");
}

/* A window that nobody can have watched is none. Beyond a signed 64-bit number it is damage. */
static uint64_t likely_duration(const struct pprof *p)
{
	char text[96];
	if (p->duration_ns > INT64_MAX)
		return 0;
	if (p->duration_ns <= YEARS_MAX * YEAR_NS)
		return p->duration_ns;
	snprintf(text, sizeof text, "it claims to last %llu years: how long it lasted is not known",
		 (unsigned long long)(p->duration_ns / YEAR_NS));
	p->im->sink->ops->say(p->im->sink->ctx, text);
	return 0;
}

/* Where, when and how long. */
static void tell_origin(struct pprof *p)
{
	char host[4][96];
	struct raw_origin o = {.wall_start_ns = p->time_ns <= INT64_MAX ? p->time_ns : 0,
			       .duration_ns = likely_duration(p)};
	if (read_machine(p, host)) {
		o.host = host[1];
		o.release = host[2];
		o.machine = host[3];
	}
	p->im->sink->ops->origin(p->im->sink->ctx, &o);
}

/* --- sample types --- */

/* Where the strings are behind the damage, what is counted has no name any more. */
static void name_type(struct pprof *p, struct value_type *v, uint64_t type)
{
	struct range name = pprof_string(p, type);
	int n = (int)(name.len < sizeof v->name - 1 ? name.len : sizeof v->name - 1);
	if (n)
		snprintf(v->name, sizeof v->name, "%.*s", n, (const char *)name.data);
	else if (p->unnamed++)
		snprintf(v->name, sizeof v->name, "unknown-%u", p->unnamed);
	else
		snprintf(v->name, sizeof v->name, "unknown");
}

/* How many nanoseconds a unit of time is, by the names pprof takes; 0: it is none. */
static uint64_t nanoseconds_of(struct range unit)
{
	static const struct {
		const char *names[4];
		uint64_t ns;
	} units[] = {{{"nanosecond", "ns"}, 1},
		     {{"microsecond", "us", "\u03bcs", "\u00b5s"}, 1000},
		     {{"millisecond", "ms"}, 1000000},
		     {{"second", "sec", "s"}, 1000000000}};
	struct range one = unit;
	if (one.len > 3 && one.data[one.len - 1] == 's')
		one.len--;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		for (size_t k = 0; k < 4 && units[i].names[k]; k++)
			if (pprof_is(unit, units[i].names[k]) || pprof_is(one, units[i].names[k]))
				return units[i].ns;
	return 0;
}

static void read_types(struct pprof *p)
{
	for (size_t i = 0; i < p->types.len && p->nvalues < VALUES_MAX; i++) {
		struct wire w = wire_of(p->types.data[i].data, p->types.data[i].len);
		struct wire_field f;
		uint64_t type = 0, unit = 0;
		while (wire_next(&w, &f))
			*(f.number == 1 ? &type : &unit) = f.value;
		struct range name = pprof_string(p, type), what = pprof_string(p, unit);
		struct value_type *v = &p->values[p->nvalues];
		*v = (struct value_type){.unit = EVENT_COUNT, .factor = 1};
		uint64_t ns = nanoseconds_of(what);
		if (ns)
			*v = (struct value_type){.unit = EVENT_NS, .factor = ns};
		name_type(p, v, type);
		bool plain = pprof_is(what, "count") &&
			     (pprof_is(name, "samples") || pprof_is(name, "sample"));
		if (plain && p->hits < 0)
			p->hits = (int)p->nvalues;
		else if (type == p->default_type && p->default_type)
			p->weight = (int)p->nvalues;
		p->nvalues++;
	}
	/*
	 * No default named: the last time-like value, else the last of all, as pprof itself takes
	 * it; but nothing that is 0 everywhere where there is more to show.
	 */
	for (int pass = 0; pass < 4 && p->weight < 0; pass++)
		for (int i = (int)p->nvalues; i-- > 0 && p->weight < 0;)
			if ((pass > 1 || p->filled & 1u << i) && i != p->hits &&
			    (pass % 2 || p->values[i].unit == EVENT_NS))
				p->weight = i;
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
							   !strcasecmp(v->name, "cpu"),
					       .states = weight && p->ours && v->unit == EVENT_NS &&
							 !strcmp(v->name, "wall")};
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
		struct range path = pprof_string(p, v[MAPPING_FILE]),
			     id = pprof_string(p, v[MAPPING_BUILD_ID]);
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

static struct dense dense_of(const struct pprof *p, uint32_t index, const struct location *l)
{
	if (l->n > 1)
		return (struct dense){.mark = index + 1};
	struct dense d = {.only = p->frames.data[l->first]};
	const struct frame *f = tables_frame_get(p->im->tables, d.only);
	if (f->flags & FRAME_NAMED && d.only != FRAME_OVERFLOW && f->module <= MARK_MODULE)
		d.mark = MARK_NAMED | f->name % MARK_NAMES * (MARK_MODULE + 1) | f->module;
	return d;
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
			if (vec_push(&p->dense, (struct dense){0}))
				return -ENOMEM;
		p->dense.data[v[LOCATION_ID]] = dense_of(p, (uint32_t)p->location.len, &out);
	}
	return vec_push(&p->location, out);
}

/* So many as were counted: a file may have changed since. */
static int deliver_samples(struct pprof *p, struct stream *in)
{
	struct wirestream x = wirestream_of(in);
	struct wire_field f;
	uint64_t left = p->nsamples;
	int rc = 0;
	while (left && !rc && wirestream_next(&x, &f)) {
		if (f.type != 2 || f.number != PROFILE_SAMPLE)
			continue;
		left--;
		rc = import_go_on(p->im) ? pprof_sample(p, (struct range){f.data, f.len})
					 : -ECANCELED;
	}
	wirestream_fini(&x);
	return !rc && left ? -EBADMSG : rc;
}

static int deliver(struct pprof *p, struct stream *in)
{
	know_writer(p);
	read_types(p);
	if (!p->nvalues)
		return -EINVAL;
	announce(p);
	tell_origin(p);
	int rc = read_mappings(p);
	rc = rc ? rc : read_functions(p);
	for (size_t i = 0; i < p->locations.len && !rc; i++)
		rc = read_location(p, p->locations.data[i]);
	return rc ? rc : deliver_samples(p, in);
}

/* What cannot be read twice as it is, unpacked into memory. */
static int read_whole(struct import *im, uint8_t **ret_data, size_t *ret_len, struct err *err)
{
	size_t cap = STEP_BYTES, len = 0, got;
	uint8_t *data = malloc(cap);
	bool wanted = true;
	while (data && (wanted = import_go_on_at(im, stream_done(im->in))) &&
	       (got = stream_read(im->in, data + len, cap - len)) > 0) {
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
	if (!wanted) {
		free(data);
		return -ECANCELED;
	}
	*ret_data = data;
	*ret_len = len;
	return data ? 0 : err_set(err, ENOMEM, "no memory for the profile");
}

/* Twice through the stream: samples may come before what they refer to. */
static int read_twice(struct pprof *p, struct stream *in, int *ret_damage, struct err *err)
{
	*ret_damage = collect(p, in);
	if (*ret_damage && *ret_damage != -EBADMSG)
		return *ret_damage;
	if (!*ret_damage && !p->strings.len)
		return -EINVAL;
	int rc = stream_rewind(in, err);
	return rc ? rc : deliver(p, in);
}

static int pprof_run(struct import *im, struct err *err)
{
	struct pprof p = {.im = im, .weight = -1, .hits = -1};
	struct stream *held = NULL;
	uint8_t *data = NULL;
	size_t len = 0;
	int damage = 0;
	int rc = stream_is_plain(im->in) ? 0 : read_whole(im, &data, &len, err);
	if (!rc && data)
		rc = stream_memory(data, len, &held);
	if (rc) {
		free(data);
		return rc;
	}
	map64_init(&p.mapping_of);
	map64_init(&p.function_of);
	map64_init(&p.location_of);
	map64_init(&p.number_of);
	arena_init(&p.bytes);
	rc = read_twice(&p, held ? held : im->in, &damage, err);
	bool other = rc == -EINVAL && !damage && !p.strings.len;
	if (other)
		err_set(err, EINVAL,
			"not a pprof profile: it is protobuf, but has no texts, so that "
			"nothing in it has a name");
	else if (rc == -EINVAL)
		err_set(err, EINVAL, "a pprof profile without sample types: nothing to show");
	else if (rc == -EBADMSG || (!rc && damage))
		rc = err_set(err, EBADMSG, "the profile is damaged or cut off");
	char text[160];
	if (p.unnamed) {
		snprintf(text, sizeof text, "%s: they are called unknown, and each counts as it is",
			 damage ? "what its values are is behind the damage"
				: "some of its values have no name");
		im->sink->ops->say(im->sink->ctx, text);
	}
	if (p.bad_references || p.negative) {
		snprintf(text, sizeof text,
			 "%llu references lead nowhere, %llu values are negative and left out",
			 (unsigned long long)p.bad_references, (unsigned long long)p.negative);
		im->sink->ops->say(im->sink->ctx, text);
	}
	map64_fini(&p.mapping_of);
	map64_fini(&p.function_of);
	map64_fini(&p.location_of);
	map64_fini(&p.number_of);
	vec_fini(&p.dense);
	vec_fini(&p.comments);
	vec_fini(&p.strings);
	vec_fini(&p.types);
	vec_fini(&p.mappings);
	vec_fini(&p.locations);
	vec_fini(&p.functions);
	vec_fini(&p.mapping);
	vec_fini(&p.function);
	vec_fini(&p.location);
	vec_fini(&p.frames);
	vec_fini(&p.stack);
	vec_fini(&p.label_kinds);
	seen_fini(&p.seen);
	arena_fini(&p.bytes);
	stream_close(held);
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
