/*
 * kernel: a sorted copy of /proc/kallsyms.
 *
 * The kernel formats each line anew, so reading is what costs; it is done in large pieces and
 * parsed as it comes. Only code symbols are kept. Where kptr_restrict hides the addresses every one
 * of them reads as zero. Runs on the resolver thread.
 */
#include "kernel.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"

#define SYMBOLS_MAX  4000000u
#define TEXT_MAX     (256u << 20)
#define MODULES_MAX  8192
#define LAST_SIZE    4096 /* how far the last symbol of the kernel or of a module reaches */
#define AGAIN_NS     1000000000ull /* doubled after each reading that did not help */
#define AGAIN_MAX_NS 64000000000ull
#define PIECE        65536

#define ANCHORS 2
static const char *const anchors[ANCHORS] = {"_text", "_stext"};

struct entry {
	uint64_t addr;
	uint32_t name;
	uint16_t module; /* index in modules, 0 the kernel */
	uint8_t rank;
};

struct kernel {
	char *path;
	struct {
		VEC(struct entry)
	} entries;
	struct {
		VEC(char)
	} text;
	struct {
		VEC(uint32_t) /* offsets in text */
	} modules;
	uint64_t anchors[ANCHORS]; /* their addresses: a better symbol may take their place */
	bool loaded;
	uint64_t loaded_ns, again_ns;
	char reason[256];
};

struct kernel *kernel_new(const char *path)
{
	struct kernel *k = calloc(1, sizeof *k);

	if (k)
		k->path = strdup(path ? path : "/proc/kallsyms");
	return k;
}

static void forget(struct kernel *k)
{
	vec_fini(&k->entries);
	vec_fini(&k->text);
	vec_fini(&k->modules);
}

void kernel_free(struct kernel *k)
{
	if (!k)
		return;
	forget(k);
	free(k->path);
	free(k);
}

bool kernel_loaded(const struct kernel *k)
{
	return k->loaded;
}

const char *kernel_reason(const struct kernel *k)
{
	return k->reason;
}

static int keep_text(struct kernel *k, const char *s, size_t len, uint32_t *ret_offset)
{
	if (k->text.len + len + 1 > TEXT_MAX || vec_reserve(&k->text, k->text.len + len + 1))
		return -ENOMEM;
	*ret_offset = (uint32_t)k->text.len;
	memcpy(k->text.data + k->text.len, s, len);
	k->text.data[k->text.len + len] = '\0';
	k->text.len += len + 1;
	return 0;
}

/* Index of the module named in `[name]`; lines of one module come together. */
static uint16_t module_index(struct kernel *k, const char *s, size_t len)
{
	uint32_t offset;

	for (size_t i = k->modules.len; i-- > 1 && k->modules.len - i < 64;) {
		const char *name = k->text.data + k->modules.data[i];

		if (!strncmp(name, s, len) && name[len] == '\0')
			return (uint16_t)i;
	}
	if (k->modules.len >= MODULES_MAX || keep_text(k, s, len, &offset) ||
	    vec_push(&k->modules, offset))
		return 0;
	return (uint16_t)(k->modules.len - 1);
}

/*
 * `ffffffff81000000 T name\t[module]`. False: it cannot be kept, and what lies there would bear the
 * name of the symbol before it.
 */
static bool take_line(struct kernel *k, const char *line, const char *end)
{
	struct entry e = {0};
	const char *name, *p;
	char *rest;
	unsigned underscores = 0;

	e.addr = strtoull(line, &rest, 16);
	if (rest == line || end - rest < 4 || rest[0] != ' ' || !strchr("tTwW", rest[1]) ||
	    rest[2] != ' ')
		return true;
	name = rest + 3;
	for (p = name; p < end && *p != '\t' && *p != ' '; p++)
		;
	for (int i = 0; i < ANCHORS; i++)
		if ((size_t)(p - name) == strlen(anchors[i]) &&
		    !memcmp(name, anchors[i], (size_t)(p - name)))
			k->anchors[i] = e.addr;
	if (p == name || name[0] == '$' || !strncmp(name, ".L", 2))
		return true;
	while (underscores < 15 && name + underscores < p && name[underscores] == '_')
		underscores++;
	e.rank = (uint8_t)((rest[1] == 'T' ? 2 : rest[1] == 't' ? 0 : 1) << 4 | (15 - underscores));
	if (k->entries.len >= SYMBOLS_MAX || keep_text(k, name, (size_t)(p - name), &e.name))
		return false;
	while (p < end && (*p == '\t' || *p == ' '))
		p++;
	if (p < end && *p == '[' && end[-1] == ']' && end - p > 2)
		e.module = module_index(k, p + 1, (size_t)(end - p - 2));
	return !vec_push(&k->entries, e);
}

