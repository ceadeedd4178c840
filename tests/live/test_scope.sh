#!/bin/bash
# What is watched: the whole system, some CPUs, a user, a cgroup; a row a process; nobody else's time.
cd "$(dirname "$0")/../.." && . tests/live/live.sh
. tests/live/terminal.sh

if [ "$(id -u)" != 0 ]; then
	skip "-a, -C, -u and -G" "watching other people's processes needs root"
	done_testing
	exit
fi

# A user of every Debian who runs nothing: games.
chmod 755 "$dir"
cp "$PROGRAMS/shares" "$dir/theirs"
cp "$PROGRAMS/shares" "$dir/grouped"
chmod 755 "$dir"/*
start shares 300
mine=$target
setpriv --reuid 5 --regid 60 --clear-groups "$dir/theirs" 300 >/dev/null &
theirs=$!
started+=($theirs)

report() { # ARG...
	"$ALTPTTOP" --batch --duration 1.5 "$@" >"$dir/out" 2>"$dir/err" </dev/null &
	profiler=$!
	started+=($profiler)
	wait $profiler
	status=$?
	cat "$dir/err"
	[ $status = 0 ] || return
	awk '/^Processes$/ { on = 1; next } /^(Threads|Modules)$/ { on = 0 } on' "$dir/out" >"$dir/processes"
	awk '/^Threads$/ { on = 1; next } /^Modules$/ { on = 0 } on' "$dir/out" >"$dir/threads"
}
row() { # FILE PID: its row, in the column of pids
	awk -v pid="$2" '$4 == pid { print; found = 1 } END { exit !found }' "$dir/$1"
}
only() { # PID: all threads are of this process
	awk -v pid="$1" '$4 ~ /^[0-9]+$/ { n++; bad += $4 != pid } END { exit !n || bad }' "$dir/threads" ||
		{ cat "$dir/threads"; return 1; }
}

check "-a sees the whole system" report -a
check "with a row for each process" eval 'row processes $mine && row processes $theirs'
check "named" eval 'row processes $theirs | grep -q theirs'
check "and not the profiler" eval '! row processes $profiler'

namesakes() {
	mkdir -p "$dir/one" "$dir/two" && cp "$PROGRAMS/shares" "$dir/one/same" && cp "$PROGRAMS/split" "$dir/two/same"
	"$dir/one/same" 4 >/dev/null &
	"$dir/two/same" 4000 >/dev/null &
	report -a || return
	grep " same\| one/same\| two/same" "$dir/out"
	grep -q " one/same .*alpha" "$dir/out" && grep -q " two/same .*heavy" "$dir/out" && ! grep -Eq "[.%0-9≈?] +same +\[\.\]" "$dir/out"
}
check "two programs of one name are told apart" namesakes

taskset -pc 0 $mine >/dev/null
last=$(($(getconf _NPROCESSORS_ONLN) - 1))
if [ $last -gt 0 ] && taskset -pc $last $theirs >/dev/null; then
	check "-C sees one CPU" report -C 0
	check "who runs there" row threads $mine
	check "and not who runs elsewhere" eval '! row threads $theirs'
	check "-C says which" grep -q '^target.*: CPU 0' "$dir/out"
	check "-C with -p" report -C $last -p $mine
	check "sees none of a process on another CPU" grep -q '^samples *0 ' "$dir/out"
else
	skip "-C sees one CPU" "there is one CPU"
fi
taskset -pc 0-$last $mine >/dev/null
taskset -pc 0-$last $theirs >/dev/null

# Groups of whole CPUs: two programs take turns on one CPU; what each counted is its own, as the kernel accounts it.
group_whole() { # SECONDS ARG...: to $dir/g.csv
	local seconds=$1 left right
	timeout 60 "$ALTPTTOP" --batch -o "$dir/g.csv" --duration 60 "${@:2}" -e '{cpu-clock,page-faults,context-switches}' \
		>"$dir/out" 2>"$dir/err" </dev/null &
	profiler=$!
	await 20 watching $profiler
	taskset -c 0 "$PROGRAMS/faults" left "$seconds" >"$dir/left" &
	left=$!
	taskset -c 0 "$PROGRAMS/faults" right "$seconds" >"$dir/right" &
	right=$!
	started+=($left $right $profiler)
	wait $left && wait $right && sleep 0.3 && kill -INT $profiler && wait $profiler
	cat "$dir/err"
	grep -E '^(samples|losses)' "$dir/out"
}
own() { # FILE FUNCTION PERCENT: faults below FUNCTION, beside what the program was told
	awk -F'[, ]' -v p="$3" -v f="$2" '
		NR == FNR { if ($1 == "faults") truth = $2; next }
		/^function,/ { for (i = 1; i <= NF; i++) if ($i == "total_page-faults") c = i; next }
		$1 == f { n = $c }
		END { printf "%s: %d faults, truth %d\n", f, n, truth; exit !(truth > 1000 && n > truth * (1 - p / 100) && n < truth * (1 + p / 100)) }
	' "$dir/$1" "$dir/g.csv"
}
check "a group is sampled on whole CPUs" group_whole 4 -a
check "with one program's page faults" own left run_left 2
check "and the other's" own right run_right 2
check "they are read along with the clock" grep -q 'self_page-faults' "$dir/g.csv"
check "-C too" group_whole 3 -C 0
check "with each one's own" eval 'own left run_left 2 && own right run_right 2'

check "-u sees a user's processes" report -u games
check "theirs" row threads $theirs
check "and no others" only $theirs
check "-u by number, with the timer sampler" report --sampler timer -u 5
check "sees only theirs too" only $theirs
later() {
	(sleep 1; exec setpriv --reuid 5 --regid 60 --clear-groups "$dir/theirs" 3) >/dev/null &
	local born=$!
	timeout 30 "$ALTPTTOP" --batch --duration 4 -u games >"$dir/out" 2>"$dir/err" </dev/null || return
	awk '/^Processes$/ { on = 1; next } /^Threads$/ { on = 0 } on' "$dir/out" >"$dir/processes"
	cat "$dir/processes"
	wait $born
	row processes $born && row processes $theirs
}
check "who is born later is seen" later

leaves() { # SAMPLER: a process is the user's for a second, and for two more it is not
	"$PROGRAMS/leaver" &
	started+=($!)
	timeout 30 "$ALTPTTOP" --batch --duration 4 --sampler $1 -u games -o "$dir/l.csv" >"$dir/out" 2>"$dir/err" </dev/null || return
	awk -F, '$1 == "theirs" { mine = $7 } $1 == "ours" { theirs = $7 }
		END { print mine + 0, theirs + 0; exit !(mine > 300 && theirs < 1.3 * mine) }' "$dir/l.csv"
}
for s in perf timer; do
	measured "who ceases to be the user's is left ($s)" leaves $s
done

# A user who has no process at all.
nobody=60321
while grep -qs "^Uid:.$nobody" /proc/[0-9]*/status; do nobody=$((nobody + 1)); done
no_process() { # STATUS SENTENCE ARG...
	timeout 30 "$ALTPTTOP" --batch -u $nobody "${@:3}" >"$dir/out" 2>"$dir/err" </dev/null
	local status=$?
	cat "$dir/out" "$dir/err"
	[ $status = "$1" ] && grep -q "$2" "$dir/err"
}
check "a user without a process is refused" no_process 2 "user $nobody has no process; with --duration"
check "with --duration one is waited for" no_process 2 "user $nobody had no process" --duration 0.5
check "which is said" grep -q "user $nobody has no process yet: one is waited for" "$dir/err"
check "and nothing is reported" eval '[ ! -s "$dir/out" ]'
comes() {
	(sleep 1; exec setpriv --reuid $nobody --regid 60 --clear-groups "$dir/theirs" 4) >/dev/null &
	local born=$!
	started+=($born)
	no_process 0 "one is waited for" --duration 3.5 && grep -q "theirs" "$dir/out"
}
check "one that comes is watched" comes

