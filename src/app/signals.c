/*
 * signals: handlers that do nothing but what signal-safety(7) allows.
 *
 * A request sets a flag and wakes an eventfd; the ui's and the batch loop's own poll does the rest.
 * Crashes are crash.c's.
 */
#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/gate.h"

#define SUSPEND_WAIT_MS 200

static const int requests[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static volatile sig_atomic_t pending;
static int wake_fd = -1;

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

/* Ctrl-Z without a screen: nothing of the target may be held meanwhile. */
static void on_stop(int number)
{
	int saved = errno;

	(void)number;
	gate_close(SUSPEND_WAIT_MS);
	raise(SIGSTOP);
	gate_open();
	errno = saved;
}

static void install(int number, void (*handler)(int), int flags)
{
	struct sigaction sa = {.sa_handler = handler, .sa_flags = flags};

	sigemptyset(&sa.sa_mask);
	sigaction(number, &sa, NULL);
}

/* nohup's wish is kept. SIGINT is taken even so: shells ignore it for whatever they start in the
 * background, where `kill -INT` should still stop and report. */
static bool is_unwanted(int number)
{
	struct sigaction old;

	return number == SIGHUP && !sigaction(number, NULL, &old) && old.sa_handler == SIG_IGN;
}

static void handle_requests(void (*handler)(int))
{
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
		if (!is_unwanted(requests[i]))
			install(requests[i], handler, 0); /* no SA_RESTART: poll returns at once */
}

void signals_init(void)
{
	struct sigaction old;

	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	handle_requests(on_request);
	install(SIGPIPE, SIG_IGN, 0);
	install(SIGXFSZ, SIG_IGN, 0); /* a write beyond ulimit -f fails with EFBIG instead */
	if (sigaction(SIGTSTP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		install(SIGTSTP, on_stop, SA_RESTART);
}

/* The terminal's too: the flags they set are the main thread's alone. */
static void mask(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
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

void signals_end_at_once(bool yes)
{
	handle_requests(yes ? SIG_DFL : on_request);
	mask(yes ? SIG_UNBLOCK : SIG_BLOCK);
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
