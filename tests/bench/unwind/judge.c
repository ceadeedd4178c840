/*
 * judge: unwinds each sample three ways while its thread stands still, then lets the thread return
 * step by step (truth.c): as far as to where chains part, and of some of the other samples the
 * first callers. Says how often each was right, and of those that part, who.
 */
#include "judge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "truth.h"

/* Where a chain and an oracle's part. */
enum verdict { IS_OURS, IS_THEIRS, IS_NEITHER, IS_THEIRS_OURS_CUT, IS_OPEN, VERDICTS };

/* A chain beside the truth, as far as that is known. */
enum match { MATCH_RIGHT, MATCH_SHORT, MATCH_WRONG, MATCHES };

struct judge {
	struct bench *b;
	struct judge_config config;
	struct chain chains[WAYS];
	struct truth truth;
	size_t taken, maps, shown;
	size_t ends[TRUTH_ENDS];
	size_t known; /* samples of which at least one caller is known */
	size_t callers;
	size_t match[WAYS][MATCHES];
	size_t verdict[WAYS][VERDICTS];
	size_t open[WAYS][TRUTH_ENDS]; /* why it is open */
};

static uint32_t parting(const struct chain *a, const struct chain *b)
{
	uint32_t at = 0;

	while (at < a->n && at < b->n && a->pcs[at] == b->pcs[at])
		at++;
	return at;
}

static bool differs(const struct chain *a, const struct chain *b, uint32_t at)
{
	return at < a->n || at < b->n;
}

static enum match match_of(const struct chain *c, const struct truth *t)
{
	uint32_t at = 0;

	while (at < c->n && at < t->n && c->pcs[at] == t->pcs[at])
		at++;
	return at == t->n ? MATCH_RIGHT : at == c->n ? MATCH_SHORT : MATCH_WRONG;
}

static enum verdict verdict_of(const struct judge *j, const struct chain *own,
			       const struct chain *other, uint32_t at)
{
	const struct truth *t = &j->truth;
	uint32_t same = 0;

	while (same < at && same < t->n && own->pcs[same] == t->pcs[same])
		same++;
	if (same < at && same < t->n)
		return IS_NEITHER; /* wrong before they part */
	if (t->n <= at)
		return IS_OPEN;
	if (at < own->n && own->pcs[at] == t->pcs[at])
		return IS_OURS;
	if (at == other->n || other->pcs[at] != t->pcs[at])
		return IS_NEITHER;
	return at == own->n && !own->end ? IS_THEIRS_OURS_CUT : IS_THEIRS;
}

static void show_code(const struct judge *j, uint64_t pc)
{
	uint8_t code[32];
	struct iovec to = {code, sizeof code}, from = {(void *)(uintptr_t)(pc - 8), sizeof code};

	if (process_vm_readv(j->b->stacks.pid, &to, 1, &from, 1, 0) != sizeof code)
		return;
	printf("   ");
	for (unsigned k = 0; k < sizeof code; k++)
		printf("%s%02x", k == 8 ? " | " : " ", code[k]);
	printf("\n");
}

static void show(struct judge *j, const struct stack_sample *s, unsigned way, uint32_t at)
{
	static const char *const said[VERDICTS] = {"ours", "the other's", "neither",
						   "the other's, ours is cut", "open"};
	const struct chain *chains[] = {&j->chains[WAY_OWN], &j->chains[way]};
	const struct truth *t = &j->truth;
	enum verdict v = verdict_of(j, chains[0], chains[1], at);

	printf("  #%zu %s: true is %s (%s after %llu steps), parts at %u\n", j->taken,
	       ways[way].name, way ? said[v] : "another, or more", truth_end_names[t->end],
	       (unsigned long long)t->steps, at);
	show_code(j, s->regs.r[STACKS_PC]);
	for (unsigned k = 0; k < (way ? 2 : 1); k++) {
		printf("    %s: ", k ? ways[way].name : "own");
		for (uint32_t f = at > 2 ? at - 2 : 0; f < chains[k]->n && f < at + 3; f++)
			print_frame(j->b, s, chains[k]->pcs[f]);
		printf("\n");
	}
	printf("    truth: ");
	for (uint32_t f = at > 2 ? at - 2 : 0; f < t->n; f++)
		print_frame(j->b, s, t->pcs[f]);
	printf("\n");
}

static void spoil(struct chain *c)
{
	if (c->n > 2)
		memmove(c->pcs + 1, c->pcs + 2, (--c->n - 1) * sizeof *c->pcs);
}

