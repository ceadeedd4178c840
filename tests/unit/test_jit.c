/*
 * jittable and jitmap: perf maps and jitdump as they grow, code that replaces code, damaged files,
 * and the corpus's files where they lie beside the checkout.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbol/jitmap.h"
#include "symbol/resolver.h"

static int setup(void **state)
{
	static struct jittable t;

	jittable_init(&t);
	*state = &t;
	return 0;
}

static int teardown(void **state)
{
	jittable_fini(*state);
	return 0;
}

static void test_lines(void **state)
{
	static const char text[] =
		"1000 20 foo bar\n0x2000 0x10 LazyCompile:*x a.js:1\r\nnonsense\n"
		"zz 10 bad\n3000 10\nffffffffffffffff 10 wraps\n4000 0 empty\n5000 8 ha";
	struct jittable *t = *state;
	struct jit_symbol s;
	size_t used = perfmap_read(t, text, strlen(text));

	assert_string_equal(text + used, "5000 8 ha"); /* not whole yet */
	assert_true(jittable_find(t, 0x1000, &s));
	assert_string_equal(s.name, "foo bar");
	assert_true(jittable_find(t, 0x101f, &s));
	assert_false(jittable_find(t, 0x1020, &s));
	assert_true(jittable_find(t, 0x2004, &s));
	assert_string_equal(s.name, "LazyCompile:*x a.js:1");
	assert_true(jittable_find(t, 0x4000, &s));
	assert_false(jittable_find(t, 0x4001, &s));
	assert_int_equal(t->refused, 4);
}

static void test_replaced(void **state)
{
	static const char text[] = "1000 100 old\n1010 10 new\n0 10000 whole\n1014 4 newest\n";
	struct jittable *t = *state;
	struct jit_symbol s;

	perfmap_read(t, text, 13 + 12);
	assert_true(jittable_find(t, 0x1012, &s));
	assert_string_equal(s.name, "new");
	assert_true(jittable_find(t, 0x1022, &s));
	assert_string_equal(s.name, "old");
	perfmap_read(t, text + 25, strlen(text) - 25);
	assert_true(jittable_find(t, 0x1012, &s));
	assert_string_equal(s.name, "whole");
	assert_true(jittable_find(t, 0x1015, &s));
	assert_string_equal(s.name, "newest");
}

/* By name, each generation is found again. */
static void test_named(void **state)
{
	static const char text[] = "1000 100 old\n1000 10 new\n2000 10 old\n"
				   "4000 10 moved\n3000 10 moved\n";
	struct jittable *t = *state;
	struct jit_symbol s;

	perfmap_read(t, text, strlen(text));
	assert_true(jittable_find_named(t, 0x1000, "old", &s));
	assert_int_equal(s.end, 0x1100);
	assert_true(jittable_find_named(t, 0x1000, "new", &s));
	assert_int_equal(s.end, 0x1010);
	assert_true(jittable_find_named(t, 0, "old", &s));
	assert_int_equal(s.start, 0x2000); /* the last */
	assert_true(jittable_find_named(t, 0, "moved", &s));
	assert_int_equal(s.start, 0x3000); /* written last, wherever it lies */
	assert_false(jittable_find_named(t, 0x1001, "old", &s));
	assert_false(jittable_find_named(t, 0, "none", &s));
}

/* ---- jitdump ---- */

struct dump {
	uint8_t bytes[4096];
	size_t len;
};

static void put(struct dump *d, uint64_t v, size_t n)
{
	memcpy(d->bytes + d->len, &v, n);
	d->len += n;
}

static void put_text(struct dump *d, const char *s)
{
	memcpy(d->bytes + d->len, s, strlen(s) + 1);
	d->len += strlen(s) + 1;
}

static void header(struct dump *d)
{
	put(d, 0x4a695444, 4);
	put(d, 1, 4);
	put(d, 40, 4);
	put(d, 62, 4);
	put(d, 0, 4);
	put(d, (uint64_t)getpid(), 4);
	put(d, 0, 8);
	put(d, 0, 8);
}

