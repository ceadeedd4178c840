# Sourced by the live tests: starts programs of tests/programs, runs ./altpttop on them, and judges
# shares by their standard errors. Everything a test starts ends with it.

. tests/tap.sh
O=${O:-build}
PROGRAMS=$O/tests/programs
ALTPTTOP=${ALTPTTOP:-$([ "$O" = build ] && echo ./altpttop || echo "$O/altpttop")}
dir=$(mktemp -d "${TMPDIR:-/tmp}/altpttop-live.XXXXXX")
started=()
end_all() {
	local pid
	for pid in "${started[@]}"; do
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	rm -rf "$dir"
}
trap end_all EXIT
trap 'exit 1' INT TERM HUP

# start PROGRAM ARG...: in the background, its truth to $dir/truth; sets $target.
start() {
	"$PROGRAMS/$1" "${@:2}" >"$dir/truth" 2>"$dir/truth.err" &
	target=$!
	started+=("$target")
}

# stop: end it before its time.
stop() {
	kill -KILL "$target" 2>/dev/null
	wait "$target" 2>/dev/null
	return 0
}

# finish: wait until the program has ended by itself.
finish() {
	wait "$target"
}

truth() { # KEY
	awk -v key="$1" '$1 == key { print $2 }' "$dir/truth"
}

# await SECONDS COMMAND...: try until it succeeds.
await() {
	local until=$((SECONDS + $1 + 1))
	shift
	while ! "$@"; do
		[ "$SECONDS" -ge "$until" ] && return 1
		sleep 0.05
	done
}

# watching PID: a profiler has its perf events open, as many as a moment before.
watching() {
	local before now
	before=$(find /proc/"$1"/fd -lname 'anon_inode:*perf_event*' 2>/dev/null | wc -l)
	sleep 0.3
	now=$(find /proc/"$1"/fd -lname 'anon_inode:*perf_event*' 2>/dev/null | wc -l)
	[ "$before" -gt 0 ] && [ "$before" = "$now" ]
}

# profile OUT ARG...: a batch run to $dir/OUT.csv; its report and messages beside it.
profile() {
	local out=$dir/$1.csv
	shift
	timeout 120 "$ALTPTTOP" --batch -o "$out" "$@" >"${out%.csv}.report" 2>"${out%.csv}.messages"
	local rc=$?
	[ $rc = 0 ] || { echo "altpttop $* ended with $rc:"; cat "${out%.csv}.messages"; }
	return $rc
}

# csv OUT FUNCTION COLUMN: a figure of the row(s) whose function is FUNCTION, 0 when there is none.
# Functions may be quoted and hold commas.
csv() {
	awk -v want="$2" -v column="$3" '
	function fields(line,   n, c, i, quoted, word) {
		n = 0; word = ""; quoted = 0
		for (i = 1; i <= length(line); i++) {
			c = substr(line, i, 1)
			if (c == "\"") {
				if (quoted && substr(line, i + 1, 1) == "\"") { word = word c; i++ }
				else quoted = !quoted
			} else if (c == "," && !quoted) { f[++n] = word; word = "" }
			else word = word c
		}
		f[++n] = word
		return n
	}
	NR == 1 { n = fields($0); for (i = 1; i <= n; i++) if (f[i] == column) at = i; next }
	{ fields($0); if (f[1] == want) sum += f[at] }
	END { if (!at) { print "no column " column > "/dev/stderr"; exit 1 } print sum + 0 }' \
		"$dir/$1.csv"
}

# samples OUT: how many samples the whole profile has.
samples() {
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "self_samples") at = NF - i; next }
		{ sum += $(NF - at) } END { print sum + 0 }' "$dir/$1.csv"
}

# share OUT FUNCTION COLUMN TRUTH [SLACK]: is the per cent figure within four standard errors of
# TRUTH (0…1), plus SLACK (0…1) for what the truth itself leaves open? Where samples weigh unequal
# times they count for fewer: then the margin beside the figure tells its standard error, believed up
# to twice that of equal weights.
share() {
	local got n margin
	got=$(csv "$1" "$2" "$3") || return 1
	margin=0
	[ "$3" = self_percent ] && margin=$(csv "$1" "$2" self_margin)
	n=$(samples "$1")
	awk -v got="$got" -v n="$n" -v p="$4" -v margin="$margin" -v slack="${5:-0.002}" -v what="$2 $3" 'BEGIN {
		if (n < 100) { print what ": only " n " samples"; exit 1 }
		se = sqrt(p * (1 - p) / n)
		own = margin / 196
		if (own > se) se = own < 2 * se ? own : 2 * se
		off = got / 100 - p
		if (off < 0) off = -off
		printf "%s: %.2f %%, truth %.2f %%, %d samples, four standard errors are %.2f %%\n",
			what, got, 100 * p, n, 400 * se
		exit !(off <= 4 * se + slack)
	}'
}

# expect NAME COMMAND...: a judgement of the next measurement.
expect_names=()
expect_commands=()
expect() {
	expect_names+=("$1")
	shift
	expect_commands+=("$(printf '%q ' "$@")")
}

# measured NAME COMMAND...: a measurement, and whatever was expected of it. What else this machine does
# may spoil one, so it is taken up to three times, with the same bounds, until all is as expected; the
# last one is reported.
measured() {
	local name=$1 try i good run
	local status=()
	shift
	for try in 1 2 3; do
		"$@" >"$dir/run.log" 2>&1 && run=0 good=1 || run=1 good=0
		for i in "${!expect_names[@]}"; do
			eval "${expect_commands[i]}" >"$dir/expect.$i" 2>&1 && status[i]=0 || status[i]=1 good=0
		done
		[ $good = 1 ] && break
		echo "# try $try of: $name"
		sleep 1
	done
	[ $run = 0 ] && ok "$name" || not_ok "$name" "$(cat "$dir/run.log")"
	for i in "${!expect_names[@]}"; do
		[ "${status[i]}" = 0 ] && ok "${expect_names[i]}" ||
			not_ok "${expect_names[i]}" "$(cat "$dir/expect.$i")"
	done
	expect_names=()
	expect_commands=()
}

# between LOW FIGURE HIGH
between() {
	awk -v l="$1" -v x="$2" -v h="$3" 'BEGIN {
		printf "%s, expected %s to %s\n", x, l, h; exit !(x >= l && x <= h) }'
}

# samplers: which of perf and timer work here, one a line.
samplers() {
	local s
	local pid
	for s in perf timer; do
		sleep 20 &
		pid=$!
		"$ALTPTTOP" --batch --sampler $s --duration 0.2 -o "$dir/probe.csv" -p $pid \
			>/dev/null 2>"$dir/probe.$s"
		[ $? -le 1 ] && echo $s
		kill $pid
	done
}

why_not() { # SAMPLER
	head -n 1 "$dir/probe.$1"
}

# Kernel's account of a process, all threads past and present, seconds.
account() { # PID
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / hz }' "/proc/$1/stat"
}

if [ ! -x "$ALTPTTOP" ]; then
	not_ok "$ALTPTTOP is built"
	done_testing
	exit 1
fi
