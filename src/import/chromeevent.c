/*
 * chromeevent: phases in a table, threads by (pid, tid) whether numbers or names, metadata for
 * names.
 *
 * The same few names and threads come again and again, so that which ones they are is remembered by
 * their text, in front of the tables that know them all. Source thread.
 */
#include "import/chromeevent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "import/spanpair.h"

#define NAMED_ID      (1 << 30) /* ids given to pids and tids that are no numbers */
#define ID_TEXT_MAX   63        /* longer names of pids and tids are cut */
#define TIME_TEXT_MAX 63        /* as digits that a time may have */
#define KNOWN_NAMES   4096
#define KNOWN_THREADS 256

/* Up to 16 bytes of a text: whole, or its ends. */
struct brief {
	uint64_t first, last;
};

struct known_name {
	struct brief brief;
	size_t n;
	const char *text; /* in the tables; @n bytes long when n is more than brief holds */
	str_id id;        /* 0: nothing is known */
};

struct known_thread {
	struct brief pid, tid;
	uint32_t lengths; /* and what is present; 0: nothing is known */
	uint32_t index;
};

struct thread {
	int64_t pid, tid;
	str_id name;
	bool own_name; /* not just the process's */
};

enum other {
	OTHER_ASYNC,
	OTHER_FLOW,
	OTHER_COUNTER,
	OTHER_INSTANT,
	OTHER_SAMPLE,
	OTHER_OBJECT,
	OTHER_REST,
	OTHERS
};
static const char *const other_names[OTHERS] = {
	"async", "flow", "counter", "instant", "sample", "object", "other",
};

struct chrome_events {
	struct import *im;
	struct spanpair *pairs;
	struct map64 thread_of;     /* (pid, tid) → index */
	struct map64 named_ids;     /* str_id → id */
	struct map64 process_names; /* pid → str_id */
	struct {
		VEC(struct thread)
	} threads;
	uint64_t left_out[OTHERS], bad;
	uint32_t next_id;
	struct known_name names[KNOWN_NAMES];
	struct known_thread known[KNOWN_THREADS];
};

static uint64_t load(const char *s, size_t n) /* little-endian or not: only equality matters */
{
	uint64_t word = 0;
	if (n >= 8) {
		memcpy(&word, s, 8);
	} else if (n >= 4) {
		uint32_t a, b;
		memcpy(&a, s, 4);
		memcpy(&b, s + n - 4, 4);
		word = (uint64_t)b << 32 | a;
	} else if (n) {
		word = (uint64_t)(uint8_t)s[0] << 16 | (uint64_t)(uint8_t)s[n / 2] << 8 |
		       (uint8_t)s[n - 1];
	}
	return word;
}

static struct brief brief(const struct chrome_text *t)
{
	return (struct brief){load(t->s, t->n), t->n > 8 ? load(t->s + t->n - 8, 8) : 0};
}

static bool same(struct brief a, struct brief b)
{
	return a.first == b.first && a.last == b.last;
}

static str_id name_of(struct chrome_events *c, const struct chrome_text *t)
{
	if (!t->n)
		return 0;
	struct brief b = brief(t);
	uint64_t middle = t->n > 16 ? load(t->s + t->n / 2 - 4, 8) : 0;
	uint64_t hash = (b.first ^ middle) * 0x9e3779b97f4a7c15ULL ^
			(b.last + t->n) * 0xbf58476d1ce4e5b9ULL;
	struct known_name *k = &c->names[(hash ^ hash >> 29) >> 20 & (KNOWN_NAMES - 1)];
	if (k->id && k->n == t->n && same(k->brief, b) &&
	    (t->n <= 16 || !memcmp(k->text, t->s, t->n)))
		return k->id;
	str_id id = tables_strn(c->im->tables, t->s, t->n);
	const char *text = tables_text(c->im->tables, id);
	if (id && (t->n <= 16 || strlen(text) == t->n)) /* what holds a NUL was cut there */
		*k = (struct known_name){b, t->n, text, id};
	return id;
}

