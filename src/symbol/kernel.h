/*
 * kernel: the running kernel's symbols, its modules' and its BPF programs', from /proc/kallsyms.
 *
 * Read once, on first use (a few tens of milliseconds), and again when an address is asked for that
 * no symbol covers, at most once a second and ever more rarely while that does not help. One
 * thread.
 */
#ifndef ALTPTTOP_KERNEL_H
#define ALTPTTOP_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel;

struct kernel_symbol {
	uint64_t start, end;
	const char *name;
	const char *module; /* "ext4", "bpf"; "" the kernel itself. Good until the next call. */
};

struct kernel *kernel_new(const char *path); /* NULL: /proc/kallsyms */
void kernel_free(struct kernel *k);
bool kernel_loaded(const struct kernel *k);

/* False: no symbol, or the addresses are hidden (then kernel_reason says why). */
bool kernel_find(struct kernel *k, uint64_t addr, struct kernel_symbol *ret_symbol);
/* The address of a symbol by its name, 0 none. */
uint64_t kernel_address(struct kernel *k, const char *name);
/* Why there are no kernel names, and what to type; "" when there are. */
const char *kernel_reason(const struct kernel *k);

#endif
