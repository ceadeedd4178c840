#!/bin/bash
# Frames that tail calls left out, on a program whose tail calls are known, compiled by gcc and clang:
# there with --tail-calls and marked, only where one way leads; not there without.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

run() { # FILE FLAG...
	timeout 60 "$ALTPTTOP" --batch --duration 1.5 --format folded "${@:2}" -- "$dir/tailcalls" 3 \
		>"$dir/$1.folded" 2>"$dir/$1.messages" || { cat "$dir/$1.messages"; return 1; }
}

# part FILE PATTERN: samples whose path has it, of all in the program's own functions, in per cent.
part() {
	awk -v p="$2" '{ n = $NF; sub(/ [0-9]+$/, ""); if ($0 ~ /;main/) { all += n; if ($0 ~ p) s += n } }
		END { print all ? 100 * s / all : 0 }' "$dir/$1.folded"
}

about() { # FILE PATTERN PERCENT
	awk -v got="$(part "$1" "$2")" -v want="$3" 'BEGIN { print got " % of about " want; exit !(got > want - 6 && got < want + 6) }'
}

none() { # FILE PATTERN
	! grep -E "$2" "$dir/$1.folded"
}

for compiler in gcc clang; do
	if ! command -v $compiler >/dev/null; then
		skip "$compiler" "not installed"
		continue
	fi
	$compiler -O2 -g -std=gnu17 -D_GNU_SOURCE -o "$dir/tailcalls" tests/programs/tailcalls.c
	check "$compiler: a run with --tail-calls" run with --tail-calls
	check "$compiler: both frames are there, marked" about with \
		';main;first \[tail call\];second \[tail call\];leaf' 20
	check "$compiler: none where two ways lead" none with '(left|right|either)'
	check "$compiler: none where the way may go round" none with 'odd \[tail'
	check "$compiler: none through a pointer" none with 'through \[tail'
	check "$compiler: a call stays a call" about with ';main;plain' 20
	check "$compiler: a run without" run without
	check "$compiler: only what is on the stack" none without '(first|second|tail call)'
	check "$compiler: the leaf is main's then" about without ';main;leaf' 20
done
done_testing
