/*
 * The command line: what is understood, what is refused and in which words; that --help, the
 * completions, the man page and the config file know the same options.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/config.h"
#include "app/options.h"
#include "app/xdg.h"
#include "app/rate.h"

static void assert_holds(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in: %s", part, text);
}

/* Parse a line of words; the words live in @words. */
static int parse(struct options *o, char *words, struct err *err)
{
	static char *argv[32] = {(char *)"altpttop"}; /* a COMMAND stays there */
	int argc = 1;

	for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	options_init(o);
	int rc = options_parse(o, argc, argv, err);
	return rc ? rc : options_check(o, err);
}

static void test_good_lines(void **state)
{
	(void)state;
	struct options o;
	struct err err;

	char a[] = "-p 12,13,12 -F 499 -d 0.5 -bK --duration=2.5 --delay 0.5 -o x.pb.gz";
	assert_int_equal(parse(&o, a, &err), 0);
	assert_int_equal(o.target.npids, 2);
	assert_int_equal(o.target.pids[1], 13);
	assert_int_equal(o.rate_kind, RATE_NUMBER);
	assert_int_equal(o.rate_asked, 499);
	assert_int_equal(o.interval_ns, 500000000);
	assert_true(o.batch && o.source.no_kernel);
	assert_int_equal(options_duration_ns(&o), 2500000000);
	assert_int_equal(o.delay_ns, 500000000);
	assert_int_equal(options_format(o.format, o.output), FORMAT_PPROF);
	options_fini(&o);

	char b[] = "--sampler=timer --clock wall -n 3 -d 2 -- ls -l -p 3";
	assert_int_equal(parse(&o, b, &err), 0);
	assert_int_equal(o.sampler, SAMPLER_TIMER);
	assert_int_equal(o.clock, 1);
	assert_int_equal(options_duration_ns(&o), 6000000000);
	assert_string_equal(o.target.argv[0], "ls");
	assert_string_equal(o.target.argv[3], "3");
	assert_int_equal(o.target.npids, 0);
	options_fini(&o);

	char c[] = "-t5 --call-graph dwarf,8192 -s total --percent-limit 0.5 -g --call-graph=fp";
	assert_int_equal(parse(&o, c, &err), 0);
	assert_int_equal(o.target.tids[0], 5);
	assert_int_equal(o.source.call_graph, CALL_GRAPH_FP);
	assert_int_equal(o.source.stack_bytes, 0);
	assert_int_equal(o.sort, COLUMN_TOTAL);
	assert_true(o.percent_limit == 0.5);
	options_fini(&o);

	char d[] = "-p 1 --dur 3 --no-m"; /* unambiguous beginnings */
	assert_int_equal(parse(&o, d, &err), 0);
	assert_int_equal(o.duration_ns, 3000000000);
	assert_true(o.no_mouse);
	options_fini(&o);

	char g[] = "--demo -e {cycles,branches},faults -s branches";
	assert_int_equal(parse(&o, g, &err), 0);
	assert_string_equal(o.sort_event, "branches");
	options_fini(&o);

	char e[] = "--demo -e cycles -e {instructions,branches} -F auto";
	assert_int_equal(parse(&o, e, &err), 0);
	assert_int_equal(o.source.nevents, 2);
	assert_string_equal(o.source.events[1], "{instructions,branches}");
	assert_int_equal(o.rate_kind, RATE_CONTROL);
	options_fini(&o);

	char h[] = "f -s cycles --percent-limit 1 --duration 3"; /* its events are known later */
	assert_int_equal(parse(&o, h, &err), 0);
	assert_string_equal(o.sort_event, "cycles");
	options_fini(&o);

	char i[] = "--demo -E ipc -s cycles"; /* so are a set's */
	assert_int_equal(parse(&o, i, &err), 0);
	assert_string_equal(o.sort_event, "cycles");
	options_fini(&o);

	char f[] = "--version --help";
	assert_int_equal(parse(&o, f, &err), 0);
	assert_int_equal(o.action, ACTION_VERSION);
	options_fini(&o);
}

