/*
 * rootname: one list, for program files whose symbols are looked through and for recordings whose
 * frames bear names.
 */
#include "base/rootname.h"

#include <string.h>

static const char *const names[] = {
	"_start",
	"_start_c",
	"_dl_start_user",
	"__libc_start_main",
	"__libc_start_main_impl",
	"__libc_start_call_main",
	"__libc_init",
	"clone",
	"__clone",
	"clone3",
	"__clone3",
	"start_thread",
	"__start_thread",
	"__pthread_start",
	"thread_start",
	"runtime.goexit",
	"runtime.goexit.abi0",
	"runtime.rt0_go",
	"runtime.rt0_go.abi0",
	"runtime.mstart",
	"runtime.mstart.abi0",
};

bool rootname_is(const char *name, size_t n)
{
	const char *version = memchr(name, '@', n);
	if (version)
		n = (size_t)(version - name);
	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (n == strlen(names[k]) && memcmp(name, names[k], n) == 0)
			return true;
	return false;
}
