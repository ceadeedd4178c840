/*
 * demangle: a bounded front to libiberty's demanglers, and the folding of long names for screens.
 *
 * libiberty can expand 255 bytes to a gigabyte. The C++ and Rust demanglers hand out their text
 * piece by piece, so the collecting callback leaves by longjmp once the cap is reached: memory and
 * time end there. The D demangler builds its text itself; dlang.c decides which names it may see.
 */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#include "dlang.h"

/* Pieces of text the printers may emit: empty ones count too, so that time is bounded. */
#define PIECES_MAX 200000

#define ARGUMENTS_SHORT 16 /* bytes between < and > that stay in folded names */

struct collector {
	struct strbuf *out;
	size_t start; /* length of out before this name */
	unsigned pieces;
	jmp_buf too_much;
};

static void collect(const char *text, size_t len, void *opaque)
{
	struct collector *c = opaque;

	if (c->out->len - c->start + len > DEMANGLE_MAX || ++c->pieces > PIECES_MAX)
		longjmp(c->too_much, 1);
	strbuf_add(c->out, text, len);
}

static void cut_back(struct strbuf *out, size_t len)
{
	out->len = len;
	if (out->buf)
		out->buf[len] = '\0';
}

typedef int demangler_fn(const char *mangled, int options, demangle_callbackref callback,
			 void *opaque);

static bool run(demangler_fn *fn, int options, const char *mangled, struct strbuf *out)
{
	struct collector c = {.out = out, .start = out->len};

	/*
	 * On the way out by longjmp nothing is left behind for C++ (all on the stack); Rust's
	 * punycode buffer of a few bytes may be.
	 */
	if (!setjmp(c.too_much) && fn(mangled, options, collect, &c) && !out->failed &&
	    out->len > c.start)
		return true;
	cut_back(out, c.start);
	return false;
}

/* `_ZN…17h0123456789abcdefE`: Rust before 1.59 used the C++ scheme with a hash as last part. */
static bool legacy_rust(const char *s)
{
	const char *h = strstr(s, "17h");

	for (; h; h = strstr(h + 1, "17h"))
		if (strspn(h + 3, "0123456789abcdef") >= 16 && h[19] == 'E')
			return true;
	return false;
}

enum mangling demangle(const char *mangled, struct strbuf *out)
{
	const int cxx = DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT;
	const char *s = mangled;

	if (strnlen(mangled, DEMANGLE_IN_MAX + 1) > DEMANGLE_IN_MAX)
		return MANGLING_NONE;
	if (s[0] == '_' && s[1] == 'R' && run(rust_demangle_callback, 0, s, out))
		return MANGLING_RUST;
	if (!strncmp(s, "_ZN", 3) && legacy_rust(s) && run(rust_demangle_callback, 0, s, out))
		return MANGLING_RUST;
	if (!strncmp(s, "_Z", 2) || !strncmp(s, "___Z", 4) || !strncmp(s, "_GLOBAL_", 8))
		return run(cplus_demangle_v3_callback, cxx, s, out) ? MANGLING_CXX : MANGLING_NONE;
	if (s[0] == '_' && s[1] == 'D' && dlang_append(s, DEMANGLE_MAX, out))
		return MANGLING_D;
	return MANGLING_NONE;
}

/* ---- folding ---- */

static bool word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Length of the operator's symbol that follows the word `operator` at @s, 0 for a conversion. */
static size_t operator_len(const char *s)
{
	static const char *const symbols[] = {"<=>", "<<=", ">>=", "->*", "()", "[]", "<<",
					      ">>",  "<=",  ">=",  "->",  "<",  ">",  NULL};

	for (int i = 0; symbols[i]; i++)
		if (!strncmp(s, symbols[i], strlen(symbols[i])))
			return strlen(symbols[i]);
	return 0;
}

static bool at_operator(const char *name, size_t i)
{
	return !strncmp(name + i, "operator", 8) && (i == 0 || !word_char(name[i - 1])) &&
	       !word_char(name[i + 8]);
}

/* Index just behind the bracket that closes the '<' at name[i], or 0 when it does not balance. */
static size_t closing(const char *name, size_t i)
{
	char stack[256];
	unsigned depth = 0;

	for (; name[i]; i++) {
		char c = name[i];

		if (c == 'o' && at_operator(name, i)) {
			i += 7 + operator_len(name + i + 8);
		} else if (c == '<' || c == '(' || c == '[' || c == '{') {
			if (depth == sizeof stack)
				return 0;
			stack[depth++] = c;
		} else if (c == '>' && (name[i - 1] == '-' || stack[depth - 1] != '<')) {
			continue; /* `->`, or a comparison inside parentheses */
		} else if (c == '>' || c == ')' || c == ']' || c == '}') {
			while (depth && c != '>' && stack[depth - 1] == '<')
				depth--; /* a less-than that no bracket closes */
			if (!depth)
				return 0;
			if (--depth == 0)
				return i + 1;
		}
	}
	return 0;
}

/* Does '<' at name[i] open template arguments (and not `<T as Trait>`, `<lambda(int)>`)? */
static bool opens_arguments(const char *name, size_t i)
{
	if (i == 0)
		return false;
	if (name[i - 1] == ':')
		return strncmp(name + i, "<impl ", 6) != 0;
	return word_char(name[i - 1]) || name[i - 1] == '}' || name[i - 1] == ']' ||
	       name[i - 1] == ')';
}

static size_t inline_namespace(const char *name, size_t i)
{
	static const char *const inlines[] = {
		"__1::", "__cxx11::", "__ndk1::", "_V2::", "__8::", NULL};

	if (i < 5 || strncmp(name + i - 5, "std::", 5) != 0 || (i > 5 && word_char(name[i - 6])))
		return 0;
	for (int k = 0; inlines[k]; k++)
		if (!strncmp(name + i, inlines[k], strlen(inlines[k])))
			return strlen(inlines[k]);
	return 0;
}

/* Arguments that tell functions apart and take little room: `<5>`, `<char, int>`. */
static bool short_arguments(const char *s, size_t n)
{
	if (n - 2 > ARGUMENTS_SHORT)
		return false;
	for (size_t i = 1; i + 1 < n; i++)
		if (strchr("<>(){}", s[i]))
			return false;
	return true;
}

void demangle_fold(const char *name, struct strbuf *out)
{
	bool behind_operator = false;

	for (size_t i = 0; name[i];) {
		size_t n;

		if (name[i] == 'o' && at_operator(name, i)) {
			n = 8 + operator_len(name + i + 8);
			strbuf_add(out, name + i, n);
			i += n;
			if (name[i] == ' ' && name[i + 1] == '<') /* operator< <int> */
				i++;
			behind_operator = true;
			continue;
		}
		if (name[i] == '<' && (behind_operator || opens_arguments(name, i)) &&
		    (n = closing(name, i))) {
			bool whole = short_arguments(name + i, n - i);

			if (whole && name[i - 1] == ' ') /* operator< <int>, not operator<<int> */
				strbuf_putc(out, ' ');
			if (whole)
				strbuf_add(out, name + i, n - i);
			else
				strbuf_puts(out, "<…>");
			i = n;
		} else if (name[i] == '_' && (n = inline_namespace(name, i))) {
			i += n;
		} else {
			strbuf_putc(out, name[i++]);
		}
		behind_operator = false;
	}
}
