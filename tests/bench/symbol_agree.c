/*
 * symbol_agree: do we say of random code addresses what llvm-symbolizer or addr2line says?
 *
 *	symbol_agree [-a] [-o FILE] [-p] [-s SEED] [-w FILE] FILE COUNT
 *
 * -a: addr2line -i ($ADDR2LINE) instead of llvm-symbolizer -i ($SYMBOLIZER). -o: the oracle reads
 * that file, the same code with its DWARF in a form that it knows. -p: only print addresses. -w:
 * write both answers to each address there; dwarf_says judges them.
 *
 * Each frame's function, file and line must agree. Not counted as differences: other names of the
 * same address (C1 and C2 constructors, aliases, .cold and .part suffixes), functions that only we
 * have a name for, the file of line 0, and a directory that the oracle repeats. Prints the first
 * differences and one line of result; fails below 99.5 %. With -a other names and missing frames
 * are told apart and not counted: whose fault they are is for dwarf_says.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/vec.h"
#include "symbol/debugfile.h"
#include "symbol/resolver.h"
#include "symbol/symsource.h"

#define SHOWN 5
#define DEEP  200

struct place {
	const char *name, *file;
	unsigned line;
};

struct chain {
	unsigned n;
	struct place at[DEEP];
};

struct alias {
	const char *name;
	uint64_t addr;
};

static struct arena arena;
static struct {
	VEC(struct alias)
} aliases;

/* ---- addresses ---- */

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t pick(const struct image *image, uint64_t *seed)
{
	uint64_t all = 0, at;

	for (int pass = 0; pass < 2; pass++) {
		at = pass ? next_random(seed) % all : 0;
		for (uint32_t i = 0; i < image->nsections; i++) {
			const struct image_section *s = &image->sections[i];

			if (!(s->flags & SHF_EXECINSTR) || strncmp(s->name, ".text", 5) != 0)
				continue;
			if (!pass)
				all += s->size;
			else if (at < s->size)
				return s->addr + at;
			else
				at -= s->size;
		}
		if (!all)
			break;
	}
	return 0;
}

/* ---- names that mean the same ---- */

static void add_aliases(const struct image *image)
{
	struct symsource s;
	struct symsource_sym sym;
	struct image_data strings = {0};

	if (!image || symsource_open(image, &s, &strings))
		return;
	for (size_t i = 1; i < s.count; i++)
		if (symsource_get(&s, i, &sym) && sym.name < strings.size) {
			struct alias a = {(const char *)strings.bytes + sym.name, sym.value};

			(void)vec_push(&aliases, a);
		}
}

static bool has_alias(const char *name, uint64_t addr)
{
	size_t len = strcspn(name, "@");

	for (size_t i = 0; i < aliases.len; i++)
		if (aliases.data[i].addr == addr && !strncmp(aliases.data[i].name, name, len) &&
		    (aliases.data[i].name[len] == '\0' || aliases.data[i].name[len] == '@'))
			return true;
	return false;
}

static size_t bare(const char *name)
{
	static const char *const suffixes[] = {".cold",  ".part",     ".isra",  ".constprop",
					       ".llvm.", ".lto_priv", ".local", NULL};
	size_t len = strcspn(name, "@");

	for (int i = 0; suffixes[i]; i++) {
		const char *at = strstr(name, suffixes[i]);

		if (at && (size_t)(at - name) < len)
			len = (size_t)(at - name);
	}
	return len;
}

/* Is foo<int> the plain name of _Z3fooIiEvT_? */
static bool names_plainly(const char *plain, const char *mangled)
{
	size_t len = strcspn(plain, "<");
	char part[4096];

	snprintf(part, sizeof part, "%zu%.*s", len, (int)len, plain);
	return len > 2 && !memcmp(mangled, "_Z", 2) && strstr(mangled, part);
}

static bool same_name(const char *theirs, const struct func *f, const struct tables *t)
{
	const char *ours = tables_text(t, f->raw);
	size_t a = bare(theirs), b = bare(ours);

	if (!strcmp(theirs, "??"))
		return true;
	if (a == b && !strncmp(theirs, ours, a))
		return true;
	if (a == b && a > 3 &&
	    (strstr(ours, "C1E") || strstr(ours, "C2E") || strstr(ours, "D1E") ||
	     strstr(ours, "D2E") || strstr(ours, "D0E"))) {
		size_t differ = 0;

		for (size_t i = 0; i < a; i++)
			differ += theirs[i] != ours[i];
		if (differ == 1)
			return true;
	}
	if (f->start && has_alias(theirs, f->start))
		return true;
	/* binutils gives functions their plain name where DWARF has no other. */
	return a > 2 && memcmp(theirs, "_Z", 2) != 0 &&
	       (strstr(ours, theirs) || names_plainly(theirs, ours));
}

