/*
 * scriptlook: counts what kinds of lines there are at the top. Only lines that perf would print
 * count for a file; a trace has branch flags, levels, or one instruction behind another.
 */
#include "import/scriptlook.h"

#include <string.h>

#include "import/insnbytes.h"

#define RECOGNISE_LINES 200
#define INSN_BYTES_MOST 15

static void look_at_insn(struct scriptlook_sequence *q, const struct script_header *h, uint64_t ip)
{
	bool same = q->ip && q->pid == h->pid && q->tid == h->tid;
	uint64_t step = ip - q->ip;
	if (same) {
		q->pairs++;
		if (q->len ? step == q->len : step - 1 < INSN_BYTES_MOST)
			q->follow++;
		else if (q->kind != INSN_NONE)
			q->elsewhere++;
	}
	q->ip = ip;
	q->pid = h->pid;
	q->tid = h->tid;
	q->kind = insnbytes_class(h->insn.s, h->insn.n, false, &q->len);
	q->fours += q->len == 4;
	q->others += q->len && q->len != 4;
}

bool scriptlook_is_arm64(const struct scriptlook *l)
{
	return l->sequence.fours > 2 && !l->sequence.others;
}

/* arm64's branches are not told apart here, so that half of the steps must do. */
static bool is_sequence(const struct scriptlook *l)
{
	const struct scriptlook_sequence *q = &l->sequence;
	return q->follow &&
	       (scriptlook_is_arm64(l) ? q->follow * 2 >= q->pairs
				       : (q->follow + q->elsewhere) * 10 >= q->pairs * 9);
}

/* What perf prints behind a frame: "  file.c:12", "  lib.so[11634]". */
static bool is_behind_frame(const char *line, size_t n)
{
	return (n > 2 && !memcmp(line, "  ", 2) && !memchr(" \t", line[2], 2) &&
		!memchr(line + 2, ' ', n - 2)) ||
	       scriptline_has_branches(line, n);
}

enum certainty { NO_HEADER, WEAK_HEADER, GOOD_HEADER };

/* Other text has words, times and colons too: how much of what perf prints is together here? */
static enum certainty certainty(const struct script_header *h, bool place)
{
	bool time = h->time_ns != UINT64_MAX, event = h->event.n;
	if (h->cpu >= 0 || (h->pid != -1 && (time || event)))
		return GOOD_HEADER;
	if (!time)
		return WEAK_HEADER;
	if (event)
		return memchr(h->event.s, ' ', h->event.n) ? NO_HEADER : GOOD_HEADER;
	return place || scriptline_is_blank(h->rest.s, h->rest.n) ? GOOD_HEADER : NO_HEADER;
}

