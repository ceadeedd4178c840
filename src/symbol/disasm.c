/*
 * disasm: capstone behind a small door, so that it can be replaced here.
 *
 * Text is AT&T on x86 as perf and objdump write it. Direct targets come from the operands, not from
 * the text. Runs on the resolver thread.
 */
#include "disasm.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>

struct disasm {
	csh handle;
	cs_insn *insn;
	enum arch arch;
};

static const struct {
	cs_arch arch;
	cs_mode mode;
	unsigned step;
} machines[] = {
	[ARCH_X86_64] = {CS_ARCH_X86, CS_MODE_64, 1},
	[ARCH_AARCH64] = {CS_ARCH_ARM64, CS_MODE_ARM, 4},
	[ARCH_X86] = {CS_ARCH_X86, CS_MODE_32, 1},
	[ARCH_ARM] = {CS_ARCH_ARM, CS_MODE_ARM, 4},
};

struct disasm *disasm_new(enum arch arch)
{
	struct disasm *d;

	if ((unsigned)arch >= sizeof machines / sizeof *machines || !(d = calloc(1, sizeof *d)))
		return NULL;
	d->arch = arch;
	if (cs_open(machines[arch].arch, machines[arch].mode, &d->handle) != CS_ERR_OK) {
		free(d);
		return NULL;
	}
	cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (arch == ARCH_X86_64 || arch == ARCH_X86)
		cs_option(d->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	d->insn = cs_malloc(d->handle);
	if (!d->insn) {
		disasm_free(d);
		return NULL;
	}
	return d;
}

void disasm_free(struct disasm *d)
{
	if (!d)
		return;
	if (d->insn)
		cs_free(d->insn, 1);
	cs_close(&d->handle);
	free(d);
}

unsigned disasm_step(const struct disasm *d)
{
	return machines[d->arch].step;
}

static void x86_operands(const cs_insn *in, struct disasm_insn *to)
{
	const cs_x86 *x = &in->detail->x86;

	for (uint8_t i = 0; i < x->op_count; i++) {
		const cs_x86_op *op = &x->operands[i];

		if (op->type == X86_OP_IMM && (to->call || to->jump))
			to->target = (uint64_t)op->imm;
		else if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP)
			to->data = in->address + in->size + (uint64_t)op->mem.disp;
	}
}

static void arm64_operands(const cs_insn *in, struct disasm_insn *to)
{
	const cs_arm64 *a = &in->detail->arm64;

	for (uint8_t i = 0; i < a->op_count; i++)
		if (a->operands[i].type == ARM64_OP_IMM) {
			if (to->call || to->jump)
				to->target = (uint64_t)a->operands[i].imm;
			else if (in->id == ARM64_INS_ADR || in->id == ARM64_INS_ADRP)
				to->data = (uint64_t)a->operands[i].imm;
		}
}

static void arm_operands(const cs_insn *in, struct disasm_insn *to)
{
	const cs_arm *a = &in->detail->arm;

	for (uint8_t i = 0; i < a->op_count; i++)
		if (a->operands[i].type == ARM_OP_IMM && (to->call || to->jump))
			to->target = (uint32_t)a->operands[i].imm;
}

bool disasm_one(struct disasm *d, const uint8_t *bytes, size_t size, uint64_t addr,
		struct disasm_insn *ret_insn)
{
	cs_insn *in = d->insn;
	bool bl;

	if (!cs_disasm_iter(d->handle, &bytes, &size, &addr, in))
		return false;
	*ret_insn = (struct disasm_insn){.size = (uint8_t)in->size};
	/* capstone 4 puts aarch64's bl among the jumps. */
	bl = d->arch == ARCH_AARCH64 && (in->id == ARM64_INS_BL || in->id == ARM64_INS_BLR);
	ret_insn->call = cs_insn_group(d->handle, in, CS_GRP_CALL) || bl;
	ret_insn->jump = cs_insn_group(d->handle, in, CS_GRP_JUMP) && !ret_insn->call;
	if (d->arch == ARCH_AARCH64)
		arm64_operands(in, ret_insn);
	else if (d->arch == ARCH_ARM)
		arm_operands(in, ret_insn);
	else
		x86_operands(in, ret_insn);
	if (in->op_str[0])
		snprintf(ret_insn->text, sizeof ret_insn->text, "%-6s %s", in->mnemonic,
			 in->op_str);
	else
		snprintf(ret_insn->text, sizeof ret_insn->text, "%s", in->mnemonic);
	return true;
}
