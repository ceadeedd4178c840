/* fde: where functions begin, by .eh_frame_hdr. Touches the mapping: inside guards only. */
#ifndef ALTPTTOP_FDE_H
#define ALTPTTOP_FDE_H

#include "module/image.h"

/* The range of the frame description entry that covers @addr, and whether that is where signal
 * handlers return to. False: none, or no usable table. */
bool fde_find(const struct image *image, uint64_t addr, uint64_t *ret_start, uint64_t *ret_end,
	      bool *ret_signal);

#endif
