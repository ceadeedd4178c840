#!/bin/bash
# aarch64 and hardware counters, in an emulated guest: the program built for arm64 runs there, unwinds, names, counts
# and draws its screen; with counters, on two CPUs, and where there is no PMU at all.
. tests/tap.sh
arm=build-arm64
here=${O:-build}
environment='export PTYWATCH_REDRAW=1 LD_LIBRARY_PATH=/usr/lib/aarch64-linux-gnu:/lib/aarch64-linux-gnu'

give_up() { # REASON
	skip "altpttop in an aarch64 guest" "$1"
	done_testing
	exit
}

build() {
	local compiler=aarch64-linux-gnu-gcc
	command -v ccache >/dev/null && compiler="ccache $compiler"
	make --no-print-directory -s -j2 CC="$compiler" CXX=aarch64-linux-gnu-g++ O=$arm SYSROOT="$PWD/$arm/sysroot" \
		$arm/altpttop $arm/tests/programs/shares $arm/tests/programs/deepstack $arm/tests/programs/threads \
		$arm/tests/programs/{split,signedret} $arm/tests/bench/{ptywatch,switching} "${units[@]}" &&
		mkdir -p $arm/sysroot/at && cp $arm/altpttop $arm/tests/programs/{shares,deepstack,threads,split,signedret} \
		$arm/tests/bench/{ptywatch,switching} "${units[@]}" $arm/sysroot/at/ &&
		mkdir -p $arm/sysroot/usr/local/share/altpttop/events &&
		cp src/event/sets/*.set $arm/sysroot/usr/local/share/altpttop/events/
}

guest() { # CPU SMP COMMANDS: its output to $dir/out
	tests/pmu/guest run $arm/guest "$1" "$2" "cd /at; $environment; $3" >"$dir/out" 2>&1
}

part() { # NAME: what the guest printed between "== NAME" and the next "=="
	awk -v name="$1" '/^== / { on = $2 == name; next } on' "$dir/out"
}

has() { # NAME PATTERN
	part "$1" >"$dir/part"
	grep -Eq -- "$2" "$dir/part" || { cat "$dir/part"; return 1; }
}

# The reported self shares of the program's functions (three, or FUNCTIONS) lie within four standard errors of the program's own account.
# With "shared", time passes for the program while another emulated CPU runs: such ticks come late, in the kernel,
# or never, as [unsampled]. That only takes from functions: none has more than its share, and what they lack together is
# what the report itself calls unsampled or the kernel's.
shares_hold() { # NAME [shared]
	part "$1" | awk -v shared="${2:-}" -v functions="${FUNCTIONS:-3}" '
		/^cpu\./ { truth[substr($1, 5)] = $2 }
		match($0, / \[[.k]\] /) {
			name = substr($0, RSTART + RLENGTH)
			if (!(name in share)) {
				share[name] = $1
				if (shared && (name == "[unsampled]" || / \[k\] /)) astray += $1 / 100
			}
		}
		/^samples/ { n = $2 }
		END {
			for (f in truth) if (f != "total") {
				p = truth[f] / truth["total"]; d = share[f] / 100 - p; se = sqrt(p * (1 - p) / n)
				printf "%s %.3f, reported %.3f of %d, %.3f astray\n", f, p, share[f] / 100, n, astray
				known++; bad += d > 4 * se + 1e-3 || d < -4 * se - astray - 1e-3
				if (d < 0) lacking -= d
			}
			exit known != functions || n < 200 || bad || astray > 0.15 || lacking > astray + 2 / sqrt(n) + 1e-3
		}'
}

# Instructions per cycle of each function named is 0.50: what this guest runs at, exactly.
ipc_is_half() { # NAME FUNCTION...
	part "$1" | awk -F, -v wanted="${*:2}" '
		/^function,/ { for (i = 1; i <= NF; i++) { if ($i ~ /^self_cycles(:u)?$/) c = i; if ($i ~ /^self_instructions(:u)?$/) n = i } }
		c && index(" " wanted " ", " " $1 " ") { found++; ipc = $n / $c; printf "%s %.4f\n", $1, ipc
			bad += ipc < 0.495 || ipc > 0.505 }
		END { exit found != split(wanted, w, " ") || bad }'
}

# What all samples of a run counted of an event (a CSV in part NAME), and of one function.
counted() { # NAME EVENT [FUNCTION]
	part "$1" | awk -F, -v event="self_$2" -v only="${3:-}" '
		/^function,/ { for (i = 1; i <= NF; i++) if ($i == event) c = i; next }
		c && (!only || $1 == only) { s += $c } END { printf "%.0f\n", s }'
}
perf_stat() { # EVENT: the guest's own count
	part perf | awk -F, -v event="$1" '$3 == event { print $1 }'
}
near() { # FIGURE TRUTH PERCENT
	awk -v x="$1" -v t="$2" -v p="$3" 'BEGIN {
		printf "%s, truth %s: %.2f %% off, at most %s\n", x, t, 100 * (x / (t ? t : 1) - 1), p
		exit !(t > 0 && x > t * (1 - p / 100) && x < t * (1 + p / 100)) }'
}
as_perf_counts() { # NAME EVENT [PERCENT]
	near "$(counted "$1" "$2")" "$(perf_stat "${3:-$2}")" "${4:-1}"
}
# The two functions have 84 and 14 % of the samples, within four standard errors.
split_holds() { # NAME
	part "$1" | awk -F, '
		/^function,/ { next } NF > 8 { n += $6; k[$1] = $6 }
		END {
			truth["heavy"] = 0.84; truth["light"] = 0.14
			for (f in truth) {
				p = truth[f]; d = k[f] / n - p
				printf "%s %.4f of %d samples, truth %.2f\n", f, k[f] / n, n, p
				bad += d * d > 16 * p * (1 - p) / n
			}
			exit n < 500 || bad
		}'
}
figure() { # NAME KEY
	part "$1" | awk -v key="$2" '$1 == key { print $2 }'
}
below() { # NAME KEY HIGH
	awk -v x="$(figure "$1" "$2")" -v h="$3" 'BEGIN { printf "%s, at most %s\n", x, h; exit !(x != "" && x <= h) }'
}

complete() { # NAME PERCENT
	part "$1" | awk -v least="$2" '/^stacks/ { print; share = $2 } END { exit share < least }'
}

dir=$(mktemp -d "${TMPDIR:-/tmp}/altpttop-pmu.XXXXXX")
trap 'rm -rf "$dir"' EXIT
[ "$(id -u)" = 0 ] || give_up "preparing the guest needs root"
.ci/deps build cross guest >"$dir/log" 2>&1 || give_up "$(tail -n 1 "$dir/log")"
.ci/sysroot arm64 $arm/sysroot >"$dir/log" 2>&1 || give_up "no arm64 packages: $(tail -n 1 "$dir/log")"
tests/pmu/guest prepare $arm/guest $arm/sysroot >"$dir/log" 2>&1 || give_up "no guest: $(tail -n 1 "$dir/log")"

units=()
for name in hash spsc strtab tables space expr row unwind perf_record confidence; do
	[ -e "tests/unit/test_$name.c" ] && units+=("$arm/tests/unit/test_$name")
done
check "it builds for aarch64" build

# Return addresses signed by pointer authentication, on the way down and below a signal handler: by both samplers, and in
# a recording of the guest's own perf.
signed_callers='main signed_01 signed_02 signed_03 leaf_04 on_signal handler_01 handler_02 handler_work'
signed_run() { # NAME ARGS
	echo "echo '== $1'; ./altpttop --batch -o /tmp/s.folded $2 2>&1; echo '== $1_stacks'; cat /tmp/s.folded; rm -f /tmp/s.folded;"
}
signed_runs() {
	signed_run signed "--sampler perf -- ./signedret 2"
	signed_run signedtimer "--sampler timer -- ./signedret 2"
	echo "echo '== signedperf'; rm -f signed.data; perf record -B -q -e cycles:u -F 997 --call-graph dwarf -o signed.data ./signedret 1 2>&1;"
	signed_run signedrecording "signed.data"
}
# Every stack with one of those functions has all its callers before it, in order, with nothing between them but the way
# into the handler: raise and the signal's frame. Stacks that were cut may begin anywhere. N samples (or nanoseconds, where
# the stacks are counted so) in leaf_04, and N below the handler, at least.
callers_hold() { # NAME N [SIGNAL-FRAME]
	part "$1_stacks" | awk -v callers="$signed_callers" -v least="$2" -v frame="${3:-__kernel_rt_sigreturn}" '
		BEGIN { n = split(callers, name, " "); for (i = 1; i <= n; i++) level[name[i]] = i }
		/^#/ { next }
		{
			count = $NF; sub(/ [0-9]+$/, "")
			frames = split($0, f, ";"); depth = last = 0; between = ""
			for (i = 1; i <= frames; i++) {
				if (!(f[i] in level)) { if (depth == 5) between = between ";" f[i]; continue }
				if ((cut = f[i - 1 - (f[i - 1] == frame)] == "[truncated]")) depth = level[f[i]] - 1
				else if (depth == 0 || depth == 5) last = i - 1
				good = level[f[i]] == depth + 1 && (cut || last == i - 1)
				if (good && depth == 5 && !cut) good = between ~ /;raise;/ && index(between ";", ";" frame ";")
				if (!good) { bad++; if (bad < 6) print "not so: " $0; next }
				depth++; last = i
			}
			at[depth] += count; lines++
		}
		END {
			below = at[7] + at[8] + at[9]
			printf "%d in leaf_04 and what it calls, %d below the handler, %d outside, of %d different stacks\n",
				at[5], below, at[0], lines
			exit bad || at[5] < least || below < least || at[9] < at[7] + at[8]
		}'
}

# The same recording on this machine, whatever its processor.
read_here() {
	make -s --no-print-directory O="$here" "$([ "$here" = build ] || echo "$here/")altpttop" &&
		{ echo "== here_stacks"; "$([ "$here" = build ] && echo . || echo "$here")/altpttop" --batch --symfs $arm/sysroot \
			--format folded $arm/sysroot/at/signed.data; } >>"$dir/out" && callers_hold here 200 '[vdso]+0x7bc'
}

report() { # NAME ARGS: a batch run of the shares program in the guest
	echo "echo '== $1'; ./altpttop --batch $2 -- ./shares 2 2>&1;"
}
csv() { # NAME ARGS [MILLIONS]: a batch run of the split program and its CSV
	echo "echo '== $1'; rm -f /tmp/x.csv; ./altpttop --batch -o /tmp/x.csv $2 -- ./split ${3:-100} 2>&1 | grep -E '^(samples|counter|losses|altpttop)'; cat /tmp/x.csv;"
}
rotating="-e '{cycles,instructions,r8:u,r11:u},{instructions:u,r8,r11,r8:k}'"
counting() {
	echo "echo '== perf'; perf stat -x, -e cycles:u,instructions:u,cycles,instructions ./split 100 2>&1;"
	csv user "-e '{cycles:u,instructions:u}'"
	csv whole "-e '{cycles,instructions}'"
	csv riding "-e '{cpu-clock,cycles,instructions}'"
	csv rotating "$rotating"
	csv alone "-e cycles,instructions,r8:u,r11:u,instructions:u,r8,r11,r8:k"
	echo "echo '== turns'; ./ptywatch 110 30 30 'heavy' '5|[45][0-9][.][0-9] .*scaled: it shared|q' ./altpttop $rotating -- ./split 3000;"
	echo "echo '== report'; ./altpttop --batch $rotating -- ./split 50 2>&1;"
	echo "echo '== nothing'; ./altpttop --batch -e '{cycles,r3}' -o /tmp/x.csv -- ./split 200 2>&1; cat /tmp/x.csv;"
	echo "echo '== eight'; ./altpttop --batch -e '{cycles,instructions,r8,r8:u,r8:k,r11,r11:u,r11:k}' -- ./split 10 2>&1; echo \"status \$?\";"
	echo "echo '== eightstat'; perf stat -x, -e '{cycles,instructions,r8,r8:u,r8:k,r11,r11:u,r11:k}' ./split 10 2>&1;"
	echo "echo '== eightdown'; ./altpttop --batch -o /tmp/x.csv -e cycles,instructions,r8,r8:u,r8:k,r11,r11:u,r11:k -- ./split 100 2>&1;"
	echo "echo '== hogged'; perf stat -a -e r8:D,r8:D,r8:D,r8:D,r8:D,r8:D sleep 60 >/dev/null 2>&1 & hog=\$!; sleep 1;
./altpttop --batch --duration 2 -e '{instructions,r8}' -- ./split 3000 2>&1;"
	for scope in p a; do
		echo "./split 9000 >/dev/null & s=\$!; t=-a; [ $scope = a ] || t=\"-p \$s\";
echo '== starved_$scope'; ./altpttop --batch --call-graph fp --duration 2 -o /tmp/x.csv -e cpu-clock,instructions,r8 \$t 2>&1; cat /tmp/x.csv;
echo '== starvedset_$scope'; ./altpttop --batch --duration 3 -E ipc \$t 2>&1;
echo '== starvedscreen_$scope'; PTYWATCH_FIRST=5 ./ptywatch 150 24 30 'instructions.*never got a counter' q ./altpttop -E ipc \$t; kill \$s;"
	done
	echo "kill \$hog;"
	for scope in p a; do
		echo "./split 9000 >/dev/null & s=\$!; t=-a; [ $scope = a ] || t=\"-p \$s\";
perf stat -a -e r8:D,r8:D,r8:D,r8:D,r8:D,r8:D sleep 3 >/dev/null 2>&1 & sleep 0.5;
echo '== freed_$scope'; ./altpttop --batch --call-graph fp --duration 6 -o /tmp/x.csv -e '{cycles,instructions}' \$t 2>&1; cat /tmp/x.csv; kill \$s;"
	done
	echo "mkdir -p /tmp/d/altpttop; ln -s /usr/local/share/altpttop/events /tmp/d/altpttop/events;"
	echo "echo '== switching'; XDG_CONFIG_HOME=/tmp/d ./switching 8 1 ipc cpu-clock frontend;"
	echo "echo '== keys'; ./ptywatch 120 24 30 'IPC.*0[.]50' '$keys' ./altpttop -E ipc -- ./shares 60;"
}
# On the screen: to another set, and back to the first, which goes on.
keys=$'efrontend\r|frontend over [0-9.]+ s|\f|FE%.*alpha|eipc\r|ipc over [0-9.]+ s|\f|IPC.*0[.]50|q'
check "a guest with a PMU boots" guest neoverse-n1 1 "
echo '== doctor'; ./altpttop --doctor;
$(report clock "")
$(report cycles "-e cycles")
echo '== sets'; ./altpttop --list-sets;
echo '== ipc'; ./altpttop --batch -E ipc -o /tmp/x.csv -- ./shares 2 2>&1; cat /tmp/x.csv;
echo '== born'; ./altpttop --batch -E ipc -o /tmp/x.csv -- ./threads 2 2>&1; cat /tmp/x.csv;
echo '== column'; ./ptywatch 110 24 30 'IPC.*0[.]50' q ./altpttop -E ipc -- ./shares 20;
echo '== topdown'; PTYWATCH_FIRST=7 ./ptywatch 120 24 30 'counted nothing at all .stalled-cycles-backend' q ./altpttop -E stalls -- ./shares 20;
echo '== events'; PTYWATCH_FIRST=5 ./ptywatch 150 24 30 'stalled-cycles-backend.*counted nothing at all' q ./altpttop -E stalls -- ./shares 20;
mkdir -p /tmp/c/altpttop/events; printf '%s\n' 'about member' 'event instructions = instructions' 'event cycles = cycles' \
	'sample cycles 1000003' 'metric IPC = instructions / cycles' 'meaning m' >/tmp/c/altpttop/events/member.set;
echo '== member'; XDG_CONFIG_HOME=/tmp/c ./altpttop --batch -E member -o /tmp/x.csv -- ./shares 2 2>&1; cat /tmp/x.csv;
echo '== deep'; ./altpttop --batch --duration 2 -- ./deepstack 3 2>&1;
echo '== screen'; ./ptywatch 80 24 30 'FUNCTION' q ./altpttop -- ./shares 20;
for t in ${units[*]##*/}; do echo \"== \$t\"; ./\$t 2>&1 && echo all well; done"
check "the doctor sees the PMU" has doctor '^hardware PMU +yes'
check "shares by the clock are right" shares_hold clock
check "Top-down says which stall events count nothing" has topdown '^first_ms [0-9]'
check "Events say it too" has events '^first_ms [0-9]'
check "a group is sampled by any of its members" has member '^sampler +perf instructions'
check "... and IPC is exact all the same" ipc_is_half member alpha beta gamma_
check "stacks are whole" complete clock 98
check "cycles are counted and sampled" has cycles '^samples +[0-9]+ of cycles, [0-9]{8,} counted'
check "shares by cycles are right" shares_hold cycles
check "sets that fit are told from sets that do not" has sets '^ipc	ok	'
check "a set that does not fit says which event fails" has sets '^branch	branches is not counted'
check "IPC of each function is exact" ipc_is_half ipc alpha beta gamma_
check "IPC of threads born later is exact" ipc_is_half born work_full work_half work_quarter
check "the screen shows IPC" has column '^first_ms [0-9]'
check "the screen comes and goes" has screen '^quit_ms [0-9]'
for name in "${units[@]##*/}"; do
	check "$name passes on aarch64" has "$name" '^all well'
