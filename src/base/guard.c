/*
 * guard: a SIGBUS handler that leaves the guarded body by siglongjmp.
 *
 * The signal is synchronous, so the handler runs on the thread that faulted and finds that thread's
 * innermost guard through a thread-local pointer. Installed at the first guard.
 */
#include "base/guard.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

struct guard {
	sigjmp_buf env;
	uintptr_t start;
	size_t bytes;
	struct guard *outer;
};

/* initial-exec: reading it in a signal handler must not allocate. */
static _Thread_local struct guard *volatile innermost __attribute__((tls_model("initial-exec")));
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* What other faults do. It changes while handlers of other threads read it: by turns. */
static struct sigaction behind[2];
static atomic_uint current;

/* Not ours: behave as if we were not there. */
static void pass_on(int signo, siginfo_t *info, void *context)
{
	const struct sigaction *next = &behind[atomic_load(&current)];

	if (next->sa_flags & SA_SIGINFO) {
		next->sa_sigaction(signo, info, context);
	} else if (next->sa_handler != SIG_DFL && next->sa_handler != SIG_IGN) {
		next->sa_handler(signo);
	} else {
		signal(signo, SIG_DFL);
		raise(signo); /* delivered when this handler returns */
	}
}

static void on_sigbus(int signo, siginfo_t *info, void *context)
{
	uintptr_t addr = (uintptr_t)info->si_addr;
	for (struct guard *g = innermost; g; g = g->outer) {
		if (addr - g->start < g->bytes) {
			innermost = g->outer;
			siglongjmp(g->env, 1);
		}
	}
	pass_on(signo, info, context);
}

static void put_behind(const struct sigaction *sa)
{
	unsigned next = !atomic_load(&current);

	behind[next] = *sa;
	atomic_store(&current, next);
}

static void install(void)
{
	struct sigaction sa = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_NODEFER};
	struct sigaction now;

	sigaction(SIGBUS, NULL, &now);
	if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_sigbus)
		return;
	put_behind(&now);
	sigemptyset(&sa.sa_mask);
	sigaction(SIGBUS, &sa, NULL);
}

void guard_install(void)
{
	pthread_mutex_lock(&lock);
	install();
	pthread_mutex_unlock(&lock);
}

void guard_sigaction(const struct sigaction *sa, struct sigaction *ret_old)
{
	pthread_mutex_lock(&lock);
	install();
	if (ret_old)
		*ret_old = behind[atomic_load(&current)];
	put_behind(sa);
	pthread_mutex_unlock(&lock);
}

/* The thread sanitizer runs handlers with all signals blocked: then the mask must be put back. */
#if defined(__SANITIZE_THREAD__)
#define SAVE_MASK 1
#else
#define SAVE_MASK 0
#endif

int guard_call(const void *start, size_t bytes, void (*body)(void *ctx), void *ctx)
{
	struct guard g = {.start = (uintptr_t)start, .bytes = bytes, .outer = innermost};
	pthread_once(&once, guard_install);
	if (sigsetjmp(g.env, SAVE_MASK))
		return -EFAULT; /* the handler took this guard off the list */
	innermost = &g;
	body(ctx);
	innermost = g.outer;
	return 0;
}

struct copy {
	void *dst;
	const void *src;
	size_t bytes;
};

static void copy_body(void *ctx)
{
	const struct copy *c = ctx;
	memcpy(c->dst, c->src, c->bytes);
}

int guard_copy(void *dst, const void *src, size_t bytes)
{
	struct copy c = {dst, src, bytes};
	return guard_call(src, bytes, copy_body, &c);
}
