/* fuzz_chrome: Chrome Trace JSON, any bytes. seeds: chrometrace */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_importer(&importer_chrome, data, size);
}