done

check "a guest that counts boots" guest neoverse-n1 1 "$(counting)"
if has perf ',cycles:u,'; then
	for event in cycles:u instructions:u; do
		check "$event in all is what the guest's perf stat counts" as_perf_counts user $event
	done
	for event in cycles instructions; do
		check "$event in all, the kernel too, is what perf stat counts" as_perf_counts whole $event
		check "so it is riding along with a clock" as_perf_counts riding $event $event 2.5
	done
	# Two groups of four, six counters and that of cycles: each runs half of the time.
	for pair in cycles=cycles instructions=instructions r8:u=instructions:u r11:u=cycles:u \
		instructions:u=instructions:u r8=instructions r11=cycles; do
		check "${pair%=*} in rotation is scaled to what perf stat counts" as_perf_counts rotating "${pair%=*}" "${pair#*=}" 6
		check "${pair%=*} is too when each event takes its turn alone" as_perf_counts alone "${pair%=*}" "${pair#*=}" 8
	done
else
	skip "totals of the guest's perf stat" "it has no perf: $(part perf | head -n 1)"
fi
# A sample costs N us, reading N counters adds N: measured at the start of the run, in the head of its report.
costs() { # NAME COUNTERS
	part "$1" | awk -v n="$2" '
		function us(v, unit) { return unit == "ns," || unit == "ns;" ? v / 1000 : unit ~ /^ms/ ? v * 1000 : v }
		$1 == "costs" { sample = us($4, $5); for (i = 5; i < NF; i++) if ($i == "counters") read = us($(i + 1), $(i + 2)); print }
		END { printf "a sample costs %.2f us, reading %d counters adds %.2f us\n", sample, n, read; exit !(sample > 0 && read > 0) }'
}
check "the cost of a group read is measured, and told" costs report 4
costs report 4 | tail -n 1 | sed "s/^/# /"
check "two functions have their 84 and 14 %" split_holds user
check "and in rotation" split_holds rotating
check "the running share is shown" has turns '^step_ms [0-9]'
check "the report says how much of the time each ran" has report '^counter +cycles: scaled: it shared its counter with others, and ran (4|5)[0-9]\.[0-9] %'
check "a group whose counters are all held is not 0 but n/a" has hogged '^counter +instructions: n/a: opened, but it never got a counter'
check "and is not called idle" has hogged '^No samples: see the event'
check "perf stat never counts the eight together" eval '! part eightstat | grep -qE "^[0-9]" && has eightstat "^<not counted>,,cycles"'
check "one by one they take turns" has eightdown '^counter +r11:k?: .*ran [0-9.]+ %|^counter +cycles: scaled'
for scope in p a; do
	check "counters held by another: n/a in the CSV of -$scope, beside the clock's figures" has starved_$scope '^heavy,.*,n/a,n/a,n/a,n/a,ok'
	check "... with the reason in the report" has starved_$scope '^counter +r8: n/a: opened, but it never got a counter'
	check "... and the set that runs all the same" has starvedset_$scope 'never got a counter so far: others hold them .*; -E clock runs'
	check "... and on the Events screen" has starvedscreen_$scope '^first_ms [0-9]'
	check "when they are free again -$scope counts" ipc_is_half freed_$scope heavy light
	check "... no more than there was" eval 'near "$(counted freed_$scope cycles)" 3100000000 25'
