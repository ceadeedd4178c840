#!/bin/bash
# Recordings of the corpus as other programs read them: the unwound stacks that hotspot's perfparser expects, and the
# samples that perf report counts for each file of code.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

corpus=../shared/corpus/perfdata
if [ ! -d "$corpus" ]; then
	skip "recordings as other programs read them" "no corpus at ../shared/corpus"
	done_testing
	exit
fi

# Expected stacks of perfparser: frames come as two lines, an address and what lies there; inlined functions lie between an
# address that the stack really has and the function that holds them, which is the last before the next such address.
expected() { # FILE: comm;outermost;…;innermost, inlined functions left out
	awk '
	function end_frame() { if (name != "" && !(fold && name == last && name != "[kernel]")) stack = name (stack == "" ? "" : ";") stack; last = name; name = "" }
	function end_sample() { end_frame(); last = ""; if (comm != "") print comm (stack == "" ? "" : ";") stack; stack = "" }
	/^[^\t]/ { end_sample(); split($0, head, "\t"); comm = head[1]; n = 0; next }
	/^\t(cycles|cpu)/ || /^$/ { next }
	{
		nf = split(substr($0, 2), f, "\t")
		if (n++ % 2 == 0) {
			split(f[1], a, " ")
			if (a[1] == a[2] || (a[2] == 0 && length(a[1]) >= 12)) end_frame()
			ip = a[1]
			next
		}
		name = f[nf]
		if (ip ~ /^ffff/) name = "[kernel]"
		else if (name == "0 0") name = "[unknown]"
		else sub(/ [^ ]+ [^ ]+ ?$/, "", name)
	}
	END { end_sample() }' fold="${2:-0}" "$1"
}

# Names of one address are one name; what cannot be unwound has no [truncated] there.
aliases='s/\bmunmap\b/__munmap/g; s/;\[truncated\]//; s/__hypot\b/hypot/g; s/\bcabsf64\b/__cabs/g; s/vector_static_gcc_v9.1.0+0x4004[0-9a-f]*/_init/g; s/;\[unknown\]//'

stacks_equal() { # NAME ELF PATH-OF-ELF-IN-THE-RECORDING [FOLD]
	local file=$corpus/perfparser__$1
	mkdir -p "$dir/root/$(dirname "$3")" && cp "$corpus/perfparser__$2" "$dir/root/$3" || return
	timeout 60 "$ALTPTTOP" --batch --no-inline --symfs "$dir/root" --format folded "$file" >"$dir/folded" 2>"$dir/messages" ||
		{ cat "$dir/messages"; return 1; }
	awk '{ n = $NF; $NF = ""; sub(/ $/, ""); for (; n > 0; n--) print }' "$dir/folded" | sed "$aliases" | LC_ALL=C sort >"$dir/ours"
	expected "$file.expected.txt" "${4:-0}" | sed "$aliases" | LC_ALL=C sort >"$dir/theirs"
	# the two chains of the hardware's stack tell the kernel's part differently
	[ "${4:-0}" = 1 ] && sed -i 's/\(;\[kernel\]\)\+/;[kernel]/' "$dir/ours" "$dir/theirs"
	[ -s "$dir/ours" ] && diff "$dir/ours" "$dir/theirs" >"$dir/differ"
	local rc=$?
	cat "$dir/differ" | cut -c1-400
	return $rc
}

milian=home/milian/projects/kdab/rnd/hotspot/3rdparty/perfparser/tests/auto/perfdata
dknysh=home/dknysh/kdab-disasm-fraames/hotspot/3rdparty/perfparser/tests/auto/perfdata
check "stack dumps unwind as perfparser expects" stacks_equal vector_static_gcc.perf.data \
	vector_static_gcc_v9.1.0.elf $milian/vector_static_gcc/vector_static_gcc_v9.1.0
check "the same compressed" stacks_equal vector_static_gcc.perf.data.zstd \
	vector_static_gcc_v9.1.0.elf $milian/vector_static_gcc/vector_static_gcc_v9.1.0
check "a forked child's stacks unwind as perfparser expects" stacks_equal fork_static_gcc.perf.data.zstd \
	fork_static_gcc.elf $milian/fork_static_gcc/fork
check "the hardware's call stack is read as perfparser expects" stacks_equal vector_static_gcc.perf.lbr.data \
	vector_static_gcc_v9.1.0.elf $dknysh/vector_static_gcc/vector_static_gcc_v9.1.0 1

