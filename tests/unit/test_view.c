/* test_view: columns at every width, cells of hostile rows, questions from a screen's state. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/facts.h"
#include "view/utf8.h"
#include "view/view.h"

static const struct snapshot_column columns[] = {
	{"COUNT", "", 0}, {"A LONG TITLE", "ns", 0}, {"SD", "", 2}};

static void fill_answer(struct answer *a)
{
	memset(a, 0, sizeof *a);
	a->nmetrics = 3;
	strcpy(a->metrics[0].name, "IPC");
	strcpy(a->metrics[1].name, "L1 MISSES");
	strcpy(a->metrics[2].name, "BRANCH MISS PER THOUSAND INSTR");
	a->metrics[0].decimals = 2;
	a->columns = columns;
	a->ncells = 3;
	a->query.flags = QUERY_ADDRESSES;
}

/* At any width columns lie inside it, in order, apart; the name is always there. */
static void places(void **state)
{
	struct answer a;

	(void)state;
	fill_answer(&a);
	for (int v = 0; v < VIEW_KINDS; v++)
		for (int w = 10; w < 500; w++) {
			struct placed p[VIEW_COLUMNS];
			const struct view *view = view_of((enum view_kind)v);
			int n = view_place(view, w % 5 ? &a : NULL, w, 0, p), x = 0;
			bool always = false;

			assert_true(n >= 1 && n <= VIEW_COLUMNS);
			for (int i = 0; i < n; i++) {
				assert_true(p[i].x >= x && p[i].width >= 0);
				assert_true(p[i].x + p[i].width <= w);
				x = p[i].x + p[i].width;
				always |= p[i].column->keep == 255;
			}
			assert_true(always);
			if (w >= 200)
				assert_int_equal(x, w); /* no room is left unused */
		}
}

static bool has(const struct placed *p, int n, uint32_t id)
{
	for (int i = 0; i < n; i++)
		if (p[i].id == id)
			return true;
	return false;
}

/* What kind of slowness, and where: a narrow screen leaves out the evidence. */
static void narrow_verdicts(void **state)
{
	struct placed p[VIEW_COLUMNS];
	struct answer a;
	int n;

	(void)state;
	fill_answer(&a);
	n = view_place(view_of(VIEW_VERDICTS), &a, 40, 0, p);
	assert_true(has(p, n, COLUMN_MODULE) && has(p, n, COLUMN_NAME));
	assert_false(has(p, n, COLUMN_DEFAULT));
	n = view_place(view_of(VIEW_VERDICTS), &a, 80, 0, p);
	assert_true(has(p, n, COLUMN_NAME) && has(p, n, COLUMN_DEFAULT));
}

/* All of a thread's time, where samples tell of it, fits a narrow terminal. */
static void parts_of_time(void **state)
{
	struct row row = {.blocked = 0.5, .pid = 7, .nspark = 1};
	struct answer a = {.rows = &row, .nrows = 1};
	struct placed p[VIEW_COLUMNS];
	int n = view_place(&view_threads, &a, 80, 0, p);

	(void)state;
	assert_true(has(p, n, COLUMN_CPU) && has(p, n, COLUMN_READY) && has(p, n, COLUMN_BLOCKED));
	assert_true(has(p, n, COLUMN_TOP));
	row.blocked = -1; /* not known: others have the room */
	n = view_place(&view_threads, &a, 80, 0, p);
	assert_false(has(p, n, COLUMN_READY) || has(p, n, COLUMN_BLOCKED));
}

static void order_of_going(void **state)
{
	struct answer a;
	struct placed p[VIEW_COLUMNS];
	int n;

	(void)state;
	fill_answer(&a);
	n = view_place(&view_functions, &a, 200, 0, p);
	assert_true(has(p, n, COLUMN_SAMPLES) && has(p, n, COLUMN_MARGIN) &&
		    has(p, n, COLUMN_METRIC + 1));
	n = view_place(&view_functions, &a, 79, 0, p);
	assert_true(has(p, n, COLUMN_SELF) && has(p, n, COLUMN_TOTAL) && has(p, n, COLUMN_MODULE));
	assert_false(has(p, n, COLUMN_SAMPLES));
	n = view_place(&view_functions, &a, 39, 0, p);
	assert_true(has(p, n, COLUMN_SELF) && has(p, n, COLUMN_TOTAL) && !has(p, n, COLUMN_MODULE));
	n = view_place(&view_functions, &a, 79, COLUMN_SAMPLES, p); /* sorted by: stays */
	assert_true(has(p, n, COLUMN_SAMPLES));
}

