/*
 * perf_raw: mappings, registers, chains and hardware call stacks out of parsed records.
 *
 * Pure, any thread. The bytes are perf_record.c's, what a stack means is unwind/'s.
 */
#include "codec/perf_raw.h"

#include <sys/mman.h>

#define KERNEL_HALF (1ull << 63)

void raw_from_mmap(const struct record_side *r, struct raw_mmap *ret)
{
	/* simpleperf tells no protection of generated code, but a mark of its own. */
	const uint32_t known = PROT_READ | PROT_WRITE | PROT_EXEC;

	*ret = (struct raw_mmap){
		.time_ns = r->who.time,
		.pid = r->mmap.pid,
		.tid = r->mmap.tid,
		.start = r->mmap.addr,
		.size = r->mmap.len,
		.pgoff = r->mmap.pgoff,
		.dev_major = r->mmap.major,
		.dev_minor = r->mmap.minor,
		.inode = r->mmap.inode,
		.prot = r->mmap.prot,
		.kernel = (r->header.misc & MISC_CPUMODE) == CPUMODE_KERNEL,
		.path = r->mmap.path,
		.build_id = r->mmap.build_id,
		.build_id_size = r->mmap.build_id_size,
	};
	if (r->header.type == RECORD_MMAP || !(ret->prot & known))
		ret->prot = PROT_READ | (r->header.misc & MISC_MMAP_DATA ? 0 : PROT_EXEC);
}

/* What a program of that ABI sees. */
static enum arch arch_of(enum arch machine, uint64_t abi)
{
	if (abi == 1)
		return machine == ARCH_X86_64    ? ARCH_X86
		       : machine == ARCH_AARCH64 ? ARCH_ARM
						 : machine;
	return abi == 2 ? machine : ARCH_OTHER;
}

/* Registers by their numbers. */
static void fill_regs(const struct record_regs *from, enum arch machine, struct sample_regs *to)
{
	const uint64_t *r = from->r;

	to->arch = arch_of(machine, from->abi);
	to->mask = from->mask & (((uint64_t)1 << SAMPLE_REGS) - 1);
	for (uint64_t mask = from->mask; mask; mask &= mask - 1, r++) {
		unsigned reg = (unsigned)__builtin_ctzll(mask);

		if (reg < SAMPLE_REGS)
			to->r[reg] = *r;
	}
}

static uint16_t flags_of(const struct record_sample *s)
{
	uint16_t flags = 0;

	if (s->cpumode == CPUMODE_KERNEL || s->cpumode == CPUMODE_HYPERVISOR)
		flags |= SAMPLE_KERNEL;
	if (s->cpumode == CPUMODE_GUEST_KERNEL || s->cpumode == CPUMODE_GUEST_USER)
		flags |= SAMPLE_GUEST;
	if (s->exact_ip)
		flags |= SAMPLE_EXACT;
	return flags;
}

/*
 * The call stack that the hardware kept: the sampled instruction, where the newest call went (it
 * may have left there by a tail call or through a PLT stub), then from where each call came. The
 * way into the kernel, which some processors keep too, is in the kernel's own chain. Where the
 * thread left its own code the kernel's walk of the user's stack could tell, but not what calls it
 * was in there when the processor forgot them.
 */
static void fill_lbr(const struct record_sample *s, uint64_t *lbr, struct raw_sample *raw)
{
	uint32_t n = 0;

	if (!(raw->flags & SAMPLE_KERNEL) && s->ip)
		lbr[n++] = s->ip;
	raw->lbr_has_pc = n;
	if (s->branches[0].to < KERNEL_HALF)
		lbr[n++] = s->branches[0].to;
	for (uint64_t i = 0; i < s->nbranches && i < RAW_LBR_MAX; i++)
		if (s->branches[i].from < KERNEL_HALF)
			lbr[n++] = s->branches[i].from;
	raw->user = lbr;
	raw->nuser = n;
	raw->user_is_lbr = true;
}

void raw_from_sample(const struct record_layout *l, const struct record_sample *s,
		     enum arch machine, struct raw_room *room, struct raw_sample *ret)
{
	struct record_chain chain;

	*ret = (struct raw_sample){
		.time_ns = s->who.time,
		.pid = s->who.pid,
		.tid = s->who.tid,
		.cpu = s->who.fields & FIELD_CPU ? s->who.cpu : UINT32_MAX,
		.flags = flags_of(s),
		.ip = s->ip,
	};
	if (s->nchain) {
		record_chain_split(s->chain, s->nchain, s->cpumode, room->chain, RAW_CHAIN_MAX,
				   &chain);
		ret->kernel = chain.kernel;
		ret->nkernel = chain.nkernel;
		ret->user = chain.user;
		ret->nuser = chain.nuser;
	}
	if (s->regs_user.abi && s->stack_asked) {
		fill_regs(&s->regs_user, machine, &room->regs);
		ret->regs = &room->regs;
		ret->stack = s->stack;
		ret->stack_bytes = s->stack_bytes;
		ret->stack_asked = s->stack_asked;
	} else if (l->branch_type & BRANCH_CALL_STACK && s->nbranches) {
		fill_lbr(s, room->lbr, ret);
	}
}
