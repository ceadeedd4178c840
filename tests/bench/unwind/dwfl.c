/*
 * dwfl: libdw's frame iterator over a sample, with memory and registers by callback.
 */
#include "dwfl.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

struct oracle_dw {
	Dwfl *dwfl;
	pid_t pid;
	const struct stack_sample *sample;
	size_t bytes;
	uint64_t *pcs;
	uint32_t n, max;
};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	struct oracle_dw *o = arg;
	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = o;
	return o->pid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)tid;
	*thread_arg = arg;
	return true;
}

#ifdef __x86_64__
static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	static const uint8_t perf[17] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};
	struct oracle_dw *o = arg;
	Dwarf_Word r[17];
	for (int k = 0; k < 17; k++)
		r[k] = o->sample->regs.r[perf[k]];
	return dwfl_thread_state_registers(thread, 0, 17, r);
}
#else
static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	struct oracle_dw *o = arg;
	Dwarf_Word r[32];
	for (int k = 0; k < 32; k++)
		r[k] = o->sample->regs.r[k];
	dwfl_thread_state_register_pc(thread, o->sample->regs.r[32]);
	return dwfl_thread_state_registers(thread, 0, 32, r);
}
#endif

static bool memory_read(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *ret, void *arg)
{
	struct oracle_dw *o = arg;
	uint64_t at = addr - o->sample->regs.r[STACKS_SP] + RED_ZONE;
	(void)dwfl;
	if (at > o->bytes + RED_ZONE || o->bytes + RED_ZONE - at < 8)
		return false;
	memcpy(ret, o->sample->below + at, 8);
	return true;
}

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct oracle_dw *o = arg;
	Dwarf_Addr pc;
	if (o->n == o->max || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	o->pcs[o->n++] = pc;
	return DWARF_CB_OK;
}

static int no_debuginfo(Dwfl_Module *m, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **ret)
{
	(void)m, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)ret;
	return -1;
}

struct oracle_dw *oracle_dw_new(pid_t pid)
{
	static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
						 .find_debuginfo = no_debuginfo};
	static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
						      .get_thread = get_thread,
						      .memory_read = memory_read,
						      .set_initial_registers = set_registers};
	struct oracle_dw *o = calloc(1, sizeof *o);
	o->pid = pid;
	o->dwfl = dwfl_begin(&callbacks);
	oracle_dw_remap(o);
	dwfl_attach_state(o->dwfl, NULL, pid, &threads, o);
	return o;
}

void oracle_dw_remap(struct oracle_dw *o)
{
	dwfl_report_begin_add(o->dwfl);
	dwfl_linux_proc_report(o->dwfl, o->pid);
	dwfl_report_end(o->dwfl, NULL, NULL);
}

void oracle_dw_free(struct oracle_dw *o)
{
	dwfl_end(o->dwfl);
	free(o);
}

uint32_t oracle_dw_chain(struct oracle_dw *o, const struct stack_sample *s, size_t bytes,
			 uint64_t *ret_pcs, uint32_t max)
{
	o->sample = s;
	o->bytes = bytes < s->size ? bytes : s->size;
	o->pcs = ret_pcs;
	o->n = 0;
	o->max = max;
	dwfl_getthread_frames(o->dwfl, o->pid, on_frame, o);
	return o->n;
}
