/*
 * demangle: names of C++, Rust and D, folding, hostile names, and GCC's own corpora where they lie
 * beside the checkout: every case of a scheme that is spoken here must come out as expected.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "symbol/demangle.h"

static void assert_demangled(const char *mangled, enum mangling kind, const char *expected)
{
	struct strbuf b;

	strbuf_init(&b);
	assert_int_equal(demangle(mangled, &b), kind);
	assert_string_equal(b.buf ? b.buf : "", expected);
	strbuf_fini(&b);
}

static void test_schemes(void **state)
{
	(void)state;
	assert_demangled("main", MANGLING_NONE, "");
	assert_demangled("", MANGLING_NONE, "");
	assert_demangled("_Z", MANGLING_NONE, "");
	assert_demangled("_ZN3fooC2Ei", MANGLING_CXX, "foo::foo(int)");
	assert_demangled("_ZN3fooC2Ei.isra.0", MANGLING_CXX, "foo::foo(int) [clone .isra.0]");
	assert_demangled("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", MANGLING_RUST,
			 "core::fmt::Write::write_fmt");
	assert_demangled("_RNvC6_123foo3bar", MANGLING_RUST, "123foo::bar");
	assert_demangled("_D4test3fooFiZv", MANGLING_D, "test.foo(int)");
	assert_demangled("_Dmain", MANGLING_D, "D main");
}

static void assert_folded(const char *name, const char *expected)
{
	struct strbuf b;

	strbuf_init(&b);
	demangle_fold(name, &b);
	assert_string_equal(b.buf ? b.buf : "", expected);
	strbuf_fini(&b);
}

static void test_fold(void **state)
{
	(void)state;
	assert_folded("main", "main");
	assert_folded("", "");
	assert_folded("std::vector<int, std::allocator<int> >::push_back(int&&)",
		      "std::vector<…>::push_back(int&&)");
	assert_folded("std::__1::basic_string<char>::size() const",
		      "std::basic_string<char>::size() const");
	assert_folded("shop::mix<5>(std::vector<int, std::allocator<int> >&)",
		      "shop::mix<5>(std::vector<…>&)");
	assert_folded("shop::mix<1023>(int)", "shop::mix<1023>(int)");
	assert_folded("a<0123456789abcdef>", "a<0123456789abcdef>");
	assert_folded("a<0123456789abcdefg>", "a<…>");
	assert_folded("std::__cxx11::to_string(int)", "std::to_string(int)");
	assert_folded("mystd::__cxx11::to_string(int)", "mystd::__cxx11::to_string(int)");
	assert_folded("a::operator<(b<c> const&)", "a::operator<(b<c> const&)");
	assert_folded("std::ostream& operator<< <char>(std::ostream&)",
		      "std::ostream& operator<< <char>(std::ostream&)");
	assert_folded("T<&operator->>::f()", "T<…>::f()");
	assert_folded("x<(1>0)>::y", "x<…>::y");
	assert_folded("f<g()::{lambda(int)#1}>(int)", "f<…>(int)");
	assert_folded("<alloc::vec::Vec<T> as core::ops::Drop>::drop",
		      "<alloc::vec::Vec<T> as core::ops::Drop>::drop");
	assert_folded("core::ptr::drop_in_place::<alloc::string::String>",
		      "core::ptr::drop_in_place::<…>");
	assert_folded("broken<int", "broken<int");
	assert_folded("a < b", "a < b");
	assert_folded("operator", "operator");
}

static void test_hostile(void **state)
{
	/* 255 bytes that expand to a gigabyte: each level doubles the one before. */
	static const char bomb[] =
		"_ZN13QConcatenableI14QStringBuilderIS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_"
		"IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_I7QStringS1_ES1_ES1_ES1_ES1_ES1_ES1_ES1_"
		"ES1_ES1_ES1_ES1_ES1_ES1_ES1_ES1_ES1_ES1_ES1_ES1_ES1_ES1_ES1_ES1_ES1_EE";
	const char *deep[] = {"P", "S", "N", "F", "I", "Q", "R"};
	struct strbuf b;
	uint64_t start = clock_thread_cpu_ns();
	char *name = malloc(DEMANGLE_IN_MAX + 64);

	(void)state;
	strbuf_init(&b);
	demangle(bomb, &b);
	assert_true(b.len <= DEMANGLE_MAX);
	for (size_t i = 0; i < sizeof deep / sizeof *deep; i++)
		for (size_t len = 1000; len <= DEMANGLE_IN_MAX + 8; len = len * 4 + 1) {
			strcpy(name, i & 1 ? "_Z1f" : "_RC");
			memset(name + 3, deep[i][0], len);
			name[3 + len] = '\0';
			strbuf_reset(&b);
			demangle(name, &b);
			assert_true(b.len <= DEMANGLE_MAX);
			memcpy(name, "_D1fF", 5);
			strbuf_reset(&b);
			demangle(name, &b);
			assert_true(b.len <= DEMANGLE_MAX);
			memset(name, '<', len);
			demangle_fold(name, &b);
		}
	assert_true(clock_thread_cpu_ns() - start < 10000000000ull);
	strbuf_fini(&b);
	free(name);
}