# Self samples by file of code: ours from the CSV, whose fields may be quoted.
ours_by_file() {
	timeout 60 "$ALTPTTOP" --batch --format csv "$1" 2>"$dir/messages" | awk '
	function field(want, i, c, out, k, quoted) {
		k = 1
		for (i = 1; i <= length($0); i++) {
			c = substr($0, i, 1)
			if (c == "\"") quoted = !quoted
			else if (c == "," && !quoted) { if (k++ == want) return out }
			else if (k == want) out = out c
		}
		return out
	}
	NR > 1 { m = field(2); n = field(6); sub(/.*\//, "", m); if (m !~ /^\[/ && n > 0) sum[m] += n }
	END { for (m in sum) print sum[m], m }' | LC_ALL=C sort
}
perf_by_file() {
	perf report -i "$1" --no-children --sort dso -F sample,dso --stdio -q -g none 2>/dev/null | awk '
	NF >= 2 && $2 !~ /^\[/ && $1 ~ /^[0-9]+$/ {
		n = $1; $1 = ""; sub(/^ +/, ""); sub(/ +$/, ""); sub(/ \(deleted\)$/, ""); sum[$0] += n
	}
	END { for (m in sum) print sum[m], m }' | LC_ALL=C sort
}

# Of one event, without branch stacks (perf report then counts branches), and with samples that perf can place.
comparable() {
	[ "$(perf evlist -i "$1" 2>/dev/null | grep -vc -e '^dummy' -e '^#')" = 1 ] &&
		! perf evlist -v -i "$1" 2>/dev/null | grep -q BRANCH_STACK
}

counts_equal() {
	local file compared=0 rc=0
	for file in "$corpus"/*; do
		case $file in *.txt | *.elf | *.gz) continue ;; esac
		comparable "$file" || continue
		perf_by_file "$file" >"$dir/theirs"
		[ -s "$dir/theirs" ] || continue
		ours_by_file "$file" >"$dir/ours"
		compared=$((compared + 1))
		diff "$dir/ours" "$dir/theirs" >"$dir/differ" && continue
		echo "${file##*/}:"
		head -n 6 "$dir/differ"
		rc=1
	done
	echo "$compared recordings compared"
	[ "$compared" -ge 10 ] && return $rc
}

# Per symbol: self, and total with callees, as perf report says them to a hundredth of a per cent. @1 perf's option, @2
# our column. perf does not unwind the corpus's stack dumps here, so that totals are compared on a chain of frame pointers.
symbols_equal() { # RECORDING OPTION OUR-COLUMN LEAST [SYMFS]
	local field=overhead
	[ "$2" = --children ] && field=overhead_children
	perf report -i "$1" ${5:+--symfs "$5"} "$2" --no-inline -F $field,sym --stdio -q -g none 2>/dev/null |
		awk '$2 == "[.]" && $3 !~ /^0x/ { sub(/%/, "", $1); print $3, $1 }' | LC_ALL=C sort >"$dir/theirs"
	timeout 60 "$ALTPTTOP" --batch --no-inline ${5:+--symfs "$5"} --format csv "$1" 2>/dev/null |
		awk -F, -v c="$3" 'NR > 1 && $1 !~ /^\[|\+0x/ { printf "%s %.2f\n", $1, $c }' | LC_ALL=C sort >"$dir/ours"
	[ -s "$dir/theirs" ] && join "$dir/ours" "$dir/theirs" | awk -v least="$4" '
		{ n++; if ($2 - $3 > 0.011 || $3 - $2 > 0.011) { print; bad = 1 } }
		END { print n " symbols"; exit bad || n < least }'
}
record_chains() {
	${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -pthread -o "$dir/chains" tests/programs/recursion.c &&
		# -B: perf 6.1 can abort when it gathers build ids at the end
		perf record -B -q -F 499 -e cpu-clock:u --call-graph fp -o "$dir/chains.data" "$dir/chains" 2 >/dev/null 2>&1
}

if perf --version >/dev/null 2>&1; then
	check "every recording has the samples that perf counts, file by file" counts_equal
	check "symbols have the self time that perf finds" symbols_equal \
		"$corpus/perfparser__fork_static_gcc.perf.data.zstd" --no-children 3 3 "$dir/root"
	check "a recursive program is recorded by frame pointers" record_chains
	check "symbols have the self time that perf finds in it" symbols_equal "$dir/chains.data" --no-children 3 3
	check "and the total time" symbols_equal "$dir/chains.data" --children 5 4
else
	skip "every recording has the samples that perf counts" "perf is not installed"
fi
done_testing