struct chrome_events *chrome_events_new(struct import *im)
{
	struct chrome_events *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->im = im;
	map64_init(&c->thread_of);
	map64_init(&c->named_ids);
	map64_init(&c->process_names);
	if (!(c->pairs = spanpair_new())) {
		chrome_events_free(c);
		return NULL;
	}
	return c;
}

void chrome_events_free(struct chrome_events *c)
{
	if (!c)
		return;
	spanpair_free(c->pairs);
	map64_fini(&c->thread_of);
	map64_fini(&c->named_ids);
	map64_fini(&c->process_names);
	vec_fini(&c->threads);
	free(c);
}

/* Up to 15 digits and a point. False: not so simple. */
static bool simple_ns(const char *s, size_t n, int64_t *ret_ns)
{
	static const uint32_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
	uint64_t mantissa = 0;
	size_t point = n;
	if (!n || n > 16)
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned digit = (unsigned char)s[i] - '0';
		if (digit < 10)
			mantissa = mantissa * 10 + digit;
		else if (s[i] == '.' && point == n)
			point = i;
		else
			return false;
	}
	size_t digits = n - (point < n), decimals = point < n ? n - point - 1 : 0;
	if (!digits || digits > 15 || decimals > 9)
		return false;
	if (decimals <= 3) {
		*ret_ns = (int64_t)(mantissa * tens[3 - decimals]);
	} else {
		uint64_t unit = tens[decimals - 3];
		*ret_ns = (int64_t)((mantissa + unit / 2) / unit);
	}
	return true;
}

bool chrome_ns(const char *s, size_t n, int64_t *ret_ns)
{
	if (simple_ns(s, n, ret_ns))
		return true;
	const char *end = s + n;
	bool minus = s < end && *s == '-';
	s += minus || (s < end && *s == '+');
	unsigned __int128 mantissa = 0;
	int decimals = 0, digits = 0, exponent = 0;
	bool point = false, dropped_half = false;
	for (; s < end && ((unsigned)(*s - '0') < 10 || (*s == '.' && !point)); s++) {
		if (*s == '.') {
			point = true;
			continue;
		}
		digits++;
		if (mantissa < (unsigned __int128)1 << 100) {
			mantissa = mantissa * 10 + (unsigned)(*s - '0');
			decimals += point;
		} else {
			decimals -= !point;
		}
	}
	if (!digits)
		return false;
	if (s < end && (*s == 'e' || *s == 'E')) {
		s++;
		bool down = s < end && *s == '-';
		s += down || (s < end && *s == '+');
		if (s == end)
			return false;
		for (; s < end && (unsigned)(*s - '0') < 10; s++)
			exponent = exponent < 1000 ? exponent * 10 + (*s - '0') : exponent;
		exponent = down ? -exponent : exponent;
	}
	if (s != end)
		return false;
	int shift = 3 - decimals + exponent; /* µs → ns */
	for (; shift < 0 && mantissa; shift++) {
		dropped_half = mantissa % 10 >= 5;
		mantissa /= 10;
	}
	if (shift >= 0) /* else what was dropped last is not the first digit behind the point */
		mantissa += dropped_half;
	for (; shift > 0 && mantissa <= INT64_MAX; shift--)
		mantissa *= 10;
	if (mantissa > INT64_MAX)
		return false;
	*ret_ns = minus ? -(int64_t)mantissa : (int64_t)mantissa;
	return true;
}

/* A pid or tid: a number, a number as a string, or a name that gets a number of its own. */
static int64_t id_of(struct chrome_events *c, const struct chrome_text *t, str_id *ret_name)
{
	char text[ID_TEXT_MAX + 1], *end;
	size_t n = t->n < ID_TEXT_MAX ? t->n : ID_TEXT_MAX;
	memcpy(text, t->s, n);
	text[n] = 0;
	errno = 0;
	long long number = strtoll(text, &end, 10);
	if (n && !*end && !errno && number >= INT32_MIN && number <= INT32_MAX)
		return number;
	*ret_name = tables_strn(c->im->tables, text, n);
	uint32_t id;
	if (map64_get(&c->named_ids, *ret_name, &id))
		return id;
	id = NAMED_ID + c->next_id++;
	map64_put(&c->named_ids, *ret_name, id);
	return id;
}

