#!/bin/bash
# In a real terminal: start, keys, resize, the target's end, suspending, and every way to leave. The
# terminal must be as it was before, each time.
cd "$(dirname "$0")/../.." && . tests/live/live.sh && . tests/live/terminal.sh

if ! command -v tmux >/dev/null; then
	skip "the screens in a terminal" "tmux is not installed"
	done_testing
	exit
fi

start shares 300
watched=$target
check "a terminal opens" open_terminal 80 24

watch() {
	run_in_terminal "$ALTPTTOP -p ${1:-$watched}"
	await_screen 5 'alpha'
}

size_is() { # COLUMNS LINES
	tm resize-window -x "$1" -y "$2" && sleep 0.3 && profiler >/dev/null
}

# The three rows stand one below the other, each on one line: nothing wrapped.
rows_are_whole() {
	await_screen 3 'alpha' && sleep 0.3
	screen | grep -nE '[0-9]\.[0-9].* (alpha|beta|gamma_)' | cut -d: -f1 | awk '
		NR > 1 && $1 != last + 1 { bad = 1 } { last = $1 } END { exit bad || NR != 3 }' ||
		{ screen; return 1; }
}

same_screen_after_redraw() {
	keys Space # frozen, so that nothing but the drawing can differ
	sleep 0.3
	screen | grep -E 'alpha|beta|gamma_' | awk '{ print $NF }' >"$dir/one"
	keys C-l
	sleep 0.3
	screen | grep -E 'alpha|beta|gamma_' | awk '{ print $NF }' >"$dir/two"
	keys Space
	cmp "$dir/one" "$dir/two"
}

check "functions with names appear" watch
check "the screen is a full-screen one" test "$(tm display-message -p '#{alternate_on}')" = 1
check "h shows help" eval 'keys h; await_screen 3 "[Ff]reeze|[Qq]uit"'
check "Esc leaves help" eval 'keys Escape; await_screen 3 alpha'
check "Enter goes into the function" eval 'keys g; keys Enter; await_screen 3 "main"'
check "Esc comes back" eval 'keys Escape; await_screen 3 "beta"'
for n in 2 3 4 5 6; do
	check "screen $n can be shown" eval "keys $n; sleep 0.4; profiler"
done
check "screen 1 shows the functions again" eval 'keys 1; await_screen 3 "alpha"'
check "search finds a function" eval 'keys /; keys -l gamma; keys Enter; await_screen 3 gamma_'
check "the filter leaves only what fits" eval 'keys "\\"; keys -l beta; keys Enter; await_screen 3 beta;
	sleep 1.2; ! shows "alpha"'
check "and can be taken back" eval 'keys "\\"; keys C-u; keys Enter; await_screen 3 alpha'
check "a redraw shows the same" same_screen_after_redraw

# A function whose source is not there and whose hottest line is far below the first.
source_is_missing() {
	{
		printf 'volatile unsigned long x;\nint main(void)\n{\nfor (;;) {\n'
		for ((i = 0; i < 60; i++)); do
			echo "for (int i = 0; i < $((20000 + 2000 * i)); i++) x += i * $((i + 2));"
		done
		printf '}\n}\n'
	} >"$dir/gone.c"
	cc -O1 -g -o "$dir/gone" "$dir/gone.c" && rm "$dir/gone.c" || return 1
	"$dir/gone" &
	started+=($!)
	run_in_terminal "$ALTPTTOP -p $!"
	await_screen 5 main
	sleep 2
	keys a
	await_screen 3 "no source text" && await_screen 3 "^ *source not found .moved. --source-path"
}
if command -v cc >/dev/null; then
	keys q
	sleep 0.5
	check "where the source is not found its rows and the line below say so" source_is_missing
	keys q
	sleep 0.5
	check "functions with names appear again" watch
else
	skip "where the source is not found" "no compiler"
fi

check "40 × 10" eval 'size_is 40 10 && rows_are_whole'
check "20 × 4 does not end it" size_is 20 4
check "200 × 50" eval 'size_is 200 50 && rows_are_whole'
check "1 × 1 does not end it" size_is 1 1
check "80 × 24 again" eval 'size_is 80 24 && rows_are_whole'
# As when the window's edge is dragged: nobody presses a key meanwhile.
resized() {
	local pid i
	pid=$(profiler) || return 1
	for ((i = 0; i < 150; i++)); do
		kill -WINCH "$pid" 2>/dev/null || return 1
		sleep 0.02
	done
	[ "$(profiler)" = "$pid" ]
}
check "150 changes of size in a row do not end it" resized

check "Ctrl-Z gives the terminal back" eval 'keys C-z; await_screen 5 "Stopped" && restored'
check "fg brings the screen again" eval 'type_line fg; await_screen 5 alpha'
check "q leaves a program that was suspended" eval 'keys q; await_screen 3 "^ready> *$" && restored'
check "it starts again" watch
check "q leaves" eval 'keys q; back_at_prompt 0'
check "it starts again" watch
check "F10 leaves" eval 'keys F10; back_at_prompt 0'
check "it starts again" watch
check "Ctrl-C leaves like q" eval 'keys C-c; back_at_prompt 0'
for signal in TERM INT HUP QUIT; do
	check "it starts again" watch
	check "SIG$signal restores the terminal" eval "kill -$signal \$(profiler); back_at_prompt '[0-9]+'"
done
check "it starts again" watch
check "a crash restores the terminal" eval 'kill -SEGV $(profiler); await_screen 10 "^status=[0-9]+="; restored'

# As if its stack had overflowed: where there is no stack, no handler runs on it.
overflow() { # THREAD
	local pid task tid
	pid=$(profiler)
	for task in "/proc/$pid/task/"*; do
		[ "$(cat "$task/comm")" = "$1" ] && tid=${task##*/}
	done
	timeout 30 gdb -q -batch -p "$pid" \
		-ex "python gdb.execute('thread %d' % [t.num for t in gdb.selected_inferior().threads() if t.ptid[1] == $tid][0])" \
		-ex 'set $sp = 0x1000' -ex 'signal SIGSEGV' >"$dir/gdb" 2>&1
	await_screen 10 "^status=[0-9]+=" && restored && shows "crashed; the terminal was put back"
}
if [ "$(id -u)" = 0 ] && gdb -q -batch -ex 'python print(1)' 2>/dev/null | grep -q 1; then
	check "it starts to overflow" watch
	check "a thread whose stack overflows restores the terminal" overflow resolver
else
	skip "a thread whose stack overflows" "no gdb that may attach"
fi

# The target's end: the screen stays, says so, and keeps the profile.
start shares 300
check "another target is watched" watch "$target"
sleep 1
check "when the target ends the screen says so" eval 'kill -KILL $target; await_screen 5 "exit|ended|gone|finished"'
check "and keeps the profile" eval 'sleep 1.5; shows alpha && keys 2 && sleep 0.5 && keys 1 && await_screen 3 alpha'
check "and q leaves" eval 'keys q; back_at_prompt 0'

# The terminal goes away under it.
check "it starts once more" watch
left=$(profiler)
tm kill-server
gone() { ! kill -0 "$left" 2>/dev/null; }
check "a hang-up ends it" await 3 gone
check "the watched program never noticed" kill -0 "$watched"
done_testing
