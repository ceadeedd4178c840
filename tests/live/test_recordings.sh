#!/bin/bash
# Recordings: rebuilt stacks against a single-stepped program that counts its own calls; bounded memory; every number
# kept from file to file; the same totals as perf has on its own recording.
. tests/live/live.sh

# column FILE NAME-OF-ROW TITLE: a cell of an analysis CSV whose first column is plain.
column() {
	awk -F, -v row="$2" -v title="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == title) c = i }
		$1 == row { print $c }' "$1"
}

steps() { # ROUNDS
	"$PROGRAMS/steptrace" "$1" >"$dir/steps.txt" 2>"$dir/steps.truth"
}

analyse() { # PATTERN OUT ARG...
	local pattern=$1 out=$2
	shift 2
	timeout 120 "$ALTPTTOP" --batch --pattern "$pattern" -o "$dir/$out" "$@" >"$dir/$out.report" 2>"$dir/$out.messages"
}

calls_equal() {
	analyse cache cache.csv --ghz 1 --ipc-trending "$dir/trend.csv" --chrometracing "$dir/stacks.json" "$dir/steps.txt" || return
	local name n counted=0
	while read -r _ name n; do
		[ "$(column "$dir/cache.csv" "$name" count)" = "$n" ] || { echo "$name: $(column "$dir/cache.csv" "$name" count) for $n"; return 1; }
		counted=$((counted + 1))
	done < <(grep '^calls ' "$dir/steps.truth")
	! grep -q 'made no sense' "$dir/cache.csv.report" && [ "$counted" -ge 9 ]
}

bytes_equal() { # --insn-trace's lines have bytes for flags: the same calls, times and instructions
	"$PROGRAMS/steptrace" 3 "$dir/maps.insn" insn >"$dir/insn.txt" 2>"$dir/insn.truth" || return
	analyse cache insn.csv --ghz 1 "$dir/insn.txt" || return
	[ "$(wc -l <"$dir/insn.csv")" -ge 9 ] && diff <(sort "$dir/cache.csv") <(sort "$dir/insn.csv")
}

instructions_equal() { # all that belongs to somebody is all there is
	local all
	all=$(awk '$1 == "instructions" { print $2 }' "$dir/steps.truth")
	awk -F, -v all="$all" 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "self_inst") s = i; if ($i == "count") n = i } }
		NR > 1 { sum += $s * $n } END { print sum, all; exit sum < all - 0.5 || sum > all + 0.5 }' "$dir/cache.csv"
}

paths_hold() { # the tail call took its caller's place; the deepest path was taken once a round
	grep -q '^"traced->tail_to->leaf",2,.*,3$' "$dir/trend.csv" && ! grep -q 'tail_from->tail_to' "$dir/trend.csv" &&
		[ "$(grep -c '^"traced\(->deep\)\{13\}->leaf",14,' "$dir/trend.csv")" = 1 ]
}

spans_equal() { # what was written as a Chrome trace is read as one
	analyse duration spans.csv "$dir/stacks.json" || return
	[ "$(column "$dir/spans.csv" fib count)" = "$(awk '$2 == "fib" { print $3 }' "$dir/steps.truth")" ] &&
		[ "$(column "$dir/spans.csv" deep count)" = "$(awk '$2 == "deep" { print $3 }' "$dir/steps.truth")" ]
}

edges_sum() { # every instruction lies on one edge
	local all
	analyse edge edge.csv "$dir/steps.txt" || return
	all=$(awk '$1 == "instructions" { print $2 }' "$dir/steps.truth")
	awk -F, -v all="$all" 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "count") n = i; if ($i == "avg_inst") a = i } }
		NR > 1 { sum += $n * $a } END { print sum, all; exit sum < all - 0.5 || sum > all + 0.5 }' "$dir/edge.csv"
}

