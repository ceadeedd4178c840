/*
 * fake_main: the user interface on the fake engine, in a real terminal: to look at every screen,
 * and for tests of the terminal itself (resize, suspend, signals, crashes). Arguments: many,
 * metrics, still (numbers do not move), crash (SIGSEGV on the first refresh after a second), ascii,
 * mono.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../fake.h"
#include "ui/ui.h"

static struct fake fake;
static bool crash;

static void *tick(void *arg)
{
	uint64_t one = 1;

	(void)arg;
	for (;;) {
		sleep(1);
		if (crash)
			raise(SIGSEGV);
		fake.time_ns += 1000000000ULL;
		if (write(fake.fd, &one, sizeof one) < 0)
			return NULL;
	}
}

int main(int argc, char **argv)
{
	static const struct ui_choice sets[] = {
		{"clock", "CPU time, always there", NULL},
		{"ipc", "cycles and instructions", NULL},
		{"memory", "cache and TLB misses", "no hardware PMU here (ENOENT)"},
	};
	struct ui_config config = {.interval_ms = 1000,
				   .has_output = true,
				   .save_name = "altpttop-mysqld.pb.gz",
				   .event_sets = sets,
				   .nevent_sets = 3};
	struct err err;
	pthread_t thread;

	fake_init(&fake);
	fake.jitter = true;
	for (int i = 1; i < argc; i++) {
		fake.many |= !strcmp(argv[i], "many");
		fake.metrics |= !strcmp(argv[i], "metrics");
		fake.jitter &= strcmp(argv[i], "still") != 0;
		config.ascii |= !strcmp(argv[i], "ascii");
		if (!strcmp(argv[i], "mono"))
			config.color = 2;
		crash |= !strcmp(argv[i], "crash");
	}
	pthread_create(&thread, NULL, tick, NULL);
	if (ui_run(fake_engine(&fake), &config, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 2;
	}
	return 0;
}
