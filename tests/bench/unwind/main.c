/*
 * Compares unwinders on the same real samples: ours, libunwind with custom accessors and its global
 * cache, libdw with one persistent Dwfl. Prints how many chains are identical, what differs, and
 * what a sample costs each.
 *
 * -l NAME: one line of a table instead: name, samples, frames a stack, complete %, chains that are
 * identical or differ for a known reason % (libunwind, libdw), µs a sample (own, libunwind, libdw),
 * ns a frame (own), all warm. -L prints its title. -s: also completeness and errors of cut dumps,
 * with and without completing them from the past.
 *
 * -t: instead, who was right where they part, and how often at all: the sampled thread steps on
 * until it returns (x86-64). -e EVERY: also of one sample in EVERY whose chains agree, 4. -S STEPS:
 * at most so many a sample; -x: our chains are spoilt, to see it said.
 *
 * usage: unwind [-s] [-t [-x] [-e EVERY] [-S STEPS]] [-l NAME] [-n SAMPLES] [-r HZ] [-v
 * DIFFERENCES]
 * [-c STACK_CAP] -p PID | COMMAND...
 */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "judge.h"

/* Why two chains differ, where that is known. */
enum difference {
	DIFF_NONE,
	DIFF_PROLOGUE, /* sampled in code without CFI outside its frame: oracles skip the caller */
	DIFF_ROOT,     /* they go on beyond a root */
	DIFF_STOPS,    /* they stop (code without CFI, a signal's return), ours goes on */
	DIFF_ASTRAY,   /* their next address is no code */
	DIFF_SIGNAL,   /* a signal's return without CFI: they lose the interrupted frame */
	DIFF_NO_TABLE, /* the module has .debug_frame only, which our use of libunwind lacks */
	DIFF_OTHER,
	DIFFS
};
static const char *const difference_names[DIFFS] = {
	"identical",
	"no CFI, outside its frame",
	"oracle runs past the root",
	"oracle stops early",
	"oracle goes astray",
	"signal return without CFI",
	"libunwind without .debug_frame",
	"unexplained",
};

static const struct object *object_of(struct bench *b, struct space *space, uint64_t pc)
{
	const struct mapping *m = space_find(space, pc);
	return m ? objects_get(b->u->objects, m->module) : NULL;
}

static enum difference classify(struct bench *b, const struct stack_sample *s,
				const struct chain *own, const struct chain *other, unsigned way,
				uint32_t *ret_at)
{
	struct space *space = b->stacks.spaces[s->space];
	uint64_t generation = space_generation(space);
	uint32_t at = 0;
	while (at < own->n && at < other->n && own->pcs[at] == other->pcs[at])
		at++;
	*ret_at = at;
	if (at == own->n && at == other->n)
		return DIFF_NONE;
	const struct cache_entry *e = entry_at(b->u, space, generation, own->pcs[own->n - 1],
					       own->n > 1 ? HOW_RETURN : HOW_EXACT);
	if (at == own->n && (own->end || (e && e->row.cfa == ROW_SWITCH)))
		return DIFF_ROOT;
	if (at == other->n)
		return DIFF_STOPS;
	e = entry_at(b->u, space, generation, own->pcs[0], HOW_EXACT);
	if (at > 0 && e && e->row.flags & ROW_GUESSED)
		return DIFF_PROLOGUE;
	if (!entry_at(b->u, space, generation, other->pcs[at], HOW_RETURN))
		return DIFF_ASTRAY;
	e = at > 1 ? entry_at(b->u, space, generation, own->pcs[at - 1], HOW_RETURN) : NULL;
	if (e && e->row.cfa == ROW_SIGRETURN)
		return DIFF_SIGNAL;
	const struct object *o = at ? object_of(b, space, own->pcs[at - 1]) : NULL;
	return way == 1 && o && o->image && !o->image->eh_frame_hdr ? DIFF_NO_TABLE : DIFF_OTHER;
}

/*
 * Third witnesses where two chains part, none of which unwinds. One has a frame between two that
 * they share: is there a call before its address, and does that lead to the frame inside? An
 * interrupted function: does its address stand in the registers that the kernel saved for the
 * signal's return? Else, whose next frame is on the chain of frame pointers, which Go keeps
 * everywhere and node in all code that it generates (a function that has not made its frame yet, or
 * makes none, is not on it)? And where one ends and the other goes on: is what it goes on with
 * behind a call that leads to the frame inside?
 */
