# Sourced by test scripts: results in TAP. `check NAME COMMAND...` runs a command, its output is shown
# when it fails; `ok`, `not_ok`, `skip NAME REASON` report by hand; `done_testing` comes last.

tap_count=0
tap_failed=0

ok() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

not_ok() { # NAME [DETAIL]
	[ -n "${2:-}" ] && echo "$2" | sed 's/^/# /'
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $1"
}

skip() { # NAME REASON
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# In this shell, not in one below: the command may start what later tests use.
check() { # NAME COMMAND...
	local name=$1 output
	output=$(mktemp "${TMPDIR:-/tmp}/altpttop-tap.XXXXXX")
	shift
	if "$@" >"$output" 2>&1; then
		ok "$name"
	else
		not_ok "$name" "$(cat "$output")"
	fi
	rm -f "$output"
}

done_testing() {
	echo "1..$tap_count"
	[ "$tap_failed" = 0 ]
}
