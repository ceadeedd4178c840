/*
 * show_threads: threads, or groups of threads named alike or of one process, with what the kernel
 * accounts to them.
 *
 * Engine thread. A thread is shown when it was sampled in the window or is known to live. Where the
 * kernel's account of a thread is not read, its samples stand for it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/build.h"
#include "profile/foldtask.h"
#include "profile/usage.h"

#define PEAK_LEAST 0.01f /* of a CPU: less looks like nothing */

/* One thread, or the sum of a group. */
struct line {
	task_id task;            /* of a group: the one with the greatest share */
	uint32_t group;          /* its name's id, or its process's task */
	uint32_t members, place; /* place: of its group's line */
	struct sums sums;
	uint64_t top_weight;
	fid_t top;
	double cpu, user, system, ready, blocked; /* negative: unknown */
	float spark[TASK_SPARK];
	double values[FLAT_VALUES_MAX];
	char state;
	str_id waits_on;
	bool gone;
};

struct lines {
	VEC(struct line)
};

struct threads_show {
	struct build *b;
	struct task_folds folds;
	struct usages usages;
	struct lines threads, groups;
	struct map64 by_group;
	bool by_process;
	uint32_t nspark;
	float peak; /* CPU use that fills a spark */
	bool wall;  /* samples tell who waited */
};

static bool still_of_interest(const struct threads_show *s, task_id id)
{
	const struct task *t = tables_task_get(s->b->t, id);
	const struct ledger_entry *e = ledger_get(&s->b->e->profile.ledger, id);
	uint64_t gone = t->gone_ns;
	return t->tid && (e->seen || s->b->e->setup.live) &&
	       (!gone || gone >= s->b->window.from_ns);
}

static void use_account(struct threads_show *s, struct line *l, const struct task_fold *f)
{
	const struct build *b = s->b;
	const struct profile *p = &b->e->profile;
	double covered = (double)b->window.covered_ns;
	struct usage_shares u;

	l->cpu = l->user = l->system = l->ready = l->blocked = -1;
	bool tid = tables_task_get(b->t, l->task)->tid != 0;
	bool known = tid && usage_shares(&s->usages, p, &b->window, l->task, &u);
	if (known) {
		l->cpu = u.cpu;
		l->user = u.user;
		l->system = u.system;
		l->ready = u.ready;
	} else if (covered > 0 && b->desc && b->desc->cpu_time && f) {
		l->cpu = (double)f->running_weight / covered;
		l->system = (double)f->kernel_weight / covered;
		l->user = l->cpu - l->system;
	}
	if (s->wall)
		l->blocked = usage_waiting(&b->window, f ? f->blocked_weight : 0,
					   known ? &u : NULL);
}

static void add_thread(struct threads_show *s, task_id id, const struct task_fold *f)
{
	const struct ledger_entry *e = ledger_get(&s->b->e->profile.ledger, id);
	bool gone = tables_task_get(s->b->t, id)->gone_ns != 0;
	struct line l = {.task = id,
			 .state = e->state,
			 .waits_on = gone || e->state == 'R' ? 0 : e->waits_on,
			 .gone = gone};
	use_account(s, &l, f);
	if (f) {
		l.sums = f->sums;
		l.top = f->top;
		l.top_weight = f->top_weight;
		memcpy(l.values, f->values, sizeof l.values);
		for (uint32_t i = 0; i < TASK_SPARK; i++)
			l.spark[i] = (float)f->spark_ns[i] / 1e9f;
	}
	if (vec_push(&s->threads, l))
		s->b->failed = true;
}

static void list_threads(struct threads_show *s)
{
	const struct build *b = s->b;
	uint32_t count = tables_task_count(b->t);
	for (size_t i = 0; i < s->folds.len; i++)
		if (s->folds.data[i].sums.samples || s->folds.data[i].blocked_weight)
			add_thread(s, s->folds.data[i].task, &s->folds.data[i]);
	for (task_id id = 1; id <= count; id++) {
		uint32_t i;
		if (still_of_interest(s, id) && !map64_get(&s->folds.by_task, id, &i))
			add_thread(s, id, NULL);
	}
}

