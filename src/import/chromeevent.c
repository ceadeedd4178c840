/*
 * chromeevent: phases in a table, threads by (pid, tid) whether numbers or names, metadata for
 * names.
 */
#include "import/chromeevent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "import/spanpair.h"

#define NAMED_ID (1 << 30) /* ids given to pids and tids that are no numbers */

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
};

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

bool chrome_ns(const char *s, size_t n, int64_t *ret_ns)
{
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
	if (shift >= 0 || !mantissa)
		mantissa += dropped_half;
	for (; shift > 0 && mantissa <= INT64_MAX; shift--)
		mantissa *= 10;
	if (mantissa > INT64_MAX)
		return false;
	*ret_ns = minus ? -(int64_t)mantissa : (int64_t)mantissa;
	return true;
}

/* A pid or tid: a number, a number as a string, or a name that gets a number of its own. */
static int64_t id_of(struct chrome_events *c, const struct chrome_value *v, str_id *ret_name)
{
	char *end;
	errno = 0;
	long long number = strtoll(v->text, &end, 10);
	if (v->n && !*end && !errno && number >= INT32_MIN && number <= INT32_MAX)
		return number;
	*ret_name = tables_strn(c->im->tables, v->text, v->n);
	uint32_t id;
	if (map64_get(&c->named_ids, *ret_name, &id))
		return id;
	id = NAMED_ID + c->next_id++;
	map64_put(&c->named_ids, *ret_name, id);
	return id;
}

static void tell_thread(struct chrome_events *c, uint32_t index)
{
	const struct thread *t = &c->threads.data[index];
	const struct trace_sink *trace = c->im->trace;
	trace->ops->thread(trace->ctx, index, t->pid, t->tid, tables_text(c->im->tables, t->name));
}

static int thread_of(struct chrome_events *c, const struct chrome_event *e, uint32_t *ret_index)
{
	str_id pid_name = 0, tid_name = 0, process;
	int64_t pid = e->pid.known ? id_of(c, &e->pid, &pid_name) : 0;
	int64_t tid = e->tid.known ? id_of(c, &e->tid, &tid_name) : pid;
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

static int metadata(struct chrome_events *c, const struct chrome_event *e)
{
	const char *what = tables_text(c->im->tables, e->name);
	uint32_t index;
	if (!e->args_name)
		return 0;
	if (!strcmp(what, "thread_name")) {
		int rc = thread_of(c, e, &index);
		if (rc)
			return rc;
		c->threads.data[index].name = e->args_name;
		c->threads.data[index].own_name = true;
		tell_thread(c, index);
	} else if (!strcmp(what, "process_name")) {
		str_id none = 0;
		int64_t pid = e->pid.known ? id_of(c, &e->pid, &none) : 0;
		map64_put(&c->process_names, (uint64_t)pid, e->args_name);
		for (index = 0; index < c->threads.len; index++) {
			struct thread *t = &c->threads.data[index];
			if (t->pid != pid || t->own_name)
				continue;
			t->name = e->args_name;
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

static int span_event(struct chrome_events *c, const struct chrome_event *e)
{
	int64_t ts, dur = 0;
	uint32_t thread;
	if (!e->ts.known || !chrome_ns(e->ts.text, e->ts.n, &ts) ||
	    (e->phase == 'X' &&
	     (!e->dur.known || !chrome_ns(e->dur.text, e->dur.n, &dur) || dur < 0))) {
		c->bad++;
		return 0;
	}
	int rc = thread_of(c, e, &thread);
	if (rc)
		return rc;
	str_id name = e->name           ? e->name
		      : e->phase == 'E' ? 0
					: tables_str(c->im->tables, "(no name)");
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
	char text[256] = "left out:";
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