static void test_bad_lines(void **state)
{
	(void)state;
	static const struct {
		const char *line, *says;
	} cases[] = {
		{"", "nothing to watch"},
		{"-p", "-p needs an argument: PID[,PID...]"},
		{"-p x", "-p x: must be numbers"},
		{"-p 0", "-p 0: must be numbers above 0"},
		{"-p 1,,2", "must be numbers"},
		{"-p 99999999999", "must be numbers"},
		{"-p -b", "-p needs an argument"},
		{"-p 1 -t 2", "-p and -t do not go together"},
		{"-p 1 -- ls", "-p and -- COMMAND do not go together"},
		{"--", "needs a COMMAND"},
		{"-p 1 -F 0", "-F 0: must be a whole number"},
		{"-p 1 -F -5", "-F -5: must be a whole number of Hz above 0"},
		{"-p 1 -F 9 -c 100", "-F and -c do not go together"},
		{"-p 1 -c 0", "-c 0"},
		{"-p 1 --call-graph fp,3", "only dwarf takes a size"},
		{"-p 1 --call-graph dwarf,65536", "at most 65528 bytes"},
		{"-p 1 --call-graph dwarf,100", "multiple of 8"},
		{"-p 1 --call-graph frames", "must be one of auto"},
		{"-p 1 -d 0.05", "-d 0.05: must be from 0.1"},
		{"-p 1 -d 1e9", "must be from 0.1"},
		{"-p 1 --duration 0", "above 0"},
		{"-p 1 --duration nan", "above 0"},
		{"-p 1 --duration 2 -n 3", "--duration and -n"},
		{"-p 1 --duration 2 --delay 1.5 --tail 0.5", "leave nothing of a run of 2 s"},
		{"-p 1 -n 0", "-n 0"},
		{"-p 1 -K -U", "-K and -U"},
		{"-p 1 --sampler perf --clock wall", "--clock wall needs the timer"},
		{"-p 1 --sampler signal", "--sampler signal: must be one of auto|perf|timer"},
		{"-p 1 -o report.xyz", "the suffix tells no format"},
		{"-p 1 --format pdf", "--format pdf: must be one of"},
		{"-p 1 --percent-limit 101", "must be from 0 to 100"},
		{"-p 1 --max-stack 0", "1 to 1024"},
		{"-p 1 --no", "--no fits several options"},
		{"-p 1 --nothing", "--nothing is no option"},
		{"-p 1 -z", "-z is no option"},
		{"-p 1 --batch=yes", "--batch takes no argument"},
		{"-p 1 -s speed", "-s speed: no column"},
		{"-p 1 -e cycles,branches -s cycle", "-s cycle: no column"},
		{"-p 1 --color red", "must be one of auto|always|never"},
		{"-p 1 -E ipc -e cycles", "-e and -E do not go together"},
		{"-p 1 --leaf", "--leaf analyses a recording"},
		{"-p 1 -o -", "-o -: the report goes to standard output"},
		{"f -e cycles", "-e says how to sample, and a recording is made already: -s EVENT"},
		{"-E ipc f", "-E says how to sample"},
		{"f -F 50", "-F says how to sample"},
		{"f -c 50", "-c says how to sample"},
		{"f -C 0", "-C says how to sample"},
		{"f -g", "-g says how to sample"},
		{"f --call-graph fp", "--call-graph says how to sample"},
		{"f --sampler timer", "--sampler says how to sample"},
		{"f --delay 1", "--delay says how to sample"},
		{"-i f --tail 1", "--tail says how to sample"},
		{"f --pattern cache --leaf", "--leaf is of --pattern duration, not of cache"},
		{"f --pattern edge --ghz 3", "--ghz is of --pattern cache, not of edge"},
		{"f --pattern duration --maps m", "--maps is of --pattern edge, not of duration"},
		{"f --ipc-trending -", "--ipc-trending -: it is written to a file"},
		{"f -o a.csv --ipc-trending a.csv",
		 "-o and --ipc-trending name the same file: a.csv"},
		{"f --chrometracing a --ipc-trending a", "--chrometracing and --ipc-trending name"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct options o;
		struct err err = {0};
		char line[128];
		snprintf(line, sizeof line, "%s", cases[i].line);
		if (!parse(&o, line, &err))
			fail_msg("accepted: %s", cases[i].line);
		assert_holds(err.msg, cases[i].says);
		assert_null(strchr(err.msg, '\n'));
		options_fini(&o);
	}
}

static int rate(const char *value, uint64_t limit, struct options *o, char warning[160],
		struct err *err)
{
	options_init(o);
	if (value && options_set(o, "freq", value, err))
		return -EINVAL;
	return rate_apply(o, &(struct rate_limits){.max_hz = limit}, warning, 160, err);
}

static void test_rates(void **state)
{
	(void)state;
	struct options o;
	struct err err;
	char warning[160];

	assert_int_equal(rate(NULL, 100000, &o, warning, &err), 0);
	assert_int_equal(o.source.rate_hz, 997);
	assert_string_equal(warning, "");
	assert_int_equal(rate("4000", 100000, &o, warning, &err), 0);
	assert_string_equal(warning, "");
	assert_int_equal(rate("4001", 100000, &o, warning, &err), 0);
	assert_holds(warning, "4001 Hz");
	assert_int_equal(rate("10000", 0, &o, warning, &err), 0);
	assert_int_equal(rate("10001", 100000, &o, warning, &err), -EINVAL);
	assert_holds(err.msg, "10000 Hz");
	assert_int_equal(rate("501", 500, &o, warning, &err), -EINVAL);
	assert_holds(err.msg, "perf_event_max_sample_rate allows 500 Hz");
	assert_int_equal(rate("max", 100000, &o, warning, &err), 0);
	assert_int_equal(o.source.rate_hz, 10000);
	assert_int_equal(rate("max", 500, &o, warning, &err), 0);
	assert_int_equal(o.source.rate_hz, 500);
	assert_int_equal(rate("auto", 100000, &o, warning, &err), 0);
	assert_int_equal(o.source.rate_hz, 100);
	assert_true(o.source.rate_auto);
	/* The default yields to a low limit; only what was asked for is refused. */
	assert_int_equal(rate(NULL, 500, &o, warning, &err), 0);
	assert_int_equal(o.source.rate_hz, 500);
	assert_holds(warning, "500 Hz");
}

static char *text_of(void (*print)(FILE *out))
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	assert_non_null(f);
	print(f);
	fclose(f);
	return text;
}