/* False: not all of it could be kept. */
static bool read_lines(struct kernel *k, int fd)
{
	char *piece = malloc(PIECE + 1);
	bool kept = piece != NULL;
	size_t held = 0;
	ssize_t n;

	while (kept && (n = read(fd, piece + held, PIECE - held)) > 0) {
		char *line = piece, *end, *stop = piece + held + n;

		*stop = '\0';
		while (kept && (end = memchr(line, '\n', (size_t)(stop - line)))) {
			*end = '\0';
			kept = take_line(k, line, end);
			line = end + 1;
		}
		held = (size_t)(stop - line);
		if (held == PIECE)
			held = 0; /* a line that long is none of ours */
		memmove(piece, line, held);
	}
	free(piece);
	return kept;
}

static int by_address(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (y->rank > x->rank) - (y->rank < x->rank);
}

static void sort_entries(struct kernel *k)
{
	size_t kept = 0;

	if (!k->entries.len)
		return;
	qsort(k->entries.data, k->entries.len, sizeof *k->entries.data, by_address);
	for (size_t i = 0; i < k->entries.len; i++)
		if (!kept || k->entries.data[i].addr != k->entries.data[kept - 1].addr)
			k->entries.data[kept++] = k->entries.data[i];
	k->entries.len = kept;
}

static void say_why(struct kernel *k, int no)
{
	char restrict_text[16] = "?";
	FILE *f;

	if (no) {
		snprintf(k->reason, sizeof k->reason, "no kernel names: %s: %s", k->path,
			 strerror(no));
		return;
	}
	f = fopen("/proc/sys/kernel/kptr_restrict", "re");
	if (f) {
		if (fgets(restrict_text, sizeof restrict_text, f))
			restrict_text[strcspn(restrict_text, "\n")] = '\0';
		fclose(f);
	}
	snprintf(
		k->reason, sizeof k->reason,
		"no kernel names: addresses in %s are hidden (kptr_restrict is %s); run as root, or "
		"sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1",
		k->path, restrict_text);
}

static void load(struct kernel *k)
{
	int fd = open(k->path, O_RDONLY | O_CLOEXEC);
	int why = fd < 0 ? errno : 0;

	k->loaded = true;
	k->loaded_ns = clock_mono_ns();
	k->reason[0] = '\0';
	forget(k);
	(void)vec_push(&k->text, '\0');
	(void)vec_push(&k->modules, 0);
	if (fd >= 0) {
		if (!read_lines(k, fd)) {
			forget(k);
			why = ENOMEM;
		}
		close(fd);
	}
	sort_entries(k);
	if (k->entries.len && k->entries.data[k->entries.len - 1].addr == 0)
		k->entries.len = 0;
	if (!k->entries.len)
		say_why(k, why);
}

static bool find(const struct kernel *k, uint64_t addr, struct kernel_symbol *ret_symbol)
{
	size_t lo = 0, hi = k->entries.len;
	const struct entry *e;
	uint64_t end;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->entries.data[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	e = &k->entries.data[lo - 1];
	end = e->addr + LAST_SIZE < e->addr ? UINT64_MAX : e->addr + LAST_SIZE;
	if (lo < k->entries.len && (e[1].module == e->module || e[1].addr < end))
		end = e[1].addr;
	if (addr >= end || !strcmp(k->text.data + e->name, "_etext"))
		return false;
	*ret_symbol = (struct kernel_symbol){e->addr, end, k->text.data + e->name,
					     k->text.data + k->modules.data[e->module]};
	return true;
}

bool kernel_find(struct kernel *k, uint64_t addr, struct kernel_symbol *ret_symbol)
{
	if (!k->loaded)
		load(k);
	if (find(k, addr, ret_symbol))
		return true;
	if (k->again_ns < AGAIN_NS)
		k->again_ns = AGAIN_NS;
	if (clock_mono_ns() - k->loaded_ns < k->again_ns)
		return false;
	load(k); /* a module or a BPF program may have come meanwhile */
	if (find(k, addr, ret_symbol)) {
		k->again_ns = AGAIN_NS;
		return true;
	}
	if (k->again_ns < AGAIN_MAX_NS)
		k->again_ns *= 2;
	return false;
}

uint64_t kernel_address(struct kernel *k, const char *name)
{
	if (!k->loaded)
		load(k);
	for (int i = 0; i < ANCHORS; i++)
		if (!strcmp(name, anchors[i]) && k->anchors[i])
			return k->anchors[i];
	for (size_t i = 0; i < k->entries.len; i++)
		if (!strcmp(k->text.data + k->entries.data[i].name, name))
			return k->entries.data[i].addr;
	return 0;
}