/* Drop /./ and /../, and the directory an oracle puts twice in front. */
static void tidy(const char *path, char out[4096])
{
	char *parts[256], copy[4096], *save = NULL;
	unsigned n = 0;
	size_t len = 0, half;

	snprintf(copy, sizeof copy, "%s", path);
	for (char *p = strtok_r(copy, "/", &save); p && n < 256; p = strtok_r(NULL, "/", &save)) {
		if (!strcmp(p, "."))
			continue;
		if (!strcmp(p, "..") && n && strcmp(parts[n - 1], "..") != 0)
			n--;
		else
			parts[n++] = p;
	}
	half = n >= 2 && path[0] != '/' && !strcmp(parts[0], parts[1]) ? 1 : 0;
	out[0] = '\0';
	for (unsigned i = (unsigned)half; i < n; i++)
		len += (size_t)snprintf(out + len, 4096 - len, "/%s", parts[i]);
}

static bool same_file(const char *theirs, const char *ours)
{
	char a[4096], b[4096];

	tidy(theirs, a);
	tidy(ours, b);
	return !strcmp(a, b);
}

enum verdict { SAME, OTHER_NAMES, LACKS_FRAMES, DIFFERS, VERDICTS };

static bool same_place(const struct place *p, const struct loc_line *o, const struct tables *t)
{
	return p->line == o->line && (!o->line || same_file(p->file, tables_text(t, o->file)));
}

static enum verdict judge(const struct chain *c, const struct loc *l, const struct tables *t)
{
	bool names = true;
	unsigned at = 0;

	for (unsigned i = 0; i < l->n && at < c->n; i++)
		if (same_place(&c->at[at], &l->lines[i], t)) {
			names = names &&
				same_name(c->at[at].name, tables_func_get(t, l->lines[i].func), t);
			at++;
		}
	if (at < c->n)
		return DIFFERS;
	return c->n < l->n ? LACKS_FRAMES : names ? SAME : OTHER_NAMES;
}

/* ---- the oracle ---- */

static void take(struct chain *c, const char *name, char *where)
{
	char *colon;

	where[strcspn(where, "\n")] = '\0';
	if ((colon = strstr(where, " (discriminator")))
		*colon = '\0';
	colon = strrchr(where, ':');
	if (c->n == DEEP || !colon)
		return;
	c->at[c->n].line = (unsigned)strtoul(colon + 1, NULL, 10);
	*colon = '\0';
	c->at[c->n].name = arena_strdup(&arena, name);
	c->at[c->n++].file = arena_strdup(&arena, where);
}

/* llvm-symbolizer: name and FILE:LINE:COLUMN lines, an empty line behind each address.
 * addr2line -a: a line 0x… before each. */
static bool read_chain(FILE *f, bool binutils, struct chain *c)
{
	char name[65536], where[8192];

	c->n = 0;
	while (fgets(name, sizeof name, f)) {
		char *colon;

		name[strcspn(name, "\n")] = '\0';
		if (binutils ? !strncmp(name, "0x", 2) : !name[0]) {
			if (!binutils || c->n)
				return true;
			continue;
		}
		if (!fgets(where, sizeof where, f))
			break;
		colon = strrchr(where, ':');
		if (!binutils && colon)
			*colon = '\0'; /* the column */
		take(c, name, where);
	}
	return c->n > 0;
}

static FILE *ask(const char *file, bool binutils, const uint64_t *addrs, unsigned count)
{
	char input[] = "/tmp/altpttop-agree-XXXXXX", command[8400];
	const char *own = getenv(binutils ? "ADDR2LINE" : "SYMBOLIZER");
	int fd = mkstemp(input);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (!f)
		return NULL;
	for (unsigned i = 0; i < count; i++)
		fprintf(f, "0x%" PRIx64 "\n", addrs[i]);
	fclose(f);
	snprintf(command, sizeof command, "%s -i %s -e '%s' < %s; rm %s",
		 own        ? own
		 : binutils ? "addr2line"
			    : "llvm-symbolizer",
		 binutils ? "-a -f" : "--no-demangle", file, input, input);
	return popen(command, "re");
}

static void show(uint64_t addr, const struct chain *c, const struct loc *l, const struct tables *t)
{
	printf("0x%" PRIx64 "\n", addr);
	for (unsigned i = 0; i < c->n; i++)
		printf("\toracle %s %s:%u\n", c->at[i].name, c->at[i].file, c->at[i].line);
	for (unsigned i = 0; i < l->n; i++)
		printf("\tours   %s %s:%u\n",
		       tables_text(t, tables_func_get(t, l->lines[i].func)->raw),
		       tables_text(t, l->lines[i].file), l->lines[i].line);
}

