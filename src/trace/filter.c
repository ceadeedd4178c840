/*
 * filter: parsed once into (column, comparison, number) triples; holding is a short loop.
 */
#include "trace/filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PARTS_MAX 32

enum comparison { AT_LEAST, AT_MOST, ABOVE, BELOW, EQUAL };

static const struct {
	const char *text;
	enum comparison comparison;
} operators[] = {{">=", AT_LEAST}, {"<=", AT_MOST}, {">", ABOVE}, {"<", BELOW}, {"=", EQUAL}};

struct part {
	int column;
	enum comparison comparison;
	double number;
};

struct filter {
	unsigned n;
	struct part parts[PARTS_MAX];
};

static const char *skip_blanks(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

static int find_column(const struct filter_columns *c, const char *s, size_t n)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (strlen(c->columns[i].title) == n && !strncasecmp(c->columns[i].title, s, n))
			return (int)i;
	return -1;
}

/* The first few titles, as an example of what there is. */
static void list_columns(const struct filter_columns *c, char *text, size_t size)
{
	size_t used = 0;
	for (uint32_t i = 0; i < c->n && i < 8 && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
					 c->columns[i].title);
	if (c->n > 8 && used < size)
		snprintf(text + used, size - used, ", \xe2\x80\xa6");
}

static int parse_part(const struct filter_columns *c, const char **io_text, struct part *ret_part,
		      struct err *err)
{
	const char *s = skip_blanks(*io_text), *name = s;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	size_t len = (size_t)(s - name);
	int column = find_column(c, name, len);
	char titles[160] = "";
	list_columns(c, titles, sizeof titles);
	if (column < 0)
		return err_set(err, EINVAL, "filter: no column '%.*s'; columns are %s",
			       (int)(len < 40 ? len : 40), name, titles);
	s = skip_blanks(s);
	for (unsigned i = 0; i < sizeof operators / sizeof *operators; i++) {
		size_t n = strlen(operators[i].text);
		if (strncmp(s, operators[i].text, n))
			continue;
		char *end;
		errno = 0;
		double number = strtod(s + n, &end);
		if (end == s + n || errno)
			return err_set(err, EINVAL, "filter: '%s' needs a number behind %s",
				       c->columns[column].title, operators[i].text);
		*ret_part = (struct part){column, operators[i].comparison, number};
		*io_text = skip_blanks(end);
		return 0;
	}
	return err_set(err, EINVAL, "filter: '%s' needs one of >= <= > < = behind it",
		       c->columns[column].title);
}

int filter_parse(const struct filter_columns *columns, const char *text, struct filter **ret_filter,
		 struct err *err)
{
	struct filter *f = calloc(1, sizeof *f);
	if (!f)
		return err_set(err, ENOMEM, "no memory for the filter");
	const char *s = text;
	int rc = 0;
	while (!rc && *skip_blanks(s)) {
		if (f->n == PARTS_MAX) {
			rc = err_set(err, EINVAL, "filter: more than %d parts", PARTS_MAX);
			break;
		}
		rc = parse_part(columns, &s, &f->parts[f->n], err);
		f->n += !rc;
		if (!rc && *s && *s++ != ',')
			rc = err_set(err, EINVAL,
				     "filter: parts are separated by commas, found '%.20s'", s - 1);
	}
	if (rc) {
		filter_free(f);
		return rc;
	}
	*ret_filter = f;
	return 0;
}

void filter_free(struct filter *f)
{
	free(f);
}

bool filter_holds(const struct filter *f, const double *cells)
{
	for (unsigned i = 0; f && i < f->n; i++) {
		double v = cells[f->parts[i].column], limit = f->parts[i].number;
		bool holds[] = {[AT_LEAST] = v >= limit,
				[AT_MOST] = v <= limit,
				[ABOVE] = v > limit,
				[BELOW] = v < limit,
				[EQUAL] = v == limit};
		if (!holds[f->parts[i].comparison])
			return false;
	}
	return true;
}
