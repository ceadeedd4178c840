/*
 * xdg: where the config file is looked for and where the program may remember things.
 *
 * A relative path in the variables is ignored, as the specification asks. Any thread.
 */
#include "xdg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int base(const char *variable, const char *below_home, char *ret_path, size_t size)
{
	const char *dir = getenv(variable);
	int n;

	if (dir && *dir == '/') {
		n = snprintf(ret_path, size, "%s/altpttop", dir);
	} else {
		dir = getenv("HOME");
		if (!dir || *dir != '/')
			return -ENOENT;
		n = snprintf(ret_path, size, "%s/%s/altpttop", dir, below_home);
	}
	return n < (int)size ? 0 : -ENAMETOOLONG;
}

static int append(char *path, size_t size, const char *name)
{
	size_t len = strlen(path);

	if (!*name)
		return 0;
	return snprintf(path + len, size - len, "/%s", name) < (int)(size - len) ? 0
										 : -ENAMETOOLONG;
}

int xdg_config(const char *name, char *ret_path, size_t size)
{
	int rc = base("XDG_CONFIG_HOME", ".config", ret_path, size);

	return rc ? rc : append(ret_path, size, name);
}

int xdg_state(const char *name, char *ret_path, size_t size)
{
	int rc = base("XDG_STATE_HOME", ".local/state", ret_path, size);

	return rc ? rc : append(ret_path, size, name);
}
