/*
 * fake: an engine of fixed answers for screen tests: a small made-up profile of a database server
 * with names that are wide, long, broken and hostile. It defines the functions of engine.h, so the
 * real engine is not linked. One thread.
 */
#ifndef ALTPTTOP_FAKE_H
#define ALTPTTOP_FAKE_H

#include "base/arena.h"
#include "engine.h"

struct fake {
	int fd;
	struct query query; /* the newest question, expanded copied */
	struct row_key expanded[256];
	struct command commands[16]; /* what the ui commanded, newest last */
	int ncommands;
	struct notice notices[8]; /* to be delivered */
	int nnotices;
	unsigned asked;  /* questions so far */
	unsigned served; /* answers so far */
	unsigned alive;  /* answers not given back yet */
	bool silent;     /* deliver no answer */
	bool jitter;     /* numbers move from answer to answer (the demonstration) */
	bool many;       /* thousands of functions, deep trees */
	bool metrics;    /* the event set has derived columns */
	bool finished;
	const char *const *events; /* sampled ones of a recording, NULL-terminated; NULL none */
	double reading;            /* a recording, read so far; 0: live */
	bool marked;
	bool download; /* a debug file is on its way */
	uint64_t time_ns;
};

void fake_init(struct fake *f);
void fake_fini(struct fake *f);
struct engine *fake_engine(struct fake *f);
void fake_notice(struct fake *f, enum notice_kind kind, const char *text);

/* Build the answer to f->query into @a from @arena; fake_answers.c. */
void fake_answer(struct fake *f, struct arena *arena, struct answer *a);

#endif
