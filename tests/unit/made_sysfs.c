/*
 * made_sysfs: see made_sysfs.h. One thread.
 */
#include "made_sysfs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "event/sysfs.h"

char made_root[64];

int made_sysfs(void)
{
	snprintf(made_root, sizeof made_root, "/tmp/altpttop-sysfs.XXXXXX");
	if (!mkdtemp(made_root))
		return -1;
	pmu_root_set(made_root);
	return 0;
}

void made_put(const char *file, const char *text)
{
	char path[512], *slash;
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", made_root, file);
	for (slash = strchr(path + strlen(made_root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

int made_drop(void **state)
{
	char command[100];

	(void)state;
	pmu_root_set(NULL);
	tracepoint_root_set(NULL);
	snprintf(command, sizeof command, "rm -rf %s", made_root);
	return system(command);
}
