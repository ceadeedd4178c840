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

# No stack ends anywhere else than in ROOT or visibly cut.
all_rooted() { # OUT ROOT
	awk -v root="$(csv "$1" "$2" total_percent)" -v cut="$(csv "$1" "[truncated]" total_percent)" \
		'BEGIN { print root " % in the root, " cut " % cut"; exit !(root + cut > 98.5) }'
}

# expect NAME OUT FUNCTION COLUMN TRUTH
expect() {
	check "$1" share "$2" "$3" "$4" "$5"
}

for s in perf timer; do
	if ! grep -qx $s <<<"$available"; then
		skip "shares with the $s sampler" "$(why_not $s)"
		continue
	fi
	check "$s: three functions are profiled" run $s shares 4
	expect "$s: alpha has 50 %" shares alpha self_percent 0.5
	expect "$s: beta has 30 %" shares beta self_percent 0.3
	expect "$s: gamma has 20 %" shares gamma_ self_percent 0.2
	expect "$s: main has all below it" shares main total_percent 0.998 0.01

	check "$s: recursion is profiled" run $s recursion 4
	expect "$s: a recursive function has its self time" recursion descend self_percent 0.5
	expect "$s: and its total counted once" recursion descend total_percent 0.5
	expect "$s: mutual recursion, self of even" recursion even self_percent 0.25
	expect "$s: mutual recursion, self of odd" recursion odd self_percent 0.25
	expect "$s: mutual recursion, total of even" recursion even total_percent 0.5
	expect "$s: mutual recursion, total of odd" recursion odd total_percent 0.5

	check "$s: code without frame pointers is profiled" run $s nofp 3
	expect "$s: the leaf has the self time" nofp level_12 self_percent 0.999 0.02
	for f in main level_01 level_06 level_11; do
		expect "$s: $f is on every path" nofp $f total_percent 0.999 0.01
	done

	check "$s: static-PIE is profiled" run $s staticpie 4
	expect "$s: heavy has 70 %" staticpie heavy self_percent 0.7
	expect "$s: light has 30 %" staticpie light self_percent 0.3
	expect "$s: dispatch is on every path" staticpie dispatch total_percent 0.999 0.01

	check "$s: dlopen and dlclose are followed" run $s reload 4
	expect "$s: plugin_work_a has 60 %" reload plugin_work_a self_percent 0.6
	expect "$s: plugin_work_b has 40 %" reload plugin_work_b self_percent 0.4

	check "$s: long C++ names are profiled" run $s longnames 4
	expect "$s: brief has 40 %" longnames "brief(unsigned long*, unsigned long)" self_percent 0.4

	check "$s: signal handlers are profiled" run $s sigstack 4
	expect "$s: in_handler has 40 %" sigstack in_handler self_percent 0.4
	expect "$s: interrupted is on both paths" sigstack interrupted total_percent 0.999 0.01
	expect "$s: main is the root through the signal frame" sigstack main total_percent 0.999 0.01
	check "$s: a handler on an alternate stack is profiled" run_alternate $s
	expect "$s: its own share is right" sigstack in_handler self_percent 0.4
	check "$s: its path reaches main, or hangs under [truncated]" all_rooted sigstack main

	check "$s: a 100 KiB stack is profiled" run $s deepstack 6
	expect "$s: bottom has 50 %" deepstack bottom self_percent 0.5
	expect "$s: top has 50 %" deepstack top self_percent 0.5
done
done_testing
