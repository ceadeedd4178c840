/*
 * text_tasks: the report's tables of processes and threads, each with the function where it was
 * found most often.
 *
 * Processes are shown where samples came from more than one. Of what ran, each thread's time is
 * told too. Any one thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "export/text.h"

/* The function where a row was found most often. */
struct top {
	uint32_t func;
	uint64_t weight;
};

/* @task_rows: the row of each task that is shown. */
static int find_tops(const struct text_report *t, const struct map64 *task_rows, struct top *tops)
{
	struct map64 sums; /* (row, function) → index in weights */
	struct {
		VEC(uint64_t)
	} weights = {0};
	int rc = 0;

	map64_init(&sums);
	for (uint32_t i = 0; i < t->s->ncells && !rc; i++) {
		const struct snapshot_cell *c = &t->s->cells[i];
		uint32_t at, row;
		if (c->event != t->event || !export_counts(t->s, c) ||
		    !map64_get(task_rows, c->task, &row))
			continue;
		uint32_t frame = namelist_frame_of(&t->names, c->node);
		uint32_t func = t->names.lines.data[t->names.frames.data[frame].first].func;
		if (t->names.funcs.data[func].special)
			continue; /* [unsampled] is no function to look at */
		uint64_t key = (uint64_t)row << 32 | func;
		if (!map64_get(&sums, key, &at)) {
			at = (uint32_t)weights.len;
			rc = vec_push(&weights, 0);
			if (!rc)
				rc = map64_put(&sums, key, at);
			if (rc)
				break;
		}
		weights.data[at] += c->weight;
		if (weights.data[at] > tops[row].weight)
			tops[row] = (struct top){func, weights.data[at]};
	}
	vec_fini(&weights);
	map64_fini(&sums);
	return rc;
}

/* Name and top function end a row. */
static void put_names(struct text_report *t, const char *name, bool sampled, const struct top *top)
{
	size_t at = t->b.len;

	escape_plain(&t->b, *name ? name : "[unknown]");
	if (!sampled) /* the kernel's account of threads that no sample met */
		strbuf_puts(&t->b, " [unsampled]");
	size_t width = t->b.len - at;
	strbuf_printf(&t->b, "%*s ", width < 16 ? (int)(16 - width) : 0, "");
	if (top->weight)
		escape_name(&t->b, t->names.funcs.data[top->func].name);
	strbuf_putc(&t->b, '\n');
}

static int compare_usage(const void *key, const void *element)
{
	task_id task = *(const task_id *)key;
	const struct snapshot_usage *u = element;

	return (task > u->task) - (task < u->task);
}

/* How a thread spent its time, as far as it is known. */
static void put_usage(struct text_report *t, task_id task)
{
	static const struct snapshot_usage unknown = {.cpu = -1, .ready = -1, .waiting = -1};
	const struct snapshot *s = t->s;
	const struct snapshot_usage *u = s->nusages ? bsearch(&task, s->usages, s->nusages,
							      sizeof *s->usages, compare_usage)
						    : NULL;
	u = u ? u : &unknown;
	const double parts[] = {u->cpu, u->ready, u->waiting};

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i] >= 0)
			strbuf_printf(&t->b, "%6.1f ", 100 * parts[i]);
		else
			strbuf_printf(&t->b, "%6s ", "n/a");
}

static void put_thread(struct text_report *t, const struct ranked *r, const struct top *top)
{
	const struct task *task = tables_task_get(t->s->tables, r->id);

	text_share(&t->b, &r->self);
	strbuf_printf(&t->b, " %10" PRIu64 " %10d ", r->row->self.samples, task->pid);
	if (task->tid)
		strbuf_printf(&t->b, "%10d ", task->tid);
	else
		strbuf_printf(&t->b, "%10s ", "-");
	if (!t->s->recorded)
		put_usage(t, r->id);
	put_names(t, r->name, r->row->self.samples, top);
}

