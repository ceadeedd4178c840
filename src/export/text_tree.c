/*
 * text_tree: the call tree of the report, from the roots down, as far as paths carry time.
 *
 * Paths below 1 % (or --percent-limit) are left out and counted; a chain of callers that each have
 * one callee and no time of their own is one line. Any one thread.
 */
#include <stdlib.h>

#include "export/opentree.h"
#include "export/text.h"

#define LIMIT_PERCENT 1.0
#define ROWS_MAX      200
#define DEPTH_MAX     48

struct printer {
	struct text_report *t;
	struct opentree tree;
	double limit;
	unsigned rows, hidden;
};

static const struct opentree_node *node_at(const struct printer *p, uint32_t node)
{
	return &p->tree.nodes.data[node];
}

static void put_line(struct printer *p, uint32_t first, uint32_t last, unsigned depth)
{
	struct strbuf *b = &p->t->b;

	strbuf_printf(b, "%8.2f %8.2f  %*s", opentree_percent(&p->tree, &node_at(p, last)->total),
		      opentree_percent(&p->tree, &node_at(p, last)->self), (int)(2 * depth), "");
	/* From the callee up to the first caller of the chain, printed the other way round. */
	uint32_t chain[DEPTH_MAX];
	unsigned n = 0;
	for (uint32_t i = last; n < DEPTH_MAX; i = node_at(p, i)->parent) {
		chain[n++] = i;
		if (i == first)
			break;
	}
	while (n-- > 0) {
		escape_name(b, p->t->names.funcs.data[node_at(p, chain[n])->func].name);
		if (n)
			strbuf_puts(b, " > ");
	}
	strbuf_putc(b, '\n');
	p->rows++;
}

/* Follow single callees while nothing is the caller's own; at most what a line holds. The end is
 * opened. */
static int chain_end(struct printer *p, uint32_t node, uint32_t *ret_end)
{
	int rc = opentree_open(&p->tree, node);
	for (unsigned n = 1; n < DEPTH_MAX && !rc; n++) {
		const struct opentree_node *at = node_at(p, node);
		if (at->self.weight || at->self.samples || !at->children || at->small ||
		    node_at(p, at->children)->next)
			break;
		node = at->children;
		rc = opentree_open(&p->tree, node);
	}
	*ret_end = node;
	return rc;
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
	int rc = opentree_open(&p->tree, 0);

	p->hidden += node_at(p, 0)->small;
	if (!rc && node_at(p, 0)->children)
		rc = vec_push(&todo, ((struct level){node_at(p, 0)->children, 0}));

	while (todo.len && !rc) {
		struct level at = todo.data[--todo.len];
		const struct opentree_node *node = node_at(p, at.node);
		if (node->next)
			rc = vec_push(&todo, ((struct level){node->next, at.depth}));
		if (p->rows == ROWS_MAX) {
			p->hidden++;
			continue;
		}
		uint32_t last, children;
		int opened = chain_end(p, at.node, &last);
		rc = rc ? rc : opened;
		put_line(p, at.node, last, at.depth);
		children = node_at(p, last)->children;
		if (at.depth < DEPTH_MAX)
			p->hidden += node_at(p, last)->small;
		if (children && at.depth < DEPTH_MAX && !rc)
			rc = vec_push(&todo, ((struct level){children, at.depth + 1}));
		if (!rc)
			rc = text_flush(p->t, false);
	}
	vec_fini(&todo);
	return rc;
}

int text_tree(struct text_report *t)
{
	struct printer p = {.t = t, .limit = t->limit > 0 ? t->limit : LIMIT_PERCENT};
	int rc = opentree_init(&p.tree, t->s, &t->names, &t->roll, p.limit);

	if (rc)
		return rc;
	strbuf_printf(&t->b,
		      "\nCall tree, paths of %g %% and more\n\n  TOTAL%%    SELF%%  CALL PATH\n",
		      p.limit);
	rc = put_tree(&p);
	if (p.hidden)
		strbuf_printf(&t->b, "                   … %u smaller paths\n", p.hidden);
	opentree_fini(&p.tree);
	return rc;
}
