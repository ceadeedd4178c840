/*
 * perforigin: host and kernel from the feature sections, the kernel's place from its mapping.
 *
 * Pipe mode tells these late: what is known is told at the first sample and at the end. Source
 * thread.
 */
#include "import/perforigin.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"

#define LATE_NS 60000000000ull /* the file is written within that of its last sample */

static const char kallsyms[] = "[kernel.kallsyms]";

/*
 * Was it made here since this machine was started? Its clock runs since then: its last sample was
 * as long after the start as the file was written.
 */
static void find_boot(const struct perforigin *o, struct raw_origin *raw)
{
	const struct perffile *f = o->file;
	struct utsname here;
	if (uname(&here) || strcmp(here.nodename, f->host) != 0 ||
	    strcmp(here.release, f->release) != 0)
		return;
	uint64_t now = clock_mono_ns(), started = clock_real_ns() - now;
	uint64_t written = stream_written_ns(f->in);
	uint64_t last = f->pipe ? o->first_sample_ns : f->last_ns;
	if (written < started || o->first_sample_ns > now + LATE_NS || last > now + LATE_NS)
		return;
	uint64_t since = written - started;
	raw->same_machine = true;
	raw->same_boot = last && since + LATE_NS >= last && since < last + LATE_NS;
}

static void say(const struct perforigin *o)
{
	const struct perffile *f = o->file;
	char text[512];
	snprintf(text, sizeof text, "recorded on %s %s %s: %.120s", f->host, f->release,
		 f->arch_name, f->command);
	o->im->sink->ops->say(o->im->sink->ctx, text);
}

void perforigin_tell(struct perforigin *o)
{
	const struct perffile *f = o->file;
	struct raw_origin raw = {.host = f->host[0] ? f->host : NULL,
				 .release = f->release[0] ? f->release : NULL,
				 .machine = f->arch_name,
				 .kernel_text = o->kernel_text,
				 .kernel_symbol = o->kernel_symbol,
				 .kernel_build_id = o->kernel_id,
				 .kernel_build_id_size = o->kernel_id_size};
	find_boot(o, &raw);
	for (size_t i = 0; i < f->build_ids.len && !raw.kernel_build_id_size; i++) {
		const struct perffile_build_id *b = &f->build_ids.data[i];
		if (!b->kernel || strncmp(b->path, kallsyms, sizeof kallsyms - 1) != 0)
			continue;
		raw.kernel_build_id = b->id;
		raw.kernel_build_id_size = b->id_size;
	}
	o->im->sink->ops->origin(o->im->sink->ctx, &raw);
	if (!o->said && (f->host[0] || f->command[0])) {
		o->said = true;
		say(o);
	}
}

/* "[kernel.kallsyms]_text": where the kernel lay, in pgoff. */
void perforigin_mmap(struct perforigin *o, const struct raw_mmap *m)
{
	const size_t len = sizeof kallsyms - 1;
	if (!m->kernel || o->kernel_text || strncmp(m->path, kallsyms, len) != 0 ||
	    strlen(m->path + len) >= sizeof o->kernel_symbol)
		return;
	strcpy(o->kernel_symbol, m->path[len] ? m->path + len : "_text");
	o->kernel_text = m->pgoff ? m->pgoff : m->start;
	if (m->build_id && m->build_id_size <= sizeof o->kernel_id) {
		memcpy(o->kernel_id, m->build_id, m->build_id_size);
		o->kernel_id_size = m->build_id_size;
	}
	perforigin_tell(o);
}

void perforigin_sample(struct perforigin *o, uint64_t time_ns)
{
	if (o->first_sample_ns || !time_ns)
		return;
	o->first_sample_ns = time_ns;
	if (!o->file->last_ns) /* what the file does not tell of its time */
		perforigin_tell(o);
}
