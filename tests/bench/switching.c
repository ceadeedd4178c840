/*
 * switching: what changing the event set costs while a target runs, measured directly.
 *
 *	switching SWITCHES THREADS SET SET [SET...]
 *
 * Threads that are busy without pause are sampled by the perf sampler; every 400 ms the next of the
 * sets (names or lists of events) is asked for. From the samples themselves comes when the new
 * set's first sample was taken after the command, and how long each thread went without a sample
 * between the old set's last and the new set's first. Prints `key value` a line; exit status 77:
 * perf events are refused here.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"
#include "source.h"

#define MS       1000000ULL
#define STEP_MS  400
#define SWITCHES 256
#define THREADS  64

struct taken {
	uint64_t time_ns, weight;
	uint16_t set;
	bool clock;
	pid_t tid;
};

static struct {
	VEC(struct taken)
} all;
static struct event_desc events[EVENT_MAX];
static uint64_t losses;
static bool said;

static void on_event(void *ctx, uint16_t index, const struct event_desc *desc)
{
	(void)ctx;
	if (index < EVENT_MAX)
		events[index] = *desc;
}
static void on_sample(void *ctx, const struct raw_sample *s)
{
	struct taken t = {s->time_ns, s->weight, events[s->event].set,
			  events[s->event].unit == EVENT_NS, s->tid};

	(void)ctx;
	if (vec_push(&all, t))
		abort();
	if (s->ret_cut)
		*s->ret_cut = CUT_NONE;
}
static void on_mmap(void *ctx, const struct raw_mmap *m)
{
	(void)ctx, (void)m;
}
static void on_task(void *ctx, const struct raw_task *t)
{
	(void)ctx, (void)t;
}
static void on_ksymbol(void *ctx, uint64_t time_ns, uint64_t addr, uint32_t size, const char *name,
		       bool unregister)
{
	(void)ctx, (void)time_ns, (void)addr, (void)size, (void)name, (void)unregister;
}
static void on_loss(void *ctx, enum loss_kind kind, uint64_t count)
{
	(void)ctx, (void)kind;
	losses += count;
}
static void on_account(void *ctx, const struct raw_account *a)
{
	(void)ctx, (void)a;
}
static void on_count(void *ctx, const struct raw_count *c)
{
	(void)ctx, (void)c;
}
static void on_say(void *ctx, const char *sentence)
{
	(void)ctx;
	fprintf(stderr, "switching: %s\n", sentence);
	said = true;
}

static const struct sink_ops sink_ops = {
	.event = on_event,
	.sample = on_sample,
	.mmap = on_mmap,
	.fork = on_task,
	.comm = on_task,
	.exit = on_task,
	.ksymbol = on_ksymbol,
	.loss = on_loss,
	.account = on_account,
	.count = on_count,
	.say = on_say,
};

static void *burn(void *arg)
{
	volatile uint64_t x = 1;

	for (;;)
		x = x * 6364136223846793005ULL + 1;
	return arg;
}

static pid_t start_target(int threads)
{
	pid_t pid = fork();
	pthread_t t;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i < threads; i++)
		pthread_create(&t, NULL, burn, NULL);
	burn(NULL);
	_exit(0);
}

static void *run(void *source)
{
	struct err err = {0};

	if (source_perf.run(source, &err))
		fprintf(stderr, "switching: %s\n", err.msg);
	return NULL;
}

static int open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n - 3; /* . and .. and the directory */
}

static uint64_t cpu_now(const struct source *source)
{
	return atomic_load(&source_perf.status(source)->cpu_ns);
}

