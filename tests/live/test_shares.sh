#!/bin/bash
# Programs with known shares: every share within four standard errors, with each sampler that works.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

available=$(samplers)

run() { # SAMPLER PROGRAM SECONDS EXTRA...
	local sampler=$1 program=$2 seconds=$3
	shift 3
	start "$program" "$(awk "BEGIN { print $seconds + 3 }")"
	sleep 0.3
	profile "$program" --sampler "$sampler" --duration "$seconds" "$@" -p "$target"
	local rc=$?
	stop
	return $rc
}

run_alternate() { # SAMPLER
	start sigstack 7 alternate
	sleep 0.3
	profile sigstack --sampler "$1" --duration 4 -p "$target"
	local rc=$?
	stop
	return $rc
}

# With four others for the two CPUs of a small machine, in sessions of their own: threads wait for a CPU, and soon after
# a look they do what they always do then.
run_crowded() { # SAMPLER
	local others=() rc
	for _ in 1 2 3 4; do
		setsid timeout 30 sh -c 'while :; do :; done' &
		others+=($!)
	done
	profile contend --sampler "$1" --duration 6 -- "$PROGRAMS/contend" 5 2000 500
	rc=$?
	kill "${others[@]}"
	wait "${others[@]}" 2>/dev/null
	return $rc
}

# Where a handler returns to has a name, with or without debug files.
signal_frame_named() { # OUT TRUTH
	local name
	for name in '[signal frame]' __restore_rt __kernel_rt_sigreturn; do
		share "$1" "$name" total_percent "$2" && return
	done
	return 1
}

# What no dump holds is read from the process, where it may be.
read_on() { # OUT
	awk '$1 == "stacks" { print; share = $2 } END { exit share < 95 }' "$dir/$1.report"
}
may_read() {
	[ "$(id -u)" = 0 ] || [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" = 0 ]
}

# No stack ends anywhere else than in ROOT or visibly cut.
all_rooted() { # OUT ROOT
	awk -v root="$(csv "$1" "$2" total_percent)" -v cut="$(csv "$1" "[truncated]" total_percent)" \
		'BEGIN { print root " % in the root, " cut " % cut"; exit !(root + cut > 98.5) }'
}

for s in perf timer; do
	if ! grep -qx $s <<<"$available"; then
		skip "shares with the $s sampler" "$(why_not $s)"
		continue
	fi
	expect "$s: alpha has 50 %" share shares alpha self_percent 0.5
	expect "$s: beta has 30 %" share shares beta self_percent 0.3
	expect "$s: gamma has 20 %" share shares gamma_ self_percent 0.2
	expect "$s: main has all below it" share shares main total_percent 0.998 0.01
	measured "$s: three functions are profiled" run $s shares 4

	# The calls themselves take 2 to 4 % of it.
	expect "$s: alpha has 49 %" share clocked alpha self_percent 0.485 0.015
	expect "$s: beta has 29 %" share clocked beta self_percent 0.291 0.01
	expect "$s: gamma has 19 %" share clocked gamma_ self_percent 0.194 0.01
	measured "$s: a program that asks the clock very often is profiled" run $s clocked 5

	expect "$s: a recursive function has its self time" share recursion descend self_percent 0.5
	expect "$s: and its total counted once" share recursion descend total_percent 0.5
	expect "$s: mutual recursion, self of even" share recursion even self_percent 0.25
	expect "$s: mutual recursion, self of odd" share recursion odd self_percent 0.25
	expect "$s: mutual recursion, total of even" share recursion even total_percent 0.5
	expect "$s: mutual recursion, total of odd" share recursion odd total_percent 0.5
	measured "$s: recursion is profiled" run $s recursion 4

	expect "$s: the leaf has the self time" share nofp level_12 self_percent 0.999 0.02
	for f in main level_01 level_06 level_11; do
		expect "$s: $f is on every path" share nofp $f total_percent 0.999 0.01
	done
	measured "$s: code without frame pointers is profiled" run $s nofp 3

	expect "$s: heavy has 70 %" share staticpie heavy self_percent 0.7
	expect "$s: light has 30 %" share staticpie light self_percent 0.3
	expect "$s: dispatch is on every path" share staticpie dispatch total_percent 0.999 0.01
	measured "$s: static-PIE is profiled" run $s staticpie 4

	expect "$s: plugin_work_a has 60 %" share reload plugin_work_a self_percent 0.6
	expect "$s: plugin_work_b has 40 %" share reload plugin_work_b self_percent 0.4
	measured "$s: dlopen and dlclose are followed" run $s reload 4

	expect "$s: brief has 40 %" share longnames "brief(unsigned long*, unsigned long)" self_percent 0.4
	measured "$s: long C++ names are profiled" run $s longnames 4

	expect "$s: in_handler has 40 %" share sigstack in_handler self_percent 0.4
	expect "$s: interrupted is on both paths" share sigstack interrupted total_percent 0.999 0.01
	expect "$s: main is the root through the signal frame" share sigstack main total_percent 0.999 0.01
	expect "$s: the signal's frame has a name" signal_frame_named sigstack 0.4
	measured "$s: signal handlers are profiled" run $s sigstack 4
	expect "$s: its own share is right" share sigstack in_handler self_percent 0.4
	expect "$s: its path reaches main, or hangs under [truncated]" all_rooted sigstack main
	measured "$s: a handler on an alternate stack is profiled" run_alternate $s

	expect "$s: a fifth of the work is outside the lock" share contend outside_lock self_percent 0.2 0.05
	measured "$s: threads that share a lock, and the CPUs with others, are profiled" run_crowded $s

	expect "$s: bottom has 50 %" share deepstack bottom self_percent 0.5
	expect "$s: top has 50 %" share deepstack top self_percent 0.5
	! may_read || expect "$s: its stacks are whole" read_on deepstack
	measured "$s: a 100 KiB stack is profiled" run $s deepstack 6
done
done_testing
