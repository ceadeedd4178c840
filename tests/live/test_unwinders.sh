#!/bin/bash
# Our unwinder beside libunwind and libdw on real samples of real programs: the same chains, or a
# difference whose reason is known; whole; and ten times cheaper than libunwind.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

work=tests/bench/unwind/work
bench=$O/tests/bench/unwind
if ! make -s --no-print-directory O="$O" "$bench" >"$dir/make" 2>&1; then
	not_ok "the bench of unwinders builds" "$(cat "$dir/make")"
	done_testing
	exit
fi

# The line: name, samples, frames a stack, complete, %, identical (known) twice, three times µs, ns.
figures() { # COMMAND...
	timeout 100 "$bench" -v 10 -n 600 -l line "$@" >"$dir/line" 2>"$dir/line.err"
	cat "$dir/line"
	awk '$1 == "line" { found = 1 } END { exit !found }' "$dir/line"
}

value() { # FIELD, brackets taken off
	awk -v n="$1" '$1 == "line" { gsub(/[()%]/, " "); print $n }' "$dir/line"
}

least() { # VALUE BOUND
	awk -v v="$1" -v b="$2" 'BEGIN { print v " of at least " b; exit !(v + 0 >= b + 0) }'
}

# Where chains differ, what the stack and its calls say: of @SAMPLES at most so many per cent agree
# with the oracle, or with nobody.
witness() { # ORACLE PER-CENT
	awk -v o="$1:" -v most="$2" -v n="$(value 2)" '$1 == o {
			if (sub(/.* ours /, "") != 1 || gsub(/[^0-9 ]/, "") < 3) exit
			seen = 1; ours = $1; theirs = $2; neither = $4
			print "ours " ours ", theirs " theirs ", nobody can tell " neither " of " n
		}
		$1 == "line" { lines++ }
		END { if (!seen) print "no difference"
			exit !(lines && (!seen || (ours > 0 && 100 * (theirs + neither) <= most * n))) }' "$dir/line"
}

# Samples in which an oracle has the same chain, or all of it but one caller.
nearly() { # ORACLE FIELD BOUND
	local less
	less=$(awk -v o="$1" '$1 == o && $2 == "lacks" { print $(NF - 1) }' "$dir/line")
	least "$(awk -v a="$(value "$2")" -v b="${less:-0}" 'BEGIN { print a + b }')" "$3"
}

compare() { # NAME IDENTICAL% COMPLETE% COMMAND...
	local name=$1 identical=$2 complete=$3
	shift 3
	if ! figures "$@" >"$dir/out"; then
		not_ok "$name: samples are taken" "$(cat "$dir/out" "$dir/line.err")"
		return
	fi
	ok "$name: samples are taken"
	check "$name: chains identical to libunwind's" least "$(value 5)" "$identical"
	check "$name: chains identical to libdw's" least "$(value 7)" "$identical"
	check "$name: every difference to libunwind has a known reason" least "$(value 6)" 99
	check "$name: every difference to libdw has a known reason" least "$(value 8)" 99.9
	check "$name: stacks are whole" least "$(value 4)" "$complete"
	# libunwind gives Go's stacks up after a frame or two.
	[ "$name" = Go ] || check "$name: a tenth of libunwind's cost" least \
		"$(awk -v own="$(value 9)" -v other="$(value 10)" 'BEGIN { print other / own }')" 10
}

gcc -O2 -o "$dir/c" $work/mix.c && compare "C -O2" 99.9 99.5 "$dir/c"
if command -v g++ >/dev/null; then
	g++ -std=c++17 -O0 -o "$dir/cc0" $work/mix.cc && compare "C++ -O0" 99.9 99 "$dir/cc0"
	g++ -std=c++17 -O3 -flto -o "$dir/cc3" $work/mix.cc 2>/dev/null && compare "C++ -O3 LTO" 99.9 98 "$dir/cc3"
else
	skip "C++" "no g++ here"
fi
if [ -x /usr/bin/python3 ]; then
	compare "python3" 99.9 99.5 /usr/bin/python3 $work/mix.py
else
	skip "python3" "no /usr/bin/python3 here"
fi
if command -v go >/dev/null; then
	# Half of what runs is the collector and the scheduler, on stacks of their own: few chains are
	# whole, and libdw ends them elsewhere. See doc/unwinding.md.
	GO111MODULE=off go build -o "$dir/go" $work/mix.go && compare "Go" 20 25 "$dir/go" &&
		check "Go: where chains differ the stack agrees with ours, not with libunwind" witness libunwind 4 &&
		check "Go: nor with libdw" witness libdw 0.3
else
	skip "Go" "no go here"
fi
if command -v node >/dev/null; then
	# In one sample of ten both oracles lack a caller that is there: test_stepout.sh shows who is right.
	compare "node (JIT code)" 80 99 node $work/mix.js
	check "node: chains are libunwind's but for one caller that it lacks" nearly libunwind 5 98
	check "node: chains are libdw's but for one caller that it lacks" nearly libdw 7 99
else
	skip "node" "no node here"
fi
done_testing
