#!/bin/bash
# Tracepoints where tracefs can be read: each one is a sample, as many as perf stat counts; wildcards, groups,
# the list and the search; and without the right to them a sentence that says which right is missing.
cd "$(dirname "$0")/../.." || exit
# Not mounted, but root: in a mount namespace of our own it is, and nobody else sees it.
if [ -z "${TRACEFS_TRIED:-}" ] && [ "$(id -u)" = 0 ] && ! [ -e /sys/kernel/tracing/events ] && command -v unshare >/dev/null; then
	TRACEFS_TRIED=1 exec unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null; exec bash "$0"' \
		tests/live/test_tracepoints.sh
fi
. tests/live/live.sh
. tests/live/terminal.sh

refused() { # SENTENCE COMMAND...
	timeout 30 "${@:2}" >"$dir/out" 2>"$dir/err" </dev/null
	local status=$?
	cat "$dir/err"
	[ $status = 2 ] && [ "$(wc -l <"$dir/err")" = 1 ] && grep -qF -- "$1" "$dir/err"
}
"$ALTPTTOP" --list-events 'syscalls:*nanosleep' >"$dir/list" 2>"$dir/err"
if [ -s "$dir/err" ]; then
	check "where they cannot be read, the event says why" refused "if it is a tracepoint: tracefs is not mounted" \
		"$ALTPTTOP" --batch --duration 0.2 -e nosuch:event -p $$
	skip "tracepoints" "$(head -n 1 "$dir/err")"
	done_testing
	exit
fi
if grep -q "not here" "$dir/list" || ! grep -q "^tracepoint.syscalls:sys_enter_clock_nanosleep" "$dir/list"; then
	skip "tracepoints" "$(head -n 1 "$dir/list")"
	done_testing
	exit
fi
check "the list has those of a pattern" eval '[ "$(wc -l <"$dir/list")" -ge 2 ] && ! grep -v "^tracepoint.syscalls:.*nanosleep" "$dir/list"'

sleeps() { # EVENTS ARG...: over 200 sleeps of a millisecond and two more
	start places 200 2500
	timeout 30 "$ALTPTTOP" --batch -p $target -e "$@" >"$dir/out" 2>"$dir/err"
	local status=$?
	cat "$dir/out" "$dir/err"
	[ $status = 0 ]
}
exactly() { # N EVENT
	grep -Eq "^(samples|and) +$1 of $2" "$dir/out"
}
check "each is a sample" eval 'sleeps syscalls:sys_enter_clock_nanosleep && exactly 202 syscalls:sys_enter_clock_nanosleep'
check "each event of a wildcard" eval 'sleeps "syscalls:*clock_nanosleep" &&
	exactly 202 syscalls:sys_enter_clock_nanosleep && exactly 203 syscalls:sys_exit_clock_nanosleep'
check "as leader of a group, whose members are read" eval 'sleeps "{syscalls:sys_enter_clock_nanosleep,task-clock}" -o "$dir/g.csv" &&
	exactly 202 syscalls:sys_enter_clock_nanosleep && ! grep -q "ran .* of the time" "$dir/out" &&
	awk -F, "NR == 1 { for (i = 1; i <= NF; i++) if (\$i == \"self_task-clock_ns\") c = i } NR > 1 { s += \$c }
		END { exit !(c && s > 0) }" "$dir/g.csv"'
check "every hundredth by -c" eval 'sleeps syscalls:sys_enter_clock_nanosleep -c 100 && exactly 2 syscalls:sys_enter_clock_nanosleep'
if perf stat -e sched:sched_switch true >/dev/null 2>&1; then
	as_perf() {
		start places 200 2500
		perf stat -x, -e sched:sched_switch -p $target 2>"$dir/stat" &
		local stat=$!
		timeout 30 "$ALTPTTOP" --batch -p $target -e sched:sched_switch >"$dir/out" 2>"$dir/err"
		wait $stat
		cat "$dir/out" "$dir/stat"
		exactly "$(grep sched_switch "$dir/stat" | cut -d, -f1)" sched:sched_switch
	}
	measured "as many as perf stat counts" as_perf
else
	skip "as many as perf stat counts" "perf is not installed, or may not count them"
fi
start places 1 60000
check "more than can be watched" refused "tracepoints: at most 24 are watched at once" \
	"$ALTPTTOP" --batch --duration 0.2 -p $target -e 'syscalls:*'
check "a wildcard that matches none" refused "nosuch:* matches no tracepoint" \
	"$ALTPTTOP" --batch --duration 0.2 -p $target -e 'nosuch:*'
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$dir"
	cp "$ALTPTTOP" "$dir/altpttop"
	nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	check "without privilege the missing right is named" refused "may not be read (EACCES): run as root" \
		"${nobody[@]}" "$dir/altpttop" --batch -e sched:sched_switch -- true
	check "for a wildcard too" refused "may not be read (EACCES): run as root" \
		"${nobody[@]}" "$dir/altpttop" --batch -e 'sched:*' -- true
	check "and the list says that it lacks them" eval '"${nobody[@]}" "$dir/altpttop" --list-events "sched:*" 2>&1 |
		grep -q "^altpttop: tracepoints are not listed"'
else
	skip "without privilege the missing right is named" "not root, or no setpriv"
fi
if command -v tmux >/dev/null; then
	check "found by the search, chosen, and sampled" eval '
		start places 8000 100 && open_terminal 100 30 && type_line "$PWD/$ALTPTTOP -p $target" &&
		await_screen 10 "Functions" && tm send-keys e && sleep 0.5 && tm send-keys -l "enter_clock_nano" &&
		await_screen 10 "syscalls:sys_enter_clock_nanosleep" && tm send-keys Down Enter &&
		await_screen 10 "clock_nanosleep"'
	tm send-keys q
else
	skip "found by the search, chosen, and sampled" "tmux is not installed"
fi
done_testing