static char *file_text(const char *path)
{
	static char text[1 << 17];
	FILE *f = fopen(path, "r");
	if (!f)
		fail_msg("%s is not there", path);
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	fclose(f);
	return text;
}

static void test_table_is_sound(void **state)
{
	(void)state;
	for (size_t i = 0; i < option_count; i++) {
		const struct option_desc *d = &option_table[i];
		assert_true(d->name || d->letter);
		assert_non_null(d->set);
		assert_true(strlen(d->help) <= 64 && d->help[strlen(d->help) - 1] != '.');
		if (d->letter)
			assert_ptr_equal(option_by_letter(d->letter), d);
		bool several;
		if (d->name)
			assert_ptr_equal(option_by_name(d->name, strlen(d->name), &several), d);
		if (d->choices)
			assert_non_null(d->arg);
	}
}

/* Every shown option is in all texts; what is not shown is in none. */
static void test_texts_agree(void **state)
{
	(void)state;
	char *help = text_of(options_help);
	char *bash = text_of(options_completion_bash);
	char *zsh = text_of(options_completion_zsh);
	const char *man = file_text("altpttop.1");

	for (size_t i = 0; i < option_count; i++) {
		const struct option_desc *d = &option_table[i];
		bool shown = !(d->flags & OPTION_HIDDEN);
		char in_help[48], in_bash[48], in_zsh[48], in_man[48];
		if (d->name) {
			snprintf(in_help, sizeof in_help, "--%s ", d->name);
			snprintf(in_bash, sizeof in_bash, "--%s ", d->name);
			snprintf(in_zsh, sizeof in_zsh, "--%s%s[", d->name, d->arg ? "=" : "");
			snprintf(in_man, sizeof in_man, ".It %sFl -%s%s",
				 d->letter ? "Fl # , " : "", d->name,
				 !d->arg                      ? "\n"
				 : d->flags & OPTION_OPTIONAL ? " Op Ar"
							      : " Ar");
			if (d->letter)
				*strchr(in_man, '#') = d->letter;
		} else {
			snprintf(in_help, sizeof in_help, "  -%c ", d->letter);
			snprintf(in_bash, sizeof in_bash, "-%c ", d->letter);
			snprintf(in_zsh, sizeof in_zsh, "'-%c[", d->letter);
			snprintf(in_man, sizeof in_man, ".It Fl %c%s", d->letter,
				 d->arg ? " Ar" : "\n");
		}
		const struct {
			const char *where, *text, *part;
		} texts[] = {{"--help", help, in_help},
			     {"the bash completion", bash, in_bash},
			     {"the zsh completion", zsh, in_zsh},
			     {"the man page", man, in_man}};
		for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
			if (!strstr(texts[k].text, texts[k].part) == shown)
				fail_msg("%s: \"%s\" is %s", texts[k].where, texts[k].part,
					 shown ? "missing" : "there, but not built in");
	}
	assert_string_equal(file_text("completions/altpttop.bash"), bash);
	assert_string_equal(file_text("completions/_altpttop"), zsh);
	assert_non_null(strstr(zsh, "]::GLOB: '")); /* it may lack */
	free(help);
	free(bash);
	free(zsh);
}