/* ---- corpora ---- */

struct corpus {
	unsigned cases, spoken, explained, wrong;
};

static char *line(FILE *f, char *to, size_t size)
{
	do {
		if (!fgets(to, (int)size, f))
			return NULL;
	} while (to[0] == '#');
	to[strcspn(to, "\n")] = '\0';
	return to;
}

static bool spoken(const char *options, const char *mangled)
{
	bool ours = strstr(options, "gnu-v3") || strstr(options, "auto") ||
		    strstr(options, "rust") || !options[0];

	if (!ours || strstr(options, "--ret-postfix") || strstr(options, "--ret-drop") ||
	    strstr(options, "--is-v3"))
		return false;
	/* The first two bytes decide the scheme here, whatever style a case forces. */
	return mangled[0] == '_' && (mangled[1] == 'Z' || mangled[1] == 'R');
}

/*
 * Cases that this version of libiberty answers otherwise, each with the reason. A name that it does
 * not know stays as it is, which is what must happen.
 */
enum reason {
	NEWER,  /* a part of the scheme that came later: it stays mangled */
	RETURN, /* whether the function around a local entity shows its return type changed */
	WORDING /* the same, spelt or numbered otherwise */
};
static const struct {
	const char *mangled; /* begins so */
	enum reason reason;
} differs[] = {
	{"_Z3xxxDFyuVb", NEWER},          /* fixed point types */
	{"_Z1fIiEv1AIXnxtlT_EEE", NEWER}, /* noexcept expression */
	{"_ZNO1Ycv1XIT_EIvEEv", NEWER},   /* template conversion operators */
	{"_ZZN1Xcv1ZIT_EIiEEvE1y", NEWER},
	{"_ZZN1XIfEcv1ZIT_EIiEEvE1y", NEWER},
	{"_ZN1SILi1EEF3barIiEEiR4Base", NEWER}, /* member-like friends */
	{"_Z1fIiQ1CIT_EEvv", NEWER},            /* constraints */
	{"_Z1fIiEvvQ1CIT_E", NEWER},
	{"_ZNH1S3fooES_", NEWER}, /* explicit object parameters */
	{"_ZNH1S3barILi5EiEEvS_T0_", NEWER},
	{"_ZNH1S3bazERKS_", NEWER},
	{"_ZZ3BBdI3FooEvvENK3Fob3FabEv", RETURN},
	{"_ZZZ3BBdI3FooEvvENK3Fob3FabEvENK3Gob3GabEv", RETURN},
	{"_ZN3Psi7VariantIIcPKcEE5visitIIRZN11VariantTest9TestVisit11test_methodEvEUlS2_E0_",
	 RETURN},
	{"_ZNSt8functionIFvvEEC", RETURN},
	{"_ZN3sel8Selector6SetObjI3FooJPKcMS2_FviEMS2_KFivEEEERS0_RT_DpT0_", RETURN},
	{"_ZNSt9_Any_data9_M_accessIPZ", RETURN},
	{"_Z7ZipWithI7QStringS0_5QListZN4oral6detail16AdaptCreateTableI7AccountEE", RETURN},
	{"_ZN4modc6parser8sequenceINS_9astParser13LocatedParser", RETURN},
	{"_ZSt7forwardIRN1x14refobjiteratorINS0_3refINS0_4mime30multipart_section", RETURN},
	{"_ZN3mdr16in_cached_threadIRZNK4cudr6GPUSet17parallel_for_each", RETURN},
	{"_Z3eatIPiZ3BarIsEvvEUlPsPT_PT0_E0_EvRS3_RS5_", RETURN},
	{"_Z3bazIiEvP1AIXszcl3foocvT__ELCf00000000_00000000EEEE", WORDING}, /* floatcomplex */
};

