/*
 * options: the table of every option, and looking it up.
 *
 * The order here is the order of --help and of the man page. Setters are in option_set.c, the
 * command line in option_parse.c, the texts made from the table in option_help.c. Main thread only.
 */
#include "options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct options, field)

const struct option_desc option_table[] = {
	{"pid", 'p', "PID[,PID...]", "watch these processes and the threads and children they have",
	 OPTIONS_TARGET, 0, NULL, 0, set_pids},
	{"tid", 't', "TID[,TID...]", "watch these threads only", OPTIONS_TARGET, 0, NULL, 0,
	 set_tids},
	{"all-cpus", 'a', NULL, "watch the whole system", OPTIONS_TARGET, 0, NULL, 0, set_all},
	{"cpu", 'C', "CPUS", "watch these CPUs only, as 0,2-3", OPTIONS_TARGET, 0, NULL, 0,
	 set_cpus},
	{"cgroup", 'G', "CGROUP", "watch the processes of a cgroup", OPTIONS_TARGET, 0, NULL, 0,
	 set_cgroup},
	{"uid", 'u', "USER", "watch the processes of a user", OPTIONS_TARGET, 0, NULL, 0, set_user},
	{"input", 'i', "FILE", "read a recording instead; - is standard input", OPTIONS_TARGET, 0,
	 NULL, 0, set_file},
	{"demo", 0, NULL, "start a bundled workload and watch it", OPTIONS_TARGET, 0, NULL,
	 AT(demo), set_flag},

	{"event", 'e', "EVENTS", "what to sample: events by perf's names", OPTIONS_SAMPLING,
	 OPTION_CONFIG, NULL, 0, set_events},
	{"event-set", 'E', "SET", "what to sample: a named event set", OPTIONS_SAMPLING,
	 OPTION_CONFIG, NULL, AT(source.event_set), set_text},
	{"freq", 'F', "HZ", "samples a second and CPU: a number, max or auto; default 997",
	 OPTIONS_SAMPLING, OPTION_CONFIG, NULL, 0, set_rate},
	{"count", 'c', "PERIOD", "one sample every PERIOD events, instead of a rate",
	 OPTIONS_SAMPLING, OPTION_CONFIG, NULL, 0, set_period},
	{"call-graph", 0, "KIND", "how stacks are taken: auto, fp, dwarf[,SIZE], lbr, none",
	 OPTIONS_SAMPLING, OPTION_CONFIG, NULL, 0, set_call_graph},
	{NULL, 'g', NULL, "the same as --call-graph auto", OPTIONS_SAMPLING, 0, NULL, 0,
	 set_call_graph_auto},
	{"sampler", 0, "KIND", "which sampler: auto, perf, timer", OPTIONS_SAMPLING, OPTION_CONFIG,
	 "auto|perf|timer", AT(sampler), set_choice},
	{"clock", 0, "CLOCK", "cpu: time on a CPU; wall: waiting threads are seen too",
	 OPTIONS_SAMPLING, OPTION_CONFIG, "cpu|wall", AT(clock), set_choice},
	{"hide-kernel", 'K', NULL, "leave out kernel code", OPTIONS_SAMPLING, OPTION_CONFIG, NULL,
	 0, set_no_kernel},
	{"hide-user", 'U', NULL, "leave out user code", OPTIONS_SAMPLING, OPTION_CONFIG, NULL, 0,
	 set_no_user},
	{"max-stack", 0, "N", "frames kept of a stack", OPTIONS_SAMPLING, OPTION_CONFIG, NULL, 0,
	 set_max_stack},
	{"symfs", 0, "DIR", "look for program files below DIR", OPTIONS_SAMPLING, OPTION_CONFIG,
	 NULL, AT(source.symfs), set_text},

	{"source-path", 0, "FROM=TO", "sources built below FROM lie below TO here", OPTIONS_VIEW,
	 OPTION_CONFIG, NULL, 0, set_source_path},
	{"no-inline", 0, NULL, "count inlined functions to the function that holds them",
	 OPTIONS_VIEW, OPTION_CONFIG, NULL, AT(no_inline), set_flag},
	{"tail-calls", 0, NULL, "show callers that tail calls left no frame of, as DWARF tells",
	 OPTIONS_VIEW, OPTION_CONFIG, NULL, AT(tail_calls), set_flag},
	{"sort", 's', "KEY", "order by self, total, samples, module, name or an event",
	 OPTIONS_VIEW, OPTION_CONFIG, NULL, 0, set_sort},
	{"percent-limit", 0, "P", "hide rows below P per cent", OPTIONS_VIEW, OPTION_CONFIG, NULL,
	 AT(percent_limit), set_percent},
	{"interval", 'd', "SECONDS", "refresh the screen this often; default 1", OPTIONS_VIEW,
	 OPTION_CONFIG, NULL, AT(interval_ns), set_interval},
	{"color", 0, "WHEN", "auto, always or never", OPTIONS_VIEW, OPTION_CONFIG,
	 "auto|always|never", AT(color), set_choice},
	{"ascii", 0, NULL, "draw with ASCII only", OPTIONS_VIEW, OPTION_CONFIG, NULL, AT(ascii),
	 set_flag},
	{"no-mouse", 0, NULL, "leave the mouse to the terminal", OPTIONS_VIEW, OPTION_CONFIG, NULL,
	 AT(no_mouse), set_flag},

	{"batch", 'b', NULL, "no screen: write one report to standard output and exit",
	 OPTIONS_BATCH, 0, NULL, AT(batch), set_flag},
	{"duration", 0, "SECONDS", "stop after this time; batch without it: 10 s", OPTIONS_BATCH,
	 OPTION_CONFIG, NULL, AT(duration_ns), set_duration},
	{"iterations", 'n', "N", "stop after N refresh intervals", OPTIONS_BATCH, 0, NULL,
	 AT(intervals), set_count},
	{"delay", 0, "SECONDS", "leave out a warm-up at the start", OPTIONS_BATCH, OPTION_CONFIG,
	 NULL, AT(delay_ns), set_wait},
	{"tail", 0, "SECONDS", "leave out a cool-down at the end", OPTIONS_BATCH, OPTION_CONFIG,
	 NULL, AT(tail_ns), set_wait},
	{"output", 'o', "FILE", "write a snapshot at the end; the suffix tells the format",
	 OPTIONS_BATCH, 0, NULL, AT(output), set_text},
	{"format", 0, "FORMAT", "auto (by the suffix), pprof, folded, chrome, csv or text",
	 OPTIONS_BATCH, 0, "auto|pprof|folded|chrome|csv|text", AT(format), set_choice},

	{"pattern", 0, "KIND", "analyse a trace: auto, duration, cache or edge", OPTIONS_ANALYSIS,
	 0, "auto|duration|cache|edge", AT(pattern), set_choice},
	{"leaf", 0, NULL, "duration: only spans without children", OPTIONS_ANALYSIS, 0, NULL,
	 AT(analysis.leaf), set_flag},
	{"leaf-parent", 0, NULL, "duration: only spans all of whose children are leaves",
	 OPTIONS_ANALYSIS, 0, NULL, AT(analysis.leaf_parent), set_flag},
	{"filter", 0, "EXPR", "duration: as count>=10,total>50,avg<200, in nanoseconds",
	 OPTIONS_ANALYSIS, 0, NULL, AT(analysis.filter), set_text},
	{"function", 0, "GLOB", "cache: only functions whose name matches", OPTIONS_ANALYSIS, 0,
	 NULL, AT(analysis.function), set_text},
	{"ghz", 0, "GHZ", "cache: clock rate that cycles are counted by", OPTIONS_ANALYSIS, 0, NULL,
	 AT(analysis.ghz), set_ghz},
	{"maps", 0, "FILE", "edge: a copy of /proc/PID/maps, for source lines", OPTIONS_ANALYSIS, 0,
	 NULL, AT(analysis.maps), set_text},
	{"chrometracing", 0, "FILE", "cache: write the rebuilt stacks as a Chrome trace",
	 OPTIONS_ANALYSIS, 0, NULL, AT(analysis.chrometracing), set_text},
	{"ipc-trending", 0, "FILE", "cache: write where IPC drops along call paths, as CSV",
	 OPTIONS_ANALYSIS, 0, NULL, AT(analysis.ipc_trending), set_text},
	{"trigger", 0, "RULE", "save a snapshot when a rule holds, as 'cpu>150% for 2s'",
	 OPTIONS_TRIGGERS, 0, NULL, 0, set_trigger},
	{"trigger-span", 0, "SECONDS[,SECONDS]",
	 "what it holds: seconds before and after; default 5,5", OPTIONS_TRIGGERS, OPTION_CONFIG,
	 NULL, 0, set_trigger_span},
	{"trigger-files", 0, "N", "write at most N of them; default 20", OPTIONS_TRIGGERS,
	 OPTION_CONFIG, NULL, AT(trigger_files), set_count},

	{"list-events", 0, "GLOB", "list the events that can be sampled here", OPTIONS_OTHER,
	 OPTION_OPTIONAL, NULL, ACTION_LIST_EVENTS, set_action},
	{"list-sets", 0, NULL, "list the event sets", OPTIONS_OTHER, 0, NULL, ACTION_LIST_SETS,
	 set_action},
	{"doctor", 0, NULL, "say what works here, what does not, why, and what to type",
	 OPTIONS_OTHER, 0, NULL, ACTION_DOCTOR, set_action},
	{"print-completion", 0, "SHELL", "print the completion script of bash or zsh",
	 OPTIONS_OTHER, OPTION_HIDDEN, "bash|zsh", ACTION_COMPLETION, set_action},
	{"run-demo", 0, NULL, "be the bundled workload", OPTIONS_OTHER, OPTION_HIDDEN, NULL,
	 ACTION_DEMO, set_action},
	{"help", 'h', NULL, "print this text", OPTIONS_OTHER, 0, NULL, ACTION_HELP, set_action},
	{"version", 'V', NULL, "print the version", OPTIONS_OTHER, 0, NULL, ACTION_VERSION,
	 set_action},
};
const size_t option_count = sizeof option_table / sizeof *option_table;
_Static_assert(sizeof option_table / sizeof *option_table <= 64, "a bit each in options.given");

