/*
 * xdg: the directories of this program, by the XDG base directory specification.
 */
#ifndef ALTPTTOP_XDG_H
#define ALTPTTOP_XDG_H

#include <stddef.h>

/* $XDG_CONFIG_HOME/altpttop/@name, else ~/.config/…; -ENOENT: neither is set. @name "" is the
 * directory. */
int xdg_config(const char *name, char *ret_path, size_t size);
/* $XDG_STATE_HOME/altpttop/@name, else ~/.local/state/…; whoever writes there makes the
 * directory. */
int xdg_state(const char *name, char *ret_path, size_t size);

#endif
