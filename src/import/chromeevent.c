/*
 * chromeevent: phases in a table, threads by (pid, tid) whether numbers or names, metadata for
 * names.
 *
 * The same few names and threads come again and again, so that which ones they are is remembered by
 * their text, in front of the tables that know them all. Threads beyond TRACE_THREADS_MOST are one,
 * called [overflow]. Names of threads are told at the end, so that renaming costs nothing.
 */
#include "import/chromeevent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define NAMED_ID      (1 << 30) /* ids given to pids and tids that are no numbers */
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
	str_id name;      /* its own; 0: its process's */
	uint32_t process; /* index */
};

enum other {
	OTHER_ASYNC,
	OTHER_FLOW,
	OTHER_COUNTER,
	OTHER_INSTANT,
	OTHER_SAMPLE,
	OTHER_OBJECT,
	OTHER_TOTAL,
	OTHER_REST,
	OTHERS
};
static const char *const other_names[OTHERS] = {
	"async", "flow", "counter", "instant", "sample", "object", "sums of spans", "other",
};

struct chrome_events {
	struct tables *tables;
	struct map64 thread_of;  /* (pid, tid) → index */
	struct map64 process_of; /* pid → index */
	struct map64 named_ids;  /* str_id → id */
	struct {
		VEC(struct thread)
	} threads;
	struct {
		VEC(str_id)
	} processes; /* names; 0 none */
	str_id no_name, overflow;
	uint64_t left_out[OTHERS], bad, crowded, profiles;
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

/* What finds no room in the tables is [overflow]. */
static str_id intern(struct chrome_events *c, const struct chrome_text *t)
{
	str_id id = tables_strn(c->tables, t->s, t->n);
	return id || !t->n || !t->s[0] ? id : c->overflow;
}

static bool is_known(const struct known_name *k, const struct chrome_text *t, struct brief b)
{
	return k->id && k->n == t->n && same(k->brief, b) &&
	       (t->n <= 16 || !memcmp(k->text, t->s, t->n));
}

/* Each name has two places; the one that was found last stands in the first. */
static str_id name_of(struct chrome_events *c, const struct chrome_text *t)
{
	if (!t->n)
		return 0;
	struct brief b = brief(t);
	uint64_t middle = t->n > 16 ? load(t->s + t->n / 2 - 4, 8) : 0;
	uint64_t hash = (b.first ^ middle) * 0x9e3779b97f4a7c15ULL ^
			(b.last + t->n) * 0xbf58476d1ce4e5b9ULL;
	struct known_name *k = &c->names[(hash ^ hash >> 29) >> 20 & (KNOWN_NAMES - 2)];
	if (is_known(k, t, b))
		return k->id;
	struct known_name first = k[0];
	if (is_known(k + 1, t, b)) {
		k[0] = k[1];
		k[1] = first;
		return k->id;
	}
	str_id id = intern(c, t);
	const char *text = tables_text(c->tables, id);
	if (id == c->overflow || (t->n > 16 && strlen(text) != t->n))
		return id; /* what holds a NUL was cut there */
	k[1] = first;
	k[0] = (struct known_name){b, t->n, text, id};
	return id;
}

struct chrome_events *chrome_events_new(struct tables *tables)
{
	struct chrome_events *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->tables = tables;
	map64_init(&c->thread_of);
	map64_init(&c->process_of);
	map64_init(&c->named_ids);
	c->no_name = tables_str(tables, "(no name)");
	c->overflow = tables_str(tables, "[overflow]");
	return c;
}

void chrome_events_free(struct chrome_events *c)
{
	if (!c)
		return;
	map64_fini(&c->thread_of);
	map64_fini(&c->process_of);
	map64_fini(&c->named_ids);
	vec_fini(&c->threads);
	vec_fini(&c->processes);
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

/* Digits that fit 32 bits, perhaps behind a minus. */
static bool plain_id(const struct chrome_text *t, int64_t *ret_id)
{
	bool minus = t->n && t->s[0] == '-';
	int64_t id = 0;
	if (t->n == minus || t->n > 11)
		return false;
	for (size_t i = minus; i < t->n; i++) {
		unsigned digit = (unsigned char)t->s[i] - '0';
		if (digit > 9)
			return false;
		id = id * 10 + digit;
	}
	*ret_id = minus ? -id : id;
	return id <= INT32_MAX;
}

static bool has(const struct chrome_event *e, enum chrome_key key)
{
	return e->present & 1u << key;
}

/*
 * A pid or tid: a number, a number as a string, or a name that gets a number of its own; where
 * there is none it stays what it is. -EOVERFLOW: there are too many names.
 */
static int id_of(struct chrome_events *c, const struct chrome_event *e, enum chrome_key key,
		 int64_t *io_id, str_id *ret_name)
{
	uint32_t id;
	*ret_name = 0;
	if (!has(e, key) || plain_id(&e->text[key], io_id))
		return 0;
	*ret_name = intern(c, &e->text[key]);
	if (!map64_get(&c->named_ids, *ret_name, &id)) {
		if (c->next_id == TRACE_THREADS_MOST)
			return -EOVERFLOW;
		id = NAMED_ID + c->next_id++;
		if (map64_put(&c->named_ids, *ret_name, id))
			return -ENOMEM;
	}
	*io_id = id;
	return 0;
}

/* The process @pid, called @name if it is new. -EOVERFLOW: there are too many. */
static int find_process(struct chrome_events *c, int64_t pid, str_id name, uint32_t *ret_index)
{
	if (map64_get(&c->process_of, (uint64_t)pid, ret_index))
		return 0;
	if (c->processes.len == TRACE_THREADS_MOST)
		return -EOVERFLOW;
	*ret_index = (uint32_t)c->processes.len;
	int rc = vec_push(&c->processes, name);
	return rc ? rc : map64_put(&c->process_of, (uint64_t)pid, *ret_index);
}

/* -EOVERFLOW: it is none of those that are told apart. */
static int find_thread(struct chrome_events *c, const struct chrome_event *e, uint32_t *ret_index)
{
	struct thread t = {0};
	str_id process;
	int rc = id_of(c, e, CHROME_PID, &t.pid, &process);
	t.tid = t.pid;
	rc = rc ? rc : id_of(c, e, CHROME_TID, &t.tid, &t.name);
	uint64_t key = (uint64_t)(uint32_t)t.pid << 32 | (uint32_t)t.tid;
	if (rc || map64_get(&c->thread_of, key, ret_index))
		return rc;
	rc = c->threads.len == TRACE_THREADS_MOST ? -EOVERFLOW
						  : find_process(c, t.pid, process, &t.process);
	if (rc)
		return rc;
	*ret_index = (uint32_t)c->threads.len;
	rc = vec_push(&c->threads, t);
	return rc ? rc : map64_put(&c->thread_of, key, *ret_index);
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

static bool is_text(const struct chrome_event *e, enum chrome_key key, const char *text)
{
	const struct chrome_text *t = &e->text[key];
	return has(e, key) && t->n == strlen(text) && !memcmp(t->s, text, t->n);
}

static int metadata(struct chrome_events *c, const struct chrome_event *e)
{
	bool of_thread = is_text(e, CHROME_NAME, "thread_name");
	int64_t pid = 0;
	str_id name = has(e, CHROME_ARGS_NAME) ? name_of(c, &e->text[CHROME_ARGS_NAME]) : 0;
	str_id none;
	uint32_t index;
	int rc = 0;
	if (!name || (!of_thread && !is_text(e, CHROME_NAME, "process_name")))
		return 0;
	if (of_thread) {
		rc = thread_of(c, e, &index);
		if (!rc)
			c->threads.data[index].name = name;
	} else {
		rc = id_of(c, e, CHROME_PID, &pid, &none);
		rc = rc ? rc : find_process(c, pid, name, &index);
		if (!rc)
			c->processes.data[index] = name;
	}
	return rc == -EOVERFLOW ? 0 : rc;
}

static bool time_of(const struct chrome_event *e, enum chrome_key key, int64_t *ret_ns)
{
	return has(e, key) && chrome_ns(e->text[key].s, e->text[key].n, ret_ns);
}

static int span_event(struct chrome_events *c, const struct chrome_event *e,
		      struct chrome_record *ret_record)
{
	struct trace_span *s = &ret_record->span;
	int64_t dur = 0;
	if (!time_of(e, CHROME_TS, &s->start_ns) ||
	    (e->phase == 'X' && (!time_of(e, CHROME_DUR, &dur) || dur < 0))) {
		c->bad++;
		return 0;
	}
	s->dur_ns = (uint64_t)dur;
	ret_record->kind = e->phase == 'X'   ? CHROME_SPAN
			   : e->phase == 'B' ? CHROME_BEGIN
					     : CHROME_END;
	int rc = thread_of(c, e, &s->thread);
	if (rc == -EOVERFLOW && e->phase != 'X') {
		c->crowded++; /* what ends what cannot be told there */
		return 0;
	}
	if (rc == -EOVERFLOW)
		s->thread = TRACE_THREADS_MOST;
	else if (rc)
		return rc;
	s->name = has(e, CHROME_NAME) ? name_of(c, &e->text[CHROME_NAME]) : 0;
	if (!s->name && e->phase != 'E')
		s->name = c->no_name;
	return 1;
}

static const struct {
	const char *phases;
	enum other kind;
} others[] = {
	{"bneSTpF", OTHER_ASYNC}, {"stf", OTHER_FLOW}, {"C", OTHER_COUNTER},
	{"iIRG", OTHER_INSTANT},  {"P", OTHER_SAMPLE}, {"NOD", OTHER_OBJECT},
};

/* clang -ftime-trace sums up its spans of a name in one more, on a thread of its own, from 0 on. */
static bool is_sum(const struct chrome_event *e)
{
	static const char start[] = "Total ";
	const struct chrome_text *name = &e->text[CHROME_NAME];

	return e->average && e->phase == 'X' && e->present & 1u << CHROME_NAME &&
	       name->n > strlen(start) && !memcmp(name->s, start, strlen(start));
}

static bool is_profile(const struct chrome_event *e)
{
	return is_text(e, CHROME_NAME, "ProfileChunk") || is_text(e, CHROME_NAME, "Profile") ||
	       is_text(e, CHROME_NAME, "CpuProfile");
}

int chrome_events_read(struct chrome_events *c, const struct chrome_event *e,
		       struct chrome_record *ret_record)
{
	enum other kind = OTHER_REST;
	if (is_sum(e)) {
		c->left_out[OTHER_TOTAL]++;
		return 0;
	}
	if (e->phase == 'X' || e->phase == 'B' || e->phase == 'E')
		return span_event(c, e, ret_record);
	if (e->phase == 'M')
		return metadata(c, e);
	if (is_profile(e)) {
		c->profiles++;
		return 0;
	}
	for (size_t i = 0; e->phase && i < sizeof others / sizeof *others; i++)
		if (strchr(others[i].phases, e->phase))
			kind = others[i].kind;
	c->left_out[kind]++;
	return 0;
}

uint64_t chrome_events_profiles(const struct chrome_events *c)
{
	return c->profiles;
}

void chrome_events_threads(const struct chrome_events *c, const struct trace_sink *trace)
{
	for (uint32_t i = 0; i < c->threads.len; i++) {
		const struct thread *t = &c->threads.data[i];
		str_id name = t->name ? t->name : c->processes.data[t->process];
		trace->ops->thread(trace->ctx, i, t->pid, t->tid, tables_text(c->tables, name));
	}
	if (c->threads.len == TRACE_THREADS_MOST)
		trace->ops->thread(trace->ctx, TRACE_THREADS_MOST, 0, 0, "[overflow]");
}

void chrome_events_summary(const struct chrome_events *c, uint64_t unopened, uint64_t unclosed,
			   char ret_text[CHROME_SUMMARY])
{
	struct part {
		uint64_t n;
		const char *what;
	} parts[OTHERS + 3] = {{0}};
	static const char start[] = "left out:"; /* ten numbers of 20 digits fit */
	size_t used = 0;
	for (int i = 0; i < OTHERS; i++)
		parts[i] = (struct part){c->left_out[i], other_names[i]};
	parts[OTHERS] = (struct part){unopened, "ends without begin"};
	parts[OTHERS + 1] = (struct part){c->bad, "spans without a good time"};
	parts[OTHERS + 2] = (struct part){c->crowded, "begins and ends of threads in [overflow]"};
	ret_text[0] = 0;
	for (int i = 0; i < OTHERS + 3; i++)
		if (parts[i].n)
			used += (size_t)snprintf(ret_text + used, CHROME_SUMMARY - used,
						 "%s %llu %s", used ? "," : start,
						 (unsigned long long)parts[i].n, parts[i].what);
	if (unclosed)
		snprintf(ret_text + used, CHROME_SUMMARY - used,
			 "%s %llu begins without end reach to their thread's last time",
			 used ? ";" : "left out: nothing;", (unsigned long long)unclosed);
}
