/*
 * barejson: parses a JSON file with yajl and does nothing with it: what reading a Chrome trace
 * costs at least. barejson FILE
 */
#include <stdio.h>
#include <yajl/yajl_parse.h>

static int on_text(void *ctx, const unsigned char *s, size_t n)
{
	(void)ctx, (void)s, (void)n;
	return 1;
}

static int on_number(void *ctx, const char *s, size_t n)
{
	(void)ctx, (void)s, (void)n;
	return 1;
}

static int on_bracket(void *ctx)
{
	(void)ctx;
	return 1;
}

int main(int argc, char **argv)
{
	static const yajl_callbacks callbacks = {.yajl_number = on_number,
						 .yajl_string = on_text,
						 .yajl_map_key = on_text,
						 .yajl_start_map = on_bracket,
						 .yajl_end_map = on_bracket,
						 .yajl_start_array = on_bracket,
						 .yajl_end_array = on_bracket};
	static unsigned char piece[64 << 10];
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
	yajl_handle yajl = yajl_alloc(&callbacks, NULL, NULL);
	size_t n;
	if (!f || !yajl)
		return 2;
	yajl_config(yajl, yajl_dont_validate_strings, 1);
	while ((n = fread(piece, 1, sizeof piece, f)))
		if (yajl_parse(yajl, piece, n) != yajl_status_ok)
			return 1;
	return yajl_complete_parse(yajl) != yajl_status_ok;
}
