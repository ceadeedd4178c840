/* space and maps: every oddity of /proc/PID/maps, records that overlap, remapped text, speed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "proc/maps.h"
#include "proc/space.h"
#include "proc/space_impl.h"

static struct maps_line parse_one(const char *text)
{
	static struct maps_line l;
	const char *p = text;

	assert_true(maps_next(&p, text + strlen(text), &l));
	return l;
}

static void maps_plain_line(void **state)
{
	struct maps_line l = parse_one(
		"7f10a0000000-7f10a0021000 r-xp 00028000 fd:12 1835043                    /usr/lib/libc.so.6\n");

	(void)state;
	assert_int_equal(l.start, 0x7f10a0000000);
	assert_int_equal(l.end, 0x7f10a0021000);
	assert_int_equal(l.prot, PROT_READ | PROT_EXEC);
	assert_false(l.shared);
	assert_int_equal(l.pgoff, 0x28000);
	assert_int_equal(l.dev_major, 0xfd);
	assert_int_equal(l.dev_minor, 0x12);
	assert_int_equal(l.inode, 1835043);
	assert_string_equal(l.path, "/usr/lib/libc.so.6");
	assert_false(l.deleted);
}

static void maps_odd_names(void **state)
{
	struct maps_line l;

	(void)state;
	l = parse_one("1000-2000 r-xp 0 00:01 7   /tmp/a b  c.so (deleted)");
	assert_string_equal(l.path, "/tmp/a b  c.so");
	assert_true(l.deleted);
	l = parse_one("1000-2000 rwxs 0 00:01 7   /tmp/a\\012b\\134\\012\n");
	assert_string_equal(l.path, "/tmp/a\nb\\134\n");
	assert_true(l.shared);
	l = parse_one("1000-2000 rwxp 00000000 00:00 0 \n");
	assert_string_equal(l.path, "");
	l = parse_one("1000-2000 rwxp 00000000 00:00 0");
	assert_string_equal(l.path, "");
	l = parse_one("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0    [vsyscall]\n");
	assert_string_equal(l.path, "[vsyscall]");
	l = parse_one("1000-2000 r-xp 0 00:01 18446744073709551615 /x");
	assert_int_equal(l.inode, UINT64_MAX);
}

static void maps_bad_lines_are_skipped(void **state)
{
	const char text[] = "\nxyz\n1000-\n2000-1000 r-xp 0 0:0 0 /backwards\n"
			    "1000-2000 r-\n1000-2000 r-xp zz 0:0 0 /x\n"
			    "1111111111111111111111-2000 r-xp 0 0:0 0 /overflow\n"
			    "3000-4000 r-xp 0 00:00 5 /good\n5000-6000";
	const char *p = text;
	struct maps_line l;

	(void)state;
	assert_true(maps_next(&p, text + sizeof text - 1, &l));
	assert_string_equal(l.path, "/good");
	assert_false(maps_next(&p, text + sizeof text - 1, &l));
}

static void maps_long_name_is_cut(void **state)
{
	size_t n = 3 * MAPS_PATH_MAX;
	char *text = calloc(1, n + 64);
	const char *p = text;
	struct maps_line l;
	int head = sprintf(text, "1000-2000 r-xp 0 00:01 7 /");

	(void)state;
	memset(text + head, 'a', n);
	assert_true(maps_next(&p, text + head + n, &l));
	assert_int_equal(strlen(l.path), MAPS_PATH_MAX - 1);
	free(text);
}

static void maps_kinds(void **state)
{
	(void)state;
	assert_int_equal(maps_name_kind(""), MAPS_ANON);
	assert_int_equal(maps_name_kind("//anon"), MAPS_ANON);
	assert_int_equal(maps_name_kind("[anon:v8]"), MAPS_ANON);
	assert_int_equal(maps_name_kind("[heap]"), MAPS_ANON);
	assert_int_equal(maps_name_kind("[stack]"), MAPS_STACK);
	assert_int_equal(maps_name_kind("[vdso]"), MAPS_VDSO);
	assert_int_equal(maps_name_kind("[uprobes]"), MAPS_SPECIAL);
	assert_int_equal(maps_name_kind("/memfd:jit"), MAPS_MEMFD);
	assert_int_equal(maps_name_kind("/usr/bin/x"), MAPS_FILE);
}

struct fixture {
	struct tables *tables;
	struct space *space;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	f->tables = tables_new();
	f->space = space_new(f->tables, getpid());
	*state = f;
	return !f->space;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	space_free(f->space);
	tables_free(f->tables);
	free(f);
	return 0;
}

static int add(struct fixture *f, uint64_t start, uint64_t end, uint64_t pgoff, const char *path)
{
	struct raw_mmap m = {
		.start = start,
		.size = end - start,
		.pgoff = pgoff,
		.prot = PROT_READ | PROT_EXEC,
		.path = path,
		.inode = path[0] == '/' && path[1] != '/' ? 42 : 0,
	};

	return space_add(f->space, &m);
}

static const char *path_at(struct fixture *f, uint64_t addr)
{
	const struct mapping *m = space_find(f->space, addr);

	return m ? tables_text(f->tables, tables_module_get(f->tables, m->module)->path) : NULL;
}

static uint64_t offset_at(struct fixture *f, uint64_t addr)
{
	const struct mapping *m = space_find(f->space, addr);

	assert_non_null(m);
	return addr - m->start + m->pgoff;
}

static void assert_sorted(const struct fixture *f)
{
	const struct mappings *v = &f->space->maps;

	for (size_t i = 0; i < v->len; i++) {
		assert_true(v->data[i].start < v->data[i].end);
		if (i)
			assert_true(v->data[i - 1].end <= v->data[i].start);
	}
}

static void find_edges(void **state)
{
	struct fixture *f = *state;

	assert_null(space_find(f->space, 0));
	assert_int_equal(add(f, 0x1000, 0x3000, 0x5000, "/a"), 0);
	assert_null(space_find(f->space, 0xfff));
	assert_null(space_find(f->space, 0x3000));
	assert_int_equal(offset_at(f, 0x1000), 0x5000);
	assert_int_equal(offset_at(f, 0x2fff), 0x6fff);
}

static void identical_is_idempotent(void **state)
{
	struct fixture *f = *state;
	uint64_t g;

	add(f, 0x1000, 0x3000, 0, "/a");
	g = space_generation(f->space);
	add(f, 0x1000, 0x3000, 0, "/a");
	add(f, 0x2000, 0x3000, 0x1000, "/a"); /* a part of itself */
	assert_int_equal(space_generation(f->space), g);
	add(f, 0x2000, 0x3000, 0x7000, "/a"); /* the same file elsewhere */
	assert_int_not_equal(space_generation(f->space), g);
	assert_int_equal(offset_at(f, 0x2000), 0x7000);
	assert_int_equal(offset_at(f, 0x1fff), 0xfff);
}

