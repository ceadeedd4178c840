/*
 * shorten: finds the parts of a qualified name by counting brackets, without understanding it; what
 * it does not recognise it leaves alone. No state, any thread.
 */
#include "shorten.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

#define LOOK_AT  4096
#define ELLIPSIS "\xe2\x80\xa6"

struct parts {
	size_t start; /* of the qualified name, behind a return type */
	size_t end;   /* of the name, before its parameters */
	size_t last;  /* of the last component */
	bool params;
};

static bool is_operator(const char *name, size_t at)
{
	static const char word[] = "operator";
	const size_t n = sizeof word - 1;

	return at >= n && !memcmp(name + at - n, word, n) &&
	       (at == n || !(name[at - n - 1] == '_' || (name[at - n - 1] | 32) >= 'a'));
}

/* An operator's own characters: "()", "<<", ">", "->": not brackets of the name. */
static size_t operator_end(const char *name, size_t at, size_t len)
{
	if (at + 1 < len && name[at] == '(' && name[at + 1] == ')')
		return at + 2;
	while (at < len && strchr("<>=-!+*/%&|^~[]", name[at]))
		at++;
	return at;
}

/* Rust's "f::<T>": what begins at @at is brackets and nothing more, and belongs to what was before.
 */
static bool args_alone(const char *name, size_t at, size_t len)
{
	int depth = 0;

	if (at >= len || name[at] != '<')
		return false;
	for (; at < len; at++) {
		depth += name[at] == '<' ? 1 : name[at] == '>' ? -1 : 0;
		if (!depth)
			return at + 1 == len || name[at + 1] == '(';
	}
	return false;
}

static bool find_parts(const char *name, size_t len, struct parts *ret)
{
	struct parts p = {0, len, 0, false};
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		size_t symbol = is_operator(name, i) ? operator_end(name, i, len) : i;

		if (symbol > i) {
			i = symbol - 1;
			continue;
		}
		switch (name[i]) {
		case '(':
			if (!depth && !strncmp(name + i, "(anonymous", 10)) {
				depth++;
				break;
			}
			if (!depth) { /* the parameters: the name ends here */
				p.end = i;
				p.params = true;
				*ret = p;
				return p.last > p.start;
			}
			depth++;
			break;
		case '<':
		case '{':
		case '[': depth++; break;
		case ')':
		case '>':
		case '}':
		case ']': depth -= depth > 0; break;
		case ' ':
			if (!depth && !is_operator(name, i)) {
				p.start = p.last = i + 1; /* what was before is a return type */
			}
			break;
		case ':':
			if (!depth && i + 1 < len && name[i + 1] == ':') {
				if (!args_alone(name, i + 2, len))
					p.last = i + 2;
				i++;
			}
		}
	}
	*ret = p;
	return !depth && p.last > p.start;
}

/* The next start further right at which a component begins; @last when there is none. */
static size_t next_component(const char *name, size_t at, size_t last)
{
	int depth = 0;

	for (; at < last; at++) {
		if (strchr("<({[", name[at]))
			depth++;
		else if (strchr(">)}]", name[at]))
			depth -= depth > 0;
		else if (!depth && name[at] == ':' && name[at + 1] == ':')
			return at + 2;
	}
	return last;
}

const char *shorten(const char *name, int width, char *buf, size_t size)
{
	size_t len = strnlen(name, LOOK_AT + 1), from;
	struct parts p;

	if (width < 8 || utf8_cells(name, width + 1) <= width || len > LOOK_AT ||
	    strstr(name, " \xe2\x96") /* a chain of several */ || !find_parts(name, len, &p))
		return name;
	for (from = p.start;; from = next_component(name, from, p.last)) {
		int n = snprintf(buf, size, "%s%.*s%s", from > p.start ? ELLIPSIS : "",
				 (int)(p.end - from), name + from,
				 p.params ? "(" ELLIPSIS ")" : "");

		if (n < 0 || (size_t)n >= size) {
			if (from >= p.last)
				return name;
			continue;
		}
		if (from >= p.last || utf8_cells(buf, width + 1) <= width)
			return buf;
	}
}
