/* longnames: templates nested until a mangled name is past 4 KiB; half the time in a short one. */
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
	typedef nested<6>::type monster;
	uint64_t end = DEADLINE(argc, argv), used_long = 0, quota_long = 0, used_brief = 0,
		 quota_brief = 0;
	while (WALL_NS() < end) {
		quota_long += 5 * MS;
		quota_brief += 5 * MS;
		visit_each_entry_with(
			[&] { process_a_configuration<monster>(&used_long, quota_long, nullptr); });
		brief(&used_brief, quota_brief);
	}
	TELL_CPU("long", used_long);
	TELL_CPU("brief", used_brief);
	TELL_CPU("total", CLOCK_NS(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
