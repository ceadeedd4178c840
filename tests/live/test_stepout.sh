#!/bin/bash
# Our chains beside where the sampled thread really returns to, found by stepping it on. That the
# truth is true is shown on a program whose callers are known, that it can find fault by spoiling
# our chains.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

work=tests/bench/unwind/work
bench=$O/tests/bench/unwind
if [ "$(uname -m)" != x86_64 ]; then
	skip "stepping threads on until they return" "x86-64 only"
	done_testing
	exit
fi
if ! make -s --no-print-directory O="$O" "$bench" >"$dir/make" 2>&1; then
	not_ok "the bench of unwinders builds" "$(cat "$dir/make")"
	done_testing
	exit
fi

judge() { # NAME OPTIONS... COMMAND...
	local name=$1
	shift
	timeout 300 "$bench" -t -e 1 -v 10000 -l "$name" "$@" >"$dir/$name.out" 2>"$dir/$name.err"
}

# sum NAME WAY: right, short and wrong; of "known": samples with known callers.
sum() {
	awk -v name="$1" -v way="$2" '
		way == "known" && $1 == name { sub(/.*samples, /, ""); print $1 }
		$1 == way && $2 == "right" { gsub(/[,;]/, " "); print $3, $5, $7 }' "$dir/$1.out"
}

# The callers that were found, each with whom it called, by name.
pairs() {
	awk '$1 == "truth:" { for (k = 2; k + 3 <= NF; k += 3) print $k, $(k + 3) }' "$dir/$1.out" |
		sed 's/known+//g' | sort | uniq -c | while read -r _ callee caller; do
			[[ $caller = 0x* && $callee = 0x* ]] || continue
			echo "$(addr2line -f -e "$dir/known" "$callee" | head -1) $(addr2line -f -e "$dir/known" \
				"$(printf '0x%x' $((caller - 1)))" | head -1)"
		done | sort -u
}

few() { # NAME WAY PER-MILLE-WRONG LEAST-KNOWN [PER-MILLE-SHORT]
	sum "$1" "$2" | awk -v most="$3" -v least="$4" -v short="${5:-10}" -v known="$(sum "$1" known)" '{
			print "right " $1 ", short " $2 ", wrong " $3 " of " known
			fine = known + 0 >= least && 1000 * $3 <= most * known && 1000 * $2 <= short * known }
		END { exit !fine }'
}

gcc -g -O2 -fomit-frame-pointer -o "$dir/known" $work/known.c
judge known -n 200 -S 20000 "$dir/known"
for way in own libunwind libdw; do
	check "a program with CFI: $way is right" few known $way 0 70
done

judge spoilt -x -n 60 -S 20000 "$dir/known"
all_wrong() {
	echo "right, short, wrong: $(sum spoilt own) of $(sum spoilt known)"
	[ "$(sum spoilt own | cut -d' ' -f3)" = "$(sum spoilt known)" ] && [ "$(sum spoilt known)" -gt 30 ]
}
check "chains that lack their first caller are all found wrong" all_wrong
cat >"$dir/allowed" <<'X'
deeper deeper
deeper outer
inner middle
jump middle
leaf deeper
middle outer
outer main
X
only_allowed() {
	pairs spoilt >"$dir/pairs"
	cat "$dir/pairs"
	[ "$(wc -l <"$dir/pairs")" -ge 4 ] && ! grep -vxF -f "$dir/allowed" "$dir/pairs"
}
check "the callers found are those in the source, tail calls' too" only_allowed

if command -v node >/dev/null; then
	for how in "" --jitless; do
		judge node -n 250 -S 4000 node $how $work/modern.js
		check "node $how: built-ins and JIT code without CFI" few node own 15 120
	done
else
	skip "node" "no node here"
fi
if command -v go >/dev/null; then
	GO111MODULE=off go build -ldflags='-s -w' -o "$dir/gos" $work/mix.go
	judge gos -n 250 -S 4000 "$dir/gos"
	# What a signal interrupted lies on another stack, of which the dump holds nothing.
	check "Go, stripped: no CFI at all" few gos own 25 120 400
else
	skip "Go" "no go here"
fi
done_testing