static void keep(FILE *out, uint64_t addr, bool same, const struct chain *c, const struct loc *l,
		 const struct tables *t)
{
	fprintf(out, "@\t0x%" PRIx64 "\t%d\n", addr, same);
	for (unsigned i = 0; i < c->n; i++)
		fprintf(out, "oracle\t%s\t%s\t%u\n", c->at[i].name, c->at[i].file, c->at[i].line);
	for (unsigned i = 0; l && i < l->n; i++)
		fprintf(out, "ours\t%s\t%s\t%u\n",
			tables_text(t, tables_func_get(t, l->lines[i].func)->raw),
			tables_text(t, l->lines[i].file), l->lines[i].line);
}

static int compare(const char *path, const char *oracle, const uint64_t *addrs, unsigned count,
		   bool binutils, FILE *kept)
{
	struct resolver_config config = {0};
	struct tables *t = tables_new();
	struct resolver *r = resolver_new(t, &config, NULL);
	struct module m = {.kind = MODULE_FILE};
	FILE *f = ask(oracle ? oracle : path, binutils, addrs, count);
	static struct chain c;
	unsigned seen = 0, of[VERDICTS] = {0}, wrong = 0;

	m.path = m.name = tables_str(t, path);
	struct frame frame = {.module = tables_module(t, &m)};
	for (; f && seen < count && read_chain(f, binutils, &c); seen++) {
		const struct loc *l;
		frame_id id;

		frame.addr = addrs[seen];
		id = tables_frame(t, &frame);
		resolver_now(r, id);
		l = tables_loc(t, id);
		enum verdict v = l ? judge(&c, l, t) : DIFFERS;
		of[v]++;
		if (kept)
			keep(kept, addrs[seen], v == SAME, &c, l, t);
		if ((binutils ? v == DIFFERS : v != SAME) && ++wrong <= SHOWN && l)
			show(addrs[seen], &c, l, t);
		arena_reset(&arena);
	}
	if (f)
		pclose(f);
	printf("%s: %u of %u addresses as %s says, %.2f %%", path, of[SAME], seen,
	       binutils ? "addr2line" : "llvm-symbolizer", seen ? 100.0 * of[SAME] / seen : 0);
	if (binutils)
		printf("; it has other names for %u, lacks inlined frames of %u; %u differ "
		       "otherwise, %.2f %%",
		       of[OTHER_NAMES], of[LACKS_FRAMES], wrong, seen ? 100.0 * wrong / seen : 0);
	putchar('\n');
	resolver_free(r);
	tables_free(t);
	return seen == count && wrong <= count * 0.005 ? 0 : 1;
}

int main(int argc, char **argv)
{
	uint64_t seed = 88172645463325252u, *addrs;
	struct module_access access = {0};
	struct debug_places places = {.access = &access, .dirs = "/usr/lib/debug"};
	struct image *image, *debug;
	bool binutils = false, print = false;
	unsigned count;
	char *path, *oracle = NULL;
	FILE *kept = NULL;
	int c, fd, rc;

	while ((c = getopt(argc, argv, "ao:ps:w:")) != -1) {
		if (c == 'a')
			binutils = true;
		else if (c == 'o')
			oracle = optarg;
		else if (c == 'p')
			print = true;
		else if (c == 's')
			seed = strtoull(optarg, NULL, 0) | 1;
		else if (c != 'w' || !(kept = fopen(optarg, "we")))
			return 2;
	}
	if (optind + 2 != argc || !(path = realpath(argv[optind], NULL)) ||
	    (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0 || image_open(fd, 0, &image, NULL)) {
		fprintf(stderr,
			"usage: symbol_agree [-a] [-o FILE] [-p] [-s SEED] [-w FILE] FILE COUNT\n");
		return 2;
	}
	close(fd);
	count = (unsigned)strtoul(argv[optind + 1], NULL, 10);
	addrs = calloc(count + 1, sizeof *addrs);
	for (unsigned i = 0; i < count; i++)
		addrs[i] = pick(image, &seed);
	for (unsigned i = 0; i < count && print; i++)
		printf("0x%" PRIx64 "\n", addrs[i]);
	if (print)
		return 0;
	places.path = path;
	debug = debug_find(&places, image, NULL);
	add_aliases(image);
	add_aliases(debug);
	rc = compare(path, oracle, addrs, count, binutils, kept);
	if (kept && fclose(kept))
		rc = 2;
	vec_fini(&aliases);
	arena_fini(&arena);
	image_close(debug);
	image_close(image);
	free(addrs);
	free(path);
	return rc;
}
