#!/bin/bash
# House style that a grep can see: names, lengths, opening comments, headers that stand alone.
cd "$(dirname "$0")/../.." && . tests/tap.sh
CC=${CC:-gcc}
mine() { find include src ui tests -name '*.[ch]' | sort; }

unique_names() {
	local twice
	twice=$(find include src ui -name '*.[ch]' -printf '%f\n' | sort | uniq -d)
	[ -z "$twice" ] || { echo "$twice"; return 1; }
}

short_files() {
	mine | xargs wc -l | awk '$2 != "total" && $1 > 700 { print $2 ": " $1 " lines"; bad = 1 }
		END { exit bad }'
}

opening_comments() {
	local f bad=0
	for f in $(find src ui -name '*.c'); do
		head -n 1 "$f" | grep -q '^/\*' || { echo "$f: does not open with a comment"; bad=1; }
	done
	return $bad
}

guards() {
	local f bad=0
	for f in $(find include src ui -name '*.h'); do
		grep -q '^#ifndef ALTPTTOP_' "$f" || { echo "$f: no ALTPTTOP_ guard"; bad=1; }
		head -n 1 "$f" | grep -q '^/\*' || { echo "$f: says nothing of itself"; bad=1; }
	done
	return $bad
}

# What a compiler makes is made outside of build/ by whoever calls it by hand, and is no source.
no_products() {
	local made
	made=$(git ls-files 2>/dev/null | grep -E '\.([doa]|so|gcda|gcno|profraw|pyc)$|(^|/)core$')
	[ -z "$made" ] || { echo "$made"; return 1; }
}

self_sufficient() {
	local flags
	flags="-std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -Iinclude -Isrc -I. -Ibuild/gen $(
		pkg-config --cflags ncursesw libelf libdw libprotobuf-c yajl capstone inih)"
	find include src ui -name '*.h' ! -path 'src/agent/*' | sort |
		xargs -P 2 -I{} sh -c "printf '#include \"{}\"\n#include \"{}\"\nextern int used;\n' |
			$CC $flags -fsyntax-only -x c - || exit 1"
}


check "basenames are unique" unique_names
check "no file is longer than 700 lines" short_files
check "each .c opens with its comment" opening_comments
check "each header has a guard and a word on itself" guards
check "nothing that a compiler makes is kept" no_products
check "each header compiles alone" self_sufficient
done_testing
