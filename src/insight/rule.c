/*
 * rule: parses and judges what --trigger waits for.
 *
 * The left side is a function's share, an address, a metric's whole name (which may hold / and %),
 * or arithmetic over names, which formula.h parses. Pure.
 */
#include "insight/rule.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

#include "event/spec.h"

struct reader {
	const char *text, *at;
	const struct rule_words *words;
	struct rule *rule;
	struct err *err;
	char unknown[32]; /* the name that nobody knows */
};

static int wrong(struct reader *r, const char *what)
{
	return err_set(r->err, EINVAL, "--trigger %.100s: %s", r->text, what);
}

static void blanks(struct reader *r)
{
	while (isspace((unsigned char)*r->at))
		r->at++;
}

static const struct rule_words *words_of(const struct reader *r)
{
	static const struct rule_words none = {.where = ""};

	return r->words ? r->words : &none;
}

static const char *known_word(const struct reader *r, const char *name, size_t len)
{
	static const char *const always[] = {"cpu", "offcpu"};
	const struct rule_words *w = words_of(r);

	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		if (strlen(always[i]) == len && !strncasecmp(always[i], name, len))
			return always[i];
	for (uint32_t i = 0; i < w->n; i++)
		if (strlen(w->names[i]) == len && !strncasecmp(w->names[i], name, len))
			return w->names[i];
	return NULL;
}

static int find_name(void *ctx, const char *name, int len)
{
	struct reader *r = ctx;
	struct rule *rule = r->rule;
	const char *word = known_word(r, name, (size_t)len);

	if (!word) {
		snprintf(r->unknown, sizeof r->unknown, "%.*s", len, name);
		return -1;
	}
	for (uint32_t i = 0; i < rule->nnames; i++)
		if (strcmp(rule->names[i], word) == 0)
			return (int)i;
	if (rule->nnames == RULE_NAMES)
		return -1;
	snprintf(rule->names[rule->nnames], sizeof rule->names[0], "%s", word);
	return (int)rule->nnames++;
}

static int unknown_name(struct reader *r)
{
	const struct rule_words *w = words_of(r);
	char list[200] = "";
	size_t len = 0;

	for (uint32_t i = 0; i < w->n && len + 40 < sizeof list; i++)
		len += (size_t)snprintf(list + len, sizeof list - len, ", %s", w->names[i]);
	return err_set(r->err, EINVAL,
		       "--trigger %.100s: no quantity is called %s: there are cpu, offcpu, "
		       "self(FUNCTION), total(FUNCTION), mem:ADDRESS, mem:SYMBOL%s%s%s%s",
		       r->text, r->unknown, list, *list && *w->where ? " (of " : "",
		       *list ? w->where : "; -E SET has more", *list && *w->where ? ")" : "");
}

/* A metric by its whole name, else arithmetic. */
static int read_formula(struct reader *r, const char *left, size_t len)
{
	struct err why = {0};
	char text[160];

	if (len >= sizeof text)
		return wrong(r, "too long");
	if (known_word(r, left, len)) {
		int place = find_name(r, left, (int)len);

		r->rule->formula = (struct formula){
			.ops = {{.kind = '@', .index = (uint16_t)place}}, .n = 1, .uses = 1};
		return 0;
	}
	snprintf(text, sizeof text, "%.*s", (int)len, left);
	if (!formula_parse(text, &(struct formula_names){.value = find_name, .ctx = r},
			   &r->rule->formula, &why))
		return r->rule->nnames ? 0 : wrong(r, "it compares nothing that is measured");
	return r->unknown[0] ? unknown_name(r) : wrong(r, why.msg);
}

/* self(NAME): the name may hold parentheses of its own. */
static int read_function(struct reader *r, enum rule_kind kind)
{
	const char *name = strchr(r->at, '(') + 1, *end = name;
	int depth = 1;

	for (; *end && depth; end++)
		depth += *end == '(' ? 1 : *end == ')' ? -1 : 0;
	if (depth)
		return wrong(r, "a ) is missing behind the function's name");
	size_t len = (size_t)(end - 1 - name);
	if (!len)
		return wrong(r, "a function's name is missing between ( and )");
	if (len >= sizeof r->rule->pattern)
		return wrong(r, "the function's name is too long");
	memcpy(r->rule->pattern, name, len);
	r->rule->pattern[len] = '\0';
	r->rule->kind = kind;
	r->at = end;
	return 0;
}

static int read_left(struct reader *r)
{
	const char *left = r->at;
	size_t len;

	if (!strncmp(left, "self(", 5))
		return read_function(r, RULE_SELF);
	if (!strncmp(left, "total(", 6))
		return read_function(r, RULE_TOTAL);
	len = strcspn(left, "<>=");
	r->at = left + len;
	while (len && isspace((unsigned char)left[len - 1]))
		len--;
	if (!len)
		return wrong(r, "it begins with a quantity, as in ipc<0.5 for 2s");
	return read_formula(r, left, len);
}

static int read_comparison(struct reader *r)
{
	static const struct {
		const char *text;
		enum rule_comparison comparison;
	} signs[] = {
		{">=", RULE_AT_LEAST}, {"<=", RULE_AT_MOST}, {">", RULE_ABOVE}, {"<", RULE_BELOW}};

	blanks(r);
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		size_t len = strlen(signs[i].text);

		if (strncmp(r->at, signs[i].text, len) != 0)
			continue;
		r->rule->comparison = signs[i].comparison;
		r->at += len;
		return 0;
	}
	return wrong(r, "one of < > <= >= and a number are missing");
}

