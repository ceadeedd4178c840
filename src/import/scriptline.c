/*
 * scriptline: taking `perf script` lines apart by their anchors. See scriptline.h for the contract.
 *
 * Every function looks at a line once or twice, left to right, and never copies. Names may hold
 * spaces, brackets, colons, "=>" and digits, so an anchor counts only together with what must stand
 * beside it.
 */
#include "import/scriptline.h"

#include <ctype.h>

#include "import/scriptword.h"

/* The first " 123.456:" of the line. */
static bool find_time(const char *line, const char *end, struct text *ret_word, uint64_t *ret_ns)
{
	for (const char *p = line; (p = memchr(p, ':', (size_t)(end - p))); p++) {
		if (p + 1 < end && !blank(p[1]))
			continue;
		if (p == line || !digit(p[-1]))
			continue;
		struct text w = last_word(line, p);
		if (time_word(w.s, p, ret_ns)) {
			*ret_word = (struct text){w.s, (size_t)(p + 1 - w.s)};
			return true;
		}
	}
	return false;
}

/* How a record was taken, by perf's letters: "U", "K", "KE". */
static bool misc_word(struct text w)
{
	for (size_t i = 0; i < w.n; i++)
		if (!memchr("UKHGgMECFSp", w.s[i], 11))
			return false;
	return w.n && w.n <= 4;
}

/* What stands before the time or the event: [cpu], pid[/tid], and the rest is the comm. */
static bool who(const char *line, const char *end, struct script_header *h)
{
	struct text w = last_word(line, end);
	if (misc_word(w) && w.s > line) { /* -F misc */
		struct text before = last_word(line, w.s);
		int64_t pid, tid;
		int32_t cpu;
		if (cpu_word(before, &cpu) ||
		    (before.n && pid_word(before.s, before.s + before.n, &pid, &tid))) {
			end = w.s;
			w = before;
		}
	}
	if (cpu_word(w, &h->cpu)) {
		end = w.s;
		w = last_word(line, end);
	} else if (w.n >= 4 && w.n <= 5 && !digit(w.s[0]) && memchr(w.s, '.', w.n)) {
		/* irq/preempt flags such as "d..2." may stand between cpu and time */
		struct text before = last_word(line, w.s);
		if (cpu_word(before, &h->cpu)) {
			end = before.s;
			w = last_word(line, end);
		}
	}
	if (w.n && pid_word(w.s, w.s + w.n, &h->pid, &h->tid)) {
		h->comm = trim(line, w.s);
		return true;
	}
	h->comm = trim(line, end);
	return h->cpu >= 0 || h->time_ns != UINT64_MAX;
}

static bool flag_word(const char *s, const char *end, size_t *ret_len, enum insn_class *ret_kind);
static const char *split_dso(const char *s, const char *end, struct script_place *p);

/* The first colon that a blank or the end follows, NULL none. */
static const char *event_colon(const char *s, const char *end)
{
	for (const char *p = s; (p = memchr(p, ':', (size_t)(end - p))); p++)
		if (p + 1 == end || blank(p[1]))
			return p;
	return NULL;
}

/* An address and something behind it. */
static bool place_begins(const char *s, const char *end)
{
	const char *w = word_end(s, end);
	uint64_t ip;
	return hex_word(s, w, &ip) && trim(w, end).n;
}

/*
 * "PERIOD EVENT:" with either missing, then the rest. Without an event a number is a period only
 * before an address: it may be the address.
 */
static void period_event(const char *s, const char *end, struct script_header *h)
{
	s = skip_blanks(s, end);
	const char *w = word_end(s, end), *behind = skip_blanks(w, end);
	size_t skip;
	enum insn_class kind;
	bool flags = flag_word(s, end, &skip, &kind);
	bool number = !flags && w < end && decimal_word(s, w, &h->period);
	if (number && flag_word(behind, end, &skip, &kind)) {
		s = behind;
		flags = true;
	}
	const char *colon = flags ? NULL : event_colon(number ? behind : s, end);
	if (colon) {
		h->event = trim(number ? behind : s, colon);
		h->rest = (struct text){colon + 1, (size_t)(end - colon - 1)};
		return;
	}
	if (number && !flags) {
		if (place_begins(behind, end))
			s = behind;
		else
			h->period = 0;
	}
	h->rest = (struct text){s, (size_t)(end - s)};
}

