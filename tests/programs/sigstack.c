/*
 * sigstack: 40 % in a signal handler that runs on an alternate stack, 60 % outside. The call path
 * of in_handler goes through the signal frame to interrupted and main.
 */
#include "burn.h"

#include <signal.h>

static uint64_t used_handler, quota_handler, used_outside, quota_outside;

static NOINLINE void in_handler(void)
{
	BURN(&used_handler, quota_handler);
}
static void on_signal(int signo)
{
	(void)signo;
	in_handler();
}
static NOINLINE void interrupted(void)
{
	BURN(&used_outside, quota_outside);
	raise(SIGUSR1);
}

int main(int argc, char **argv)
{
	static char stack[65536];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = argc > 2 ? SA_ONSTACK : 0};
	sigemptyset(&sa.sa_mask);
	if (sigaltstack(&alternate, NULL) || sigaction(SIGUSR1, &sa, NULL))
		return 1;
	uint64_t end = DEADLINE(argc, argv);
	while (WALL_NS() < end) {
		quota_outside += 6 * MS;
		quota_handler += 4 * MS;
		interrupted();
	}
	TELL_CPU("in_handler", used_handler);
	TELL_CPU("interrupted", used_outside);
	TELL_CPU("total", CLOCK_NS(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
