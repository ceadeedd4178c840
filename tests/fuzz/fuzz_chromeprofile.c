/* fuzz_chromeprofile: a profile in a Chrome trace as our exporter writes it, any bytes. */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_importer(&importer_chrome_profile, data, size);
}
