/*
 * vec: the growing behind vec_reserve. The array doubles, so that pushing costs constant time on
 * average; sizes are checked for overflow because counts can come from files.
 */
#include "base/vec.h"

int vec_grow_(void **data, size_t *cap, size_t need, size_t item)
{
	if (need <= *cap)
		return 0;
	size_t want = *cap < 8 ? 8 : *cap * 2;
	if (want < need)
		want = need;
	size_t bytes;
	if (__builtin_mul_overflow(want, item, &bytes))
		return -ENOMEM;
	void *p = realloc(*data, bytes);
	if (!p)
		return -ENOMEM;
	*data = p;
	*cap = want;
	return 0;
}
