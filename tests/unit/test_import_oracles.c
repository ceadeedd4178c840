/*
 * import against what other tools made of the same files: every record that quipper dumps from a
 * perf.data file, and every stack that stackcollapse-perf.pl and inferno fold from perf script
 * text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/vec.h"
#include "counting_sink.h"

#define CORPUS "../shared/corpus/"

/* A bag of lines: what is in it counts, in no order. */
struct bag {
	VEC(char *)
};

static void put(struct bag *b, const char *line)
{
	assert_int_equal(vec_push(b, strdup(line)), 0);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void empty(struct bag *b)
{
	for (size_t i = 0; i < b->len; i++)
		free(b->data[i]);
	vec_fini(b);
}

/* Both hold the same lines, each as often. */
static void same(struct bag *ours, struct bag *theirs, const char *path)
{
	assert_true(theirs->len > 0);
	qsort(ours->data, ours->len, sizeof *ours->data, by_text);
	qsort(theirs->data, theirs->len, sizeof *theirs->data, by_text);
	for (size_t i = 0; i < theirs->len || i < ours->len; i++) {
		const char *a = i < ours->len ? ours->data[i] : "(none)";
		const char *b = i < theirs->len ? theirs->data[i] : "(none)";
		if (strcmp(a, b) != 0)
			fail_msg("%s, line %zu of %zu and %zu:\nours   %s\ntheirs %s", path, i,
				 ours->len, theirs->len, a, b);
	}
	empty(ours);
	empty(theirs);
}

/* --- quipper --- */

static bool has_period;

static void sample_line(struct counting *c, const struct raw_sample *s)
{
	char line[256];
	snprintf(line, sizeof line, "sample ip %llu pid %d tid %d time %llu period %llu",
		 (unsigned long long)s->ip, s->pid, s->tid, (unsigned long long)s->time_ns,
		 has_period ? (unsigned long long)s->weight : 0ull);
	put(c->each_ctx, line);
}

static void mmap_line(struct counting *c, const struct raw_mmap *m)
{
	char line[1024];
	snprintf(line, sizeof line, "mmap pid %d start %llu len %llu pgoff %llu name %.600s",
		 m->pid, (unsigned long long)m->start, (unsigned long long)m->size,
		 (unsigned long long)m->pgoff, m->path);
	put(c->each_ctx, line);
}

struct dumped {
	char kind[40];
	unsigned long long ip, pid, tid, time, period, start, len, pgoff, lost;
	char name[600];
};

static void take_key(struct dumped *d, const char *line)
{
	static const struct {
		const char *key;
		size_t offset;
	} keys[] = {
		{"ip", offsetof(struct dumped, ip)},
		{"pid", offsetof(struct dumped, pid)},
		{"tid", offsetof(struct dumped, tid)},
		{"sample_time_ns", offsetof(struct dumped, time)},
		{"period", offsetof(struct dumped, period)},
		{"start", offsetof(struct dumped, start)},
		{"len", offsetof(struct dumped, len)},
		{"pgoff", offsetof(struct dumped, pgoff)},
		{"num_lost", offsetof(struct dumped, lost)},
	};
	char key[64], value[600];
	if (sscanf(line, " %63[a-z_]: %599[^\n]", key, value) != 2)
		return;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (!strcmp(key, keys[i].key))
			*(unsigned long long *)(void *)((char *)d +
							keys[i].offset) = strtoull(value, NULL, 10);
	if (!strcmp(key, "filename") || !strcmp(key, "comm")) {
		size_t n = strlen(value);
		snprintf(d->name, sizeof d->name, "%.*s", n > 2 ? (int)n - 2 : 0, value + 1);
	}
}

/* What one record's block comes to, as the lines above. */
static void take_block(const struct dumped *d, struct bag *bag, struct bag *comms,
		       unsigned long long *lost)
{
	char line[1024];
	if (!strcmp(d->kind, "sample_event")) {
		snprintf(line, sizeof line, "sample ip %llu pid %d tid %d time %llu period %llu",
			 d->ip, (int)d->pid, (int)d->tid, d->time, d->period);
		put(bag, line);
	} else if (!strcmp(d->kind, "mmap_event")) {
		snprintf(line, sizeof line, "mmap pid %d start %llu len %llu pgoff %llu name %s",
			 (int)d->pid, d->start, d->len, d->pgoff, d->name);
		put(bag, line);
	} else if (!strcmp(d->kind, "comm_event")) {
		snprintf(line, sizeof line, "%d/%d %s", (int)d->pid, (int)d->tid, d->name);
		put(comms, line);
	}
	*lost += !strcmp(d->kind, "lost_samples_event") ? d->lost : 0;
}

static unsigned long long read_dump(const char *path, struct bag *bag, struct bag *comms)
{
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	char *line = NULL;
	size_t cap = 0;
	struct dumped d = {0};
	unsigned long long lost = 0;
	has_period = false;
	while (getline(&line, &cap, f) > 0) {
		if (!strncmp(line, "  ", 2) && line[2] != ' ' && strstr(line, "_event {")) {
			d = (struct dumped){0};
			sscanf(line, " %39[a-z_]", d.kind);
		} else if (!strcmp(line, "  }\n")) {
			take_block(&d, bag, comms, &lost);
			d.kind[0] = 0;
		} else if (!strncmp(line, "    ", 4) && line[4] != ' ') {
			take_key(&d, line);
			has_period |= !strcmp(d.kind, "sample_event") && d.period;
		}
	}
	free(line);
	fclose(f);
	return lost;
}

static void check_dump(const char *name)
{
	char path[512];
	struct bag theirs = {0}, ours = {0}, their_comms = {0}, our_comms = {0};
	struct counting c;
	struct err err = {0};
	snprintf(path, sizeof path, CORPUS "perfdata/%s.parse.pb_text.txt", name);
	unsigned long long lost = read_dump(path, &theirs, &their_comms);
	counting_init(&c);
	c.each_sample = sample_line;
	c.each_mmap = mmap_line;
	c.each_ctx = &ours;
	snprintf(path, sizeof path, CORPUS "perfdata/%s", name);
	if (counting_read(&c, path, NULL, &err))
		fail_msg("%s: %s", path, err.msg);
	same(&ours, &theirs, path);
	for (char *at = c.comms.buf, *end; (end = strchr(at, '\n')); at = end + 1) {
		*end = 0;
		put(&our_comms, at);
	}
	same(&our_comms, &their_comms, path);
	assert_int_equal(c.loss[LOSS_RING], lost);
	counting_fini(&c);
}

static void test_quipper(void **state)
{
	(void)state;
	static const char *const names[] = {
		"branch-4.14",     "ctx_switch_namespaces-4.14", "group_desc-4.14",
		"hybrid_topology", "lost_samples-4.4",           "proc.map.timeout-3.18",
	};
	if (!counting_corpus())
		skip();
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char name[128];
		snprintf(name, sizeof name, "perf_data_converter__perf.data.%s", names[i]);
		check_dump(name);
	}
}

