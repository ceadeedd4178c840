/*
 * ptywatch: how long a full-screen program takes to show something, and to leave.
 *
 *	ptywatch COLUMNS LINES SECONDS PATTERN KEYS COMMAND [ARG...]
 *
 * Runs COMMAND on a pseudo-terminal, waits until its output (escape sequences removed) matches the
 * extended regular expression, then types KEYS and waits for its end. Prints
 * `first_ms N`, `quit_ms N`, `cpu_ms N`, `rss_kib N`; a figure that never came is -1. What
 * $PTYWATCH_FIRST holds is typed a second after the first output, before the pattern is looked for;
 * with $PTYWATCH_SHOW the text from then on is printed too.
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

int main(int argc, char **argv)
{
	if (argc < 7) {
		fprintf(stderr, "usage: ptywatch COLUMNS LINES SECONDS PATTERN KEYS COMMAND...\n");
		return 2;
	}
	struct winsize size = {.ws_col = (unsigned short)atoi(argv[1]),
			       .ws_row = (unsigned short)atoi(argv[2])};
	double limit = atof(argv[3]) * 1e3, first = -1, quit = -1;
	regex_t pattern;
	if (regcomp(&pattern, argv[4], REG_EXTENDED | REG_NOSUB))
		return 2;
	int fd;
	double start = now_ms();
	pid_t pid = forkpty(&fd, NULL, NULL, &size);
	if (pid < 0)
		return 1;
	if (!pid) {
		setenv("TERM", "xterm-256color", 1);
		execvp(argv[6], argv + 6);
		_exit(127);
	}
	bool open = true;
	const char *keys = getenv("PTYWATCH_FIRST");
	while (open && keys && !text_len && now_ms() - start < limit)
		open = drain(fd, 5);
	for (double end = now_ms() + 1000; open && keys && now_ms() < end;)
		open = drain(fd, 10);
	if (keys) {
		text_len = 0;
		text[0] = '\0';
		if (write(fd, keys, strlen(keys)) < 0)
			perror("write");
	}
	while (open && first < 0 && now_ms() - start < limit) {
		open = drain(fd, 5);
		if (!regexec(&pattern, text, 0, NULL, 0))
			first = now_ms() - start;
	}
	for (double end = now_ms() + 1000; open && now_ms() < end;)
		open = drain(fd, 10); /* let it run a little before it is told to leave */

	struct rusage use = {0};
	double asked = now_ms();
	if (write(fd, argv[5], strlen(argv[5])) < 0)
		perror("write");
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
	printf("first_ms %.0f\nquit_ms %.0f\ncpu_ms %.0f\nrss_kib %ld\n", first, quit,
	       (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e3 +
		       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e3,
	       use.ru_maxrss);
	return first < 0;
}
