/*
 * script: runs the user interface on the fake engine by a script of keys and compares what it drew
 * with a text file. One thread.
 */
#ifndef ALTPTTOP_SCRIPT_H
#define ALTPTTOP_SCRIPT_H

#include "fake.h"
#include "ui/screen.h"

struct script {
	struct fake fake;
	struct ui_config config;
	struct ui ui;
};

/* Start at @w × @h; the clock is frozen. Fill s->fake's and s->config's switches before. */
void script_init(struct script *s);
void script_start(struct script *s, int w, int h);
void script_end(struct script *s); /* asserts that every answer was given back */

/*
 * Press keys, named as in the config file and separated by blanks; a token that starts with " types
 * its letters, with _ for a blank. After each key answers arrive until nothing is asked any more.
 */
void script_keys(struct script *s, const char *keys);
void script_refresh(struct script *s); /* the engine's next answer arrives */

/* The screen as text, to be freed. */
char *script_text(struct script *s);
/*
 * Compare the screen with tests/screen/golden/@name.txt; with UPDATE_GOLDEN set in the environment
 * the file is written instead. @looks: compare what the text means (colours) too.
 */
void script_golden(struct script *s, const char *name, bool looks);

#endif
