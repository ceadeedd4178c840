/*
 * insnbytes: what an instruction does to the flow of control, from its bytes or its mnemonic as
 * `perf script` prints them. Pure functions on borrowed text.
 */
#ifndef ALTPTTOP_INSNBYTES_H
#define ALTPTTOP_INSNBYTES_H

#include <stdbool.h>
#include <stddef.h>

#include "trace.h"

/*
 * "48 89 e5", or "callq 0x401100": its class, INSN_NONE where it goes on with the next one or is
 * not understood. @ret_len: how many bytes it has, 0 unknown. @arm64: of four bytes each.
 */
enum insn_class insnbytes_class(const char *text, size_t n, bool arm64, unsigned *ret_len);

#endif
