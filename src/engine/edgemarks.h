/*
 * edgemarks: the edges of a trace analysis, drawn beside the source of one function: arcs from the
 * line where a run of instructions begins to the line where it ends, with how often it was taken.
 */
#ifndef ALTPTTOP_EDGEMARKS_H
#define ALTPTTOP_EDGEMARKS_H

#include "engine/build.h"

/*
 * The function in a file that @func stands for: itself, or, when a trace tells only its name, the
 * one that lies where the trace's edges of that name do. The names of edges come later (asked for).
 */
func_id edge_home(struct build *b, func_id func);

/* Fill edges, taken, note and hint of the rows made so far for @func, whose lines are of @file, and
 * the answer's edge_cells. */
void edge_marks(struct build *b, func_id func, str_id file);

#endif
