/*
 * locate: goes through the mapped files of a process and their symbol tables for one name.
 *
 * Tables are read entry by entry, unsorted: it is done once an event, not once a sample. A raw name
 * is compared as bytes; names are demangled only where they hold the last word of what is looked
 * for. Everything that touches a mapping runs in image_guarded, with its memory outside.
 */
#include "locate.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "debugfile.h"
#include "demangle.h"
#include "proc/maps.h"
#include "symsource.h"

#define HITS_MAX    32   /* places of one name: more are only counted */
#define FILES_MAX   4096 /* of one process */
#define MANGLED_MAX 2048 /* longer names are found by their raw form alone */
#define DEBUG_DIRS  "/usr/lib/debug"

struct hit {
	uint64_t addr, size;
	unsigned type; /* STT_* */
	bool code;
	char path[256];
};

struct file_seen {
	uint64_t inode, bias; /* it may be mapped more than once (dlmopen) */
	uint32_t major, minor;
};

struct search {
	pid_t pid;
	const char *symfs;
	const char *module; /* NULL any */
	size_t module_len;
	const char *name;
	char word[96]; /* of a name with ::, what its mangled form holds; "" none */
	struct hit hits[HITS_MAX];
	uint32_t nhits, more;
	struct file_seen seen[FILES_MAX];
	uint32_t nseen;
	/* of the file that is looked into */
	const struct image *image; /* its table may be its debug file's */
	uint64_t bias;
	const char *path;
	struct image_data strings;
	struct strbuf text; /* a demangled name */
};

/* "module:name", where a double colon is a part of the name. */
static void split(struct search *s, const char *symbol)
{
	const char *colon = strchr(symbol, ':'), *word;
	size_t len;

	s->name = symbol;
	if (colon && colon != symbol && colon[1] != ':') {
		s->module = symbol;
		s->module_len = (size_t)(colon - symbol);
		s->name = colon + 1;
	}
	len = strcspn(s->name, "(");
	word = s->name + len;
	while (word > s->name && (isalnum((unsigned char)word[-1]) || word[-1] == '_'))
		word--;
	snprintf(s->word, sizeof s->word, "%.*s", (int)(s->name + len - word), word);
}

/* Is @path the module asked for? */
static bool is_module(const struct search *s, const char *path)
{
	const char *base = strrchr(path, '/');
	size_t n = s->module_len;

	if (!s->module)
		return true;
	if (!memchr(s->module, '/', n))
		path = base ? base + 1 : path;
	if (strncmp(path, s->module, n))
		return false;
	return !path[n] || (n > 3 && !memcmp(s->module + n - 3, ".so", 3) && path[n] == '.');
}

static bool same_name(struct search *s, const char *name)
{
	char copy[MANGLED_MAX]; /* nothing of the mapping is touched while memory is held */
	size_t n = strlen(s->name);

	if (!strncmp(name, s->name, n) && (!name[n] || name[n] == '@'))
		return true;
	if (name[0] != '_' || !s->word[0] || !strstr(name, s->word) || strlen(name) >= sizeof copy)
		return false;
	snprintf(copy, sizeof copy, "%s", name);
	strbuf_reset(&s->text);
	if (demangle(copy, &s->text) == MANGLING_NONE || s->text.failed)
		return false;
	strbuf_putc(&s->text, '\0');
	return !s->text.failed && !strncmp(s->text.buf, s->name, n) &&
	       (!s->text.buf[n] || (s->text.buf[n] == '(' && !strchr(s->name, '(')));
}

static void add_hit(struct search *s, const struct symsource_sym *sym, unsigned type)
{
	const struct image_segment *g = image_segment_at(s->image, sym->value);
	struct hit h = {
		.addr = sym->value + s->bias,
		.size = sym->size,
		.type = type,
		.code = type == STT_FUNC || (type == STT_NOTYPE && g && g->flags & PF_X),
	};

	if (type == STT_TLS)
		h.addr = 0;
	for (uint32_t i = 0; i < s->nhits; i++)
		if (s->hits[i].addr == h.addr) {
			if (h.size > s->hits[i].size)
				s->hits[i].size = h.size;
			return;
		}
	if (s->nhits == HITS_MAX) {
		s->more++;
		return;
	}
	snprintf(h.path, sizeof h.path, "%s", s->path);
	s->hits[s->nhits++] = h;
}

