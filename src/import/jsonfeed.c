/*
 * jsonfeed: yajl set up once for all profiles in JSON, and fed. The thread of the caller.
 */
#include "import/jsonfeed.h"

#include <errno.h>
#include <yajl/yajl_parse.h>

#define FEED_BYTES (64u << 10)

struct feeding {
	const struct json_takes *takes;
	void *ctx;
	int rc; /* of the taker that ended it */
};

static int on_map(void *ctx)
{
	struct feeding *f = ctx;
	return !(f->rc = f->takes->open(f->ctx, true));
}

static int on_array(void *ctx)
{
	struct feeding *f = ctx;
	return !(f->rc = f->takes->open(f->ctx, false));
}

static int on_close(void *ctx)
{
	struct feeding *f = ctx;
	return !(f->rc = f->takes->close(f->ctx));
}

static int on_key(void *ctx, const unsigned char *s, size_t n)
{
	struct feeding *f = ctx;
	return !(f->rc = f->takes->key(f->ctx, (const char *)s, n));
}

static int on_number(void *ctx, const char *s, size_t n)
{
	struct feeding *f = ctx;
	return !(f->rc = f->takes->value(f->ctx, s, n));
}

static int on_string(void *ctx, const unsigned char *s, size_t n)
{
	return on_number(ctx, (const char *)s, n);
}

static const yajl_callbacks callbacks = {
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_close,
	.yajl_start_array = on_array,
	.yajl_end_array = on_close,
};

static int feed(struct feeding *f, struct import *im, struct stream *in, yajl_handle yajl,
		struct err *err)
{
	const uint8_t *data;
	size_t n;
	while ((n = stream_peek(in, 1, &data))) {
		n = n < FEED_BYTES ? n : FEED_BYTES;
		yajl_status status = yajl_parse(yajl, data, n);
		if (f->rc == -ENOMEM)
			return err_set(err, ENOMEM, "no memory for the profile");
		if (f->rc)
			return f->rc;
		if (status != yajl_status_ok)
			return err_set(err, EBADMSG, "the JSON is damaged near byte %llu",
				       (unsigned long long)stream_offset(in) +
					       yajl_get_bytes_consumed(yajl));
		stream_skip(in, n);
		if (!import_go_on_at(im, stream_done(in)))
			return -ECANCELED;
	}
	if (yajl_complete_parse(yajl) != yajl_status_ok)
		return err_set(err, EBADMSG, "the profile is cut off at byte %llu",
			       (unsigned long long)stream_offset(in));
	return 0;
}

int json_feed(struct import *im, struct stream *in, const struct json_takes *takes, void *ctx,
	      struct err *err)
{
	struct feeding f = {.takes = takes, .ctx = ctx};
	yajl_handle yajl = yajl_alloc(&callbacks, NULL, &f);
	if (!yajl)
		return err_set(err, ENOMEM, "no memory to read the profile");
	yajl_config(yajl, yajl_dont_validate_strings, 1);
	yajl_config(yajl, yajl_allow_comments, 1);
	yajl_config(yajl, yajl_allow_multiple_values, 1);
	int rc = feed(&f, im, in, yajl, err);
	yajl_free(yajl);
	return rc;
}
