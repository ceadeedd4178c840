/* Where descriptors do not suffice for old and new events of whole CPUs, the old ones go first: the
 * gap is short, said and counted. Needs privilege. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "event/perf_open.h"
#include "perf_case.h"

static void work_endless(void)
{
	volatile uint64_t x = 1;

	for (;;)
		x = x * 3 + 1;
}

static void switch_often(struct source *s, int step)
{
	struct source_command c = {.kind = SOURCE_SET_EVENTS};

	if (step != 3 && step != 13)
		return;
	c.events = strdup(step == 3 ? "{cpu-clock,context-switches},page-faults,minor-faults"
				    : "cpu-clock,page-faults");
	if (source_perf.command(s, &c))
		free(c.events);
}

/* The limit that leaves about @events descriptors for events: the sampler keeps an eighth, and what
 * the case has open counts, which is what this process has and a pipe. Whoever started it left it
 * some. */
static rlim_t limit_for(uint32_t events)
{
	DIR *d = opendir("/proc/self/fd");
	uint32_t used = 1;

	assert_non_null(d);
	while (readdir(d))
		used++;
	closedir(d);
	return (events + used) * 8 / 7;
}

static const struct outcome *with_limit(rlim_t nofile)
{
	return perf_case(&(struct setting){.work = work_endless,
					   .all = true,
					   .events = "{cpu-clock,page-faults}",
					   .nofile = nofile,
					   .seconds = 2.5,
					   .meddle = switch_often});
}

/* Where descriptors do not suffice for two sets, the gap is said and counted; else there is none.
 */
static void test_no_room_for_two(void **state)
{
	uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	const struct outcome *o;
	struct perf_allowed allowed;
	bool said = false;

	(void)state;
	perf_allowed_read(&allowed);
	if (!allowed.cpu_wide)
		skip();
	o = with_limit(4096);
	assert_int_equal(o->open, 0);
	assert_int_equal(o->loss[LOSS_GAP], 0);
	/* {4 strands, faults, switches} and the side band, then {4, 1, 1}, 1, 1: 15 a CPU together.
	 */
	o = with_limit(limit_for(14 * cpus));
	assert_int_equal(o->open, 0);
	assert_int_equal(o->run, 0);
	for (unsigned i = 0; i < o->nsaid; i++)
		said |= strstr(o->said[i], "closed first") != NULL;
	for (unsigned i = 0; i < o->nsaid; i++)
		print_message("%s\n", o->said[i]);
	assert_true(said);
	assert_in_range(o->loss[LOSS_GAP], 1, 200);
	assert_int_equal(o->events, 8);
	assert_true(o->samples > 1500); /* it goes on */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_room_for_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
