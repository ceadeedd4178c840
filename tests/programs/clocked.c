/*
 * clocked: the shares program, but it reads its clock thousands of times a second: a sampler that
 * has to stop threads finds it in that system call more often than its time is worth.
 */
#define BURN_NEXT(n, took_ns, left_ns) 20000
#include "shares.c"