static void count(struct judge *j, const struct stack_sample *s, const uint32_t at[WAYS])
{
	const struct chain *own = &j->chains[WAY_OWN];

	if (j->truth.n > 1) {
		j->known++;
		j->callers += j->truth.n - 1;
		for (unsigned way = 0; way < WAYS; way++)
			j->match[way][match_of(&j->chains[way], &j->truth)]++;
	}
	if (j->truth.n > 1 && match_of(own, &j->truth) != MATCH_RIGHT && j->shown++ < j->b->show)
		show(j, s, WAY_OWN, 1);
	for (unsigned way = 1; way < WAYS; way++) {
		const struct chain *other = &j->chains[way];
		if (!differs(own, other, at[way]))
			continue;
		enum verdict v = verdict_of(j, own, other, at[way]);
		j->verdict[way][v]++;
		if (v == IS_OPEN)
			j->open[way][j->truth.end]++;
		if (v != IS_OURS && j->shown++ < j->b->show)
			show(j, s, way, at[way]);
	}
}

static void on_sample(void *ctx, const struct stack_sample *s)
{
	struct judge *j = ctx;
	struct bench *b = j->b;
	uint32_t at[WAYS] = {0}, wanted = 0;
	bool part = false;

	if (!b->dw)
		b->dw = oracle_dw_new(b->stacks.pid);
	if (j->maps != b->stacks.nspaces)
		oracle_dw_remap(b->dw);
	j->maps = b->stacks.nspaces;
	for (unsigned way = 0; way < WAYS; way++)
		ways[way].run(b, s, &j->chains[way]);
	if (j->config.break_own)
		spoil(&j->chains[WAY_OWN]);
	for (unsigned way = 1; way < WAYS; way++) {
		at[way] = parting(&j->chains[WAY_OWN], &j->chains[way]);
		if (!differs(&j->chains[WAY_OWN], &j->chains[way], at[way]))
			continue;
		part = true;
		if (at[way] > wanted)
			wanted = at[way];
	}
	if (rand() % j->config.every == 0 && wanted < j->config.callers)
		wanted = j->config.callers;
	truth_find(b->stacks.pid, s, wanted, part ? j->config.steps : j->config.steps / 10,
		   &j->truth);
	j->taken++;
	j->ends[j->truth.end] += wanted > 0;
	count(j, s, at);
}

static void print_ends(const size_t ends[TRUTH_ENDS], const char *before)
{
	for (int e = 0; e < TRUTH_ENDS; e++) {
		if (ends[e])
			printf("%s%s %zu", before, truth_end_names[e], ends[e]);
		before = ends[e] ? ", " : before;
	}
}

static void print(const struct judge *j)
{
	printf("%-14s %zu samples, %zu with known callers, %.1f on average; steps ended: ",
	       j->b->label ? j->b->label : "", j->taken, j->known,
	       j->known ? (double)j->callers / (double)j->known : 0);
	print_ends(j->ends, "");
	printf("\n");
	for (unsigned way = 0; way < WAYS; way++) {
		const size_t *m = j->match[way], *v = j->verdict[way];
		printf("  %-9s right %zu, short %zu, wrong %zu", ways[way].name, m[MATCH_RIGHT],
		       m[MATCH_SHORT], m[MATCH_WRONG]);
		if (way != WAY_OWN)
			printf("; parts from ours in %zu: true is ours %zu, its %zu, its where ours is cut %zu, "
			       "neither %zu, open %zu",
			       v[IS_OURS] + v[IS_THEIRS] + v[IS_NEITHER] + v[IS_THEIRS_OURS_CUT] +
				       v[IS_OPEN],
			       v[IS_OURS], v[IS_THEIRS], v[IS_THEIRS_OURS_CUT], v[IS_NEITHER],
			       v[IS_OPEN]);
		print_ends(j->open[way], ": ");
		printf("\n");
	}
}

int judge_run(struct bench *b, const struct judge_config *config, pid_t pid, size_t n, unsigned hz,
	      size_t cap)
{
	struct judge *j = calloc(1, sizeof *j);
	struct stacks_hook hook = {on_sample, j};

	if (!j)
		return -ENOMEM;
	*j = (struct judge){.b = b, .config = *config};
	b->foreign = foreign_new(b->u, true);
	int rc = stacks_take(&b->stacks, b->tables, pid, n, hz, cap, &hook);
	if (!rc)
		print(j);
	free(j);
	return rc;
}
