/*
 * main: parse, wire, run, exit status.
 *
 * 0 done; 1 failed while running; 2 usage, permission, no such target. All wiring is in src/app/.
 */
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/config.h"
#include "app/crash.h"
#include "app/demo.h"
#include "app/launch.h"
#include "app/listing.h"
#include "app/options.h"
#include "app/signals.h"

static int finish_output(void)
{
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}

static int act(struct options *o)
{
	crash_init();
	signals_init();
	switch (o->action) {
	case ACTION_HELP: options_help(stdout); return finish_output();
	case ACTION_VERSION: puts("altpttop " ALTPTTOP_VERSION); return finish_output();
	case ACTION_COMPLETION:
		if (!strcmp(o->action_arg, "zsh"))
			options_completion_zsh(stdout);
		else
			options_completion_bash(stdout);
		return finish_output();
	case ACTION_LIST_EVENTS: return list_events(stdout, o->action_arg);
	case ACTION_LIST_SETS: return list_sets(stdout);
	case ACTION_DOCTOR: return session_doctor(o);
	default: return session_run(o, options_batch(o, isatty(STDOUT_FILENO)));
	}
}

/* A descriptor that was closed would become that of the next file opened, and the report, say, be
 * written into it. What is written to a closed standard output fails, so that it is told. */
static void keep_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
		if (fd == STDOUT_FILENO) {
			close(fd);
			fd = open("/dev/null", O_RDONLY);
		}
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct options o;
	struct err err = {0};
	int status = 2;

	keep_standard_descriptors();
	setlocale(LC_CTYPE, "");
	options_init(&o);
	int rc = options_parse(&o, argc, argv, &err);
	if (!rc && o.action != ACTION_HELP && o.action != ACTION_VERSION)
		rc = config_load_default(&o, &err);
	if (!rc)
		rc = options_check(&o, &err);
	if (rc)
		fprintf(stderr, "altpttop: %s\n", err.msg);
	else if (o.action == ACTION_DEMO)
		status = demo_workload(); /* with the signals of any program */
	else
		status = act(&o);
	options_fini(&o);
	return status;
}
