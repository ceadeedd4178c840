# Sourced by tests that need a terminal: one tmux window with a shell in it, on a server of its own.

TMUX_SOCKET=altpttop-$$
tm() {
	tmux -L "$TMUX_SOCKET" -f /dev/null "$@"
}
end_terminal() {
	tm kill-server 2>/dev/null
	end_all
}
trap end_terminal EXIT

# open_terminal COLUMNS LINES: a shell that prompts "ready> "; its settings are remembered.
open_terminal() {
	tm kill-server 2>/dev/null
	# The environment of the session: UTF-8, no person's settings.
	echo "PS1='ready> '; HISTFILE=" >"$dir/rc"
	env -u TMUX LC_ALL=C.UTF-8 XDG_CONFIG_HOME="$dir" XDG_STATE_HOME="$dir" \
		tmux -L "$TMUX_SOCKET" -f /dev/null new-session -d -x "$1" -y "$2" \
		"exec bash --noprofile --rcfile $dir/rc" || return 1
	tm set-option -g window-size manual >/dev/null 2>&1
	tm resize-window -x "$1" -y "$2"
	await 5 shows '^ready>' || return 1
	type_line "stty -g >$dir/stty.before"
	await 5 test -s "$dir/stty.before"
}

screen() {
	tm capture-pane -p
}

shows() { # EXTENDED-REGULAR-EXPRESSION
	screen | grep -qE -- "$1"
}

await_screen() { # SECONDS PATTERN: shows the screen when it never comes
	await "$1" shows "$2" && return 0
	echo "the screen never showed: $2"
	screen
	return 1
}

keys() {
	tm send-keys "$@"
}

type_line() {
	tm send-keys -l -- "$1"
	tm send-keys Enter
}

# run_in_terminal COMMAND: then await the prompt again with `back_at_prompt`, which also checks its status.
run_in_terminal() {
	tm send-keys -l -- "clear; $1; echo status=\$?="
	tm send-keys Enter
}

back_at_prompt() { # EXPECTED-STATUS-PATTERN
	await_screen 5 "^status=($1)=" || return 1
	restored
}

# Main screen, visible cursor, no mouse reporting, line settings as before.
restored() {
	local state
	state=$(tm display-message -p '#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag}')
	[ "$state" = "0 1 0 0" ] || { echo "terminal left as: alternate cursor mouse keypad = $state"; return 1; }
	rm -f "$dir/stty.after"
	type_line "stty -g >$dir/stty.after"
	await 5 test -s "$dir/stty.after"
	cmp "$dir/stty.before" "$dir/stty.after"
}

# The profiler that runs in the terminal.
profiler() {
	pgrep -P "$(tm display-message -p '#{pane_pid}')" -x altpttop
}
