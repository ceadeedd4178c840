/*
 * space_proc: brings a space up to date from /proc/PID/maps.
 *
 * The whole text is parsed first, because what a piece of anonymous code is depends on its
 * neighbours: text that was remapped to huge pages is an anonymous hole inside its module. Then a
 * new list is built and takes the old one's place only when it differs. Runs on the source thread
 * that owns the space.
 */
#include "base/living.h"
#include "proc/space.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "proc/maps.h"
#include "proc/space_impl.h"

#define NO_LINE SIZE_MAX
#define SEGMENT_OVERLAP \
	65536 /* neighbouring segments may share the page of the file at their seam */

/* One line of the text: maps_line without the room for a name. */
struct line {
	uint64_t start, end, pgoff, inode;
	uint32_t dev_major, dev_minor;
	size_t path; /* offset in names */
	bool exec, deleted;
	enum maps_name kind;
};

struct reading {
	struct space *space;
	VEC(struct line)
	struct strbuf names;
	size_t *prev_file, *next_file; /* nearest line of a file before and after each line */
	char exe[MAPS_PATH_MAX];       /* the program, "" unknown */
	module_id main_module, first_file;
	int mem_fd; /* /proc/PID/mem, -1 not opened */
	struct mappings out;
};

static const char *line_path(const struct reading *r, const struct line *l)
{
	return r->names.buf + l->path;
}

static bool same_file(const struct reading *r, const struct line *a, const struct line *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && strcmp(line_path(r, a), line_path(r, b)) == 0;
}

/* A file may really be named "x (deleted)": it is when that name has this inode. */
static bool really_deleted(const struct reading *r, const struct maps_line *m)
{
	char name[MAPS_PATH_MAX + 64];
	struct stat st;

	snprintf(name, sizeof name, "/proc/%d/root%s (deleted)", (int)living_thread(r->space->pid),
		 m->path);
	return stat(name, &st) != 0 || st.st_ino != m->inode;
}

static int add_line(struct reading *r, struct maps_line *m)
{
	struct line l = {
		.start = m->start,
		.end = m->end,
		.pgoff = m->pgoff,
		.inode = m->inode,
		.dev_major = m->dev_major,
		.dev_minor = m->dev_minor,
		.exec = m->prot & PROT_EXEC,
		.deleted = m->deleted,
		.path = r->names.len,
	};

	if (m->deleted && m->path[0] == '/' && !really_deleted(r, m) &&
	    strlen(m->path) + 11 <= sizeof m->path) {
		l.deleted = false;
		strcat(m->path, " (deleted)");
	}
	l.kind = maps_name_kind(m->path);
	if (r->len && strcmp(line_path(r, &r->data[r->len - 1]), m->path) == 0)
		l.path = r->data[r->len - 1].path;
	else
		strbuf_add(&r->names, m->path, strlen(m->path) + 1);
	return r->names.failed ? -ENOMEM : vec_push(r, l);
}

static int parse_text(struct reading *r, const char *text, size_t len)
{
	const char *end = text + len;
	struct maps_line m;
	int rc = 0;

	while (!rc && r->len < SPACE_MAPPINGS_MAX && maps_next(&text, end, &m))
		rc = add_line(r, &m);
	return rc;
}

static int find_neighbours(struct reading *r)
{
	size_t near = NO_LINE;

	r->prev_file = malloc((r->len + 1) * sizeof *r->prev_file);
	r->next_file = malloc((r->len + 1) * sizeof *r->next_file);
	if (!r->prev_file || !r->next_file)
		return -ENOMEM;
	for (size_t i = 0; i < r->len; i++) {
		r->prev_file[i] = near;
		if (r->data[i].kind == MAPS_FILE)
			near = i;
	}
	near = NO_LINE;
	for (size_t i = r->len; i-- > 0;) {
		r->next_file[i] = near;
		if (r->data[i].kind == MAPS_FILE)
			near = i;
	}
	return 0;
}

/* No gap between lines @a and @b. */
static bool contiguous(const struct reading *r, size_t a, size_t b)
{
	for (; a < b; a++)
		if (r->data[a].end != r->data[a + 1].start)
			return false;
	return true;
}

/* Would line @i, displaced as @owner is, lie in the file between the two lines around it? A program
 * may map its own code twice (V8 does), and its JIT memory beside it is no hole. */
static bool in_file_order(const struct reading *r, const struct line *prev, size_t i,
			  const struct line *next, const struct line *owner)
{
	const struct line *hole = &r->data[i];
	uint64_t displacement = owner->start - owner->pgoff;
	uint64_t from = hole->start - displacement, to = hole->end - displacement;

	return owner->start >= owner->pgoff && hole->start >= displacement &&
	       prev->pgoff + (prev->end - prev->start) <= from + SEGMENT_OVERLAP &&
	       to <= next->pgoff + SEGMENT_OVERLAP;
}

/*
 * The file line whose displacement line @i continues when it is a hole in that file's code, else
 * NULL. The hole lies between two lines of one file; they agree on the displacement, or one of them
 * is code that the hole touches.
 */
