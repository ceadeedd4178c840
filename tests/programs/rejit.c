/*
 * rejit SECONDS: generated code at one address, called `early` for the first half of so much CPU
 * time and `late` for the second, as the perf map says.
 *
 *	rejit SECONDS left: its map was left by another, a day ago, and calls all of it `wrong`
 *	rejit SECONDS last: its map stays empty until it ends, and then calls all of it `early`
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burn.h"

#if defined(__x86_64__)
static const unsigned char spin[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3}; /* dec, jnz, ret */
#else
static const uint32_t spin[] = {0xf1000400, 0x54ffffe1, 0xd65f03c0}; /* subs, b.ne, ret */
#endif

int main(int argc, char **argv)
{
	uint64_t each = (uint64_t)(argc > 1 ? atoi(argv[1]) : 2) * 500 * MS;
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*run)(uint64_t);
	char path[64];
	FILE *map;

	if (code == MAP_FAILED)
		return 1;
	memcpy(code, spin, sizeof spin);
	__builtin___clear_cache(code, (char *)code + sizeof spin);
	memcpy(&run, &code, sizeof run);
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		return 1;
	if (argc > 2 && !strcmp(argv[2], "last")) {
		fprintf(map, "%lx %lx early\n", (unsigned long)code, (unsigned long)sizeof spin);
		while (CPU_NS() < 2 * each)
			run(1000000);
		return fclose(map); /* and not before */
	}
	setvbuf(map, NULL, _IONBF, 0);
	if (argc > 2 && !strcmp(argv[2], "left")) {
		const struct timespec yesterday = {.tv_sec = time(NULL) - 86400};
		const struct timespec times[2] = {yesterday, yesterday};

		fprintf(map, "%lx 1000 wrong\n", (unsigned long)code);
		futimens(fileno(map), times);
		while (CPU_NS() < 2 * each)
			run(1000000);
		fclose(map);
		unlink(path);
		return 0;
	}
	fprintf(map, "%lx %lx early\n", (unsigned long)code, (unsigned long)sizeof spin);
	while (CPU_NS() < each)
		run(1000000);
	fprintf(map, "%lx %lx late\n", (unsigned long)code, (unsigned long)sizeof spin);
	while (CPU_NS() < 2 * each)
		run(1000000);
	fclose(map);
	unlink(path);
	return 0;
}
