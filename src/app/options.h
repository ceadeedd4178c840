/*
 * options: the command line and the config file, turned into one plain structure.
 *
 * One table of option_desc says everything there is to know of an option; parsing, --help, the
 * completions, the config file and a test of the man page all read it. Single-threaded: used before
 * any thread starts. Borrowed texts point into argv or into memory that lives as long as the
 * process.
 */
#ifndef ALTPTTOP_OPTIONS_H
#define ALTPTTOP_OPTIONS_H

#include <stdio.h>

#include "answer.h"
#include "base/arena.h"
#include "engine.h"
#include "err.h"
#include "source.h"
#include "trace/analyser.h"

#define RATE_DEFAULT_HZ 997
#define RATE_WARN_HZ    4000
#define RATE_MAX_HZ     10000
#define RATE_AUTO_HZ    100 /* where rate control starts */
#define TRIGGERS_MAX    8

enum action {
	ACTION_WATCH, /* a live target or a recording */
	ACTION_HELP,
	ACTION_VERSION,
	ACTION_DOCTOR,
	ACTION_LIST_EVENTS,
	ACTION_LIST_SETS,
	ACTION_COMPLETION,
	ACTION_DEMO, /* be the bundled workload */
};

enum sampler_choice { SAMPLER_AUTO, SAMPLER_PERF, SAMPLER_TIMER };
enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* How -F was given: a number is judged by rate_apply (rate.h). */
enum rate_kind { RATE_DEFAULT, RATE_NUMBER, RATE_LIMIT, RATE_CONTROL };

struct options {
	char **argv;    /* the whole command line, NULL-terminated; for reports */
	uint64_t given; /* bit by place in option_table: on the command line */
	enum action action;
	const char *action_arg; /* --list-events GLOB, --print-completion SHELL */

	struct target target; /* arrays owned here; see options_fini */
	bool demo;
	const char *user; /* -u as typed; resolved into target by target_check */

	struct source_config source;
	enum rate_kind rate_kind;
	uint64_t rate_asked; /* RATE_NUMBER: as typed, unjudged */
	int sampler;         /* enum sampler_choice */
	int clock;           /* 0 cpu, 1 wall */

	bool no_inline, tail_calls;
	uint32_t sort;          /* enum column_id */
	const char *sort_event; /* -s EVENT, NULL none */
	double percent_limit;   /* per cent; negative: not given */
	uint64_t interval_ns;   /* -d */

	bool batch;
	uint64_t duration_ns; /* 0: not given */
	uint64_t intervals;   /* -n, 0: not given */
	uint64_t delay_ns, tail_ns;
	const char *output;
	int format; /* enum snapshot_format */

	int color; /* enum color_choice */
	bool ascii, no_mouse;

	struct analyser_options analysis;
	int pattern; /* enum pattern, as --pattern fills it */
	const char *triggers[TRIGGERS_MAX];
	uint32_t ntriggers;
	uint64_t trigger_before_ns, trigger_after_ns;
	uint64_t trigger_files; /* at most so many are written */

	/* From the config file only. */
	const char **keys; /* "action=key", NULL-terminated; NULL none */
	size_t nkeys;
	const char *path_from, *path_to;
	struct arena texts; /* what the config file said */
};

enum option_group {
	OPTIONS_TARGET,
	OPTIONS_SAMPLING,
	OPTIONS_VIEW,
	OPTIONS_BATCH,
	OPTIONS_TRIGGERS,
	OPTIONS_ANALYSIS,
	OPTIONS_OTHER,
	OPTION_GROUPS
};

enum option_flag {
	OPTION_CONFIG = 1 << 0,   /* may stand in the config file */
	OPTION_OPTIONAL = 1 << 1, /* its argument may be left out */
	OPTION_HIDDEN = 1 << 2,   /* not in --help, the man page and the completions */
};

struct option_desc {
	const char *name; /* without dashes; NULL: only a letter */
	char letter;      /* 0: only a name */
	const char *arg;  /* placeholder of its argument, NULL: takes none */
	const char *help; /* one line of --help */
	enum option_group group;
	uint32_t flags;      /* enum option_flag */
	const char *choices; /* "auto|perf|timer": the only values there are; NULL any */
	size_t where;        /* offset in struct options of what the generic setters fill */
	int (*set)(struct options *o, const struct option_desc *d, const char *value,
		   struct err *err);
};

extern const struct option_desc option_table[];
extern const size_t option_count;
const struct option_desc *option_by_letter(char letter);
/* By whole name, or by a beginning that fits only one. NULL: none, or *ret_several says more than
 * one. */
const struct option_desc *option_by_name(const char *name, size_t len, bool *ret_several);
/* What a person calls it: "-F" or "--sampler". Static per call site: @buf is filled and returned.
 */
const char *option_title(const struct option_desc *d, char buf[40]);

void options_init(struct options *o); /* defaults */
void options_fini(struct options *o);

/* The command line. -EINVAL with one sentence: a usage error. */
int options_parse(struct options *o, int argc, char **argv, struct err *err);
/* Rules between options, after the command line and the config file: what only the file says and
 * the command line rules out is dropped, the rest is refused. */
int options_check(struct options *o, struct err *err);
/* One option by name as the config file gives it, after the command line, which wins: what that has
 * given, or its opposite, is judged here and not taken. */
int options_set(struct options *o, const char *name, const char *value, struct err *err);

bool options_batch(const struct options *o, bool stdout_is_terminal);
/* How long to watch: from --duration, or -n × -d; 0: no end given. */
uint64_t options_duration_ns(const struct options *o);
uint32_t options_query_flags(const struct options *o);  /* enum query_flag of what is asked first */
const char *format_suffix(enum snapshot_format format); /* ".pb.gz" */
/* --format, else by the suffix of @path; FORMAT_AUTO: neither tells. */
enum snapshot_format options_format(int format, const char *path);

void options_help(FILE *out);
void options_completion_bash(FILE *out);
void options_completion_zsh(FILE *out);

/* Setters of the table (option_set.c). */
#define OPTION_SETTER(name) \
	int name(struct options *o, const struct option_desc *d, const char *value, struct err *err)
OPTION_SETTER(set_source_path);
OPTION_SETTER(set_flag);     /* bool */
OPTION_SETTER(set_text);     /* const char * */
OPTION_SETTER(set_choice);   /* int: index in d->choices */
OPTION_SETTER(set_duration); /* uint64_t nanoseconds, above 0 */
OPTION_SETTER(set_wait);     /* uint64_t nanoseconds, 0 allowed */
OPTION_SETTER(set_interval);
OPTION_SETTER(set_count); /* uint64_t, above 0 */
OPTION_SETTER(set_percent);
OPTION_SETTER(set_ghz);
OPTION_SETTER(set_action); /* enum action: its index in d->where */
OPTION_SETTER(set_pids);
OPTION_SETTER(set_tids);
OPTION_SETTER(set_all);
OPTION_SETTER(set_cpus);
OPTION_SETTER(set_cgroup);
OPTION_SETTER(set_user);
OPTION_SETTER(set_file);
OPTION_SETTER(set_events);
OPTION_SETTER(set_rate);
OPTION_SETTER(set_period);
OPTION_SETTER(set_call_graph);
OPTION_SETTER(set_call_graph_auto);
OPTION_SETTER(set_no_kernel);
OPTION_SETTER(set_no_user);
OPTION_SETTER(set_max_stack);
OPTION_SETTER(set_sort);
OPTION_SETTER(set_trigger);
OPTION_SETTER(set_trigger_span);

#endif
