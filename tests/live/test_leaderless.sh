#!/bin/bash
# A process whose first thread has ended lives on in its others: it is watched, named and unwound like any, by -p and from
# its first instruction, though what /proc tells of the first thread is a zombie's.
cd "$(dirname "$0")/../.." && . tests/live/live.sh
available=$(samplers)

headless() {
	[ "$(awk '/^State/ { print $2 }' "/proc/$target/status")" = Z ]
}
whole() { # FILE: nearly all of the samples are of the thread that is left, below its start, and no stack is cut
	cat "$dir/$1.report" "$dir/$1.messages" | head -n 40
	awk -F, '$1 == "work_left" { self = $3; named = $2 } END { exit !(named == "leaderless" && self > 90) }' "$dir/$1.csv" &&
		grep -Eq '^stacks +(9[5-9]|100)' "$dir/$1.report"
}

start leaderless 1000
check "its first thread has ended" await 5 headless
for s in perf timer; do
	if ! grep -qx $s <<<"$available"; then
		skip "a process without its first thread, the $s sampler" "$(why_not $s)"
		continue
	fi
	check "$s: -p watches it" profile attached --sampler $s --duration 1 -p "$target"
	check "$s: its code has names, its stacks are whole" whole attached
	check "$s: as a command" profile started --sampler $s -- "$PROGRAMS/leaderless" 1
	check "$s: that too has names and whole stacks" whole started
done
if grep -qx timer <<<"$available"; then
	check "on the wall clock" profile wall --clock wall --duration 1 -p "$target"
	check "with names and whole stacks" whole wall
fi
stop
done_testing
