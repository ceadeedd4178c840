/*
 * formula: a recursive descent over sums and products, compiled to postfix. Pure.
 */
#include "event/formula.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	const char *text, *at;
	const struct formula_names *names;
	struct formula *f;
	struct err *err;
	int depth;
};

static int sum(struct parser *p);

static int wrong(struct parser *p, const char *what)
{
	return err_set(p->err, EINVAL, "%s at \"%.40s\" in the formula %.120s", what, p->at,
		       p->text);
}

static int emit(struct parser *p, struct formula_op op)
{
	if (p->f->n == FORMULA_OPS)
		return wrong(p, "too long");
	p->f->ops[p->f->n++] = op;
	return 0;
}

static void blanks(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

/* Another formula stands here: all of it. */
static int take_in(struct parser *p, const struct formula *f)
{
	int rc = 0;

	for (uint16_t i = 0; !rc && i < f->n; i++)
		rc = emit(p, f->ops[i]);
	p->f->uses |= f->uses;
	return rc;
}

static int name(struct parser *p)
{
	const struct formula_names *names = p->names;
	const struct formula *inner = NULL;
	int len = 0, index;

	while (isalnum((unsigned char)p->at[len]) || p->at[len] == '_' || p->at[len] == '.')
		len++;
	index = names->value(names->ctx, p->at, len);
	if (index < 0 && names->formula)
		inner = names->formula(names->ctx, p->at, len);
	if (!inner && (index < 0 || index > 31))
		return wrong(p, "unknown event");
	p->at += len;
	if (inner)
		return take_in(p, inner);
	p->f->uses |= (uint32_t)1 << index;
	return emit(p, (struct formula_op){.kind = '@', .index = (uint16_t)index});
}

static int factor(struct parser *p)
{
	int rc;

	blanks(p);
	if (isdigit((unsigned char)*p->at)) {
		char *end;
		double number = strtod(p->at, &end);

		p->at = end;
		return emit(p, (struct formula_op){.kind = '#', .number = number});
	}
	if (isalpha((unsigned char)*p->at))
		return name(p);
	if (*p->at != '(' && *p->at != '-')
		return wrong(p, "a name or a number is missing");
	if (++p->depth > FORMULA_DEEP)
		return wrong(p, "too deep");
	if (*p->at++ == '-') {
		rc = factor(p);
		p->depth--;
		return rc ? rc : emit(p, (struct formula_op){.kind = '~'});
	}
	rc = sum(p);
	p->depth--;
	if (rc)
		return rc;
	blanks(p);
	if (*p->at != ')')
		return wrong(p, ") is missing");
	p->at++;
	return 0;
}

static int chain(struct parser *p, int (*part)(struct parser *), const char *signs)
{
	int rc = part(p);

	for (;;) {
		char sign;

		blanks(p);
		if (rc || !*p->at || !strchr(signs, *p->at))
			return rc;
		sign = *p->at++;
		rc = part(p);
		if (!rc)
			rc = emit(p, (struct formula_op){.kind = sign});
	}
}

static int product(struct parser *p)
{
	return chain(p, factor, "*/");
}

static int sum(struct parser *p)
{
	return chain(p, product, "+-");
}

int formula_parse(const char *text, const struct formula_names *names, struct formula *ret,
		  struct err *err)
{
	struct formula f = {0};
	struct parser p = {.text = text, .at = text, .names = names, .f = &f, .err = err};
	int rc = sum(&p);

	if (!rc && *p.at)
		rc = wrong(&p, "more than a formula");
	if (!rc)
		*ret = f;
	return rc;
}

double formula_value(const struct formula *f, const double *values)
{
	double stack[FORMULA_OPS];
	int top = 0;

	for (uint16_t i = 0; i < f->n; i++) {
		const struct formula_op *op = &f->ops[i];

		switch (op->kind) {
		case '#': stack[top++] = op->number; continue;
		case '@': stack[top++] = values[op->index]; continue;
		case '~': stack[top - 1] = -stack[top - 1]; continue;
		default: top--; break;
		}
		if (op->kind == '+')
			stack[top - 1] += stack[top];
		else if (op->kind == '-')
			stack[top - 1] -= stack[top];
		else if (op->kind == '*')
			stack[top - 1] *= stack[top];
		else
			stack[top - 1] = fpclassify(stack[top]) == FP_ZERO
						 ? (double)NAN
						 : stack[top - 1] / stack[top];
	}
	return top == 1 ? stack[0] : (double)NAN;
}