done
check "an event that counts nothing is n/a in the CSV" has nothing '^heavy,.*,n/a,n/a,'
check "with its reason in the report" has nothing '^counter +r3: n/a: counted nothing at all'
check "a group with one event too many is refused by name" has eight '^altpttop: .*the 8th event of the group, has no counter left'
check "with status 2" has eight '^status 2'
check "new events sample within 200 ms" below switching first_sample_worst_ms 200
check "no gap across a switch is longer" below switching gap_worst_ms 200
check "a key script changes the set on the screen, and back" has keys '^quit_ms [0-9]'
check "each step shows what it should" eval '! has keys "^(first|step)_ms -1"'

# Two emulated CPUs share this machine's time with whatever else runs on it: a spoilt run is taken again. They also lose
# interrupts of a counter, so that perf record has a handful of samples: the report must be right, or say so.
says_astray() { # NAME
	has "$1" '^counter +cycles: its samples stand for [0-9.e+-]+ % of what it counted'
}
two_cpus() {
	local attempt
	for attempt in 1 2 3; do
		guest neoverse-n1 2 "$(report clock "") $(csv cycles "-e cycles:u" 300)
echo '== born'; ./altpttop --batch -E ipc -o /tmp/x.csv -- ./threads 2 2>&1; cat /tmp/x.csv;
echo '== perfrecord'; perf record -B -q -F 997 -e cycles:u -o /tmp/p.data ./split 300 2>&1; timeout 60 perf report -i /tmp/p.data --stats 2>&1 | grep -m 1 SAMPLE" || return
		part perfrecord | sed 's/^/# perf record: /'
		shares_hold clock shared && { says_astray cycles || split_holds cycles; } &&
			{ says_astray born || ipc_is_half born work_full work_half work_quarter; } && return
	done
	return 1
}
check "on two CPUs shares and IPC are right, or said not to be" two_cpus

