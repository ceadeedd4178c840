/*
 * option_help: the texts that are made from the option table: --help, completions, formats.
 *
 * Main thread only. The man page is written by hand; a test compares it with the table.
 */
#include <string.h>

#include "options.h"

static const char *const group_titles[OPTION_GROUPS] = {
	[OPTIONS_TARGET] = "What to watch",
	[OPTIONS_SAMPLING] = "How to sample",
	[OPTIONS_VIEW] = "What to show",
	[OPTIONS_BATCH] = "Batch and files",
	[OPTIONS_TRIGGERS] = "Waiting for a moment",
	[OPTIONS_ANALYSIS] = "Analysis of traces",
	[OPTIONS_OTHER] = "Other",
};

static bool shown(const struct option_desc *d)
{
	return !(d->flags & OPTION_HIDDEN);
}

static void help_line(FILE *out, const struct option_desc *d)
{
	char left[64];
	int n = 0;

	if (d->letter && d->name)
		n = snprintf(left, sizeof left, "-%c, --%s", d->letter, d->name);
	else if (d->letter)
		n = snprintf(left, sizeof left, "-%c", d->letter);
	else
		n = snprintf(left, sizeof left, "    --%s", d->name);
	if (d->arg && n < (int)sizeof left)
		snprintf(left + n, sizeof left - (size_t)n,
			 d->flags & OPTION_OPTIONAL ? " [%s]" : " %s", d->arg);
	fprintf(out, "  %-28s %s\n", left, d->help);
}

void options_help(FILE *out)
{
	fputs("altpttop: where a program spends its time, live, in a terminal\n\n"
	      "usage: altpttop [OPTIONS] -p PID[,PID...] | -t TID[,TID...] | FILE\n"
	      "       altpttop [OPTIONS] -a | -C CPUS | -G CGROUP | -u USER\n"
	      "       altpttop [OPTIONS] -- COMMAND [ARG...]\n",
	      out);
	for (int g = 0; g < OPTION_GROUPS; g++) {
		bool titled = false;
		for (size_t i = 0; i < option_count; i++) {
			const struct option_desc *d = &option_table[i];
			if ((int)d->group != g || !shown(d))
				continue;
			if (!titled)
				fprintf(out, "\n%s:\n", group_titles[g]);
			titled = true;
			help_line(out, d);
		}
	}
	fputs("\nExit status: 0 done; 1 failed while running; 2 usage, permission, no such target.\n"
	      "Keys are shown by h inside the program. More: man altpttop\n",
	      out);
}

/* "auto|perf" as words. */
static void print_words(FILE *out, const char *choices)
{
	for (const char *c = choices; *c; c++)
		fputc(*c == '|' ? ' ' : *c, out);
}

static bool takes_file(const struct option_desc *d)
{
	return d->arg && (!strcmp(d->arg, "FILE") || !strcmp(d->arg, "DIR"));
}