/* Widths do not depend on values: two answers with other numbers have the same places. */
static void nothing_moves(void **state)
{
	struct row rows[2] = {{.self = 0.0001, .name = "", .module = ""},
			      {.self = 1, .total = 1, .name = "x", .module = "y"}};
	struct answer a, b;
	struct placed p[VIEW_COLUMNS], q[VIEW_COLUMNS];

	(void)state;
	fill_answer(&a);
	b = a;
	a.rows = &rows[0];
	b.rows = &rows[1];
	a.nrows = b.nrows = 1;
	for (int v = 0; v < VIEW_KINDS; v++) {
		int n = view_place(view_of((enum view_kind)v), &a, 120, 0, p);

		assert_int_equal(n, view_place(view_of((enum view_kind)v), &b, 120, 0, q));
		for (int i = 0; i < n; i++) {
			assert_int_equal(p[i].x, q[i].x);
			assert_int_equal(p[i].width, q[i].width);
		}
	}
}

/* Every cell of every view takes any row; numbers fit the columns they are made for. */
static void cells(void **state)
{
	static const double numbers[] = {NAN, 1e18, 0};
	static char huge[200000];
	struct row row = {
		.name = "f", .full = "f", .module = "m", .note = "", .hint = "", .file = ""};
	struct answer a;
	struct view_env env;

	(void)state;
	memset(huge, '\t', sizeof huge - 1);
	fill_answer(&a);
	a.rows = &row;
	a.nrows = 1;
	row.cells = numbers;
	for (int round = 0; round < 2000; round++) {
		row.key.kind = (uint32_t)(round % (ROW_HEADING + 1));
		row.flags = (uint32_t)rand() & 0xffff;
		row.self = round % 7 ? (double)rand() / RAND_MAX : -1;
		row.total = round % 5 ? 1.0 : NAN;
		row.self_margin = row.total_margin = (double)rand() / RAND_MAX * 3;
		row.self_samples = (uint64_t)rand() << (rand() % 40);
		row.depth = (uint16_t)rand();
		row.name = round % 3 ? "name" : huge;
		row.note = round % 2 ? "" : "note";
		row.line = (uint32_t)rand();
		row.addr = (uint64_t)rand() << 32;
		row.nspark = (uint8_t)rand();
		row.state = (char)rand();
		row.nmetrics = (uint8_t)(round % 4);
		row.self_metric[0] = (struct metric_value){
			.v = rand(), .state = (uint8_t)(round % 9), .grade = (uint8_t)rand()};
		view_env_init(&env, &a);
		for (int v = 0; v < VIEW_KINDS; v++) {
			struct placed p[VIEW_COLUMNS];
			int n = view_place(view_of((enum view_kind)v), &a, 20 + round % 300, 0, p);

			for (int i = 0; i < n; i++) {
				struct view_cell cell;

				view_cell_fill(&p[i], &row, &env, &cell);
				assert_in_range(cell.nspans, 0, CELL_SPANS);
				assert_true(cell.bar <= 1);
				assert_in_range(cell.nspark, 0, 16);
				for (int k = 0; k < cell.nspans; k++)
					assert_true(cell.spans[k].look < LOOKS);
			}
		}
	}
}

