/*
 * number: figures with fixed decimals, so that nothing on screen moves sideways when values change.
 *
 * Every function writes a short text into @ret and returns it. What is unknown (negative where that
 * makes no sense, or NAN) is never written as 0 but as a dash. Thread-safe.
 */
#ifndef ALTPTTOP_NUMBER_H
#define ALTPTTOP_NUMBER_H

#include <stdint.h>

#define NUMBER_TEXT 32
#define NUMBER_DASH "\xe2\x80\x93" /* en dash */

const char *number_percent(char ret[NUMBER_TEXT], double share); /* 0.231 → "23.1" */
const char *number_grouped(char ret[NUMBER_TEXT], uint64_t v);   /* 38163 → "38,163" */
const char *number_short(char ret[NUMBER_TEXT], double v);       /* 3 digits: "38.2k", "912" */
const char *number_fixed(char ret[NUMBER_TEXT], double v, int digits); /* large ones get short */
const char *number_ns(char ret[NUMBER_TEXT], double ns);               /* "1.23 ms" */
const char *number_bytes(char ret[NUMBER_TEXT], double bytes);         /* "1.2 GiB" */
const char *number_elapsed(char ret[NUMBER_TEXT], uint64_t ns); /* "1:23", "2:01:09", "3d04h" */
const char *number_window(char ret[NUMBER_TEXT], uint64_t ns);  /* "10 s", "all" */

#endif
