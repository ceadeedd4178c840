# bash completion of altpttop, made from its option table
_altpttop()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			COMPREPLY=($(compgen -c -- "$cur"))
			return
		fi
	done
	case $prev in
	-p|--pid) COMPREPLY=($(compgen -W "$(ps -eo pid=)" -- "$cur")); return ;;
	-t|--tid) COMPREPLY=(); return ;;
	-C|--cpu) COMPREPLY=(); return ;;
	-G|--cgroup) COMPREPLY=(); return ;;
	-u|--uid) COMPREPLY=($(compgen -u -- "$cur")); return ;;
	-i|--input) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	-e|--event) COMPREPLY=(); return ;;
	-E|--event-set) COMPREPLY=(); return ;;
	-F|--freq) COMPREPLY=(); return ;;
	-c|--count) COMPREPLY=(); return ;;
	--call-graph) COMPREPLY=(); return ;;
	--sampler) COMPREPLY=($(compgen -W 'auto perf timer' -- "$cur")); return ;;
	--clock) COMPREPLY=($(compgen -W 'cpu wall' -- "$cur")); return ;;
	--max-stack) COMPREPLY=(); return ;;
	--symfs) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--source-path) COMPREPLY=(); return ;;
	-s|--sort) COMPREPLY=(); return ;;
	--percent-limit) COMPREPLY=(); return ;;
	-d|--interval) COMPREPLY=(); return ;;
	--color) COMPREPLY=($(compgen -W 'auto always never' -- "$cur")); return ;;
	--duration) COMPREPLY=(); return ;;
	-n|--iterations) COMPREPLY=(); return ;;
	--delay) COMPREPLY=(); return ;;
	--tail) COMPREPLY=(); return ;;
	-o|--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--format) COMPREPLY=($(compgen -W 'auto pprof folded chrome csv text' -- "$cur")); return ;;
	--pattern) COMPREPLY=($(compgen -W 'auto duration cache edge' -- "$cur")); return ;;
	--filter) COMPREPLY=(); return ;;
	--function) COMPREPLY=(); return ;;
	--ghz) COMPREPLY=(); return ;;
	--maps) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--chrometracing) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--ipc-trending) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--trigger) COMPREPLY=(); return ;;
	--trigger-span) COMPREPLY=(); return ;;
	--trigger-files) COMPREPLY=(); return ;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W '-p --pid -t --tid -a --all-cpus -C --cpu -G --cgroup -u --uid -i --input --demo -e --event -E --event-set -F --freq -c --count --call-graph -g --sampler --clock -K --hide-kernel -U --hide-user --max-stack --symfs --source-path --no-inline --tail-calls -s --sort --percent-limit -d --interval --color --ascii --no-mouse -b --batch --duration -n --iterations --delay --tail -o --output --format --pattern --leaf --leaf-parent --filter --function --ghz --maps --chrometracing --ipc-trending --trigger --trigger-span --trigger-files --list-events --list-sets --doctor -h --help -V --version ' -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
complete -F _altpttop altpttop
