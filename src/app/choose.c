/*
 * choose: which source serves the target here, the best first.
 *
 * What is refused leaves its reason; the next best is tried, and the person is told what is used
 * and why nothing better. A target that is not there ends the search. Main thread, before any
 * thread is started.
 */
#include <errno.h>
#include <string.h>

#include "session.h"

static const struct attempt {
	const struct source_ops *ops;
	enum sampler_choice serves; /* --sampler; SAMPLER_AUTO tries all */
	bool wall;                  /* can serve --clock wall */
	const char *what;
} attempts[] = {
	{&source_file, SAMPLER_AUTO, true, "the recording"},
	{&source_perf, SAMPLER_PERF, false, "perf"}, /* without kernel code where that is refused */
	{&source_timer, SAMPLER_TIMER, true, "the timer sampler"},
};
#define ATTEMPTS (sizeof attempts / sizeof *attempts)

static bool fits(const struct attempt *a, const struct options *o)
{
	if (o->target.file || a->ops == &source_file)
		return o->target.file && a->ops == &source_file;
	if (o->sampler != SAMPLER_AUTO && o->sampler != (int)a->serves)
		return false;
	if (o->source.nevents || o->source.event_set || o->source.period || o->source.nalso)
		return a->ops == &source_perf; /* only it counts anything but time */
	return o->clock == 0 || a->wall;
}

static void refused(struct choice *c, int rc, const struct err *why)
{
	if (!c->first_rc)
		c->first_rc = rc;
	if (!strcmp(c->only.msg, why->msg)) /* the same reason for the next best */
		return;
	c->only = *why;
	strbuf_printf(&c->reasons, "%s%s: %s", c->reasons.len ? "; " : "", attempts[c->next].what,
		      why->msg);
}

int choose_next(struct choice *c, struct session *s, struct err *err)
{
	const struct source_config *config = &s->options->source;

	for (; c->next < ATTEMPTS; c->next++) {
		const struct attempt *a = &attempts[c->next];
		struct err why = {0};

		if (!fits(a, s->options))
			continue;
		int rc = a->ops->probe(&s->options->target, config, &why);
		if (!rc) {
			s->ops = a->ops;
			return 0;
		}
		if (rc == -ESRCH) {
			*err = why;
			return rc;
		}
		refused(c, rc, &why);
	}
	if (s->options->target.file) { /* it speaks for itself */
		*err = c->only;
		return c->first_rc;
	}
	return err_set(err, c->first_rc ? -c->first_rc : ENOTSUP, "%s",
		       c->reasons.len ? c->reasons.buf : "no sampler fits these options");
}

int choose_open(struct choice *c, struct session *s, struct err *err)
{
	const struct source_config *config = &s->options->source;
	struct err why = {0};
	int rc = 0;

	while (!rc) {
		int refusal = s->ops->open(&s->options->target, config, engine_sink(s->engine),
					   s->tables, &s->source, &why);
		if (!refusal)
			return 0;
		refused(c, refusal, &why);
		c->next++;
		rc = choose_next(c, s, err);
	}
	return rc;
}

void choose_note(const struct choice *c, char *ret_note, size_t size)
{
	ret_note[0] = '\0';
	if (c->reasons.len && c->next < ATTEMPTS)
		snprintf(ret_note, size, "using %s (%s)", attempts[c->next].what, c->reasons.buf);
}