static void load(struct dump *d, uint64_t addr, const char *name, const char *code, size_t size)
{
	put(d, 0, 4);
	put(d, 16 + 40 + strlen(name) + 1 + size, 4);
	put(d, 1, 8);
	put(d, 1, 4);
	put(d, 1, 4);
	put(d, addr, 8);
	put(d, addr, 8);
	put(d, size, 8);
	put(d, 1, 8);
	put_text(d, name);
	memcpy(d->bytes + d->len, code, size);
	d->len += size;
}

static void lines(struct dump *d, uint64_t addr)
{
	put(d, 2, 4);
	put(d, 16 + 16 + 16 + 5 + 16 + 2, 4);
	put(d, 1, 8);
	put(d, addr, 8);
	put(d, 2, 8);
	put(d, addr, 8);
	put(d, 10, 4);
	put(d, 0, 4);
	put_text(d, "a.js");
	put(d, addr + 4, 8);
	put(d, 12, 4);
	put(d, 0, 4);
	put_text(d, "\xff");
}

static void test_dump(void **state)
{
	struct jittable *t = *state;
	struct jit_symbol s;
	struct dump d = {.len = 0};
	size_t used = 0;

	header(&d);
	lines(&d, 0x7000);
	load(&d, 0x7000, "js:f", "\x90\x90\x90\x90\xc3", 5);
	/* Byte by byte, as it would grow. */
	for (size_t n = 0; n <= d.len; n++)
		used += jitdump_read(t, d.bytes + used, n - used);
	assert_int_equal(used, d.len);
	assert_true(jittable_find(t, 0x7001, &s));
	assert_string_equal(s.name, "js:f");
	assert_string_equal(s.file, "a.js");
	assert_int_equal(s.line, 10);
	assert_true(jittable_find(t, 0x7004, &s));
	assert_int_equal(s.line, 12);
	assert_memory_equal(d.bytes + s.code, "\x90\x90\x90\x90\xc3", 5);
	assert_int_equal(t->refused, 0);
}

static void test_dump_damaged(void **state)
{
	struct jittable *t = *state;
	struct dump d = {.len = 0};
	uint8_t none[64] = "not a jitdump file at all, whatever its name may say";

	assert_int_equal(jitdump_read(t, none, sizeof none), SIZE_MAX);
	header(&d);
	load(&d, 0x7000, "f", "\xc3", 1);
	d.bytes[44] = 3; /* a record shorter than its header */
	assert_int_equal(jitdump_read(t, d.bytes, d.len), d.len);
	assert_int_equal(t->refused, 1);
}

static char *slurp(const char *path, size_t *ret_size)
{
	FILE *f = fopen(path, "re");
	char *text;

	if (!f) {
		print_message("skipped: %s is not beside the checkout\n", path);
		skip();
	}
	text = malloc(1 << 20);
	*ret_size = fread(text, 1, 1 << 20, f);
	fclose(f);
	return text;
}

static void test_corpus_map(void **state)
{
	struct jittable *t = *state;
	size_t size, lines_seen = 0;
	char *text = slurp("../shared/corpus/jitmaps/ddprof__perf-42.map", &size);

	assert_int_equal(perfmap_read(t, text, size), size);
	for (size_t i = 0; i < size; i++)
		lines_seen += text[i] == '\n';
	assert_int_equal(t->entries.len + t->refused, lines_seen);
	assert_int_equal(t->refused, 0);
	free(text);
}

static void test_corpus_dump(void **state)
{
	struct jittable *t = *state;
	size_t size;
	char *bytes = slurp("../shared/corpus/jitmaps/ddprof__jit-simple-julia.dump", &size);

	assert_int_equal(jitdump_read(t, (uint8_t *)bytes, size), size);
	assert_true(t->entries.len > 0);
	assert_int_equal(t->refused, 0);
	free(bytes);
	jittable_fini(t);
	bytes = slurp("../shared/corpus/jitmaps/ddprof__jit-julia-partial.dump", &size);
	/* Its first record is still zeros: nothing behind it counts yet. */
	assert_int_equal(jitdump_read(t, (uint8_t *)bytes, size), 40);
	assert_int_equal(t->entries.len, 0);
	assert_int_equal(t->refused, 0);
	free(bytes);
}

/* ---- a process: this one ---- */

