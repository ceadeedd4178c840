/* vdso: the image of the code that the kernel maps into every process. Any thread. */
#ifndef ALTPTTOP_VDSO_H
#define ALTPTTOP_VDSO_H

#include "module/open.h"

/* As module_image, for a MODULE_VDSO. */
int vdso_image(const struct module *m, const struct module_access *access, struct image **ret_image,
	       struct err *err);

#endif