void scriptlook_at(const uint8_t *head, size_t n, struct scriptlook *ret_look)
{
	const char *p = (const char *)head, *end = p + n;
	bool in_sample = false;
	*ret_look = (struct scriptlook){0};
	for (unsigned i = 0; p < end && i < RECOGNISE_LINES; i++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = nl ? (size_t)(nl - p) : (size_t)(end - p);
		const char *line = p;
		p = nl ? nl + 1 : end;
		struct script_header h;
		struct script_branch b;
		struct script_place place;
		uint64_t lost;
		if (scriptline_record(line, len, &lost)) {
			ret_look->records++;
			i--;
			continue;
		}
		if (len && line[0] == '#') {
			ret_look->captured |= len > 14 && !memcmp(line, "# captured on", 13);
			ret_look->banner |= len > 14 && !memcmp(line, "# ========", 10);
			i--;
			continue;
		}
		if (in_sample && scriptline_frame(line, len, &place)) {
			ret_look->stacked++;
			continue;
		}
		in_sample = false;
		if (scriptline_flat(line, len, &h, &place)) {
			ret_look->flat++;
			continue;
		}
		ret_look->blanks += scriptline_is_blank(line, len);
		if (scriptline_bare_address(line, len)) {
			ret_look->addresses++;
			ret_look->branches += memchr(line, '/', len) != NULL;
			continue;
		}
		if (!scriptline_lone(line, len, &h) && scriptline_bare_frame(line, len, &place)) {
			ret_look->bare++;
			ret_look->tabs += line[0] == '\t';
			continue;
		}
		bool header = scriptline_lone(line, len, &h) || scriptline_header(line, len, &h);
		bool placed = header && scriptline_branch(h.rest.s, h.rest.n, &b);
		enum certainty sure = header ? certainty(&h, placed && b.at.has_ip) : NO_HEADER;
		if (sure == NO_HEADER) {
			bool nothing = !scriptline_is_blank(line, len) &&
				       !scriptline_is_error(line, len);
			ret_look->strange += nothing && line[0] != ' ' && line[0] != '\t';
			ret_look->odd += nothing && !is_behind_frame(line, len);
			continue;
		}
		ret_look->headers++;
		ret_look->weak += sure == WEAK_HEADER;
		ret_look->timed += h.time_ns != UINT64_MAX;
		in_sample = true;
		/* "comm 12/13   401000 main (/bin/app)", "comm 12 cycles:   401000 main": a stack
		 * of one, and no trace, whose lines have times */
		bool at = h.event.n ? placed && b.at.has_ip && (sure == GOOD_HEADER || h.period)
				    : h.rest.n > 0;
		ret_look->stacked += h.time_ns == UINT64_MAX && at;
		if (!placed)
			continue;
		if (b.known || (b.level && !h.event.n))
			ret_look->traced++;
		else
			ret_look->plain++;
		if (h.insn.n && b.at.has_ip)
			look_at_insn(&ret_look->sequence, &h, b.at.ip);
	}
}

/* perf prints in order, so that times since a first 0 go back only where each is a difference. */
bool scriptlook_has_deltas(const uint8_t *head, size_t n)
{
	const char *p = (const char *)head, *end = p + n, *nl;
	uint64_t last = 0;
	bool any = false;
	for (; p < end && (nl = memchr(p, '\n', (size_t)(end - p))); p = nl + 1) {
		struct script_header h;
		if (*p == '#' || *p == '\t' || !scriptline_header(p, (size_t)(nl - p), &h) ||
		    h.time_ns > INT64_MAX)
			continue;
		if (any ? h.time_ns < last : h.time_ns)
			return any;
		any = true;
		last = h.time_ns;
	}
	return false;
}

bool scriptlook_is_flat(const struct scriptlook *l)
{
	return (l->bare > 1 || l->flat > 1) && !(l->bare && l->flat) && !l->tabs && !l->blanks &&
	       !l->headers;
}

bool scriptlook_is_nameless(const uint8_t *head, size_t n)
{
	struct scriptlook l;
	if (memchr(head, 0, n < 512 ? n : 512))
		return false;
	scriptlook_at(head, n, &l);
	return (l.branches || (l.records && l.addresses)) && !l.headers && !l.bare &&
	       l.strange <= l.addresses;
}

bool scriptlook_is_trace(const struct scriptlook *l)
{
	return (l->traced || is_sequence(l)) && !l->stacked;
}

int scriptlook_recognise(const uint8_t *head, size_t n, bool trace)
{
	struct scriptlook look;
	if (!n || memchr(head, 0, n < 512 ? n : 512) || head[0] == '{')
		return 0;
	scriptlook_at(head, n, &look);
	if (trace != scriptlook_is_trace(&look))
		return 0;
	if (look.banner || look.captured)
		return look.headers ? 95 : look.captured ? 30 : 0;
	if (!look.headers && look.records && !look.strange)
		return 60;
	if (!look.headers && !look.odd && (look.bare > 1 || scriptlook_is_flat(&look)))
		return 50;
	/* Without perf's banner most lines must make sense, and there must be times or stacks;
	 * where nothing is certain, all lines must. */
	if (!look.headers || (look.weak == look.headers && look.odd) ||
	    look.strange > look.headers + look.stacked || (!look.timed && !look.stacked))
		return 0;
	return 70;
}
