#!/bin/bash
# What we write we read: a live profile saved in each format and opened again keeps every number.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

if [ -z "$(samplers)" ]; then
	skip "saved profiles are read again" "no sampler works here: $(why_not timer)"
	done_testing
	exit 0
fi

# again IN OUT: open one file, save it as another.
again() {
	timeout 60 "$ALTPTTOP" --batch -o "$dir/$2" "$dir/$1" >"$dir/again.report" 2>"$dir/again.messages" ||
		{ cat "$dir/again.messages"; return 1; }
}

# Folded stacks without the thread's name, summed: what all formats can say.
stacks() { # FILE
	sed 's/^[^;]*;//' "$dir/$1" | awk '{ n = $NF; $NF = ""; sum[$0] += n } END { for (s in sum) print sum[s], s }' |
		LC_ALL=C sort
}

same_stacks() { # FILE FILE
	stacks "$1" >"$dir/one"
	stacks "$2" >"$dir/two"
	[ -s "$dir/one" ] && diff "$dir/one" "$dir/two" | head -n 20
	cmp -s "$dir/one" "$dir/two"
}

# One run, two formats: pprof at the end of a recording that is itself read from pprof.
start recursion 30
check "a live profile is saved as pprof" eval 'timeout 60 "$ALTPTTOP" --batch --duration 1.5 \
	-o "$dir/live.pb.gz" -p "$target" >"$dir/live.report"'
stop
check "it is read again, as folded stacks" again live.pb.gz first.folded
facts() { # FILE: when, how long, how busy, and who
	awk '$1 == "window" || $1 == "host" || $1 == "stacks"
		$1 == "samples" { print $2, $5, $9 }
		/^Threads/ { on = 1 }
		on && $1 ~ /^[0-9.]+$/ { print $3, $4, $5, $(name ? name : 6); exit }
		on && /READY%/ { name = 9 }' "$1"
}
check "when, how long, where and how busy it was is read again" eval '
	facts "$dir/live.report" >"$dir/one"; facts "$dir/again.report" >"$dir/two"
	cat "$dir/one"; [ $(wc -l <"$dir/one") = 5 ] && diff "$dir/one" "$dir/two"'
check "and as pprof" again live.pb.gz second.pb.gz
check "which is read again" again second.pb.gz second.folded
check "with the same stacks and counts" same_stacks first.folded second.folded
check "folded stacks are read again" again first.folded third.folded
check "with the same stacks and counts" same_stacks first.folded third.folded

totals() { # FILE: samples and nanoseconds of a pprof file
	go tool pprof -raw "$dir/$1" 2>/dev/null | awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 }
		on && $2 ~ /^[0-9]+:$/ { n += $1; ns += $2 } END { print n, ns }'
}
same_totals() {
	local one two
	one=$(totals live.pb.gz)
	two=$(totals second.pb.gz)
	echo "live: $one, again: $two"
	[ -n "${one%% *}" ] && [ "${one%% *}" != 0 ] && [ "$one" = "$two" ]
}
if command -v go >/dev/null; then
	check "samples and nanoseconds are the same after two trips through pprof" same_totals
else
	skip "samples and nanoseconds are the same after two trips through pprof" "go is not installed"
fi
done_testing
