#!/bin/bash
# Wall time: threads that wait are seen, each in the function it waits in; and where threads wait for a
# lock, for a CPU and run by turns, each function has its part of the time as the program's clocks say.
cd "$(dirname "$0")/../.." && . tests/live/live.sh && . tests/live/terminal.sh

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
stop

# Three threads take turns at a lock: work of 2 ms under it, of 0.5 ms without.
contend() {
	timeout 60 "$ALTPTTOP" --batch --clock wall --duration 40 -o "$dir/contend.csv" \
		-- "$PROGRAMS/contend" 6 2000 500 >"$dir/contend.report" 2>"$dir/truth"
}
region() { # FUNCTION
	share contend "$1" total_percent "$(truth "share.$1")" 0.012
}
# The sum of all threads' time, to what fits between the first and the last look at them.
whole() {
	between "$(awk -v t="$(truth cpu.wall)" 'BEGIN { print t * 0.9 }')" \
		"$(awk '$1 == "samples" { print $5 }' "$dir/contend.report")" "$(truth cpu.wall)"
}
for f in wait_turn under_lock hand_on outside_lock doze; do
	expect "$f has its part of the threads' time" region $f
done
expect "all of the threads' time is told" whole
# Functions and Verdicts tell the same of the lock, and so does a file of it.
lock_wait() { # REPORT
	awk -v total="$(csv contend wait_turn total_percent)" -v n="$(csv contend wait_turn total_samples)" '
		/lock wait .* wait_turn: / {
			print $1 " % and " $(NF - 1) " samples, Functions: " total " % and " n
			found = $1 - total < 0.06 && total - $1 < 0.06 && $(NF - 1) + 1 >= n && $(NF - 1) <= n
		} END { exit !found }' "$dir/$1.report"
}
expect "Verdicts tell of the lock what Functions do" lock_wait contend
# The report tells of each thread what the kernel told the thread itself.
reported() { # THREAD
	awk -v name="$1" -v cpu="$(truth "cpu.$1")" -v ready="$(truth "ready.$1")" -v wait="$(truth "wait.$1")" '
		function off(x, y) { return x > y ? x - y : y - x }
		/^Modules/ { on = 0 }
		on && $9 == name { c = $6; r = $7; w = $8 }
		/ CPU% READY%  WAIT% NAME / { on = 1 }
		END {
			printf "CPU %.1f, truth %.1f; READY %.1f, truth %.1f; WAIT %.1f, truth %.1f\n",
				c, 100 * cpu, r, 100 * ready, w, 100 * wait
			exit !(w && off(c, 100 * cpu) < 3 && off(r, 100 * ready) < 3 && off(w, 100 * wait) < 4)
		}' "$dir/contend.report"
}
for t in turn-1 turn-2 turn-3; do
	expect "and all of the time of $t" reported $t
done
measured "threads that take turns at a lock are profiled" contend

findings() { # REPORT: but for who had no CPU, which the kernel tells and no file
	sed -n '/^Verdicts/,/cover/p' "$dir/$1.report" | grep -v ' no CPU '
}
# Looks at who waits are few and weigh much: margins are as wide in a file of it.
margins() { # REPORT
	awk '$1 == "Modules" { exit } /\[\.\] / && $2 ~ /^[0-9.]+$/ && $1 >= 1 { print $NF, $1, $2 }' "$dir/$1.report" | sort
}
same_margins() { # REPORT OTHER: to the last digit or 2 %
	join <(margins "$1") <(margins "$2") | awk '
		{ print; off = $3 > $5 ? $3 - $5 : $5 - $3; n++; bad += off > 0.0101 && off > 0.02 * $3 }
		END { exit n < 5 || bad }'
}
for s in pb.gz json folded; do
	check "a profile of the wall clock is saved as $s" eval 'timeout 60 "$ALTPTTOP" --batch --clock wall \
		-o "$dir/saved.$s" -- "$PROGRAMS/contend" 2 2000 500 >"$dir/saved.report" 2>"$dir/truth"'
	check "and read again" eval '"$ALTPTTOP" --batch "$dir/saved.$s" >"$dir/again.report"'
	check "with margins as wide" same_margins saved again
	[ $s = folded ] && continue # it does not tell who waited
	check "with the same verdicts, those on waiting too" eval '
		findings saved >"$dir/one"; findings again >"$dir/two"
		grep -q "lock wait" "$dir/one" && diff "$dir/one" "$dir/two"'
done
if command -v go >/dev/null; then
	check "go tool pprof tells who waited" eval 'go tool pprof -tags "$dir/saved.pb.gz" 2>"$dir/pprof.err" |
		grep -q ": waiting" && [ ! -s "$dir/pprof.err" ]'
fi