void options_completion_bash(FILE *out)
{
	fputs("# bash completion of altpttop, made from its option table\n"
	      "_altpttop()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	      "\t\t\tCOMPREPLY=($(compgen -c -- \"$cur\"))\n\t\t\treturn\n\t\tfi\n"
	      "\tdone\n"
	      "\tcase $prev in\n",
	      out);
	for (size_t i = 0; i < option_count; i++) {
		const struct option_desc *d = &option_table[i];
		if (!shown(d) || !d->arg || d->flags & OPTION_OPTIONAL)
			continue;
		fputc('\t', out);
		if (d->letter)
			fprintf(out, "-%c%s", d->letter, d->name ? "|" : "");
		if (d->name)
			fprintf(out, "--%s", d->name);
		if (d->choices) {
			fputs(") COMPREPLY=($(compgen -W '", out);
			print_words(out, d->choices);
			fputs("' -- \"$cur\")); return ;;\n", out);
		} else if (takes_file(d)) {
			fputs(") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", out);
		} else if (!strncmp(d->arg, "PID", 3)) {
			fputs(") COMPREPLY=($(compgen -W \"$(ps -eo pid=)\" -- \"$cur\")); return "
			      ";;\n",
			      out);
		} else if (!strcmp(d->arg, "USER")) {
			fputs(") COMPREPLY=($(compgen -u -- \"$cur\")); return ;;\n", out);
		} else {
			fputs(") COMPREPLY=(); return ;;\n", out);
		}
	}
	fputs("\tesac\n\tif [[ $cur == -* ]]; then\n\t\tCOMPREPLY=($(compgen -W '", out);
	for (size_t i = 0; i < option_count; i++) {
		const struct option_desc *d = &option_table[i];
		if (!shown(d))
			continue;
		if (d->letter)
			fprintf(out, "-%c ", d->letter);
		if (d->name)
			fprintf(out, "--%s ", d->name);
	}
	fputs("' -- \"$cur\"))\n\telse\n\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n\tfi\n}\n"
	      "complete -F _altpttop altpttop\n",
	      out);
}

static void zsh_text(FILE *out, const char *text)
{
	for (const char *c = text; *c; c++) {
		if (strchr("[]:\\", *c))
			fputc('\\', out);
		if (*c == '\'')
			fputs("'\\'", out);
		fputc(*c, out);
	}
}

static void zsh_line(FILE *out, const struct option_desc *d, const char *dashes)
{
	fprintf(out, "\t'%s%s[", dashes, d->arg && d->name && dashes[1] == '-' ? "=" : "");
	zsh_text(out, d->help);
	fputc(']', out);
	if (d->arg) {
		fputs(d->flags & OPTION_OPTIONAL ? "::" : ":", out);
		zsh_text(out, d->arg);
		fputc(':', out);
		if (d->choices) {
			fputc('(', out);
			print_words(out, d->choices);
			fputc(')', out);
		} else if (takes_file(d)) {
			fputs("_files", out);
		} else if (!strncmp(d->arg, "PID", 3)) {
			fputs("_pids", out);
		} else if (!strcmp(d->arg, "USER")) {
			fputs("_users", out);
		} else {
			fputc(' ', out);
		}
	}
	fputs("' \\\n", out);
}

void options_completion_zsh(FILE *out)
{
	char dashes[40];

	fputs("#compdef altpttop\n# zsh completion of altpttop, made from its option table\n"
	      "_arguments -s -S \\\n",
	      out);
	for (size_t i = 0; i < option_count; i++) {
		const struct option_desc *d = &option_table[i];
		if (!shown(d))
			continue;
		if (d->letter) {
			snprintf(dashes, sizeof dashes, "-%c", d->letter);
			zsh_line(out, d, dashes);
		}
		if (d->name) {
			snprintf(dashes, sizeof dashes, "--%s", d->name);
			zsh_line(out, d, dashes);
		}
	}
	fputs("\t'*::command:_files'\n", out);
}

static const struct {
	const char *suffix;
	enum snapshot_format format;
} suffixes[] = {
	{".pb.gz", FORMAT_PPROF}, {".pprof", FORMAT_PPROF}, {".folded", FORMAT_FOLDED},
	{".json", FORMAT_CHROME}, {".csv", FORMAT_CSV},     {".txt", FORMAT_TEXT},
};

const char *format_suffix(enum snapshot_format format)
{
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (suffixes[i].format == format)
			return suffixes[i].suffix;
	return "";
}

enum snapshot_format options_format(int format, const char *path)
{
	if (format != FORMAT_AUTO)
		return (enum snapshot_format)format;
	size_t len = path ? strlen(path) : 0;
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		size_t n = strlen(suffixes[i].suffix);
		if (len > n && !strcmp(path + len - n, suffixes[i].suffix))
			return suffixes[i].format;
	}
	return FORMAT_AUTO;
}
