#!/bin/bash
# Code that replaces other code at the same address gets its own name from then on.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

[ -x "$PROGRAMS/rejit" ] || make -s --no-print-directory O="$O" "$PROGRAMS/rejit"

# What replaced the code may be noticed a quarter of a second late, of two seconds each.
split() { # SAMPLER
	timeout 60 "$ALTPTTOP" --batch --sampler "$1" --duration 40 --format folded -- "$PROGRAMS/rejit" 4 \
		>"$dir/folded" 2>"$dir/messages" || { cat "$dir/messages"; return 1; }
	awk '{ n = $NF } /;early / { a += n } /;late / { b += n }
		END { print a " early, " b " late"; exit !(a > 100 && b > 100 && a < 1.35 * b && b < 1.35 * a) }' "$dir/folded"
}

for sampler in $(samplers); do
	check "$sampler: both names, about half each" split "$sampler"
done
# What is told only at the end of a process is read before the report is written.
last() { # SAMPLER
	timeout 60 "$ALTPTTOP" --batch --sampler "$1" --duration 40 --format folded -- \
		sh -c 'echo $$ >"$1"; exec "$0" 1 last' "$PROGRAMS/rejit" "$dir/pid" \
		>"$dir/folded" 2>"$dir/messages" || { cat "$dir/messages"; return 1; }
	rm -f "/tmp/perf-$(cat "$dir/pid").map"
	grep -cE ";early [0-9]+$" "$dir/folded" && ! grep "generated code" "$dir/folded"
}
for sampler in $(samplers); do
	check "$sampler: names that came as the process ended" last "$sampler"
done
# A map that an earlier process of the same number left is not read: that is told, in batch and by --doctor.
left() { # SAMPLER
	"$PROGRAMS/rejit" 5 left &
	target=$!
	started+=($target)
	timeout 60 "$ALTPTTOP" --batch --sampler "$1" --duration 1.5 -p $target >"$dir/out" 2>"$dir/err" || { cat "$dir/err"; return 1; }
	grep -E "wrong|generated|older" "$dir/out"
	! grep -q wrong "$dir/out" && grep -q "\[generated code\]" "$dir/out" &&
		grep -q "without a name: /tmp/perf-$target.map is older than the process and not read; " "$dir/out"
}
for sampler in $(samplers); do
	check "$sampler: a map older than the process is not believed" left "$sampler"
	check "$sampler: --doctor says so" eval '"$ALTPTTOP" --doctor -p $target >"$dir/out"; grep generated "$dir/out"
		grep -q "^generated code  *no  */tmp/perf-$target.map is older than process $target" "$dir/out"'
	stop
	rm -f "/tmp/perf-$target.map"
done
done_testing