static void write_file(const char *path, const void *bytes, size_t size, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

/* Our /tmp tells of a recording's code only when this machine made it since it was started. */
static void test_recorded(void **state)
{
	(void)state;
	pid_t pid = 4194303; /* the greatest there can be */
	char path[64];
	struct jit_symbol s;
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)pid);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs("1000 20 made\n", f);
	fclose(f);
	for (int same_boot = 0; same_boot < 2; same_boot++) {
		struct module_access access = {.same_boot = same_boot};
		struct jitmap *j = jitmap_new(pid, &access);
		jitmap_refresh(j);
		assert_int_equal(jitmap_find(j, 0x1004, &s), same_boot);
		jitmap_free(j);
	}
	unlink(path);
}

static void test_process(void **state)
{
	struct tables *t = tables_new();
	struct resolver_config config = {.live = true};
	struct resolver *r = resolver_new(t, &config, NULL);
	struct module m = {.kind = MODULE_JIT, .path = tables_str(t, "//anon"), .pid = getpid()};
	struct frame f = {.addr = 0x7000000008};
	struct dump d = {.len = 0};
	const struct listing *l;
	char map[64], dump[64];
	const struct func *func;
	frame_id frame, later;
	int fd;
	void *mark;

	(void)state;
	snprintf(map, sizeof map, "/tmp/perf-%d.map", (int)getpid());
	snprintf(dump, sizeof dump, "/tmp/jit-%d.dump", (int)getpid());
	m.name = tables_str(t, "perf.map");
	f.module = tables_module(t, &m);
	frame = tables_frame(t, &f);
	write_file(map, "7000000000 10 one\n", 18, O_TRUNC);
	assert_int_equal(resolver_start(r), 0);
	resolver_want(r, &frame, 1);
	assert_true(resolver_settle(r, 60000));
	func = tables_func_get(t, tables_loc(t, frame)->lines[0].func);
	assert_string_equal(tables_text(t, func->name), "one");

	/* A frame whose code is not told of yet gets its name when the map grows. */
	f.addr = 0x7000000104;
	later = tables_frame(t, &f);
	resolver_want(r, &later, 1);
	assert_true(resolver_settle(r, 60000));
	func = tables_func_get(t, tables_loc(t, later)->lines[0].func);
	assert_true(func->flags & FUNC_NO_SYMBOL);
	write_file(map, "7000000100 10 two\n", 18, O_APPEND);
	for (int i = 0; i < 6000 && func->flags & FUNC_NO_SYMBOL; i++) {
		usleep(10000);
		func = tables_func_get(t, tables_loc(t, later)->lines[0].func);
	}
	assert_string_equal(tables_text(t, func->name), "two");

	/* Other code where "one" was: samples from now on are of another frame, the old stays. */
	assert_int_equal(tables_frame_newest(t, frame), frame);
	write_file(map, "7000000000 10 uno\n", 18, O_APPEND);
	for (int i = 0; i < 6000 && tables_frame_newest(t, frame) == frame; i++)
		usleep(10000);
	assert_int_equal(tables_superseded(t), 1);
	func = tables_func_get(t, tables_loc(t, frame)->lines[0].func);
	assert_string_equal(tables_text(t, func->name), "one");
	func = tables_func_get(t, tables_loc(t, tables_frame_newest(t, frame))->lines[0].func);
	assert_string_equal(tables_text(t, func->name), "uno");
	assert_int_equal(tables_frame_newest(t, later), later);
	resolver_stop(r);
	assert_true(resolver_join(r, 60000));

	/* The jitdump file is found through the mapping that marks it, and holds the code. */
	header(&d);
	load(&d, 0x7000000200, "three", "\x90\xc3", 2);
	write_file(dump, d.bytes, d.len, O_TRUNC);
	fd = open(dump, O_RDONLY | O_CLOEXEC);
	mark = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(mark, MAP_FAILED);
	usleep(2100000); /* a fresh search */
	f.addr = 0x7000000200;
	frame = tables_frame(t, &f);
	resolver_now(r, frame);
	func = tables_func_get(t, tables_loc(t, frame)->lines[0].func);
	assert_string_equal(tables_text(t, func->name), "three");
	l = resolver_listing_now(r, tables_loc(t, frame)->lines[0].func);
#ifdef __x86_64__
	assert_int_equal(l->ninsns, 2);
	assert_string_equal(l->insns[0].text, "nop");
#endif
	listing_unref(l);

	/* Other code there: each of the two is listed with its own instructions and lines. */
	lines(&d, 0x7000000200);
	load(&d, 0x7000000200, "four", "\xf8\xc3", 2);
	load(&d, 0x7000000200, "five", "\xf9\xc3", 2);
	write_file(dump, d.bytes, d.len, O_TRUNC);
	listing_unref(resolver_listing_now(r, tables_loc(t, frame)->lines[0].func)); /* reads on */
	f.line = 1;
	later = tables_frame(t, &f);
	resolver_now(r, later);
	func = tables_func_get(t, tables_loc(t, later)->lines[0].func);
	assert_string_equal(tables_text(t, func->name), "five");
	assert_int_equal(func->start, 0);
	for (int i = 0; i < 2; i++) {
		l = resolver_listing_now(r, tables_loc(t, i ? frame : later)->lines[0].func);
#ifdef __x86_64__
		assert_int_equal(l->ninsns, 2);
		assert_int_equal(l->insns[0].addr, 0x7000000200);
		assert_string_equal(l->insns[0].text, i ? "nop" : "stc");
		assert_int_equal(l->insns[0].line, 0); /* those of "four" */
#endif
		listing_unref(l);
	}
	munmap(mark, 4096);
	close(fd);
	unlink(map);
	unlink(dump);
	resolver_free(r);
	tables_free(t);
}

