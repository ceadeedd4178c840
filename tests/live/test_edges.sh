#!/bin/bash
# Edges beside the source: a single-stepped program's runs of instructions as arcs between the lines of both ends, wide and
# narrow, in UTF-8 and in ASCII; and the table of edges by each of its columns.
cd "$(dirname "$0")/../.." && . tests/live/live.sh && . tests/live/terminal.sh

if ! command -v tmux >/dev/null || [ "$(uname -m)" != x86_64 ]; then
	skip "edges beside the source" "tmux is not installed, or the program knows x86-64 instructions only"
	done_testing
	exit
fi
check "a single-stepped program is recorded, with its maps" eval \
	'"$PROGRAMS/steptrace" 3 "$dir/maps" >"$dir/steps.txt" 2>"$dir/truth" && grep -q steptrace "$dir/maps"'

edges() { # COLUMNS LINES OPTION...: the screen of edges, its names there
	local columns=$1 lines=$2
	shift 2
	tm kill-server 2>/dev/null
	sleep 0.5 # the server of before is gone
	open_terminal "$columns" "$lines" || return
	run_in_terminal "$ALTPTTOP $* --pattern edge --maps $dir/maps $dir/steps.txt"
	await_screen 10 ' fib .* ret .*steptrace.c:[0-9]+ . :[0-9]+'
}

# The three calls of outer's loop: 12 runs begin at the line that calls leaf, 3 at the brace.
beside_outer() { # CORNER ARROW
	keys -l '\'
	await_screen 3 'Filter' && keys -l 'avg_inst>=15,avg_inst<16'
	keys Enter
	await_screen 5 'match avg_inst>=15' && await_screen 5 '^ *3 .* outer' && sleep 0.3
	keys Enter
	await_screen 10 "12 .*sum \+= leaf\(i\);   call .12" || return
	shows "^ *[0-9]+ +3 +$1.*\{" || { screen; return 1; }
	shows "$2.*\}   ret .3" || { screen; return 1; }
}

check "the edges of a trace with the lines of both ends, 80 × 24" edges 80 24
check "arcs beside the source, 80 × 24" beside_outer '╭' '▸'
check "200 × 50" edges 200 50
check "arcs beside the source, 200 × 50" beside_outer '╭' '▸'
check "in ASCII" edges 80 24 --ascii
check "arcs beside the source, in ASCII" beside_outer '\+' '>'

# Each column sorts: the table says by which, and the first row changes as it must.
sorted() {
	local title
	edges 160 30 || return
	for title in total_time avg_time avg_inst SYMBOL "LEFT BY" "FIRST IP" LINES; do
		keys '>'
		await_screen 3 "sorted by $title" || return
	done
	keys '<' '<'
	await_screen 3 'sorted by LEFT BY' && sleep 0.3
	screen | awk '/ (branch|call|ret|fall-through) +[0-9a-f]+ / { print $0 }' | grep -oE ' (branch|call|ret|fall-through) ' >"$dir/kinds"
	[ "$(wc -l <"$dir/kinds")" -ge 15 ] && LC_ALL=C sort -c "$dir/kinds"
}
check "the table of edges sorts by every column" sorted
done_testing
