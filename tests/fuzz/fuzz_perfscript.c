/* fuzz_perfscript: the text of perf script, any bytes. seeds: perfscript */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_importer(&importer_perf_script, data, size);
}