/* --- stackcollapse --- */

struct folding {
	struct bag stacks; /* "comm;outermost;…;innermost COUNT", equal ones summed */
	struct {
		VEC(uint64_t)
	} counts;
	bool annotate, java, rust;
	const char *comms; /* what the sink noted: "pid/tid name\n" */
};

static void add_stack(struct folding *f, const char *stack, uint64_t count)
{
	for (size_t i = 0; i < f->stacks.len; i++)
		if (!strcmp(f->stacks.data[i], stack)) {
			f->counts.data[i] += count;
			return;
		}
	put(&f->stacks, stack);
	assert_int_equal(vec_push(&f->counts, count), 0);
}

/* The last name told of a thread. */
static void comm_of(const struct folding *f, const struct raw_sample *s, char *ret, size_t size)
{
	char key[64];
	size_t n = (size_t)snprintf(key, sizeof key, "%d/%d ", s->pid, s->tid);
	const char *found = NULL;
	for (const char *at = f->comms; at && *at; at = strchr(at, '\n') + 1)
		if (!strncmp(at, key, n))
			found = at + n;
	snprintf(ret, size, "%.*s", found ? (int)strcspn(found, "\n") : 0, found ? found : "");
	for (char *p = ret; *p; p++)
		*p = *p == ' ' ? '_' : *p;
}

