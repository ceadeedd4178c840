/*
 * reckernel: choosing among the running kernel's symbols, perf's copy of them, and vmlinux files.
 *
 * A kernel with address randomisation lies elsewhere after each boot, so that addresses are moved
 * by the difference of one reference symbol, as perf records it. Modules move by themselves: their
 * symbols serve within one boot only. Runs on the resolver thread.
 */
#include "reckernel.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTES_MAX   65536
#define MADE_MAX    65536u
#define CACHE_BYTES ((size_t)128 << 20)

void reckernel_init(struct reckernel *k, struct tables *tables, const struct program_env *here)
{
	memset(k, 0, sizeof *k);
	k->tables = tables;
	k->here = here;
	k->env.tables = tables;
	k->env.debug_dirs = here->debug_dirs;
	k->env.no_inline = here->no_inline;
	k->env.cache.cap = CACHE_BYTES;
}

static void forget(struct reckernel *k)
{
	kernel_free(k->kallsyms);
	program_free(k->vmlinux);
	k->kallsyms = NULL;
	k->vmlinux = NULL;
	k->chosen = false;
	k->why[0] = '\0';
}

void reckernel_fini(struct reckernel *k)
{
	forget(k);
	vec_fini(&k->made);
}

void reckernel_add(struct reckernel *k, uint64_t addr, uint32_t size, const char *name)
{
	struct reckernel_made m = {addr, addr + size, tables_str(k->tables, name)};

	if (m.end > m.start && k->made.len < MADE_MAX)
		(void)vec_push(&k->made, m);
}

bool reckernel_origin(struct reckernel *k, const struct raw_origin *o)
{
	struct reckernel old = *k;

	k->same_boot = o->same_boot;
	k->same_machine = o->same_machine;
	if (o->kernel_text) {
		k->text = o->kernel_text;
		snprintf(k->symbol, sizeof k->symbol, "%s",
			 o->kernel_symbol ? o->kernel_symbol : "");
	}
	if (o->release && o->release[0])
		snprintf(k->release, sizeof k->release, "%s", o->release);
	if (o->kernel_build_id_size && o->kernel_build_id_size <= sizeof k->build_id) {
		memcpy(k->build_id, o->kernel_build_id, o->kernel_build_id_size);
		k->build_id_size = o->kernel_build_id_size;
	}
	if (old.same_boot == k->same_boot && old.same_machine == k->same_machine &&
	    old.text == k->text && old.build_id_size == k->build_id_size &&
	    !memcmp(old.build_id, k->build_id, sizeof k->build_id) &&
	    !strcmp(old.release, k->release))
		return false;
	forget(k);
	return true;
}

/* ---- the running kernel ---- */

