/*
 * expr: a DWARF stack machine over a small array, every push and pop checked.
 *
 * Operations that need an object, a thread or the load address (addr, fbreg, tls, calls) do not
 * occur in call frame information that can be unwound; they fail. Runs on the source thread.
 */
#include "unwind/expr.h"

#include "unwind/cursor.h"

#define STACK 64

enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_PICK,
	OP_SWAP,
	OP_ROT,
	OP_ABS = 0x19,
	OP_AND,
	OP_DIV,
	OP_MINUS,
	OP_MOD,
	OP_MUL,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_BRA,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_SKIP,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
	OP_STACK_VALUE = 0x9f,
};

struct machine {
	const struct expr_env *env;
	struct cursor c;
	const uint8_t *start;
	uint64_t stack[STACK];
	unsigned depth;
	bool failed;
};

static void push(struct machine *m, uint64_t v)
{
	if (m->depth == STACK) {
		m->failed = true;
		return;
	}
	m->stack[m->depth++] = m->env->word == 4 ? (uint32_t)v : v;
}

static uint64_t pop(struct machine *m)
{
	if (m->depth == 0) {
		m->failed = true;
		return 0;
	}
	return m->stack[--m->depth];
}

static uint64_t peek(struct machine *m, uint64_t n)
{
	if (n >= m->depth) {
		m->failed = true;
		return 0;
	}
	return m->stack[m->depth - 1 - n];
}

/* Values are signed for comparison and division. */
static int64_t as_signed(const struct machine *m, uint64_t v)
{
	return m->env->word == 4 ? (int32_t)v : (int64_t)v;
}

static uint64_t divide(struct machine *m, int64_t a, int64_t b)
{
	if (b == 0)
		m->failed = true;
	if (b == 0 || b == -1)
		return -(uint64_t)a;
	return (uint64_t)(a / b);
}

static uint64_t shift(const struct machine *m, uint8_t op, uint64_t a, uint64_t n)
{
	uint64_t bits = m->env->word * 8u;
	int64_t s = as_signed(m, a);
	if (op == OP_SHL)
		return n < bits ? a << n : 0;
	if (op == OP_SHR)
		return n < bits ? a >> n : 0;
	return (uint64_t)(n < bits ? s >> n : s >> 63);
}

static void binary(struct machine *m, uint8_t op)
{
	uint64_t b = pop(m), a = pop(m);
	int64_t sa = as_signed(m, a), sb = as_signed(m, b);
	switch (op) {
	case OP_AND: push(m, a & b); break;
	case OP_DIV: push(m, divide(m, sa, sb)); break;
	case OP_MINUS: push(m, a - b); break;
	case OP_MOD:
		m->failed |= b == 0;
		push(m, b ? a % b : 0);
		break;
	case OP_MUL: push(m, a * b); break;
	case OP_OR: push(m, a | b); break;
	case OP_PLUS: push(m, a + b); break;
	case OP_SHL:
	case OP_SHR:
	case OP_SHRA: push(m, shift(m, op, a, b)); break;
	case OP_XOR: push(m, a ^ b); break;
	case OP_EQ: push(m, sa == sb); break;
	case OP_GE: push(m, sa >= sb); break;
	case OP_GT: push(m, sa > sb); break;
	case OP_LE: push(m, sa <= sb); break;
	case OP_LT: push(m, sa < sb); break;
	case OP_NE: push(m, sa != sb); break;
	default: m->failed = true; break;
	}
}

static void jump(struct machine *m, bool taken)
{
	int64_t by = cursor_int(&m->c, 2);
	if (!taken)
		return;
	if (by < m->start - m->c.at || by > m->c.end - m->c.at)
		m->failed = true;
	else
		m->c.at += by;
}

static void breg(struct machine *m, uint64_t reg)
{
	int64_t off = cursor_sleb(&m->c);
	uint64_t v = 0;
	if (reg > UINT16_MAX || !m->env->reg(m->env->ctx, (unsigned)reg, &v))
		m->failed = true;
	push(m, v + (uint64_t)off);
}

static void deref(struct machine *m, unsigned bytes)
{
	uint64_t v = 0;
	if (bytes == 0 || bytes > m->env->word || !m->env->read(m->env->ctx, pop(m), bytes, &v))
		m->failed = true;
	push(m, v);
}

static void rotate(struct machine *m)
{
	uint64_t a = pop(m), b = pop(m), c = pop(m);
	push(m, a);
	push(m, c);
	push(m, b);
}

static void constant(struct machine *m, uint8_t op)
{
	unsigned bytes = 1u << (op - OP_CONST1U) / 2;
	if ((op - OP_CONST1U) % 2)
		push(m, (uint64_t)cursor_int(&m->c, bytes));
	else
		push(m, cursor_uint(&m->c, bytes));
}

static void unary(struct machine *m, uint8_t op)
{
	uint64_t a = pop(m);
	switch (op) {
	case OP_ABS: push(m, as_signed(m, a) < 0 ? -a : a); break;
	case OP_NEG: push(m, -a); break;
	case OP_NOT: push(m, ~a); break;
	default: push(m, a + cursor_uleb(&m->c)); break;
	}
}

static void other(struct machine *m, uint8_t op)
{
	uint64_t a, b;
	switch (op) {
	case OP_DEREF: deref(m, m->env->word); break;
	case OP_DEREF_SIZE: deref(m, cursor_byte(&m->c)); break;
	case OP_CONSTU: push(m, cursor_uleb(&m->c)); break;
	case OP_CONSTS: push(m, (uint64_t)cursor_sleb(&m->c)); break;
	case OP_DUP: push(m, peek(m, 0)); break;
	case OP_DROP: pop(m); break;
	case OP_OVER: push(m, peek(m, 1)); break;
	case OP_PICK: push(m, peek(m, cursor_byte(&m->c))); break;
	case OP_SWAP:
		a = pop(m);
		b = pop(m);
		push(m, a);
		push(m, b);
		break;
	case OP_ROT: rotate(m); break;
	case OP_ABS:
	case OP_NEG:
	case OP_NOT:
	case OP_PLUS_UCONST: unary(m, op); break;
	case OP_BRA: jump(m, pop(m) != 0); break;
	case OP_SKIP: jump(m, true); break;
	case OP_BREGX: breg(m, cursor_uleb(&m->c)); break;
	case OP_NOP: break;
	case OP_STACK_VALUE: m->c.at = m->c.end; break;
	default: binary(m, op); break; /* fails on what it does not know */
	}
}

bool expr_eval(const uint8_t *bytes, size_t size, const struct expr_env *env,
	       const uint64_t *initial, uint64_t *ret_value)
{
	struct machine m = {.env = env, .start = bytes};
	m.c = cursor_make(bytes, size);
	if (initial)
		push(&m, *initial);
	while (cursor_left(&m.c) && !m.c.bad && !m.failed) {
		if (*env->budget == 0)
			return false;
		--*env->budget;
		uint8_t op = cursor_byte(&m.c);
		if (op >= OP_LIT0 && op < OP_LIT0 + 32)
			push(&m, op - OP_LIT0);
		else if (op >= OP_BREG0 && op < OP_BREG0 + 32)
			breg(&m, op - OP_BREG0);
		else if (op >= OP_CONST1U && op <= OP_CONST8S)
			constant(&m, op);
		else
			other(&m, op);
	}
	uint64_t v = pop(&m);
	if (m.c.bad || m.failed)
		return false;
	*ret_value = v;
	return true;
}