static bool on_fp_chain(const struct stack_sample *s, uint64_t pc)
{
	for (uint32_t n = 0; n < s->fp_n; n++)
		if (s->fp_chain[n] == pc)
			return true;
	return false;
}

#ifdef __x86_64__
/* struct sigcontext: … rsp, rip, eflags, cs and other segments. */
static bool is_saved_pc(const struct stack_sample *s, uint64_t pc)
{
	for (size_t at = 8; at + 24 <= s->size; at += 8) {
		uint64_t w[4];

		memcpy(w, s->bytes + at - 8, sizeof w);
		if (w[1] == pc && w[0] % 8 == 0 && w[0] && (w[3] & 0xffff) == 0x33 &&
		    !(w[2] >> 22) && w[2] & 2)
			return true;
	}
	return false;
}
#else
static bool is_saved_pc(const struct stack_sample *s, uint64_t pc)
{
	(void)s, (void)pc;
	return false;
}
#endif

#define CALLEE_REACH 8192 /* bytes of a function that a call leads to the start of */

/* The process is stopped: its code is as it was. */
static bool read_code(const struct bench *b, uint64_t at, uint8_t *ret, size_t size)
{
	struct iovec to = {ret, size}, from = {(void *)(uintptr_t)at, size};

	return process_vm_readv(b->stacks.pid, &to, 1, &from, 1, 0) == (ssize_t)size;
}

static bool starts_before(uint64_t target, uint64_t inner)
{
	return target <= inner && inner - target < CALLEE_REACH;
}

/* Does the function at @target go on elsewhere by a jump, to where @inner is? */
static bool jumps_to(const struct bench *b, uint64_t target, uint64_t inner)
{
	uint8_t code[96];
	int32_t rel;

	if (!read_code(b, target, code, sizeof code))
		return false;
	for (size_t at = 0; at + 5 <= sizeof code; at++) {
		memcpy(&rel, code + at + 1, 4);
		if (code[at] == 0xe9 &&
		    starts_before(target + at + 5 + (uint64_t)(int64_t)rel, inner))
			return true;
	}
	return false;
}

/* The bytes before @pc. */
static bool call_leads_to(const struct bench *b, uint64_t pc, uint64_t inner)
{
	uint8_t code[7];
	int32_t rel;

	if (!read_code(b, pc - 7, code, sizeof code))
		return false;
	memcpy(&rel, code + 3, 4);
	if (code[2] == 0xe8) { /* direct */
		uint64_t target = pc + (uint64_t)(int64_t)rel;
		return starts_before(target, inner) || jumps_to(b, target, inner);
	}
	/* Through a register or memory: FF /2 of two to seven bytes. */
	for (unsigned at = 0; at < 6; at++)
		if (code[at] == 0xff && (code[at + 1] & 0x38) == 0x10)
			return true;
	return false;
}

#define CALLED_MOST 4

/* Has @a frames at @at that @b lacks, called ones? */
static bool has_called(const struct bench *bench, const struct chain *a, const struct chain *b,
		       uint32_t at)
{
	if (!at || at >= b->n)
		return false;
	for (uint32_t k = 0; k < CALLED_MOST && at + k + 1 < a->n; k++) {
		if (!call_leads_to(bench, a->pcs[at + k], a->pcs[at + k - 1]))
			return false;
		if (a->pcs[at + k + 1] == b->pcs[at])
			return true;
	}
	return false;
}

/* One chain has ended before @at, the other, @on, goes on there. */
static enum witness ask_about_end(const struct bench *b, const struct chain *on, bool own_goes_on,
				  bool own_is_whole, uint32_t at)
{
	bool called = at && call_leads_to(b, on->pcs[at], on->pcs[at - 1]);

	if (own_goes_on)
		return called ? WITNESS_OWN : WITNESS_NEITHER;
	return !called ? WITNESS_OWN : own_is_whole ? WITNESS_BOTH : WITNESS_OTHER;
}

/* Is the next frame an interrupted function, or the signal's return that leads to one? */
static bool leads_to_saved(const struct stack_sample *s, const struct chain *c, uint32_t at)
{
	return at < c->n &&
	       (is_saved_pc(s, c->pcs[at]) || (at + 1 < c->n && is_saved_pc(s, c->pcs[at + 1])));
}

