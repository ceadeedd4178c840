/*
 * fetch: debug files from the servers in DEBUGINFOD_URLS, by elfutils' client library.
 *
 * The library is opened when it is first needed, so that a machine without it loses nothing else.
 * It keeps what it downloads in its own cache. Its progress call is where a download is given up.
 * Runs on the errand thread.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errand.h"

/* Of libdebuginfod's interface what is used here; its header need not be installed. */
#define SONAME "libdebuginfod.so.1"
typedef struct debuginfod_client debuginfod_client;
typedef int progress_fn(debuginfod_client *client, long done, long all);

struct client {
	debuginfod_client *(*begin)(void);
	void (*end)(debuginfod_client *client);
	void (*set_progress)(debuginfod_client *client, progress_fn *fn);
	void (*set_data)(debuginfod_client *client, void *data);
	void *(*get_data)(debuginfod_client *client);
	int (*find)(debuginfod_client *client, const unsigned char *id, int size, char **path);
};

static struct client library; /* the errand thread's */

static bool load(void)
{
	void *so;

	if (library.find)
		return true;
	so = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	if (!so)
		return false;
	*(void **)&library.begin = dlsym(so, "debuginfod_begin");
	*(void **)&library.end = dlsym(so, "debuginfod_end");
	*(void **)&library.set_progress = dlsym(so, "debuginfod_set_progressfn");
	*(void **)&library.set_data = dlsym(so, "debuginfod_set_user_data");
	*(void **)&library.get_data = dlsym(so, "debuginfod_get_user_data");
	*(void **)&library.find = dlsym(so, "debuginfod_find_debuginfo");
	if (library.begin && library.end && library.set_progress && library.set_data &&
	    library.get_data && library.find)
		return true;
	library.find = NULL;
	dlclose(so);
	return false;
}

static int progress(debuginfod_client *client, long done, long all)
{
	struct fetch_state *state = library.get_data(client);

	atomic_store_explicit(&state->done, done > 0 ? (uint64_t)done : 0, memory_order_relaxed);
	atomic_store_explicit(&state->all, all > 0 ? (uint64_t)all : 0, memory_order_relaxed);
	return atomic_load_explicit(&state->cancel, memory_order_relaxed);
}

bool fetch_debug(const uint8_t *build_id, uint8_t size, struct fetch_state *state, char *ret_text,
		 size_t text_size)
{
	debuginfod_client *client;
	char *path = NULL;
	int fd;

	if (!load()) {
		snprintf(ret_text, text_size, "DEBUGINFOD_URLS is set, but %s is not installed",
			 SONAME);
		return false;
	}
	client = library.begin();
	if (!client) {
		snprintf(ret_text, text_size, "debuginfod: cannot be started");
		return false;
	}
	library.set_data(client, state);
	library.set_progress(client, progress);
	fd = library.find(client, build_id, size, &path);
	library.end(client);
	if (fd < 0) {
		snprintf(ret_text, text_size, "debuginfod: %s", strerror(-fd));
		free(path);
		return false;
	}
	close(fd);
	snprintf(ret_text, text_size, "%s", path ? path : "");
	free(path);
	return ret_text[0] != '\0';
}
