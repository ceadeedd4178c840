/* fuzz_pprof: pprof profiles, packed or not, any bytes. seeds: pprof */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_importer(&importer_pprof, data, size);
}