# A cgroup of our own, in whichever hierarchy perf events follow.
made=
for root in /sys/fs/cgroup/perf_event /sys/fs/cgroup/unified /sys/fs/cgroup; do
	[ -e "$root/cgroup.procs" ] && mkdir -p "$root/altpttop-$$/below" 2>/dev/null && made=$root/altpttop-$$ && break
done
end_cgroup() {
	end_terminal
	[ -z "$made" ] || rmdir "$made/below" "$made"
}
trap end_cgroup EXIT
if [ -n "$made" ]; then
	"$dir/grouped" 300 >/dev/null &
	inside=$!
	"$dir/grouped" 300 >/dev/null &
	below=$!
	started+=($inside $below)
	echo $inside >"$made/cgroup.procs"
	echo $below >"$made/below/cgroup.procs"
	check "-G sees a cgroup" report -G "altpttop-$$"
	check "and those below it, a row each" eval 'row processes $inside && row processes $below'
	check "and nobody else" eval '! row processes $mine && ! row processes $theirs'
	check "-G by its whole path" report -G "$made/below"
	check "only that one" only $below
	check "-G / is all of them" report -G /
	check "whoever they are" eval 'row processes $inside && row processes $below && row processes $mine'
else
	skip "-G sees a cgroup" "no cgroup can be made here"
fi
refused() { # PATTERN ARG...
	timeout 30 "$ALTPTTOP" --batch --duration 0.3 "${@:2}" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	cat "$dir/err"
	[ $status = 2 ] && [ "$(wc -l <"$dir/err")" = 1 ] && grep -q "$1" "$dir/err"
}
check "a cgroup that does not exist" refused 'there is no cgroup' -G no-such-cgroup
check "a directory that is no cgroup" refused 'there is no cgroup' -G /tmp
check "a user who does not exist" refused 'no such user' -u no-such-user
check "a CPU that does not exist" refused 'CPU' -C 4000

if command -v tmux >/dev/null; then
	check "the screen of the whole system" eval '
		open_terminal 100 30 && type_line "$PWD/$ALTPTTOP -a" && await_screen 10 "the whole system" &&
			tm send-keys 3 && await_screen 10 "theirs +1 "'
	check "shows a row a process" shows "$theirs .*theirs"
	check "t shows threads" eval 'tm send-keys t; await_screen 5 "TID"'
	tm send-keys q
else
	skip "the screen of the whole system" "tmux is not installed"
fi
done_testing
