/*
 * launch: makes the rooms in order, lets the screen or the batch loop run, and unmakes them.
 *
 * Order of making: command (forked before any thread), tables, resolver, engine, source, threads,
 * then the command is let go. Leaving asks all threads to end, gives them 50 ms, and ends the
 * process without them if they are busy. Main thread.
 */
#include "launch.h"

#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "choices.h"
#include "base/filewrite.h"
#include "base/plain.h"
#include "proc/nspace.h"
#include "proc/permit.h"
#include "proc/scope.h"
#include "proc/target_check.h"
#include "rate.h"
#include "session.h"
#include "signals.h"
#include "symbol/locate.h"
#include "ui/ui.h"

#define SNAPSHOT_MS       10000
#define SETTLE_MS         5000 /* files that a trigger began to write */
#define BATCH_INTERVAL_MS 2000 /* nobody looks: often enough to have most names at the end */

void complain(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	plain_in_place(text, sizeof text);
	fprintf(stderr, "altpttop: %s\n", text);
}

static int find_user(struct options *o, struct err *err)
{
	char *end;

	if (!o->user)
		return 0;
	const struct passwd *pw = getpwnam(o->user);
	if (pw) {
		o->target.user = pw->pw_uid;
		return 0;
	}
	unsigned long id = strtoul(o->user, &end, 10);
	if (*end || *o->user < '0' || *o->user > '9' || id > UINT32_MAX)
		return err_set(err, ENOENT, "-u %s: there is no such user", o->user);
	o->target.user = (uid_t)id;
	return 0;
}

/* Has the user of -u any process now? Else it is waited for where there is time to wait. */
static int check_user(struct session *s, char *ret_note, size_t size, struct err *err)
{
	const struct options *o = s->options;
	struct scope *scope;
	pid_t *pids = NULL;
	size_t n = 0;

	if (!o->user)
		return 0;
	scope = scope_new(&o->target, err);
	if (!scope)
		return err->no ? -err->no : -ENOMEM;
	if (!scope_list(scope, &pids, &n))
		free(pids);
	scope_free(scope);
	if (n)
		return 0;
	if (s->batch && !options_duration_ns(o) && !o->ntriggers)
		return err_set(
			err, ESRCH,
			"user %.80s has no process; with --duration SECONDS one is waited for",
			o->user);
	snprintf(ret_note, size, "user %.80s has no process yet: one is waited for", o->user);
	return 0;
}

/* Fork the command (or the demo, which is this program once more) before any thread exists. */
static int start_command(struct session *s, struct err *err)
{
	static char self[4096], *demo[] = {self, "--run-demo", NULL};
	struct options *o = s->options;

	if (o->demo) {
		ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
		if (n < 0)
			return err_set(err, errno, "--demo: /proc/self/exe cannot be read: %s",
				       strerror(errno));
		self[n] = '\0';
		o->target.argv = demo;
	}
	if (!o->target.argv)
		return 0;
	int rc = spawn_start(o->target.argv, s->batch ? SPAWN_STDERR : SPAWN_PIPE, &s->spawn, err);
	if (rc)
		return rc;
	o->target.pids = malloc(sizeof *o->target.pids);
	if (!o->target.pids)
		return err_set(err, ENOMEM, "out of memory");
	o->target.pids[0] = spawn_pid(s->spawn);
	o->target.npids = 1;
	return 0;
}

/* The command line, and what it watched: "altpttop -p 4242: 4242 (mysqld)". A long one is cut where
 * a character begins, and shows it. */
static void name_title(struct session *s)
{
	char *const *argv = s->options->argv;
	size_t len = 0, most = sizeof s->title - sizeof s->target_text - 6;

	for (int i = 0; argv && argv[i] && len < most; i++)
		len += (size_t)snprintf(s->title + len, most - len, "%s%s", i ? " " : "",
					i ? argv[i] : "altpttop");
	bool cut = len >= most;
	if (cut)
		for (len = most - 1; len && (s->title[len] & 0xc0) == 0x80; len--)
			;
	snprintf(s->title + len, sizeof s->title - len, "%s: %s", cut ? "\xe2\x80\xa6" : "",
		 s->target_text);
}

/* Where the name of the one process stands that the text so far is about. */
static void mark_name(struct session *s)
{
	const struct options *o = s->options;
	const char *at = strchr(s->target_text, ' ');

	if (!at || o->target.npids != 1 || o->demo)
		return;
	s->name_tail = !o->target.argv; /* in brackets */
	s->name_len = (uint32_t)strlen(at + 1) - 2 * s->name_tail;
}