bounded() { # a trace of 150 MB within 700 MB of address space, through a pipe
	local i
	(ulimit -v 700000
	for ((i = 0; i < 180; i++)); do cat "$dir/steps.txt"; done |
		timeout 120 "$ALTPTTOP" --batch --pattern cache -o "$dir/big.csv" - >"$dir/big.report" 2>"$dir/big.messages") ||
		{ cat "$dir/big.messages"; return 1; }
	local n
	n=$(awk '$2 == "fib" { print $3 }' "$dir/steps.truth")
	[ "$(column "$dir/big.csv" fib count)" = $((n * 180)) ]
}

bounded_spans() { # a Chrome trace of 150 MB whose spans come again and again, within 600 MB of address space
	local i
	awk 'BEGIN { for (i = 0; i < 30000; i++)
		printf "{\"ph\":\"X\",\"name\":\"span_%d\",\"pid\":7,\"tid\":%d,\"ts\":%d.5,\"dur\":%d.25},\n",
			i % 100, i % 3, i * 10, i % 5 }' >"$dir/spans.json"
	(ulimit -v 600000
	{
		echo '['
		for ((i = 0; i < 75; i++)); do cat "$dir/spans.json"; done
		echo '{}]'
	} | timeout 120 "$ALTPTTOP" --batch --pattern duration -o "$dir/spans.csv" - >"$dir/spans.report" 2>"$dir/spans.messages") ||
		{ cat "$dir/spans.messages"; return 1; }
	[ "$(column "$dir/spans.csv" span_42 count)" = $((75 * 300)) ] && [ "$(column "$dir/spans.csv" span_42 total)" = $((75 * 300 * 2250)) ]
}

bounded_samples() { # 8.5 million samples, 370 MB of JSON and not in the order of time, within 400 MB of address space
	local i
	awk 'BEGIN { for (i = 0; i < 250000; i++)
		printf "{\"ts\":\"%d\",\"pid\":7,\"tid\":\"%d\",\"sf\":%d},\n", 1000 + i * 10, 7 + i % 3, 1 + i % 200 }' >"$dir/samples.json"
	(ulimit -v 400000
	{
		echo '{"traceEvents":[],"samples":['
		for ((i = 0; i < 34; i++)); do cat "$dir/samples.json"; done
		echo '{}],"stackFrames":{'
		awk 'BEGIN { for (i = 1; i <= 200; i++)
			printf "%s\"%d\":{\"name\":\"frame_%d\",\"category\":\"js\"}", (i > 1 ? "," : ""), i, i }'
		echo '}}'
	} | timeout 120 "$ALTPTTOP" --batch - >"$dir/samples.report" 2>"$dir/samples.messages") ||
		{ cat "$dir/samples.messages"; return 1; }
	grep -q '^samples *8500000 of wall' "$dir/samples.report" && grep -q frame_42 "$dir/samples.report"
}

more_than_are_kept() { # 16,777,300 samples in a list: 84 too many
	local n=16777300
	(ulimit -v 600000
	{
		printf '{"nodes":[{"id":1,"callFrame":{"functionName":"only","url":"a.js","lineNumber":1}}],"startTime":1,"samples":[1'
		yes ,1 | head -n $((n - 1)) | tr -d '\n'
		printf '],"timeDeltas":[10'
		yes ,10 | head -n $((n - 1)) | tr -d '\n'
		printf ']}'
	} | timeout 120 "$ALTPTTOP" --batch - >"$dir/more.report" 2>"$dir/more.messages") ||
		{ cat "$dir/more.messages"; return 1; }
	grep -q '^samples *16777216 of wall, 167.77' "$dir/more.report" && grep -q ' 84 samples and calls are left out' "$dir/more.messages"
}

rows() { # FILE: functions with their sample counts, sorted
	awk 'match($0, / \[[.k]\] /) && $6 ~ /^[0-9]+$/ { print $5, $6, substr($0, RSTART + RLENGTH) }' "$1" | LC_ALL=C sort
}

