#!/bin/bash
# Code that replaces other code at the same address gets its own name from then on.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

[ -x "$PROGRAMS/rejit" ] || make -s --no-print-directory O="$O" "$PROGRAMS/rejit"

split() { # SAMPLER
	timeout 60 "$ALTPTTOP" --batch --sampler "$1" --duration 40 --format folded -- "$PROGRAMS/rejit" 2 \
		>"$dir/folded" 2>"$dir/messages" || { cat "$dir/messages"; return 1; }
	awk '{ n = $NF } /;early / { a += n } /;late / { b += n }
		END { print a " early, " b " late"; exit !(a > 100 && b > 100 && a < 1.5 * b && b < 1.5 * a) }' "$dir/folded"
}

for sampler in $(samplers); do
	check "$sampler: both names, about half each" split "$sampler"
done
done_testing