# The whole system: a group per CPU, read at each switch. Two programs at once, perf stat counting them, and more events
# than counters; frame pointers, as the ring is no test of how fast an emulated CPU reads unwind tables.
every() { # NAME EVENTS
	echo "echo '== $1'; ./altpttop --batch --call-graph fp -a --duration 5 -o /tmp/x.csv -e '$2' >/tmp/o 2>&1 & a=\$!; sleep 1.2;
perf stat -x, -o /tmp/s -e cycles:u,instructions:u,instructions sh -c './split 60 & ./shares 1 & ./split 60; wait' >/dev/null 2>&1; wait \$a;
grep -E '^(samples|losses|counter|sampler)' /tmp/o; sed 's/^/stat,/' /tmp/s; cat /tmp/x.csv;"
}
whole_system() {
	echo "$(every every '{cycles:u,instructions:u}') $(every clocked '{cpu-clock,cycles:u,instructions:u}')
echo '== totals'; (./split 900 & ./split 900 & wait) >/dev/null & sleep 0.5; perf stat -a -x, -o /tmp/s -e cycles,instructions -- sleep 3 & ./altpttop --batch --call-graph fp -a --duration 3.2 -o /tmp/x.csv -e '{cycles,instructions}' >/tmp/o 2>&1; sed 's/^/stat,/' /tmp/s;
PTYWATCH_FIRST=5 ./ptywatch 150 24 30 'instructions +[0-9].* 100[.]0' q ./altpttop -a -e '{cycles,instructions}';
echo '== topdown_a'; PTYWATCH_FIRST=7 ./ptywatch 120 24 30 'counted nothing at all .stalled-cycles-backend' q ./altpttop -a -E stalls;"
}
# What the programs that perf stat counted have under -a: all functions of theirs, the dynamic linker's start aside.
every_near() { # NAME EVENT PERCENT
	near "$(part "$1" | awk -F, -v event="self_$2" '
		/^function,/ { for (i = 1; i <= NF; i++) if ($i == event) c = i; next }
		c && ($2 == "split" || $2 == "shares") { s += $c } END { printf "%.0f\n", s }')" \
		"$(part "$1" | awk -F, -v event="$2" '$1 == "stat" && $4 == event { print $2 }')" "$3"
}
whole() {
	local attempt
	for attempt in 1 2 3; do
		guest neoverse-n1 2 "$(whole_system)" || return
		every_near every cycles:u 1 && every_near every instructions:u 1 && every_near clocked instructions:u 2 && return
	done
	return 1
}
check "-a on two CPUs counts a group's events for whom they are, within 1 % of perf stat" whole
check "its IPC of each function is exact" ipc_is_half every heavy light alpha beta
check "and with a clock" ipc_is_half clocked heavy light alpha beta
check "-a is a group per CPU" has every '^sampler .*a group per CPU'
check "the Events screen counts whole CPUs" has totals '^first_ms [0-9]'
check "Top-down says of -a what counts nothing" has topdown_a '^first_ms [0-9]'

