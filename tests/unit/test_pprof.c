/* The pprof export of a profile built by hand, decoded again and read by pprof itself. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "codec/gzip.h"
#include "made_snapshot.h"
#include "profile.pb-c.h"

static Pprof__Profile *decode(const char *bytes, size_t len)
{
	static unsigned char plain[1 << 20];
	z_stream z = {.next_in = (unsigned char *)bytes,
		      .avail_in = (uInt)len,
		      .next_out = plain,
		      .avail_out = sizeof plain};
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	Pprof__Profile *p = pprof__profile__unpack(NULL, z.total_out, plain);
	inflateEnd(&z);
	assert_non_null(p);
	return p;
}

static const char *text(const Pprof__Profile *p, int64_t index)
{
	assert_in_range(index, 0, p->n_string_table - 1);
	return p->string_table[index];
}

static const Pprof__Function *function(const Pprof__Profile *p, uint64_t id)
{
	for (size_t i = 0; i < p->n_function; i++)
		if (p->function[i]->id == id)
			return p->function[i];
	fail_msg("no function %lu", (unsigned long)id);
	return NULL;
}

static const Pprof__Location *location(const Pprof__Profile *p, uint64_t id)
{
	for (size_t i = 0; i < p->n_location; i++)
		if (p->location[i]->id == id)
			return p->location[i];
	fail_msg("no location %lu", (unsigned long)id);
	return NULL;
}

/* The sample whose innermost function is @name, of thread @tid. */
static const Pprof__Sample *sample(const Pprof__Profile *p, const char *name, int64_t tid)
{
	for (size_t i = 0; i < p->n_sample; i++) {
		const Pprof__Sample *s = p->sample[i];
		const Pprof__Location *l = location(p, s->location_id[0]);
		int64_t found = 0;
		for (size_t k = 0; k < s->n_label; k++)
			if (!strcmp(text(p, s->label[k]->key), "thread_id"))
				found = s->label[k]->num;
		if (found == tid &&
		    !strcmp(text(p, function(p, l->line[0]->function_id)->name), name))
			return s;
	}
	fail_msg("no sample in %s", name);
	return NULL;
}

static void test_header(void **state)
{
	struct made *m = *state;
	size_t len;
	char *bytes = made_export(m, FORMAT_PPROF, NULL, &len);
	Pprof__Profile *p = decode(bytes, len);

	assert_string_equal(p->string_table[0], "");
	assert_int_equal(p->n_sample_type, 2);
	assert_string_equal(text(p, p->sample_type[0]->type), "samples");
	assert_string_equal(text(p, p->sample_type[0]->unit), "count");
	assert_string_equal(text(p, p->sample_type[1]->type), "cpu");
	assert_string_equal(text(p, p->sample_type[1]->unit), "nanoseconds");
	assert_string_equal(text(p, p->default_sample_type), "cpu");
	assert_string_equal(text(p, p->period_type->type), "cpu");
	assert_string_equal(text(p, p->period_type->unit), "nanoseconds");
	assert_int_equal(p->period, 1000000);
	assert_int_equal(p->time_nanos, 1700000000000000000);
	assert_int_equal(p->duration_nanos, 100000000);
	assert_string_equal(text(p, p->comment[0]), "altpttop -p 100 (prog)");
	bool lost = false;
	for (size_t i = 0; i < p->n_comment; i++)
		lost |= strstr(text(p, p->comment[i]), ": 7") != NULL;
	assert_true(lost);
	pprof__profile__free_unpacked(p, NULL);
	free(bytes);
}