static void overlaps_cut(void **state)
{
	struct fixture *f = *state;

	add(f, 0x10000, 0x20000, 0, "/a");
	add(f, 0x14000, 0x16000, 0, "/b"); /* a hole in the middle */
	assert_string_equal(path_at(f, 0x13fff), "/a");
	assert_string_equal(path_at(f, 0x14000), "/b");
	assert_string_equal(path_at(f, 0x16000), "/a");
	assert_int_equal(offset_at(f, 0x16000), 0x6000);
	add(f, 0x8000, 0x15000, 0, "/c"); /* over a's head and half of b */
	assert_string_equal(path_at(f, 0x14fff), "/c");
	assert_int_equal(offset_at(f, 0x15000), 0x1000);
	assert_string_equal(path_at(f, 0x15000), "/b");
	add(f, 0, 0x100000, 0, "/d"); /* over everything */
	assert_int_equal(f->space->maps.len, 1);
	assert_sorted(f);
}

static void data_mapping_removes_code(void **state)
{
	struct fixture *f = *state;
	struct raw_mmap m = {.start = 0x2000, .size = 0x1000, .prot = PROT_READ, .path = "/data"};

	add(f, 0x1000, 0x4000, 0, "/a");
	assert_int_equal(space_add(f->space, &m), 0);
	assert_null(space_find(f->space, 0x2000));
	assert_non_null(space_find(f->space, 0x1fff));
	assert_int_equal(offset_at(f, 0x3000), 0x2000);
}