static int put_threads(struct text_report *t, const struct ranked *rows, uint32_t n)
{
	uint32_t shown = n < TEXT_ROWS ? n : TEXT_ROWS;
	struct top *tops = calloc(shown + 1, sizeof *tops);
	struct map64 index;
	int rc = tops ? 0 : -ENOMEM;

	map64_init(&index);
	for (uint32_t i = 0; i < shown && !rc; i++)
		rc = map64_put(&index, rows[i].id, i);
	if (!rc)
		rc = find_tops(t, &index, tops);
	if (!rc) {
		strbuf_printf(&t->b,
			      "\nThreads\n\n   SELF%%      ±    SAMPLES        PID        TID %s"
			      "NAME             TOP FUNCTION\n",
			      t->s->recorded ? "" : "  CPU% READY%  WAIT% ");
		for (uint32_t i = 0; i < shown; i++)
			put_thread(t, &rows[i], &tops[i]);
		if (shown < n)
			strbuf_printf(&t->b, "         … %u more\n", n - shown);
	}
	map64_fini(&index);
	free(tops);
	return rc;
}

struct process {
	task_id task;
	struct rollup_count sum;
	uint32_t threads; /* that were sampled */
	struct top top;
};

struct processes {
	VEC(struct process)
	struct map64 by_task; /* thread or process → place in data */
};

static int add_thread(struct processes *p, task_id process, const struct ranked *r)
{
	uint32_t at;

	if (!map64_get(&p->by_task, process, &at)) {
		at = (uint32_t)p->len;
		if (vec_push(p, ((struct process){.task = process})) ||
		    map64_put(&p->by_task, process, at))
			return -ENOMEM;
	}
	p->data[at].sum.samples += r->row->self.samples;
	p->data[at].sum.weight += r->row->self.weight;
	p->data[at].sum.weight_sq += r->row->self.weight_sq;
	p->data[at].threads += r->row->self.samples > 0;
	return map64_put(&p->by_task, r->id, at);
}

static int by_weight(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	if (x->sum.weight != y->sum.weight)
		return x->sum.weight < y->sum.weight ? 1 : -1;
	return (x->task > y->task) - (x->task < y->task);
}

static void put_process(struct text_report *t, const struct process *p)
{
	const struct task *task = tables_task_get(t->s->tables, p->task);
	double n = t->roll.exact ? INFINITY
				 : confidence_effective(t->roll.all.weight, t->roll.all.weight_sq);
	struct interval i = confidence_interval(p->sum.weight, p->sum.weight_sq, t->roll.all.weight,
						n);

	text_share(&t->b, &i);
	strbuf_printf(&t->b, " %10" PRIu64 " %10d %10u ", p->sum.samples, task->pid, p->threads);
	put_names(t, tables_text(t->s->tables, task->comm), p->sum.samples, &p->top);
}

static int put_processes(struct text_report *t, struct processes *p)
{
	struct top *tops = calloc(p->len + 1, sizeof *tops);
	int rc = tops ? find_tops(t, &p->by_task, tops) : -ENOMEM;

	for (size_t i = 0; i < p->len && !rc; i++)
		p->data[i].top = tops[i];
	free(tops);
	if (rc)
		return rc;
	qsort(p->data, p->len, sizeof *p->data, by_weight);
	strbuf_puts(&t->b, "\nProcesses\n\n   SELF%      ±    SAMPLES        PID    THREADS "
			   "NAME             TOP FUNCTION\n");
	for (size_t i = 0; i < p->len && i < TEXT_ROWS; i++)
		put_process(t, &p->data[i]);
	if (p->len > TEXT_ROWS)
		strbuf_printf(&t->b, "         … %zu more\n", p->len - TEXT_ROWS);
	return 0;
}

int text_tasks(struct text_report *t)
{
	struct processes p = {0};
	struct ranked *rows = NULL;
	uint32_t n = 0, known = 0;
	task_id *owner = tables_processes(t->s->tables, &known);
	int rc = owner ? ranking_make(&t->roll, &t->names, RANK_TASKS, COLUMN_SELF, &rows, &n)
		       : -ENOMEM;

	map64_init(&p.by_task);
	for (uint32_t i = 0; i < n && !rc; i++)
		rc = add_thread(&p, rows[i].id < known ? owner[rows[i].id] : rows[i].id, &rows[i]);
	if (!rc && p.len > 1)
		rc = put_processes(t, &p);
	if (!rc)
		rc = put_threads(t, rows, n);
	vec_fini(&p);
	map64_fini(&p.by_task);
	free(owner);
	free(rows);
	return rc;
}
