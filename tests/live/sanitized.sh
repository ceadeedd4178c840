#!/bin/bash
# The whole program, built with a sanitizer, on a live target: every thread at work, and no report.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

start threads 120 50
mine=$target
quiet() { # ARG...
	timeout 100 "$ALTPTTOP" --batch "$@" -p "$mine" >"$dir/out" 2>"$dir/err" </dev/null
	local rc=$?
	cat "$dir/err"
	[ $rc = 0 ] && grep -q work_full "$dir/out" && ! grep -qE 'Sanitizer|runtime error:' "$dir/err"
}
available=$(samplers)
for s in perf timer; do
	if grep -qx $s <<<"$available"; then
		check "$s sampler: no report" quiet --sampler $s --duration 3 -o "$dir/a.pb.gz"
	else
		skip "$s sampler: no report" "$(why_not $s)"
	fi
done
check "a command from start to end: no report" eval '
	timeout 100 "$ALTPTTOP" --batch --duration 30 -- "$PROGRAMS/shares" 2 >"$dir/out" 2>"$dir/err"
	[ $? = 0 ] && grep -q alpha "$dir/out" && ! grep -qE "Sanitizer|runtime error:" "$dir/err" || { cat "$dir/err"; false; }'
done_testing
