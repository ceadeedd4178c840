#!/bin/bash
# What we save as pprof is read by pprof itself without a word on standard error, and says the same
# as our own report of the same run, sample for sample.
. tests/live/live.sh

pprof() { # OUT ARG...: its standard error to $dir/pprof.err
	local out=$1
	shift
	HOME=$dir PPROF_TMPDIR=$dir go tool pprof -sample_index=samples -nodecount=1000000 \
		-nodefraction=0 -edgefraction=0 "$@" "$dir/$out.pb.gz" 2>"$dir/pprof.err"
}

# Our report's functions as "self total name", summed by name as pprof does, sorted.
report_functions() { # OUT
	awk 'match($0, / \[[.k]\] /) && $6 ~ /^[0-9]+$/ {
		name = substr($0, RSTART + RLENGTH); self[name] += $5; total[name] += $6 }
	END { for (n in self) print self[n], total[n], n }' "$dir/$1.report" | LC_ALL=C sort
}

# The same from pprof. Totals are compared only where one of our functions has the name.
pprof_functions() { # OUT
	pprof "$1" -top | awk '
	$1 == "flat" { on = 1; next }
	on { flat = $1; cum = $4; $1 = $2 = $3 = $4 = $5 = ""; sub(/^ +/, "")
		sub(/ \((partial-)?inline\)$/, ""); print flat, cum, $0 }' | LC_ALL=C sort
}

# Our report leaves out the middle of very long names: theirs, whole, become what ours are cut to.
cut_as_ours() {
	LC_ALL=C awk '
	{ counts = $1 " " $2; name = $0; sub(/^[^ ]+ [^ ]+ /, "", name); cut = index(name, "\342\200\246") }
	NR == FNR && cut { at[++n] = counts; whole[n] = name; left[n] = substr(name, 1, cut - 1); right[n] = substr(name, cut + 3) }
	NR == FNR { next }
	{
		for (i = 1; i <= n; i++)
			if (at[i] == counts && length(name) > length(whole[i]) && index(name, left[i]) == 1 &&
				substr(name, length(name) - length(right[i]) + 1) == right[i]) { name = whole[i]; break }
		print counts, name
	}' "$dir/ours" - | LC_ALL=C sort
}

agree() { # OUT
	report_functions "$1" >"$dir/ours"
	pprof_functions "$1" | cut_as_ours >"$dir/theirs"
	[ -s "$dir/ours" ] && diff "$dir/ours" "$dir/theirs"
}

threads_agree() { # OUT
	awk '$1 == "Modules" { on = 0 } on && $5 ~ /^[0-9]+$/ { print $3, $5 }
		$1 == "SELF%" && $4 == "PID" { on = 1 }' "$dir/$1.report" | LC_ALL=C sort >"$dir/ours"
	pprof "$1" -tags | awk '/^ *[a-z_]+: Total/ { on = $1 == "thread_id:"; next }
		on && NF { sub(/\.0$/, "", $1); print $1, $NF }' | LC_ALL=C sort >"$dir/theirs"
	[ -s "$dir/ours" ] && diff "$dir/ours" "$dir/theirs"
}

list_agrees() { # OUT FUNCTION
	local ours theirs
	ours=$(report_functions "$1" | awk -v f="$2" '$3 == f { print $1 }')
	theirs=$(pprof "$1" -list "^$2\$" | awk -v f="$2" '
		/^ROUTINE/ { on = $3 == f; next } on && /flat, cum/ { print $1; on = 0 }')
	echo "$2: $ours in the report, $theirs by -list"
	[ -n "$ours" ] && [ "$ours" = "$theirs" ]
}

peek_agrees() { # OUT FUNCTION
	local ours theirs
	ours=$(report_functions "$1" | awk -v f="$2" '$3 == f { print $1, $2 }')
	theirs=$(pprof "$1" -peek "^$2\$" | awk -v f="$2" '$NF == f && $6 == "|" && $3 ~ /%/ { print $1, $4 }')
	echo "$2: $ours in the report, $theirs by -peek"
	[ -n "$ours" ] && [ "$ours" = "$theirs" ]
}

silent() { # OUT ARG...
	pprof "$@" >"$dir/out" || { cat "$dir/pprof.err"; return 1; }
	cat "$dir/pprof.err"
	[ -s "$dir/out" ] && [ ! -s "$dir/pprof.err" ]
}

record() { # OUT PROGRAM ARG...
	local out=$1
	shift
	start "$@" || return 1
	timeout 60 "$ALTPTTOP" --batch --duration 2 -o "$dir/$out.pb.gz" -p "$target" \
		>"$dir/$out.report" 2>"$dir/$out.messages" || { cat "$dir/$out.messages"; stop; return 1; }
	stop
}

if ! command -v go >/dev/null || ! go tool pprof -help >/dev/null 2>&1; then
	skip "pprof reads our files" "go tool pprof is not installed"
	done_testing
	exit 0
fi
if [ -z "$(samplers)" ]; then
	skip "pprof reads our files" "no sampler works here: $(why_not timer)"
	done_testing
	exit 0
fi

check "shares: saved" record shares shares 8
check "threads: saved" record threads threads 8
check "longnames: saved" record longnames longnames 8
for out in shares threads longnames; do
	for command in -top -tree -tags -traces "-peek ." "-list ."; do
		check "$out: pprof $command says nothing on standard error" silent $out $command
	done
	check "$out: every function has the samples of our report" agree $out
	check "$out: every thread has the samples of our report" threads_agree $out
done
hot=$(report_functions shares | sort -rn | awk 'NR == 1 { print $3 }')
check "-list agrees" list_agrees shares "$hot"
check "-peek agrees" peek_agrees shares "$hot"
if command -v protoc >/dev/null; then
	decode() {
		gzip -dc "$dir/shares.pb.gz" |
			protoc --proto_path=src/codec --decode pprof.Profile profile.proto >"$dir/text" &&
			grep -q 'thread_name' "$dir/text" && ! grep -qE '^ *[0-9]+: ' "$dir/text"
	}
	check "protoc knows every field" decode
else
	skip "protoc knows every field" "protoc is not installed"
fi
done_testing
