/*
 * x86insn: decodes lengths by a table of opcodes, and the few instructions that move the stack.
 *
 * Any thread.
 */
#include "unwind/x86insn.h"

#include <string.h>

/* What follows an opcode. */
enum {
	M = 1,       /* ModRM, and what that asks for */
	I8 = 2,      /* an immediate of one byte */
	IZ = 4,      /* of four bytes, or two with an operand-size prefix */
	I16 = 8,     /* of two */
	GROUP3 = 16, /* IZ or I8 only for /0 and /1 */
	BAD = 32,
};

static const uint8_t follows_by_letter[128] = {
	['m'] = M,
	['b'] = I8,
	['z'] = IZ,
	['w'] = I16,
	['B'] = M | I8,
	['Z'] = M | IZ,
	['e'] = I16 | I8, /* enter */
	['3'] = M | I8 | GROUP3,
	['4'] = M | IZ | GROUP3,
	['x'] = BAD, /* none in 64-bit code, or met before: prefixes, VEX, EVEX */
};

/* A letter for each opcode of one byte; '.': nothing follows. Addresses of a0 … a3: see below. */
static const char one_byte[16][17] = {
	"mmmmbzxxmmmmbzxx", /* 00 */
	"mmmmbzxxmmmmbzxx", /* 10 */
	"mmmmbzxxmmmmbzxx", /* 20 */
	"mmmmbzxxmmmmbzxx", /* 30 */
	"................", /* 40 */
	"................", /* 50 */
	"xxxmxxxxzZbB....", /* 60 */
	"bbbbbbbbbbbbbbbb", /* 70 */
	"BZxBmmmmmmmmmmmm", /* 80 */
	"..........x.....", /* 90 */
	"........bz......", /* a0 */
	"bbbbbbbbzzzzzzzz", /* b0 */
	"BBw.xxBZe.w..bx.", /* c0 */
	"mmmmxxx.mmmmmmmm", /* d0 */
	"bbbbbbbbzzxb....", /* e0 */
	"x.xx..34......mm", /* f0 */
};

