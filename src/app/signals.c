/*
 * signals: handlers that do nothing but what signal-safety(7) allows.
 *
 * A request sets a flag and wakes an eventfd; the ui's and the batch loop's own poll does the rest.
 * The crash handler runs on its own stack: it writes the sequences that leave the alternate screen,
 * gives the terminal the settings it had at the start, and lets the signal kill the process.
 */
#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <termios.h>
#include <unistd.h>

#define CRASH_STACK_BYTES 65536

static const int requests[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

static volatile sig_atomic_t pending;
static int wake_fd = -1;
static int terminal_fd = -1; /* whose settings are saved; -1 none */
static struct termios terminal;
static char crash_stack[CRASH_STACK_BYTES];

static void on_request(int number)
{
	int saved = errno;
	uint64_t one = 1;

	if (!pending)
		pending = number;
	if (wake_fd >= 0 && write(wake_fd, &one, sizeof one) < 0)
		errno = 0; /* full: it is readable already */
	errno = saved;
}

static void put(const char *text)
{
	ssize_t n = write(STDERR_FILENO, text, strlen(text));
	(void)n;
}

static void on_crash(int number)
{
	static const char leave_screen[] =
		"\033[?1000l\033[?1002l\033[?1003l\033[?1006l" /* mouse */
		"\033[0m\033[?25h\033[?1049l\033[?1l\033>\r\n";
	static volatile sig_atomic_t again;

	if (!again) {
		again = 1;
		if (terminal_fd >= 0) {
			struct termios now;
			/* Only a terminal that was changed is in another screen. */
			if (!tcgetattr(terminal_fd, &now) && now.c_lflag != terminal.c_lflag) {
				ssize_t n = write(terminal_fd, leave_screen,
						  sizeof leave_screen - 1);
				(void)n;
				tcsetattr(terminal_fd, TCSANOW, &terminal);
			}
		}
		put("altpttop: crashed (");
		put(number == SIGSEGV   ? "SIGSEGV"
		    : number == SIGBUS  ? "SIGBUS"
		    : number == SIGILL  ? "SIGILL"
		    : number == SIGFPE  ? "SIGFPE"
		    : number == SIGABRT ? "SIGABRT"
					: "signal");
		put("); this is a defect of altpttop\n");
	}
	signal(number, SIG_DFL);
	raise(number);
}

static void install(int number, void (*handler)(int), int flags)
{
	struct sigaction sa = {.sa_handler = handler, .sa_flags = flags};

	sigemptyset(&sa.sa_mask);
	sigaction(number, &sa, NULL);
}

void signals_init(void)
{
	stack_t stack = {.ss_sp = crash_stack, .ss_size = sizeof crash_stack};

	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && terminal_fd < 0; fd++)
		if (!tcgetattr(fd, &terminal))
			terminal_fd = fd;
	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
		install(requests[i], on_request, 0); /* no SA_RESTART: poll returns at once */
	for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
		install(crashes[i], on_crash, SA_ONSTACK);
	install(SIGPIPE, SIG_IGN, 0);
}

static void mask(int how)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
		sigaddset(&set, requests[i]);
	pthread_sigmask(how, &set, NULL);
}

void signals_block(void)
{
	mask(SIG_BLOCK);
}

void signals_unblock(void)
{
	mask(SIG_UNBLOCK);
}

int signals_pending(void)
{
	return pending;
}

void signals_clear(void)
{
	uint64_t count;

	pending = 0;
	if (wake_fd >= 0 && read(wake_fd, &count, sizeof count) < 0)
		errno = 0; /* nothing was there */
}

int signals_fd(void)
{
	return wake_fd;
}

void signals_child(void)
{
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
		install(requests[i], SIG_DFL, 0);
	for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
		install(crashes[i], SIG_DFL, 0);
	install(SIGPIPE, SIG_DFL, 0);
	signals_unblock();
}
