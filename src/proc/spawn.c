/*
 * spawn: the profiler's side of a started command: pipes, the shepherd, exec's outcome, its end.
 *
 * Four pipes: "go" lets the command exec (closing it unreleased makes it exit), "exec" brings back
 * why exec failed (it closes by itself when exec succeeds), "control" tells the shepherd by its end
 * that we are gone, "status" brings pid and exit status. The shepherd itself is in shepherd.c.
 */
#include "proc/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/shepherd.h"

#define EXEC_WAIT_MS 2000

struct spawn {
	pid_t pid, shepherd;
	struct shepherd_pipes p;
	bool released, ended;
	int status;
	char name[64];
};

static bool is_program(const char *path, int *ret_errno)
{
	struct stat st;

	if (stat(path, &st) != 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			*ret_errno = errno;
		return false;
	}
	if (S_ISREG(st.st_mode) && access(path, X_OK) == 0)
		return true;
	*ret_errno = EACCES;
	return false;
}

/* As execvp will look: refuse early what it would refuse late. */
static int find_program(const char *name, struct err *err)
{
	const char *path = getenv("PATH");
	int no = ENOENT;

	if (!*name)
		return err_set(err, ENOENT, "the command is empty");
	if (strchr(name, '/')) {
		if (is_program(name, &no))
			return 0;
		return err_set(err, no, "%s cannot be run: %s", name, strerror(no));
	}
	for (path = path ? path : "/bin:/usr/bin"; path;) {
		const char *end = strchrnul(path, ':');
		char full[4096];

		snprintf(full, sizeof full, "%.*s/%s", (int)(end - path), end > path ? path : ".",
			 name);
		if (end == path)
			snprintf(full, sizeof full, "./%s", name);
		if (is_program(full, &no))
			return 0;
		path = *end ? end + 1 : NULL;
	}
	if (no == EACCES)
		return err_set(err, no, "%s is in PATH but may not be run: %s", name, strerror(no));
	return err_set(err, no, "there is no command %s in PATH", name);
}

/* Pipes must not land on 0, 1 and 2, which are rearranged. */
static void fill_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static int open_pipes(struct shepherd_pipes *p, enum spawn_output output)
{
	int *const pairs[] = {p->go, p->exec, p->control, p->status, p->output};
	size_t n = sizeof pairs / sizeof *pairs - (output != SPAWN_PIPE);

	memset(p, -1, sizeof *p);
	fill_standard_fds();
	for (size_t i = 0; i < n; i++)
		if (pipe2(pairs[i], O_CLOEXEC) != 0)
			return -errno;
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_pipes(struct shepherd_pipes *p)
{
	int *const pairs[] = {p->go, p->exec, p->control, p->status, p->output};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		close_fd(&pairs[i][0]);
		close_fd(&pairs[i][1]);
	}
}

/* Our ends stay: to write go and control, to read exec, status and output. */
static void close_their_ends(struct shepherd_pipes *p)
{
	close_fd(&p->go[0]);
	close_fd(&p->control[0]);
	close_fd(&p->exec[1]);
	close_fd(&p->status[1]);
	close_fd(&p->output[1]);
}

static int read_all(int fd, void *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, (char *)data + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EPIPE;
		done += (size_t)n;
	}
	return 0;
}

int spawn_start(char **argv, enum spawn_output output, struct spawn **ret_spawn, struct err *err)
{
	const char *slash = strrchr(argv[0], '/');
	struct spawn *s;
	int rc = find_program(argv[0], err);

	if (rc)
		return rc;
	s = calloc(1, sizeof *s);
	if (!s)
		return err_set(err, ENOMEM, "no memory to start %s", argv[0]);
	snprintf(s->name, sizeof s->name, "%s", slash ? slash + 1 : argv[0]);
	rc = open_pipes(&s->p, output);
	if (!rc) {
		fflush(NULL);
		s->shepherd = fork();
		if (s->shepherd == 0)
			shepherd_main(&s->p, argv, s->name);
		rc = s->shepherd < 0 ? -errno : 0;
	}
	if (!rc) {
		close_their_ends(&s->p);
		rc = read_all(s->p.status[0], &s->pid, sizeof s->pid);
	}
	if (!rc && s->pid < 0)
		rc = s->pid; /* the shepherd could not fork: -errno */
	if (rc) {
		close_pipes(&s->p);
		free(s);
		return err_set(err, -rc, "%s cannot be started: %s", argv[0], strerror(-rc));
	}
	fcntl(s->p.status[0], F_SETFL, O_NONBLOCK);
	*ret_spawn = s;
	return 0;
}

pid_t spawn_pid(const struct spawn *s)
{
	return s->pid;
}

int spawn_output_fd(const struct spawn *s)
{
	return s->p.output[0];
}

int spawn_release(struct spawn *s, struct err *err)
{
	struct pollfd p = {.fd = s->p.exec[0], .events = POLLIN};
	int no = 0, rc;

	if (s->released)
		return 0;
	s->released = true;
	if (write(s->p.go[1], "g", 1) != 1)
		return err_set(err, ESRCH, "%s was ended before it began", s->name);
	close_fd(&s->p.go[1]);
	do
		rc = poll(&p, 1, EXEC_WAIT_MS);
	while (rc < 0 && errno == EINTR);
	if (rc == 0)
		return err_set(err, ETIMEDOUT, "%s did not start within 2 s", s->name);
	rc = read_all(s->p.exec[0], &no, sizeof no);
	close_fd(&s->p.exec[0]);
	if (rc == 0)
		return err_set(err, no, "%s cannot be run: %s", s->name, strerror(no));
	return 0; /* the pipe closed with exec */
}

bool spawn_ended(struct spawn *s, int *ret_status)
{
	if (!s->ended) {
		ssize_t n = read(s->p.status[0], &s->status, sizeof s->status);

		if (n < 0)
			return false;
		if (n != sizeof s->status)
			s->status =
				SIGKILL; /* the shepherd itself was killed: the worst is likely */
		s->ended = true;
		close_fd(&s->p.control[1]);
		waitpid(s->shepherd, NULL, 0);
		s->shepherd = 0;
	}
	if (ret_status)
		*ret_status = s->status;
	return true;
}

void spawn_free(struct spawn *s)
{
	if (!s)
		return;
	close_pipes(&s->p);
	if (s->shepherd)
		waitpid(s->shepherd, NULL, WNOHANG);
	free(s);
}

const char *spawn_status_text(int status, char *buf, size_t size)
{
	const char *name;

	if (WIFEXITED(status)) {
		snprintf(buf, size, "exit status %d", WEXITSTATUS(status));
	} else {
		name = sigabbrev_np(WTERMSIG(status));
		if (name)
			snprintf(buf, size, "killed by SIG%s", name);
		else
			snprintf(buf, size, "killed by signal %d", WTERMSIG(status));
	}
	return buf;
}
