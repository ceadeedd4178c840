/*
 * places: the maps become a space of their own (pid 0); segments come from the files as they are on
 * this machine.
 */
#include "trace/places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "module/image.h"
#include "module/open.h"
#include "proc/maps.h"
#include "proc/space.h"

#define MAPS_BYTES_MAX (64u << 20)

struct opened {
	module_id module;
	struct image *image; /* NULL: it could not be opened */
};

struct places {
	struct tables *tables;
	struct space *space;
	struct {
		VEC(struct opened)
	} images;
};

static int read_file(const char *path, char **ret_text, size_t *ret_len, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, errno, "--maps: cannot open %s: %s", path, strerror(errno));
	size_t len = 0, cap = 64 << 10;
	char *text = malloc(cap);
	ssize_t got = -1;
	while (text && (got = read(fd, text + len, cap - len)) > 0) {
		len += (size_t)got;
		if (len < cap)
			continue;
		char *more = cap < MAPS_BYTES_MAX ? realloc(text, cap *= 2) : NULL;
		if (!more)
			break;
		text = more;
	}
	close(fd);
	if (got) {
		free(text);
		return err_set(err, got < 0 ? EIO : EFBIG, "--maps: cannot read %s whole", path);
	}
	*ret_text = text;
	*ret_len = len;
	return 0;
}

int places_new(const char *path, struct tables *tables, struct places **ret_places, struct err *err)
{
	char *text = NULL;
	size_t len = 0;
	int rc = read_file(path, &text, &len, err);
	if (rc)
		return rc;
	struct places *p = calloc(1, sizeof *p);
	struct maps_line *line = malloc(sizeof *line);
	const char *at = text;
	unsigned lines = 0;
	if (p)
		p->space = space_new(tables, 0);
	if (!p || !line || !p->space) {
		rc = err_set(err, ENOMEM, "no memory for --maps");
		goto out;
	}
	p->tables = tables;
	for (; maps_next(&at, text + len, line); lines++) {
		struct raw_mmap m = {.start = line->start,
				     .size = line->end - line->start,
				     .pgoff = line->pgoff,
				     .prot = line->prot,
				     .path = line->path};
		space_add(p->space, &m);
	}
	if (!lines)
		rc = err_set(err, EINVAL, "--maps: %s is no copy of /proc/PID/maps", path);
out:
	free(line);
	free(text);
	if (rc) {
		places_free(p);
		return rc;
	}
	*ret_places = p;
	return 0;
}

void places_free(struct places *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->images.len; i++)
		image_close(p->images.data[i].image);
	vec_fini(&p->images);
	space_free(p->space);
	free(p);
}

static const struct image *image_of(struct places *p, module_id module)
{
	for (size_t i = 0; i < p->images.len; i++)
		if (p->images.data[i].module == module)
			return p->images.data[i].image;
	struct opened o = {.module = module};
	struct module_access access = {0};
	if (module_image(p->tables, tables_module_get(p->tables, module), &access, &o.image, NULL))
		o.image = NULL;
	if (vec_push(&p->images, o))
		image_close(o.image);
	return p->images.len ? p->images.data[p->images.len - 1].image : NULL;
}

frame_id places_frame(struct places *p, uint64_t addr)
{
	const struct mapping *m = p && addr ? space_find(p->space, addr) : NULL;
	if (!m)
		return 0;
	struct frame f = {.module = m->module, .addr = addr - m->start + m->pgoff};
	const struct image *image = image_of(p, m->module);
	if (!image || !image_vaddr(image, f.addr, &f.addr))
		f.flags = FRAME_OFFSET;
	return tables_frame(p->tables, &f);
}
