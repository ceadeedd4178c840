/*
 * scriptlone: lines above a stack that say little: the event, the thread or the name alone.
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
