#!/bin/bash
# Batch mode: what goes where, how long it takes, how it ends.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

start shares 300
mine=$target

batch() { # ARG...: sets status; output in $dir/out and $dir/err, seconds in took
	local begin=$EPOCHREALTIME
	timeout 30 "$ALTPTTOP" --batch "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	took=$(awk "BEGIN { print $EPOCHREALTIME - $begin }")
	cat "$dir/err"
	[ $status -lt 124 ]
}

check "a report" eval 'batch --duration 1 -p $mine; [ $status = 0 ] && grep -q alpha "$dir/out"'
check "takes as long as it was told" between 0.9 "$took" 2.0
check "-n and -d tell a duration too" eval 'batch -n 4 -d 0.2 -p $mine; [ $status = 0 ]'
check "of their product" between 0.7 "$took" 1.8
window() { # LOW HIGH: seconds that the report covers
	between "$1" "$(awk '$1 == "window" { print $2 }' "$dir/out")" "$2"
}
check "--delay and --tail" eval 'batch --delay 1 --tail 0.5 --duration 2.5 -p $mine; [ $status = 0 ]'
check "are left out of the report" window 0.9 1.1
check "and are part of the duration" between 2.4 "$took" 4.5
tail_verdicts() {
	batch --delay 0 --tail 2.2 --duration 4 -- "$PROGRAMS/changer" 20 2000
	[ $status = 0 ] && grep "hot function" "$dir/out" && grep -q "hot function  *calm:" "$dir/out" &&
		! grep -q "hot function  *worker:" "$dir/out"
}
check "verdicts are on the window of the report" tail_verdicts
check "output that is no terminal means batch" eval '
	timeout 10 "$ALTPTTOP" --duration 0.5 -p $mine >"$dir/out" 2>"$dir/err" </dev/null; grep -q alpha "$dir/out"'
long_command() { # the same process, so often that the line has no room for it
	batch --duration 0.3 -p "$mine$(printf ",$mine%.0s" {1..200})"
	[ $status = 0 ] && grep "^target " "$dir/out" && grep -qE "^target .*[0-9,]…: $mine \(shares\)$" "$dir/out"
}
check "a command line that is cut shows it" long_command
available=$(samplers)
executed() { # SAMPLER: the command becomes another program, and the report names both
	batch --sampler "$1" -- bash -c "sleep 1; exec '$PROGRAMS/shares' 2"
	[ $status = 0 ] && grep "^target " "$dir/out" && grep -qE "^target .*: [0-9]+ bash, then shares$" "$dir/out"
}
for s in perf timer; do
	if grep -qx $s <<<"$available"; then
		check "$s: a program that a command becomes is named too" executed $s
	else
		skip "$s: a program that a command becomes is named too" "$(why_not $s)"
	fi
done
# A stripped program's share, and whose it is; nothing of the kind where symbols are.
stripped_tells() {
	cp "$PROGRAMS/shares" "$dir/bare" && strip "$dir/bare" && batch --duration 10 -K -- "$dir/bare" 1
	grep ^symbols "$dir/out"
	awk '$1 == "symbols" && /without symbols/ { found = $2 > 90 && $NF == "bare" && $(NF - 3) > 90 } END { exit !found }' "$dir/out"
}
if command -v strip >/dev/null; then
	check "the report tells how much is without symbols, and where" stripped_tells
	# A dpkg-query that tells what it was asked.
	mkdir "$dir/bin" && printf '#!/bin/sh\necho "$2" >>"%s"\necho "bare: $2"\n' "$dir/asked" >"$dir/bin/dpkg-query" &&
		chmod +x "$dir/bin/dpkg-query"
	packaged() { # ARG...
		: >"$dir/asked"
		PATH=$dir/bin:$PATH batch --duration 2 -K "$@" -- "$dir/bare" 3 && cat "$dir/asked"
	}
	check "and what to install" eval 'packaged; grep "install bare-dbgsym for bare" "$dir/out" && grep -q "/bare$" "$dir/asked"'
	check "no package is looked for where none is told" eval 'packaged --format folded && grep -q "^bare;" "$dir/out" && ! [ -s "$dir/asked" ]'
	check "and not where it is not" eval 'batch --duration 0.5 -K -p $mine; ! grep -q "without symbols, .* in shares" "$dir/out"'
fi

check "one thread alone" eval 'batch --duration 0.5 -t $mine; [ $status = 0 ] && grep -q alpha "$dir/out"'

header() {
	head -n 1 "$dir/$1" | grep -q '^function,module,self_percent,self_margin,total_percent,self_samples,total_samples,'
}
check "a CSV snapshot" eval 'batch --duration 0.5 -o "$dir/a.csv" -p $mine; [ $status = 0 ]'
check "has the columns that are promised" header a.csv
for suffix in pb.gz folded json csv txt; do
	check "a .$suffix snapshot" eval 'batch --duration 0.4 -o "$dir/b.$suffix" -p $mine; [ $status = 0 ] && [ -s "$dir/b.$suffix" ]'