static void few_samples_are_marked(void **state)
{
	struct row row = {.key = {ROW_FUNCTION, 1, 0},
			  .self = 0.01,
			  .self_margin = 0.004,
			  .name = "f",
			  .full = "f",
			  .module = "m",
			  .note = ""};
	struct answer a;
	struct view_env env;
	struct placed p[VIEW_COLUMNS];
	struct view_cell cell;
	int n;

	(void)state;
	fill_answer(&a);
	a.nmetrics = 0;
	a.rows = &row;
	a.nrows = 1;
	view_env_init(&env, &a);
	n = view_place(&view_functions, &a, 100, 0, p);
	assert_true(n > 2 && p[0].id == COLUMN_SELF && p[1].id == COLUMN_MARGIN);
	view_cell_fill(&p[0], &row, &env, &cell);
	assert_int_equal(cell.spans[0].look, LOOK_NORMAL);
	assert_string_equal(cell.spans[0].text, "1.0");
	row.flags = ROW_UNRANKED;
	view_cell_fill(&p[0], &row, &env, &cell);
	assert_int_equal(cell.spans[0].look, LOOK_DIM);
	view_cell_fill(&p[1], &row, &env, &cell);
	assert_string_equal(cell.spans[0].text, "\xc2\xb7");
	row.flags = ROW_LOW;
	view_cell_fill(&p[1], &row, &env, &cell);
	assert_string_equal(cell.spans[0].text, "?");
	assert_string_equal(cell.spans[1].text, " 0.4");
}

static void sorts(void **state)
{
	struct answer a;
	uint32_t ids[VIEW_COLUMNS];
	int n;

	(void)state;
	fill_answer(&a);
	n = view_sorts(&view_functions, &a, ids);
	assert_int_equal(ids[0], COLUMN_SELF);
	assert_int_equal(view_default_sort(&view_functions), COLUMN_SELF);
	assert_true(n > 6);
	for (int i = 0; i < n; i++)
		assert_string_not_equal(view_column_title(&view_functions, &a, ids[i]), "");
	assert_string_equal(view_column_title(&view_functions, &a, COLUMN_METRIC + 1), "L1 MISSES");
	assert_string_equal(view_column_title(&view_duration, &a, COLUMN_CELL + 2), "SD");
	assert_string_equal(view_column_title(&view_functions, NULL, COLUMN_METRIC + 1), "");
	assert_int_equal(view_sorts(&view_output, &a, ids), 0);
}

static void questions(void **state)
{
	const struct row_key open[] = {{ROW_NODE, 1, 2}};
	struct view_state s = {.event = 9,
			       .flags = QUERY_NO_KERNEL | QUERY_ASSEMBLY | QUERY_BOTTOM_UP,
			       .window_ns = 10,
			       .until_ns = 7,
			       .task = 3,
			       .set = 2,
			       .sort = COLUMN_TOTAL,
			       .reverse = true,
			       .focus = {ROW_FUNCTION, 5, 0},
			       .filter = "malloc",
			       .expanded = open,
			       .nexpanded = 1,
			       .expand_all = true};
	struct query q = {.serial = 42};

	(void)state;
	view_query(&view_tree, &s, &q);
	assert_int_equal(q.serial, 42);
	assert_int_equal(q.view, VIEW_TREE);
	assert_int_equal(q.flags,
			 QUERY_NO_KERNEL | QUERY_BOTTOM_UP | QUERY_REVERSE | QUERY_EXPAND_ALL);
	assert_int_equal(q.window_ns, 10);
	assert_int_equal(q.until_ns, 7);
	assert_int_equal(q.task, 3);
	assert_int_equal(q.sort, COLUMN_TOTAL);
	assert_int_equal(q.focus.a, 5);
	assert_string_equal(q.filter, "malloc");
	assert_ptr_equal(q.expanded, open);
	assert_int_equal(q.event, 9);
	assert_int_equal(q.set, 2);
	s.reverse = s.expand_all = false;
	view_query(&view_source, &s, &q); /* another view takes other flags, and no filter */
	assert_int_equal(q.flags, QUERY_NO_KERNEL | QUERY_ASSEMBLY);
	assert_string_equal(q.filter, "");
}

static void limits(void **state)
{
	struct row small = {.key = {ROW_FUNCTION, 1, 0}, .self = 0.001, .total = 0.004};

	(void)state;
	assert_false(view_hides(&view_functions, &small, 0));
	assert_false(view_hides(&view_functions, &small, 0.4));
	assert_true(view_hides(&view_functions, &small, 0.5));
	assert_false(view_hides(&view_source, &small, 0.5));
	small.key.kind = ROW_REST;
	assert_false(view_hides(&view_functions, &small, 0.5));
}

static const struct fact *fact(const struct fact *f, int n, const char *label)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(f[i].label, label))
			return &f[i];
	return NULL;
}