static bool explained(const char *mangled, const char *got)
{
	for (size_t i = 0; i < sizeof differs / sizeof *differs; i++)
		if (!strncmp(mangled, differs[i].mangled, strlen(differs[i].mangled)))
			return (differs[i].reason == NEWER) == !strcmp(mangled, got);
	return false;
}

/*
 * Where we differ on purpose: a legacy Rust name shows without its hash even where the corpus asks
 * for the C++ scheme.
 */
static bool on_purpose(const char *options, const char *expected, const char *got)
{
	size_t len = strlen(got);

	return strstr(options, "gnu-v3") && !strncmp(expected, got, len) &&
	       !strncmp(expected + len, "::h", 3) && strlen(expected + len) == 19;
}

static void run_corpus(const char *path, struct corpus *c)
{
	static char options[65536], mangled[65536], expected[65536], extra[65536];
	FILE *f = fopen(path, "re");
	struct strbuf b;

	if (!f) {
		print_message("skipped: %s is not beside the checkout\n", path);
		skip();
	}
	strbuf_init(&b);
	while (line(f, options, sizeof options) && line(f, mangled, sizeof mangled) &&
	       line(f, expected, sizeof expected)) {
		if (strstr(options, "--no-params"))
			line(f, extra, sizeof extra);
		c->cases++;
		if (!spoken(options, mangled))
			continue;
		c->spoken++;
		strbuf_reset(&b);
		if (demangle(mangled, &b) == MANGLING_NONE)
			strbuf_puts(&b, mangled);
		if (!strcmp(b.buf, expected) || on_purpose(options, expected, b.buf))
			continue;
		if (explained(mangled, b.buf)) {
			c->explained++;
			continue;
		}
		c->wrong++;
		print_message("%.200s\n  want %.300s\n  have %.300s\n", mangled, expected, b.buf);
	}
	strbuf_fini(&b);
	fclose(f);
}

static void test_corpus(void **state)
{
	struct corpus c = {0};

	(void)state;
	run_corpus("../shared/corpus/demangle/cpp_demangle__libiberty-demangle-expected", &c);
	run_corpus("../shared/corpus/demangle/demangle__demangle-expected", &c);
	run_corpus("../shared/corpus/demangle/demangle__rust-demangle-expected", &c);
	print_message("%u cases, %u of our schemes: %u explained, %u differ\n", c.cases, c.spoken,
		      c.explained, c.wrong);
	assert_true(c.spoken > 300);
	assert_int_equal(c.wrong, 0);
}

static void test_issue_names(void **state)
{
	FILE *f = fopen("../shared/corpus/issues/cpp_demangle__133_282_and_rustc_47.txt", "re");
	static char mangled[65536];
	struct strbuf b;

	(void)state;
	if (!f) {
		print_message("skipped: no corpus beside the checkout\n");
		skip();
	}
	strbuf_init(&b);
	while (line(f, mangled, sizeof mangled)) {
		strbuf_reset(&b);
		demangle(mangled, &b);
		assert_true(b.len <= DEMANGLE_MAX);
	}
	strbuf_fini(&b);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schemes),     cmocka_unit_test(test_fold),
		cmocka_unit_test(test_hostile),     cmocka_unit_test(test_corpus),
		cmocka_unit_test(test_issue_names),
	};

	return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
