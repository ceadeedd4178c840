/*
 * to_pprof: a snapshot as gzip'ed profile.proto.
 *
 * A protobuf message may be written as a row of messages that are merged when read, so each part is
 * packed, compressed and forgotten by itself; only texts are kept to the end. Field meanings are in
 * codec/profile.proto. Any one thread.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strtab.h"
#include "codec/gzip.h"
#include "export/escape.h"
#include "export/export.h"
#include "export/namelist.h"
#include "insight/confidence.h"
#include "profile.pb-c.h"

#define STRING_BYTES_MAX ((size_t)1 << 30)
#define PAGE_MASK        0xfffULL
#define LEVEL            6
#define TYPES_MAX        (EVENT_MAX + 1)

/* Of the main event in one sample. */
struct sums {
	uint64_t samples, weight;
	double squares; /* Σ weight² */
};

struct column {
	int64_t type, unit; /* texts */
	uint16_t event;
	bool samples; /* hits instead of weights */
};

/* What the frames of one module tell of its mapping. */
struct place {
	module_id module;
	uint64_t low, high; /* addresses seen, high exclusive; low > high: none */
	bool files, lines, inlines;
};

struct writer {
	const struct snapshot *s;
	struct namelist names;
	struct gzip *gzip;
	struct strtab texts;
	int64_t ntexts;
	struct strbuf scratch;
	struct {
		VEC(uint8_t)
	} packed;
	struct {
		VEC(uint64_t)
	} stack;
	struct {
		VEC(struct place)
	} places;              /* mapping id - 1 */
	struct map64 place_of; /* module → index in places */
	struct map64 func_ids; /* (function, file text) → id */
	uint32_t nfuncs;
	struct column columns[TYPES_MAX];
	size_t ncolumns;
	int64_t default_type;
	uint16_t main;      /* the event of that type */
	task_id *processes; /* by task */
	uint32_t nprocesses;
	int rc; /* first error */
};

static void keep(struct writer *w, int rc)
{
	if (rc && !w->rc)
		w->rc = rc;
}

static int64_t text(struct writer *w, const char *s)
{
	if (!s || !*s)
		return 0;
	strbuf_reset(&w->scratch);
	escape_plain(&w->scratch, s);
	int64_t id = strtab_add(&w->texts, w->scratch.buf, w->scratch.len);
	if (!id || w->scratch.failed)
		keep(w, -ENOMEM);
	if (id > w->ntexts)
		w->ntexts = id;
	return id;
}

static int64_t clamp(uint64_t v)
{
	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

/* Pack one part of the profile and pass it on. */
static void emit(struct writer *w, const Pprof__Profile *part)
{
	size_t bytes = pprof__profile__get_packed_size(part);

	if (w->rc || vec_reserve(&w->packed, bytes)) {
		keep(w, -ENOMEM);
		return;
	}
	pprof__profile__pack(part, w->packed.data);
	keep(w, gzip_add(w->gzip, w->packed.data, bytes));
}

/* Sample types: hits of the main event and its weight, then each other's. */
static void plan_columns(struct writer *w)
{
	uint32_t n = w->s->nevents < EVENT_MAX ? w->s->nevents : EVENT_MAX;
	bool cpu = false;

	w->main = export_main_event(w->s, NULL);
	for (uint32_t k = 0; k < n; k++) {
		uint16_t i = (uint16_t)(!k ? w->main : k <= w->main ? k - 1 : k);
		const struct event_desc *d = &w->s->events[i].desc;
		if (!k && d->sampled)
			w->columns[w->ncolumns++] = (struct column){.type = text(w, "samples"),
								    .unit = text(w, "count"),
								    .event = i,
								    .samples = true};
		const char *name = d->name;
		if (d->unit == EVENT_NS && d->cpu_time && !cpu) {
			name = "cpu";
			cpu = true;
		}
		struct column *c = &w->columns[w->ncolumns++];
		*c = (struct column){.type = text(w, name),
				     .unit = text(w, d->unit == EVENT_NS ? "nanoseconds" : "count"),
				     .event = i};
		if (!k && d->sampled)
			w->default_type = c->type;
	}
}

static void emit_types(struct writer *w)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__ValueType types[TYPES_MAX], *list[TYPES_MAX];

	for (size_t i = 0; i < w->ncolumns; i++) {
		types[i] = (Pprof__ValueType)PPROF__VALUE_TYPE__INIT;
		types[i].type = w->columns[i].type;
		types[i].unit = w->columns[i].unit;
		list[i] = &types[i];
	}
	part.n_sample_type = w->ncolumns;
	part.sample_type = list;
	emit(w, &part);
}

