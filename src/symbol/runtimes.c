/*
 * runtimes: what to type so that a runtime tells names for the code it generates.
 *
 * Known by a program file that is mapped. One row a runtime; the switches are those of its manual.
 */
#include <stdio.h>
#include <string.h>

#include "resolve.h"

static const struct runtime {
	const char *module;         /* begins the file's name */
	const char *before, *after; /* the process's number */
} runtimes[] = {
	{"libjvm.so", "Java: `jcmd ",
	 " Compiler.perfmap` tells names (JDK 17), -XX:+PreserveFramePointer whole stacks"},
	{"libcoreclr.so", ".NET: start process ", " with DOTNET_PerfMapEnabled=1"},
	{"libjulia", "Julia: start process ", " with ENABLE_JITPROFILING=1"},
	{"beam.smp", "Erlang: start process ", " with +JPperf true"},
	{"node", "Node.js: start process ", " with --perf-basic-prof"},
	{"ruby", "Ruby: start process ", " with --yjit --yjit-perf"},
	{"php", "PHP: start process ", " with opcache.jit_debug=16"},
};

void runtime_advice(const struct tables *t, pid_t pid, char *ret_text, size_t size)
{
	for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++) {
		const struct runtime *r = &runtimes[i];

		for (module_id m = 1; m <= tables_module_count(t); m++) {
			const char *name = tables_text(t, tables_module_get(t, m)->name);

			if (strncmp(name, r->module, strlen(r->module)))
				continue;
			snprintf(ret_text, size, "%s%d%s", r->before, (int)pid, r->after);
			return;
		}
	}
	snprintf(ret_text, size,
		 "generated code without names: let process %d write /tmp/perf-%d.map", (int)pid,
		 (int)pid);
}
