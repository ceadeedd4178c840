#!/bin/bash
# Who may include whom (doc/ARCHITECTURE.md), and which room may use which library.
cd "$(dirname "$0")/../.." && . tests/tap.sh

sources() { find include src ui -name '*.[ch]' | sort; }

# Prints each project include that crosses the layers the wrong way.
layers() {
	local wrong
	wrong=$(sources | xargs grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' | awk -F: '
	function layer(room) { return room in at ? at[room] : -1 }
	# The room of a file: include, ui, base, proc, …; src/main.c is app.
	function room_of(path,  part, n) {
		n = split(path, part, "/")
		if (part[1] == "src") return n == 2 ? "app" : part[2]
		return part[1]
	}
	function exists(path) { return (getline line < path) >= 0 ? (close(path), 1) : 0 }
	BEGIN {
		split("include:0 base:1 proc:2 module:2 event:2 codec:2 sample:3 unwind:3 symbol:3 " \
		      "import:3 trace:3 profile:3 insight:3 engine:4 view:4 export:4 ui:5 app:6 agent:7",
		      all, " ")
		for (i in all) { split(all[i], pair, ":"); at[pair[1]] = pair[2] }
	}
	{
		file = $1; from = room_of(file); text = $0
		match(text, /"[^"]*"/); name = substr(text, RSTART + 1, RLENGTH - 2)
		dir = file; sub(/\/[^\/]*$/, "", dir)
		if (name ~ /\.pb-c\.h$/) next
		if (exists(dir "/" name)) to = from
		else if (exists("include/" name)) to = "include"
		else if (exists("src/" name)) to = room_of("src/" name)
		else if (exists(name)) to = room_of(name)
		else { print file ":" $2 ": " name ": no such header"; next }
		if (layer(from) < 0) { print file ": a room without a layer"; next }
		if (to == from || to == "include") next
		if (from == "ui" && to != "view" && to != "base")
			print file ":" $2 ": ui may see view, base and include, not " to
		else if (from == "agent")
			print file ":" $2 ": the agent stands alone, not with " to
		else if (layer(to) >= layer(from))
			print file ":" $2 ": " from " (layer " layer(from) ") may not include " to \
				" (layer " layer(to) ")"
	}')
	[ -z "$wrong" ] || { echo "$wrong"; return 1; }
}

# usage: only HEADER-PATTERN FILE-PATTERN: those system headers in those files alone.
only() {
	local wrong
	wrong=$(sources | xargs grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*<($1)>" |
		grep -vE "^($2)") || true
	[ -z "$wrong" ] || { echo "$wrong"; return 1; }
}

# Only main.c and app/ print or exit (the child of --demo and a forked child are in app/ too).
quiet() {
	local wrong
	wrong=$(find src ui -name '*.c' ! -path 'src/app/*' ! -path src/main.c ! -path 'src/agent/*' |
		grep -v '^src/symbol/dlang.c$' | # stands in for libiberty's xrealloc, which may not fail
		xargs grep -nE '(^|[^_[:alnum:].>])(printf|puts|putchar|vprintf|perror|exit|abort|err|errx|warn|warnx) ?\(|std(out|err)[,)]' |
		grep -vE ':[[:space:]]*(\*|/\*|//)') || true
	[ -z "$wrong" ] || { echo "$wrong"; return 1; }
}

check "each layer includes only the layers below" layers
check "ncurses stays in ui/term.c and ui/canvas.c" only 'ncurses.*|curses\.h|term\.h|ncursesw/.*' 'ui/(term|canvas)\.c'
check "libunwind stays in unwind/" only 'libunwind.*' 'src/unwind/'
check "libelf stays in module/ and symbol/" only 'libelf\.h|gelf\.h|libelf/.*' 'src/(module|symbol)/'
check "libdw stays in symbol/" only 'elfutils/.*' 'src/symbol/'
check "libpfm4 stays in event/" only 'perfmon/.*' 'src/event/'
check "capstone stays in symbol/disasm.c" only 'capstone.*' 'src/symbol/disasm\.c'
check "perf_event.h stays in event/, sample/, codec/" only 'linux/perf_event\.h' 'src/(event|sample|codec)/'
check "protobuf-c stays in codec/ and export/" only 'protobuf-c.*' 'src/(codec|export)/'
check "yajl stays in codec/ and import/" only 'yajl.*' 'src/(codec|import)/'
check "inih stays in app/" only 'ini\.h' 'src/app/'
check "only main.c and app/ print or exit" quiet
done_testing