/* What @text says is added to @o. */
static int add_config(struct options *o, const char *text, struct err *err)
{
	char path[] = "/tmp/altpttop-config-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	int rc = config_load(o, path, err);
	unlink(path);
	return rc;
}

static int load(struct options *o, const char *text, struct err *err)
{
	options_init(o);
	return add_config(o, text, err);
}

static void test_source_path(void **state)
{
	static const char *const bad[] = {"/build", "=/here", "/build="};
	char *words[] = {"altpttop", "--source-path", "/build/a=/home/x=y", "-p", "1", NULL};
	struct options o;
	struct err err;

	(void)state;
	options_init(&o);
	assert_int_equal(options_parse(&o, 5, words, &err), 0);
	assert_string_equal(o.path_from, "/build/a");
	assert_string_equal(o.path_to, "/home/x=y");
	options_fini(&o);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		options_init(&o);
		words[2] = (char *)(uintptr_t)bad[i];
		assert_true(options_parse(&o, 5, words, &err) < 0);
		assert_holds(err.msg, "must be FROM=TO");
		options_fini(&o);
	}
	assert_int_equal(load(&o, "[options]\nsource-path = /b=/h\n", &err), 0);
	assert_string_equal(o.path_from, "/b");
	assert_string_equal(o.path_to, "/h");
	options_fini(&o);
}

static void test_config(void **state)
{
	(void)state;
	struct options o;
	struct err err;

	assert_int_equal(
		load(&o,
		     "# mine\n[options]\nfreq = 499 ; why not\nno-mouse = yes\nascii = no\n"
		     "[keys]\nquit = x\nhelp = f1\n"
		     "[source]\nfrom = /build\nto = /home/me\n",
		     &err),
		0);
	assert_int_equal(o.rate_asked, 499);
	assert_true(o.no_mouse && !o.ascii);
	assert_string_equal(o.keys[0], "quit=x");
	assert_string_equal(o.keys[1], "help=f1");
	assert_null(o.keys[2]);
	assert_string_equal(o.path_from, "/build");
	assert_string_equal(o.path_to, "/home/me");
	options_fini(&o);

	static const struct {
		const char *text, *says;
	} bad[] = {
		{"[options]\n\nfreq = fast\n", ":3: -F fast: must be"},
		{"[options]\npid = 3\n", ":2: pid may stand on the command line only"},
		{"[options]\nfre = 3\n", ":2: fre is no option"},
		{"[options]\nascii = perhaps\n", ":2: ascii = perhaps: must be yes or no"},
		{"[colours]\nred = 3\n", ":2: there are sections"},
		{"[options]\nnonsense\n", ":2: "},
		{"[source]\nfrom = /a\n", "[source] needs both"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(load(&o, bad[i].text, &err), -EINVAL);
		assert_holds(err.msg, bad[i].says);
		options_fini(&o);
	}
	options_init(&o);
	assert_int_equal(config_load(&o, "/nonexistent/config", &err), 0);
	options_fini(&o);
}

/* What is no text, has no end or leads nowhere is said, and not waited for. */
static void test_config_of_no_text(void **state)
{
	char loop[] = "/tmp/altpttop-config-XXXXXX";
	int fd = mkstemp(loop);
	struct options o;
	struct err err;

	(void)state;
	assert_true(fd >= 0 && !unlink(loop) && !symlink(loop, loop));
	options_init(&o);
	alarm(60);
	assert_int_equal(config_load(&o, "/dev/zero", &err), -EFBIG);
	alarm(0);
	assert_holds(err.msg, "cannot read /dev/zero: ");
	assert_int_equal(config_load(&o, loop, &err), -ELOOP);
	unlink(loop);
	fd = open(loop, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "[options]\n\0freq = 9\n", 21), 21);
	close(fd);
	assert_int_equal(config_load(&o, loop, &err), -EILSEQ);
	assert_holds(err.msg, "no text");
	assert_int_equal(config_load(&o, "/dev/null", &err), 0);
	unlink(loop);
	options_fini(&o);
}

/* The command line, then the file, then the rules between them. */
static void both(struct options *o, const char *line, const char *text)
{
	static char words[128]; /* the options point into it */
	struct err err = {0};

	snprintf(words, sizeof words, "%s", line);
	assert_int_equal(parse(o, words, &err), 0);
	if (add_config(o, text, &err) || options_check(o, &err))
		fail_msg("%s with %s: %s", line, text, err.msg);
}