static void header_facts(void **state)
{
	struct answer_status s = {
		.cpu = -1, .cost = -1, .progress = -1, .unwatched = 12, .threads = 40};
	struct fact f[FACTS_MAX];
	int n;

	(void)state;
	strcpy(s.target, "4242 mysqld");
	s.loss[LOSS_RING] = 4;
	s.loss[LOSS_QUEUE] = 1;
	s.loss[LOSS_THROTTLED] = 2;
	s.cut[CUT_LOOP] = 9;
	n = facts_target(&s, f);
	assert_string_equal(fact(f, n, "CPU")->value, NUMBER_DASH); /* unknown is not 0 */
	n = facts_quality(&s, f);
	assert_string_equal(fact(f, n, "lost")->value, "5");
	assert_int_equal(fact(f, n, "lost")->look, LOOK_WARN);
	assert_string_equal(fact(f, n, "throttled")->value, "2");
	assert_null(fact(f, n, "costs"));
	assert_null(fact(f, n, "fetch"));
	assert_null(fact(f, n, "damaged"));
	strcpy(s.download, "libfoo.so");
	s.download_done = 1u << 20;
	s.damage = 7;
	n = facts_quality(&s, f);
	assert_string_equal(fact(f, n, "fetch")->value, "libfoo.so 1.0 MiB");
	assert_string_equal(fact(f, n, "damaged")->value, "7");
	assert_null(fact(f, n, "totals"));
	assert_null(fact(f, n, "no memory"));
	s.loss[LOSS_MEMORY] = 3;
	s.totals_low = true;
	n = facts_quality(&s, f);
	assert_string_equal(fact(f, n, "totals")->value, "too low");
	assert_string_equal(fact(f, n, "no memory")->value, "3");
	s.loss[LOSS_MEMORY] = s.totals_low = false;
	s.damage = 0;
	n = facts_details(&s, f, FACTS_MAX);
	assert_int_equal(n, 4);
	assert_int_equal(facts_details(&s, f, 2), 2);
	n = facts_state(&(struct facts_state){.filter = "x",
					      .thread = "",
					      .narrowed = "",
					      .frozen = true,
					      .window_ns = 1000000000ULL},
			f);
	assert_string_equal(f[0].value, "FROZEN");
	assert_string_equal(f[n - 1].value, "last 1 s");
	/* A recording of 20 µs did not last 0:00, and one without times an unknown time. */
	struct facts_state brief = {
		.filter = "", .thread = "", .narrowed = "", .recording = true, .covered_ns = 20000};
	n = facts_state(&brief, f);
	assert_string_equal(f[n - 1].value, "all 20.0 \xc2\xb5s");
	brief.covered_ns = 0;
	n = facts_state(&brief, f);
	assert_string_equal(f[n - 1].value, "all " NUMBER_DASH);
	brief.recording = false;
	n = facts_state(&brief, f);
	assert_string_equal(f[n - 1].value, "all 0:00");
}

/* Every column that an answer names says what it tells. */
static void test_column_help(void **state)
{
	static const struct snapshot_column named[] = {
		{"count", "", 0}, {"avg_loop_size", "", 1}, {"nosuch", "", 0}};
	const struct answer a = {.columns = named, .ncells = 3};

	(void)state;
	assert_string_equal(view_column_help(&view_duration, &a, COLUMN_CELL), "how often");
	assert_non_null(strstr(view_column_help(&view_duration, &a, COLUMN_CELL + 1), "children"));
	assert_string_equal(view_column_help(&view_duration, &a, COLUMN_CELL + 2), "");
	assert_string_equal(view_column_help(&view_duration, NULL, COLUMN_CELL + 1), "");
	assert_true(*view_column_help(&view_duration, &a, COLUMN_NAME));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_column_help),
		cmocka_unit_test(places),
		cmocka_unit_test(narrow_verdicts),
		cmocka_unit_test(parts_of_time),
		cmocka_unit_test(order_of_going),
		cmocka_unit_test(nothing_moves),
		cmocka_unit_test(cells),
		cmocka_unit_test(few_samples_are_marked),
		cmocka_unit_test(sorts),
		cmocka_unit_test(questions),
		cmocka_unit_test(limits),
		cmocka_unit_test(header_facts),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
