#!/bin/bash
# Unwinders side by side on the same samples of real programs: ours, libunwind (custom accessors, its
# global cache), libdw (one persistent Dwfl); then what cut dumps cost and completing them gives.
#
#	tests/bench/unwinders.sh [SAMPLES]      O=build directory with tests/bench/unwind in it
#
# Programs whose compiler or interpreter is not installed are left out, by name.
set -u
cd "$(dirname "$0")/../.."
O=${O:-build}
samples=${1:-2000}
bench=$O/tests/bench/unwind
work=tests/bench/unwind/work
dir=$(mktemp -d "${TMPDIR:-/tmp}/altpttop-unwinders.XXXXXX")
trap 'rm -rf "$dir"' EXIT
missing=()
have() { command -v "$1" >/dev/null || { missing+=("$1"); return 1; }; }

line() { # NAME COMMAND...
	local name=$1
	shift
	"$bench" -v 0 -n "$samples" -l "$name" "$@" 2>/dev/null || echo "$name: no samples"
}

# A file that keeps a C++ compiler busy for some seconds, deep in templates.
big() {
	cat <<'X'
#include <bits/stdc++.h>
template <int N> struct F {
	static std::map<int, std::string> m() {
		std::map<int, std::string> r = F<N - 1>::m();
		std::regex re("a+" + std::to_string(N));
		r[N] = std::regex_replace(std::string("aaa"), re, "b");
		std::function<int(int)> f = [](int x) { return x + N; };
		std::vector<std::variant<int, std::string, double>> v;
		v.emplace_back(f(N));
		std::visit([&](auto &&x) { std::ostringstream o; o << x; r[N] += o.str(); }, v[0]);
		return r;
	}
};
template <> struct F<0> { static std::map<int, std::string> m() { return {}; } };
int main() { return (int)F<60>::m().size(); }
X
}
big >"$dir/big.cc"

"$bench" -L
have gcc && gcc -O2 -o "$dir/c" $work/mix.c && line "C -O2" "$dir/c"
if have g++; then
	for flags in -O0 -O2 "-O3 -flto"; do
		# shellcheck disable=SC2086
		g++ -std=c++17 $flags -o "$dir/cc" $work/mix.cc 2>/dev/null && line "C++ $flags" "$dir/cc"
	done
fi
have clang++ && clang++ -O2 -std=c++17 -o "$dir/ccl" $work/mix.cc && line "C++ clang -O2" "$dir/ccl"
have rustc && rustc -O -o "$dir/rust" $work/mix.rs 2>/dev/null && line "Rust -O" "$dir/rust"
if have go; then
	GO111MODULE=off go build -o "$dir/go" $work/mix.go && line "Go" "$dir/go"
	GO111MODULE=off go build -ldflags='-s -w' -o "$dir/gos" $work/mix.go && line "Go stripped" "$dir/gos"
fi
for python in /usr/bin/python3 python3; do
	command -v $python >/dev/null && { line "python3" $python $work/mix.py; break; }
done
have node && line "node" node $work/mix.js
have clang && line "clang -O2" clang -O2 -std=c++17 -c "$dir/big.cc" -o /dev/null
if have llc || [ -x /usr/lib/llvm-14/bin/llc ]; then
	clang -O2 -std=c++17 -emit-llvm -c "$dir/big.cc" -o "$dir/big.bc" 2>/dev/null &&
		samples=1000 && # it must still be there when libdw looks at it
		line "llc (libLLVM)" "$(command -v llc || echo /usr/lib/llvm-14/bin/llc)" -O3 "$dir/big.bc" -o /dev/null
fi
[ ${#missing[@]} = 0 ] || echo "not installed: ${missing[*]}"

echo
echo "Cut dumps of the same stacks, alone, completed from the thread's past, and fed by one 64 KiB dump in 64"
if command -v clang >/dev/null; then
	echo "clang -O2, C++:"
	"$bench" -s -v 0 -n 5000 clang -O2 -std=c++17 -c "$dir/big.cc" -o /dev/null 2>/dev/null | grep KiB
	[ -f "$dir/big.bc" ] && echo "llc -O3 (libLLVM):" &&
		"$bench" -s -v 0 -n 5000 "$(command -v llc || echo /usr/lib/llvm-14/bin/llc)" -O3 "$dir/big.bc" -o /dev/null 2>/dev/null | grep KiB
fi