/* A program maps its jitdump file some time after its first code was met, and may end soon. */
static void test_dump_comes_later(void **state)
{
	const struct module_access access = {.live = true};
	struct jitmap *j = jitmap_new(getpid(), &access);
	struct dump d = {.len = 0};
	struct jit_symbol s;
	char path[64];
	void *mark;
	int fd;

	(void)state;
	assert_false(jitmap_refresh(j));
	snprintf(path, sizeof path, "/tmp/jit-%d.dump", (int)getpid());
	header(&d);
	load(&d, 0x7000000200, "soon", "\x90\xc3", 2);
	write_file(path, d.bytes, d.len, O_TRUNC);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	mark = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(mark, MAP_FAILED);
	assert_true(jitmap_refresh(j));
	assert_true(jitmap_find(j, 0x7000000200, &s));
	assert_string_equal(s.name, "soon");
	munmap(mark, 4096);
	close(fd);
	unlink(path);
	jitmap_free(j);
}

/* What stands beyond the first 2 GiB of a map is not read, and that is said. */
static void test_beyond_the_end(void **state)
{
	struct tables *t = tables_new();
	struct resolver_config config = {.live = true};
	struct resolver *r = resolver_new(t, &config, NULL);
	struct module m = {.kind = MODULE_JIT, .pid = getpid()};
	struct frame f = {.addr = 0x7000000008};
	char map[64], told[160], text[160];
	frame_id one, two;

	(void)state;
	snprintf(map, sizeof map, "/tmp/perf-%d.map", (int)getpid());
	m.name = tables_str(t, "perf.map");
	m.path = tables_str(t, "//anon");
	f.module = tables_module(t, &m);
	one = tables_frame(t, &f);
	f.addr = 0x7000000108;
	two = tables_frame(t, &f);
	write_file(map, "7000000000 10 one\n", 18, O_TRUNC);
	assert_int_equal(truncate(map, (off_t)2 << 30), 0);
	write_file(map, "7000000100 10 two\n", 18, O_APPEND);
	assert_int_equal(jitmap_look(getpid(), text, sizeof text), JITMAP_LONG);
	for (int i = 0; i < 2; i++) { /* whatever is asked for last */
		resolver_now(r, i ? one : two);
		resolver_advice(r, f.module, text, sizeof text);
		snprintf(told, sizeof told, "%s is longer than 2 GiB, and is not read beyond", map);
		assert_string_equal(text, told);
	}
	assert_string_equal(
		tables_text(t, tables_func_get(t, tables_loc(t, one)->lines[0].func)->name), "one");
	assert_true(tables_func_get(t, tables_loc(t, two)->lines[0].func)->flags & FUNC_NO_SYMBOL);
	unlink(map);
	resolver_free(r);
	tables_free(t);
}

