/*
 * replay: runs a fuzz target on files instead of libFuzzer, with any compiler:
 *
 *	make FUZZ_LINK=tests/fuzz/replay.c build/tests/fuzz/fuzz_cfi
 *	build/tests/fuzz/fuzz_cfi FILE...
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LARGEST (64l << 20)

static int replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	long size = -1;
	if (f && fseek(f, 0, SEEK_END) == 0)
		size = ftell(f);
	uint8_t *data = size >= 0 && size <= LARGEST ? malloc((size_t)size + 1) : NULL;
	int rc = -1;
	if (data && fseek(f, 0, SEEK_SET) == 0 && fread(data, 1, (size_t)size, f) == (size_t)size)
		rc = LLVMFuzzerTestOneInput(data, (size_t)size);
	if (rc)
		fprintf(stderr, "%s: cannot be read\n", path);
	free(data);
	if (f)
		fclose(f);
	return rc != 0;
}

int main(int argc, char **argv)
{
	int failed = 0;
	for (int k = 1; k < argc; k++)
		failed += replay(argv[k]);
	printf("%d inputs, %d not read\n", argc - 1, failed);
	return failed != 0;
}