/* Inside a guard. */
static void look_through(void *ctx)
{
	struct search *s = ctx;
	struct symsource source;
	struct symsource_sym sym;
	unsigned type;

	if (symsource_open(s->image, &source, &s->strings))
		return;
	for (size_t i = 1; i < source.count; i++) {
		const char *name = (const char *)s->strings.bytes;

		if (!symsource_entry(&source, i, &sym, &type) || sym.name >= s->strings.size ||
		    type == STT_SECTION || type == STT_FILE)
			continue;
		name += sym.name;
		if (memchr(name, 0, s->strings.size - sym.name) && same_name(s, name))
			add_hit(s, &sym, type);
	}
}

static void look_into(struct search *s, const struct image *image)
{
	s->image = image;
	s->strings = (struct image_data){0};
	(void)image_guarded(image, look_through, s);
	image_data_fini(&s->strings);
}

static bool full_table(const struct image *image)
{
	return image_section(image, ".symtab") != NULL;
}

/* What is to be added to an address in the file; false: this line shows none of its segments. */
static bool bias_of(const struct image *image, const struct maps_line *m, uint64_t *ret_bias)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (uint32_t i = 0; i < image->nsegments; i++) {
		const struct image_segment *g = &image->segments[i];
		uint64_t first = g->offset & ~(page - 1);

		if (m->pgoff < first || m->pgoff >= g->offset + g->filesz)
			continue;
		if (!!(m->prot & PROT_EXEC) != !!(g->flags & PF_X))
			continue;
		*ret_bias = m->start - ((g->vaddr & ~(page - 1)) + (m->pgoff - first));
		return true;
	}
	return false;
}

/* The file behind a mapping of @pid. */
static struct module module_of(struct tables *t, pid_t pid, const struct maps_line *m)
{
	return (struct module){
		.kind = MODULE_FILE,
		.path = tables_str(t, m->path),
		.name = tables_str(t, m->path),
		.deleted = m->deleted,
		.pid = pid,
		.map_start = m->start,
		.map_end = m->end,
		.dev_major = m->dev_major,
		.dev_minor = m->dev_minor,
		.inode = m->inode,
	};
}

/* Each file once at each place. */
static bool is_new(struct search *s, const struct maps_line *m)
{
	for (uint32_t i = 0; i < s->nseen; i++)
		if (s->seen[i].inode == m->inode && s->seen[i].bias == s->bias &&
		    s->seen[i].major == m->dev_major && s->seen[i].minor == m->dev_minor)
			return false;
	if (s->nseen == FILES_MAX)
		return false;
	s->seen[s->nseen++] = (struct file_seen){
		.inode = m->inode, .bias = s->bias, .major = m->dev_major, .minor = m->dev_minor};
	return true;
}

static void look_at(struct search *s, const struct maps_line *m, struct tables *t)
{
	const struct module_access access = {.symfs = s->symfs, .live = true};
	const struct module module = module_of(t, s->pid, m);
	struct image *image = NULL, *debug = NULL;

	if (module_image(t, &module, &access, &image, NULL))
		return;
	s->path = m->path;
	if (bias_of(image, m, &s->bias) && is_new(s, m)) {
		if (!full_table(image))
			debug = debug_find(&(struct debug_places){.access = &access,
								  .dirs = DEBUG_DIRS,
								  .path = m->path,
								  .pid = s->pid},
					   image, NULL);
		look_into(s, debug && full_table(debug) ? debug : image);
	}
	image_close(debug);
	image_close(image);
}

static int ambiguous(const struct search *s, const char *symbol, struct err *err)
{
	char list[400] = "";
	size_t len = 0;

	for (uint32_t i = 0; i < s->nhits && len + 120 < sizeof list; i++) {
		const char *base = strrchr(s->hits[i].path, '/');

		len += (size_t)snprintf(list + len, sizeof list - len,
					"%smem:0x%" PRIx64 " (%.60s)", i ? ", " : "",
					s->hits[i].addr, base ? base + 1 : s->hits[i].path);
	}
	return err_set(err, ENOTUNIQ,
		       "%.80s is in %u places: %s; name the module (mem:MODULE:SYMBOL) or the "
		       "address",
		       symbol, s->nhits + s->more, list);
}