static bool has(const struct chrome_event *e, enum chrome_key key)
{
	return e->present & 1u << key;
}

static void tell_thread(struct chrome_events *c, uint32_t index)
{
	const struct thread *t = &c->threads.data[index];
	const struct trace_sink *trace = c->im->trace;
	trace->ops->thread(trace->ctx, index, t->pid, t->tid, tables_text(c->im->tables, t->name));
}

static int find_thread(struct chrome_events *c, const struct chrome_event *e, uint32_t *ret_index)
{
	str_id pid_name = 0, tid_name = 0, process;
	int64_t pid = has(e, CHROME_PID) ? id_of(c, &e->text[CHROME_PID], &pid_name) : 0;
	int64_t tid = has(e, CHROME_TID) ? id_of(c, &e->text[CHROME_TID], &tid_name) : pid;
	uint64_t key = hash_pair((uint64_t)pid, (uint64_t)tid);
	if (map64_get(&c->thread_of, key, ret_index))
		return 0;
	struct thread t = {pid, tid, tid_name ? tid_name : pid_name, tid_name != 0};
	if (!t.name && map64_get(&c->process_names, (uint64_t)pid, &process))
		t.name = process;
	*ret_index = (uint32_t)c->threads.len;
	int rc = vec_push(&c->threads, t);
	rc = rc ? rc : map64_put(&c->thread_of, key, *ret_index);
	if (!rc)
		tell_thread(c, *ret_index);
	return rc;
}

static int thread_of(struct chrome_events *c, const struct chrome_event *e, uint32_t *ret_index)
{
	static const struct chrome_text none = {"", 0};
	const struct chrome_text *pid = has(e, CHROME_PID) ? &e->text[CHROME_PID] : &none;
	const struct chrome_text *tid = has(e, CHROME_TID) ? &e->text[CHROME_TID] : &none;
	if (pid->n > 16 || tid->n > 16)
		return find_thread(c, e, ret_index);
	struct known_thread now = {.pid = brief(pid), .tid = brief(tid)};
	now.lengths = 1u << 31 | (e->present & (1u << CHROME_PID | 1u << CHROME_TID)) << 16 |
		      (uint32_t)(pid->n << 8 | tid->n);
	uint64_t hash = (now.pid.first * 31 + now.tid.first) * 0x9e3779b97f4a7c15ULL + now.tid.last;
	struct known_thread *k = &c->known[hash >> 56];
	if (k->lengths != now.lengths || !same(k->pid, now.pid) || !same(k->tid, now.tid)) {
		int rc = find_thread(c, e, &now.index);
		if (rc)
			return rc;
		*k = now;
	}
	*ret_index = k->index;
	return 0;
}

static int metadata(struct chrome_events *c, const struct chrome_event *e)
{
	const struct tables *tables = c->im->tables;
	str_id args_name = has(e, CHROME_ARGS_NAME) ? name_of(c, &e->text[CHROME_ARGS_NAME]) : 0;
	const char *what = tables_text(tables,
				       has(e, CHROME_NAME) ? name_of(c, &e->text[CHROME_NAME]) : 0);
	uint32_t index;
	if (!args_name)
		return 0;
	if (!strcmp(what, "thread_name")) {
		int rc = thread_of(c, e, &index);
		if (rc)
			return rc;
		c->threads.data[index].name = args_name;
		c->threads.data[index].own_name = true;
		tell_thread(c, index);
	} else if (!strcmp(what, "process_name")) {
		str_id none = 0;
		int64_t pid = has(e, CHROME_PID) ? id_of(c, &e->text[CHROME_PID], &none) : 0;
		map64_put(&c->process_names, (uint64_t)pid, args_name);
		for (index = 0; index < c->threads.len; index++) {
			struct thread *t = &c->threads.data[index];
			if (t->pid != pid || t->own_name)
				continue;
			t->name = args_name;
			tell_thread(c, index);
		}
	}
	return 0;
}

