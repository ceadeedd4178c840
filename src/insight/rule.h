/*
 * rule: what --trigger waits for: a quantity, a comparison, a limit, and for how long.
 *
 *	ipc<0.5 for 2s             a derived metric of the event set, or arithmetic over several
 *	cpu>150% for 5s            CPU use of the target, 100 % is one CPU
 *	offcpu>90% for 1s          share of its threads' time in which they were on no CPU
 *	self(parse_*)>20%          share of the samples in functions of that name (a glob), 1 s
 *	total(flush)>=5% for 10s   … that had one anywhere in their stack: the largest that matches
 *	mem:0x4010[/4][:rw]        an access to an address (a hardware breakpoint): at once
 *
 * Parsed once, looked at several times a second. Pure.
 */
#ifndef ALTPTTOP_RULE_H
#define ALTPTTOP_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "event/formula.h"

#define RULE_NAMES      8             /* that a formula may use */
#define RULE_LOOK_NS    1000000000ULL /* a look covers this much, or the rule's time when shorter */
#define RULE_LEAST_NS   100000000ULL
#define RULE_MOST_NS    3600000000000ULL
#define RULE_DEFAULT_NS RULE_LOOK_NS

enum rule_kind { RULE_VALUE, RULE_SELF, RULE_TOTAL, RULE_EVENT };
enum rule_comparison { RULE_ABOVE, RULE_AT_LEAST, RULE_BELOW, RULE_AT_MOST };

struct rule {
	char text[200]; /* as typed */
	enum rule_kind kind;
	char names[RULE_NAMES][32]; /* RULE_VALUE: of the formula's values, by place */
	uint32_t nnames;
	struct formula formula;
	char pattern[160]; /* RULE_SELF, RULE_TOTAL: function, RULE_EVENT: the event to open */
	enum rule_comparison comparison;
	double limit; /* shares in per cent */
	uint64_t for_ns;
};

/* Names of metrics that a rule may use, beside cpu and offcpu. */
struct rule_words {
	const char *const *names;
	uint32_t n;
	const char *where; /* whose they are, for a sentence: "the event set ipc" */
};

/* -EINVAL with one sentence. */
int rule_parse(const char *text, const struct rule_words *words, struct rule *ret, struct err *err);

/* How much time one look covers. */
uint64_t rule_look_ns(const struct rule *r);
bool rule_holds(const struct rule *r, double value); /* NAN: false */

/* Whether it holds, since when. Zeroed: not. */
struct rule_state {
	uint64_t since_ns;
	bool tripped; /* not again before it ceased to hold */
};
/* A look at @now_ns told @value of the time before it. True: it has held for its time, now first.
 */
bool rule_look(const struct rule *r, struct rule_state *s, uint64_t now_ns, double value);

#endif
