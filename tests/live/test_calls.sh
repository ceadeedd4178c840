#!/bin/bash
# C counts the calls of a function for a moment: the rate must be what the program itself did, the time a call takes too.
cd "$(dirname "$0")/../.." && . tests/live/live.sh && . tests/live/terminal.sh

if ! command -v tmux >/dev/null; then
	skip "counting calls in a terminal" "tmux is not installed"
	done_testing
	exit
fi
# What the program does in so many rounds, and in how much CPU time, which is not the same at all times on a machine that
# others use: before, while it is watched, and after. A round is 5 calls of outer, 1,000 of mix.
rounds=1000
alone() {
	"$PROGRAMS/fixed" "$rounds" | awk '$1 == "cpu.total" { print $2 }' >>"$dir/alone"
}
alone
start fixed 1000000
watched=$target

count() { # FUNCTION: its row is found and C pressed
	keys g && keys / && keys -l "$1" && keys Enter && sleep 0.5
	keys C
	await_screen 8 "$1: at least|$1: .*(refused|in use|not)" && screen >"$dir/$1"
	sleep 5  # more samples make the time of a call narrower
	keys C-l # the message makes room for what is known of the row
	sleep 1
	screen >>"$dir/$1"
}

rate_of() { # FUNCTION
	grep -oE "$1: at least [0-9]+" "$dir/$1" | head -1 | grep -oE '[0-9]+$'
}

check "a terminal opens" open_terminal 120 24
check "the program is watched" eval 'run_in_terminal "$ALTPTTOP -p $watched"; await_screen 5 "mix"'
sleep 2
alone &
count outer
if grep -qE 'outer: .*(refused|in use|not)' "$dir/outer"; then
	skip "calls are counted" "$(grep -oE 'outer: .*' "$dir/outer" | head -1)"
	done_testing
	exit
fi
wait %alone
# A count while others have the CPUs says too little of so small a function: the next may say more.
for _ in 1 2 3; do
	count mix
	awk -v told="$(rate_of mix)" -v n="$rounds" '{ exit !(told > 0.25 * 1000 * n / $1) }' "$dir/alone" && break
done
alone
kill -KILL "$watched"

# COUNT a round, as a rate or, with "each", as microseconds each: what was told is within 15 % of the program's own.
near() { # TOLD COUNT [each]
	awk -v told="$1" -v rounds="$rounds" -v count="$2" -v each="${3:-}" '
		{ true_is = each ? $1 * 1e6 / (count * rounds) : count * rounds / $1
			if (NR == 1 || true_is < low) low = true_is
			if (NR == 1 || true_is > high) high = true_is }
		END { print "# told " told ", true " low " to " high; exit !(NR == 3 && told > 0.85 * low && told < 1.15 * high) }
	' "$dir/alone"
}
check "the rate of outer is the program's own" near "$(rate_of outer)" 5
# Counting costs more than mix itself: what is told may be much too little, but not too much.
bounded() {
	awk -v told="$(rate_of mix)" -v n="$rounds" '
		{ rate = 1000 * n / $1; if (rate > most) most = rate }
		END { print "# told " told ", true at most " most; exit !(told > 0.2 * most && told < 1.1 * most) }' "$dir/alone"
}
check "that of mix is not above it" bounded
each=$(grep -oE 'CPU time, at most [0-9.]+ µs each' "$dir/outer" | head -1 | grep -oE '[0-9.]+' | head -1)
check "so is the time of a call" near "${each:-0}" 5 each
check "and says what it is of" grep -q "for each second of the target's CPU time" "$dir/outer"
check "the verdict names what is called too often" eval 'keys 6; await_screen 5 "called too often +mix"'
check "C on what has ended says why not" eval 'keys 1; keys g C; await_screen 5 "calls are counted of programs that run"'
check "q leaves" eval 'keys q; back_at_prompt 0'
done_testing
