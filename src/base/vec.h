/*
 * vec: typed growing arrays. `struct { VEC(struct foo) } v = {0};` then vec_push(&v, x), v.data[i],
 * v.len. vec_push yields 0 or -ENOMEM (the vector is unchanged then). vec_fini frees.
 */
#ifndef ALTPTTOP_VEC_H
#define ALTPTTOP_VEC_H

#include <errno.h>
#include <stdlib.h>

#define VEC(type) \
	type *data; \
	size_t len, cap;

int vec_grow_(void **data, size_t *cap, size_t need, size_t item);

#define vec_reserve(v, n) vec_grow_((void **)&(v)->data, &(v)->cap, (n), sizeof *(v)->data)
#define vec_push(v, x)    (vec_reserve((v), (v)->len + 1) ? -ENOMEM : ((v)->data[(v)->len++] = (x), 0))
#define vec_fini(v)       (free((v)->data), (v)->data = NULL, (v)->len = (v)->cap = 0)

#endif
