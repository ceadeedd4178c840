#!/bin/bash
# mem:SYMBOL: functions and objects watched by name, each access exactly, as event, leader of a group and
# trigger; of a module that is loaded later; names that cannot be watched are refused in one sentence.
cd "$(dirname "$0")/../.." && . tests/live/live.sh
. tests/live/terminal.sh

accesses() { # N EVENT: so many samples of it in a run of places
	start places 100
	timeout 30 "$ALTPTTOP" --batch -p $target -e "$2" >"$dir/out" 2>"$dir/err"
	cat "$dir/out" "$dir/err"
	grep -Eq "^samples +$1 of " "$dir/out"
}
start places 1 3000
if ! timeout 30 "$ALTPTTOP" --batch --duration 0.3 -p $target -e mem:written:w >"$dir/out" 2>"$dir/err" &&
	grep -Eq 'ENODEV|EOPNOTSUPP|EINVAL|ENOSPC|ENOENT' "$dir/err"; then
	skip "addresses by name" "$(head -n 1 "$dir/err")"
	done_testing
	exit
fi
stop
check "writes to an object" accesses 100 mem:written:w
check "calls of a function" accesses 100 mem:place_step
check "writes to a part of an object" accesses 100 mem:pair+8/8:w
none() {
	! accesses 100 mem:pair/8:w && grep -q "gone before any sample" "$dir/err"
}
check "none to its other part" none
check "an object of a named module" accesses 100 mem:places:written:w
check "a function of a module that is loaded later" accesses 100 mem:plugin_work_a
check "says that it waits, and that it came" eval '
	grep -q "mem:plugin_work_a waits: no file" "$dir/err" && grep -q "is watched from here on" "$dir/err"'
members() {
	accesses 100 '{mem:written:w,page-faults,task-clock}' || return
	start places 100
	timeout 30 "$ALTPTTOP" --batch -p $target -e '{mem:written:w,task-clock}' -o "$dir/g.csv" >"$dir/out" 2>"$dir/err"
	cat "$dir/g.csv" "$dir/err"
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "self_task-clock_ns") c = i } NR > 1 { s += $c }
		END { exit !(c && s > 0) }' "$dir/g.csv"
}
check "as leader of a group it reads the members" members
started_program() {
	timeout 30 "$ALTPTTOP" --batch -e mem:written:w -- "$PROGRAMS/places" 50 800 >"$dir/out" 2>"$dir/err"
	cat "$dir/out" "$dir/err"
	grep -Eq "^samples +50 of mem:written:w" "$dir/out"
}
check "of a program that is started for it" started_program
trips() {
	start places 50
	timeout 30 "$ALTPTTOP" --batch -p $target --trigger mem:place_step --trigger-files 1 --trigger-span 0.2 \
		-o "$dir/t.folded" >"$dir/out" 2>"$dir/err"
	cat "$dir/err"
	ls "$dir"/t-*.folded && grep -q "when the trigger mem:place_step held" "$dir/err"
}
check "as a trigger" trips

start places 1 60000
never() { # SENTENCE ARG...: said at the end, by exit status 1 too
	timeout 30 "$ALTPTTOP" --batch --duration 0.5 -p $target "${@:2}" >"$dir/out" 2>"$dir/err" </dev/null
	local status=$?
	cat "$dir/err"
	[ $status = 1 ] && grep -q -- "$1" "$dir/err"
}
check "a symbol that never came is told, and the status" never "mem:nosuch was never watched" -e mem:nosuch
check "so is one that looks like an access" never "accesses are r, w, rw and x" -e mem:places:q
check "as a trigger too" never "mem:nosuch was never watched" --trigger mem:nosuch
refused() { # SENTENCE ARG...
	timeout 30 "$ALTPTTOP" --batch --duration 0.5 "${@:2}" >"$dir/out" 2>"$dir/err" </dev/null
	local status=$?
	cat "$dir/err"
	[ $status = 2 ] && [ "$(wc -l <"$dir/err")" = 1 ] && grep -qF -- "$1" "$dir/err"
}
check "a name in several modules" refused "argp_err_exit_status is in 2 places: mem:0x" -p $target -e mem:argp_err_exit_status
check "… is watched by its module" eval 'timeout 30 "$ALTPTTOP" --batch --duration 0.3 -p $target -e mem:places:argp_err_exit_status >"$dir/out" 2>"$dir/err"'
check "a thread-local object" refused "own is thread-local" -p $target -e mem:own
check "data is not run" refused "written is data" -p $target -e mem:written:x
check "beyond its end" refused "ends before that, it has 16 bytes" -p $target -e mem:pair+16
check "an address that its length does not divide" refused "at a multiple of 8 only" -p $target -e mem:pair+4/8
check "many programs at once" refused "name a process (-p)" -a -e mem:place_step
check "as a trigger too" refused "name a process (-p)" -a --trigger mem:place_step

if command -v tmux >/dev/null; then
	check "on the screen, chosen by e" eval '
		start places 4000 100 && open_terminal 100 30 && type_line "$PWD/$ALTPTTOP -p $target" &&
		await_screen 10 "Functions" && tm send-keys e && sleep 0.5 && tm send-keys -l "mem:written:w" && tm send-keys Enter &&
		await_screen 10 "mem:written" && await_screen 10 "place_step"'
	tm send-keys q
else
	skip "on the screen, chosen by e" "tmux is not installed"
fi
done_testing
