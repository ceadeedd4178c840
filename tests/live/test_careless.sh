#!/bin/bash
# A careless person and a hostile name: nothing that is typed, read or named hangs the program, is
# obeyed by the terminal or is passed over in silence.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

run() { # COMMAND...: its status, what it said; never longer than 10 s
	timeout -k 1 10 "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	cat -v "$dir/err"
}
one_line() { # STATUS PATTERN
	[ "$status" = "$1" ] || { echo "status $status"; return 1; }
	[ "$(wc -l <"$dir/err")" = 1 ] || { echo "not one line"; return 1; }
	grep -qE -- "$2" "$dir/err"
}
refused() { # PATTERN ARG...
	run "$ALTPTTOP" --batch --duration 0.2 "${@:2}"
	one_line 2 "$1" && [ ! -s "$dir/out" ]
}
# No byte that a terminal obeys, and UTF-8 throughout.
harmless() { # FILE
	! LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' "$1" && iconv -f UTF-8 -t UTF-8 "$1" >/dev/null
}

start shares 300
esc=$'\e[2J\e]0;owned\a'
bad=$'\xff\xfe\x9b'
for opt in -p -t -C -u -G -i -e -E -F -c -s -d --call-graph --sampler --format --duration --filter \
	--trigger --symfs "$esc" "-$bad" "--$bad$esc"; do
	for text in "$esc" "$bad" ''; do
		check "$(printf '%q %q is refused in one line that a terminal can bear' "$opt" "$text")" \
			eval 'case $opt in -[ptCuGi]) target_of=;; *) target_of="-p $target";; esac
			refused "^altpttop: " $target_of "$opt" "$text" && harmless "$dir/err"'
	done
done
long=$(printf '%05000d' 0)x
check "of an argument of 5,000 characters the line still says what is wrong" \
	refused 'must be a number of seconds' -p "$target" --duration "$long"

for list in '{cpu-clock' 'cpu-clock}' '{cpu-clock,{page-faults}}' '}cpu-clock{'; do
	check "-e $list is refused" refused 'without its' -p "$target" -e "$list"
done
check "an analysis of something that runs is refused" refused 'recording' -p "$target" --leaf
check "so is a trace to be written of it" refused 'recording' -p "$target" --chrometracing "$dir/t"
check "a directory for --symfs that is not there" refused 'symfs.*No such' -p "$target" \
	--symfs "$dir/none"
check "-o - is no file of that name" refused 'standard output' -p "$target" -o - --format folded

printf 'main;work 5\nmain;rest 3\n' >"$dir/two.folded"
not_written() { # OPTION
	run "$ALTPTTOP" --batch "$dir/two.folded" "$1" "$dir/none.out"
	one_line 1 "none.out was not written" && grep -q work "$dir/out"
}
check "a trace that this recording has nothing for: said, status 1" not_written --chrometracing
check "a CSV likewise" not_written --ipc-trending

# Names of functions, in every line of the report.
printf 'main;\e[31m\xc2\x9b5m\xff 5\n\e]0;x\a;w\x01\x7f 9\nmain;\xd7\x8a0m 1\n' >"$dir/names.folded"
check "names of functions with escape sequences" eval '
	run "$ALTPTTOP" --batch "$dir/names.folded"; [ "$status" = 0 ] && harmless "$dir/out" && harmless "$dir/err"'

# Recordings that end too early, though what there is of them is good.
span='{"name":"work","ph":"X","ts":10,"dur":5,"pid":1,"tid":1}'
sample='work 1 1.000000: 1 cpu-clock:\n\t    55d000001000 work+0x10 (/bin/work)\n'
printf '{"traceEvents":[%s,{"name":"lost","ph":"X","ts":20,"du' "$span" >"$dir/event.json"
printf '{"traceEvents":[%s,' "$span" >"$dir/object.json"
printf '[%s,\n%s' "$span" "$span" >"$dir/array.json"
printf "$sample\n$sample" >"$dir/whole.perf"
printf "$sample\n${sample%??????????}" >"$dir/line.perf"
is_cut() { # FILE PATTERN
	run "$ALTPTTOP" --batch "$dir/$1"
	cat "$dir/err"
	[ "$status" = 1 ] && [ $(grep -c "cut off" "$dir/err") = 1 ] &&
		grep -qE "is cut off: .*$2.*; what came before it is shown" "$dir/err" && grep -q work "$dir/out"
}
seems_cut() { # FILE PATTERN
	run "$ALTPTTOP" --batch "$dir/$1"
	[ "$status" = 0 ] && grep -qE "seems to be cut off: .*$2" "$dir/err" && grep -q work "$dir/out"
}
whole() { # FILE
	run "$ALTPTTOP" --batch "$dir/$1"
	[ "$status" = 0 ] && ! grep -q "cut off" "$dir/err" && grep -q work "$dir/out"
}
check "an event of a trace that is cut in the middle is told" is_cut event.json "event"
check "a trace without its end is told" is_cut object.json "end of its JSON"
check "a bare array of events needs no end" whole array.json
check "a text whose last line has no end is told" seems_cut line.perf "last line"
check "one that ends as perf ends it is not" whole whole.perf
recorded=../shared/corpus/perfdata/linux-perf-data__sleep.data
if [ -r "$recorded" ]; then
	head -c 7560 "$recorded" >"$dir/work.data"
	check "perf.data without what describes it is told" eval '
		run "$ALTPTTOP" --batch "$dir/work.data"; [ "$status" = 1 ] &&
			grep -q "is cut off: what describes" "$dir/err"'
else
	skip "perf.data without what describes it" "no corpus"
