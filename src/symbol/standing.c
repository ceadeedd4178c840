/*
 * standing: how modules stand: what symbols each has, what is missing, and what was fetched for it.
 *
 * The table is the one thing here that other threads read, so it has a lock of its own, held only
 * to copy words. Errands run beside; their results are taken by the resolver thread.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "resolve.h"

/* With the status lock held. NULL: no memory. */
static struct module_status *status_of(struct resolve *r, module_id module)
{
	struct module_status none = {0};

	while (r->status.len <= module)
		if (vec_push(&r->status, none))
			return NULL;
	return &r->status.data[module];
}

void resolve_status(struct resolve *r, module_id module, enum module_symbols known, const char *why)
{
	struct module_status *s;

	pthread_mutex_lock(&r->status_lock);
	s = status_of(r, module);
	if (s) {
		s->known = (uint8_t)known;
		snprintf(s->why, sizeof s->why, "%s", why);
	}
	pthread_mutex_unlock(&r->status_lock);
}

/* The path lives as long as the resolver: it is set once. */
const char *resolve_fetched(struct resolve *r, module_id module)
{
	const char *path;

	pthread_mutex_lock(&r->status_lock);
	path = module < r->status.len ? r->status.data[module].fetched : NULL;
	pthread_mutex_unlock(&r->status_lock);
	return path;
}

/* A program without lines, and servers that may have them: once for each. */
void resolve_fetch(struct resolve *r, const struct program *p)
{
	const struct image *image = p->image[IMAGE_MAIN];
	struct errand errand = {.kind = ERRAND_FETCH, .module = p->id};
	struct module_status *s;
	bool ask = false;

	/* The vDSO tells its names itself. */
	if (!r->config.debuginfod || !image ||
	    tables_module_get(r->tables, p->id)->kind == MODULE_VDSO || !image->build_id_size ||
	    p->known == SYMBOLS_LINES)
		return;
	pthread_mutex_lock(&r->status_lock);
	s = status_of(r, p->id);
	if (s && !s->fetch_asked)
		s->fetch_asked = ask = true;
	pthread_mutex_unlock(&r->status_lock);
	errand.build_id_size = image->build_id_size;
	memcpy(errand.build_id, image->build_id, image->build_id_size);
	if (ask)
		errands_post(r->errands, &errand);
}

static void reload(struct resolve *r, module_id module)
{
	if (module < r->programs.len) {
		program_free(r->programs.data[module]);
		r->programs.data[module] = NULL;
	}
	for (frame_id f = 1; f <= tables_frame_count(r->tables) && r->again; f++)
		if (tables_frame_get(r->tables, f)->module == module)
			r->again(r->again_ctx, f);
}

static void take_result(struct resolve *r, const struct errand_result *result)
{
	struct module_status *s;
	bool fresh = false;

	pthread_mutex_lock(&r->status_lock);
	s = status_of(r, result->module);
	if (s && result->kind == ERRAND_PACKAGE && result->ok) {
		snprintf(s->package, sizeof s->package, "%.120s", result->text);
	} else if (s && result->kind == ERRAND_FETCH && result->ok && !s->fetched) {
		s->fetched = strdup(result->text);
		fresh = s->fetched != NULL;
	} else if (s && result->kind == ERRAND_FETCH && !result->ok && !s->why[0]) {
		snprintf(s->why, sizeof s->why, "%.250s", result->text);
	}
	pthread_mutex_unlock(&r->status_lock);
	if (fresh)
		reload(r, result->module);
}

void resolve_errands(struct resolve *r)
{
	struct errand_result result;

	while (errands_result(r->errands, &result))
		take_result(r, &result);
}

/* dpkg knows files of this machine; is the module one? */
static bool is_ours(const struct resolve *r, const struct module *m, const char *path)
{
	struct stat st;

	return m->kind == MODULE_FILE && !r->config.symfs && path[0] == '/' && !m->deleted &&
	       !stat(path, &st) && (!m->inode || st.st_ino == m->inode);
}

void resolve_advice(struct resolve *r, module_id module, char *ret_text, size_t size)
{
	const struct module *m = tables_module_get(r->tables, module);
	struct errand errand = {.kind = ERRAND_PACKAGE, .module = module};
	struct module_status *s;
	bool ask = false;

	ret_text[0] = '\0';
	snprintf(errand.path, sizeof errand.path, "%s", tables_text(r->tables, m->path));
	pthread_mutex_lock(&r->status_lock);
	s = status_of(r, module);
	if (s && s->known != SYMBOLS_UNKNOWN && s->known != SYMBOLS_LINES) {
		if (s->package[0])
			snprintf(ret_text, size, "install %s for %s", s->package,
				 tables_text(r->tables, m->name));
		else if (s->why[0])
			snprintf(ret_text, size, "%s", s->why);
		else
			snprintf(ret_text, size, "no debug file of %s is found",
				 tables_text(r->tables, m->name));
		ask = !s->package_asked;
		s->package_asked = true;
	}
	pthread_mutex_unlock(&r->status_lock);
	if (ask && is_ours(r, m, errand.path))
		errands_post(r->errands, &errand);
}