done
check "folded stacks end in a count" eval '! grep -vqE " [0-9]+$" "$dir/b.folded" && grep -q "main;round_of;alpha" "$dir/b.folded"'
check "an old snapshot is replaced whole" eval '
	yes | head -c 1000000 >"$dir/b.csv"; batch --duration 0.4 -o "$dir/b.csv" -p $mine
	[ $status = 0 ] && header b.csv && ! grep -q "^y$" "$dir/b.csv"'
check "--format wins over the suffix" eval 'batch --duration 0.4 --format folded -o "$dir/c.bin" -p $mine
	[ $status = 0 ] && grep -q "main;" "$dir/c.bin"'

interrupted() { # SIGNAL
	rm -f "$dir/i.csv"
	"$ALTPTTOP" --batch --duration 20 -o "$dir/i.csv" -p $mine >"$dir/out" 2>"$dir/err" &
	local pid=$!
	sleep 1.2
	kill -"$1" $pid
	wait $pid
	status=$?
	cat "$dir/err"
	grep -q alpha "$dir/out" && header i.csv
}
check "Ctrl-C writes the report and the snapshot" interrupted INT

command_runs() {
	timeout 30 "$ALTPTTOP" --batch --duration 20 -- "$PROGRAMS/shares" 1 >"$dir/out" 2>"$dir/err"
	status=$?
	cat "$dir/err"
	[ $status = 0 ] && grep -q alpha "$dir/out" && grep -q 'cpu.alpha' "$dir/err" && ! grep -q 'cpu.alpha' "$dir/out"
}
check "a command's output goes to standard error, its end is the end" command_runs
check "a target that ends keeps its profile" eval '
	start shares 1.5; batch --duration 20 -p $target; [ $status = 0 ] && grep -q alpha "$dir/out"'
check "and ends the run" between 0.5 "$took" 4
check "a target gone before any sample is status 1" eval 'batch --duration 5 -- true; [ $status = 1 ] || [ $status = 0 ]'
check "-K hides the kernel" eval 'batch -K --duration 1 -o "$dir/k.csv" -p $mine; [ $status = 0 ] && ! grep -q "\[kernel\]" "$dir/k.csv"'
check "-U hides the user" eval 'batch -U --duration 1 -o "$dir/u.csv" -p $mine; [ $status != 2 ] && ! grep -q "^alpha" "$dir/u.csv"'
for o in -K -U; do
	check "what $o hides is not [unsampled]" eval 'batch $o --duration 1 -p $mine; [ $status != 2 ] && ! grep -q "unsampled" "$dir/out"'
done
printf 'app 7/7 1.00%d: 1000000 cpu-clock:\n%s\t55550000010 work+0x10 (/tmp/app)\n\n' \
	1 $'\tffffffff81000010 sys_read+0x10 ([kernel.kallsyms])\n' 2 '' 3 '' >"$dir/modes.script"
recorded() { # OPTION STACK...: exactly these stacks are in it
	local o=$1
	shift
	batch $o --format folded "$dir/modes.script" && [ $status = 0 ] &&
		printf '%s\n' "$@" | diff - <(sort "$dir/out")
}
check "a recording has both" recorded "" "app;work 2" "app;work;sys_read 1"
check "-K hides the kernel of a recording" recorded -K "app;work 2"
check "-U hides the user code of a recording" recorded -U "app;sys_read 1"
check "the profiler never counts itself" eval '! cut -d, -f2 "$dir/a.csv" | grep -qx altpttop'
check "help on standard output" eval '"$ALTPTTOP" --help >"$dir/out" && grep -q -- "--duration" "$dir/out"'
check "the version" eval '"$ALTPTTOP" --version | grep -qE "^altpttop [0-9]+\.[0-9]+"'
for shell in bash zsh; do
	file=completions/$([ $shell = bash ] && echo altpttop.bash || echo _altpttop)
	check "$file is what the option table gives" eval '"$ALTPTTOP" --print-completion $shell | cmp - $file'
done
man_page() {
	local o bad=0
	for o in $("$ALTPTTOP" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u); do
		sed 's/Fl -/--/g; s/\\-/-/g' altpttop.1 | grep -qF -- "$o" || { echo "$o is missing"; bad=1; }
	done
	return $bad
}
check "the man page names every option" man_page
# A time namespace moves the clock that programs read; perf's records come without that.
moved() { # SAMPLER SECONDS
	timeout 30 unshare -T --monotonic "$2" --boottime 5000 --fork \
		"$ALTPTTOP" --batch --sampler "$1" --duration 1 -- "$PROGRAMS/shares" 2 >"$dir/out" 2>"$dir/err"
	awk '/^(window|samples)/ { print } $1 == "window" { w = $2 } $1 == "samples" { n = $2 }
		END { exit !(w > 0 && w < 5 && n > 100) }' "$dir/out"
}
for s in $(samplers); do
	for by in 86400 -1; do
		if unshare -T --monotonic $by --fork true 2>/dev/null; then
			check "$s: in a time namespace, by $by s" moved "$s" $by
		else
			skip "$s: in a time namespace, by $by s" "time namespaces cannot be made"
		fi
	done
done
check "the target goes on" kill -0 "$mine"
done_testing
