/*
 * crash: handlers that do nothing but what signal-safety(7) allows.
 *
 * The terminal leaves the alternate screen and gets the settings it had at the start; the report
 * (signal, addresses of the stack, memory map) goes to a file in the state directory; then the
 * signal takes its ordinary course, so that a core file and the exit status are as usual. Runs on
 * whichever thread failed, on its own stack for handlers (base/altstack.h).
 */
#include "crash.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/altstack.h"
#include "xdg.h"

#define FRAMES 64

static const struct {
	int number;
	const char *name;
} crashes[] = {{SIGSEGV, "SIGSEGV"},
	       {SIGBUS, "SIGBUS"},
	       {SIGILL, "SIGILL"},
	       {SIGFPE, "SIGFPE"},
	       {SIGABRT, "SIGABRT"}};

static int terminal_fd = -1; /* whose settings are saved; -1 none */
static struct termios terminal;
static char report[PATH_MAX]; /* "" nowhere */

static void put(int fd, const char *text)
{
	ssize_t n = write(fd, text, strlen(text));

	(void)n;
}

static const char *name_of(int number)
{
	for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
		if (crashes[i].number == number)
			return crashes[i].name;
	return "a signal";
}

static void restore_terminal(void)
{
	static const char leave_screen[] =
		"\033[?1000l\033[?1002l\033[?1003l\033[?1006l" /* the mouse */
		"\033[0m\033[?25h\033[?1049l\033[?1l\033>\r\n";
	struct termios now;

	/* Only a terminal whose settings were changed shows another screen. */
	if (terminal_fd < 0 || tcgetattr(terminal_fd, &now) || now.c_lflag == terminal.c_lflag)
		return;
	put(terminal_fd, leave_screen);
	tcsetattr(terminal_fd, TCSANOW, &terminal);
}

/* mkdir -p of the report's directory: mkdir(2) may be called here, allocating may not. */
static void make_dirs(void)
{
	for (char *p = report + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(report, 0700);
		*p = '/';
	}
}

static void copy_maps(int to)
{
	char buf[4096];
	ssize_t n;
	int from = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (from < 0)
		return;
	while ((n = read(from, buf, sizeof buf)) > 0)
		if (write(to, buf, (size_t)n) != n)
			break;
	close(from);
}

static bool write_report(int number)
{
	void *frames[FRAMES];

	if (!report[0])
		return false;
	make_dirs();
	int fd = open(report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	put(fd, "altpttop " ALTPTTOP_VERSION " crashed: ");
	put(fd, name_of(number));
	put(fd, "\n");
	backtrace_symbols_fd(frames, backtrace(frames, FRAMES), fd);
	copy_maps(fd);
	close(fd);
	return true;
}

static void on_crash(int number)
{
	static volatile sig_atomic_t again;

	if (!again) {
		again = 1;
		restore_terminal();
		put(STDERR_FILENO, "altpttop: crashed (");
		put(STDERR_FILENO, name_of(number));
		put(STDERR_FILENO, "): this is a defect of altpttop");
		if (write_report(number)) {
			put(STDERR_FILENO, "; a report for its makers is in ");
			put(STDERR_FILENO, report);
		}
		put(STDERR_FILENO, "\n");
	}
	signal(number, SIG_DFL);
	raise(number);
}

void crash_init(void)
{
	struct sigaction sa = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
	void *warm[1];

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && terminal_fd < 0; fd++)
		if (!tcgetattr(fd, &terminal))
			terminal_fd = fd;
	if (xdg_state("crash.txt", report, sizeof report))
		report[0] = '\0';
	backtrace(warm, 1); /* loads what it needs now, not in a handler */
	altstack_use();
	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
		sigaction(crashes[i].number, &sa, NULL);
}
