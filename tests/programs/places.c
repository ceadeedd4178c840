/*
 * places: symbols to be watched by name: exactly so many calls and accesses, after a while.
 *
 *	places COUNT [WAIT_MS]
 *
 * After WAIT_MS (default 1500): COUNT times place_step(), which writes `written` once and reads it
 *once, and writes pair[1] once. Half way plugin_a is loaded, whose plugin_work_a is called COUNT
 *times after half a second more. argp_err_exit_status is in the C library too.
 */
#include "burn.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int written;
long pair[2];
__thread int own;
static volatile int argp_err_exit_status = 1;

static NOINLINE void place_step(int i)
{
	__atomic_store_n(&written, i, __ATOMIC_RELAXED);
	__atomic_store_n(&pair[1], i, __ATOMIC_RELAXED);
	own += argp_err_exit_status;
}

static void *load(void)
{
	char path[4096] = "";

	if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
		return NULL;
	strcpy(strrchr(path, '/') + 1, "plugin_a");
	return dlopen(path, RTLD_NOW);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 100, wait_ms = argc > 2 ? atoi(argv[2]) : 1500;
	void (*work)(uint64_t *, uint64_t);
	uint64_t used = 0;
	void *plugin, *symbol;

	usleep((unsigned)wait_ms * 1000);
	for (int i = 0; i < count; i++) {
		place_step(i);
		usleep(1000);
	}
	plugin = load();
	if (!plugin)
		return 1;
	symbol = dlsym(plugin, "plugin_work_a");
	memcpy(&work, &symbol, sizeof work);
	usleep(500000);
	for (int i = 0; i < count; i++)
		work(&used, 0);
	usleep(100000);
	return 0;
}
