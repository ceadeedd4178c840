/*
 * triggers: --trigger's rules, checked before anything is started, and where their files go.
 *
 * Main thread.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "session.h"

#define WORDS_MAX 64

/* The metrics that a rule may name: those of the set in use; of any set where -e names events, as
 * these may be the ones it needs. */
static uint32_t list_words(const struct session *s, const char *names[WORDS_MAX])
{
	const struct source_config *c = &s->options->source;
	uint32_t n = 0;

	for (size_t i = 0; i < s->nsets; i++) {
		const struct event_set *set = &s->sets[i];
		bool in_use = c->event_set ? strcmp(c->event_set, set->name) == 0 : c->nevents > 0;

		for (uint32_t k = 0; in_use && k < set->nmetrics && n < WORDS_MAX; k++) {
			uint32_t at = 0;
			while (at < n && strcmp(names[at], set->metrics[k].name) != 0)
				at++;
			if (at == n)
				names[n++] = set->metrics[k].name;
		}
	}
	return n;
}

/* Beside -o FILE, with its suffix; else in the current directory, as pprof. */
static void find_prefix(struct session *s, const char **ret_suffix)
{
	const char *path = s->options->output;
	size_t len = path ? strlen(path) : 0, tail;

	*ret_suffix = format_suffix(path ? options_format(s->options->format, path)
				    : s->options->format == FORMAT_AUTO
					    ? FORMAT_PPROF
					    : (enum snapshot_format)s->options->format);
	tail = strlen(*ret_suffix);
	if (len > tail && !strcmp(path + len - tail, *ret_suffix))
		len -= tail;
	if (path)
		snprintf(s->trigger_prefix, sizeof s->trigger_prefix, "%.*s", (int)len, path);
	else
		snprintf(s->trigger_prefix, sizeof s->trigger_prefix, "altpttop-trigger");
}

int triggers_prepare(struct session *s, struct err *err)
{
	struct options *o = s->options;
	const char *names[WORDS_MAX];
	char where[64];
	struct rule_words words = {.names = names, .n = list_words(s, names), .where = where};

	snprintf(where, sizeof where, "%s%.40s",
		 o->source.event_set ? "the event set " : "all event sets",
		 o->source.event_set ? o->source.event_set : "");
	for (uint32_t i = 0; i < o->ntriggers; i++) {
		int rc = rule_parse(o->triggers[i], &words, &s->rules[i], err);

		if (rc)
			return rc;
		if (s->rules[i].kind == RULE_EVENT)
			s->also[o->source.nalso++] = s->rules[i].pattern;
	}
	o->source.also = s->also;
	find_prefix(s, &s->trigger_suffix);
	return 0;
}

struct trigger_setup triggers_setup(struct session *s)
{
	const struct options *o = s->options;
	struct trigger_setup t = {
		.rules = s->rules,
		.nrules = o->ntriggers,
		.before_ns = o->trigger_before_ns,
		.after_ns = o->trigger_after_ns,
		.files = o->trigger_files < UINT32_MAX ? (uint32_t)o->trigger_files : UINT32_MAX,
		.format = (enum snapshot_format)o->format,
		.prefix = s->trigger_prefix,
		.suffix = s->trigger_suffix,
	};

	if (t.format == FORMAT_AUTO)
		t.format = o->output ? options_format(FORMAT_AUTO, o->output) : FORMAT_PPROF;
	return t;
}

void triggers_settle(struct session *s, int wait_ms)
{
	uint64_t end = clock_mono_ns() + (uint64_t)wait_ms * 1000000;

	while (s->running && engine_saving(s->engine) && clock_mono_ns() < end)
		poll(&(struct pollfd){.fd = engine_fd(s->engine), .events = POLLIN}, 1, 20);
}