static int read_limit(struct reader *r)
{
	char *end;

	blanks(r);
	if (!*r->at || !strchr("+-.0123456789", *r->at))
		return wrong(r, "a number is missing behind the comparison");
	r->rule->limit = strtod(r->at, &end);
	if (end == r->at || !isfinite(r->rule->limit))
		return wrong(r, "a number is missing behind the comparison");
	r->at = end;
	blanks(r);
	if (*r->at == '%')
		r->at++;
	if (r->rule->kind != RULE_VALUE && (r->rule->limit < 0 || r->rule->limit > 100))
		return wrong(r, "a function's share is from 0 to 100 %");
	return 0;
}

static int read_time(struct reader *r)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"m", 60e9}, {"h", 3600e9}, {"", 1e9}};
	char *end;
	double v, ns = 0;

	blanks(r);
	r->rule->for_ns = RULE_DEFAULT_NS;
	if (!*r->at)
		return 0;
	if (strncmp(r->at, "for", 3) != 0 || isalpha((unsigned char)r->at[3]))
		return wrong(r, "behind the number comes nothing, or for and a time, as for 2s");
	r->at += 3;
	blanks(r);
	v = *r->at && strchr(".0123456789", *r->at) ? strtod(r->at, &end) : -1;
	if (v < 0)
		return wrong(r, "a time is missing behind for, as 2s, 500ms or 1m");
	while (isspace((unsigned char)*end))
		end++;
	for (size_t i = 0; i < sizeof units / sizeof *units && !(ns > 0); i++)
		if (strcmp(end, units[i].unit) == 0)
			ns = units[i].ns;
	if (!(ns > 0))
		return wrong(r, "a time ends in ms, s, m or h");
	v *= ns;
	if (!(v >= (double)RULE_LEAST_NS && v <= (double)RULE_MOST_NS))
		return wrong(r, "the time is from 100ms to 1h");
	r->rule->for_ns = (uint64_t)v;
	return 0;
}

/* Does it end in a comparison with a number? Names of C++ hold < and > too, but end in none. */
static bool is_compared(const char *text)
{
	const char *sign = strrchr(text, '<'), *above = strrchr(text, '>');

	sign = above && (!sign || above > sign) ? above : sign;
	if (!sign)
		return false;
	sign += 1 + (sign[1] == '=');
	sign += strspn(sign, " \t");
	return isdigit((unsigned char)*sign) || *sign == '.';
}

/* An address: the event's own sentence when it makes no sense. */
static int read_event(struct reader *r)
{
	struct event_spec spec = {0};
	struct err why = {0};
	size_t len = strcspn(r->at, " \t");

	if (is_compared(r->at))
		return wrong(r, "a mem: rule trips at each access: nothing is compared");
	if (r->at[len])
		return wrong(r, "behind an address comes nothing: the first access is what counts");
	_Static_assert(sizeof spec.name <= sizeof r->rule->pattern, "what is a name fits a rule");
	if (len >= sizeof spec.name)
		return wrong(r, "too long");
	if (event_breakpoint(r->at, len, &spec, &why) < 1)
		return wrong(r, why.msg[0] ? why.msg
					   : "an address is written mem:0xADDRESS or mem:SYMBOL");
	r->rule->kind = RULE_EVENT;
	memcpy(r->rule->pattern, r->at, len + 1);
	return 0;
}

int rule_parse(const char *text, const struct rule_words *words, struct rule *ret, struct err *err)
{
	struct rule rule = {.kind = RULE_VALUE};
	struct reader r = {.text = text, .at = text, .words = words, .rule = &rule, .err = err};
	int rc;

	if (strlen(text) >= sizeof rule.text)
		return wrong(&r, "too long");
	snprintf(rule.text, sizeof rule.text, "%s", text);
	blanks(&r);
	if (!strncmp(r.at, "mem:", 4)) {
		rc = read_event(&r);
	} else {
		rc = read_left(&r);
		if (!rc)
			rc = read_comparison(&r);
		if (!rc)
			rc = read_limit(&r);
		if (!rc)
			rc = read_time(&r);
	}
	if (!rc)
		*ret = rule;
	return rc;
}

uint64_t rule_look_ns(const struct rule *r)
{
	return r->for_ns < RULE_LOOK_NS ? r->for_ns : RULE_LOOK_NS;
}

bool rule_holds(const struct rule *r, double value)
{
	switch (r->comparison) {
	case RULE_ABOVE: return value > r->limit;
	case RULE_AT_LEAST: return value >= r->limit;
	case RULE_BELOW: return value < r->limit;
	case RULE_AT_MOST: return value <= r->limit;
	}
	return false;
}

bool rule_look(const struct rule *r, struct rule_state *s, uint64_t now_ns, double value)
{
	if (!rule_holds(r, value)) {
		*s = (struct rule_state){0};
		return false;
	}
	/* What a look tells is of the time before it. */
	if (!s->since_ns)
		s->since_ns = now_ns - rule_look_ns(r);
	if (s->tripped || now_ns - s->since_ns < r->for_ns)
		return false;
	s->tripped = true;
	return true;
}