/* The period that one sample of the main event stands for. */
static int64_t period_of(const struct snapshot_event *e)
{
	if (e->desc.period)
		return clamp(e->desc.period);
	if (e->desc.unit == EVENT_NS && e->desc.freq_hz)
		return 1000000000 / e->desc.freq_hz;
	return e->samples ? clamp(e->weight / e->samples) : 0;
}

static size_t add_loss_comments(struct writer *w, int64_t *comments, size_t n)
{
	char line[160];

	for (int i = 0; i < LOSS_KINDS; i++) {
		if (!w->s->loss[i])
			continue;
		snprintf(line, sizeof line, "%s: %llu", loss_kind_name(i),
			 (unsigned long long)w->s->loss[i]);
		comments[n++] = text(w, line);
	}
	for (int i = 0; i < CUT_REASONS; i++) {
		if (!w->s->cut[i])
			continue;
		snprintf(line, sizeof line, "stacks %s%s: %llu", i == CUT_NONE ? "" : "truncated, ",
			 cut_reason_name(i), (unsigned long long)w->s->cut[i]);
		comments[n++] = text(w, line);
	}
	return n;
}

static void emit_facts(struct writer *w)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__ValueType type = PPROF__VALUE_TYPE__INIT;
	int64_t comments[4 + LOSS_KINDS + CUT_REASONS];
	char read[80];
	size_t n = 0;

	part.time_nanos = clamp(w->s->wall_start_ns);
	part.duration_nanos = clamp(w->s->end_ns - w->s->start_ns);
	if (w->ncolumns > 1) {
		type.type = w->columns[1].type;
		type.unit = w->columns[1].unit;
		part.period_type = &type;
		part.period = period_of(&w->s->events[w->columns[1].event]);
	}
	part.default_sample_type = w->default_type;
	if (w->s->title[0])
		comments[n++] = text(w, w->s->title);
	if (w->s->host[0])
		comments[n++] = text(w, w->s->host);
	if (w->s->sampler[0])
		comments[n++] = text(w, w->s->sampler);
	if (*export_part(w->s, read))
		comments[n++] = text(w, read);
	part.n_comment = add_loss_comments(w, comments, n);
	part.comment = comments;
	emit(w, &part);
}

/* Mapping id of a module, 0 for what lies in no file and no memory. */
static uint64_t mapping_of(struct writer *w, module_id module)
{
	uint32_t index;

	if (!module || tables_module_get(w->s->tables, module)->kind == MODULE_SPECIAL)
		return 0;
	if (map64_get(&w->place_of, module, &index))
		return index + 1;
	index = (uint32_t)w->places.len;
	struct place p = {.module = module, .low = UINT64_MAX};
	if (vec_push(&w->places, p) || map64_put(&w->place_of, module, index))
		keep(w, -ENOMEM);
	return index + 1;
}

static void note_address(struct place *p, uint64_t addr)
{
	if (addr < p->low)
		p->low = addr;
	if (addr >= p->high)
		p->high = addr == UINT64_MAX ? addr : addr + 1;
}

/*
 * pprof demangles names whose two forms are one, and cuts what looks demangled already. Such names
 * are ours as they are (too long to demangle, say): it must not find the second form.
 */
