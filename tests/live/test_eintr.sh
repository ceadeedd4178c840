#!/bin/bash
# Being watched must not make a system call of the target fail: a program that waits with timeouts in
# nine ways counts its EINTRs.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

available=$(samplers)

waiting() { # SAMPLER CLOCK
	start timeouts 8
	sleep 0.3
	profile timeouts --sampler "$1" --clock "$2" -F 997 --duration 5 -p "$target" || return 1
	finish
}

undisturbed() {
	cat "$dir/truth"
	[ "$(truth eintr)" = 0 ]
}

# Every call that a watched program makes must also still take as long as it asked for.
on_time() {
	awk '$1 ~ /^calls\./ { if ($2 < 200 || $2 > 420) bad = 1; print } END { exit bad }' "$dir/truth"
}

for s in perf timer; do
	if ! grep -qx $s <<<"$available"; then
		skip "system calls under the $s sampler" "$(why_not $s)"
		continue
	fi
	for clock in cpu wall; do
		[ $s$clock = perfwall ] && continue
		expect "$s, $clock: no call fails with EINTR" undisturbed
		expect "$s, $clock: calls end on time" on_time
		measured "$s, $clock: waiting calls are watched" waiting $s $clock
	done
done
done_testing