static enum witness ask_witness(const struct bench *b, const struct stack_sample *s,
				const struct chain *own, const struct chain *other, uint32_t at)
{
	bool own_on = at < own->n, other_on = at < other->n;
	bool ours = leads_to_saved(s, own, at), theirs = leads_to_saved(s, other, at);

	if (ours != theirs)
		return ours ? WITNESS_OWN : WITNESS_OTHER;
	if (has_called(b, own, other, at) || has_called(b, other, own, at))
		return has_called(b, own, other, at) ? WITNESS_OWN : WITNESS_OTHER;
	ours = own_on && on_fp_chain(s, own->pcs[at]);
	theirs = other_on && on_fp_chain(s, other->pcs[at]);
	if (ours != theirs)
		return ours ? WITNESS_OWN : !own_on && own->end ? WITNESS_BOTH : WITNESS_OTHER;
	if (own_on != other_on)
		return ask_about_end(b, own_on ? own : other, own_on, own->end, at);
	ours = at && call_leads_to(b, own->pcs[at], own->pcs[at - 1]);
	theirs = at && call_leads_to(b, other->pcs[at], other->pcs[at - 1]);
	return ours == theirs ? WITNESS_NEITHER : ours ? WITNESS_OWN : WITNESS_OTHER;
}

static void show(struct bench *b, size_t k, const struct chain *own, const struct chain *other,
		 uint32_t at)
{
	const struct stack_sample *s = &b->stacks.samples[k];
	printf("  #%zu: own %u frames (%s), the other %u, same up to %u: last ", k, own->n,
	       cut_reason_name(own->cut), other->n, at);
	if (at)
		print_frame(b, s, own->pcs[at - 1]);
	printf("\n    own goes on ");
	for (uint32_t f = at; f < own->n && f < at + 3; f++)
		print_frame(b, s, own->pcs[f]);
	printf("\n    the other goes on ");
	for (uint32_t f = at; f < other->n && f < at + 3; f++)
		print_frame(b, s, other->pcs[f]);
	printf("\n");
}

/* Is all of @other there in @own, which has one frame more, at @at? */
static bool lacks_one(const struct chain *own, const struct chain *other, uint32_t at)
{
	return at && own->n == other->n + 1 &&
	       !memcmp(own->pcs + at + 1, other->pcs + at, (other->n - at) * sizeof *own->pcs);
}

static void compare(struct bench *b, unsigned way)
{
	static struct chain own, other;
	size_t count[DIFFS] = {0}, complete = 0, shown = 0, frames = 0, less = 0;
	for (size_t k = 0; k < b->stacks.n; k++) {
		enum witness seen = WITNESS_NEITHER;
		uint32_t at;
		ways[WAY_OWN].run(b, &b->stacks.samples[k], &own);
		ways[way].run(b, &b->stacks.samples[k], &other);
		complete += own.end;
		frames += own.n;
		enum difference d = classify(b, &b->stacks.samples[k], &own, &other, way, &at);
		count[d]++;
		less += d && lacks_one(&own, &other, at);
		if (d)
			seen = ask_witness(b, &b->stacks.samples[k], &own, &other, at);
		b->witness[way][seen] += d != DIFF_NONE;
		if ((d == DIFF_OTHER || (d && seen == WITNESS_OTHER && b->show > 9) ||
		     (!own.end && way == 1 && b->show > 9)) &&
		    shown++ < b->show)
			show(b, k, &own, &other, at);
	}
	double n = (double)b->stacks.n;
	b->complete = 100 * (double)complete / n;
	b->frames = (double)frames / n;
	b->identical[way] = 100 * (double)count[0] / n;
	b->lacks_one[way] = 100 * (double)less / n;
	b->known[way] = 100 - 100 * (double)count[DIFF_OTHER] / n;
	if (b->label)
		return;
	printf("own/%-9s identical %.3f %% of %zu", ways[way].name, 100 * (double)count[0] / n,
	       b->stacks.n);
	for (int d = 1; d < DIFFS; d++)
		if (count[d])
			printf(", %s %.3f %%", difference_names[d], 100 * (double)count[d] / n);
	printf("; complete %.2f %%, %.1f frames a stack\n", b->complete, b->frames);
}

#define BATCH      16         /* samples copied, then unwound under the clock */
#define DUMP_BYTES (64 << 10) /* of each; beyond it no unwinder reads here */

/*
 * What unwinding costs when the bytes have just arrived, as in a perf ring: a batch of samples is
 * copied into the same memory again and again, and only their unwinding is timed.
 */
