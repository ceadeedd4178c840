/*
 * listing: prints the catalogue of events and the sets of events, and whether they work here.
 *
 * The formats are stable: scripts read them. Main thread, no other runs.
 */
#include "listing.h"

#include <errno.h>
#include <stdlib.h>

#include "event/catalogue.h"
#include "event/set.h"
#include "event/sysfs.h"

struct listing {
	FILE *out;
	size_t n;
};

/* What cannot be had here says why, in a fourth field. */
static bool print_event(void *ctx, const struct catalogue_event *e)
{
	struct listing *l = ctx;
	struct err err = {0};
	bool tried = e->kind !=
		     CATALOGUE_PATTERN; /* that is how names are written, and none itself */
	bool refused = tried && catalogue_try(e->name, &err) != VALUE_OK;

	l->n++;
	return fprintf(l->out, "%s\t%s\t%s%s%s\n", catalogue_kind_name(e->kind), e->name,
		       e->description, refused ? "\tnot here: " : "", refused ? err.msg : "") > 0;
}

static int printed(FILE *out)
{
	return fflush(out) || ferror(out) ? 1 : 0;
}

static void complain(void *ctx, const char *sentence)
{
	(void)ctx;
	fprintf(stderr, "altpttop: %s\n", sentence);
}

int list_events(FILE *out, const char *glob)
{
	struct listing l = {.out = out};
	struct err why = {0};
	char text[600];

	catalogue_each(glob, print_event, &l);
	if (!l.n) {
		err_set(&why, ENOENT, "no event here has a name like %.200s", glob ? glob : "*");
		complain(NULL, why.msg);
	}
	if (tracepoints_refused(&why)) {
		snprintf(text, sizeof text, "tracepoints are not listed: %s", why.msg);
		complain(NULL, text);
	}
	return printed(out) || !l.n;
}

int list_sets(FILE *out)
{
	struct event_set *sets;
	size_t n;

	if (event_sets_load(&sets, &n, complain, NULL))
		return 1;
	for (size_t i = 0; i < n; i++) {
		struct err err = {0};
		bool ok = event_set_try(&sets[i], &err) == VALUE_OK;

		fprintf(out, "%s\t%s\t%s\n", sets[i].name, ok ? "ok" : err.msg, sets[i].about);
	}
	free(sets);
	return printed(out);
}