static void hostile_records(void **state)
{
	struct fixture *f = *state;
	uint8_t id[255] = {1};
	struct raw_mmap m = {.start = UINT64_MAX - 0xfff,
			     .size = 0x2000,
			     .prot = PROT_EXEC,
			     .build_id = id,
			     .build_id_size = 255};

	assert_int_equal(space_add(f->space, &m), -EINVAL);
	m.start = 0x1000;
	m.size = 0;
	assert_int_equal(space_add(f->space, &m), -EINVAL);
	m.size = 0x1000; /* no path, an impossible build id */
	assert_int_equal(space_add(f->space, &m), 0);
	assert_string_equal(path_at(f, 0x1000), "//anon");
}

static void jit_addresses_are_run_time_addresses(void **state)
{
	struct fixture *f = *state;
	const struct mapping *m;

	add(f, 0x7000, 0x8000, 0, "//anon");
	add(f, 0x8000, 0x9000, 0, "//anon");
	m = space_find(f->space, 0x8123);
	assert_int_equal(offset_at(f, 0x8123), 0x8123);
	assert_int_equal(m->end - m->start, 0x2000); /* neighbours are one */
	assert_int_equal(tables_module_get(f->tables, m->module)->kind, MODULE_JIT);
}

static void remapped_text_stays_its_module(void **state)
{
	struct fixture *f = *state;

	add(f, 0x400000, 0xa00000, 0x1000, "/prog");
	add(f, 0x600000, 0x800000, 0, "//anon");
	assert_string_equal(path_at(f, 0x600000), "/prog");
	assert_int_equal(offset_at(f, 0x600010), 0x201010);
	add(f, 0x900000, 0xb00000, 0, "//anon"); /* not inside: new code */
	assert_string_equal(path_at(f, 0x900000), "//anon");
}

static void record_kinds(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *path;
		enum module_kind kind;
	} cases[] = {
		{"/memfd:lib.so (deleted)", MODULE_FILE},
		{"/memfd:doublemapper (deleted)", MODULE_JIT},
		{"/SYSV00000000 (deleted)", MODULE_JIT},
		{"[vdso]", MODULE_VDSO},
		{"[vsyscall]", MODULE_NAMED},
		{"[stack]", MODULE_NAMED},
		{"[heap]", MODULE_JIT},
		{"/usr/lib/x.so", MODULE_FILE},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t at = 0x100000 * (i + 1);

		add(f, at, at + 0x1000, 0, cases[i].path);
		assert_int_equal(
			tables_module_get(f->tables, space_find(f->space, at)->module)->kind,
			cases[i].kind);
	}
	assert_true(tables_module_get(f->tables, space_find(f->space, 0x100000)->module)->deleted);
}

static void clone_and_clear(void **state)
{
	struct fixture *f = *state;
	struct space *c;
	uint64_t g;

	add(f, 0x1000, 0x2000, 0, "/prog");
	add(f, 0x9000, 0xa000, 0, "//anon");
	c = space_clone(f->space, 77);
	assert_int_equal(space_pid(c), 77);
	assert_int_equal(space_main_module(c), space_main_module(f->space));
	assert_int_equal(space_find(c, 0x9000)->module, space_find(f->space, 0x9000)->module);
	g = space_generation(f->space);
	assert_int_not_equal(space_generation(c), g);
	space_clear(f->space);
	assert_null(space_find(f->space, 0x1000));
	assert_non_null(space_find(c, 0x1000));
	assert_int_equal(space_main_module(f->space), 0);
	assert_int_not_equal(space_generation(f->space), g);
	space_free(c);
}

/* Random records against a byte-per-page model. */
static void random_against_model(void **state)
{
	struct fixture *f = *state;
	enum { PAGES = 256 };
	static char model[PAGES];
	static const char *const paths[] = {"/a", "/b", "/c"};
	unsigned seed = 5;

	for (int round = 0; round < 3000; round++) {
		unsigned from = (unsigned)rand_r(&seed) % PAGES;
		unsigned n = 1 + (unsigned)rand_r(&seed) % 40, which = (unsigned)rand_r(&seed) % 3;

		if (from + n > PAGES)
			n = PAGES - from;
		/* pgoff keeps the file at a fixed displacement, so neighbours merge */
		add(f, (from + 1) * 0x1000ull, (from + 1 + n) * 0x1000ull, from * 0x1000ull,
		    paths[which]);
		memset(model + from, 'a' + (int)which, n);
		if (round % 50)
			continue;
		for (unsigned p = 0; p < PAGES; p++) {
			const char *path = path_at(f, (p + 1) * 0x1000ull + 0x80);

			assert_int_equal(path ? path[1] : 0, model[p]);
		}
		assert_sorted(f);
	}
}