static void add_known(double *sum, double more)
{
	if (more >= 0)
		*sum = *sum < 0 ? more : *sum + more;
}

static void add_to_group(struct line *g, const struct line *l)
{
	sums_add(&g->sums, &l->sums);
	add_known(&g->cpu, l->cpu);
	add_known(&g->user, l->user);
	add_known(&g->system, l->system);
	add_known(&g->ready, l->ready);
	add_known(&g->blocked, l->blocked);
	for (uint32_t i = 0; i < TASK_SPARK; i++)
		g->spark[i] += l->spark[i];
	for (uint32_t i = 0; i < FLAT_VALUES_MAX; i++)
		g->values[i] += l->values[i];
	if (l->top_weight > g->top_weight) {
		g->top_weight = l->top_weight;
		g->task = l->task;
	}
	g->gone &= l->gone;
	g->members++;
}

/* The kernel's account of a process includes threads that ended. */
static void use_process_accounts(struct threads_show *s)
{
	const struct build *b = s->b;
	struct usage_shares u;

	for (size_t i = 0; i < s->groups.len; i++) {
		struct line *g = &s->groups.data[i];
		if (!usage_shares(&s->usages, &b->e->profile, &b->window, g->group, &u))
			continue;
		g->cpu = u.cpu;
		g->user = u.user;
		g->system = u.system;
	}
}

/* The function that most samples of all threads of a group are in. */
static void find_group_tops(struct threads_show *s)
{
	uint32_t n = tables_task_count(s->b->t) + 1, at;
	uint32_t *place = malloc(n * sizeof *place);
	struct task_folds tops = {0};

	for (uint32_t i = 0; place && i < n; i++)
		place[i] = UINT32_MAX;
	for (size_t i = 0; place && i < s->threads.len; i++)
		if (s->threads.data[i].task < n)
			place[s->threads.data[i].task] = s->threads.data[i].place;
	if (!place || task_folds_group_tops(&tops, &s->folds, place, n))
		s->b->failed = true;
	for (uint32_t i = 0; i < s->groups.len; i++)
		if (map64_get(&tops.by_task, i, &at))
			s->groups.data[i].top = tops.data[at].top;
	task_folds_fini(&tops);
	free(place);
}

static void make_groups(struct threads_show *s)
{
	uint32_t n = 0;
	task_id *process = s->by_process ? tables_processes(s->b->t, &n) : NULL;

	if (s->by_process && !process)
		s->b->failed = true;
	for (size_t i = 0; i < s->threads.len && !s->b->failed; i++) {
		struct line *l = &s->threads.data[i];
		uint32_t at;
		l->group = !s->by_process ? group_of_task(s->b->e->tables, l->task)
			   : l->task < n  ? process[l->task]
					  : l->task;
		if (!map64_get(&s->by_group, l->group, &at)) {
			struct line g = {.task = l->task,
					 .group = l->group,
					 .cpu = -1,
					 .user = -1,
					 .system = -1,
					 .ready = -1,
					 .blocked = -1,
					 .gone = true};
			g.place = at = (uint32_t)s->groups.len;
			if (map64_put(&s->by_group, l->group, at) || vec_push(&s->groups, g)) {
				s->b->failed = true;
				break;
			}
		}
		l->place = at;
		add_to_group(&s->groups.data[at], l);
	}
	free(process);
	if (!s->b->failed)
		find_group_tops(s);
	if (s->by_process)
		use_process_accounts(s);
}

static const char *process_name(struct build *b, task_id process)
{
	const char *comm = tables_text(b->t, tables_task_get(b->t, process)->comm);

	return *comm ? comm : "[unnamed process]";
}

