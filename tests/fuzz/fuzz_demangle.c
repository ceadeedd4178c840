/* fuzz_demangle: any text as a mangled name: bounded output, balanced folding, or left alone. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf out, folded;
	char *name = malloc(size + 1);
	memcpy(name, data, size);
	name[size] = 0;
	strbuf_init(&out);
	strbuf_init(&folded);
	enum mangling kind = demangle(name, &out);
	if (out.len > DEMANGLE_MAX || (kind == MANGLING_NONE && out.len))
		__builtin_trap();
	demangle_fold(out.buf, &folded);
	demangle_fold(name, &folded);
	strbuf_fini(&out);
	strbuf_fini(&folded);
	free(name);
	return 0;
}