static int judge(const struct search *s, const char *symbol, struct symbol_place *ret,
		 struct err *err)
{
	const struct hit *h = s->hits;

	if (!s->nhits)
		return err_set(err, ENOENT, "no file that process %d has mapped has a symbol %.80s",
			       s->pid, symbol);
	if (s->nhits + s->more > 1)
		return ambiguous(s, symbol, err);
	if (h->type == STT_TLS)
		return err_set(err, ENOTSUP,
			       "%.80s is thread-local: each thread has its own at another address",
			       symbol);
	if (h->type == STT_GNU_IFUNC)
		return err_set(err, ENOTSUP,
			       "%.80s is one of several variants, chosen when the program starts "
			       "(IFUNC): name the variant, as the Functions screen shows it",
			       symbol);
	*ret = (struct symbol_place){.addr = h->addr, .size = h->size, .code = h->code};
	snprintf(ret->path, sizeof ret->path, "%s", h->path);
	return 0;
}

int symbol_locate(pid_t pid, const char *symbol, const char *symfs, struct symbol_place *ret_place,
		  struct err *err)
{
	struct search *s = calloc(1, sizeof *s);
	struct maps_line *line = malloc(sizeof *line);
	struct tables *t = tables_new();
	char *text = NULL;
	size_t len = 0;
	int rc = -ENOMEM;

	if (!s || !line || !t) {
		err_set(err, ENOMEM, "out of memory");
		goto out;
	}
	s->pid = pid;
	s->symfs = symfs;
	strbuf_init(&s->text);
	split(s, symbol);
	rc = maps_read(pid, &text, &len, err);
	if (rc)
		goto out;
	for (const char *at = text; maps_next(&at, text + len, line);)
		if (line->prot & PROT_EXEC && maps_name_kind(line->path) == MAPS_FILE &&
		    is_module(s, line->path))
			look_at(s, line, t);
	rc = judge(s, symbol, ret_place, err);
out:
	if (s)
		strbuf_fini(&s->text);
	free(text);
	tables_free(t);
	free(line);
	free(s);
	return rc;
}

static bool has_no_place(const struct module *m, const struct func *f)
{
	return f->flags & (FUNC_KERNEL | FUNC_SPECIAL) || !f->start ||
	       (m->kind != MODULE_FILE && m->kind != MODULE_JIT);
}

static bool bias_in(pid_t pid, const struct maps_line *m, const char *symfs, uint64_t *ret_bias)
{
	const struct module_access access = {.symfs = symfs, .live = true};
	struct tables *t = tables_new();
	struct image *image = NULL;
	bool found = false;

	if (t) {
		const struct module module = module_of(t, pid, m);

		found = !module_image(t, &module, &access, &image, NULL) &&
			bias_of(image, m, ret_bias);
	}
	image_close(image);
	tables_free(t);
	return found;
}

int function_locate(pid_t pid, const struct tables *t, const struct func *f, const char *symfs,
		    uint64_t *ret_addr, struct err *err)
{
	const struct module *module = tables_module_get(t, f->module);
	struct maps_line *line;
	char *text = NULL;
	size_t len = 0;
	int rc;

	if (f->flags & FUNC_KERNEL)
		return err_set(err, ENOTSUP, "the kernel's calls are not counted");
	if (has_no_place(module, f))
		return err_set(err, ENOTSUP, "it is inlined, or no function: nothing calls it");
	if (module->kind == MODULE_JIT) {
		*ret_addr = f->start;
		return module->pid == pid ? 0 : -ENOENT;
	}
	line = malloc(sizeof *line);
	rc = line ? maps_read(pid, &text, &len, err) : err_set(err, ENOMEM, "out of memory");
	if (!rc)
		rc = -ENOENT;
	for (const char *at = text; rc == -ENOENT && maps_next(&at, text + len, line);) {
		uint64_t bias;

		if (!(line->prot & PROT_EXEC) || line->inode != module->inode ||
		    line->dev_major != module->dev_major || line->dev_minor != module->dev_minor ||
		    !bias_in(pid, line, symfs, &bias))
			continue;
		*ret_addr = f->start + bias;
		rc = 0;
	}
	free(text);
	free(line);
	return rc;
}
