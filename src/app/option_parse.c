/*
 * option_parse: from argv to struct options, and the rules between options.
 *
 * Options may stand before and after FILE; `--` ends them and starts a COMMAND. Long names may be
 * shortened while they stay unambiguous, as perf allows. Nothing is printed here: a usage error is
 * one sentence in struct err. Main thread only.
 */
#include <errno.h>
#include <string.h>

#include "options.h"

#define TOLD_MAX 60

struct cursor {
	int argc, at;
	char **argv;
};

static uint64_t bit_of(const struct option_desc *d)
{
	return (uint64_t)1 << (d - option_table);
}

/* By its whole name, or its letter where it has none. */
static const struct option_desc *known_option(const char *name)
{
	bool several;

	return name[1] ? option_by_name(name, strlen(name), &several) : option_by_letter(*name);
}

/* On the command line? */
static bool is_given(const struct options *o, const char *name)
{
	return o->given & bit_of(known_option(name));
}

/* The argument of @d: what is glued to it, or the next word. */
static int take_value(struct cursor *c, const struct option_desc *d, const char *glued,
		      const char **ret_value, struct err *err)
{
	char title[40];

	if (!d->arg) {
		if (glued)
			return err_set(err, EINVAL, "--%s takes no argument", d->name);
		*ret_value = NULL;
		return 0;
	}
	if (glued) {
		*ret_value = glued;
		return 0;
	}
	bool word = c->at < c->argc;
	if (d->flags & OPTION_OPTIONAL) {
		bool plain = word && c->argv[c->at][0] != '-';
		*ret_value = plain ? c->argv[c->at++] : NULL;
		return 0;
	}
	/* A word that starts another option is not an argument; "-" (standard input) is, and a
	 * negative number, which the option itself refuses. */
	if (!word || (c->argv[c->at][0] == '-' && c->argv[c->at][1] &&
		      !(c->argv[c->at][1] >= '0' && c->argv[c->at][1] <= '9')))
		return err_set(err, EINVAL, "%s needs an argument: %s", option_title(d, title),
			       d->arg);
	*ret_value = c->argv[c->at++];
	return 0;
}

static int parse_long(struct options *o, struct cursor *c, const char *word, struct err *err)
{
	const char *equal = strchr(word, '=');
	size_t len = equal ? (size_t)(equal - word) : strlen(word);
	bool several;
	const struct option_desc *d = option_by_name(word, len, &several);
	const char *value;

	if (several)
		return err_set(err, EINVAL,
			       "--%.*s fits several options: write it out (see --help)", (int)len,
			       word);
	if (!d)
		return err_set(err, EINVAL, "--%.*s is no option (see --help)",
			       len < TOLD_MAX ? (int)len : TOLD_MAX, word);
	int rc = take_value(c, d, equal ? equal + 1 : NULL, &value, err);
	o->given |= bit_of(d);
	return rc ? rc : d->set(o, d, value, err);
}

