#!/bin/bash
# What is refused, each tried for real: one sentence with the cause and what to do, the right exit
# status, and the best that still works instead.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

start shares 300
mine=$target

# run COMMAND...: status and messages of one run, kept for the checks that follow.
run() {
	timeout 30 "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	cat "$dir/err"
	[ $status -lt 124 ]
}

# refused PATTERN: status 2, one line that fits on standard error, nothing on standard output.
refused() {
	[ "$status" = 2 ] || { echo "status $status"; return 1; }
	[ "$(wc -l <"$dir/err")" = 1 ] || { echo "not one line"; return 1; }
	[ ! -s "$dir/out" ] || { echo "something on standard output"; return 1; }
	grep -qiE -- "$1" "$dir/err"
}

run_refused() { # PATTERN ARG...
	run "$ALTPTTOP" --batch --duration 0.3 "${@:2}"
	refused "$1"
}

refuse() { # NAME PATTERN ARG...
	local name=$1 pattern=$2
	shift 2
	check "$name" run_refused "$pattern" "$@"
}

refuse "a process that does not exist" "no (such )?process|does not exist" -p 4194303
refuse "a thread that does not exist" "no (such )?thread|does not exist" -t 4194303
refuse "no number for a process" "-p" -p shares
refuse "an option that does not exist" "no option|unknown" --frobnicate
refuse "no target at all" "what to watch|-p|COMMAND"
refuse "two targets that contradict" "together" -p "$mine" -- true
refuse "a rate above 10,000" "10,?000" -F 20000 -p "$mine"
refuse "a rate of nothing" "-F" -F 0 -p "$mine"
refuse "a command that does not exist" "no-such-command" -- no-such-command
refuse "a command that may not be run" "ermission" -- /etc/passwd
refuse "a recording that does not exist" "no such file" -i "$dir/none"
printf 'main;alpha 7\nmain;beta 3\n' >"$dir/r.folded"
refuse "a CPU of a recording" "-C says how to sample" "$dir/r.folded" -C 0
refuse "an event that a recording has not" "no event of this recording, which has samples" "$dir/r.folded" -s cycles
refuse "an event that a set has not" "no event of -E clock" -E clock -s cycles -p "$mine"
refuse "maps that are not there" "--maps .*/none: no such file" "$dir/r.folded" --maps "$dir/none"
refuse "a trace where none can be written" "cannot write .*/none/x" "$dir/r.folded" --chrometracing "$dir/none/x"
check "a list of events of which there is none" eval '
	run "$ALTPTTOP" --list-events no-such; [ $status = 1 ] && [ ! -s "$dir/out" ] && grep -q "no event .*like no-such" "$dir/err"'
check "itself" eval 'run sh -c "exec $ALTPTTOP --batch --duration 0.3 -p \$\$"; refused "itself"'

# A zombie: its parent does not wait.
sh -c 'sleep 0.1 & echo $! >"'"$dir"'/zombie"; exec sleep 100' &
started+=($!)
await 5 test -s "$dir/zombie"
sleep 0.4
refuse "a zombie" "zombie|has ended|exited" -p "$(cat "$dir/zombie")"

kernel_thread() {
	run "$ALTPTTOP" --batch --duration 0.5 -p 2
	[ "$status" = 0 ] || [ "$status" = 1 ] || refused "kernel thread"
}
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
	check "a kernel thread is watched, or refused by name" kernel_thread
else
	skip "a kernel thread" "no kernel threads are to be seen here"
fi

# The best that still works, named.
works_with() { # PATTERN-OF-SAMPLER
	[ "$status" = 0 ] || { echo "status $status"; return 1; }
	grep -qE "^sampler +.*($1)" "$dir/out" || { grep '^sampler' "$dir/out"; return 1; }
	grep -q alpha "$dir/out"
}
check "without perf_event_open (EPERM) the timer sampler works" eval '
	run "$PROGRAMS/noperf" "$ALTPTTOP" --batch --duration 1 -p $mine; works_with timer'
check "and says why" grep -qiE 'perf_event_open|seccomp|refused|Operation not permitted' "$dir/err" "$dir/out"
check "without perf_event_open (ENOSYS) the timer sampler works" eval '
	NOPERF_ERRNO=38 run "$PROGRAMS/noperf" "$ALTPTTOP" --batch --duration 1 -p $mine; works_with timer'
check "perf asked for by name and refused: one sentence" eval '
	run "$PROGRAMS/noperf" "$ALTPTTOP" --batch --sampler perf --duration 1 -p $mine
	refused "perf_event_open|perf"'
