/*
 * scriptline: taking `perf script` lines apart by their anchors. See scriptline.h for the contract.
 *
 * Every function looks at a line once or twice, left to right, and never copies. Names may hold
 * spaces, brackets, colons, "=>" and digits, so an anchor counts only together with what must stand
 * beside it.
 */
#include "import/scriptline.h"

#include <ctype.h>
#include <string.h>

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool digit(char c)
{
	return (unsigned)(c - '0') < 10;
}

static int hex_digit(char c)
{
	if (digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static struct text trim(const char *s, const char *end)
{
	while (s < end && blank(*s))
		s++;
	while (s < end && blank(end[-1]))
		end--;
	return (struct text){s, (size_t)(end - s)};
}

static bool text_is(struct text t, const char *s)
{
	return t.n == strlen(s) && !memcmp(t.s, s, t.n);
}

/* A whole word of hex digits (16 at most, "0x" allowed) → its value. */
static bool hex_word(const char *s, const char *end, uint64_t *ret_value)
{
	if (end - s > 2 && s[0] == '0' && s[1] == 'x')
		s += 2;
	if (s == end || end - s > 16)
		return false;
	uint64_t v = 0;
	for (; s < end; s++) {
		int d = hex_digit(*s);
		if (d < 0)
			return false;
		v = v << 4 | (uint64_t)d;
	}
	*ret_value = v;
	return true;
}

static bool decimal_word(const char *s, const char *end, uint64_t *ret_value)
{
	if (s == end || end - s > 20)
		return false;
	uint64_t v = 0;
	for (; s < end; s++) {
		if (!digit(*s) || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return false;
	}
	*ret_value = v;
	return true;
}

static bool signed_word(const char *s, const char *end, int64_t *ret_value)
{
	bool minus = s < end && *s == '-';
	uint64_t v;
	if (!decimal_word(s + minus, end, &v) || v > INT64_MAX)
		return false;
	*ret_value = minus ? -(int64_t)v : (int64_t)v;
	return true;
}

/* "PID" or "PID/TID", either may be negative. */
static bool pid_word(const char *s, const char *end, int64_t *ret_pid, int64_t *ret_tid)
{
	const char *slash = memchr(s, '/', (size_t)(end - s));
	if (!slash) {
		if (!signed_word(s, end, ret_pid))
			return false;
		*ret_tid = *ret_pid;
		return true;
	}
	return signed_word(s, slash, ret_pid) && signed_word(slash + 1, end, ret_tid);
}

/* "123.456789" → nanoseconds; up to nine decimals count. */
static bool time_word(const char *s, const char *end, uint64_t *ret_ns)
{
	const char *dot = memchr(s, '.', (size_t)(end - s));
	uint64_t seconds, ns = 0, scale = 100000000;
	if (!dot || dot + 1 == end || !decimal_word(s, dot, &seconds) ||
	    seconds > UINT64_MAX / 2000000000)
		return false;
	for (const char *p = dot + 1; p < end; p++, scale /= 10) {
		if (!digit(*p))
			return false;
		ns += (uint64_t)(*p - '0') * scale;
	}
	*ret_ns = seconds * 1000000000 + ns;
	return true;
}

static const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && blank(*s))
		s++;
	return s;
}

static const char *word_end(const char *s, const char *end)
{
	while (s < end && !blank(*s))
		s++;
	return s;
}

/* The word that ends at @end (blanks before it skipped), not reaching before @start. */
static struct text last_word(const char *start, const char *end)
{
	while (end > start && blank(end[-1]))
		end--;
	const char *s = end;
	while (s > start && !blank(s[-1]))
		s--;
	return (struct text){s, (size_t)(end - s)};
}

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

/* "[012]" → the number. */
static bool cpu_word(struct text w, int32_t *ret_cpu)
{
	uint64_t v;
	if (w.n < 3 || w.s[0] != '[' || w.s[w.n - 1] != ']' ||
	    !decimal_word(w.s + 1, w.s + w.n - 1, &v) || v > 1u << 20)
		return false;
	*ret_cpu = (int32_t)v;
	return true;
}

/* What stands before the time or the event: [cpu], pid[/tid], and the rest is the comm. */
static bool who(const char *line, const char *end, struct script_header *h)
{
	struct text w = last_word(line, end);
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
		if (!bare_header(line, end, &h))
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
	while ((tab = memchr(tab, '\t', (size_t)(cut - tab))) && !ends_place(line, tab))
		tab++;
	if (!tab)
		return (size_t)(cut - line);
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
	const char *s = line, *end = line + n;
	while (s < end && blank(*s))
		s++;
	const char *w = s;
	while (w < end && !blank(*w))
		w++;
	struct script_place p = {.offset = UINT64_MAX};
	if (!hex_word(s, w, &p.ip))
		return false;
	const char *rest = w;
	while (rest < end && blank(*rest))
		rest++;
	/* "77 1234/1234 [000] 1.0: …" is a header whose comm looks like an address */
	const char *second = rest;
	while (second < end && !blank(*second))
		second++;
	int64_t pid, tid;
	if (rest < second && pid_word(rest, second, &pid, &tid))
		return false;
	if (end - rest > 5 &&
	    !memcmp(rest, "insn:", 5)) /* an instruction of a block: -F brstackinsn */
		return false;
	p.has_ip = true;
	end = split_dso(rest, end, &p);
	split_symbol(trim(rest, end), &p);
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

bool scriptline_bare_frame(const char *line, size_t n, struct script_place *ret_place)
{
	return n && (line[0] == ' ' || line[0] == '\t') && scriptline_frame(line, n, ret_place) &&
	       ret_place->has_ip &&
	       (ret_place->symbol.n || ret_place->dso.n || memmem(line, n, "[unknown]", 9));
}
