/*
 * fake_engine: the functions of engine.h over fixed answers. Every answer is counted, so that tests
 * find references that were not given back. One thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fake.h"

struct counted {
	struct answer answer; /* first: the ui holds a pointer to it */
	struct arena arena;
	struct fake *fake;
	unsigned refs;
};

void fake_init(struct fake *f)
{
	*f = (struct fake){.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), .time_ns = 83000000000ULL};
}

void fake_fini(struct fake *f)
{
	close(f->fd);
}

struct engine *fake_engine(struct fake *f)
{
	return (struct engine *)f;
}

static void wake(struct fake *f)
{
	uint64_t one = 1;

	if (write(f->fd, &one, sizeof one) < 0)
		abort();
}

void fake_notice(struct fake *f, enum notice_kind kind, const char *text)
{
	struct notice *n = &f->notices[f->nnotices++ % 8];

	n->kind = kind;
	snprintf(n->text, sizeof n->text, "%.500s", text);
	wake(f);
}

void engine_ask(struct engine *e, const struct query *q)
{
	struct fake *f = (struct fake *)e;

	f->query = *q;
	if (f->query.nexpanded > 256)
		f->query.nexpanded = 256;
	if (q->nexpanded)
		memcpy(f->expanded, q->expanded, sizeof *q->expanded * f->query.nexpanded);
	f->query.expanded = f->expanded;
	f->asked++;
	wake(f);
}

void engine_command(struct engine *e, const struct command *c)
{
	struct fake *f = (struct fake *)e;

	if (f->ncommands == 16)
		memmove(f->commands, f->commands + 1, sizeof *f->commands * (size_t)--f->ncommands);
	f->commands[f->ncommands++] = *c;
	if (c->kind == COMMAND_MARK)
		f->marked = !f->marked;
	if (c->kind == COMMAND_SAVE && !c->replace && !strcmp(c->text, "there.pb.gz"))
		fake_notice(f, NOTICE_EXISTS, c->text);
	else if (c->kind == COMMAND_SAVE)
		fake_notice(f, NOTICE_SAVED, c->text);
}

uint32_t engine_events(const struct engine *e, struct engine_event *ret_events, uint32_t max)
{
	const struct fake *f = (const struct fake *)e;
	uint32_t n = 0;

	for (; f->events && f->events[n] && n < max; n++) {
		ret_events[n].index = (uint16_t)(10 * n);
		snprintf(ret_events[n].name, sizeof ret_events->name, "%s", f->events[n]);
	}
	return n;
}

const struct answer *engine_answer(struct engine *e)
{
	struct fake *f = (struct fake *)e;
	struct counted *c;

	if (f->silent || !f->asked)
		return NULL;
	c = calloc(1, sizeof *c);
	if (!c)
		abort();
	arena_init(&c->arena);
	c->fake = f;
	c->refs = 1;
	c->answer.query = f->query;
	c->answer.query.expanded = NULL;
	fake_answer(f, &c->arena, &c->answer);
	f->served++;
	f->alive++;
	return &c->answer;
}

void answer_unref(const struct answer *a)
{
	struct counted *c = (struct counted *)a;

	if (!c || --c->refs)
		return;
	c->fake->alive--;
	arena_fini(&c->arena);
	free(c);
}

bool engine_notice(struct engine *e, struct notice *ret_notice)
{
	struct fake *f = (struct fake *)e;

	if (!f->nnotices)
		return false;
	*ret_notice = f->notices[0];
	memmove(f->notices, f->notices + 1, sizeof *f->notices * (size_t)--f->nnotices);
	return true;
}

int engine_fd(const struct engine *e)
{
	return ((const struct fake *)e)->fd;
}
