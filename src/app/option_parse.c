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

int options_set(struct options *o, const char *name, const char *value, struct err *err)
{
	static const char *const yes[] = {"yes", "true", "on", "1"};
	static const char *const no[] = {"no", "false", "off", "0"};
	bool several;
	const struct option_desc *d = option_by_name(name, strlen(name), &several);

	if (!d || strcmp(d->name, name))
		return err_set(err, EINVAL, "%s is no option", name);
	if (!(d->flags & OPTION_CONFIG))
		return err_set(err, EINVAL, "%s may stand on the command line only", name);
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

/* An option that means something for recordings only. */
static const char *analysis_wish(const struct options *o)
{
	const struct analyser_options *a = &o->analysis;
	const struct {
		bool given;
		const char *name;
	} wishes[] = {{o->pattern != PATTERN_AUTO, "pattern"},
		      {a->leaf, "leaf"},
		      {a->leaf_parent, "leaf-parent"},
		      {a->filter, "filter"},
		      {a->function, "function"},
		      {a->ghz > 0, "ghz"},
		      {a->maps, "maps"},
		      {a->chrometracing, "chrometracing"},
		      {a->ipc_trending, "ipc-trending"}};

	for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
		if (wishes[i].given)
			return wishes[i].name;
	return NULL;
}

int options_check(const struct options *o, struct err *err)
{
	const char *names[2];
	unsigned targets = count_targets(o, names);

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
	if (o->sort_event && !is_sampled(o, o->sort_event))
		return err_set(err, EINVAL,
			       "-s %s: no column (self, total, samples, module, name) and no event "
			       "that -e names",
			       o->sort_event);
	if (o->source.period && o->rate_kind != RATE_DEFAULT)
		return err_set(err, EINVAL, "-F and -c do not go together: give one");
	if (o->source.nevents && o->source.event_set)
		return err_set(err, EINVAL, "-e and -E do not go together: give one");
	if (!o->target.file && analysis_wish(o))
		return err_set(err, EINVAL, "--%s analyses a recording: give a FILE",
			       analysis_wish(o));
	if (o->output && !strcmp(o->output, "-"))
		return err_set(err, EINVAL,
			       "-o -: the report goes to standard output by itself: --format "
			       "without -o says in which format");
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
