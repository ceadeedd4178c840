/*
 * export: the table of formats, and writing one of them to a file.
 *
 * Formats are in a file each; whether a file may be replaced, and that it appears whole, is
 * base/filewrite's.
 */
#include "export/export.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/filewrite.h"

static const struct export_ops *const formats[] = {&export_pprof, &export_folded, &export_chrome,
						   &export_csv, &export_text};

const struct export_ops *export_find(enum snapshot_format format)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (formats[i]->format == format)
			return formats[i];
	return NULL;
}

static void add_to_file(void *ctx, const void *data, size_t len)
{
	filewrite_add(ctx, data, len);
}

static void remark(const struct export_ops *ops, const struct snapshot *s, struct err *err)
{
	char lacks[400] = "";

	if (ops->lacks)
		ops->lacks(s, lacks, sizeof lacks);
	if (*lacks)
		err_set(err, 0, "it lacks %s, which %s files cannot hold (.pb.gz can)", lacks,
			ops->name);
	else
		err_set(err, 0, "%s", "");
}

int export_file(const struct snapshot *s, const char *path, enum snapshot_format format,
		const struct export_options *o, bool replace, struct err *err)
{
	const struct export_ops *ops = export_find(format);
	struct filewrite file;

	if (!ops)
		return err_set(err, EINVAL,
			       "cannot tell the format of %s by its suffix: use .pb.gz, .folded, "
			       ".json, .csv or .txt",
			       path);
	int rc = filewrite_open(&file, path, replace, err);
	if (rc)
		return rc;
	rc = ops->write(s, o, &(struct export_out){.add = add_to_file, .ctx = &file}, err);
	if (rc)
		filewrite_abort(&file);
	else
		rc = filewrite_commit(&file, err);
	if (!rc)
		remark(ops, s, err);
	return rc;
}

const char *export_part(const struct snapshot *s, char ret_text[80])
{
	ret_text[0] = '\0';
	if (s->partial && s->part > 0)
		snprintf(ret_text, 80, "about %.1f %% of the recording was read",
			 100 * fmin(s->part, 0.999));
	else if (s->partial)
		snprintf(ret_text, 80, "not all of the recording was read");
	return ret_text;
}

int export_flush(const struct export_out *out, struct strbuf *b, struct err *err)
{
	if (b->failed)
		return err_set(err, ENOMEM, "out of memory while writing the snapshot");
	out->add(out->ctx, b->buf, b->len);
	strbuf_reset(b);
	return 0;
}

static bool is_named(const struct event_desc *e, const char *name)
{
	return name && event_is_called(e->name, name);
}

static bool is_empty(const struct snapshot_event *e)
{
	return !e->samples && !e->weight;
}

/* Rather than @than: something of it was counted, or it is of a later set than what was. */
static bool is_better(const struct snapshot_event *e, const struct snapshot_event *than)
{
	return !is_empty(e) && (is_empty(than) || e->desc.set > than->desc.set);
}

uint16_t export_main_event(const struct snapshot *s, const struct export_options *o)
{
	uint16_t named = UINT16_MAX, first = UINT16_MAX;

	for (uint16_t i = 0; i < s->nevents; i++) {
		const struct snapshot_event *e = &s->events[i];

		if (named == UINT16_MAX && o && is_named(&e->desc, o->event))
			named = i;
		if (e->desc.sampled && (first == UINT16_MAX || is_better(e, &s->events[first])))
			first = i;
	}
	if (named != UINT16_MAX &&
	    (first == UINT16_MAX || !is_empty(&s->events[named]) || is_empty(&s->events[first])))
		return named;
	return first != UINT16_MAX ? first : 0;
}

bool export_has_event(const struct snapshot *s, const struct export_options *o, uint16_t event)
{
	return !o || !o->event || event >= s->nevents || is_named(&s->events[event].desc, o->event);
}
