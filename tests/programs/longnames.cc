/*
 * longnames: 40 % in a template whose name is 9 KiB long, 20 % in one whose name would be 760 KiB
 * (both mangle to a few hundred bytes), 40 % in a short one.
 */
/* flags: -O1 -g -fno-optimize-sibling-calls */
#include "burn.h"

#include <map>
#include <string>
#include <vector>

namespace a_namespace_with_a_rather_long_name::and_another_one_inside_of_it
{

template <typename Key, typename Value> struct configuration_registry_entry {
	std::map<Key, std::vector<Value>> entries;
};

template <int N> struct nested {
	typedef configuration_registry_entry<std::string, typename nested<N - 1>::type> inner;
	typedef std::pair<inner, std::map<std::wstring, inner>> type;
};
template <> struct nested<0> {
	typedef std::pair<int, std::string> type;
};

template <typename T>
NOINLINE void process_a_configuration(uint64_t *used, uint64_t quota, const T *)
{
	BURN(used, quota);
}

template <typename Function> NOINLINE void visit_each_entry_with(Function f)
{
	f();
}

} // namespace a_namespace_with_a_rather_long_name::and_another_one_inside_of_it

static NOINLINE void brief(uint64_t *used, uint64_t quota)
{
	BURN(used, quota);
}

int main(int argc, char **argv)
{
	using namespace a_namespace_with_a_rather_long_name::and_another_one_inside_of_it;
	typedef nested<3>::type big;
	typedef nested<6>::type monster;
	uint64_t end = DEADLINE(argc, argv), used[3] = {0}, quota[3] = {0};
	while (WALL_NS() < end) {
		quota[0] += 4 * MS;
		quota[1] += 2 * MS;
		quota[2] += 4 * MS;
		visit_each_entry_with(
			[&] { process_a_configuration<big>(&used[0], quota[0], nullptr); });
		visit_each_entry_with(
			[&] { process_a_configuration<monster>(&used[1], quota[1], nullptr); });
		brief(&used[2], quota[2]);
	}
	TELL_CPU("big", used[0]);
	TELL_CPU("monster", used[1]);
	TELL_CPU("brief", used[2]);
	TELL_CPU("total", CLOCK_NS(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