static bool pprof_would_demangle(const char *name)
{
	return strpbrk(name, "<>[]") || strstr(name, "::") || !strncmp(name, "_Z", 2) ||
	       !strncmp(name, "__Z", 3) || !strncmp(name, "_R", 2);
}

static uint64_t function_of(struct writer *w, const struct namelist_line *l)
{
	const struct namelist_func *f = &w->names.funcs.data[l->func];
	const char *path = *l->file ? l->file : f->file;
	int64_t file = text(w, path);
	uint32_t id;

	if (map64_get(&w->func_ids, (uint64_t)l->func << 32 | (uint64_t)file, &id))
		return id;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Function func = PPROF__FUNCTION__INIT, *list = &func;
	id = ++w->nfuncs;
	func.id = id;
	func.name = text(w, f->name);
	func.system_name = !strcmp(f->name, f->raw) && pprof_would_demangle(f->raw)
				   ? 0
				   : text(w, f->raw);
	func.filename = file;
	func.start_line = !strcmp(path, f->file) ? f->line : 0;
	part.n_function = 1;
	part.function = &list;
	emit(w, &part);
	if (map64_put(&w->func_ids, (uint64_t)l->func << 32 | (uint64_t)file, id))
		keep(w, -ENOMEM);
	return id;
}

static void emit_location(struct writer *w, uint32_t index)
{
	const struct namelist_frame *f = &w->names.frames.data[index];
	const struct frame *frame = tables_frame_get(w->s->tables, f->frame);
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT, *list = &location;
	Pprof__Line *lines = calloc(f->n, sizeof *lines);
	Pprof__Line **line_list = calloc(f->n, sizeof *line_list);

	if (!lines || !line_list) {
		keep(w, -ENOMEM);
		goto out;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		const struct namelist_line *l = &w->names.lines.data[f->first + i];
		lines[i] = (Pprof__Line)PPROF__LINE__INIT;
		lines[i].function_id = function_of(w, l);
		lines[i].line = l->line;
		lines[i].column = l->column;
		line_list[i] = &lines[i];
	}
	location.id = index + 1;
	location.mapping_id = mapping_of(w, frame->module);
	location.address = frame->addr;
	if (frame->flags & FRAME_RETURN && location.address)
		location.address--;
	location.n_line = f->n;
	location.line = line_list;
	part.n_location = 1;
	part.location = &list;
	emit(w, &part);
	if (location.mapping_id && !w->rc) {
		struct place *p = &w->places.data[location.mapping_id - 1];
		if (location.address)
			note_address(p, location.address);
		p->inlines |= f->n > 1;
		for (uint32_t i = 0; i < f->n; i++) {
			p->files |= *w->names.lines.data[f->first + i].file != '\0';
			p->lines |= w->names.lines.data[f->first + i].line != 0;
		}
	}
out:
	free(lines);
	free(line_list);
}

/* pprof asks for the program of a profile without any mapping; this one answers that there is none.
 */
static void emit_no_mapping(struct writer *w)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *list = &mapping;

	mapping.id = 1;
	mapping.filename = text(w, "[unknown]");
	mapping.has_functions = true;
	part.n_mapping = 1;
	part.mapping = &list;
	emit(w, &part);
}

