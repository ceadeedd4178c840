#!/bin/bash
# Both compilers build everything without a warning; clang-tidy has nothing to say (.clang-tidy).
cd "$(dirname "$0")/../.." && . tests/tap.sh
jobs=$(nproc)
[ "$jobs" -gt 4 ] && jobs=4
cache=$(command -v ccache)

build() { # COMPILER DIRECTORY: gcc's is the one that the tests run from, in most cases built already
	make -s -j"$jobs" O="$2" CC="${cache:+ccache }$1" WERROR=-Werror all tests-built
}

arm64() {
	make -s -j"$jobs" CC="${cache:+ccache }gcc" WERROR=-Werror arm64
}

tidy() {
	local flags
	flags="-std=gnu17 -D_GNU_SOURCE -Iinclude -Isrc -I. -Ibuild/gen '-DALTPTTOP_VERSION=\"0\"'"
	flags="$flags '-DALTPTTOP_DATADIR=\"/usr\"' $(pkg-config --cflags ncursesw libelf libdw libprotobuf-c \
		yajl capstone inih)"
	find src ui -name '*.c' ! -path 'src/agent/*' | sort |
		xargs -P "$jobs" -n 4 sh -c 'clang-tidy --quiet --use-color=false "$@" -- '"$flags"' 2>&1 </dev/null |
			grep -vE "^[0-9]+ (warnings?|errors?) .*generated|^Suppressed|^Use -header" | grep . &&
			exit 1; exit 0' tidy
}

for compiler in gcc clang; do
	if command -v $compiler >/dev/null; then
		check "$compiler builds without a warning" build $compiler \
			$([ $compiler = gcc ] && echo build || echo build-$compiler)
	else
		skip "$compiler builds without a warning" "$compiler is not installed"
	fi
done
if [ "$(uname -m)" != x86_64 ]; then
	skip "it builds for aarch64" "this is not an x86-64 machine"
elif .ci/deps build cross >/dev/null 2>&1 && .ci/sysroot arm64 build-arm64/sysroot >/dev/null 2>&1; then
	check "it builds for aarch64" arm64
else
	skip "it builds for aarch64" "the compiler or the libraries for arm64 cannot be installed"
fi
if command -v clang-tidy >/dev/null; then
	check "clang-tidy is content" tidy
else
	skip "clang-tidy is content" "clang-tidy is not installed"
fi
done_testing