/* No time in the line: "comm pid [cpu] EVENT:" or "comm pid PERIOD EVENT:". */
static bool header_without_time(const char *line, const char *end, struct script_header *h)
{
	const char *colon = NULL;
	for (const char *p = line; (p = memchr(p, ':', (size_t)(end - p))); p++)
		if (p > line && !blank(p[-1]) && (p + 1 == end || blank(p[1]))) {
			/* "tmux: server 12 cycles:" has a colon in its comm: the event's has a
			 * number before it */
			struct text word = last_word(line, p), number = last_word(line, word.s);
			int64_t a, b;
			int32_t cpu;
			if (number.n && (pid_word(number.s, number.s + number.n, &a, &b) ||
					 cpu_word(number, &cpu))) {
				colon = p;
				break;
			}
		}
	if (!colon)
		return false;
	struct text event = last_word(line, colon), w = last_word(line, event.s), before;
	uint64_t period;
	int64_t pid, tid;
	/* two numbers before the event are pid and period; one is the pid */
	before = last_word(line, w.s);
	if (decimal_word(w.s, w.s + w.n, &period) && before.n &&
	    (pid_word(before.s, before.s + before.n, &pid, &tid) || cpu_word(before, &h->cpu))) {
		h->period = period;
		event.s = w.s;
	}
	h->cpu = -1;
	h->event = last_word(line, colon);
	if (digit(h->event.s[0]))
		return false;
	h->rest = (struct text){colon + 1, (size_t)(end - colon - 1)};
	if (period_alone(line, last_word(line, h->event.s), h))
		return true;
	return who(line, event.s, h) && h->pid != -1;
}

/* Neither time nor pid: "comm EVENT:" and nothing behind it. */
static bool bare_header(const char *line, const char *end, struct script_header *h)
{
	struct text all = trim(line, end);
	if (all.n < 2 || all.s[all.n - 1] != ':')
		return false;
	h->event = last_word(all.s, all.s + all.n - 1);
	h->comm = trim(all.s, h->event.s);
	h->rest = (struct text){end, 0};
	return h->comm.n && h->event.n && !digit(h->event.s[0]);
}

/*
 * No event: "comm PID" alone, above a stack, or "comm PID/TID" before a place in a file. Where
 * nothing else is an anchor, folded stacks and counts of words must not look like it.
 */
static bool thread_header(const char *line, const char *end, struct script_header *h)
{
	struct script_place p = {0};
	const char *s = skip_blanks(line, end), *dso = split_dso(line, end, &p);
	const char *colon = memchr(line, ':', (size_t)(end - line));
	const char *semicolon = memchr(line, ';', (size_t)(end - line));
	bool indented = s > line;
	for (const char *w = word_end(s, end); s < end && (!semicolon || s <= semicolon);
	     s = skip_blanks(w, end), w = word_end(s, end)) {
		const char *behind = skip_blanks(w, end);
		bool slash = memchr(s, '/', (size_t)(w - s));
		bool last = behind == end && !indented && (slash || !colon || colon >= s);
		h->comm = trim(line, s);
		if (!h->comm.n || !pid_word(s, w, &h->pid, &h->tid))
			continue;
		h->rest = (struct text){behind, (size_t)(end - behind)};
		if (last || (slash && p.dso.s && dso >= behind && place_begins(behind, end)))
			return true;
	}
	return false;
}

/* "insn:" or "ilen:" before the colon @p, as a word of its own, with a number behind it. */
static bool insn_field(const char *line, const char *p, const char *end)
{
	if (p - line < 5 || !blank(p[-5]) || (memcmp(p - 4, "insn", 4) && memcmp(p - 4, "ilen", 4)))
		return false;
	return p + 2 < end && p[1] == ' ' && hex_digit(p[2]) >= 0;
}