static void emit_mapping(struct writer *w, size_t index)
{
	const struct place *p = &w->places.data[index];
	const struct module *m = tables_module_get(w->s->tables, p->module);
	char hex[2 * sizeof m->build_id + 1] = "", path[PATH_MAX + 16];
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *list = &mapping;

	for (unsigned i = 0; i < m->build_id_size && i < sizeof m->build_id; i++)
		snprintf(hex + 2 * i, 3, "%02x", m->build_id[i]);
	mapping.id = index + 1;
	if (p->low < p->high) {
		mapping.memory_start = p->low & ~PAGE_MASK;
		mapping.memory_limit = p->high > UINT64_MAX - PAGE_MASK
					       ? UINT64_MAX
					       : (p->high + PAGE_MASK) & ~PAGE_MASK;
		/* Addresses are those of the program file, so it is as if mapped in place. */
		mapping.file_offset = m->kind == MODULE_FILE ? mapping.memory_start : 0;
	}
	/* As maps says it: another file may have the path by now, and pprof would complain of it.
	 */
	snprintf(path, sizeof path, "%s%s", tables_text(w->s->tables, m->path),
		 m->deleted ? " (deleted)" : "");
	mapping.filename = text(w, path);
	mapping.build_id = text(w, hex);
	mapping.has_functions = true;
	mapping.has_filenames = p->files;
	mapping.has_line_numbers = p->lines;
	mapping.has_inline_frames = p->inlines || p->lines;
	part.n_mapping = 1;
	part.mapping = &list;
	emit(w, &part);
}

/* The name of the process that a thread is part of, "" unknown. */
static const char *process_name(const struct writer *w, task_id id)
{
	task_id process = id < w->nprocesses ? w->processes[id] : id;

	return process == id
		       ? ""
		       : tables_text(w->s->tables, tables_task_get(w->s->tables, process)->comm);
}

#define LABELS_MAX 7
static size_t make_labels(struct writer *w, task_id id, bool blocked, Pprof__Label *labels,
			  Pprof__Label **list)
{
	const struct task *task = tables_task_get(w->s->tables, id);
	const char *comm = tables_text(w->s->tables, task->comm);
	char name[96];
	size_t n = 0;

	for (size_t i = 0; i < LABELS_MAX; i++) {
		labels[i] = (Pprof__Label)PPROF__LABEL__INIT;
		list[i] = &labels[i];
	}
	if (task->tid) {
		snprintf(name, sizeof name, "%s (%d)", comm, (int)task->tid);
		labels[n].key = text(w, "thread_name");
		labels[n++].str = text(w, name);
		labels[n].key = text(w, "thread_id");
		labels[n++].num = task->tid;
	}
	if (*comm) {
		labels[n].key = text(w, "comm");
		labels[n++].str = text(w, comm);
	}
	if (task->pid) {
		labels[n].key = text(w, "pid");
		labels[n++].num = task->pid;
	}
	if (*process_name(w, id)) {
		labels[n].key = text(w, "process");
		labels[n++].str = text(w, process_name(w, id));
	}
	if (blocked) {
		labels[n].key = text(w, "state");
		labels[n++].str = text(w, "waiting");
	}
	return n;
}

/*
 * Where samples weigh differently they say less than as many of equal weight. How many such would
 * say as much is a label, in thousandths, since numbers of labels are whole.
 */
static size_t label_effective(struct writer *w, const struct sums *sum, Pprof__Label *label)
{
	double n = sum->squares > 0 ? confidence_effective(sum->weight, sum->squares) : 0;
	int64_t thousandths = n < INT64_MAX / 2000 ? llround(n * 1000) : 0;

	if (thousandths < 1000 || (uint64_t)thousandths >= sum->samples * 1000)
		return 0;
	label->key = text(w, "effective_samples");
	label->num = thousandths;
	label->num_unit = text(w, "thousandths");
	return 1;
}

