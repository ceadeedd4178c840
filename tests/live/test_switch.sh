#!/bin/bash
# Changing the event set while the target runs: how soon the new set samples, how long a thread goes without a
# sample, that the old set's data stays, and that what cannot be had changes nothing.
cd "$(dirname "$0")/../.." && . tests/live/live.sh
. tests/live/terminal.sh
switching=$O/tests/bench/switching
few="{cpu-clock,page-faults}"
many="{cpu-clock,page-faults,major-faults,context-switches,cpu-migrations}"

if [ ! -x "$switching" ]; then
	not_ok "$switching is built"
	done_testing
	exit 1
fi
figures() { # ARG...: to $dir/figures
	timeout 60 "$switching" "$@" >"$dir/figures" 2>"$dir/err"
	status=$?
	cat "$dir/figures" "$dir/err"
	[ $status = 0 ]
}
figure() { awk -v key="$1" '$1 == key { print $2 }' "$dir/figures"; }
below() { # KEY HIGH
	between -1 "$(figure "$1")" "$2"
}

figures 1 1 cpu-clock "$few" >"$dir/first"
if [ $status = 77 ]; then
	skip "switching event sets" "$(cat "$dir/err")"
	done_testing
	exit
fi
expect "the new events sample within 200 ms, each time" below first_sample_worst_ms 200
expect "no thread goes without a sample for 200 ms" below gap_worst_ms 200
expect "no switch failed" eval '[ "$(figure missed)" = 0 ] && [ "$(figure said)" = 0 ]'
expect "no record was lost" below losses 0
expect "a switch loses less than 10 ms of CPU time" below lost_cpu_ms_a_switch 10
measured "a busy thread, three sets in turns" figures 12 1 cpu-clock "$few" "$many"

# Four threads: their rests are no gap of ours, but what the samples stand for must be whole.
expect "four threads: new samples within 200 ms" below first_sample_worst_ms 200
expect "four threads: no switch failed" eval '[ "$(figure said)" = 0 ]'
expect "four threads: 97 % of the CPU time is sampled across a switch every 0.4 s" below unsampled_switching 0.03
measured "four threads" figures 8 4 cpu-clock "$many"

# 30 of 90 descriptors for the clock on two CPUs: old and new do not fit side by side.
budget() {
	(ulimit -n 90; timeout 60 "$switching" 4 3 cpu-clock "$many" >"$dir/figures" 2>"$dir/err")
	cat "$dir/figures" "$dir/err"
	between 1 "$(figure fds_most)" 90 && below first_sample_worst_ms 200 && [ "$(figure missed)" = 0 ]
}
check "with few descriptors the budget holds" budget

if command -v tmux >/dev/null; then
	start shares 300
	check "the screen" eval 'open_terminal 120 30 && type_line "$PWD/$ALTPTTOP -p $target" && await_screen 10 "alpha"'
	check "e and a name change the set" eval '
		tm send-keys e; await_screen 5 "Count what" && tm send-keys -l software && sleep 0.3 && tm send-keys Enter &&
			await_screen 10 "FAULTS/ms" && await_screen 5 "software over [0-9.]+ s"'
	check "what cannot be had is said, and changes nothing" eval '
		tm send-keys e; await_screen 5 "Count what" && tm send-keys -l "no-such-event,cycles" && sleep 0.3 && tm send-keys Enter &&
			await_screen 10 "there is no event no-such-event" && sleep 1 && tm send-keys 1 && await_screen 10 "FAULTS/ms" && shows alpha'
	if "$ALTPTTOP" --doctor | grep -Eq '^hardware PMU +no'; then
		check "nor does an event that this machine does not count" eval '
			tm send-keys e; await_screen 5 "Count what" && tm send-keys -l "{cycles,instructions}" && sleep 0.3 && tm send-keys Enter &&
				await_screen 10 "cycles is not counted by this machine" && sleep 2 && tm send-keys w && await_screen 10 "software" && shows "alpha"'
	else
		skip "an event that this machine does not count" "it counts cycles"
	fi
	tm send-keys q
else
	skip "switching on the screen" "tmux is not installed"
fi
done_testing
