/*
 * scriptlone: lines above a stack that say little: the event, the thread or the name alone; and
 * those that have a place instead of a stack.
 *
 * Pure functions on borrowed text; see scriptline.h for the contract. Lines with a time, or with a
 * thread and an event, are left to scriptline.c.
 */
#include "import/scriptline.h"
#include "import/scriptword.h"

/* "PERIOD EVENT:" or "COMM PERIOD EVENT:", or "EVENT:" alone. */
static bool lone_event(const char *line, struct text all, bool padded, struct script_header *h)
{
	h->event = last_word(all.s, all.s + all.n - 1);
	h->rest = (struct text){all.s + all.n, 0};
	struct text number = last_word(line, h->event.s);
	if (!h->event.n || digit(h->event.s[0]))
		return false;
	return number.n ? period_alone(line, number, h) : h->event.s > line || padded;
}

/* A name and one blank, and no thread's number at its end. */
static bool lone_comm(const char *line, struct text all, const char *end, struct script_header *h)
{
	enum { COMM_MAX = 15 };
	struct text last = last_word(line, all.s + all.n);
	int64_t pid, tid;
	h->comm = all;
	return all.s == line && all.n <= COMM_MAX && all.s + all.n + 1 == end &&
	       !pid_word(last.s, last.s + last.n, &pid, &tid);
}

bool scriptline_lone(const char *line, size_t n, struct script_header *ret_header)
{
	enum { ADDRESS_COLUMNS = 16 };
	struct script_header h = {.pid = -1, .tid = -1, .cpu = -1, .time_ns = UINT64_MAX};
	const char *end = line + n;
	struct text all = trim(line, end);
	if (!all.n || memchr(line, '\t', n) || memchr(all.s, ';', all.n))
		return false;
	bool one = word_end(all.s, end) == all.s + all.n, padded = all.s + all.n < end;
	h.rest = (struct text){end, 0};
	bool found;
	if (all.s[all.n - 1] == ':')
		found = lone_event(line, all, padded, &h);
	else if (one && all.s + all.n - line < ADDRESS_COLUMNS &&
		 pid_word(all.s, all.s + all.n, &h.pid, &h.tid))
		found = all.s > line && padded;
	else
		found = lone_comm(line, all, end, &h);
	if (found)
		*ret_header = h;
	return found;
}

/* A blank and an address at the right of sixteen columns, one blank, and a symbol. */
static bool flat_place(const char *s, const char *end, struct script_place *ret_place)
{
	enum { ADDRESS = 17 };
	if (end - s < ADDRESS + 2 || *s != ' ' || s[ADDRESS] != ' ' || blank(s[ADDRESS + 1]))
		return false;
	const char *address = skip_blanks(s, end), *symbol = s + ADDRESS + 1;
	uint64_t other;
	return word_end(address, end) == s + ADDRESS &&
	       !hex_word(symbol, word_end(symbol, end), &other) && /* -F addr,ip */
	       scriptline_without_target(symbol, (size_t)(end - symbol)) ==
		       (size_t)(end - symbol) &&
	       !scriptline_has_branches(symbol, (size_t)(end - symbol)) &&
	       scriptline_frame(s, (size_t)(end - s), ret_place);
}

bool scriptline_flat(const char *line, size_t n, struct script_header *ret_header,
		     struct script_place *ret_place)
{
	enum { COMM_COLUMNS = 16 };
	struct script_header h = {.pid = -1, .tid = -1, .cpu = -1, .time_ns = UINT64_MAX};
	const char *end = line + n, *s = line;
	if (n > COMM_COLUMNS && *line == ' ' && !blank(line[COMM_COLUMNS - 1]) &&
	    line[COMM_COLUMNS] == ' ') {
		h.comm = trim(line, line + COMM_COLUMNS);
		s += COMM_COLUMNS + 1;
		const char *number = skip_blanks(s, end), *behind = word_end(number, end);
		if (flat_place(s, end, ret_place) ||
		    (behind < end && pid_word(number, behind, &h.pid, &h.tid) &&
		     flat_place(behind + 1, end, ret_place))) {
			*ret_header = h;
			return true;
		}
		h.pid = h.tid = -1;
	}
	/* a comm may hold blanks and colons, an event, at the right of as many columns as the
	 * longest, none */
	s = skip_blanks(s, end);
	const char *colon = word_end(s, end);
	if (colon - s < 2 || colon[-1] != ':' || digit(*s) ||
	    !flat_place(colon + 1, end, ret_place))
		return false;
	h.event = (struct text){s, (size_t)(colon - 1 - s)};
	*ret_header = h;
	return true;
}
