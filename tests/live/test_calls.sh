#!/bin/bash
# C counts the calls of a function for a moment: the rate must be what the program itself did, the time a call takes too.
cd "$(dirname "$0")/../.." && . tests/live/live.sh && . tests/live/terminal.sh

if ! command -v tmux >/dev/null; then
	skip "counting calls in a terminal" "tmux is not installed"
	done_testing
	exit
fi
start fixed 1000000
watched=$target

count() { # FUNCTION: its row is found and C pressed
	keys g && keys / && keys -l "$1" && keys Enter && sleep 0.5
	keys C
	await_screen 8 "$1: at least|$1: .*(refused|in use|not)" && screen >"$dir/$1"
	sleep 5 # the message makes room for what is known of the row
	screen >>"$dir/$1"
}

rate_of() { # FUNCTION
	grep -oE "$1: at least [0-9]+" "$dir/$1" | head -1 | grep -oE '[0-9]+$'
}

check "a terminal opens" open_terminal 120 24
check "the program is watched" eval 'run_in_terminal "$ALTPTTOP -p $watched"; await_screen 5 "mix"'
sleep 2
count outer
if grep -qE 'outer: .*(refused|in use|not)' "$dir/outer"; then
	skip "calls are counted" "$(grep -oE 'outer: .*' "$dir/outer" | head -1)"
	done_testing
	exit
fi
count mix
# What the program does in so many rounds, and in how much CPU time: a round is 5 calls of outer, 1,000 of mix.
rounds=1000
"$PROGRAMS/fixed" "$rounds" >"$dir/alone"
cpu=$(awk '$1 == "cpu.total" { print $2 }' "$dir/alone")
kill -KILL "$watched"

# Calls and CPU seconds by the program itself, and the rate that was told: 15 % apart at most.
near() { # TOLD TRUE
	awk -v a="$1" -v b="$2" 'BEGIN { print "# told " a ", true " b; exit !(a > 0.85 * b && a < 1.15 * b) }'
}
check "the rate of outer is the program's own" near "$(rate_of outer)" "$(awk "BEGIN { print 5 * $rounds / $cpu }")"
# Counting costs more than mix itself: what is told may be much too little, but not too much.
check "that of mix is not above it" eval 'awk -v a="$(rate_of mix)" -v b="$(awk "BEGIN { print 1000 * $rounds / $cpu }")" \
	"BEGIN { print \"# told \" a \", true \" b; exit !(a > 0.2 * b && a < 1.1 * b) }"'
each=$(grep -oE 'CPU time, at most [0-9.]+ µs each' "$dir/outer" | head -1 | grep -oE '[0-9.]+' | head -1)
check "so is the time of a call" near "${each:-0}" "$(awk "BEGIN { print $cpu * 1e6 / (5 * $rounds) }")"
check "the verdict names what is called too often" eval 'keys 6; await_screen 5 "called too often +mix"'
check "C on what has ended says why not" eval 'keys 1; keys g C; await_screen 5 "calls are counted of programs that run"'
check "q leaves" eval 'keys q; back_at_prompt 0'
done_testing
