/*
 * scriptword: the words of a line of `perf script` text: numbers, times, threads, and where words
 * begin and end. Pure functions on borrowed text; for scriptline.c and what is beside it.
 */
#ifndef ALTPTTOP_SCRIPTWORD_H
#define ALTPTTOP_SCRIPTWORD_H

#include <string.h>

#include "import/scriptline.h"

static inline bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline bool digit(char c)
{
	return (unsigned)(c - '0') < 10;
}

static inline int hex_digit(char c)
{
	if (digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static inline struct text trim(const char *s, const char *end)
{
	while (s < end && blank(*s))
		s++;
	while (s < end && blank(end[-1]))
		end--;
	return (struct text){s, (size_t)(end - s)};
}

static inline bool text_is(struct text t, const char *s)
{
	return t.n == strlen(s) && !memcmp(t.s, s, t.n);
}

/* A whole word of hex digits (16 at most, "0x" allowed) → its value. */
static inline bool hex_word(const char *s, const char *end, uint64_t *ret_value)
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

static inline bool decimal_word(const char *s, const char *end, uint64_t *ret_value)
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

static inline bool signed_word(const char *s, const char *end, int64_t *ret_value)
{
	bool minus = s < end && *s == '-';
	uint64_t v;
	if (!decimal_word(s + minus, end, &v) || v > INT64_MAX)
		return false;
	*ret_value = minus ? -(int64_t)v : (int64_t)v;
	return true;
}

/* "PID" or "PID/TID", either may be negative. */
static inline bool pid_word(const char *s, const char *end, int64_t *ret_pid, int64_t *ret_tid)
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
static inline bool time_word(const char *s, const char *end, uint64_t *ret_ns)
{
	const char *dot = memchr(s, '.', (size_t)(end - s));
	uint64_t seconds, ns = 0, scale = 100000000;
	if (!dot || dot + 1 == end || !decimal_word(s, dot, &seconds) ||
	    seconds >= UINT64_MAX / 1000000000)
		return false;
	for (const char *p = dot + 1; p < end; p++, scale /= 10) {
		if (!digit(*p))
			return false;
		ns += (uint64_t)(*p - '0') * scale;
	}
	*ret_ns = seconds * 1000000000 + ns;
	return true;
}

static inline const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && blank(*s))
		s++;
	return s;
}

static inline const char *word_end(const char *s, const char *end)
{
	while (s < end && !blank(*s))
		s++;
	return s;
}

/* The word that ends at @end (blanks before it skipped), not reaching before @start. */
static inline struct text last_word(const char *start, const char *end)
{
	while (end > start && blank(end[-1]))
		end--;
	const char *s = end;
	while (s > start && !blank(s[-1]))
		s--;
	return (struct text){s, (size_t)(end - s)};
}

/* "[012]" → the number. */
static inline bool cpu_word(struct text w, int32_t *ret_cpu)
{
	uint64_t v;
	if (w.n < 3 || w.s[0] != '[' || w.s[w.n - 1] != ']' ||
	    !decimal_word(w.s + 1, w.s + w.n - 1, &v) || v > 1u << 20)
		return false;
	*ret_cpu = (int32_t)v;
	return true;
}

/*
 * Is @number, behind a name or nothing, a period? perf gives a period ten columns, a thread seven;
 * where there is a thread too, its number, a CPU or a time stands before the period.
 */
static inline bool period_alone(const char *line, struct text number, struct script_header *h)
{
	enum { COMM_MAX = 15, PERIOD_COLUMNS = 10 };
	struct text comm = trim(line, number.s), last = last_word(line, number.s);
	int64_t pid, tid;
	int32_t cpu;
	const char *field = comm.n ? comm.s + comm.n + 1 : line;
	if (comm.n > COMM_MAX || number.s + number.n - field < PERIOD_COLUMNS ||
	    (last.n && (last.s[last.n - 1] == ':' || cpu_word(last, &cpu) ||
			pid_word(last.s, last.s + last.n, &pid, &tid))) ||
	    !decimal_word(number.s, number.s + number.n, &h->period))
		return false;
	h->comm = comm;
	return true;
}

#endif
