#!/bin/bash
# What measures how soon names come gets them: the engine as the screen runs it, by itself. How soon is the bench's to say.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

bench=$O/tests/bench/firstnames
make -s --no-print-directory O="$O" "$bench" >"$dir/make" 2>&1 || cat "$dir/make"

names_come() {
	"$bench" "$target" >"$dir/out" || { echo "it ended with $?"; return 1; }
	cat "$dir/out"
	awk '$1 ~ /^(first_sample|rows|name|names)_ms$/ && $2 >= 0 { n++ } END { exit n != 4 }' "$dir/out"
}

if samplers | grep -qx perf; then
	start shares 20
	check "rows, a first name and all names of a program come" names_come
else
	skip "first names" "$(why_not perf)"
fi
done_testing