/* Arguments, a Java class's L, what is left of Rust's mangling. */
static void spell(const struct folding *f, const char *name, char *ret, size_t size)
{
	static const char *const escapes[][2] = {
		{"$LT$", "<"}, {"$GT$", ">"}, {"$u7b$", "{"}, {"$u7d$", "}"}};
	size_t n = 0;
	int nested = 0; /* inferno leaves alone what template arguments hold */
	if (f->java && name[0] == 'L' && strchr(name, '/'))
		name++;
	while (*name && n + 1 < size) {
		const char *hash = !f->rust || strncmp(name, "::h", 3) ? NULL : name + 3;
		nested += f->rust ? (*name == '<') - (*name == '>') : 0;
		if (*name == '(' && strncmp(name, "(anonymous namespace)", 21) != 0 && n && !nested)
			break;
		if (hash && strlen(hash) == 16 && strspn(hash, "0123456789abcdef") == 16)
			break;
		size_t used = 1;
		char c = *name == ';' ? ':' : *name;
		for (size_t i = 0; f->rust && i < sizeof escapes / sizeof *escapes; i++)
			if (!strncmp(name, escapes[i][0], strlen(escapes[i][0]))) {
				used = strlen(escapes[i][0]);
				c = escapes[i][1][0];
			}
		ret[n++] = c;
		name += used;
	}
	ret[n] = 0;
}

/* As those tools spell a frame: an unknown one by its file, the kernel's marked. */
static void frame_text(const struct folding *f, const struct tables *t, frame_id id, char *ret,
		       size_t size)
{
	const struct frame *x = tables_frame_get(t, id);
	const char *name = tables_text(t, x->name);
	const char *file = tables_text(t, tables_module_get(t, x->module)->path);
	const char *slash = file[0] == '[' ? NULL : strrchr(file, '/');
	const char *base = slash ? slash + 1 : file;
	bool nowhere = !*base || !strcmp(base, "[unknown]");
	if (*name && strcmp(name, "[unknown]") != 0)
		spell(f, name, ret, size);
	else
		snprintf(ret, size, nowhere ? "[unknown]%.0s" : "[%s]", base);
	bool vdso = file[0] == '[' && !nowhere; /* the kernel, to them */
	bool generated = !strncmp(file, "/tmp/perf-", 10);
	const char *mark = generated && x->flags & FRAME_INLINED ? "_[i]"
			   : !f->annotate                        ? ""
			   : x->flags & FRAME_KERNEL || vdso     ? "_[k]"
			   : generated                           ? "_[j]"
								 : "";
	strncat(ret, mark, size - strlen(ret) - 1);
}

static void fold(struct counting *c, const struct raw_sample *s)
{
	struct folding *f = c->each_ctx;
	char stack[65536], frame[4096];
	size_t plain = strcspn(c->events[0].name, ":");
	if (strncmp(c->events[s->event].name, c->events[0].name, plain) != 0)
		return; /* the first event is theirs */
	f->comms = c->comms.buf;
	comm_of(f, s, stack, sizeof stack);
	f->java = !strcmp(stack, "java");
	for (uint32_t i = s->nframes; i-- > 0;) {
		frame_text(f, c->tables, s->frames[i], frame, sizeof frame);
		size_t n = strlen(stack);
		snprintf(stack + n, sizeof stack - n, ";%s", frame);
	}
	add_stack(f, stack, s->weight);
}

