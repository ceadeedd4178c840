/*
 * demo_server: the jobs that share one index under one lock: serving requests and reindexing.
 *
 * Runs in the child of --demo. A request is parsed, its JSON body read by a recursive parser, the
 * index asked under the lock, a page rendered. The indexer holds the same lock for longer, so that
 * workers are seen waiting for it.
 */
#include "demo.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP        static __attribute__((noinline))
#define INDEX_SLOTS 4096

static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t index_slots[INDEX_SLOTS];

STEP uint64_t hash_key(const char *key, size_t len)
{
	uint64_t h = 14695981039346656037ull; /* FNV-1a */
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)key[i]) * 1099511628211ull;
	return h;
}

STEP uint64_t look_up(const char *key)
{
	uint64_t h = hash_key(key, strlen(key)), found = 0;
	pthread_mutex_lock(&index_lock);
	for (uint64_t i = 0; i < 64; i++)
		found += index_slots[(h + i * i) % INDEX_SLOTS];
	index_slots[h % INDEX_SLOTS]++;
	pthread_mutex_unlock(&index_lock);
	return found;
}

/* A recursive-descent reader of the JSON that make_body writes. Each returns the text behind. */

STEP const char *parse_value(struct demo_thread *t, const char *p);

STEP const char *parse_number(struct demo_thread *t, const char *p)
{
	char *end;
	t->sum += strtoul(p, &end, 10);
	return end > p ? end : p + 1;
}

STEP const char *parse_string(struct demo_thread *t, const char *p)
{
	const char *start = ++p;
	while (*p && *p != '"')
		p++;
	t->sum += hash_key(start, (size_t)(p - start));
	return *p ? p + 1 : p;
}

STEP const char *parse_list(struct demo_thread *t, const char *p, char close)
{
	p++;
	while (*p && *p != close)
		p = *p == ',' || *p == ':' ? p + 1 : parse_value(t, p);
	return *p ? p + 1 : p;
}

STEP const char *parse_value(struct demo_thread *t, const char *p)
{
	switch (*p) {
	case '{': return parse_list(t, p, '}');
	case '[': return parse_list(t, p, ']');
	case '"': return parse_string(t, p);
	default: return parse_number(t, p);
	}
}

STEP size_t make_body(struct demo_thread *t, char *out, unsigned depth)
{
	size_t n = (size_t)sprintf(out, "{\"id\":%u,\"name\":\"item-%u\",\"parts\":[",
				   demo_random(t, 10000), demo_random(t, 10000));
	for (unsigned i = 0; i < 2 && depth; i++) {
		if (i)
			out[n++] = ',';
		n += make_body(t, out + n, depth - 1);
	}
	return n + (size_t)sprintf(out + n, "]}");
}

STEP size_t read_request(struct demo_thread *t)
{
	size_t n = (size_t)sprintf(t->text,
				   "POST /item/%u?sort=name&page=%u HTTP/1.1\r\n"
				   "Host: demo.example\r\nAccept: text/html\r\n"
				   "User-Agent: demo/1.0 (altpttop)\r\n\r\n",
				   demo_random(t, 100000), demo_random(t, 50));
	return n + make_body(t, t->text + n, 6);
}

/* Headers are looked at one by one, as a careless server would. */
STEP const char *parse_headers(struct demo_thread *t)
{
	const char *line = t->text, *end;
	while ((end = strstr(line, "\r\n")) && end != line) {
		const char *colon = memchr(line, ':', (size_t)(end - line));
		if (colon)
			t->sum += hash_key(line, (size_t)(colon - line));
		line = end + 2;
	}
	return end ? end + 2 : line;
}

STEP char *escape_char(char *out, char c)
{
	const char *as = c == '"' ? "&quot;" : c == '<' ? "&lt;" : c == '&' ? "&amp;" : NULL;
	if (!as) {
		*out = c;
		return out + 1;
	}
	size_t n = strlen(as);
	memcpy(out, as, n);
	return out + n;
}

STEP void render_page(struct demo_thread *t, size_t len)
{
	char *out = t->page;
	for (size_t i = 0; i < len && out < t->page + sizeof t->page - 8; i++)
		out = escape_char(out, t->text[i]);
	*out = 0;
	t->sum += (uint64_t)(out - t->page);
}

void demo_serve_request(struct demo_thread *t)
{
	char key[32];
	size_t len = read_request(t);
	parse_value(t, parse_headers(t));
	for (unsigned i = 0; i < 20; i++) {
		snprintf(key, sizeof key, "item-%u", demo_random(t, 10000));
		t->sum += look_up(key);
	}
	render_page(t, len);
}

STEP void rebuild_slots(struct demo_thread *t)
{
	for (unsigned i = 0; i < INDEX_SLOTS; i++)
		index_slots[i] = index_slots[i] * 6364136223846793005ull + (t->random | 1);
}

void demo_reindex(struct demo_thread *t)
{
	char key[32];
	pthread_mutex_lock(&index_lock);
	for (unsigned i = 0; i < 20; i++)
		rebuild_slots(t);
	pthread_mutex_unlock(&index_lock);
	for (unsigned i = 0; i < 2000; i++) {
		int n = snprintf(key, sizeof key, "item-%u", demo_random(t, 10000));
		t->sum += hash_key(key, (size_t)n);
	}
}
