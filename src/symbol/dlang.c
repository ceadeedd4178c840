/*
 * dlang: a budget for libiberty's D demangler, which has no callback form.
 *
 * D's back references can double a name at each step. The demangler takes all its memory from
 * xmalloc and xrealloc, which a program that links libiberty.a may supply: these here count what a
 * call of dlang_append asks for and leave it by longjmp once that is too much. What it held then
 * is lost (it frees by itself, so nobody else can know what is still held); after a few such names
 * a thread tries no more names with back references.
 */
#include "dlang.h"

#include <libiberty/demangle.h>
#include <libiberty/libiberty.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define CALLS     20000 /* requests for memory */
#define D_MAX     4096  /* longest mangled D name that is tried */
#define ABANDONED 16    /* names a thread may give up on */

struct budget {
	size_t left; /* bytes, what is freed again not counted back */
	unsigned calls;
	jmp_buf too_much;
};
static _Thread_local struct budget *budget;
static _Thread_local unsigned abandoned;

/* Without a budget (nobody else here uses these) they are what libiberty says they are. */
void *xrealloc(void *old, size_t size)
{
	void *p;

	if (budget && (size > budget->left || ++budget->calls > CALLS))
		longjmp(budget->too_much, 1);
	p = realloc(old, size ? size : 1);
	if (!p && budget)
		longjmp(budget->too_much, 1);
	if (!p)
		abort();
	if (budget)
		budget->left -= size;
	return p;
}

void *xmalloc(size_t size)
{
	return xrealloc(NULL, size);
}

bool dlang_append(const char *mangled, size_t max, struct strbuf *out)
{
	struct budget b = {.left = 8 * max};
	size_t before = out->len;
	char *name;

	if (strnlen(mangled, D_MAX + 1) > D_MAX || (abandoned >= ABANDONED && strchr(mangled, 'Q')))
		return false;
	if (setjmp(b.too_much)) {
		budget = NULL;
		abandoned++;
		return false;
	}
	budget = &b;
	name = dlang_demangle(mangled, 0);
	budget = NULL;
	if (name && strlen(name) <= max)
		strbuf_puts(out, name);
	free(name);
	return out->len > before;
}
