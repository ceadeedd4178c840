/*
 * cut: what to do about stacks that are cut. Pure, any thread.
 */
#ifndef ALTPTTOP_CUT_H
#define ALTPTTOP_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"

/*
 * A sentence where more than a tenth of the stacks are cut because frame pointers ended, "" else.
 * @cut: stacks by reason, CUT_NONE those that are whole.
 */
void cut_advice(const uint64_t cut[CUT_REASONS], bool recorded, char *ret_text, size_t size);

#endif
