/* fuzz_folded: folded stacks, any bytes. seeds: folded */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_importer(&importer_folded, data, size);
}