static void measure(struct bench *b, unsigned way)
{
	static struct chain c;
	static uint8_t ring[BATCH][RED_ZONE + DUMP_BYTES];
	struct stack_sample fresh[BATCH];
	for (int pass = 0; pass < 2; pass++) {
		uint64_t frames = 0, ns = 0;
		for (size_t k = 0; k < b->stacks.n; k += BATCH) {
			size_t n = b->stacks.n - k < BATCH ? b->stacks.n - k : BATCH;
			for (size_t i = 0; i < n; i++) {
				fresh[i] = b->stacks.samples[k + i];
				if (fresh[i].size > DUMP_BYTES)
					fresh[i].size = DUMP_BYTES;
				memcpy(ring[i], fresh[i].below, RED_ZONE + fresh[i].size);
				fresh[i].below = ring[i];
				fresh[i].bytes = ring[i] + RED_ZONE;
			}
			uint64_t start = clock_thread_cpu_ns();
			for (size_t i = 0; i < n; i++) {
				ways[way].run(b, &fresh[i], &c);
				frames += c.n;
			}
			ns += clock_thread_cpu_ns() - start;
		}
		double us = (double)ns / 1000 / (double)b->stacks.n;
		(pass ? b->warm_us : b->cold_us)[way] = us;
		b->warm_ns[way] = (double)ns / (double)(frames ? frames : 1);
		if (!b->label)
			printf("%-9s %s %8.2f us a sample, %8.1f ns a frame\n", ways[way].name,
			       pass ? "warm" : "cold", us, b->warm_ns[way]);
	}
}

/* Cut dumps at @bytes, in the order they were taken, beside the whole ones. */
static void cut_dumps(struct bench *b, size_t bytes, bool stitch, unsigned feed)
{
	static frame_id cut[FRAMES_MAX + 1], whole[FRAMES_MAX + 1];
	struct unwind_config config = {.live = true, .stitch = stitch};
	struct unwinder *u = unwinder_new(b->tables, &config);
	struct unwind_result rc, rw;
	size_t complete = 0, stitched = 0, wrong = 0, possible = 0;
	uint64_t ns = 0;
	for (size_t k = 0; k < b->stacks.n; k++) {
		const struct stack_sample *s = &b->stacks.samples[k];
		struct space *space = b->stacks.spaces[s->space];
		struct raw_sample raw = {.tid = s->tid,
					 .regs = &s->regs,
					 .stack = s->bytes,
					 .stack_bytes = s->size,
					 .stack_asked = s->size};
		unwinder_stack(b->u, space, (task_id)s->tid, &raw, whole, FRAMES_MAX, &rw);
		raw.stack_asked = feed && k % feed == 0 ? 65528 : bytes;
		raw.stack_bytes = s->size < raw.stack_asked ? s->size : raw.stack_asked;
		uint64_t start = clock_thread_cpu_ns();
		unwinder_stack(u, space, (task_id)s->tid, &raw, cut, FRAMES_MAX, &rc);
		ns += clock_thread_cpu_ns() - start;
		possible += rw.cut == CUT_NONE;
		complete += rc.cut == CUT_NONE;
		stitched += rc.stitched > 0;
		if (!rc.stitched || rw.cut)
			continue;
		bool same_frames = rc.nframes == rw.nframes;
		for (uint32_t f = 0; same_frames && f < rc.nframes; f++) {
			const struct frame *x = tables_frame_get(b->tables, cut[f]),
					   *y = tables_frame_get(b->tables, whole[f]);
			same_frames = x->module == y->module && x->addr == y->addr;
		}
		wrong += !same_frames;
	}
	double n = (double)b->stacks.n;
	printf("%2zu KiB %-9s complete %6.2f %% (whole stacks %.2f %%), stitched %6.2f %%, of these wrong "
	       "%.3f %%, %.2f us a sample\n",
	       bytes / 1024,
	       feed     ? "fed"
	       : stitch ? "stitched"
			: "plain",
	       100 * (double)complete / n, 100 * (double)possible / n, 100 * (double)stitched / n,
	       stitched ? 100 * (double)wrong / (double)stitched : 0, (double)ns / n / 1000);
	unwinder_free(u);
}

static void print_title(void)
{
	printf("%-14s %7s %6s %9s  %-19s %-19s %-28s %s\n", "", "", "frames/", "",
	       "identical (+known) %", "identical (+known) %", "us a sample, warm", "ns a frame");
	printf("%-14s %7s %6s %9s  %-20s %-20s %9s %9s %9s %5s\n", "program", "samples", "stack",
	       "complete", "libunwind", "libdw", "own", "libunwind", "libdw", "own");
}

