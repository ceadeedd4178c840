/*
 * facts_help: what each word of the header means, and what to do about each kind of loss and each
 * reason of a cut stack. Any thread, no state.
 */
#include "facts.h"

static const struct fact_word words[] = {
	{"CPU", "CPU time by elapsed time, above 100 % where several CPUs are used"},
	{"997/997 Hz", "samples that came of those asked for, a CPU second"},
	{"+N unwatched", "threads that exist and could not be watched: see Doctor, open files"},
	{"lost", "samples that are missing from the profile, of all the kinds below together"},
	{"throttled", "times the kernel held events back because sampling took too long: lower the "
		      "rate (F)"},
	{"EINTR", "system calls of the target that failed because its thread was stopped: "
		  "--sampler perf stops none"},
	{"gap", "time in which nothing was sampled because events were exchanged (e)"},
	{"cut", "stacks whose callers are not all known: they hang under [truncated]"},
	{"stitched",
	 "stacks that were cut and completed from the same thread's past or its memory"},
	{"no-sym", "samples in code without symbols: install its debug files, or set "
		   "DEBUGINFOD_URLS"},
	{"fetch", "a debug file on its way"},
	{"damaged", "places in program and debug files that make no sense and are left out"},
	{"unsampled", "CPU time that no sample covered, as of threads that live for a moment: a "
		      "higher rate covers more"},
	{"own", "CPU use of altpttop itself"},
	{"costs", "how much slower sampling makes the target, estimated"},
	{"stop", "how long the timer sampler stops a thread, median"},
	{"memory", "what altpttop itself takes"},
};

const struct fact_word *facts_words(int *ret_n)
{
	*ret_n = (int)(sizeof words / sizeof *words);
	return words;
}

const char *facts_loss_help(enum loss_kind kind)
{
	static const char *const help[LOSS_KINDS] = {
		[LOSS_RING] =
			"fewer at a lower rate (F), --call-graph fp, with more memory (Doctor)",
		[LOSS_THROTTLED] = "a lower rate (F) is not held back",
		[LOSS_QUEUE] = "altpttop got too little CPU time: lower the rate (F)",
		[LOSS_ORDER] = "the machine is too busy: lower the rate (F)",
		[LOSS_BAD_RECORD] = "they make no sense and are left out",
		[LOSS_TORN] = "the thread moved while it was read: left out, others stand for it",
		[LOSS_MISSED] = "it got no CPU in time: lower the rate (F), or see to an idle CPU",
		[LOSS_EINTR] = "they failed in the target: --sampler perf stops no thread",
		[LOSS_RESTARTED] = "the target does not notice",
		[LOSS_UNKNOWN_ID] = "nothing tells which event they are of: left out",
		[LOSS_GAP] = "an event set begins with its next sample",
		[LOSS_MEMORY] = "totals of functions may lack so many: end other programs first",
	};

	return (unsigned)kind < LOSS_KINDS && help[kind] ? help[kind] : "";
}

const char *facts_cut_help(enum cut_reason reason)
{
	static const char *const help[CUT_REASONS] = {
		[CUT_DUMP_END] = "--call-graph dwarf,65528 copies more",
		[CUT_NO_CFI] = "its code has no unwind tables",
		[CUT_NO_MODULE] = "generated code, or a file that is gone",
		[CUT_BAD_CFA] = "the unwind tables do not fit what is on the stack",
		[CUT_LOOP] = "deeper than can be kept",
		[CUT_NO_REGS] = "nothing to begin from was recorded",
		[CUT_FP_CHAIN] = "code without frame pointers: --call-graph dwarf needs none",
		[CUT_LIMIT] = "--max-stack keeps more",
		[CUT_LBR] = "--call-graph dwarf sees the rest",
		[CUT_NO_ROOT] = "record with --call-graph dwarf",
	};

	return (unsigned)reason < CUT_REASONS && help[reason] ? help[reason] : "";
}