static int parse_letters(struct options *o, struct cursor *c, const char *word, struct err *err)
{
	for (const char *p = word; *p; p++) {
		const struct option_desc *d = option_by_letter(*p);
		const char *value;

		if (!d)
			return err_set(err, EINVAL, "-%c is no option (see --help)", *p);
		const char *glued = d->arg && p[1] ? p + 1 : NULL;
		int rc = take_value(c, d, glued, &value, err);
		o->given |= bit_of(d);
		if (!rc)
			rc = d->set(o, d, value, err);
		if (rc || glued)
			return rc;
	}
	return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct err *err)
{
	static const struct option_desc bare = {.name = "input", .letter = 'i', .set = set_file};
	struct cursor c = {.argc = argc, .at = 1, .argv = argv};

	o->argv = argv;
	while (c.at < argc) {
		const char *word = argv[c.at++];
		int rc;

		if (!strcmp(word, "--")) {
			if (c.at == argc)
				return err_set(err, EINVAL, "-- needs a COMMAND after it");
			o->target.argv = argv + c.at;
			break;
		}
		if (word[0] == '-' && word[1] == '-')
			rc = parse_long(o, &c, word + 2, err);
		else if (word[0] == '-' && word[1])
			rc = parse_letters(o, &c, word + 1, err);
		else
			rc = set_file(o, &bare, word, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Two options of which the one leaves no room for the other. */
static const char *const rivals[][2] = {{"freq", "count"},
					{"event", "event-set"},
					{"duration", "iterations"},
					{"hide-kernel", "hide-user"},
					{"call-graph", "g"}};

/* By the command line: it or its rival was given. */
static bool is_ruled_out(const struct options *o, const struct option_desc *d)
{
	for (size_t i = 0; i < sizeof rivals / sizeof *rivals; i++)
		for (int k = 0; k < 2; k++)
			if (!strcmp(d->name, rivals[i][k]) && is_given(o, rivals[i][!k]))
				return true;
	return o->given & bit_of(d);
}

int options_set(struct options *o, const char *name, const char *value, struct err *err)
{
	static const char *const yes[] = {"yes", "true", "on", "1"};
	static const char *const no[] = {"no", "false", "off", "0"};
	struct options unused __attribute__((cleanup(options_fini)));
	bool several;
	const struct option_desc *d = option_by_name(name, strlen(name), &several);

	options_init(&unused);
	if (!d || strcmp(d->name, name))
		return err_set(err, EINVAL, "%s is no option", name);
	if (!(d->flags & OPTION_CONFIG))
		return err_set(err, EINVAL, "%s may stand on the command line only", name);
	if (is_ruled_out(o, d))
		o = &unused;
	if (d->arg)
		return d->set(o, d, value, err);
	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
		if (!strcmp(value, yes[i]))
			return d->set(o, d, NULL, err);
		if (!strcmp(value, no[i]))
			return 0;
	}
	return err_set(err, EINVAL, "%s = %s: must be yes or no", name, value);
}

/* What was asked to be watched, in words; how many different things. */
static unsigned count_targets(const struct options *o, const char *ret_names[2])
{
	const struct {
		bool given;
		const char *name;
	} kinds[] = {{o->target.npids > 0, "-p"},    {o->target.ntids > 0, "-t"},
		     {o->target.all, "-a"},          {o->target.cgroup, "-G"},
		     {o->target.by_user, "-u"},      {o->target.file, "a recording"},
		     {o->target.argv, "-- COMMAND"}, {o->demo, "--demo"}};
	unsigned n = 0;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (!kinds[i].given)
			continue;
		if (n < 2)
			ret_names[n] = kinds[i].name;
		n++;
	}
	return n;
}

static int check_times(const struct options *o, struct err *err)
{
	if (o->duration_ns && o->intervals)
		return err_set(err, EINVAL, "--duration and -n both say when to stop: give one");
	uint64_t duration = options_duration_ns(o);
	if (duration && o->delay_ns + o->tail_ns >= duration)
		return err_set(err, EINVAL, "--delay and --tail leave nothing of a run of %g s",
			       (double)duration / 1e9);
	return 0;
}

/* Is it one of the events of -e, alone or in a list or a group? */
static bool is_sampled(const struct options *o, const char *event)
{
	size_t len = strlen(event);

	for (uint32_t i = 0; i < o->source.nevents; i++) {
		const char *p = o->source.events[i];
		while (*p) {
			size_t n = strcspn(p, ",{}");
			if (n == len && !memcmp(p, event, n))
				return true;
			p += n + (p[n] != '\0');
		}
	}
	return false;
}

/* -s EVENT: of a recording and of an event set it is not known yet which events there are. */
static bool is_sort_unknown(const struct options *o)
{
	return o->sort_event && !o->target.file && !o->source.event_set &&
	       !is_sampled(o, o->sort_event);
}

/* Options of trace analyses: each of one, PATTERN_AUTO of all. */
static int check_analysis(const struct options *o, struct err *err)
{
	const struct analyser_options *a = &o->analysis;
	const struct {
		bool given;
		enum pattern pattern;
		const char *name;
	} wishes[] = {{o->pattern != PATTERN_AUTO, PATTERN_AUTO, "pattern"},
		      {a->leaf, PATTERN_DURATION, "leaf"},
		      {a->leaf_parent, PATTERN_DURATION, "leaf-parent"},
		      {a->filter, PATTERN_DURATION, "filter"},
		      {a->function, PATTERN_CACHE, "function"},
		      {a->ghz > 0, PATTERN_CACHE, "ghz"},
		      {a->maps, PATTERN_EDGE, "maps"},
		      {a->chrometracing, PATTERN_CACHE, "chrometracing"},
		      {a->ipc_trending, PATTERN_CACHE, "ipc-trending"}};
	const char *const kinds[] = {[PATTERN_DURATION] = "duration",
				     [PATTERN_CACHE] = "cache",
				     [PATTERN_EDGE] = "edge"};

	for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
		enum pattern of = wishes[i].pattern;

		if (!wishes[i].given)
			continue;
		if (!o->target.file)
			return err_set(err, EINVAL, "--%s analyses a recording: give a FILE",
				       wishes[i].name);
		if (of != PATTERN_AUTO && o->pattern != PATTERN_AUTO && o->pattern != (int)of)
			return err_set(err, EINVAL, "--%s is of --pattern %s, not of %s",
				       wishes[i].name, kinds[of], kinds[o->pattern]);
	}
	return 0;
}