/* After 0f: ModRM save where told otherwise. */
static unsigned two_bytes(uint8_t op)
{
	if ((op & 0xf0) == 0x80)
		return IZ;
	if ((op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba || op == 0xc2 ||
	    (op >= 0xc4 && op <= 0xc6))
		return M | I8;
	if (op == 0x04 || op == 0x0a || op == 0x0c || (op >= 0x24 && op <= 0x27) || op == 0x36 ||
	    op == 0x39 || (op >= 0x3b && op <= 0x3f))
		return BAD;
	if ((op >= 0x05 && op <= 0x0b) || op == 0x0e || (op >= 0x30 && op <= 0x37) || op == 0x77 ||
	    (op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) || (op & 0xf8) == 0xc8)
		return 0;
	return M;
}

struct parts {
	unsigned opcode; /* 0x0f00 and on: after 0f; 0xf3800 and on: VEX and the longer maps */
	uint8_t rex, modrm, sib;
	bool wide_off, has_modrm; /* @wide_off: an operand-size prefix */
	int32_t disp, imm;
};

struct reader {
	const uint8_t *at;
	size_t size, pos;
	bool bad;
};

static uint8_t next(struct reader *r)
{
	if (r->pos < r->size && r->pos < 15)
		return r->at[r->pos++];
	r->bad = true;
	return 0;
}

static int32_t next_signed(struct reader *r, unsigned bytes)
{
	uint32_t v = 0;

	for (unsigned k = 0; k < bytes; k++)
		v |= (uint32_t)next(r) << 8 * k;
	return bytes == 1 ? (int8_t)v : bytes == 2 ? (int16_t)v : (int32_t)v;
}

static void read_modrm(struct reader *r, struct parts *p)
{
	p->has_modrm = true;
	p->modrm = next(r);
	unsigned mod = p->modrm >> 6, rm = p->modrm & 7;
	if (mod == 3)
		return;
	if (rm == 4)
		p->sib = next(r);
	if (mod == 1)
		p->disp = next_signed(r, 1);
	else if (mod == 2 || rm == 5 || (rm == 4 && (p->sib & 7) == 5))
		p->disp = next_signed(r, 4);
}

/* VEX, EVEX and XOP: the map is in the payload, the opcode follows it. */
static unsigned read_vex(struct reader *r, struct parts *p, uint8_t lead)
{
	uint8_t payload = next(r);
	unsigned map = lead == 0xc5 ? 1 : lead == 0x62 ? payload & 7 : payload & 0x1f;

	/* Its B is kept as REX's, for the base of an address; both are inverted. */
	p->rex = lead != 0xc5 && !(payload & 0x20);
	for (unsigned k = lead == 0xc5 ? 0 : lead == 0x62 ? 2 : 1; k > 0; k--)
		next(r);
	p->opcode = 0xf3800;
	uint8_t op = next(r);
	switch (map) {
	case 1: return two_bytes(op) & (unsigned)~IZ;
	case 3:
	case 8: return M | I8; /* 8 and on: XOP */
	case 10: return M | IZ;
	default: return M;
	}
}

/* XOP begins as a pop does, but for bits that this has as zeros. */
static bool is_xop(const struct reader *r, uint8_t op)
{
	return op == 0x8f && r->pos < r->size && (r->at[r->pos] & 0x1f) >= 8;
}

static unsigned read_opcode(struct reader *r, struct parts *p)
{
	uint8_t op = next(r);

	for (; !r->bad; op = next(r)) {
		bool prefix = op == 0x66 || op == 0xf0 || op == 0xf2 || op == 0xf3 || op == 0x2e ||
			      op == 0x36 || op == 0x3e || op == 0x26 || op == 0x64 || op == 0x65 ||
			      op == 0x67;
		if (!prefix)
			break;
		p->wide_off |= op == 0x66;
	}
	if ((op & 0xf0) == 0x40) {
		p->rex = op;
		op = next(r);
	}
	if (op == 0xc4 || op == 0xc5 || op == 0x62 || is_xop(r, op))
		return read_vex(r, p, op);
	p->opcode = op;
	if (op != 0x0f)
		return follows_by_letter[(unsigned char)one_byte[op >> 4][op & 15]];
	op = next(r);
	p->opcode = 0x0f00u + op;
	if (op != 0x38 && op != 0x3a)
		return two_bytes(op);
	next(r);
	p->opcode = 0xf3800;
	return op == 0x3a ? M | I8 : M;
}

static void read_immediate(struct reader *r, struct parts *p, unsigned follows)
{
	if (follows & GROUP3 && (p->modrm >> 3 & 7) > 1)
		return;
	bool jump = p->opcode == 0xe8 || p->opcode == 0xe9 || (p->opcode & ~0xfu) == 0x0f80;
	if (p->opcode >= 0xa0 && p->opcode <= 0xa3)
		next_signed(r, 4), next_signed(r, 4);
	else if (p->opcode >= 0xb8 && p->opcode <= 0xbf && p->rex & 8)
		next_signed(r, 4), next_signed(r, 4);
	else if (follows & IZ)
		p->imm = next_signed(r, p->wide_off && !jump ? 2 : 4);
	if (follows & I16)
		p->imm = next_signed(r, 2);
	if (follows & I8)
		p->imm = next_signed(r, 1);
}

/* lea into sp. */
static enum x86_kind lea_sp(const struct parts *p, int32_t *ret_value)
{
	bool sib = (p->modrm & 7) == 4, high = p->rex & 1;
	unsigned base = sib ? p->sib & 7 : p->modrm & 7;

	*ret_value = p->disp;
	if (p->modrm >> 6 == 0 && base == 5)
		return X86_SP_LOST;
	if (base == 5 && !high && !sib)
		return X86_SP_IS_FP;
	if (base != 4 || high)
		return X86_SP_LOST;
	return (p->sib & 0x38) == 0x20 && !(p->rex & 2) ? X86_SP_ADD : X86_SP_LOST;
}

/* From or to the stack at a plain offset, the other being the frame pointer. */
static bool is_fp_by_sp(const struct parts *p)
{
	return p->modrm >> 6 != 3 && (p->modrm & 0x3f) == 0x2c && p->sib == 0x24 && !(p->rex & 7);
}

/* Instructions whose ModRM names sp as what is written. */
static enum x86_kind into_sp(const struct parts *p, int32_t *ret_value)
{
	bool rm_is_sp = p->modrm >> 6 == 3 && (p->modrm & 7) == 4 && !(p->rex & 1);
	bool reg_is_sp = (p->modrm & 0x38) == 0x20 && !(p->rex & 4);
	unsigned group = p->modrm >> 3 & 7;

	*ret_value = p->imm;
	switch (p->opcode) {
	case 0x89:
		if (p->modrm == 0xe5 && !(p->rex & 5))
			return X86_FP_IS_SP;
		if (rm_is_sp)
			return group == 5 && !(p->rex & 4) ? X86_SP_IS_FP : X86_SP_LOST;
		*ret_value = p->disp;
		if (is_fp_by_sp(p))
			return X86_FP_STORED;
		break;
	case 0x8b:
		if (p->modrm == 0xec && !(p->rex & 5))
			return X86_FP_IS_SP;
		if (reg_is_sp)
			return p->modrm == 0xe5 && !(p->rex & 1) ? X86_SP_IS_FP : X86_SP_LOST;
		*ret_value = p->disp;
		if (is_fp_by_sp(p))
			return X86_FP_LOADED;
		break;
	case 0x8d:
		if (reg_is_sp)
			return lea_sp(p, ret_value);
		*ret_value = p->disp;
		if (is_fp_by_sp(p))
			return X86_FP_INTO;
		break;
	case 0x81:
	case 0x83:
		if (!rm_is_sp || group == 7)
			break;
		*ret_value = group == 5 ? (int32_t)(0u - (uint32_t)p->imm) : p->imm;
		return group == 0 || group == 5 ? X86_SP_ADD : X86_SP_LOST;
	case 0x3b: /* cmp 16(g),%rsp or %r12 */
		if (p->modrm >> 6 == 1 && group == 4 && p->disp == 16)
			return X86_GO_BEGINS;
		break;
	case 0x01:
	case 0x29:
		if (rm_is_sp)
			return X86_SP_LOST;
		break;
	case 0x03:
	case 0x2b:
		if (reg_is_sp)
			return X86_SP_LOST;
		break;
	case 0x87:
		if (rm_is_sp || reg_is_sp)
			return X86_SP_LOST;
		break;
	}
	bool by_fp = p->modrm >> 6 != 3 && p->modrm >> 6 && (p->modrm & 7) == 5 && !(p->rex & 1);
	return by_fp ? X86_BY_FP : X86_NEXT;
}

static enum x86_kind kind_of(const struct parts *p, int32_t *ret_value)
{
	unsigned op = p->opcode, group = p->modrm >> 3 & 7;
	bool high = p->rex & 1; /* r8 … r15 */

	*ret_value = p->imm;
	if ((op & ~0xfu) == 0x70 || (op & ~0xfu) == 0x0f80 || (op >= 0xe0 && op <= 0xe3))
		return X86_BRANCH;
	if ((op & ~0xfu) == 0x50) {
		*ret_value = (int32_t)(op & 7) + 8 * high;
		if (op == 0x5c && !high)
			return X86_SP_LOST;
		if (*ret_value == 5)
			return op & 8 ? X86_POP_FP : X86_PUSH_FP;
		return op & 8 ? X86_POP : X86_PUSH;
	}
	switch (op) {
	case 0x68:
	case 0x6a:
	case 0x9c: *ret_value = -1; return X86_PUSH;
	case 0x8f:
	case 0x9d: *ret_value = -1; return X86_POP;
	case 0xe8: return X86_CALL;
	case 0xe9:
	case 0xeb: return X86_JUMP;
	case 0xc2:
	case 0xc3: return X86_RET;
	case 0xc9: return X86_SP_IS_FP;
	case 0xc8: return X86_SP_LOST;
	case 0xca:
	case 0xcb:
	case 0xcc:
	case 0xcf:
	case 0xf4:
	case 0x0f0b: return X86_STOP;
	case 0xff:
		if (group == 4) /* an index means a table: a switch */
			return p->modrm >> 6 != 3 && (p->modrm & 7) == 4 && (p->sib & 0x38) != 0x20
				       ? X86_STOP
				       : X86_AWAY;
		if (group == 6) {
			bool slot = p->modrm >> 6 != 3 && (p->modrm & 7) == 4 && p->sib == 0x24 &&
				    !high;
			*ret_value = slot ? p->disp : -1;
			return slot ? X86_PUSH_SLOT : X86_PUSH;
		}
		if (group >= 2)
			return group <= 3 ? X86_CALL : X86_STOP;
		break;
	}
	return p->has_modrm ? into_sp(p, ret_value) : X86_NEXT;
}

bool x86_insn_read(const uint8_t *at, size_t size, struct x86_insn *ret)
{
	struct reader r = {.at = at, .size = size};
	struct parts p = {0};
	unsigned follows = read_opcode(&r, &p);

	if (follows & BAD)
		return false;
	if (follows & M)
		read_modrm(&r, &p);
	read_immediate(&r, &p, follows);
	if (r.bad)
		return false;
	ret->len = (uint8_t)r.pos;
	ret->kind = (uint8_t)kind_of(&p, &ret->value);
	return true;
}