static void reads_itself(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};
	const struct module *main_module;
	uint64_t g;
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

	exe[n] = '\0';
	assert_int_equal(space_read_proc(f->space, &err), 0);
	assert_string_equal(path_at(f, (uint64_t)(uintptr_t)&reads_itself), exe);
	main_module = tables_module_get(f->tables, space_main_module(f->space));
	assert_string_equal(tables_text(f->tables, main_module->path), exe);
	assert_true(main_module->inode != 0);
	g = space_generation(f->space);
	assert_int_equal(space_read_proc(f->space, &err), 0);
	assert_int_equal(space_generation(f->space), g);
	assert_sorted(f);
}

/* What a record told of a new mapping and what maps says of it are one module. */
static void record_then_maps_is_one_module(void **state)
{
	struct fixture *f = *state;
	const struct mapping *m;
	struct raw_mmap record;
	uint8_t id[20] = {1, 2, 3};
	char path[4096];
	module_id before;
	struct space *fresh;

	assert_int_equal(space_read_proc(f->space, NULL), 0);
	m = space_find(f->space, (uint64_t)(uintptr_t)&printf);
	snprintf(path, sizeof path, "%s", path_at(f, m->start));
	record = (struct raw_mmap){
		.start = m->start,
		.size = m->end - m->start,
		.pgoff = m->pgoff,
		.prot = PROT_EXEC | PROT_READ,
		.path = path,
		.build_id = id,
		.build_id_size = sizeof id,
	};
	fresh = space_new(f->tables, getpid());
	assert_int_equal(space_add(fresh, &record), 0);
	before = space_find(fresh, record.start)->module;
	assert_int_equal(space_read_proc(fresh, NULL), 0);
	assert_int_equal(space_find(fresh, record.start)->module, before);
	space_free(fresh);
}