/* Each output is a file of its own. */
static int check_outputs(const struct options *o, struct err *err)
{
	const struct {
		const char *name, *path;
	} files[] = {{"-o", o->output},
		     {"--chrometracing", o->analysis.chrometracing},
		     {"--ipc-trending", o->analysis.ipc_trending}};

	for (int i = 0; i < 3; i++) {
		if (files[i].path && !strcmp(files[i].path, "-"))
			return err_set(err, EINVAL, "%s -: %s", files[i].name,
				       i ? "it is written to a file: name one"
					 : "the report goes to standard output by itself: "
					   "--format without -o says in which format");
		for (int k = 0; k < i; k++)
			if (files[i].path && files[k].path && !strcmp(files[i].path, files[k].path))
				return err_set(err, EINVAL, "%s and %s name the same file: %.200s",
					       files[k].name, files[i].name, files[i].path);
	}
	return 0;
}

/* How to sample: nothing of it can be chosen of a recording. */
static const char *const of_sampling[] = {"event", "event-set",  "freq",    "count", "g",
					  "cpu",   "call-graph", "sampler", "delay", "tail"};

static int check_recording(const struct options *o, struct err *err)
{
	char title[40];

	for (size_t i = 0; i < sizeof of_sampling / sizeof *of_sampling; i++)
		if (is_given(o, of_sampling[i]))
			return err_set(err, EINVAL,
				       "%s says how to sample, and a recording is made already%s",
				       option_title(known_option(of_sampling[i]), title),
				       i ? "" : ": -s EVENT chooses one of its events");
	return 0;
}

/* What only the config file says gives way to the command line. */
static void yield(struct options *o)
{
	if (o->clock == 1 && o->sampler == SAMPLER_PERF) {
		if (!is_given(o, "clock"))
			o->clock = 0;
		else if (!is_given(o, "sampler"))
			o->sampler = SAMPLER_AUTO;
	}
	if (o->target.file)
		o->delay_ns = o->tail_ns = 0;
	if (!is_given(o, "sort") &&
	    (o->target.file || is_given(o, "event-set") || is_sort_unknown(o)))
		o->sort_event = NULL;
}

int options_check(struct options *o, struct err *err)
{
	const char *names[2];
	unsigned targets = count_targets(o, names);
	int rc;

	yield(o);
	if (o->action != ACTION_WATCH)
		return 0;
	if (targets > 1)
		return err_set(err, EINVAL, "%s and %s do not go together: give one", names[0],
			       names[1]);
	if (!targets && !o->target.cpus)
		return err_set(
			err, EINVAL,
			"nothing to watch: give -p PID, -t TID, a FILE, -- COMMAND or --demo "
			"(see --help)");
	if (is_sort_unknown(o))
		return err_set(err, EINVAL,
			       "-s %s: no column (self, total, samples, module, name) and no event "
			       "that -e names",
			       o->sort_event);
	if (o->source.period && o->rate_kind != RATE_DEFAULT)
		return err_set(err, EINVAL, "-F and -c do not go together: give one");
	if (o->source.nevents && o->source.event_set)
		return err_set(err, EINVAL, "-e and -E do not go together: give one");
	rc = o->target.file ? check_recording(o, err) : 0;
	rc = rc ? rc : check_analysis(o, err);
	rc = rc ? rc : check_outputs(o, err);
	if (rc)
		return rc;
	if (o->ntriggers && o->target.file)
		return err_set(err, EINVAL,
			       "--trigger watches something that runs, not a recording");
	if (o->source.no_kernel && o->source.no_user)
		return err_set(err, EINVAL, "-K and -U together leave nothing to show");
	if (o->clock == 1 && o->sampler == SAMPLER_PERF)
		return err_set(err, EINVAL,
			       "--clock wall needs the timer sampler: perf's clocks stop while a "
			       "thread waits");
	if (o->output && options_format(o->format, o->output) == FORMAT_AUTO)
		return err_set(
			err, EINVAL,
			"-o %s: the suffix tells no format (.pb.gz .folded .json .csv .txt): "
			"rename it or give --format",
			o->output);
	return check_times(o, err);
}