static void test_command_line_wins(void **state)
{
	(void)state;
	struct options o;
	struct err err;

	both(&o, "-p 1 -F 50", "[options]\nfreq = auto\nclock = wall\n");
	assert_int_equal(o.rate_kind, RATE_NUMBER);
	assert_int_equal(o.rate_asked, 50);
	assert_int_equal(o.clock, 1);
	options_fini(&o);

	/* Over what leaves no room for it, too. */
	both(&o, "-p 1 -c 1000", "[options]\nfreq = 499\n");
	assert_int_equal(o.source.period, 1000);
	assert_int_equal(o.rate_kind, RATE_DEFAULT);
	options_fini(&o);
	both(&o, "-p 1 -e faults", "[options]\nevent = cycles\nevent-set = ipc\n");
	assert_int_equal(o.source.nevents, 1);
	assert_string_equal(o.source.events[0], "faults");
	assert_null(o.source.event_set);
	options_fini(&o);
	both(&o, "-p 1 -n 3", "[options]\nduration = 5\n");
	assert_int_equal(options_duration_ns(&o), 3000000000);
	options_fini(&o);
	both(&o, "-p 1 -U", "[options]\nhide-kernel = yes\n");
	assert_true(o.source.no_user && !o.source.no_kernel);
	options_fini(&o);
	both(&o, "-p 1 -g", "[options]\ncall-graph = fp\n");
	assert_int_equal(o.source.call_graph, CALL_GRAPH_AUTO);
	options_fini(&o);
	both(&o, "-p 1 --sampler perf", "[options]\nclock = wall\n");
	assert_int_equal(o.clock, 0);
	options_fini(&o);
	both(&o, "-p 1 --clock wall", "[options]\nsampler = perf\n");
	assert_int_equal(o.sampler, SAMPLER_AUTO);
	options_fini(&o);
	both(&o, "-p 1 -e faults", "[options]\nsort = cycles\n");
	assert_null(o.sort_event);
	options_fini(&o);
	both(&o, "-p 1 --source-path /a=/b", "[source]\nfrom = /c\nto = /d\n");
	assert_string_equal(o.path_from, "/a");
	assert_string_equal(o.path_to, "/b");
	options_fini(&o);

	/* A recording is read whatever the file says of sampling. */
	both(&o, "f", "[options]\nfreq = 50\nevent = cycles\nsort = cycles\ndelay = 5\ntail = 3\n");
	assert_null(o.sort_event);
	assert_int_equal(o.delay_ns + o.tail_ns, 0);
	options_fini(&o);

	/* What loses is judged all the same, and the file may not contradict itself. */
	char line[] = "-p 1 -F 50", other[] = "-p 1";
	assert_int_equal(parse(&o, line, &err), 0);
	assert_int_equal(add_config(&o, "[options]\nfreq = fast\n", &err), -EINVAL);
	options_fini(&o);
	assert_int_equal(parse(&o, other, &err), 0);
	assert_int_equal(add_config(&o, "[options]\nfreq = 9\ncount = 9\n", &err), 0);
	assert_int_equal(options_check(&o, &err), -EINVAL);
	options_fini(&o);
}

static void test_places(void **state)
{
	(void)state;
	char path[256];

	setenv("XDG_CONFIG_HOME", "/x/conf", 1);
	assert_int_equal(xdg_config("config", path, sizeof path), 0);
	assert_string_equal(path, "/x/conf/altpttop/config");
	setenv("XDG_CONFIG_HOME", "relative", 1);
	setenv("HOME", "/home/me", 1);
	assert_int_equal(xdg_config("config", path, sizeof path), 0);
	assert_string_equal(path, "/home/me/.config/altpttop/config");
	assert_int_equal(xdg_config("config", path, 8), -ENAMETOOLONG);
	unsetenv("HOME");
	assert_int_equal(xdg_config("config", path, sizeof path), -ENOENT);

	setenv("XDG_STATE_HOME", "/x/state", 1);
	assert_int_equal(xdg_state("crash.txt", path, sizeof path), 0);
	assert_string_equal(path, "/x/state/altpttop/crash.txt");
	unsetenv("XDG_STATE_HOME");
	setenv("HOME", "/home/me", 1);
	assert_int_equal(xdg_state("", path, sizeof path), 0);
	assert_string_equal(path, "/home/me/.local/state/altpttop");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_lines),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_table_is_sound),
		cmocka_unit_test(test_texts_agree),
		cmocka_unit_test(test_source_path),
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_config_of_no_text),
		cmocka_unit_test(test_command_line_wins),
		cmocka_unit_test(test_places),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
