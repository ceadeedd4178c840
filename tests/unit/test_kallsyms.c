/*
 * kernel: a kallsyms text of our own (modules, data, hidden addresses), the corpus's real one, and
 * this machine's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbol/kernel.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED /* their shadow memory is not to be limited */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

static char path[64];

#ifndef SANITIZED
static size_t used_memory(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu", &pages), 1);
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}
#endif

static struct kernel *kernel_of(const char *text)
{
	FILE *f;
	int fd;

	strcpy(path, "/tmp/altpttop-kallsyms-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	fputs(text, f);
	fclose(f);
	return kernel_new(path);
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	clock_fake(0, 0);
	return 0;
}

static void test_text(void **state)
{
	struct kernel *k = kernel_of("ffffffff81000000 T _stext\n"
				     "ffffffff81000000 T startup\n"
				     "ffffffff81000100 t helper\n"
				     "ffffffff81000180 D some_data\n"
				     "ffffffff81000200 W weak\n"
				     "ffffffff81000200 t __local\n"
				     "ffffffff81000300 T _etext\n"
				     "nonsense\n"
				     "ffffffffc0000000 t ext4_read\t[ext4]\n"
				     "ffffffffc0000100 t ext4_write\t[ext4]\n"
				     "ffffffffc0001000 t bpf_prog_1234_f\t[bpf]");
	struct kernel_symbol s;

	(void)state;
	assert_false(kernel_loaded(k));
	assert_true(kernel_find(k, 0xffffffff81000010, &s));
	assert_string_equal(s.name, "startup");
	assert_string_equal(s.module, "");
	assert_int_equal(s.start, 0xffffffff81000000);
	assert_int_equal(s.end, 0xffffffff81000100);
	assert_true(kernel_find(k, 0xffffffff81000190, &s));
	assert_string_equal(s.name, "helper"); /* data names no code */
	assert_true(kernel_find(k, 0xffffffff81000200, &s));
	assert_string_equal(s.name, "weak"); /* over a local one */
	assert_false(kernel_find(k, 0xffffffff81000300, &s));
	assert_false(kernel_find(k, 0xffffffff80ffffff, &s));
	assert_true(kernel_find(k, 0xffffffffc0000101, &s));
	assert_string_equal(s.name, "ext4_write");
	assert_string_equal(s.module, "ext4");
	assert_false(kernel_find(k, 0xffffffffc0800000, &s));
	assert_string_equal(kernel_reason(k), "");
	assert_int_equal(kernel_address(k, "helper"), 0xffffffff81000100);
	assert_int_equal(kernel_address(k, "nobody"), 0);
	kernel_free(k);
}

static void test_hidden(void **state)
{
	struct kernel *k = kernel_of("0000000000000000 T _stext\n0000000000000000 T startup\n"
				     "0000000000000000 t ext4_read\t[ext4]\n");
	struct kernel_symbol s;

	(void)state;
	assert_false(kernel_find(k, 0xffffffff81000010, &s));
	assert_false(kernel_find(k, 0x10, &s));
	assert_non_null(strstr(kernel_reason(k), "kptr_restrict"));
	kernel_free(k);
}

static void test_missing(void **state)
{
	struct kernel *k = kernel_new("/no/such/kallsyms");
	struct kernel_symbol s;

	(void)state;
	assert_false(kernel_find(k, 0xffffffff81000010, &s));
	assert_non_null(strstr(kernel_reason(k), "No such file"));
	kernel_free(k);
}

/* A module that comes later is seen at the next look, not at once. */
static void test_again(void **state)
{
	struct kernel *k = kernel_of("ffffffff81000000 T startup\nffffffff81000100 T _etext\n");
	struct kernel_symbol s;
	FILE *f;

	(void)state;
	clock_fake(1000000000, 1);
	assert_false(kernel_find(k, 0xffffffffc0000010, &s));
	f = fopen(path, "ae");
	fputs("ffffffffc0000000 t late\t[mod]\n", f);
	fclose(f);
	assert_false(kernel_find(k, 0xffffffffc0000010, &s));
	clock_fake(3000000000, 1);
	assert_true(kernel_find(k, 0xffffffffc0000010, &s));
	assert_string_equal(s.module, "mod");
	kernel_free(k);
}

/*
 * What cannot be kept whole is not kept: a function that is missing from the table would be called
 * by the name of the one before it. In a process of its own, whose memory is limited.
 */
static void test_no_memory(void **state)
{
#ifdef SANITIZED
	(void)state;
	print_message("skip: a sanitizer's memory has no limit of ours\n");
	skip();
#else
	enum { SYMBOLS = 200000 };
	struct kernel *k = kernel_of("");
	FILE *f = fopen(path, "we");
	int status;

	(void)state;
	for (unsigned i = 0; i < SYMBOLS; i++)
		fprintf(f, "%x T a_function_of_the_kernel_with_the_number_%u\n", 0x81000000 + i * 8,
			i);
	fclose(f);
	pid_t pid = fork();
	if (!pid) {
		struct rlimit limit = {used_memory() + (12u << 20), RLIM_INFINITY};
		struct kernel_symbol s;
		char name[64];
		int wrong = setrlimit(RLIMIT_AS, &limit) ? 8 : 0;

		for (unsigned i = 0; i < SYMBOLS; i += 1000) {
			snprintf(name, sizeof name, "a_function_of_the_kernel_with_the_number_%u",
				 i);
			if (kernel_find(k, 0x81000000 + i * 8, &s))
				wrong |= strcmp(s.name, name) ? 1 : 2;
		}
		wrong |= strstr(kernel_reason(k), "memory") ? 0 : 4;
		_exit(wrong);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	kernel_free(k);
#endif
}

static void test_corpus(void **state)
{
	struct kernel_symbol s;
	struct kernel *k;

	(void)state;
	strcpy(path, "/tmp/altpttop-kallsyms-XXXXXX");
	close(mkstemp(path));
	if (access("../shared/corpus/jitmaps/blazesym__kallsyms.xz", R_OK) ||
	    setenv("TO", path, 1) ||
	    system("xz -dc ../shared/corpus/jitmaps/blazesym__kallsyms.xz > $TO 2>/dev/null")) {
		print_message("skipped: no corpus beside the checkout, or no xz\n");
		skip();
	}
	k = kernel_new(path);
	/* A 32-bit machine's. */
	assert_true(kernel_find(k, 0xc0008080, &s));
	assert_string_equal(s.name, "__create_page_tables");
	assert_string_equal(kernel_reason(k), "");
	kernel_free(k);
}

/* Every function of this kernel's own text is found at its start, under one of its names. */
static void test_here(void **state)
{
	struct kernel *k = kernel_new(NULL);
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], name[256], type;
	uint64_t addr;
	unsigned seen = 0;
	struct kernel_symbol s;

	(void)state;
	if (!f || !kernel_find(k, 0, &s)) {
		if (!f || kernel_reason(k)[0]) {
			print_message("skipped: %s\n", kernel_reason(k));
			kernel_free(k);
			if (f)
				fclose(f);
			skip();
		}
	}
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%" SCNx64 " %c %255s", &addr, &type, name) != 3 ||
		    !strchr("tT", type) || name[0] == '$' || !strcmp(name, "_etext") || seen++ % 37)
			continue;
		assert_true(kernel_find(k, addr, &s));
		assert_int_equal(s.start, addr);
	}
	fclose(f);
	assert_true(seen > 1000);
	kernel_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_text, teardown),
		cmocka_unit_test_teardown(test_hidden, teardown),
		cmocka_unit_test(test_missing),
		cmocka_unit_test_teardown(test_again, teardown),
		cmocka_unit_test_teardown(test_no_memory, teardown),
		cmocka_unit_test_teardown(test_corpus, teardown),
		cmocka_unit_test(test_here),
	};

	return cmocka_run_group_tests_name("kallsyms", tests, NULL, NULL);
}