static void name_target(struct session *s)
{
	const struct options *o = s->options;
	const struct target *t = &o->target;
	char label[48];
	pid_t first = t->npids ? t->pids[0] : t->ntids ? t->tids[0] : 0;

	if (t->file)
		snprintf(s->target_text, sizeof s->target_text, "%.90s",
			 strrchr(t->file, '/') ? strrchr(t->file, '/') + 1 : t->file);
	else if (o->demo)
		snprintf(s->target_text, sizeof s->target_text, "%d demo", first);
	else if (t->argv)
		snprintf(s->target_text, sizeof s->target_text, "%d %.80s", first,
			 strrchr(t->argv[0], '/') ? strrchr(t->argv[0], '/') + 1 : t->argv[0]);
	else if (t->npids == 1)
		snprintf(s->target_text, sizeof s->target_text, "%s",
			 proc_label(first, label, sizeof label));
	else if (t->npids)
		snprintf(s->target_text, sizeof s->target_text, "%u processes", t->npids);
	else if (t->ntids)
		snprintf(s->target_text, sizeof s->target_text, "%u thread%s of %s", t->ntids,
			 t->ntids > 1 ? "s" : "", proc_label(first, label, sizeof label));
	else if (t->cgroup)
		snprintf(s->target_text, sizeof s->target_text, "cgroup %.80s", t->cgroup);
	else if (o->user)
		snprintf(s->target_text, sizeof s->target_text, "user %.80s", o->user);
	else
		snprintf(s->target_text, sizeof s->target_text, "the whole system");
	mark_name(s);
	if (t->cpus) {
		size_t len = first || t->cgroup || o->user ? strlen(s->target_text) : 0;
		snprintf(s->target_text + len, sizeof s->target_text - len, "%sCPU %.40s",
			 len ? " on " : "", t->cpus);
		s->name_tail += (uint32_t)(strlen(s->target_text) - len);
	}
	name_title(s);
	if (first && !t->argv)
		nspace_where(first, s->where, sizeof s->where);
}

static void bad_set(void *ctx, const char *sentence)
{
	(void)ctx;
	complain("%s", sentence);
}

static int make_rooms(struct session *s, struct err *err)
{
	const struct options *o = s->options;

	s->tables = tables_new();
	if (!s->tables)
		return err_set(err, ENOMEM, "out of memory");
	s->resolver = resolver_new(s->tables,
				   &(struct resolver_config){
					   .symfs = o->source.symfs,
					   .no_inline = o->no_inline,
					   .debuginfod = getenv("DEBUGINFOD_URLS") != NULL,
					   .live = !o->target.file,
					   .path_from = o->path_from,
					   .path_to = o->path_to,
				   },
				   err);
	if (!s->resolver)
		return err->no ? -err->no : -ENOMEM;
	s->exports = (struct export_options){
		.percent_limit = o->percent_limit > 0 ? o->percent_limit : 0,
		.sort = o->sort,
		.event = o->sort_event};
	save_setup(s->resolver, &s->exports);
	s->engine = engine_new(
		&(struct engine_setup){
			.tables = s->tables,
			.resolver = s->resolver,
			.symfs = o->source.symfs,
			.live = !o->target.file,
			.max_frames = o->source.max_stack,
			.interval_ms = s->batch ? BATCH_INTERVAL_MS
						: (uint32_t)(o->interval_ns / 1000000),
			.title = s->title,
			.target_text = s->target_text,
			.where = s->where,
			.named = s->name_len ? o->target.pids[0] : 0,
			.name_len = s->name_len,
			.name_tail = s->name_tail,
			.output_fd = s->spawn ? spawn_output_fd(s->spawn) : -1,
			.child = s->spawn ? spawn_pid(s->spawn) : 0,
			.partial = o->target.ntids || o->target.cpus,
			.no_kernel = o->source.no_kernel,
			.no_user = o->source.no_user,
			.rate_hz = o->source.rate_hz,
			.event_set = o->source.event_set,
			.sets = s->sets,
			.nsets = s->nsets,
			.triggers = triggers_setup(s),
			.save = save_snapshot,
			.doctor = doctor_report,
			.doctor_ctx = s,
		},
		err);
	return s->engine ? 0 : err->no ? -err->no : -ENOMEM;
}

/* Tell the person something that is no error: on screen, or on standard error in batch. */
static void remark(struct session *s, const char *sentence)
{
	if (!*sentence)
		return;
	if (s->batch)
		complain("%s", sentence);
	else
		engine_sink(s->engine)->ops->say(engine_sink(s->engine)->ctx, sentence);
}