static const char *name_of(struct threads_show *s, const struct line *l, bool group)
{
	struct build *b = s->b;
	const struct task *t = tables_task_get(b->t, l->task);
	if (group)
		return s->by_process ? process_name(b, l->group) : tables_text(b->t, l->group);
	const char *comm = tables_text(b->t, t->comm);
	if (!l->task)
		return "[threads not told apart]";
	if (!t->tid && !*comm)
		return "[unnamed threads]";
	if (!b->e->setup.live) /* it may name threads without numbers */
		return comm;
	return t->tid ? comm : build_text(b, "%s [short-lived threads]", comm);
}

static const char *state_text(char state)
{
	static const char order[] = "RDSTtIPZX";
	static const char *const texts[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8"};
	const char *at = state ? strchr(order, state) : NULL;
	return at ? texts[at - order] : "9";
}

static double known(double v)
{
	return v < 0 ? CANDIDATE_UNKNOWN : v;
}

static void set_order(struct threads_show *s, struct candidate *c, const struct line *l, bool group)
{
	struct build *b = s->b;
	const struct task *t = tables_task_get(b->t, l->task);
	c->second = (double)l->sums.weight;
	c->key = known(l->cpu);
	c->text = NULL;
	switch (b->q->sort) {
	case COLUMN_SELF:
	case COLUMN_TOTAL:
	case COLUMN_SAMPLES:
	case COLUMN_TOTAL_SAMPLES: c->key = (double)l->sums.weight; break;
	case COLUMN_USER: c->key = known(l->user); break;
	case COLUMN_SYSTEM: c->key = known(l->system); break;
	case COLUMN_READY: c->key = known(l->ready); break;
	case COLUMN_BLOCKED: c->key = known(l->blocked); break;
	case COLUMN_PID: c->key = -(double)t->pid; break;
	case COLUMN_TID: c->key = -(double)t->tid; break;
	case COLUMN_NAME: c->text = name_of(s, l, group); break;
	case COLUMN_STATE: c->text = state_text(l->state); break;
	case COLUMN_WAITS: c->text = tables_text(b->t, l->waits_on); break;
	case COLUMN_TOP: {
		struct fid_text x = {.name = "\x7f"};
		if (l->top)
			fid_text(b, l->top, &x);
		c->text = x.name;
		break;
	}
	default:
		if (b->q->sort >= COLUMN_METRIC && b->q->sort < COLUMN_CELL)
			c->key = metrics_key(b, b->q->sort, l->values, l->values);
	}
}

/* 0…1 of the busiest second of any row, so that rows compare. */
static void fill_spark(const struct threads_show *s, struct row *row, const struct line *l)
{
	row->nspark = (uint8_t)s->nspark;
	for (uint32_t i = 0; i < s->nspark; i++)
		row->spark[i] = l->spark[TASK_SPARK - s->nspark + i] / s->peak;
}

static void find_peak(struct threads_show *s, const struct lines *lines)
{
	s->peak = PEAK_LEAST;
	for (size_t i = 0; i < lines->len; i++)
		for (uint32_t k = 0; k < TASK_SPARK; k++)
			if (lines->data[i].spark[k] > s->peak)
				s->peak = lines->data[i].spark[k];
}

static void fill(struct threads_show *s, struct row *row, const struct line *l, bool group)
{
	struct build *b = s->b;
	const struct task *t = tables_task_get(b->t, l->task);

	enum row_kind kind = !group ? ROW_THREAD : s->by_process ? ROW_PROCESS : ROW_GROUP;
	row->key = (struct row_key){.kind = kind, .a = group ? l->group : l->task};
	row->name = row->full = name_of(s, l, group);
	row->pid = kind == ROW_GROUP ? 0 : t->pid;
	row->tid = group ? 0 : t->tid;
	build_shares(b, row, &l->sums, &l->sums);
	row->cpu = l->cpu;
	row->user = l->user;
	row->system = l->system;
	row->ready = l->ready;
	row->blocked = l->blocked;
	row->state = l->state;
	row->note = group ? "" : tables_text(b->t, l->waits_on);
	if (l->gone)
		row->flags |= ROW_GONE;
	if (l->top) {
		struct fid_text x;
		fid_text(b, l->top, &x);
		row->module = x.name;
		row->go = (struct row_key){.kind = ROW_FUNCTION, .a = l->top};
	}
	fill_spark(s, row, l);
	metrics_fill(b, row, l->values, l->values);
	if (group)
		row->children = (uint16_t)(l->members < UINT16_MAX ? l->members : UINT16_MAX);
}

static void emit(struct threads_show *s, const struct lines *lines, uint32_t group, uint16_t depth);

static void emit_line(struct threads_show *s, const struct line *l, bool group, uint16_t depth)
{
	struct row *row = build_row(s->b);
	if (!row)
		return;
	fill(s, row, l, group);
	row->depth = depth;
	if (!group)
		return;
	bool open = build_expanded(s->b, &row->key) != NULL;
	open = open != !!(s->b->q->flags & QUERY_EXPAND_ALL);
	row->flags |= ROW_EXPANDABLE | (open ? ROW_EXPANDED : 0);
	if (open)
		emit(s, &s->threads, l->place, (uint16_t)(depth + 1));
}

/* @group: the place of the group to list, UINT32_MAX all. */
static void emit(struct threads_show *s, const struct lines *lines, uint32_t group, uint16_t depth)
{
	struct build *b = s->b;
	bool groups = lines == &s->groups;
	struct candidate *c = malloc((lines->len + 1) * sizeof *c);
	uint32_t n = 0;

	if (!c) {
		b->failed = true;
		return;
	}
	for (size_t i = 0; i < lines->len; i++) {
		const struct line *l = &lines->data[i];
		if (group != UINT32_MAX && l->place != group)
			continue;
		if (!depth && !build_matches(b, name_of(s, l, groups)))
			continue;
		c[n] = (struct candidate){.index = (uint32_t)i};
		set_order(s, &c[n++], l, groups);
	}
	candidates_sort(c, n, b->q->flags & QUERY_REVERSE);
	uint32_t i = 0;
	for (; i < n && b->nrows < b->max_rows; i++)
		emit_line(s, &lines->data[c[i].index], groups, depth);
	if (i < n && !depth)
		build_rest(b, build_text(b, "… %u more", n - i));
	free(c);
}

void show_threads(struct build *b)
{
	struct threads_show s = {.b = b};
	const struct profile *p = &b->e->profile;
	uint64_t end = b->q->until_ns ? b->q->until_ns : p->newest_ns + 1;
	uint64_t age = end > p->begin_ns ? (end - p->begin_ns) / 1000000000 : 0;
	bool grouped = b->q->flags & (QUERY_GROUP_THREADS | QUERY_GROUP_PROCESSES);

	s.by_process = b->q->flags & QUERY_GROUP_PROCESSES;
	s.wall = b->desc && b->desc->states;

	s.nspark = !p->events_on_cpu ? 0 : age < TASK_SPARK ? (uint32_t)age : TASK_SPARK;
	if (fold_tasks(&s.folds, p, b->t, &b->fq, end) || usages_gather(&s.usages, p, &b->window))
		b->failed = true;
	if (!b->failed)
		list_threads(&s);
	if (!b->failed && grouped)
		make_groups(&s);
	find_peak(&s, grouped ? &s.groups : &s.threads);
	if (!b->failed && build_reserve(b, (uint32_t)(s.threads.len + s.groups.len)))
		emit(&s, grouped ? &s.groups : &s.threads, UINT32_MAX, 0);
	task_folds_fini(&s.folds);
	usages_fini(&s.usages);
	vec_fini(&s.threads);
	vec_fini(&s.groups);
	map64_fini(&s.by_group);
}