fi
printf 'main;work 90\nmain;other 10\n' >"$dir/small.folded"
check "a pprof profile that is cut is told once" eval '
	run "$ALTPTTOP" --batch -o "$dir/small.pb.gz" "$dir/small.folded"
	gzip -dc "$dir/small.pb.gz" | head -c -9 >"$dir/cut.pb"
	run "$ALTPTTOP" --batch "$dir/cut.pb"; cat "$dir/err"; [ "$status" = 1 ] &&
		[ $(grep -c "damaged or cut off" "$dir/err") = 1 ]'

# What gives no bytes.
mkfifo "$dir/fifo" "$dir/late"
ends_at() { # SIGNAL COMMAND...: while it waits for bytes
	timeout -k 1 -s "$1" 1 "${@:2}" >"$dir/out" 2>"$dir/err"
	status=$?
	cat "$dir/err"
	[ "$status" = 124 ] # and not 137: it did not have to be killed
}
for signal in TERM INT HUP; do
	check "waiting for a pipe's first writer ends at SIG$signal" \
		ends_at "$signal" "$ALTPTTOP" --batch "$dir/fifo" </dev/null
	check "waiting for a pipe's first byte ends at SIG$signal" eval '
		sleep 3 | ends_at $signal "$ALTPTTOP" --batch -'
done
check "a pipe whose writer comes late is read" eval '
	(sleep 0.5; cat "$dir/two.folded" >"$dir/late") &
	run "$ALTPTTOP" --batch "$dir/late"; [ "$status" = 0 ] && grep -q work "$dir/out"'

mkdir -p "$dir/config/altpttop"
mkfifo "$dir/config/altpttop/config"
check "a config file that is a pipe does not hang" eval '
	run env XDG_CONFIG_HOME="$dir/config" "$ALTPTTOP" --version; [ "$status" = 0 ]'

# A terminal that takes no more output.
stuck() { # SIGNAL: `script` reads the terminal until the pipe behind it is full
	rm -f "$dir/pid"
	{
		head -c 60000 /dev/zero # most of what the pipe holds
		TERM=xterm script -qefc "stty rows 100 cols 250; echo \$\$ >$dir/pid; exec $ALTPTTOP \
			-p $target -d 0.1" /dev/null </dev/null
	} | sleep 60 &
	started+=($!)
	await 5 test -s "$dir/pid" || return 1
	local watcher
	watcher=$(cat "$dir/pid")
	started+=("$watcher")
	await 30 grep -q wait_woken "/proc/$watcher/wchan" || return 1
	sleep 0.5
	kill "-$1" "$watcher"
	await 9 eval "! kill -0 $watcher 2>/dev/null || grep -q 'State:.Z' /proc/$watcher/status"
}
if command -v script >/dev/null && [ -r /proc/self/wchan ]; then
	check "a terminal that is not read any more does not keep it from ending" stuck TERM
else
	skip "a terminal that is not read any more" "there is no script(1)"
fi

unread() { # a report into a pipe that nobody reads ends at the first SIGTERM
	mkfifo "$dir/unread"
	sleep 30 <>"$dir/unread" &
	started+=($!)
	exec 5<>"$dir/unread"
	seq 100000 | timeout 1 cat >&5 # full
	"$ALTPTTOP" --batch --duration 1 --demo --format chrome >&5 2>"$dir/err" &
	local watcher=$!
	started+=("$watcher")
	exec 5>&-
	await 20 grep -q pipe_write "/proc/$watcher/wchan" || return 1
	kill -TERM "$watcher"
	await 3 eval "! kill -0 $watcher 2>/dev/null" || return 1
	wait "$watcher"
	status=$?
	one_line 1 'cannot write the report'
}
check "a report that nobody reads does not keep it from ending" unread

# Descriptors.
check "standard descriptors that are closed do not become files of ours" eval '
	"$ALTPTTOP" --batch --duration 0.3 -p $target -o "$dir/closed.folded" <&- >&- 2>&-
	[ -s "$dir/closed.folded" ] && ! grep -qvE ".* [0-9]+$" "$dir/closed.folded"'
closed_output() {
	"$ALTPTTOP" --batch --duration 0.2 -p $target >&- 2>"$dir/err"
	status=$?
	one_line 1 'cannot write the report'
}
check "a report that cannot be written to a closed output is no success" closed_output
few() { # N PATTERN
	run bash -c "ulimit -n $1; exec '$ALTPTTOP' --batch --duration 0.2 -p $target"
	one_line 2 "$2"
}
check "five descriptors: not a process that does not exist" few 5 "open files"
check "ten descriptors: not a lack of memory" few 10 "open files"

# Somewhere between too little for anything and enough, one thread starts and the next does not.
short_of() { # the worst status from too little to enough
	local most=0
	for size in $(seq 40000 4000 120000); do
		run bash -c "ulimit -v $size; exec '$ALTPTTOP' --batch '$dir/two.folded'" >/dev/null
		[ "$status" -gt "$most" ] && most=$status && echo "status $status at $size KB"
	done
	[ "$most" -le 2 ]
}
if bash -c "ulimit -v 40000; exec '$ALTPTTOP' --version" >/dev/null 2>&1; then
	check "memory that threads cannot be started in is a sentence" short_of
else
	skip "memory that threads cannot be started in" "the program needs more to begin with"
fi

check "nohup is obeyed: a hang-up does not end it" eval '
	(trap "" HUP; exec "$ALTPTTOP" --batch --duration 2 -p $target >"$dir/out" 2>"$dir/err") &
	watcher=$!; sleep 0.7; kill -HUP $watcher; sleep 0.5; kill -0 $watcher; alive=$?
	wait $watcher; [ $? = 0 ] && [ $alive = 0 ]'

done_testing
