#!/bin/bash
# Four named threads that are busy for 100, 50, 25 and 0 % of half a CPU: each has its share under its
# name, as the program's own clocks say.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

if ! command -v go >/dev/null; then
	skip "shares of threads" "go tool pprof is not installed"
	done_testing
	exit
fi
available=$(samplers)

run() { # SAMPLER
	timeout 60 "$ALTPTTOP" --batch --sampler "$1" --duration 30 -o "$dir/threads.pb.gz" \
		-- "$PROGRAMS/threads" 5 50 >"$dir/threads.report" 2>"$dir/truth" || return 1
	go tool pprof -tags "$dir/threads.pb.gz" >"$dir/tags" 2>"$dir/pprof.err" && [ ! -s "$dir/pprof.err" ]
}

# "  244.7ms (36.50%): full (19794)" below the heading thread_name.
tag_share() { # NAME
	awk -v name="$1" '/^ *[a-z_]+: Total/ { on = $1 == "thread_name:" }
		on && /%\):/ {
			# The first parenthesis holds the figure, the second the tid.
			split($0, part, /[()]/); p = part[2]; sub(/%.*/, "", p)
			who = part[3]; gsub(/^: | $/, "", who); if (who == name) sum += p }
		END { print sum + 0 }' "$dir/tags"
}

named() { # NAME
	local n
	n=$(awk '$1 == "samples" { gsub(/,/, "", $2); print $2 }' "$dir/threads.report")
	awk -v got="$(tag_share "$1")" -v n="$n" -v mine="$(truth "cpu.$1")" -v name="$1" \
		-v all="$(awk '/^cpu\.(full|half|quarter|none)/ { s += $2 } END { print s }' "$dir/truth")" '
	BEGIN {
		p = mine / all; se = sqrt(p * (1 - p) / n); off = got / 100 - p; if (off < 0) off = -off
		printf "%s: %.2f %%, truth %.2f %%, %d samples\n", name, got, 100 * p, n
		exit !(n > 500 && off < 4 * se + 0.005)
	}'
}

for s in perf timer; do
	if ! grep -qx $s <<<"$available"; then
		skip "threads with the $s sampler" "$(why_not $s)"
		continue
	fi
	for name in full half quarter none; do
		expect "$s: the thread $name has its share" named $name
	done
	measured "$s: four threads are profiled" run $s
done
done_testing
