/*
 * config: $XDG_CONFIG_HOME/altpttop/config, written by hand, read once before the command line.
 *
 *	[options]          # long names of options that set how things are done
 *	freq = 499
 *	no-mouse = yes
 *	[keys]             # action = key, see the help screen
 *	quit = x
 *	[source]           # where sources are now, when they were moved
 *	from = /build/app
 *	to = /home/me/app
 */
#ifndef ALTPTTOP_CONFIG_H
#define ALTPTTOP_CONFIG_H

#include "options.h"

/* A file that is not there is fine. -EINVAL with a sentence that names the file and the line. */
int config_load(struct options *o, const char *path, struct err *err);
/* The same from the place where it belongs. */
int config_load_default(struct options *o, struct err *err);

#endif
