/* fuzz_jsprofile: profiles of JavaScript engines, any bytes. */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_importer(&importer_js_profile, data, size);
}
