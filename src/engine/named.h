/*
 * named: what the watched process is called since it executed another program.
 */
#ifndef ALTPTTOP_NAMED_H
#define ALTPTTOP_NAMED_H

#include "engine/core.h"

/*
 * @text, a title or target of the setup, with the name its process has by now: behind the one it
 * was started with ("4242 (bash, then shares)") with @both, else instead of it. Any thread.
 */
void named_text(const struct engine *e, const char *text, bool both, char *ret, size_t size);

#endif