static bool is_running(const struct reckernel *k)
{
	int fd = open(k->own_notes ? k->own_notes : "/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	uint8_t id[32], size = 0;
	char *notes = malloc(NOTES_MAX);
	ssize_t n = fd >= 0 && notes ? read(fd, notes, NOTES_MAX) : -1;

	if (n > 0)
		size = image_note_build_id(notes, (size_t)n, 4, id);
	free(notes);
	if (fd >= 0)
		close(fd);
	return size && size == k->build_id_size && !memcmp(id, k->build_id, size);
}

/* Symbols of another boot, or of this one: by how much they lie elsewhere. */
static bool take_kallsyms(struct reckernel *k, const char *path)
{
	struct kernel *symbols = kernel_new(path);
	uint64_t there = symbols && k->text ? kernel_address(symbols, k->symbol) : 0;

	if (symbols && !there)
		(void)kernel_address(symbols, "_text"); /* reads them */
	if (symbols && kernel_reason(symbols)[0] && path == k->own_kallsyms)
		snprintf(k->why, sizeof k->why, "%s", kernel_reason(symbols));
	if (!symbols || kernel_reason(symbols)[0] ||
	    (!there && !(k->same_boot && path == k->own_kallsyms))) {
		kernel_free(symbols);
		return false;
	}
	k->move = there ? there - k->text : 0;
	k->kallsyms = symbols;
	return true;
}

/* Without a build id: as far as names, releases and the place of its text tell. */
static bool take_same_machine(struct reckernel *k)
{
	if (!k->same_machine || k->build_id_size || !k->text || !take_kallsyms(k, k->own_kallsyms))
		return false;
	if (!k->move)
		return true;
	kernel_free(k->kallsyms);
	k->kallsyms = NULL;
	return false;
}

/* ---- files by build id ---- */

static void hex(const struct reckernel *k, char to[65])
{
	for (size_t i = 0; i < k->build_id_size; i++)
		sprintf(to + 2 * i, "%02x", k->build_id[i]);
	to[2 * (size_t)k->build_id_size] = '\0';
}

static bool is_regular(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

static bool from_perf_cache(struct reckernel *k, const char *id)
{
	const char *home = getenv("HOME");
	char path[PATH_MAX];

	if (!home)
		return false;
	snprintf(path, sizeof path, "%s/.debug/.build-id/%.2s/%s/kallsyms", home, id, id + 2);
	return is_regular(path) && take_kallsyms(k, path);
}

static bool has_build_id(const struct reckernel *k, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct image *image = NULL;
	bool same = false;

	if (fd >= 0 && is_regular(path) && !image_open(fd, 0, &image, NULL))
		same = image->build_id_size == k->build_id_size &&
		       !memcmp(image->build_id, k->build_id, k->build_id_size);
	image_close(image);
	if (fd >= 0)
		close(fd);
	return same;
}

/* Where its reference symbol lies in the file; a symbol beside it may have taken its place. */
static uint64_t reference_in(struct program *p, const char *symbol)
{
	const struct image *image = p->image[IMAGE_MAIN];
	uint64_t at = symtab_start_of(&p->symtab, symbol), least = UINT64_MAX;

	for (uint32_t i = 0; image && !at && i < image->nsegments; i++)
		if (image->segments[i].flags & PF_X && image->segments[i].vaddr < least)
			least = image->segments[i].vaddr;
	return at ? at : least == UINT64_MAX ? 0 : least;
}

static bool take_file(struct reckernel *k, const char *path)
{
	struct module m = {.kind = MODULE_FILE, .build_id_size = k->build_id_size};
	uint64_t there;

	if (!has_build_id(k, path))
		return false;
	memcpy(m.build_id, k->build_id, k->build_id_size);
	m.path = m.name = tables_str(k->tables, path);
	k->vmlinux = program_open(&k->env, tables_module(k->tables, &m), NULL);
	there = k->vmlinux && k->vmlinux->image[IMAGE_MAIN] ? reference_in(k->vmlinux, k->symbol)
							    : 0;
	if (!there) {
		program_free(k->vmlinux);
		k->vmlinux = NULL;
		return false;
	}
	k->move = there - k->text;
	return true;
}

static bool from_files(struct reckernel *k, const char *id)
{
	static const char *const by_release[] = {
		"/boot/vmlinux-",
		"",
		"/usr/lib/debug/boot/vmlinux-",
		"",
		"/usr/lib/debug/lib/modules/",
		"/vmlinux",
		"/lib/modules/",
		"/build/vmlinux",
		"/lib/modules/",
		"/vmlinux",
		"/usr/lib/debug/boot/vmlinux-",
		".debug",
	};
	const char *symfs = k->here->access.symfs ? k->here->access.symfs : "";
	const char *home = getenv("HOME");
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof by_release / sizeof *by_release; i += 2) {
		snprintf(path, sizeof path, "%s%s%s%s", symfs, by_release[i], k->release,
			 by_release[i + 1]);
		if (k->release[0] && !strchr(k->release, '/') && take_file(k, path))
			return true;
	}
	static const char *const plain[] = {"/boot/vmlinux", "/vmlinux"};
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s%s", symfs, plain[i]);
		if (take_file(k, path))
			return true;
	}
	snprintf(path, sizeof path, "%s/usr/lib/debug/.build-id/%.2s/%s.debug", symfs, id, id + 2);
	if (take_file(k, path))
		return true;
	static const char *const cached[] = {"vmlinux", "elf", "debug"};
	for (size_t i = 0; home && i < 3; i++) {
		snprintf(path, sizeof path, "%s/.debug/.build-id/%.2s/%s/%s", home, id, id + 2,
			 cached[i]);
		if (take_file(k, path))
			return true;
	}
	return false;
}

static void choose(struct reckernel *k)
{
	char id[65];

	k->chosen = true;
	if ((k->same_boot || is_running(k)) && take_kallsyms(k, k->own_kallsyms))
		return;
	if (take_same_machine(k))
		return;
	if (k->build_id_size < 2 || !k->text) {
		if (!k->why[0])
			snprintf(k->why, sizeof k->why,
				 "no kernel names: the recording does not say which kernel it was "
				 "made on");
		return;
	}
	hex(k, id);
	if (from_perf_cache(k, id) || from_files(k, id)) {
		k->why[0] = '\0';
		return;
	}
	if (!k->why[0])
		snprintf(k->why, sizeof k->why,
			 "no kernel names: recorded on another kernel (build id %.12s): put its "
			 "vmlinux at %s/boot/vmlinux-%.60s",
			 id, k->here->access.symfs ? k->here->access.symfs : "DIR (--symfs DIR)",
			 k->release[0] ? k->release : "RELEASE");
}

bool reckernel_find(struct reckernel *k, uint64_t addr, struct kernel_symbol *ret_symbol)
{
	for (size_t i = k->made.len; i-- > 0;) {
		const struct reckernel_made *m = &k->made.data[i];

		if (addr < m->start || addr >= m->end)
			continue;
		*ret_symbol = (struct kernel_symbol){m->start, m->end,
						     tables_text(k->tables, m->name), "bpf"};
		return true;
	}
	if (!k->chosen)
		choose(k);
	if (!k->kallsyms || !kernel_find(k->kallsyms, addr + k->move, ret_symbol))
		return false;
	/* Another boot's modules and BPF programs lay elsewhere. */
	return k->same_boot || !ret_symbol->module[0];
}

struct program *reckernel_file(struct reckernel *k, uint64_t addr, uint64_t *ret_addr)
{
	if (!k->chosen)
		choose(k);
	*ret_addr = addr + k->move;
	return k->vmlinux;
}

const char *reckernel_why(const struct reckernel *k)
{
	return k->why;
}