static const struct line *hole_owner(const struct reading *r, size_t i)
{
	size_t p = r->prev_file[i], n = r->next_file[i];
	const struct line *prev, *next;

	if (p == NO_LINE || n == NO_LINE || !same_file(r, &r->data[p], &r->data[n]))
		return NULL;
	prev = &r->data[p];
	next = &r->data[n];
	if (prev->start - prev->pgoff == next->start - next->pgoff)
		return prev;
	if (i - p < 8 && prev->exec && contiguous(r, p, i) && in_file_order(r, prev, i, next, prev))
		return prev;
	if (n - i < 8 && next->exec && contiguous(r, i, n) && in_file_order(r, prev, i, next, next))
		return next;
	return NULL;
}

/* Does the memory that line @i belongs to begin with an ELF header? */
static bool begins_as_elf(struct reading *r, size_t i)
{
	char name[64], magic[4];

	while (i > 0 && r->data[i].pgoff && same_file(r, &r->data[i - 1], &r->data[i]))
		i--;
	if (r->data[i].pgoff)
		return false;
	if (r->mem_fd < 0) {
		snprintf(name, sizeof name, "/proc/%d/mem", (int)living_thread(r->space->pid));
		r->mem_fd = open(name, O_RDONLY | O_CLOEXEC);
	}
	return r->mem_fd >= 0 &&
	       pread(r->mem_fd, magic, sizeof magic, (off_t)r->data[i].start) == sizeof magic &&
	       memcmp(magic, "\177ELF", 4) == 0;
}

static enum module_kind line_kind(struct reading *r, size_t i)
{
	if (r->data[i].kind != MAPS_MEMFD)
		return space_kind_of(r->data[i].kind);
	return begins_as_elf(r, i) ? MODULE_FILE : MODULE_JIT;
}

static int put_line(struct reading *r, size_t i)
{
	const struct line *l = &r->data[i], *file = l;
	struct mapping at = {.start = l->start, .end = l->end, .pgoff = l->pgoff};
	enum module_kind kind = line_kind(r, i);
	struct module module;
	int rc;

	if (kind == MODULE_JIT) {
		at.pgoff = at.start;
		file = hole_owner(r, i);
		if (file) {
			kind = MODULE_FILE;
			at.pgoff = at.start - (file->start - file->pgoff);
		}
	}
	at.flags = (l->exec ? MAPPING_EXEC : 0) | (l->kind == MAPS_STACK ? MAPPING_STACK : 0);
	if (!file)
		file = l;
	space_describe(r->space, &module, kind, *line_path(r, file) ? line_path(r, file) : "//anon",
		       file->start, file->end);
	module.deleted = file->deleted;
	if (kind == MODULE_FILE) {
		module.dev_major = file->dev_major;
		module.dev_minor = file->dev_minor;
		module.inode = file->inode;
	}
	at.module = space_module_for(r->space, &module, &at);
	rc = mappings_put(&r->out, &at);
	if (kind == MODULE_FILE && !r->first_file)
		r->first_file = at.module;
	if (kind == MODULE_FILE && !r->main_module && strcmp(line_path(r, file), r->exe) == 0)
		r->main_module = at.module;
	return rc < 0 ? rc : 0;
}

static void read_exe(struct reading *r)
{
	char name[64];
	ssize_t n;

	snprintf(name, sizeof name, "/proc/%d/exe", (int)living_thread(r->space->pid));
	n = readlink(name, r->exe, sizeof r->exe - 1);
	r->exe[n > 0 ? n : 0] = '\0';
	maps_cut_deleted(r->exe);
}

static void take_result(struct reading *r)
{
	struct space *s = r->space;
	struct mappings old = s->maps;

	if (r->main_module || (!s->main_module && r->first_file))
		s->main_module = r->main_module ? r->main_module : r->first_file;
	if (old.len == r->out.len &&
	    (!old.len || memcmp(old.data, r->out.data, old.len * sizeof *old.data) == 0))
		return;
	s->maps = r->out;
	r->out = old;
	space_changed(s);
}

int space_read_proc(struct space *s, struct err *err)
{
	struct reading r = {.space = s, .mem_fd = -1};
	char *text;
	size_t len;
	int rc = maps_read(s->pid, &text, &len, err);

	if (rc)
		return rc;
	if (!len && s->maps.len) { /* it is exiting: what was there explains its last samples */
		free(text);
		return err_set(err, ESRCH, "process %d is gone", s->pid);
	}
	strbuf_init(&r.names);
	read_exe(&r);
	rc = parse_text(&r, text, len);
	if (!rc)
		rc = find_neighbours(&r);
	for (size_t i = 0; !rc && i < r.len; i++)
		if (r.data[i].exec || r.data[i].kind == MAPS_STACK)
			rc = put_line(&r, i);
	if (!rc)
		take_result(&r);
	if (r.mem_fd >= 0)
		close(r.mem_fd);
	free(r.prev_file);
	free(r.next_file);
	vec_fini(&r.out);
	vec_fini(&r);
	strbuf_fini(&r.names);
	free(text);
	return rc ? err_set(err, -rc, "no memory for the mappings of process %d", s->pid) : 0;
}
