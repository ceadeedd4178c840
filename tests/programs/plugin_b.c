/* plugin_b: a shared object that reload.c loads and unloads while it is watched. */
/* flags: -O1 -g -shared -fPIC */
#include "burn.h"

void plugin_work_b(uint64_t *used, uint64_t quota);

NOINLINE void plugin_work_b(uint64_t *used, uint64_t quota)
{
	BURN(used, quota);
}
