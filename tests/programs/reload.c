/*
 * reload: dlopen, 20 ms of work inside, dlclose, in turn for two plugins, which therefore often lie
 * at the same address one after the other. 60 % in plugin_work_a, 40 % in plugin_work_b.
 */
#include "burn.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

struct plugin {
	const char *file, *symbol;
	uint64_t share, used, quota;
};

static NOINLINE int use_plugin(const char *dir, struct plugin *p)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", dir, p->file);
	void *handle = dlopen(path, RTLD_NOW);
	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	void (*work)(uint64_t *, uint64_t);
	void *symbol = dlsym(handle, p->symbol);
	memcpy(&work, &symbol, sizeof work);
	p->quota += p->share * MS / 5;
	work(&p->used, p->quota);
	return dlclose(handle);
}

int main(int argc, char **argv)
{
	struct plugin plugins[2] = {{"plugin_a", "plugin_work_a", 60, 0, 0},
				    {"plugin_b", "plugin_work_b", 40, 0, 0}};
	char dir[4096] = "";
	uint64_t end = DEADLINE(argc, argv), loads = 0;
	if (readlink("/proc/self/exe", dir, sizeof dir - 1) < 0)
		return 1;
	*strrchr(dir, '/') = 0;
	for (; WALL_NS() < end; loads++)
		if (use_plugin(dir, &plugins[loads % 2]))
			return 1;
	TELL_CPU("plugin_work_a", plugins[0].used);
	TELL_CPU("plugin_work_b", plugins[1].used);
	TELL_COUNT("loads", loads);
	TELL_CPU("total", CLOCK_NS(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