check "neither perf nor ptrace: one sentence" eval '
	NOPERF_PTRACE=1 run "$PROGRAMS/noperf" "$ALTPTTOP" --batch --duration 1 -p $mine; refused "."'

check "ulimit -n 64 still works" eval '
	(ulimit -n 64; run "$ALTPTTOP" --batch --duration 1 -p $mine; echo $status >$dir/status)
	status=$(cat $dir/status); works_with .'

if [ "$(id -u)" = 0 ]; then
	# Another person: may run the program, may not look at ours.
	chmod 755 "$dir"
	cp "$ALTPTTOP" "$PROGRAMS/shares" "$PROGRAMS/noperf" "$dir/" && chmod 755 "$dir"/*
	other="env HOME=$dir setpriv --reuid 65534 --regid 65534 --clear-groups"
	$other "$dir/shares" 200 >/dev/null &
	theirs=$!
	started+=($theirs)
	sleep 0.3
	check "somebody else's process" eval 'run $other "$dir/altpttop" --batch --duration 0.3 -p $mine
		refused "ermi|owner|belongs|root"'
	check "without privilege one's own process is watched" eval '
		run $other "$dir/altpttop" --batch --duration 1 -p $theirs; works_with .'
	check "all of somebody else" eval 'run $other "$dir/altpttop" --batch --duration 0.3 -u root
		refused "none of [0-9]+ process(es)? may be traced: .*(root|ptrace)"'
	check "what one may watch of the whole system" eval '
		run $other "$dir/altpttop" --batch --duration 1 -a; works_with .'
	check "context switches of user code alone are unknown, not 0" eval '
		run $other "$dir/altpttop" --batch --duration 1 -e context-switches -p $theirs
		[ $status = 0 ] && { ! grep -q "context-switches:u" "$dir/out" ||
			{ grep -q "n/a: it happens in the kernel" "$dir/out" && ! grep -q "no CPU time" "$dir/out"; }; }'
	check "in a small memlock too" eval '
		(ulimit -l 64; run $other "$dir/altpttop" --batch --duration 1 -p $theirs
			echo $status >$dir/status)
		status=$(cat $dir/status); works_with .'
	check "and with nothing but ptrace" eval '
		run $other "$dir/noperf" "$dir/altpttop" --batch --duration 1 -p $theirs; works_with timer'
	check "an output where one may not write" eval '
		run $other "$dir/altpttop" --batch --duration 0.3 -o /etc/x.csv -p $theirs
		[ $status != 0 ] && grep -q "ermission denied" "$dir/err"'
else
	skip "other people's processes" "only root can be somebody else"
fi

check "call stacks that the hardware does not keep" eval '
	run "$ALTPTTOP" --batch --duration 0.5 --call-graph lbr -p $mine
	[ $status = 0 ] && grep -q "^altpttop: --call-graph lbr: .*; stacks are dumped and unwound instead" "$dir/err"
	grep -q "^stacks .*% complete" "$dir/out"'
# How far it comes depends on the machine; what it says is true all the way.
little_memory() {
	local kb said=0
	for kb in 90000 100000 110000 120000 130000 140000 160000; do
		(ulimit -v $kb && run "$ALTPTTOP" --batch --duration 0.5 -p "$mine")
		grep -E "MiB\) is full|could not be summed up" "$dir/err" && return 1
		grep -qE "emory|thread" "$dir/err" && said=$((said + 1))
	done
	echo "$said times it lacked some"
	[ $said -gt 0 ]
}
check "too little memory is told as that, not as a full cap or a lack of time" little_memory
check "a full disk is a sentence, the report is printed" eval '
	run "$ALTPTTOP" --batch --duration 0.5 --format csv -o /dev/full -p $mine
	[ $status = 1 ] && grep -q "No space left" "$dir/err" && grep -q alpha "$dir/out"'
check "so is a limit of file sizes" eval '
	(ulimit -f 1; "$ALTPTTOP" --batch --duration 0.5 --format csv -o "$dir/large.csv" -p $mine >/dev/null 2>"$dir/err"; exit $?)
	[ $? = 1 ] && grep -q "^altpttop: cannot write .*: File too large" "$dir/err"'
check "the doctor answers" eval 'run "$ALTPTTOP" --doctor; [ $status = 0 ] && grep -q perf_event_paranoid "$dir/out"'
check "the doctor answers without perf" eval '
	run "$PROGRAMS/noperf" "$ALTPTTOP" --doctor; [ $status = 0 ] && grep -qi "not permitted\|refused\|seccomp" "$dir/out"'
check "the watched program goes on" kill -0 "$mine"
done_testing
