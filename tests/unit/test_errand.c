/*
 * errand: what runs beside the resolver: asking dpkg, and downloads from a server of our own on the
 * loopback interface: names that come late, progress, giving up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/errand.h"
#include "symbol/resolver.h"

static char tmp[64];

/* ---- a server of one file ---- */

struct server {
	int fd;
	pthread_t thread;
	char file[256];
	bool slow;
	_Atomic bool stop;
	_Atomic unsigned asked;
};

static void answer(struct server *s, int fd)
{
	char request[4096], head[256];
	static char bytes[1 << 20];
	ssize_t n = read(fd, request, sizeof request - 1);
	FILE *f = fopen(s->file, "re");
	size_t size;

	request[n > 0 ? n : 0] = '\0';
	assert_non_null(f);
	size = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	s->asked++;
	if (strncmp(request, "GET /buildid/", 13) != 0 || !strstr(request, "/debuginfo "))
		return;
	n = snprintf(head, sizeof head,
		     "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", size);
	if (send(fd, head, (size_t)n, MSG_NOSIGNAL) != n)
		return;
	for (size_t at = 0; at < size && !s->stop;) {
		size_t piece = s->slow ? 16 : size - at;

		n = send(fd, bytes + at, size - at < piece ? size - at : piece, MSG_NOSIGNAL);
		if (n <= 0)
			return;
		at += (size_t)n;
		if (s->slow)
			usleep(20000);
	}
}

static void *serve(void *arg)
{
	struct server *s = arg;

	while (!s->stop) {
		int fd = accept(s->fd, NULL, NULL);

		if (fd < 0)
			break;
		answer(s, fd);
		close(fd);
	}
	return NULL;
}

static void server_start(struct server *s)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	char url[64];

	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&a, sizeof a), 0);
	assert_int_equal(listen(s->fd, 4), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&a, &len), 0);
	snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(a.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void server_stop(struct server *s)
{
	s->stop = true;
	shutdown(s->fd, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	close(s->fd);
}

/* ---- a program without its debug file ---- */

static uint64_t make_program(const char *name)
{
	char command[1024], path[128];
	uint64_t addr = 0;
	FILE *f;

	snprintf(
		command, sizeof command,
		"cd %s && printf 'static int far(int x) { return x * 3; }\\nint main(int c, char **v) "
		"{ (void)v; return far(c); }\\n' > %s.c && ${CC:-gcc} -g -O0 -Wl,--build-id=sha1 -o %s "
		"%s.c && nm %s | awk '$3 == \"far\" { print $1 }' > addr && objcopy "
		"--only-keep-debug %s %s.debug && strip %s",
		tmp, name, name, name, name, name, name, name);
	if (system(command)) {
		print_message("skipped: no compiler or no objcopy here\n");
		skip();
	}
	snprintf(path, sizeof path, "%s/addr", tmp);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lx", &addr), 1);
	fclose(f);
	return addr;
}

struct fixture {
	struct tables *t;
	struct resolver *r;
	frame_id frame;
	module_id module;
};

static struct fixture start(const char *name, uint64_t addr)
{
	struct resolver_config config = {.debuginfod = true, .debug_dirs = ":"};
	struct module m = {.kind = MODULE_FILE};
	struct fixture f = {.t = tables_new()};
	struct frame frame = {.addr = addr};
	char path[256];

	f.r = resolver_new(f.t, &config, NULL);
	assert_non_null(f.r);
	snprintf(path, sizeof path, "%s/%s", tmp, name);
	m.path = tables_str(f.t, path);
	m.name = tables_str(f.t, name);
	f.module = frame.module = tables_module(f.t, &m);
	f.frame = tables_frame(f.t, &frame);
	assert_int_equal(resolver_start(f.r), 0);
	resolver_want(f.r, &f.frame, 1);
	assert_true(resolver_settle(f.r, 60000));
	return f;
}

static void finish(struct fixture *f)
{
	resolver_stop(f->r);
	assert_true(resolver_join(f->r, 60000));
	resolver_free(f->r);
	tables_free(f->t);
}

static const struct func *func_of(struct fixture *f)
{
	return tables_func_get(f->t, tables_loc(f->t, f->frame)->lines[0].func);
}

static void need_client(void)
{
	void *so = dlopen("libdebuginfod.so.1", RTLD_NOW);

	if (!so) {
		print_message("skipped: libdebuginfod.so.1 is not installed\n");
		skip();
	}
	dlclose(so);
}

static void test_download(void **state)
{
	static struct server s;
	struct fixture f;
	uint64_t addr;

	(void)state;
	need_client();
	addr = make_program("one");
	snprintf(s.file, sizeof s.file, "%s/one.debug", tmp);
	server_start(&s);
	f = start("one", addr);
	for (int i = 0; i < 6000 && func_of(&f)->flags & FUNC_NO_SYMBOL; i++)
		usleep(10000);
	assert_string_equal(tables_text(f.t, func_of(&f)->name), "far");
	assert_true(resolver_settle(f.r, 60000));
	assert_int_equal(tables_loc(f.t, f.frame)->lines[0].line, 1);
	assert_int_equal(resolver_module(f.r, f.module), SYMBOLS_LINES);
	assert_true(s.asked >= 1);
	finish(&f);
	server_stop(&s);
}

static void test_cancel(void **state)
{
	static struct server s = {.slow = true};
	struct resolver_download d = {0};
	struct fixture f;
	uint64_t addr;

	(void)state;
	need_client();
	addr = make_program("two");
	snprintf(s.file, sizeof s.file, "%s/two.debug", tmp);
	server_start(&s);
	f = start("two", addr);
	for (int i = 0; i < 6000 && !d.done; i++) {
		usleep(10000);
		resolver_download(f.r, &d);
	}
	assert_int_equal(d.module, f.module);
	assert_true(d.done > 0);
	resolver_cancel(f.r);
	for (int i = 0; i < 6000 && d.module; i++) {
		usleep(10000);
		resolver_download(f.r, &d);
	}
	assert_int_equal(d.module, 0);
	assert_true(func_of(&f)->flags & FUNC_NO_SYMBOL);
	finish(&f);
	server_stop(&s);
}

static void test_package(void **state)
{
	char name[128];
	Dl_info info;
	char path[4096];

	(void)state;
	if (system("dpkg-query -S /bin/sh >/dev/null 2>&1") &&
	    system("dpkg-query -S /usr/bin/env >/dev/null 2>&1")) {
		print_message("skipped: no dpkg here\n");
		skip();
	}
	assert_true(dladdr(dlsym(RTLD_DEFAULT, "argz_create"), &info));
	assert_non_null(realpath(info.dli_fname, path));
	assert_true(package_of(path, name, sizeof name));
	assert_string_equal(name, "libc6-dbg");
	assert_true(package_of("/usr/bin/env", name, sizeof name));
	assert_string_equal(name, "coreutils-dbgsym");
	assert_false(package_of("/no/such/file", name, sizeof name));
	assert_false(package_of("relative", name, sizeof name));
}

static int setup(void **state)
{
	char cache[128];

	(void)state;
	strcpy(tmp, "/tmp/altpttop-errand-XXXXXX");
	if (!mkdtemp(tmp))
		return -1;
	snprintf(cache, sizeof cache, "%s/cache", tmp);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", tmp);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_package),
		cmocka_unit_test_setup_teardown(test_download, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cancel, setup, teardown),
	};

	return cmocka_run_group_tests_name("errand", tests, NULL, NULL);
}