/* More functions than are kept: those that are stay, and the table says that there were more. */
static void test_more_than_is_kept(void **state)
{
	struct jittable *t = *state;
	struct jit_entry e = {.start = 0x1000, .end = 0x1001};
	struct jit_symbol s;
	int rc = 0;

	for (int i = 0; i < 4000000 && !rc; i++, e.start++, e.end++)
		rc = jittable_add(t, &e, "", 0);
	assert_int_equal(rc, 0);
	assert_false(t->full);
	assert_int_not_equal(jittable_add(t, &e, "", 0), 0);
	assert_true(t->full);
	assert_int_equal(t->refused, 0);
	assert_true(jittable_find(t, 0x1000, &s));
	assert_false(jittable_find(t, e.start, &s));
}

/* ---- many processes ---- */

static unsigned descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

#define MANY 40

/* A process that maps its jitdump file, waits for its end, and is told of by a perf map, too. */
static pid_t start_one(unsigned n)
{
	char path[64], text[64];
	struct dump d = {.len = 0};
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		snprintf(path, sizeof path, "/tmp/jit-%d.dump", (int)getpid());
		int fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED)
			kill(getpid(), SIGSTOP);
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)pid);
	snprintf(text, sizeof text, "7000000000 10 mapped_%u\n", n);
	write_file(path, text, strlen(text), O_TRUNC);
	snprintf(path, sizeof path, "/tmp/jit-%d.dump", (int)pid);
	header(&d);
	load(&d, 0x7000000100, "dumped", "\x90\xc3", 2);
	write_file(path, d.bytes, d.len, O_TRUNC);
	return pid;
}

static const char *name_of(const struct tables *t, frame_id frame)
{
	return tables_text(t, tables_func_get(t, tables_loc(t, frame)->lines[0].func)->name);
}

/* They come and go: their files are left when they are gone, and what they told is kept. */
static void test_many_processes(void **state)
{
	struct tables *t = tables_new();
	struct resolver_config config = {.live = true};
	struct resolver *r = resolver_new(t, &config, NULL);
	const struct listing *l;
	frame_id mapped[MANY], dumped[MANY];
	unsigned before;
	char path[64], text[64];
	pid_t pids[MANY];

	(void)state;
	assert_int_equal(resolver_start(r), 0);
	assert_true(resolver_settle(r, 60000));
	before = descriptors();
	for (unsigned i = 0; i < MANY; i++) {
		struct module m = {.kind = MODULE_JIT, .path = tables_str(t, "//anon")};
		struct frame f = {.addr = 0x7000000008};

		m.pid = pids[i] = start_one(i);
		m.name = tables_str(t, "perf.map");
		f.module = tables_module(t, &m);
		mapped[i] = tables_frame(t, &f);
		f.addr = 0x7000000100;
		dumped[i] = tables_frame(t, &f);
		resolver_now(r, mapped[i]);
		kill(pids[i], SIGKILL);
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	}
	assert_true(descriptors() >= before);
	for (int i = 0; i < 6000 && descriptors() > before; i++)
		usleep(10000);
	assert_int_equal(descriptors(), before);
	for (unsigned i = 0; i < MANY; i++) { /* samples that waited to be named */
		resolver_now(r, dumped[i]);
		assert_string_equal(name_of(t, dumped[i]), "dumped");
		snprintf(text, sizeof text, "mapped_%u", i);
		assert_string_equal(name_of(t, mapped[i]), text);
		l = resolver_listing_now(r, tables_loc(t, dumped[i])->lines[0].func);
#ifdef __x86_64__
		assert_int_equal(l->ninsns, 2);
#endif
		listing_unref(l);
		snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)pids[i]);
		unlink(path);
		snprintf(path, sizeof path, "/tmp/jit-%d.dump", (int)pids[i]);
		unlink(path);
	}
	assert_int_equal(descriptors(), before);
	resolver_stop(r);
	assert_true(resolver_join(r, 60000));
	resolver_free(r);
	tables_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_named, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dump, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dump_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_corpus_map, setup, teardown),
		cmocka_unit_test_setup_teardown(test_corpus_dump, setup, teardown),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_dump_comes_later),
		cmocka_unit_test(test_beyond_the_end),
		cmocka_unit_test_setup_teardown(test_more_than_is_kept, setup, teardown),
		cmocka_unit_test(test_many_processes),
	};

	return cmocka_run_group_tests_name("jit", tests, NULL, NULL);
}