round_trip() { # FORMAT: live → file → file, the same numbers
	timeout 60 "$ALTPTTOP" --batch -o "$dir/again.$1" "$dir/first.$1" >"$dir/again.report" 2>"$dir/again.messages" || return
	timeout 60 "$ALTPTTOP" --batch "$dir/again.$1" >"$dir/third.report" 2>>"$dir/again.messages" || return
	rows "$dir/again.report" >"$dir/ours"
	rows "$dir/third.report" >"$dir/theirs"
	[ -s "$dir/ours" ] && diff "$dir/ours" "$dir/theirs"
}

first_file() { # the live run that the round trips start from
	start shares 20
	timeout 60 "$ALTPTTOP" --batch --duration 2 -o "$dir/first.pb.gz" -p "$target" \
		>"$dir/first.report" 2>"$dir/first.messages"
	local rc=$?
	stop
	return $rc
}

same_as_live() { # the report of the file says what the live report said
	timeout 60 "$ALTPTTOP" --batch "$dir/first.pb.gz" >"$dir/file.report" 2>"$dir/file.messages" || return
	rows "$dir/first.report" >"$dir/ours"
	rows "$dir/file.report" >"$dir/theirs"
	[ -s "$dir/ours" ] && diff "$dir/ours" "$dir/theirs"
}

as_chrome() { # pprof → Chrome trace → the same report, and no trace analysis of a made-up time axis
	timeout 60 "$ALTPTTOP" --batch -o "$dir/first.json" "$dir/first.pb.gz" >"$dir/file.report" 2>"$dir/file.messages" || return
	timeout 60 "$ALTPTTOP" --batch "$dir/first.json" >"$dir/chrome.report" 2>>"$dir/file.messages" || return
	rows "$dir/file.report" >"$dir/ours"
	rows "$dir/chrome.report" >"$dir/theirs"
	[ -s "$dir/ours" ] && ! grep -q 'avg_loop_size' "$dir/chrome.report" && diff "$dir/ours" "$dir/theirs"
}

perf_agrees() { # SELF samples of a recording made by perf: ours, and perf's own sum
	# -B: perf 6.1 can abort when it gathers build ids at the end
	perf record -B -q -F 499 -e cpu-clock:u -o "$dir/perf.data" "$PROGRAMS/shares" 2 >/dev/null 2>&1 || return
	perf report -i "$dir/perf.data" --stdio --no-children -F sample,sym -q 2>/dev/null |
		awk '$2 == "[.]" && NF >= 3 { n = $1; $1 = $2 = ""; sub(/^ +/, ""); sub(/@@?[A-Z].*/, ""); print n, $0 }' | LC_ALL=C sort >"$dir/theirs"
	timeout 60 "$ALTPTTOP" --batch "$dir/perf.data" >"$dir/perf.report" 2>"$dir/perf.messages" || return
	rows "$dir/perf.report" | awk '$1 > 0 { n = $1; $1 = $2 = ""; sub(/^ +/, ""); print n, $0 }' | LC_ALL=C sort >"$dir/ours"
	# addresses that both name: the vDSO of a recording is nobody's file
	grep -v '0x' "$dir/theirs" | grep -vxFf "$dir/ours" | grep -vE 'plt|__vdso_|__kernel_' >"$dir/differ"
	cat "$dir/differ"
	[ -s "$dir/ours" ] && [ ! -s "$dir/differ" ]
}

cut_in_every_format() { # a chain that ends in [unknown] is cut, however it was written
	printf 'app 7 1.%d: 1000 cycles: \n\t401000 hash+0x1 (/tmp/app)\n\t7ffe00 [unknown] ([unknown])\n\n' 1 2 3 >"$dir/cut.txt"
	printf 'app 7 2.0: 1000 cycles: \n\t401000 hash+0x1 (/tmp/app)\n\t402000 _start+0x1 (/tmp/app)\n\n' >>"$dir/cut.txt"
	local file
	for file in cut.txt cut.folded cut.pb.gz cut.json; do
		[ -e "$dir/$file" ] || timeout 60 "$ALTPTTOP" --batch -o "$dir/$file" "$dir/cut.txt" >/dev/null 2>&1
		timeout 60 "$ALTPTTOP" --batch "$dir/$file" 2>/dev/null | grep '^stacks' >"$dir/cut.line"
		echo "$file: $(cat "$dir/cut.line")"
		grep -qE '^stacks +25.00 % complete; cut: no root in the recording 3$' "$dir/cut.line" || return
	done
}
check "a stack without a root is not called complete" cut_in_every_format

