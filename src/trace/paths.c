/*
 * paths: nodes in one array in the order of their making, so a child always lies behind its parent.
 */
#include "trace/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

#define NODES_MAX (4u << 20)
#define DEPTH_MAX \
	512 /* deeper paths are not written out: their text grows with the square of the depth */

struct node {
	uint32_t parent, func;
	uint32_t first_child, last_child, next; /* 0: none */
	uint64_t insns, time_ns, calls;         /* own */
};

struct paths {
	VEC(struct node)
	struct map64 index; /* (parent, func) → node */
};

struct paths *paths_new(void)
{
	struct paths *p = calloc(1, sizeof *p);
	struct node root = {0};
	if (p && vec_push(p, root)) {
		free(p);
		return NULL;
	}
	if (p)
		map64_init(&p->index);
	return p;
}

void paths_free(struct paths *p)
{
	if (!p)
		return;
	map64_fini(&p->index);
	vec_fini(p);
	free(p);
}

uint32_t paths_child(struct paths *p, uint32_t node, uint32_t func)
{
	uint64_t key = (uint64_t)node << 32 | func;
	uint32_t child;
	if (map64_get(&p->index, key, &child))
		return child;
	struct node n = {.parent = node, .func = func};
	child = (uint32_t)p->len;
	if (child >= NODES_MAX || vec_push(p, n))
		return node;
	map64_put(&p->index, key, child);
	struct node *parent = &p->data[node];
	if (parent->last_child)
		p->data[parent->last_child].next = child;
	else
		parent->first_child = child;
	p->data[node].last_child = child;
	return child;
}

void paths_call(struct paths *p, uint32_t node)
{
	p->data[node].calls++;
}

void paths_add(struct paths *p, uint32_t node, uint64_t insns, uint64_t time_ns)
{
	p->data[node].insns += insns;
	p->data[node].time_ns += time_ns;
}

struct totals {
	uint64_t insns, time_ns;
};

static void put_ipc(struct strbuf *out, double ipc, int known)
{
	strbuf_putc(out, ',');
	if (known)
		strbuf_printf(out, "%.17g", ipc);
}

static void put_path(struct strbuf *out, const struct paths *p, uint32_t node,
		     const char *(*name)(void *ctx, uint32_t func), void *ctx)
{
	uint32_t chain[DEPTH_MAX], n = 0;
	for (uint32_t i = node; i && n < DEPTH_MAX; i = p->data[i].parent)
		chain[n++] = i;
	strbuf_putc(out, '"');
	while (n-- > 0) {
		for (const char *s = name(ctx, p->data[chain[n]].func); *s; s++) {
			if (*s == '"')
				strbuf_putc(out, '"');
			strbuf_putc(out, *s);
		}
		if (n)
			strbuf_puts(out, "->");
	}
	strbuf_putc(out, '"');
}

void paths_csv(const struct paths *p, const char *(*name)(void *ctx, uint32_t func), void *ctx,
	       double ghz, struct strbuf *out)
{
	strbuf_puts(out, "function,depth,inclusive_ipc,self_ipc,ipc_drop_from_parent,call_count\n");
	struct totals *t = calloc(p->len, sizeof *t);
	if (!t) {
		out->failed = true;
		return;
	}
	for (size_t i = p->len; i-- > 0;) {
		t[i].insns += p->data[i].insns;
		t[i].time_ns += p->data[i].time_ns;
		if (i) {
			t[p->data[i].parent].insns += t[i].insns;
			t[p->data[i].parent].time_ns += t[i].time_ns;
		}
	}
	uint32_t depth = 0;
	for (uint32_t i = p->data[0].first_child; i;) {
		const struct node *n = &p->data[i];
		double ns = (double)t[i].time_ns * ghz, own = (double)n->time_ns * ghz;
		double parent_ns = (double)t[n->parent].time_ns * ghz;
		double ipc = ns > 0 ? (double)t[i].insns / ns : 0;
		double parent_ipc = parent_ns > 0 ? (double)t[n->parent].insns / parent_ns : 0;
		if (depth < DEPTH_MAX) {
			put_path(out, p, i, name, ctx);
			strbuf_printf(out, ",%u", depth);
			put_ipc(out, ipc, ns > 0);
			put_ipc(out, own > 0 ? (double)n->insns / own : 0, own > 0);
			put_ipc(out, n->parent ? ipc - parent_ipc : 0,
				ns > 0 && (!n->parent || parent_ns > 0));
			strbuf_printf(out, ",%llu\n", (unsigned long long)n->calls);
		}
		if (n->first_child) {
			i = n->first_child;
			depth++;
			continue;
		}
		while (i && !p->data[i].next) {
			i = p->data[i].parent;
			depth -= i != 0;
		}
		i = i ? p->data[i].next : 0;
	}
	free(t);
}
