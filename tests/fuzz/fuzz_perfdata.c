/* fuzz_perfdata: perf.data in file and pipe mode, any bytes. seeds: perfdata */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_importer(&importer_perf_data, data, size);
}
