/*
 * ptywatch: how long a full-screen program takes to show something, and to leave.
 *
 *	ptywatch COLUMNS LINES SECONDS PATTERN KEYS[|PATTERN|KEYS...] COMMAND [ARG...]
 *
 * Runs COMMAND on a pseudo-terminal, waits until its output (escape sequences removed) matches the
 * extended regular expression, then types KEYS and waits for its end; or for what it writes next to
 * match the next pattern, and so on. Prints `first_ms N`, `step_ms N` for each further pattern,
 * `quit_ms N`, `cpu_ms N`, `rss_kib N`; a figure that never came is -1. What $PTYWATCH_FIRST holds
 * is typed a second after the first output, before the first pattern is looked for; with
 * $PTYWATCH_REDRAW ^L is typed each second, as a program writes only what changed and a pattern may
 * span more; with $PTYWATCH_SHOW the text from the last keys on is printed too.
 */
#include <poll.h>
#include <pty.h>
#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEXT_MAX (1 << 20)

static char text[TEXT_MAX + 1];
static size_t text_len;

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Keeps printable text; an escape sequence becomes one blank. */
static void add_text(const char *data, size_t n)
{
	static enum { PLAIN, ESCAPE, CSI } state;
	for (size_t i = 0; i < n && text_len < TEXT_MAX; i++) {
		char c = data[i];
		if (state == PLAIN && c == '\033')
			state = ESCAPE;
		else if (state == PLAIN)
			text[text_len++] = (unsigned char)c < ' ' ? ' ' : c;
		else if (state == ESCAPE)
			state = c == '[' ? CSI : PLAIN;
		else if (c >= '@' && c <= '~') {
			state = PLAIN;
			text[text_len++] = ' ';
		}
	}
	text[text_len] = 0;
}

/* Reads what there is; false at the end of the output. */
static bool drain(int fd, int wait_ms)
{
	char data[65536];
	struct pollfd p = {.fd = fd, .events = POLLIN};
	if (poll(&p, 1, wait_ms) <= 0)
		return true;
	ssize_t n = read(fd, data, sizeof data);
	if (n <= 0)
		return false;
	add_text(data, (size_t)n);
	return true;
}

static void type_keys(int fd, const char *keys)
{
	text_len = 0;
	text[0] = 0;
	if (write(fd, keys, strlen(keys)) < 0)
		perror("write");
}

/* Until what was written since the last keys matches; the time it took, -1: never. */
static double await(int fd, const char *expression, double limit, bool *io_open)
{
	double start = now_ms(), drawn = start, found = -1;
	bool redraw = getenv("PTYWATCH_REDRAW");
	regex_t pattern;

	if (regcomp(&pattern, expression, REG_EXTENDED | REG_NOSUB))
		exit(2);
	while (*io_open && found < 0 && now_ms() - start < limit) {
		*io_open = drain(fd, 5);
		if (!regexec(&pattern, text, 0, NULL, 0)) {
			found = now_ms() - start;
		} else if (redraw && now_ms() - drawn > 1e3) {
			type_keys(fd, "\f");
			drawn = now_ms();
		}
	}
	regfree(&pattern);
	return found;
}

int main(int argc, char **argv)
{
	if (argc < 7) {
		fprintf(stderr, "usage: ptywatch COLUMNS LINES SECONDS PATTERN KEYS COMMAND...\n");
		return 2;
	}
	struct winsize size = {.ws_col = (unsigned short)atoi(argv[1]),
			       .ws_row = (unsigned short)atoi(argv[2])};
	double limit = atof(argv[3]) * 1e3, first = -1, quit = -1;
	int fd, missed = 0;
	pid_t pid = forkpty(&fd, NULL, NULL, &size);
	if (pid < 0)
		return 1;
	if (!pid) {
		setenv("TERM", "xterm-256color", 1);
		execvp(argv[6], argv + 6);
		_exit(127);
	}
	bool open = true;
	const char *early = getenv("PTYWATCH_FIRST");
	double start = now_ms();
	while (open && early && !text_len && now_ms() - start < limit)
		open = drain(fd, 5);
	for (double end = now_ms() + 1000; open && early && now_ms() < end;)
		open = drain(fd, 10);
	if (early)
		type_keys(fd, early);
	first = await(fd, argv[4], limit, &open);
	printf("first_ms %.0f\n", first);
	if (first < 0)
		printf("last %s\n", text);
	for (double end = now_ms() + 1000; open && now_ms() < end;)
		open = drain(fd, 10); /* let it run a little before it is told to leave */

	struct rusage use = {0};
	char *rest = argv[5], *keys = strsep(&rest, "|"), *expression;
	while ((expression = strsep(&rest, "|"))) {
		type_keys(fd, keys);
		double step = await(fd, expression, limit, &open);
		printf("step_ms %.0f\n", step);
		if (step < 0)
			printf("last %s\n", text);
		missed += step < 0;
		keys = strsep(&rest, "|");
		if (!keys)
			keys = (char *)"";
	}
	double asked = now_ms();
	type_keys(fd, keys);
	while (now_ms() - asked < limit) {
		if (wait4(pid, NULL, WNOHANG, &use) == pid) {
			quit = now_ms() - asked;
			break;
		}
		if (open)
			open = drain(fd, 1);
		else
			usleep(1000);
	}
	if (quit < 0) {
		kill(pid, SIGKILL);
		wait4(pid, NULL, 0, &use);
	}
	if (getenv("PTYWATCH_SHOW"))
		printf("%s\n", text);
	printf("quit_ms %.0f\ncpu_ms %.0f\nrss_kib %ld\n", quit,
	       (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e3 +
		       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e3,
	       use.ru_maxrss);
	return first < 0 || missed;
}
