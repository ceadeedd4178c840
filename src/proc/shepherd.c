/*
 * shepherd: parent of a started command, and nothing else.
 *
 * It is a process of its own because the timer sampler traces the command: were the profiler the
 * parent too, its wait calls would take stops and exit statuses from each other. It also outlives a
 * profiler that is killed, and then ends the command. Runs no threads, opens nothing.
 */
#include "proc/shepherd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

struct charge {
	pid_t pid;
	bool session;  /* the command leads a session: all of it is ended */
	bool deserted; /* the profiler is gone */
};

static bool move_fd(int from, int to)
{
	return from == to ? fcntl(to, F_SETFD, 0) == 0 : dup2(from, to) == to;
}

/* The command's first moments: everything set up, then wait for "go". */
static noreturn void be_command(struct shepherd_pipes *p, char **argv, const char *name,
				const sigset_t *mask)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), no;
	ssize_t n;
	char go;

	prctl(PR_SET_NAME, name);
	close(p->go[1]);
	close(p->control[1]);
	if (p->output[1] >= 0)
		setsid();
	if (null < 0 || !move_fd(null, STDIN_FILENO) ||
	    !move_fd(p->output[1] >= 0 ? p->output[1] : STDERR_FILENO, STDOUT_FILENO) ||
	    (p->output[1] >= 0 && !move_fd(p->output[1], STDERR_FILENO)))
		_exit(127);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	do
		n = read(p->go[0], &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127); /* the profiler left first */
	execvp(argv[0], argv);
	no = errno;
	if (write(p->exec[1], &no, sizeof no) != sizeof no)
		_exit(126);
	_exit(127);
}

/* The end of the pipe means that the profiler is gone. */
static void read_control(struct charge *f)
{
	pid_t all = f->session ? -f->pid : f->pid;
	char byte;

	if (read(STDIN_FILENO, &byte, 1) != 0)
		return;
	f->deserted = true;
	kill(all, SIGTERM);
	kill(all, SIGCONT); /* a stopped one could not end */
}

static noreturn void tend(struct charge *f, int children)
{
	for (;;) {
		struct pollfd p[2] = {{.fd = children, .events = POLLIN},
				      {.fd = f->deserted ? -1 : STDIN_FILENO, .events = POLLIN}};
		struct signalfd_siginfo info;
		int status;

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			_exit(1);
		if (p[0].revents && read(children, &info, sizeof info) > 0 &&
		    waitpid(f->pid, &status, WNOHANG) == f->pid) {
			if (write(STDOUT_FILENO, &status, sizeof status) < 0)
				_exit(1);
			_exit(0);
		}
		if (p[1].revents)
			read_control(f);
	}
}

noreturn void shepherd_main(struct shepherd_pipes *p, char **argv, const char *name)
{
	struct charge f = {.session = p->output[1] >= 0};
	sigset_t child, mask;
	pid_t pid;
	int fd;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &mask);
	f.pid = fork();
	if (f.pid == 0)
		be_command(p, argv, name, &mask);
	pid = f.pid < 0 ? -errno : f.pid;
	prctl(PR_SET_NAME, "altpttop-child");
	setpgid(0, 0); /* the terminal's signals are for the command, not for its shepherd */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	/* Keep nothing of the profiler's open, least of all the far ends of these pipes. */
	if (!move_fd(p->control[0], STDIN_FILENO) || !move_fd(p->status[1], STDOUT_FILENO))
		_exit(1);
	fd = open("/dev/null", O_RDWR);
	if (fd >= 0)
		move_fd(fd, STDERR_FILENO);
	close_range(3, ~0u, 0);
	if (write(STDOUT_FILENO, &pid, sizeof pid) != sizeof pid || pid < 0)
		_exit(1);
	fd = signalfd(-1, &child, SFD_CLOEXEC);
	if (fd < 0)
		_exit(1);
	tend(&f, fd);
}