static void print_line(const struct bench *b)
{
	printf("%-14s %7zu %6.1f %7.2f %%  %8.3f (%7.3f)   %8.3f (%7.3f)   %9.2f %9.2f %9.2f %5.0f\n",
	       b->label, b->stacks.n, b->frames, b->complete, b->identical[1], b->known[1],
	       b->identical[2], b->known[2], b->warm_us[0], b->warm_us[1], b->warm_us[2],
	       b->warm_ns[0]);
	for (unsigned way = 1; way < 3; way++) {
		const size_t *w = b->witness[way];

		if (w[WITNESS_OWN] + w[WITNESS_OTHER] + w[WITNESS_BOTH] + w[WITNESS_NEITHER])
			printf("  %s: the stack and its calls agree with ours %zu, with it %zu, with both %zu, cannot tell "
			       "%zu\n",
			       ways[way].name, w[WITNESS_OWN], w[WITNESS_OTHER], w[WITNESS_BOTH],
			       w[WITNESS_NEITHER]);
		if (b->lacks_one[way] > 0)
			printf("  %s lacks one caller, all else is identical: %.3f %%\n",
			       ways[way].name, b->lacks_one[way]);
	}
}

static pid_t start(char **argv)
{
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		int null = open("/dev/null", O_RDWR);
		dup2(null, 0);
		dup2(null, 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	usleep(300000);
	return pid;
}

static void compare_ways(struct bench *b, pid_t pid)
{
	static const size_t sizes[] = {8192, 16384, 32768, 49152, 65528};

	b->foreign = foreign_new(b->u, true);
	b->dw = oracle_dw_new(pid);
	if (!b->label)
		printf("%zu samples, %zu states of the maps\n", b->stacks.n, b->stacks.nspaces);
	for (unsigned way = 0; way < WAYS; way++)
		measure(b, way);
	compare(b, WAY_LIBUNWIND);
	compare(b, WAY_LIBDW);
	if (b->label)
		print_line(b);
	for (size_t k = 0; b->stitch && k < 5; k++) {
		cut_dumps(b, sizes[k], false, 0);
		cut_dumps(b, sizes[k], true, 0);
		cut_dumps(b, sizes[k], true, 64);
	}
}

int main(int argc, char **argv)
{
	struct bench b = {.show = 5};
	struct judge_config judge = {.callers = 3, .every = 4, .steps = 20000};
	size_t n = 2000, cap = 1 << 20;
	unsigned hz = 950;
	pid_t pid = 0, started = 0;
	bool judged = false;
	int opt;
	while ((opt = getopt(argc, argv, "+n:r:v:p:c:stxe:S:l:L")) != -1) {
		switch (opt) {
		case 'n': n = strtoul(optarg, NULL, 0); break;
		case 'r': hz = (unsigned)atoi(optarg); break;
		case 'v': b.show = (unsigned)atoi(optarg); break;
		case 'c': cap = strtoul(optarg, NULL, 0); break;
		case 'l': b.label = optarg; break;
		case 'L': print_title(); return 0;
		case 's': b.stitch = true; break;
		case 't': judged = true; break;
		case 'x': judge.break_own = true; break;
		case 'e': judge.every = atoi(optarg); break;
		case 'S': judge.steps = strtoul(optarg, NULL, 0); break;
		case 'p': pid = atoi(optarg); break;
		default: return 2;
		}
	}
	if (!pid && optind < argc)
		pid = started = start(argv + optind);
	if (!pid)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	b.tables = tables_new();
	struct unwind_config config = {.live = true};
	b.u = unwinder_new(b.tables, &config);
	int rc = judged ? judge_run(&b, &judge, pid, n, hz, cap)
			: stacks_take(&b.stacks, b.tables, pid, n, hz, cap, NULL);
	if (rc)
		fprintf(stderr, "no samples: %s\n", strerror(-rc));
	else if (!judged)
		compare_ways(&b, pid);
	if (started)
		kill(started, SIGKILL);
	if (b.dw)
		oracle_dw_free(b.dw);
	if (b.foreign)
		foreign_free(b.foreign);
	stacks_end(&b.stacks);
	unwinder_free(b.u);
	tables_free(b.tables);
	return rc != 0;
}
