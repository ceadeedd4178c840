/*
 * desk: what screen tests have in common: one script at 80x24, and questions about what it shows.
 */
#ifndef ALTPTTOP_DESK_H
#define ALTPTTOP_DESK_H

#include "script.h"

extern struct script s;

/* cmocka's setup and teardown of each test. */
int desk_start(void **state);
int desk_end(void **state);
#define T(f) cmocka_unit_test_setup_teardown(f, desk_start, desk_end)

const char *cursor_name(void); /* of the row under the cursor, "" none */
enum view_kind view(void);
const struct command *commanded(void); /* the newest; COMMAND_KILL_CHILD: none */
bool screen_has(const char *text);
bool screen_says(const char *text); /* the words of it, one after the other, over several lines */

#endif
