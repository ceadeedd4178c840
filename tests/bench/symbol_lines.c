/*
 * symbol_lines: addresses on standard input to functions, files and lines, in the layout of
 * `llvm-symbolizer -i` (innermost first, an empty line behind each address).
 *
 *	symbol_lines [-n] [-r] [-d DEBUG_DIRS] [-s SYMFS] FILE < addresses
 *
 * -n: no inlined frames; -r: names as the symbol table has them. At the end one line on standard
 * error: addresses, wall time, maximum resident size.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "symbol/resolver.h"

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void print(const struct tables *t, frame_id frame, bool raw)
{
	const struct loc *loc = tables_loc(t, frame);

	for (uint32_t i = 0; loc && i < loc->n; i++) {
		const struct loc_line *l = &loc->lines[i];
		const struct func *f = tables_func_get(t, l->func);
		const char *file = tables_text(t, l->file);

		printf("%s\n%s:%u:%u\n", tables_text(t, raw ? f->raw : f->name),
		       file[0] ? file : "??", l->line, l->column);
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct resolver_config config = {0};
	struct module m = {.kind = MODULE_FILE};
	struct tables *t = tables_new();
	struct resolver *r;
	struct rusage usage;
	uint64_t start = now_ns(), addr;
	unsigned long n = 0;
	bool raw = false;
	char *path;
	module_id module;
	int c;

	while ((c = getopt(argc, argv, "nrd:s:")) != -1) {
		if (c == 'n')
			config.no_inline = true;
		else if (c == 'r')
			raw = true;
		else if (c == 'd')
			config.debug_dirs = optarg;
		else if (c == 's')
			config.symfs = optarg;
		else
			return 2;
	}
	if (optind != argc - 1 || !t || !(r = resolver_new(t, &config, NULL))) {
		fprintf(stderr, "usage: symbol_lines [-n] [-r] [-d DIRS] [-s SYMFS] FILE\n");
		return 2;
	}
	path = realpath(argv[optind], NULL);
	m.path = m.name = tables_str(t, path ? path : argv[optind]);
	free(path);
	module = tables_module(t, &m);
	while (scanf("%" SCNx64, &addr) == 1) {
		struct frame f = {.module = module, .addr = addr};
		frame_id frame = tables_frame(t, &f);

		resolver_now(r, frame);
		print(t, frame, raw);
		n++;
	}
	fflush(stdout);
	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr, "%lu addresses, %.1f ms, %ld KiB\n", n, (double)(now_ns() - start) / 1e6,
		usage.ru_maxrss);
	resolver_free(r);
	tables_free(t);
	return 0;
}