check "a guest with a CPU that libpfm4 does not know boots" guest cortex-a72 1 "
echo '== sets'; ./altpttop --list-sets;
echo '== ipc'; ./altpttop --batch -E ipc -o /tmp/x.csv -- ./shares 2 2>&1; cat /tmp/x.csv"
check "generic sets fit it" has sets '^ipc	ok	'
check "its IPC is exact" ipc_is_half ipc alpha beta gamma_

check "a guest with a cortex-a57 boots" guest cortex-a57 1 "
echo '== sets'; ./altpttop --list-sets;
$(report cycles "-e cycles")
$(csv user "-e '{cycles:u,instructions:u}'")
echo '== ipc'; ./altpttop --batch -E ipc -o /tmp/x.csv -- ./shares 2 2>&1; cat /tmp/x.csv"
check "generic sets fit the cortex-a57" has sets '^ipc	ok	'
check "those for other CPUs do not" has sets '^e6500	it is for e6500'
check "its shares by cycles are right" shares_hold cycles
check "its IPC is exact" ipc_is_half ipc alpha beta gamma_
check "its two functions have their 84 and 14 %" split_holds user

check "a guest with pointer authentication boots" guest max,pauth-impdef=on 1 "$(signed_runs)"
for run in signed signedtimer; do
	check "$run: return addresses are signed" has $run '^signed [1-9]'
	check "$run: stacks are whole" complete $run 98
	check "$run: callers are right, through the signal's frame" callers_hold $run $([ $run = signed ] && echo 500 || echo 500000000)
	FUNCTIONS=2 check "$run: shares are right" shares_hold $run
done
if has signedrecording '^samples'; then
	check "a recording of the guest's perf: callers are right" callers_hold signedrecording 200 '[vdso]+0x7bc'
	check "... stacks are whole" complete signedrecording 98
	check "... as read on this machine" read_here
else
	skip "a recording of the guest's perf" "it made none: $(part signedperf | head -n 1)"
fi

check "a guest without a PMU boots" guest neoverse-n1,pmu=off 1 "
echo '== doctor'; ./altpttop --doctor;
$(report clock "")
$(report cycles "-e cycles")
echo '== sets'; ./altpttop --list-sets"
check "sets of hardware events say that they are not counted" has sets '^ipc	cycles is not counted'
check "software sets still fit" has sets '^software	ok'
check "the doctor says that there is no PMU" has doctor '^hardware PMU +no'
check "shares by the clock are right without a PMU" shares_hold clock
check "cycles are refused with a sentence" has cycles '^altpttop: .*cycles'
done_testing
