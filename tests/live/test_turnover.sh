#!/bin/bash
# Threads and processes that come and go: nothing watched is lost from the account.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

available=$(samplers)

# Total CPU seconds of a pprof snapshot, [unsampled] included.
pprof_total() {
	go tool pprof -raw "$1" 2>"$dir/pprof.err" | awk '
		/^Samples:/ { on = 1; next }
		/^Locations/ { on = 0 }
		on && /^[a-z_]+\/[a-z]+/ { for (i = 1; i <= NF; i++) if ($i ~ /^cpu\//) at = i; next }
		on && NF && $1 ~ /^[0-9]/ { sub(/:.*/, ""); split($0, v, " "); sum += v[at] }
		END { printf "%.6f\n", sum / 1e9 }'
}

# whole_life SAMPLER PROGRAM SECONDS: start the program under the profiler, from its first to its last moment.
whole_life() {
	local s=$1 program=$2
	timeout 60 "$ALTPTTOP" --batch --sampler "$s" --duration 30 -o "$dir/$program.pb.gz" \
		-- "$PROGRAMS/$program" "$3" >"$dir/$program.report" 2>"$dir/truth" ||
		{ cat "$dir/truth"; return 1; }
}

# Sampled plus [unsampled] against the kernel's account, within 3 %.
accounted() { # PROGRAM
	local real got
	real=$(truth cpu.total)
	got=$(pprof_total "$dir/$1.pb.gz")
	awk -v real="$real" -v got="$got" 'BEGIN {
		printf "kernel %.4f s, profile %.4f s: %.1f %%\n", real, got, 100 * got / real
		exit !(real > 0.5 && got > 0.97 * real && got < 1.03 * real) }'
}

# Nearly all of what was sampled is theirs, and nearly all was sampled.
workers_seen() {
	awk -v work="$(csv crowd busy_work total_percent)" -v missed="$(csv crowd "[unsampled]" total_percent)" '
		BEGIN { printf "%.1f %% in busy_work, %.1f %% unsampled\n", work, missed
			exit !(work > 0.95 * (100 - missed) && missed < 3) }'
}

renaming() { # SAMPLER
	start renamer 6
	sleep 0.3
	profile renamer --sampler "$1" --duration 3 -p "$target"
	local rc=$?
	stop
	return $rc
}

self_executing() { # SAMPLER
	timeout 60 "$ALTPTTOP" --batch --sampler "$1" --duration 20 -o "$dir/reexec.csv" \
		-- "$PROGRAMS/reexec" 4 >/dev/null 2>"$dir/truth"
}

# Each stage lasts two seconds of wall time; its part of the CPU time is told by the program itself.
stage_share() { # STAGE
	share reexec "$1" self_percent "$(awk -v mine="$(truth "cpu.$1")" -v one="$(truth cpu.stage_one)" \
		-v two="$(truth cpu.stage_two)" 'BEGIN { print mine / (one + two) }')" 0.02
}

crowded() { # SAMPLER LIMIT
	start crowd 60
	await 20 grep -q ready "$dir/truth"
	(eval "$2"; profile crowd --sampler "$1" --duration 3 -p "$target")
	local rc=$?
	stop
	return $rc
}

if ! command -v go >/dev/null; then
	skip "CPU time of brief threads" "go tool pprof is not installed"
	done_testing
	exit
fi
for s in perf timer; do
	if ! grep -qx $s <<<"$available"; then
		skip "turnover with the $s sampler" "$(why_not $s)"
		continue
	fi
	for program in spawner forkexec; do
		expect "$s: $program: sampled plus [unsampled] is the kernel's account" accounted $program
		measured "$s: $program is watched from start to end" whole_life $s $program 4
	done
	expect "$s: is one function still" share renamer work total_percent 0.999 0.01
	measured "$s: a thread that renames itself" renaming $s
	expect "$s: its first stage has its share" stage_share stage_one
	expect "$s: and so has its second" stage_share stage_two
	measured "$s: a program that executes itself" self_executing $s
	for limit in "" "ulimit -Sn 1024;" "ulimit -Hn 1024;"; do
		expect "$s: and the two that work are seen ${limit:-without a limit}" workers_seen
		measured "$s: 2,000 threads ${limit:-without a limit}" crowded $s "$limit"
	done
done
done_testing
