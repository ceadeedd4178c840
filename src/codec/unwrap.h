/*
 * unwrap: layers that turn wrapped bytes into plain ones, pulling from the layer below. Used by
 * stream.c.
 */
#ifndef ALTPTTOP_UNWRAP_H
#define ALTPTTOP_UNWRAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define UNWRAP_DEPTH 3 /* two wrappers and a text conversion */

struct layer {
	/* Up to @n plain bytes; 0: the end; negative: damage, told in `damage`. */
	ssize_t (*read)(struct layer *l, uint8_t *buf, size_t n);
	void *state;
	char damage[160];
};

struct unwrap_kind {
	const char *name;
	uint8_t magic[6];
	uint8_t magic_len;
	/* Decode from in[] (its first *io_in bytes) to out[]; update both lengths to what was
	 * consumed and made.
	 * @last: no more input will come. 0 go on, 1 the end, -errno damage. */
	int (*decode)(void *state, const uint8_t *in, size_t *io_in, uint8_t *out, size_t *io_out,
		      int last);
	void *(*start)(void);
	void (*finish)(void *state);
};

extern const struct unwrap_kind unwrap_utf16_le, unwrap_utf16_be;

const struct unwrap_kind *unwrap_recognise(const uint8_t *head, size_t n); /* NULL: plain */

/* @held: bytes already read from @below. The layer borrows @below. -ENOMEM. */
int unwrap_new(const struct unwrap_kind *kind, struct layer *below, const uint8_t *held,
	       size_t nheld, struct layer **ret_layer);
void unwrap_free(struct layer *l);

#endif