bool scriptline_header(const char *line, size_t n, struct script_header *ret_header)
{
	struct text insn;
	const char *end = line + scriptline_without_insn(line, n, &insn);
	struct script_header h = {.pid = -1, .tid = -1, .cpu = -1, .time_ns = UINT64_MAX};
	struct text word;
	uint64_t ns;
	if (find_time(line, end, &word, &ns)) {
		h.time_ns = ns;
		if (!who(line, word.s, &h))
			return false;
		period_event(word.s + word.n, end, &h);
	} else if (!header_without_time(line, end, &h)) {
		h = (struct script_header){.pid = -1, .tid = -1, .cpu = -1, .time_ns = UINT64_MAX};
		if (!bare_header(line, end, &h) && !thread_header(line, end, &h))
			return false;
	}
	h.insn = insn;
	*ret_header = h;
	return true;
}

/* "symbol+0x12" → symbol and offset; the offset may be missing. */
static void split_symbol(struct text t, struct script_place *p)
{
	p->offset = UINT64_MAX;
	p->symbol = t;
	for (size_t i = t.n; i >= 3; i--) {
		if (t.s[i - 1] == 'x' && t.s[i - 2] == '0' && t.s[i - 3] == '+') {
			uint64_t v;
			if (hex_word(t.s + i, t.s + t.n, &v)) {
				p->offset = v;
				p->symbol = trim(t.s, t.s + i - 3);
			}
			break;
		}
		if (hex_digit(t.s[i - 1]) < 0)
			break;
	}
	if (text_is(p->symbol, "[unknown]"))
		p->symbol.n = 0;
}

/* A trailing "(dso)", whose name may hold blanks and brackets. */
static const char *split_dso(const char *s, const char *end, struct script_place *p)
{
	while (end > s && blank(end[-1]))
		end--;
	if (end == s || end[-1] != ')')
		return end;
	int depth = 0;
	for (const char *q = end; q-- > s;) {
		if (*q == ')')
			depth++;
		else if (*q == '(' && --depth == 0) {
			/* the dso is a word of its own: "f(int)" is not one */
			if (q > s && !blank(q[-1]))
				return end;
			p->dso = (struct text){q + 1, (size_t)(end - 1 - (q + 1))};
			if (text_is(p->dso, "inlined")) {
				p->inlined = true;
				p->dso.n = 0;
			} else if (text_is(p->dso, "[unknown]")) {
				p->dso.n = 0;
			}
			return q;
		}
	}
	return end;
}

/*
 * So many brackets or tabs of a line are tried: names hold a few, and each costs a look at all that
 * stands before it.
 */
#define TRIES 64

/* Does an address with "(dso)" behind it end at @end? "(dso)\tsymbol" is a call without one. */
static bool ends_place(const char *line, const char *end)
{
	struct script_place p = {0};
	const char *e = end > line && end[-1] == ')' ? split_dso(line, end, &p) : end;
	if (e == end)
		return false;
	for (struct text w; (w = last_word(line, e)).n && w.s[w.n - 1] != ':'; e = w.s)
		if (hex_word(w.s, w.s + w.n, &p.ip))
			return true;
	return false;
}

/* The flags of the first branch of -F brstack and its like, "/P/-/-/0" behind its two places. */
static const char *branch_flags(const char *s, const char *end)
{
	for (const char *p = s; (p = memchr(p, '/', (size_t)(end - p))); p++) {
		const char *f = p + 1;
		if (f >= end || !memchr("PM-", *f++, 3))
			continue;
		f += f < end && *f == 'N'; /* not taken */
		if (end - f >= 6 && f[0] == '/' && memchr("X-", f[1], 2) && f[2] == '/' &&
		    memchr("A-", f[3], 2) && f[4] == '/' && digit(f[5]))
			return p;
	}
	return NULL;
}

bool scriptline_has_branches(const char *line, size_t n)
{
	return branch_flags(line, line + n);
}

size_t scriptline_without_behind(const char *s, size_t n)
{
	const char *end = s + n, *flags = branch_flags(s, end), *stop = flags ? flags : end;
	size_t length = flags ? (size_t)(last_word(s, flags).s - s) : n;
	if (!flags && !place_begins(skip_blanks(s, end), end))
		return n;
	/* "(dso)", at times without a blank before the branches; a name may hold "(int)>" */
	const char *p = stop;
	for (unsigned i = 0; i < TRIES && (p = memrchr(s, ')', (size_t)(p - s)));) {
		if (p + 1 < end && !blank(p[1]) && (!flags || p[1] == '>'))
			continue;
		if (ends_place(s, p + 1))
			return (size_t)(p + 1 - s);
		i++;
	}
	return length;
}

