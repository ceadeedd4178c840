/*
 * export: the table of formats, and writing one of them to a file.
 *
 * Formats are in a file each; whether a file may be replaced, and that it appears whole, is
 * base/filewrite's.
 */
#include "export/export.h"

#include <errno.h>
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
	if (!rc)
		return filewrite_commit(&file, err);
	filewrite_abort(&file);
	return rc;
}

int export_flush(const struct export_out *out, struct strbuf *b, struct err *err)
{
	if (b->failed)
		return err_set(err, ENOMEM, "out of memory while writing the snapshot");
	out->add(out->ctx, b->buf, b->len);
	strbuf_reset(b);
	return 0;
}

uint16_t export_main_event(const struct snapshot *s, const struct export_options *o)
{
	for (uint32_t i = 0; o && o->event && i < s->nevents; i++)
		if (!strcmp(s->events[i].desc.name, o->event))
			return (uint16_t)i;
	for (uint32_t i = 0; i < s->nevents; i++)
		if (s->events[i].desc.sampled)
			return (uint16_t)i;
	return 0;
}
