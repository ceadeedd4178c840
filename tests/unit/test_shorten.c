/* test_shorten: long qualified names keep what tells most. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/shorten.h"

#define E "\xe2\x80\xa6"

static void cases(void **state)
{
	static const struct {
		int width;
		const char *name, *want;
	} cases[] = {
		{80, "ns::f(int)", "ns::f(int)"},
		{31, "storage::index::Tree::insert(std::string const&, int)",
		 "storage::index::Tree::insert(" E ")"},
		{24, "storage::index::Tree::insert(std::string const&, int)",
		 E "index::Tree::insert(" E ")"},
		{12, "storage::index::Tree::insert(std::string const&, int)", E "insert(" E ")"},
		{9, "storage::index::Tree::insert(std::string const&, int)", E "insert(" E ")"},
		{20, "void ns::run<int, std::pair<int, char> >(int)",
		 E "run<int, std::pair<int, char> >(" E ")"},
		{40, "void ns::run<int, std::pair<int, char> >(int)",
		 "ns::run<int, std::pair<int, char> >(" E ")"},
		{20, "std::ostream& a_very_long_name::operator<<(std::ostream&, X)",
		 E "operator<<(" E ")"},
		{20, "a_rather_long::functor::operator()(int, char) const", E "operator()(" E ")"},
		{24, "(anonymous namespace)::helper_function(int, int)",
		 E "helper_function(" E ")"},
		{24, "core::ops::function::FnOnce::call_once", E "FnOnce::call_once"},
		{18, "alloc::raw_vec::grow::<" E ">", E "grow::<" E ">"},
		{18, "alloc::raw_vec::RawVec<T>::grow::<u8>", E "grow::<u8>"},
		{16, "core::<impl T for U>::of_it", E "of_it"},
		{20, "a_plain_c_function_with_a_long_name", "a_plain_c_function_with_a_long_name"},
		{12, "github.com/x/y.(*T).Method", "github.com/x/y.(*T).Method"},
		{20, "f \xe2\x96\xb8 ns::g(int) \xe2\x96\xb8 ns::h(int, char, long)",
		 "f \xe2\x96\xb8 ns::g(int) \xe2\x96\xb8 ns::h(int, char, long)"},
		{3, "ns::f(int, int, int)", "ns::f(int, int, int)"},
		{10, "a::b<c::d", "a::b<c::d"},
		{8, "::::::::::::", E "::::::"},
		{8, "", ""},
	};
	char buf[256];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(shorten(cases[i].name, cases[i].width, buf, sizeof buf),
				    cases[i].want);
}

/* Whatever brackets and colons come in whatever order: bounded, terminated, quick. */
static void anything(void **state)
{
	static const char pieces[][12] = {"::", "<", ">", "(", ")", "operator", " ",
					  "a",  "[", "]", "{", "~", E};
	char name[6000], buf[200];

	(void)state;
	srand(3);
	for (int round = 0; round < 3000; round++) {
		size_t len = 0;

		while (len < (size_t)(rand() % 5900)) {
			const char *p = pieces[rand() % 13];

			memcpy(name + len, p, strlen(p));
			len += strlen(p);
		}
		name[len] = '\0';
		const char *s = shorten(name, rand() % 100, buf, sizeof buf);

		assert_true(s == name || (s == buf && strlen(s) < sizeof buf));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(cases), cmocka_unit_test(anything)};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
