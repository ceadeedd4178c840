/*
 * leaver: one second as user 5, then two seconds as root again: in `theirs`, then in `ours`. Needs
 * root.
 */
#include "burn.h"

#include <unistd.h>

static NOINLINE void theirs(uint64_t *used)
{
	BURN(used, 1000 * MS);
}

static NOINLINE void ours(uint64_t *used)
{
	BURN(used, 2000 * MS);
}

int main(void)
{
	uint64_t used = 0, more = 0;

	if (setresuid(5, 5, 0))
		return 1;
	theirs(&used);
	if (setresuid(0, 0, 0))
		return 1;
	ours(&more);
	return 0;
}