static void with_counts(struct folding *f, struct bag *ret)
{
	for (size_t i = 0; i < f->stacks.len; i++) {
		char *line;
		assert_true(asprintf(&line, "%s %llu", f->stacks.data[i],
				     (unsigned long long)f->counts.data[i]) > 0);
		put(ret, line);
		free(line);
	}
	empty(&f->stacks);
	vec_fini(&f->counts);
}

/* @more: what those tools lose, the last stack of a file without a blank line behind it. */
static void check_fold(const char *script, const char *folded, const char *more)
{
	struct folding f = {.rust = !strncmp(script, "inferno", 7)}, expected = {0};
	struct bag ours = {0}, theirs = {0};
	struct counting c;
	struct err err = {0};
	char path[512], *line = NULL;
	size_t cap = 0;
	ssize_t n;
	snprintf(path, sizeof path, CORPUS "folded/%s", folded);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	while ((n = getline(&line, &cap, file)) > 0) {
		char *space = strrchr(line, ' ');
		assert_non_null(space);
		*space = 0;
		f.annotate |= strstr(line, "_[k]") || strstr(line, "_[j]");
		add_stack(&expected, line, strtoull(space + 1, NULL, 10));
	}
	free(line);
	fclose(file);
	if (more) {
		snprintf(path, sizeof path, "%.*s", (int)(strrchr(more, ' ') - more), more);
		add_stack(&expected, path, strtoull(strrchr(more, ' '), NULL, 10));
	}
	with_counts(&expected, &theirs);
	counting_init(&c);
	c.each_sample = fold;
	c.each_ctx = &f;
	snprintf(path, sizeof path, CORPUS "perfscript/%s", script);
	if (counting_read(&c, path, NULL, &err))
		fail_msg("%s: %s", path, err.msg);
	with_counts(&f, &ours);
	same(&ours, &theirs, path);
	counting_fini(&c);
}

static void test_stackcollapse(void **state)
{
	(void)state;
	static const char *const files[][3] = {
		{"FlameGraph__perf-dd-stacks-01.txt",
		 "FlameGraph__perf-dd-stacks-01-collapsed-all.txt",
		 "dd;[unknown];system_call_[k] 10101010"},
		{"FlameGraph__perf-funcab-cmd-01.txt",
		 "FlameGraph__perf-funcab-cmd-01-collapsed-all.txt"},
		{"FlameGraph__perf-funcab-pid-01.txt",
		 "FlameGraph__perf-funcab-pid-01-collapsed-all.txt"},
		{"FlameGraph__perf-iperf-stacks-pidtid-01.txt",
		 "FlameGraph__perf-iperf-stacks-pidtid-01-collapsed-all.txt",
		 "iperf;[unknown];[unknown];[iperf] 1"},
		{"FlameGraph__perf-java-stacks-02.txt",
		 "FlameGraph__perf-java-stacks-02-collapsed-all.txt"},
		{"FlameGraph__perf-numa-stacks-01.txt",
		 "FlameGraph__perf-numa-stacks-01-collapsed-all.txt",
		 "swapper;start_secondary_[k];cpu_startup_entry_[k];arch_cpu_idle_[k];default_idle_[k];native_safe_halt_[k] 1"},
		{"FlameGraph__perf-rust-Yamakaky-dcpu.txt",
		 "FlameGraph__perf-rust-Yamakaky-dcpu-collapsed-all.txt"},
		{"inferno__cpp-stacks-std-function.txt",
		 "inferno__cpp-stacks-std-function-collapsed.txt"},
		{"inferno__java-inline.txt", "inferno__java-inline-collapsed.txt"},
		{"inferno__single-event.txt", "inferno__single-event-collapsed.txt"},
		{"inferno__single-line-stacks.txt", "inferno__single-line-stacks-collapsed.txt"},
	};
	if (!counting_corpus())
		skip();
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		check_fold(files[i][0], files[i][1], files[i][2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quipper),
		cmocka_unit_test(test_stackcollapse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