# Without build ids only the machine's name, the release and the kernel's place tell that it is this one.
kernel_named() { # the five kernel functions of one name only that perf finds most, with their samples
	perf record -B -q -F 999 -e cpu-clock -o "$dir/kernel.data" dd if=/dev/zero of=/dev/null bs=64k count=100000 \
		>/dev/null 2>&1 || return
	perf report -i "$dir/kernel.data" --stdio --no-children -F sample,sym -q 2>/dev/null |
		awk 'NR == FNR { names[$1]++; at[$3] = $1; next }
			$2 == "[k]" && names[at[$3]] == 1 { print $1, $3 }' /proc/kallsyms - | head -5 >"$dir/theirs"
	[ -s "$dir/theirs" ] || return
	timeout 60 "$ALTPTTOP" --batch "$dir/kernel.data" >"$dir/kernel.report" 2>&1 || return
	while read -r n name; do
		awk -v n="$n" -v f="$name" '$5 == n && $NF == f { hit = 1 } END { exit !hit }' "$dir/kernel.report" || {
			echo "not $n samples of $name"
			return 1
		}
	done <"$dir/theirs"
}

if [ "$(uname -m)" = x86_64 ]; then
	check "a single-stepped program is recorded" steps 3
	check "rebuilt calls are the calls that were made" calls_equal
	check "and so they are by the instructions' bytes" bytes_equal
	check "every instruction belongs to one function" instructions_equal
	check "paths through tail calls and recursion are right" paths_hold
	check "rebuilt stacks written as a Chrome trace read back" spans_equal
	check "every instruction lies on one edge" edges_sum
	check "a long trace is read in bounded memory, from a pipe" bounded
else
	skip "traces of a single-stepped program" "the program knows x86-64 instructions only"
fi
# A pipe that somebody still holds open has no end.
part_of() {
	local status
	{ seq 40000 | sed 's/.*/main;f& 1/'; sleep 4; } | timeout 20 "$ALTPTTOP" --batch --duration 2 -o "$dir/part.pb.gz" \
		- >"$dir/part.report" 2>"$dir/part.err"
	status=${PIPESTATUS[1]}
	cat "$dir/part.err"
	[ $status = 0 ] && grep -q "^altpttop: reading was stopped: not all of the recording was read" "$dir/part.err" &&
		grep -q "^part  *not all of the recording was read" "$dir/part.report" &&
		gzip -dc "$dir/part.pb.gz" | grep -qa "not all of the recording was read"
}
check "a part of a recording does not pass for the whole" part_of
check "a long Chrome trace is read in bounded memory, from a pipe" bounded_spans
check "samples of a JavaScript engine are sorted in bounded memory, from a pipe" bounded_samples
check "lists of a profile that are longer than what is kept say so" more_than_are_kept
check "a live run is saved" first_file
check "a pprof file says what the live report said" same_as_live
check "pprof to pprof keeps every number" round_trip pb.gz
check "a profile saved as a Chrome trace is the same profile" as_chrome
if perf --version >/dev/null 2>&1; then
	check "a perf.data file has the totals that perf itself finds" perf_agrees
else
	skip "a perf.data file has the totals that perf itself finds" "perf is not installed"
fi
if ! perf record -q -e cpu-clock:k -o /dev/null true >/dev/null 2>&1 || ! grep -q '^0*[1-9a-f][0-9a-f]* T _text$' /proc/kallsyms; then
	skip "the kernel of a recording without build ids is named" "perf or the kernel's addresses are not to be had"
else
	check "the kernel of a recording without build ids is named" kernel_named
fi
done_testing
