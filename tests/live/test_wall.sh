#!/bin/bash
# Wall time: threads that wait are seen, each in the function it waits in; and where threads wait for a
# lock, for a CPU and run by turns, each function has its part of the time as the program's clocks say.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

if ! samplers | grep -qx timer; then
	skip "wall time" "$(why_not timer)"
	done_testing
	exit
fi
start blocked 90
await 5 grep -q ready "$dir/truth"
for f in wait_mutex wait_cond wait_read wait_sleep wait_poll; do
	# Six threads, main among them, wait all the time.
	expect "$f has its sixth" share blocked $f total_percent 0.16667 0.02
done
measured "waiting threads are profiled" profile blocked --clock wall --duration 4 -p "$target"
check "the target goes on" kill -0 "$target"
stop

# Three threads take turns at a lock: work of 2 ms under it, of 0.5 ms without.
contend() {
	timeout 60 "$ALTPTTOP" --batch --clock wall --duration 40 -o "$dir/contend.csv" \
		-- "$PROGRAMS/contend" 6 2000 500 >"$dir/contend.report" 2>"$dir/truth"
}
region() { # FUNCTION
	share contend "$1" total_percent "$(truth "share.$1")" 0.012
}
# The sum of all threads' time, to what fits between the first and the last look at them.
whole() {
	between "$(awk -v t="$(truth cpu.wall)" 'BEGIN { print t * 0.9 }')" \
		"$(awk '$1 == "samples" { print $5 }' "$dir/contend.report")" "$(truth cpu.wall)"
}
for f in wait_turn under_lock hand_on outside_lock doze; do
	expect "$f has its part of the threads' time" region $f
done
expect "all of the threads' time is told" whole
measured "threads that take turns at a lock are profiled" contend
done_testing
