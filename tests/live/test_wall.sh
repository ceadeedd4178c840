#!/bin/bash
# Wall time: threads that wait are seen, each in the function it waits in.
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
done_testing
