#!/bin/bash
# .clang-format is the law for every C file of the project.
cd "$(dirname "$0")/../.." && . tests/tap.sh

formatted() {
	local wrong
	wrong=$(find include src ui tests -name '*.[ch]' -o -name '*.cc' -path 'tests/*' | sort |
		xargs clang-format --dry-run 2>&1 | grep warning: | cut -d: -f1 | uniq -c)
	[ -z "$wrong" ] || { echo "$wrong"; return 1; }
}

trailing_space() {
	! git grep -nIE '[[:space:]]+$' -- '*.c' '*.h' '*.cc' '*.sh' '*.md' '*.1' Makefile .ci
}

if command -v clang-format >/dev/null; then
	check "every C file is formatted" formatted
else
	skip "every C file is formatted" "clang-format is not installed"
fi
check "no line ends in space" trailing_space
done_testing