size_t scriptline_without_insn(const char *line, size_t n, struct text *ret_insn)
{
	const char *end = line + n, *cut = end, *tab = line;
	*ret_insn = (struct text){0};
	for (const char *p = line; (p = memchr(p, ':', (size_t)(end - p))); p++) {
		if (!insn_field(line, p, end))
			continue;
		if (cut == end)
			cut = p - 5;
		if (p[-1] != 'n' || p[-2] != 's') /* ilen: insn: follows, if at all */
			continue;
		const char *s = p + 2, *e = s;
		while (e + 1 < end && hex_digit(e[0]) >= 0 && hex_digit(e[1]) >= 0)
			e += e + 2 < end && e[2] == ' ' ? 3 : 2;
		*ret_insn = trim(s, e);
		break;
	}
	/* behind "(dso)" a tab begins a mnemonic, or " IPC: …" */
	for (unsigned i = 0;; tab++) {
		tab = memchr(tab, '\t', (size_t)(cut - tab));
		if (tab && ends_place(line, tab))
			break;
		if (!tab || ++i == TRIES)
			return (size_t)(cut - line);
	}
	struct text behind = trim(tab, cut);
	if (!ret_insn->n && (behind.n < 4 || memcmp(behind.s, "IPC:", 4)))
		*ret_insn = behind;
	return (size_t)(tab - line);
}

bool scriptline_place(const char *s, size_t n, struct script_place *ret_place,
		      struct text *ret_before)
{
	struct script_place p = {.offset = UINT64_MAX};
	const char *end = split_dso(s, s + n, &p), *after = end;
	for (const char *e = end; e > s;) {
		struct text w = last_word(s, e);
		if (!w.n)
			break;
		struct text symbol = trim(w.s + w.n, after);
		if ((symbol.n || w.s == s) && hex_word(w.s, w.s + w.n, &p.ip)) {
			p.has_ip = true;
			split_symbol(symbol, &p);
			*ret_place = p;
			if (ret_before)
				*ret_before = trim(s, w.s);
			return true;
		}
		e = w.s;
	}
	/* No address: the last word may be symbol+offset. */
	struct text w = trim(s, end);
	if (!w.n)
		return false;
	struct text last = last_word(w.s, w.s + w.n);
	uint64_t ip;
	if (hex_word(last.s, last.s + last.n, &ip)) {
		p.ip = ip;
		p.has_ip = true;
	} else {
		split_symbol(last, &p);
		if (p.offset == UINT64_MAX)
			return false;
	}
	*ret_place = p;
	if (ret_before)
		*ret_before = trim(s, last.s);
	return true;
}

bool scriptline_frame(const char *line, size_t n, struct script_place *ret_place)
{
	const char *end = line + n, *s = skip_blanks(line, end), *w = word_end(s, end);
	struct script_place p = {.offset = UINT64_MAX};
	if (!hex_word(s, w, &p.ip))
		return false;
	if (branch_flags(w, end))
		end = s + scriptline_without_behind(s, (size_t)(end - s));
	const char *rest = skip_blanks(w, end);
	/* "77 1234/1234 [000] 1.0: …" is a header whose comm looks like an address, "77 1.0: …"
	 * one that begins with a thread */
	const char *second = rest;
	while (second < end && !blank(*second))
		second++;
	int64_t pid, tid;
	int32_t cpu;
	uint64_t ns;
	if (rest < second && (pid_word(rest, second, &pid, &tid) ||
			      cpu_word((struct text){rest, (size_t)(second - rest)}, &cpu) ||
			      (second[-1] == ':' && time_word(rest, second - 1, &ns))))
		return false;
	if (end - rest > 5 &&
	    !memcmp(rest, "insn:", 5)) /* an instruction of a block: -F brstackinsn */
		return false;
	/* "   7475 cycles:  401000 main", a thread or a period and its event */
	if (line[0] == ' ' && w - line <= 10 && second < end && second[-1] == ':' &&
	    decimal_word(s, w, &ns) && place_begins(skip_blanks(second, end), end))
		return false;
	p.has_ip = true;
	end = split_dso(rest, end, &p);
	struct text symbol = trim(rest, end);
	if (!p.dso.n && symbol.n && symbol.s[symbol.n - 1] == ':') /* -F period,event */
		return false;
	split_symbol(symbol, &p);
	*ret_place = p;
	return true;
}

