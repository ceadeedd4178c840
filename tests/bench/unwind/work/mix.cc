// A bit of everything that C++ programs do: containers, streams, regular expressions, exceptions,
// callbacks, recursion. For ever.
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

static long round_of_work()
{
	long sum = 0;
	std::map<std::string, std::vector<int>> groups;
	for (int i = 0; i < 200; i++) {
		std::ostringstream name;
		name << "k" << i % 37;
		groups[name.str()].push_back(i);
	}
	std::regex pattern("([a-z]+)([0-9]+)");
	for (auto &[name, members] : groups) {
		std::smatch match;
		if (std::regex_match(name, match, pattern))
			sum += static_cast<long>(match.size());
		std::stable_sort(members.begin(), members.end(),
				 [](int a, int b) { return a % 7 < b % 7; });
		try {
			if (members.size() > 5)
				throw std::runtime_error("too many");
		} catch (const std::exception &) {
			sum++;
		}
	}
	std::function<long(int)> fib = [&](int n) -> long {
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	};
	return sum + fib(12);
}

int main()
{
	volatile long sink = 0;
	for (;;)
		sink = sink + round_of_work();
}