static void test_stacks(void **state)
{
	struct made *m = *state;
	size_t len;
	char *bytes = made_export(m, FORMAT_PPROF, NULL, &len);
	Pprof__Profile *p = decode(bytes, len);

	assert_int_equal(p->n_sample, 6);
	const Pprof__Sample *s = sample(p, "inner(int)", 100);
	assert_int_equal(s->n_value, 2);
	assert_int_equal(s->value[0], 40);
	assert_int_equal(s->value[1], 40000000);
	assert_int_equal(s->n_location_id, 2);
	const Pprof__Location *l = location(p, s->location_id[0]);
	assert_int_equal(l->n_line, 2);
	assert_int_equal(l->line[0]->line, 77);
	assert_int_equal(l->line[1]->line, 21);
	assert_int_equal(l->address, 0x2020);
	const Pprof__Function *f = function(p, l->line[1]->function_id);
	assert_string_equal(text(p, f->name), "outer()");
	assert_string_equal(text(p, f->system_name), "_Z5outerv");
	assert_string_equal(text(p, f->filename), "/src/prog.cc");
	assert_int_equal(f->start_line, 10);
	/* A caller's address is that of the call, not of the return. */
	assert_int_equal(location(p, s->location_id[1])->address, 0x100f);
	assert_int_equal(sample(p, "inner(int)", 101)->value[0], 20);

	s = sample(p, "kernel_fn", 101);
	assert_int_equal(s->n_location_id, 2);
	l = location(p, s->location_id[1]);
	assert_string_equal(text(p, function(p, l->line[0]->function_id)->name), "[truncated]");
	assert_int_equal(l->mapping_id, 0);
	assert_int_equal(sample(p, "prog+0x9000", 100)->value[0], 3);
	assert_int_equal(sample(p, "ev\"il;\\name\\x0a\\xff\\x01 <T>::f(int)", 101)->value[0], 25);

	int64_t sum = 0;
	for (size_t i = 0; i < p->n_sample; i++)
		sum += p->sample[i]->value[0];
	assert_int_equal(sum, 100);
	pprof__profile__free_unpacked(p, NULL);
	free(bytes);
}

static void test_mappings_and_labels(void **state)
{
	struct made *m = *state;
	size_t len;
	char *bytes = made_export(m, FORMAT_PPROF, NULL, &len);
	Pprof__Profile *p = decode(bytes, len);

	assert_int_equal(p->n_mapping, 2);
	const Pprof__Mapping *map = p->mapping[0];
	assert_int_equal(map->id, 1);
	assert_string_equal(text(p, map->filename), "/opt/prog");
	assert_string_equal(text(p, map->build_id), "ab01");
	assert_true(map->has_functions && map->has_filenames && map->has_line_numbers);
	assert_true(map->memory_start <= 0x100f && map->memory_limit > 0x9000);
	assert_true(p->mapping[1]->has_functions);
	assert_false(p->mapping[1]->has_line_numbers);
	for (size_t i = 0; i < p->n_location; i++) {
		const Pprof__Location *l = p->location[i];
		assert_in_range(l->mapping_id, 0, 2);
		for (size_t k = 0; k < l->n_line; k++)
			function(p, l->line[k]->function_id);
	}
	const Pprof__Sample *s = sample(p, "kernel_fn", 101);
	assert_int_equal(s->n_label, 4);
	assert_string_equal(text(p, s->label[0]->key), "thread_name");
	assert_string_equal(text(p, s->label[0]->str), "wor;ker\\x0a (101)");
	assert_string_equal(text(p, s->label[2]->key), "comm");
	assert_string_equal(text(p, s->label[2]->str), "wor;ker\\x0a");
	assert_string_equal(text(p, s->label[3]->key), "pid");
	assert_int_equal(s->label[3]->num, 100);
	pprof__profile__free_unpacked(p, NULL);
	free(bytes);
}

