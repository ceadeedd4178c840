#!/bin/bash
# --trigger: a program that changes what it does trips it, by a function's share, CPU use and a written
# address; what is saved holds the moment; rules that make no sense are refused in one sentence.
cd "$(dirname "$0")/../.." && . tests/live/live.sh
. tests/live/terminal.sh

refused() { # PATTERN ARG...
	timeout 30 "$ALTPTTOP" --batch --duration 0.5 -p $$ "${@:2}" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	cat "$dir/err"
	[ $status = 2 ] && [ "$(wc -l <"$dir/err")" = 1 ] && [ ! -s "$dir/out" ] && grep -qF -- "$1" "$dir/err"
}
check "a quantity that does not exist" refused "no quantity is called l3" --trigger 'l3<5'
check "a metric of no set in use" refused "-E SET has more" --trigger 'ipc<0.5 for 2s'
check "no comparison" refused "one of < > <= >=" --trigger 'cpu'
check "no number" refused "a number is missing" --trigger 'cpu>much'
check "a time without a unit that exists" refused "ends in ms, s, m or h" --trigger 'cpu>5 for 2 years'
check "an address that is none" refused "mem:0xADDRESS" --trigger 'mem:1here'
check "too many rules" refused "8 at most" $(for i in 1 2 3 4 5 6 7 8 9; do echo --trigger cpu\>$i; done)
check "a span that is none" refused "one or two numbers" --trigger 'cpu>5' --trigger-span 5,x
check "no files" refused "above 0" --trigger 'cpu>5' --trigger-files 0

# Not after hours, when the moment comes and is lost.
nowhere() {
	(cd /proc && ALTPTTOP=$here/$ALTPTTOP refused "cannot write altpttop-trigger" --trigger 'cpu>5')
}
here=$([[ $ALTPTTOP = /* ]] || echo "$PWD")
check "a directory in which nothing can be written" nowhere

start changer 300 2500
await 5 test -s "$dir/truth"
address=$(truth address)
changes() { # ARG...: a run over two changes; what is written goes below $dir/t
	rm -rf "$dir/t" && mkdir "$dir/t"
	timeout 60 "$ALTPTTOP" --batch --duration 12 --trigger-span 1,0.5 -p $target "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	cat "$dir/err"
	[ $status = 0 ]
}
tripped() { # N: so many files, each with a line of its own
	local n
	n=$(ls "$dir/t" | wc -l)
	ls -l "$dir/t"
	[ "$n" = "$1" ] && [ "$(grep -c 'when the trigger' "$dir/err")" = "$1" ]
}
one_or_more() { [ "$(ls "$dir/t" | wc -l)" -ge 1 ] && tripped "$(ls "$dir/t" | wc -l)"; }
folded_share() { # FILE FUNCTION
	awk -v f="$2" '{ n = $NF; all += n; if (index($0, ";" f " ") || index($0, ";" f ";")) mine += n }
		END { printf "%.3f\n", all ? mine / all : 0 }' "$1"
}

measured "a function's share trips" changes --trigger 'self(worker)>60% for 1s' -o "$dir/t/moment.folded"
mv "$dir/t/moment.folded" "$dir/whole.folded"
check "once each time it comes" one_or_more
check "told with when and how much" grep -Eq 'around [0-9:]{8}, when the trigger self\(worker\)>60% for 1s held \(it was (6|7|8|9|100)' "$dir/err"
both_sides() {
	local f
	for f in "$dir"/t/moment-2*-[0-9].folded; do
		between 0.25 "$(folded_share "$f" worker)" 0.97 && between 0.02 "$(folded_share "$f" calm)" 0.75 || return
	done
}
check "the file holds what was before and what came" both_sides

check "a written address trips" changes --trigger "mem:$address/4:w" --trigger-files 1 -o "$dir/t/moment.pb.gz"
rm -f "$dir/t/moment.pb.gz"
check "the cap on files holds" tripped 1
check "and says that more came" grep -q 'not saved, there are 1 files already (--trigger-files)' "$dir/err"
if command -v go >/dev/null; then
	check "the file is a profile" eval 'go tool pprof -top "$dir"/t/*.pb.gz 2>&1 | grep -q worker'
	check "with the access as a value" eval 'go tool pprof -raw "$dir"/t/*.pb.gz 2>&1 | grep -q "mem:$address"'
fi
check "an address samples each access" eval '
	timeout 30 "$ALTPTTOP" --batch --duration 11 -p $target -e "mem:$address/4:w" >"$dir/out" 2>"$dir/err"
	cat "$dir/out"; grep -Eq "^samples +[23] of mem:" "$dir/out"'
check "as leader of a group it reads its members" eval '
	timeout 30 "$ALTPTTOP" --batch --duration 11 -p $target -e "{mem:$address/4:w,task-clock,page-faults}" \
		-o "$dir/g.csv" >"$dir/out" 2>"$dir/err"
	cat "$dir/g.csv" "$dir/err"; head -n 1 "$dir/g.csv" | grep -q task-clock &&
	awk -F, "NR == 1 { for (i = 1; i <= NF; i++) if (\$i == \"self_task-clock_ns\") c = i } NR > 1 { s += \$c }
		END { print s; exit !(s > 1e9) }" "$dir/g.csv"'

# Nobody said how long: it waits for the target's end.
waits() {
	"$PROGRAMS/changer" 4 1000 >/dev/null &
	local pid=$!
	started+=($pid)
	timeout 30 "$ALTPTTOP" --batch -p $pid --trigger 'cpu>1 for 3s' --trigger-span 1 -o "$dir/w.folded" >"$dir/out" 2>"$dir/err"
	cat "$dir/err"
	ls "$dir"/w-*-1.folded && grep -q "when the trigger" "$dir/err"
}
check "what would be saved later is saved at the target's end" waits

if command -v tmux >/dev/null; then
	check "the screen tells of it" eval '
		open_terminal 120 30 && type_line "cd $dir; $PWD/$ALTPTTOP -p $target --trigger \"self(worker)>60% for 1s\" --trigger-span 1,0.5" &&
			await_screen 20 "trigger self.worker.*holds since" && await_screen 20 "altpttop-trigger-2.*pb.gz"'
	tm send-keys q
	check "and saves it" eval 'ls "$dir"/altpttop-trigger-2*.pb.gz'
else
	skip "the screen tells of it" "tmux is not installed"
fi
coarse() {
	start shares 6
	rm -rf "$dir/t" && mkdir "$dir/t"
	timeout 60 "$ALTPTTOP" --batch --duration 3 -e page-faults --trigger 'cpu>10 for 500ms' --trigger-span 0.5,0.5 \
		-p $target -o "$dir/t/m.folded" >"$dir/out" 2>"$dir/err"
	cat "$dir/err"
	grep -q "no clock is sampled, so CPU time is what the kernel accounts" "$dir/err" && ls "$dir"/t/m-*-1.folded
}
check "without a clock CPU use is what the kernel accounts, which is said" coarse

done_testing