static void remapped_text_in_proc(void **state)
{
	struct fixture *f = *state;
	long page = sysconf(_SC_PAGESIZE);
	char name[] = "/tmp/altpttop-space-XXXXXX";
	int fd = mkstemp(name);
	uint8_t *p, *copy;

	assert_int_equal(ftruncate(fd, 16 * page), 0);
	p = mmap(NULL, (size_t)(16 * page), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(p != MAP_FAILED);
	copy = mmap(p + 4 * page, (size_t)(4 * page), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	assert_ptr_equal(copy, p + 4 * page);
	assert_int_equal(mprotect(copy, (size_t)(4 * page), PROT_READ | PROT_EXEC), 0);
	assert_int_equal(space_read_proc(f->space, NULL), 0);
	assert_string_equal(path_at(f, (uint64_t)(uintptr_t)copy), name);
	assert_int_equal(offset_at(f, (uint64_t)(uintptr_t)copy + 8), 4 * page + 8);
	/* deleted, then code behind the file's end is not the file's */
	unlink(name);
	assert_int_equal(space_read_proc(f->space, NULL), 0);
	assert_string_equal(path_at(f, (uint64_t)(uintptr_t)p), name);
	munmap(p, (size_t)(16 * page));
	assert_int_equal(space_read_proc(f->space, NULL), 0);
	assert_null(space_find(f->space, (uint64_t)(uintptr_t)p));
	close(fd);
}

static void file_named_deleted(void **state)
{
	struct fixture *f = *state;
	char name[] = "/tmp/altpttop space\nXXXXXX", odd[64];
	int fd = mkstemp(name);
	const struct module *m;
	void *p;

	snprintf(odd, sizeof odd, "%s (deleted)", name);
	assert_int_equal(rename(name, odd), 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_int_equal(space_read_proc(f->space, NULL), 0);
	m = tables_module_get(f->tables, space_find(f->space, (uint64_t)(uintptr_t)p)->module);
	assert_string_equal(tables_text(f->tables, m->path), odd);
	assert_false(m->deleted);
	unlink(odd); /* now "… (deleted) (deleted)", and still that module */
	space_clear(f->space);
	assert_int_equal(space_read_proc(f->space, NULL), 0);
	assert_ptr_equal(
		tables_module_get(f->tables, space_find(f->space, (uint64_t)(uintptr_t)p)->module),
		m);
	munmap(p, 4096);
	close(fd);
}

static void memfd_elf_or_code(void **state)
{
	struct fixture *f = *state;
	int elf = memfd_create("lib x", 0), jit = memfd_create("jit", 0);
	void *a, *b;

	assert_int_equal(ftruncate(elf, 4096), 0);
	assert_int_equal(ftruncate(jit, 4096), 0);
	assert_int_equal(pwrite(elf, "\177ELF", 4, 0), 4);
	a = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, elf, 0);
	b = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, jit, 0);
	assert_int_equal(space_read_proc(f->space, NULL), 0);
	assert_int_equal(
		tables_module_get(f->tables, space_find(f->space, (uint64_t)(uintptr_t)a)->module)
			->kind,
		MODULE_FILE);
	assert_int_equal(
		tables_module_get(f->tables, space_find(f->space, (uint64_t)(uintptr_t)b)->module)
			->kind,
		MODULE_JIT);
	munmap(a, 4096);
	munmap(b, 4096);
	close(elf);
	close(jit);
}

/* CPU time of reading the list, and nothing else. */
static uint64_t plain_read_ns(void)
{
	int fd = open("/proc/self/maps", O_RDONLY);
	uint64_t t0 = clock_thread_cpu_ns();
	char buf[4096];

	assert_true(fd >= 0);
	while (read(fd, buf, sizeof buf) > 0)
		;
	close(fd);
	return clock_thread_cpu_ns() - t0;
}

static void ten_thousand_maps(void **state)
{
	struct fixture *f = *state;
	enum { N = 10000 };
	static void *p[N];
	uint64_t t0, plain_ns, read_ns, find_ns, sum = 0;

	for (int i = 0; i < N; i++) { /* alternate protections, or the kernel merges them */
		p[i] = mmap(NULL, 4096, i & 1 ? PROT_READ | PROT_EXEC : PROT_READ,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_true(p[i] != MAP_FAILED);
	}
	plain_ns = plain_read_ns();
	t0 = clock_thread_cpu_ns();
	assert_int_equal(space_read_proc(f->space, NULL), 0);
	read_ns = clock_thread_cpu_ns() - t0;
	t0 = clock_thread_cpu_ns();
	for (int i = 1; i < N; i += 2)
		sum += space_find(f->space, (uint64_t)(uintptr_t)p[i])->start ==
		       (uint64_t)(uintptr_t)p[i];
	find_ns = (clock_thread_cpu_ns() - t0) / (N / 2);
	assert_int_equal(sum, N / 2);
	print_message("10,000 maps: read in %.1f ms (by read alone %.1f), found in %u ns\n",
		      (double)read_ns / 1e6, (double)plain_ns / 1e6, (unsigned)find_ns);
	assert_true(read_ns <
		    40 * plain_ns); /* 10,000 to insert in order would make it quadratic */
	for (int i = 0; i < N; i++)
		munmap(p[i], 4096);
}

static void gone_and_zombie(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};
	struct space *s;
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	s = space_new(f->tables, pid);
	assert_int_equal(space_read_proc(s, &err), 0);
	assert_non_null(space_find(s, (uint64_t)(uintptr_t)&gone_and_zombie));
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT);
	assert_int_equal(space_read_proc(s, &err), -ESRCH);
	assert_true(strlen(err.msg) > 10);
	assert_non_null(space_find(s, (uint64_t)(uintptr_t)&gone_and_zombie)); /* kept */
	waitpid(pid, NULL, 0);
	assert_int_equal(space_read_proc(s, &err), -ESRCH);
	space_free(s);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_plain_line),
		cmocka_unit_test(maps_odd_names),
		cmocka_unit_test(maps_bad_lines_are_skipped),
		cmocka_unit_test(maps_long_name_is_cut),
		cmocka_unit_test(maps_kinds),
		T(find_edges),
		T(identical_is_idempotent),
		T(overlaps_cut),
		T(data_mapping_removes_code),
		T(hostile_records),
		T(jit_addresses_are_run_time_addresses),
		T(remapped_text_stays_its_module),
		T(record_kinds),
		T(clone_and_clear),
		T(random_against_model),
		T(reads_itself),
		T(record_then_maps_is_one_module),
		T(remapped_text_in_proc),
		T(file_named_deleted),
		T(memfd_elf_or_code),
		T(ten_thousand_maps),
		T(gone_and_zombie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