# Three busy threads on one CPU have none for two thirds of their time; who always waits lacks none.
crowded() {
	timeout 60 "$ALTPTTOP" --batch --clock wall --duration 20 -o "$dir/crowded.csv" \
		-- taskset -c 0 "$PROGRAMS/threads" 4 >"$dir/crowded.report" 2>"$dir/crowded.messages"
}
resting() {
	timeout 60 "$ALTPTTOP" --batch --clock wall --duration 3 -o "$dir/resting.csv" \
		-- "$PROGRAMS/blocked" 60 >"$dir/resting.report" 2>"$dir/resting.messages"
}
lacked() { # REPORT
	grep ' no CPU .*ready to run, without a CPU' "$dir/$1.report"
}
expect "who has no CPU is told" lacked crowded
measured "three threads on one CPU are profiled" crowded
expect "who wants none is not" eval '! lacked resting'
measured "a program that always waits is profiled" resting

# The CPU clock shows nothing of waiting: it sends who mostly waits to the wall clock, and nobody else.
asleep() {
	timeout 60 "$ALTPTTOP" --batch --duration 20 -o "$dir/asleep.csv" -- "$PROGRAMS/threads" 4 10 \
		>"$dir/asleep.report" 2>"$dir/asleep.messages"
}
awake() {
	timeout 60 "$ALTPTTOP" --batch --duration 20 -o "$dir/awake.csv" -- "$PROGRAMS/shares" 3 \
		>"$dir/awake.report" 2>"$dir/awake.messages"
}
sent() { # REPORT
	grep 'off the CPU .*--clock wall' "$dir/$1.report"
}
expect "who mostly waits is sent to the wall clock" sent asleep
measured "a program that mostly waits is profiled" asleep
expect "who never waits is not" eval '! sent awake'
measured "a program that never waits is profiled" awake

if ! command -v tmux >/dev/null; then
	skip "the screens of the wall clock" "tmux is not installed"
	done_testing
	exit
fi

all_of_it() {
	local i
	for i in 1 2 3 4; do
		shows ' all' && return
		keys w
		sleep 0.5
	done
	shows ' all'
}
watch() { # COMMAND: and what the screens 3 and 5 say in the end, of all of the time
	run_in_terminal "$ALTPTTOP --clock wall $1"
	await_screen 20 '  (ended|read)  ' && all_of_it || { screen; return 1; }
	keys 3
	await_screen 3 'WAIT%' && sleep 1.2 && screen >"$dir/threads.screen"
	keys 5
	await_screen 3 'COUNT' && sleep 1.2 && screen >"$dir/events.screen"
	keys q
	back_at_prompt 0
}
watch_contend() {
	watch "-- sh -c 'exec $PROGRAMS/contend 8 2000 500 >$dir/truth'"
}
# CPU%, READY% and WAIT% are what the kernel told the thread itself, and together all of its time.
parts() { # THREAD
	awk -v name="$1" -v cpu="$(truth "cpu.$1")" -v ready="$(truth "ready.$1")" -v wait="$(truth "wait.$1")" '
		function off(x, y) { return x > y ? x - y : y - x }
		/READY%/ { for (i = 1; i <= NF; i++) if ($i == "READY%") at = NF - i }
		$2 == name { for (i = 3; i <= NF; i++) if ($i ~ /^[0-9.]+$/ && !first) first = i
			c = $first; r = $(first + 3); w = $(first + 4) }
		END {
			printf "CPU %.1f, truth %.1f; READY %.1f, truth %.1f; WAIT %.1f, truth %.1f; sum %.1f\n",
				c, 100 * cpu, r, 100 * ready, w, 100 * wait, c + r + w
			exit !(w && off(c, 100 * cpu) < 3 && off(r, 100 * ready) < 3 && off(w, 100 * wait) < 4 &&
				off(c + r + w, 100) < 4)
		}' "$dir/threads.screen"
}
counted() { # nearly all of five threads' time, on Events
	awk -v all="$(truth cpu.wall)" '$1 == "wall" && $3 ~ /G$/ { got = $3 + 0 }
		END { print got "G ns of " all " s"; exit !(got > 0.93 * all && got <= 1.01 * all) }' "$dir/events.screen"
}
check "a terminal opens" open_terminal 170 30
for t in turn-1 turn-2 turn-3; do
	expect "Threads tells all of the time of $t" parts $t
done
expect "Events counts all of the threads' time" counted
measured "threads that take turns are watched" watch_contend

# Of a file nobody knows what of the time that is not waiting was on a CPU.
check "the file is opened in the terminal" watch "$dir/saved.pb.gz"
check "no CPU time is told of its threads" eval '
	grep -E " (turn-1|sleeper) .* n/a +n/a +n/a +n/a +[0-9.]+ " "$dir/threads.screen"'
done_testing
