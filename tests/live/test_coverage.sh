#!/bin/bash
# The margins are honest: of 100 short windows at least 90 hold the truth, and they are no wider than
# the statistics ask for.
cd "$(dirname "$0")/../.." && . tests/live/live.sh

windows=100
start shares 600
sleep 0.2
sampler=$(samplers | head -n 1)
if [ -z "$sampler" ]; then
	skip "intervals hold the truth" "no sampler works here: $(why_not timer)"
	done_testing
	exit
fi
# FUNCTION TRUTH GOT MARGIN SAMPLES, one line a window and function.
for ((i = 0; i < windows; i++)); do
	profile window --sampler "$sampler" --duration 0.3 -p "$target" || break
	n=$(samples window)
	for f in alpha:50 beta:30 gamma_:20; do
		echo "${f%:*} ${f#*:} $(csv window "${f%:*}" self_percent)" \
			"$(csv window "${f%:*}" self_margin) $n"
	done
done >"$dir/windows"

covered() { # FUNCTION
	awk -v f="$1" '$1 == f { n++; off = $3 - $2; if (off < 0) off = -off; hit += off <= $4 }
		END { print hit " of " n " windows hold the truth of " f; exit !(n == 100 && hit >= 90) }' \
		"$dir/windows"
}
narrow() { # FUNCTION
	# A window in which the target never ran has no samples, and nothing to say on this.
	awk -v f="$1" '$1 == f && $5 > 0 { n++; p = $2 / 100; margin += $4; ideal += 196 * sqrt(p * (1 - p) / $5) }
		END { printf "mean margin %.2f, expected about %.2f\n", margin / n, ideal / n
			exit !(n >= 95 && margin < 1.3 * ideal && margin > 0.8 * ideal) }' "$dir/windows"
}
for f in alpha beta gamma_; do
	check "$sampler: at least 90 of 100 intervals hold the truth of $f" covered $f
	check "$sampler: and they are no wider than need be ($f)" narrow $f
done
done_testing