static const struct {
	const char *word;
	enum insn_class kind;
} flags_table[] = {
	/* perf's words for branch kinds (tools/perf/util/event.h, documented in perf-script(1)) */
	{"tr strt", INSN_START},  {"tr end", INSN_END},      {"syscall", INSN_SYSCALL},
	{"sysret", INSN_RETURN},  {"return", INSN_RETURN},   {"call", INSN_CALL},
	{"jcc", INSN_JCC},        {"jmp", INSN_JMP},         {"iret", INSN_RETURN},
	{"hw int", INSN_SYSCALL}, {"int", INSN_SYSCALL},     {"async", INSN_SYSCALL},
	{"tx abrt", INSN_JMP},    {"vmentry", INSN_SYSCALL}, {"vmexit", INSN_RETURN},
	{"none", INSN_NONE},      {"ret", INSN_RETURN},
};

static bool flag_word(const char *s, const char *end, size_t *ret_len, enum insn_class *ret_kind)
{
	for (size_t i = 0; i < sizeof flags_table / sizeof *flags_table; i++) {
		size_t len = strlen(flags_table[i].word);
		if ((size_t)(end - s) >= len && !memcmp(s, flags_table[i].word, len) &&
		    (s + len == end || blank(s[len]))) {
			*ret_len = len;
			*ret_kind = flags_table[i].kind;
			return true;
		}
	}
	return false;
}

/* All flag words in a row: "tr end  syscall" ends tracing at a system call, "tr strt jmp" starts
 * it. */
static const char *take_flags(const char *s, const char *end, struct script_branch *b)
{
	const char *start = s;
	size_t len;
	enum insn_class kind;
	while (flag_word(s, end, &len, &kind)) {
		if (!b->known || b->kind == INSN_END)
			b->kind = kind;
		b->known = true;
		s += len;
		b->flags = (struct text){start, (size_t)(s - start)};
		while (s < end && (blank(*s)))
			s++;
		if (end - s >= 3 && !memcmp(s, "(x)", 3))
			for (s += 3; s < end && blank(*s);)
				s++;
	}
	return s;
}

/* The last " => " that a hexadecimal word follows. */
static const char *find_arrow(const char *s, const char *end)
{
	for (const char *p = end; p-- > s + 1;) {
		if (*p != '>' || p[-1] != '=' || p - 1 == s || !blank(p[-2]))
			continue;
		const char *w = p + 1;
		while (w < end && blank(*w))
			w++;
		const char *e = w;
		while (e < end && !blank(*e))
			e++;
		uint64_t v;
		if (w > p + 1 && hex_word(w, e, &v))
			return p - 1;
	}
	return NULL;
}

size_t scriptline_without_target(const char *s, size_t n)
{
	const char *arrow = find_arrow(s, s + n);
	return arrow ? (size_t)(arrow - s) : n;
}

/*
 * "(dso)      symbol": --call-trace tells instead of where a call was made how deep it leads, with
 * four blanks a call. An address without a symbol is padded to sixteen digits.
 */
static bool level_line(const char *s, const char *end, struct script_branch *b)
{
	if (s == end || *s != '(')
		return false;
	const char *close = memchr(s, ')', (size_t)(end - s));
	if (!close || close + 1 == end || !blank(close[1]))
		return false;
	const char *name = skip_blanks(close + 1, end);
	struct text t = trim(name, end);
	if (!t.n || (*name == '(' && t.s[t.n - 1] == ')' && memchr(t.s, ' ', t.n)))
		return false;
	size_t padding = 0;
	if ((digit(*t.s) || t.n >= 12) && hex_word(t.s, t.s + t.n, &b->at.ip)) /* no name */
		padding = t.n < 16 ? 16 - t.n : 0;
	else
		b->at.symbol = t;
	size_t blanks = (size_t)(name - close - 1);
	b->level = blanks > padding ? (uint32_t)(blanks - padding) : 1;
	b->indented = t;
	b->at.dso = trim(s + 1, close);
	if (text_is(b->at.dso, "[unknown]"))
		b->at.dso.n = 0;
	return true;
}