const struct option_desc *option_by_letter(char letter)
{
	for (size_t i = 0; i < option_count; i++)
		if (option_table[i].letter == letter && letter)
			return &option_table[i];
	return NULL;
}

const struct option_desc *option_by_name(const char *name, size_t len, bool *ret_several)
{
	const struct option_desc *found = NULL;
	unsigned fits = 0;

	*ret_several = false;
	for (size_t i = 0; i < option_count; i++) {
		const struct option_desc *d = &option_table[i];
		if (!d->name || strncmp(d->name, name, len))
			continue;
		if (!d->name[len])
			return d;
		found = d;
		fits++;
	}
	*ret_several = fits > 1;
	return fits == 1 && len ? found : NULL;
}

const char *option_title(const struct option_desc *d, char buf[40])
{
	if (d->letter && d->letter != 'h' && d->letter != 'V')
		snprintf(buf, 40, "-%c", d->letter);
	else
		snprintf(buf, 40, "--%s", d->name);
	return buf;
}

void options_init(struct options *o)
{
	memset(o, 0, sizeof *o);
	o->source.rate_hz = RATE_DEFAULT_HZ;
	o->interval_ns = 1000000000;
	o->percent_limit = -1;
	o->trigger_before_ns = o->trigger_after_ns = 5000000000;
	o->trigger_files = 20;
	arena_init(&o->texts);
}

void options_fini(struct options *o)
{
	free(o->target.pids);
	free(o->target.tids);
	free((void *)o->source.events);
	free(o->keys);
	arena_fini(&o->texts);
	memset(o, 0, sizeof *o);
}

bool options_batch(const struct options *o, bool stdout_is_terminal)
{
	return o->batch || !stdout_is_terminal;
}

uint64_t options_duration_ns(const struct options *o)
{
	if (o->duration_ns)
		return o->duration_ns;
	if (o->intervals > UINT64_MAX / 4 / o->interval_ns)
		return UINT64_MAX / 4;
	return o->intervals * o->interval_ns;
}

uint32_t options_query_flags(const struct options *o)
{
	return (o->source.no_kernel ? QUERY_NO_KERNEL : 0) |
	       (o->source.no_user ? QUERY_NO_USER : 0) | (o->no_inline ? QUERY_FOLD_INLINE : 0) |
	       (o->tail_calls ? QUERY_TAIL_CALLS : 0);
}
