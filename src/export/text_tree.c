/*
 * text_tree: the call tree of the report, from the roots down, as far as paths carry time.
 *
 * Paths below 1 % (or --percent-limit) are left out and counted; a chain of callers that each have
 * one callee and no time of their own is one line. Any one thread.
 */
#include <stdlib.h>

#include "export/calltree.h"
#include "export/text.h"

#define LIMIT_PERCENT 1.0
#define ROWS_MAX      200
#define DEPTH_MAX     48

struct printer {
	struct text_report *t;
	const struct calltree_node *nodes;
	double limit;
	unsigned rows, hidden;
};

static double percent(const struct printer *p, const struct rollup_count *c)
{
	uint64_t all = p->t->roll.all.weight;

	return all ? 100.0 * (double)c->weight / (double)all : 0;
}

static void put_line(struct printer *p, uint32_t first, uint32_t last, unsigned depth)
{
	struct strbuf *b = &p->t->b;

	strbuf_printf(b, "%8.2f %8.2f  %*s", percent(p, &p->nodes[last].total),
		      percent(p, &p->nodes[last].self), (int)(2 * depth), "");
	/* From the callee up to the first caller of the chain, printed the other way round. */
	uint32_t chain[DEPTH_MAX];
	unsigned n = 0;
	for (uint32_t i = last; n < DEPTH_MAX; i = p->nodes[i].parent) {
		chain[n++] = i;
		if (i == first)
			break;
	}
	while (n-- > 0) {
		escape_name(b, p->t->names.funcs.data[p->nodes[chain[n]].func].name);
		if (n)
			strbuf_puts(b, " > ");
	}
	strbuf_putc(b, '\n');
	p->rows++;
}

/* Follow single callees while nothing is the caller's own; at most what a line holds. */
static uint32_t chain_end(const struct printer *p, uint32_t node)
{
	for (unsigned n = 1; n < DEPTH_MAX; n++) {
		const struct calltree_node *at = &p->nodes[node];
		if (at->self.weight || at->self.samples || !at->children ||
		    p->nodes[at->children].next)
			break;
		node = at->children;
	}
	return node;
}

static int put_tree(struct printer *p)
{
	struct level {
		uint32_t node;
		unsigned depth;
	};
	struct {
		VEC(struct level)
	} todo = {0};
	int rc = p->nodes[0].children ? vec_push(&todo, ((struct level){p->nodes[0].children, 0}))
				      : 0;

	while (todo.len && !rc) {
		struct level at = todo.data[--todo.len];
		const struct calltree_node *node = &p->nodes[at.node];
		if (node->next)
			rc = vec_push(&todo, ((struct level){node->next, at.depth}));
		if (percent(p, &node->total) < p->limit || p->rows == ROWS_MAX) {
			p->hidden++;
			continue;
		}
		uint32_t last = chain_end(p, at.node);
		put_line(p, at.node, last, at.depth);
		if (p->nodes[last].children && at.depth < DEPTH_MAX && !rc)
			rc = vec_push(&todo,
				      ((struct level){p->nodes[last].children, at.depth + 1}));
		if (!rc)
			rc = text_flush(p->t, false);
	}
	vec_fini(&todo);
	return rc;
}

int text_tree(struct text_report *t)
{
	struct calltree tree;
	int rc = calltree_init(&tree, t->s, &t->names, &t->roll);

	if (rc)
		return rc;
	struct printer p = {
		.t = t, .nodes = tree.nodes.data, .limit = t->limit > 0 ? t->limit : LIMIT_PERCENT};
	strbuf_printf(&t->b,
		      "\nCall tree, paths of %g %% and more\n\n  TOTAL%%    SELF%%  CALL PATH\n",
		      p.limit);
	rc = put_tree(&p);
	if (p.hidden)
		strbuf_printf(&t->b, "                   … %u smaller paths\n", p.hidden);
	calltree_fini(&tree);
	return rc;
}