static uint64_t target_cpu(pid_t pid)
{
	struct timespec t = {0};
	clockid_t clock;

	if (!clock_getcpuclockid(pid, &clock))
		clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* CPU time that the samples of a stretch stand for; NAN: not all of them are of clocks. */
static double sampled_ns(uint64_t from_ns, uint64_t until_ns)
{
	double sum = 0;

	for (size_t i = 0; i < all.len; i++) {
		if (all.data[i].time_ns < from_ns || all.data[i].time_ns >= until_ns)
			continue;
		if (!all.data[i].clock)
			return (double)NAN;
		sum += (double)all.data[i].weight;
	}
	return sum;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void tell(const char *what, double *v, int n)
{
	if (!n)
		return;
	qsort(v, (size_t)n, sizeof *v, by_value);
	printf("%s_median_ms %.2f\n%s_worst_ms %.2f\n", what, v[n / 2], what, v[n - 1]);
}

/* The threads that were sampled. */
static int list_threads(pid_t tids[THREADS])
{
	int n = 0, at;

	for (size_t i = 0; i < all.len; i++) {
		for (at = 0; at < n && tids[at] != all.data[i].tid; at++)
			;
		if (at == n && n < THREADS)
			tids[n++] = all.data[i].tid;
	}
	return n;
}

struct moment {
	uint64_t at_ns, end_ns;
};

/* When @tid had its last sample of another set, and its first of the new one, after @m began. */
static bool meeting(const struct moment *m, uint16_t set, pid_t tid, uint64_t *ret_last,
		    uint64_t *ret_first)
{
	*ret_last = *ret_first = 0;
	for (size_t i = 0; i < all.len; i++) {
		const struct taken *t = &all.data[i];

		if (t->tid != tid || t->time_ns >= m->end_ns)
			continue;
		if (t->set != set)
			*ret_last = t->time_ns > *ret_last ? t->time_ns : *ret_last;
		else if (t->time_ns >= m->at_ns && !*ret_first)
			*ret_first = t->time_ns;
	}
	return *ret_last && *ret_first;
}

static void judge(const struct moment *moments, const uint16_t *sets, int n, double between_ms)
{
	static double latency[SWITCHES], gap[SWITCHES * THREADS];
	pid_t tids[THREADS];
	int nthreads = list_threads(tids), nlatency = 0, ngap = 0, missed = 0;
	double lost = 0;

	for (int k = 0; k < n; k++) {
		uint64_t first = UINT64_MAX;

		for (int i = 0; i < nthreads; i++) {
			uint64_t a, b;

			if (!meeting(&moments[k], sets[k], tids[i], &a, &b)) {
				missed++;
				continue;
			}
			first = b < first ? b : first;
			gap[ngap] = ((double)b - (double)a) / 1e6;
			if (gap[ngap] > between_ms)
				lost += gap[ngap] - between_ms;
			ngap++;
		}
		if (first != UINT64_MAX)
			latency[nlatency++] = (double)(first - moments[k].at_ns) / 1e6;
	}
	printf("switches %d\nthreads %d\nmissed %d\n", n, nthreads, missed);
	tell("first_sample", latency, nlatency);
	tell("gap", gap, ngap);
	printf("between_samples_ms %.2f\n", between_ms);
	if (ngap) /* of wall time: where threads take turns on a CPU, their rests are in it */
		printf("wall_lost_ms_a_switch %.3f\n", lost / ngap);
}

/* The usual distance of a thread's samples: without it no gap means anything. */
static double usual_ms(uint64_t until_ns)
{
	struct {
		VEC(double)
	} d = {0};
	double usual = NAN;
	pid_t tids[THREADS];
	int n = list_threads(tids);

	for (int i = 0; i < n; i++) {
		uint64_t last = 0;

		for (size_t k = 0; k < all.len && all.data[k].time_ns < until_ns; k++) {
			if (all.data[k].tid != tids[i])
				continue;
			double ms = (double)(all.data[k].time_ns - last) / 1e6;
			if (last && vec_push(&d, ms))
				abort();
			last = all.data[k].time_ns;
		}
	}
	if (d.len) {
		qsort(d.data, d.len, sizeof *d.data, by_value);
		usual = d.data[d.len / 2];
	}
	vec_fini(&d);
	return usual;
}

int main(int argc, char **argv)
{
	static struct moment moments[SWITCHES];
	static uint16_t sets[SWITCHES];
	const struct sink sink = {.ops = &sink_ops};
	struct source *source = NULL;
	struct err err = {0};
	pthread_t thread;
	int n = argc > 1 ? atoi(argv[1]) : 0, nsets = argc - 3;

	if (argc < 5 || n < 1 || n > SWITCHES || atoi(argv[2]) > THREADS) {
		fprintf(stderr, "usage: switching SWITCHES THREADS SET SET [SET...]\n");
		return 2;
	}
	pid_t pid = start_target(atoi(argv[2]));
	struct target target = {.pids = &pid, .npids = 1};
	struct source_config config = {.rate_hz = 997, .events = (const char *const *)argv + 3};
	bool list = strpbrk(argv[3], ",{") || !strcmp(argv[3], "cpu-clock");
	config.nevents = list;
	config.event_set = list ? NULL : argv[3];
	usleep(100000);
	if (source_perf.probe(&target, &config, &err) ||
	    source_perf.open(&target, &config, &sink, NULL, &source, &err)) {
		fprintf(stderr, "switching: %s\n", err.msg);
		kill(pid, SIGKILL);
		return 77;
	}
	pthread_create(&thread, NULL, run, source);
	usleep(1000000);
	uint64_t calm_cpu = cpu_now(source), begin = clock_mono_ns(), calm_target = target_cpu(pid);
	usleep(1000000);
	calm_cpu = cpu_now(source) - calm_cpu;
	double calm_share = (double)calm_cpu / (double)(clock_mono_ns() - begin);
	int calm_fds = open_fds(), most_fds = calm_fds;
	uint64_t cpu = cpu_now(source), from = clock_mono_ns(), used = target_cpu(pid);
	double calm_used = (double)(used - calm_target), calm_sampled_to = (double)from;

	for (int k = 0; k < n; k++) {
		const char *set = argv[3 + (k + 1) % nsets];
		const struct source_command c = {.kind = SOURCE_SET_EVENTS, .events = strdup(set)};

		moments[k].at_ns = clock_mono_ns();
		if (source_perf.command(source, &c))
			free(c.events);
		for (int i = 0; i < STEP_MS / 4; i++) {
			int fds = open_fds();

			most_fds = fds > most_fds ? fds : most_fds;
			usleep(4000);
		}
		sets[k] = (uint16_t)atomic_load(&source_perf.status(source)->set);
		moments[k].end_ns = clock_mono_ns();
	}
	cpu = cpu_now(source) - cpu;
	uint64_t end = clock_mono_ns();
	double busy = (double)(target_cpu(pid) - used);
	double spent = (double)cpu - calm_share * (double)(clock_mono_ns() - from);
	usleep(200000);
	source_perf.stop(source);
	pthread_join(thread, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	judge(moments, sets, n, usual_ms(begin + 1000 * MS));
	printf("own_cpu_a_switch_ms %.3f\nfds %d\nfds_most %d\nlosses %llu\nsaid %d\n",
	       fmax(spent, 0) / n / 1e6, calm_fds, most_fds, (unsigned long long)losses, said);
	/* What no sample stands for, less what that is without switches. */
	double missing = 1 - sampled_ns(from, end) / busy;
	double usually = 1 - sampled_ns(begin, (uint64_t)calm_sampled_to) / calm_used;
	if (!isnan(missing) && !isnan(usually))
		printf("target_cpu_ms %.0f\nunsampled_calm %.5f\nunsampled_switching %.5f\n"
		       "lost_cpu_ms_a_switch %.3f\n",
		       busy / 1e6, usually, missing, (missing - usually) * busy / n / 1e6);
	source_perf.close(source);
	vec_fini(&all);
	return 0;
}
