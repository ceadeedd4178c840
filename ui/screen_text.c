/*
 * screen_text: screens of plain lines: the output of a started command, and the doctor's report.
 */
#include "screen.h"

const struct screen screen_output = {
	.view = VIEW_OUTPUT,
	.name = "Output",
	.brief = "Out",
	.about =
		"What the started command writes, its last lines. The view follows its end while the "
		"cursor is there.",
	.flags = SCREEN_TEXT | SCREEN_FOLLOW,
	.foot = {ACTION_BOTTOM, ACTION_TOP},
};

const struct screen screen_doctor = {
	.view = VIEW_DOCTOR,
	.name = "Doctor",
	.brief = "Doc",
	.about = "What works on this machine, what does not, why, and what to type to change it.",
	.empty = "looking \xe2\x80\xa6",
	.flags = SCREEN_TEXT | SCREEN_WRAP,
};