bool scriptline_branch(const char *s, size_t n, struct script_branch *ret_branch)
{
	struct script_branch b = {.at = {.offset = UINT64_MAX}, .to = {.offset = UINT64_MAX}};
	const char *end = s + n;
	while (s < end && blank(*s))
		s++;
	s = take_flags(s, end, &b);
	if (level_line(s, end, &b)) {
		*ret_branch = b;
		return true;
	}
	const char *arrow = find_arrow(s, end);
	if (arrow) {
		b.has_to = scriptline_frame(arrow + 2, (size_t)(end - arrow - 2), &b.to);
		end = arrow;
	}
	if (!scriptline_place(s, (size_t)(end - s), &b.at, &b.indented))
		return false;
	*ret_branch = b;
	return true;
}

bool scriptline_srcline(const char *line, size_t n, struct text *ret_file, uint32_t *ret_line)
{
	struct text t = trim(line, line + n);
	const char *colon = t.n ? memrchr(t.s, ':', t.n) : NULL;
	uint64_t number;
	if (!colon || colon == t.s || !decimal_word(colon + 1, t.s + t.n, &number) ||
	    number > UINT32_MAX)
		return false;
	*ret_file = (struct text){t.s, (size_t)(colon - t.s)};
	*ret_line = (uint32_t)number;
	return true;
}

bool scriptline_is_error(const char *line, size_t n)
{
	return n > 23 && memmem(line, n < 40 ? n : 40, "instruction trace error", 23);
}

bool scriptline_is_blank(const char *line, size_t n)
{
	while (n && isspace((unsigned char)line[n - 1]))
		n--;
	return !n;
}

/* "0x401000/0x401010/P/-/-/0", as -F brstack prints each branch. */
static bool branch_word(const char *s, const char *end)
{
	const char *slash = memchr(s, '/', (size_t)(end - s));
	uint64_t from, to;
	if (!slash || !hex_word(s, slash, &from))
		return false;
	s = slash + 1;
	slash = memchr(s, '/', (size_t)(end - s));
	return slash && hex_word(s, slash, &to) && slash + 2 < end && slash[2] == '/';
}

bool scriptline_bare_address(const char *line, size_t n)
{
	const char *end = line + n, *s = skip_blanks(line, end), *w;
	bool indented = s > line;
	unsigned numbers = 0;
	uint64_t ip;
	for (; numbers < 2 && hex_word(s, w = word_end(s, end), &ip); numbers++)
		s = skip_blanks(w, end);
	return s == end ? indented && numbers : branch_word(s, word_end(s, end));
}

bool scriptline_record(const char *line, size_t n, uint64_t *ret_lost)
{
	static const char mark[] = "PERF_RECORD_";
	const char *end = line + n, *s = memmem(line, n, mark, sizeof mark - 1);
	*ret_lost = 0;
	if (!s || (s > line && !blank(s[-1])))
		return false;
	s += sizeof mark - 1;
	static const char lost[] = " lost ";
	const char *number = memmem(s, (size_t)(end - s), lost, sizeof lost - 1);
	if (number && end - s > 4 && !memcmp(s, "LOST", 4))
		decimal_word(number + sizeof lost - 1, word_end(number + sizeof lost - 1, end),
			     ret_lost);
	return true;
}

bool scriptline_bare_frame(const char *line, size_t n, struct script_place *ret_place)
{
	return n && !scriptline_bare_address(line, n) && (line[0] == ' ' || line[0] == '\t') &&
	       scriptline_frame(line, n, ret_place) && ret_place->has_ip &&
	       (ret_place->symbol.n || ret_place->dso.n || memmem(line, n, "[unknown]", 9));
}