/* Events that ride along have a column each; waiting samples are told apart by a label. */
static void test_more_events(void **state)
{
	(void)state;
	struct made m;
	size_t len;
	made_init(&m);
	m.events[1] = (struct snapshot_event){
		.desc = {.name = "cycles", .unit = EVENT_COUNT}, .weight = 5, .running = 1};
	m.s.nevents = 2;
	memmove(&m.cells[2], &m.cells[1], (m.s.ncells - 1) * sizeof *m.cells);
	m.cells[1] = (struct snapshot_cell){.node = 1, .task = 1, .event = 1, .weight = 5};
	m.s.ncells++;
	m.cells[3].flags = SAMPLE_BLOCKED;
	char *bytes = made_export(&m, FORMAT_PPROF, NULL, &len);
	Pprof__Profile *p = decode(bytes, len);
	assert_int_equal(p->n_sample_type, 3);
	assert_string_equal(text(p, p->sample_type[2]->type), "cycles");
	assert_string_equal(text(p, p->sample_type[2]->unit), "count");
	assert_string_equal(text(p, p->default_sample_type), "cpu");
	const Pprof__Sample *s = sample(p, "inner(int)", 100);
	assert_int_equal(s->value[0], 40);
	assert_int_equal(s->value[2], 5);
	s = sample(p, "rec", 100);
	assert_string_equal(text(p, s->label[s->n_label - 1]->key), "state");
	assert_string_equal(text(p, s->label[s->n_label - 1]->str), "waiting");
	pprof__profile__free_unpacked(p, NULL);
	free(bytes);
	made_fini(&m);
}

static void collect(void *ctx, const void *data, size_t len)
{
	struct strbuf *b = ctx;
	strbuf_add(b, data, len);
}

static void test_gzip(void **state)
{
	(void)state;
	static unsigned char plain[300000], back[300001];
	struct strbuf b;
	strbuf_init(&b);
	for (size_t i = 0; i < sizeof plain; i++)
		plain[i] = (unsigned char)((i * 2654435761u) >> (i % 13));
	struct gzip *z = gzip_new(6, collect, &b);
	assert_non_null(z);
	for (size_t at = 0; at < sizeof plain; at += 777) {
		size_t n = sizeof plain - at < 777 ? sizeof plain - at : 777;
		assert_int_equal(gzip_add(z, plain + at, n), 0);
	}
	assert_int_equal(gzip_finish(z), 0);
	gzip_free(z);
	z_stream s = {.next_in = (unsigned char *)b.buf,
		      .avail_in = (uInt)b.len,
		      .next_out = back,
		      .avail_out = sizeof back};
	assert_int_equal(inflateInit2(&s, 15 + 16), Z_OK);
	assert_int_equal(inflate(&s, Z_FINISH), Z_STREAM_END);
	inflateEnd(&s);
	assert_int_equal(s.total_out, sizeof plain);
	assert_memory_equal(back, plain, sizeof plain);
	strbuf_fini(&b);
}

static int setup(void **state)
{
	static struct made m;
	made_init(&m);
	*state = &m;
	return 0;
}

static int teardown(void **state)
{
	made_fini(*state);
	return 0;
}

/* Hits are of the set that the events were changed to; the old one's column is empty. */
static void test_newest_set(void **state)
{
	struct made m;
	size_t len;
	int64_t samples = 0, weight = 0;

	(void)state;
	made_init(&m);
	m.s.nevents = 2;
	m.events[1] = m.events[0];
	m.events[1].desc.set = 1;
	m.events[0].samples = m.events[0].weight = 0;
	for (uint32_t i = 0; i < m.s.ncells; i++)
		m.cells[i].event = 1;
	char *bytes = made_export(&m, FORMAT_PPROF, NULL, &len);
	Pprof__Profile *p = decode(bytes, len);
	assert_string_equal(text(p, p->sample_type[0]->type), "samples");
	assert_string_equal(text(p, p->sample_type[1]->type), "cpu");
	assert_int_equal(p->default_sample_type, p->sample_type[1]->type);
	for (size_t i = 0; i < p->n_sample; i++) {
		samples += p->sample[i]->value[0];
		weight += p->sample[i]->value[1];
		assert_int_equal(p->sample[i]->value[2], 0);
	}
	assert_int_equal(samples, m.events[1].samples);
	assert_int_equal(weight, m.events[1].weight);
	pprof__profile__free_unpacked(p, NULL);
	free(bytes);
	made_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_header, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stacks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mappings_and_labels, setup, teardown),
		cmocka_unit_test(test_newest_set),
		cmocka_unit_test(test_more_events),
		cmocka_unit_test(test_gzip),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