/* One sample from the cells [first, end), all of one node and task, that have this flag. */
static void emit_sample(struct writer *w, uint32_t first, uint32_t end, bool blocked)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *list = &sample;
	Pprof__Label labels[LABELS_MAX], *label_list[LABELS_MAX];
	int64_t values[TYPES_MAX] = {0};
	struct sums sum = {0};
	bool any = false;

	for (uint32_t i = first; i < end; i++) {
		const struct snapshot_cell *c = &w->s->cells[i];
		if (!(c->flags & SAMPLE_BLOCKED) == blocked || !export_counts(w->s, c))
			continue;
		if (c->event == w->main)
			sum = (struct sums){sum.samples + c->samples, sum.weight + c->weight,
					    sum.squares + c->weight_sq};
		for (size_t k = 0; k < w->ncolumns; k++) {
			if (w->columns[k].event != c->event)
				continue;
			values[k] += clamp(w->columns[k].samples ? c->samples : c->weight);
			any |= values[k] != 0;
		}
	}
	if (!any)
		return;
	uint32_t node = w->s->cells[first].node;
	w->stack.len = 0;
	do {
		if (vec_push(&w->stack, namelist_frame_of(&w->names, node) + 1))
			keep(w, -ENOMEM);
		node = node == SNAPSHOT_ROOT ? node : w->s->nodes[node].parent;
	} while (node != SNAPSHOT_ROOT);
	sample.n_location_id = w->stack.len;
	sample.location_id = w->stack.data;
	sample.n_value = w->ncolumns;
	sample.value = values;
	sample.n_label = make_labels(w, w->s->cells[first].task, blocked, labels, label_list);
	sample.n_label += label_effective(w, &sum, &labels[sample.n_label]);
	sample.label = label_list;
	part.n_sample = 1;
	part.sample = &list;
	emit(w, &part);
}

static void emit_samples(struct writer *w)
{
	for (uint32_t i = 0; i < w->s->ncells && !w->rc;) {
		uint32_t end = i + 1;
		while (end < w->s->ncells && w->s->cells[end].node == w->s->cells[i].node &&
		       w->s->cells[end].task == w->s->cells[i].task)
			end++;
		emit_sample(w, i, end, false);
		emit_sample(w, i, end, true);
		i = end;
	}
}

static void emit_texts(struct writer *w)
{
	for (int64_t i = 0; i <= w->ntexts && !w->rc; i++) {
		Pprof__Profile part = PPROF__PROFILE__INIT;
		char *s = (char *)strtab_text(&w->texts, (str_id)i);
		part.n_string_table = 1;
		part.string_table = &s;
		emit(w, &part);
	}
}

static void write_all(struct writer *w)
{
	plan_columns(w);
	emit_types(w);
	emit_facts(w);
	mapping_of(w, w->s->main_module); /* the first mapping is the program */
	emit_samples(w);
	for (uint32_t i = 0; i < w->names.frames.len && !w->rc; i++)
		emit_location(w, i);
	for (size_t i = 0; i < w->places.len && !w->rc; i++)
		emit_mapping(w, i);
	if (!w->places.len)
		emit_no_mapping(w);
	emit_texts(w);
	keep(w, gzip_finish(w->gzip));
}

static int write_pprof(const struct snapshot *s, const struct export_options *o,
		       const struct export_out *out, struct err *err)
{
	struct writer w = {.s = s};

	(void)o;
	keep(&w, namelist_init(&w.names, s));
	if (w.rc)
		return err_set(err, ENOMEM, "out of memory while writing the snapshot");
	strtab_init(&w.texts, STRING_BYTES_MAX);
	strbuf_init(&w.scratch);
	map64_init(&w.place_of);
	map64_init(&w.func_ids);
	w.processes = tables_processes(s->tables, &w.nprocesses);
	w.gzip = gzip_new(LEVEL, out->add, out->ctx);
	if (w.gzip && w.processes)
		write_all(&w);
	else
		keep(&w, -ENOMEM);
	gzip_free(w.gzip);
	free(w.processes);
	map64_fini(&w.place_of);
	map64_fini(&w.func_ids);
	vec_fini(&w.packed);
	vec_fini(&w.stack);
	vec_fini(&w.places);
	strbuf_fini(&w.scratch);
	strtab_fini(&w.texts);
	namelist_fini(&w.names);
	return w.rc ? err_set(err, -w.rc, "out of memory while writing the snapshot") : 0;
}

const struct export_ops export_pprof = {
	.name = "pprof", .format = FORMAT_PPROF, .write = write_pprof};