static int leave_out(struct chrome_events *c, enum other kind)
{
	c->left_out[kind]++;
	return 0;
}

static bool time_of(const struct chrome_event *e, enum chrome_key key, int64_t *ret_ns)
{
	size_t n = e->text[key].n;
	return has(e, key) &&
	       chrome_ns(e->text[key].s, n < TIME_TEXT_MAX ? n : TIME_TEXT_MAX, ret_ns);
}

static int span_event(struct chrome_events *c, const struct chrome_event *e)
{
	int64_t ts, dur = 0;
	uint32_t thread;
	if (!time_of(e, CHROME_TS, &ts) ||
	    (e->phase == 'X' && (!time_of(e, CHROME_DUR, &dur) || dur < 0))) {
		c->bad++;
		return 0;
	}
	int rc = thread_of(c, e, &thread);
	if (rc)
		return rc;
	str_id name = has(e, CHROME_NAME) ? name_of(c, &e->text[CHROME_NAME]) : 0;
	if (!name && e->phase != 'E')
		name = tables_str(c->im->tables, "(no name)");
	if (e->phase == 'B')
		return spanpair_begin(c->pairs, thread, ts, name);
	if (e->phase == 'E')
		return spanpair_end(c->pairs, thread, ts, name);
	int64_t end;
	if (__builtin_add_overflow(ts, dur, &end))
		end = INT64_MAX;
	rc = spanpair_seen(c->pairs, thread, end);
	struct trace_span s = {ts, (uint64_t)dur, name, thread};
	return rc ? rc : c->im->trace->ops->span(c->im->trace->ctx, &s);
}

static const struct {
	const char *phases;
	enum other kind;
} others[] = {
	{"bneSTpF", OTHER_ASYNC}, {"stf", OTHER_FLOW}, {"C", OTHER_COUNTER},
	{"iIRG", OTHER_INSTANT},  {"P", OTHER_SAMPLE}, {"NOD", OTHER_OBJECT},
};

int chrome_events_add(struct chrome_events *c, const struct chrome_event *e)
{
	switch (e->phase) {
	case 'X':
	case 'B':
	case 'E': return span_event(c, e);
	case 'M': return metadata(c, e);
	default: break;
	}
	for (size_t i = 0; e->phase && i < sizeof others / sizeof *others; i++)
		if (strchr(others[i].phases, e->phase))
			return leave_out(c, others[i].kind);
	return leave_out(c, OTHER_REST);
}

int chrome_events_finish(struct chrome_events *c)
{
	int rc = spanpair_finish(c->pairs, c->im->trace);
	char text[512] = "left out:"; /* ten numbers of 20 digits fit */
	size_t used = strlen(text), start = used;
	for (int i = 0; i < OTHERS; i++)
		if (c->left_out[i])
			used += (size_t)snprintf(text + used, sizeof text - used, "%s %llu %s",
						 used == start ? "" : ",",
						 (unsigned long long)c->left_out[i],
						 other_names[i]);
	if (spanpair_unopened(c->pairs))
		used += (size_t)snprintf(text + used, sizeof text - used,
					 "%s %llu ends without begin", used == start ? "" : ",",
					 (unsigned long long)spanpair_unopened(c->pairs));
	if (c->bad)
		used += (size_t)snprintf(text + used, sizeof text - used,
					 "%s %llu spans without a good time",
					 used == start ? "" : ",", (unsigned long long)c->bad);
	if (spanpair_unclosed(c->pairs) && used < sizeof text)
		used += (size_t)snprintf(
			text + used, sizeof text - used,
			"%s %llu begins without end reach to their thread's last time",
			used == start ? " nothing;" : ";",
			(unsigned long long)spanpair_unclosed(c->pairs));
	if (used > start)
		c->im->sink->ops->say(c->im->sink->ctx, text);
	return rc;
}