/* Told now, not after an hour of watching. */
static int check_output(const char *path, struct err *err)
{
	struct filewrite file;
	struct stat st;

	if (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return 0; /* a pipe's reader would take it for the end */
	int rc = filewrite_open(&file, path, true, err);
	if (!rc)
		filewrite_abort(&file);
	return rc;
}

static int check_triggers_output(const struct session *s, struct err *err)
{
	char path[sizeof s->trigger_prefix + 32];

	snprintf(path, sizeof path, "%s-1%.20s", s->trigger_prefix, s->trigger_suffix);
	return check_output(path, err);
}

/* Below a directory that is not there no file is ever found, and nobody would know why. */
static int check_symfs(const char *dir, struct err *err)
{
	struct stat st;

	if (!dir)
		return 0;
	if (stat(dir, &st))
		return err_set(err, errno, "--symfs %s: %s", dir, strerror(errno));
	return S_ISDIR(st.st_mode) ? 0 : err_set(err, ENOTDIR, "--symfs %s: no directory", dir);
}

/* -s EVENT is one of -E's. */
static int check_sort(const struct session *s, struct err *err)
{
	const struct options *o = s->options;
	const char *wanted = o->source.event_set;

	for (size_t i = 0; o->sort_event && wanted && i < s->nsets; i++) {
		const struct event_set *set = &s->sets[i];
		bool found = false;

		if (strcmp(set->name, wanted) != 0)
			continue;
		for (uint32_t k = 0; k < set->nevents; k++)
			found |= event_is_called(set->events[k].name, o->sort_event);
		return found ? 0
			     : err_set(err, EINVAL,
				       "-s %.60s: no column (self, total, samples, module, name) "
				       "and no event of -E %s",
				       o->sort_event, wanted);
	}
	return 0;
}

/* What is to be watched is there, and how often is allowed. */
static int prepare(struct session *s, char *ret_warning, size_t size, struct err *err)
{
	struct rate_limits limits;
	struct options *o = s->options;

	event_sets_load(&s->sets, &s->nsets, bad_set,
			NULL); /* without them only derived columns lack */
	rate_limits_read(&limits);
	int rc = rate_apply(o, &limits, ret_warning, size, err);
	if (!rc)
		rc = check_sort(s, err);
	if (!rc)
		rc = triggers_prepare(s, err);
	if (!rc)
		rc = find_user(o, err);
	if (!rc)
		rc = start_command(s, err);
	if (!rc && !s->spawn && !o->target.file)
		rc = target_check(&o->target, err);
	if (rc)
		return rc;
	const char *outputs[] = {o->output, o->analysis.chrometracing, o->analysis.ipc_trending};
	for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
		if (outputs[i] && (rc = check_output(outputs[i], err)))
			return rc;
	if (o->analysis.maps && access(o->analysis.maps, R_OK))
		return err_set(err, errno, "--maps %s: %s", o->analysis.maps, strerror(errno));
	if (o->ntriggers && (rc = check_triggers_output(s, err)))
		return rc;
	rc = check_symfs(o->source.symfs, err);
	if (rc)
		return rc;
	permit_raise_nofile();
	name_target(s);
	o->source.wall = o->clock == 1;
	o->source.locate = symbol_locate;
	return 0;
}

static int make_analyser(struct session *s, struct err *err)
{
	struct options *o = s->options;

	o->analysis.pattern = (enum pattern)o->pattern;
	int rc = analyser_new(&o->analysis, s->tables, engine_sink(s->engine), &s->analyser, err);
	if (!rc)
		o->source.trace = analyser_sink(s->analyser);
	return rc;
}

static int start(struct session *s, struct err *err)
{
	char note[512], warning[160];
	struct choice choice = {0};
	char nobody[160] = "";

	strbuf_init(&choice.reasons);
	int rc = prepare(s, warning, sizeof warning, err);
	if (!rc)
		rc = check_user(s, nobody, sizeof nobody, err);
	signals_block(); /* in every thread made from here on, and not in the command made above */
	if (!rc)
		rc = choose_next(&choice, s, err);
	if (!rc)
		rc = make_rooms(s, err);
	if (!rc && s->options->target.file)
		rc = make_analyser(s, err);
	if (!rc) {
		/* A recording is looked into: a pipe or a terminal may keep its bytes for hours. */
		bool reads = s->options->target.file != NULL;
		if (reads)
			signals_end_at_once(true);
		rc = choose_open(&choice, s, err);
		if (reads)
			signals_end_at_once(false);
	}
	if (!rc) {
		remark(s, warning);
		remark(s, nobody);
		choose_note(&choice, note, sizeof note);
		remark(s, note);
	}
	strbuf_fini(&choice.reasons);
	if (rc)
		return rc;
	if (resolver_start(s->resolver))
		return err_set(err, EAGAIN, "the thread for names could not be started");
	s->running = true; /* where one cannot be started, the others run all the same */
	rc = engine_start(s->engine, s->ops, s->source, err);
	if (rc)
		return rc;
	s->started_ns = clock_mono_ns();
	return s->spawn ? spawn_release(s->spawn, err) : 0;
}

uint64_t session_warmed_up(struct session *s)
{
	uint64_t now = clock_mono_ns(), end = s->started_ns + s->options->delay_ns;

	if (s->warm)
		return 0;
	if (now < end)
		return end - now;
	if (s->options->delay_ns)
		engine_command(s->engine, &(struct command){.kind = COMMAND_MARK});
	s->warm = true;
	return 0;
}

static bool ui_done(void *ctx)
{
	struct session *s = ctx;
	uint64_t duration = options_duration_ns(s->options);

	session_warmed_up(s);
	return signals_pending() || (duration && clock_mono_ns() - s->started_ns >= duration);
}

static bool many_processes(const struct target *t)
{
	return t->all || t->cgroup || t->by_user || t->npids > 1 ||
	       (t->cpus && !t->npids && !t->ntids);
}

static int screen_run(struct session *s)
{
	static struct choices choices;
	const struct options *o = s->options;
	char name[64] = "altpttop.pb.gz";
	struct err err = {0};
	time_t now = time(NULL);
	struct tm tm;

	if (!o->target.file)
		choices_sets(&choices, s->sets, s->nsets);

	if (localtime_r(&now, &tm))
		strftime(name, sizeof name, "altpttop-%Y%m%d-%H%M%S.pb.gz", &tm);
	int rc = ui_run(s->engine,
			&(struct ui_config){
				.ascii = o->ascii,
				.no_mouse = o->no_mouse,
				.color = o->color,
				.interval_ms = (uint32_t)(o->interval_ns / 1000000),
				.query_flags = options_query_flags(o),
				.sort = o->sort,
				.event = o->sort_event,
				.percent_limit = o->percent_limit > 0 ? o->percent_limit : 0,
				.first = session_analysis(s),
				.whole = o->target.file != NULL,
				.processes = many_processes(&o->target),
				.has_output = s->spawn != NULL,
				.event_sets = choices.sets,
				.nevent_sets = choices.nsets,
				.find_events = choices_events,
				.save_name = name,
				.keys = o->keys,
				.done = ui_done,
				.done_ctx = s,
			},
			&err);
	if (rc) {
		complain("%s", err.msg);
		return 2;
	}
	s->ended_ns = clock_mono_ns();
	triggers_settle(s, SETTLE_MS);
	if (!o->output)
		return 0;
	const struct snapshot *snapshot = session_snapshot(s, SNAPSHOT_MS, &err);
	if (!snapshot) {
		complain("%s", err.msg);
		return 1;
	}
	int status = session_output(s, snapshot);
	snapshot_unref(snapshot);
	return status;
}

static bool join_threads(struct session *s)
{
	uint64_t end = clock_mono_ns() + LEAVE_MS * 1000000ull;

	engine_stop(s->engine);
	resolver_stop(s->resolver);
	bool joined = engine_join(s->engine, LEAVE_MS);
	uint64_t now = clock_mono_ns();
	return resolver_join(s->resolver, now < end ? (int)((end - now) / 1000000) : 0) && joined;
}

static void leave(struct session *s, int status)
{
	spawn_free(s->spawn);
	if (s->running && !join_threads(s)) {
		fflush(NULL);
		_exit(status);
	}
	if (s->source)
		s->ops->close(s->source);
	analyser_free(s->analyser);
	if (s->engine)
		engine_free(s->engine);
	resolver_free(s->resolver);
	tables_free(s->tables);
	free(s->sets);
}

int session_run(struct options *o, bool batch)
{
	struct session s = {.options = o, .batch = batch};
	struct err err = {0};
	int status = 2;

	int rc = start(&s, &err);
	signals_unblock();
	if (rc)
		complain("%s", err.msg);
	else
		status = batch ? batch_run(&s) : screen_run(&s);
	if (!rc && s.analyser && engine_finished(s.engine) && analyser_missed(s.analyser, &err)) {
		complain("%s", err.msg);
		status = status ? status : 1;
	}
	leave(&s, status);
	return status;
}

int session_doctor(struct options *o)
{
	struct session s = {.options = o};
	char *text = doctor_report(&s);

	if (!text) {
		complain("out of memory");
		return 1;
	}
	fputs(text, stdout);
	free(text);
	return fflush(stdout) ? 1 : 0;
}
