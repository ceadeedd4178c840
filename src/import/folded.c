/*
 * folded: folded stacks, "outermost;…;innermost COUNT" a line, as stackcollapse and its relatives
 * write them.
 *
 * Counts may be fractional, or sums of periods, so the whole file is looked through for what unit
 * its weights need, and for what they are multiples of, before it is read. Austin's files are of
 * this form too: a line an observation, microseconds, the process and the thread in place of
 * frames. Where every line ends in two counts, it is the difference of two profiles: before, after.
 * Frame suffixes _[k], _[i] and _[j] mark kernel, inlined and JIT frames, _[0] and
 * _[1] what is interpreted and what a first compiler made. Lines that are no
 * stacks are counted, lines that begin with # are remarks. Source thread.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "import/importer.h"

#define FRACTION   1e6                    /* fractional counts are kept to six decimals */
#define WEIGHT_MAX ((double)(1ull << 62)) /* of all stacks together */
#define PERIOD_MIN 1000                   /* what all counts are a multiple of: not by chance */

struct folded {
	struct import *im;
	struct map64 memo; /* hash of a frame's text → frame_id */
	struct {
		VEC(frame_id)
	} frames;
	uint16_t event;
	double scale;    /* weights a count */
	double rate;     /* observations a count: 1, less where counts are nanoseconds */
	double worth;    /* observations of equal weight a count; 0: as many */
	bool austin;     /* each line is one */
	bool differs;    /* lines have two counts */
	uint16_t before; /* the event of the first of them */
};

struct totals {
	double sum;
	uint64_t lines, period; /* period: the greatest number that all are multiples of */
	uint64_t stacks, pairs; /* lines with a count, with two */
};

/* The count at the line's end; where the stack ends. */
static bool split_count(const char *line, size_t n, size_t *ret_stack, double *ret_count,
			bool *ret_fraction)
{
	while (n && (line[n - 1] == ' ' || line[n - 1] == '\t'))
		n--;
	size_t i = n;
	bool point = false;
	while (i && ((unsigned)(line[i - 1] - '0') < 10 || (line[i - 1] == '.' && !point)))
		point |= line[--i] == '.';
	if (i == n || (i && line[i - 1] != ' ' && line[i - 1] != '\t') || line[i] == '.' ||
	    n - i > 30)
		return false;
	char number[32];
	memcpy(number, line + i, n - i);
	number[n - i] = 0;
	*ret_count = strtod(number, NULL);
	*ret_fraction = point;
	while (i && (line[i - 1] == ' ' || line[i - 1] == '\t'))
		i--;
	*ret_stack = i;
	return isfinite(*ret_count) && *ret_count < 1e18;
}

/* The count before the last one, and where the stack ends then. */
static bool split_before(const char *line, size_t *io_stack, double *ret_before, bool *io_fraction)
{
	size_t stack;
	bool fraction = false;
	if (!split_count(line, *io_stack, &stack, ret_before, &fraction) || !stack)
		return false;
	*io_stack = stack;
	*io_fraction |= fraction;
	return true;
}

static frame_id frame_of(struct folded *f, const char *s, size_t n)
{
	static const struct {
		const char *suffix;
		uint32_t flags;
	} suffixes[] = {{"_[k]", FRAME_KERNEL},
			{"_[i]", FRAME_INLINED},
			{"_[j]", 0},
			{"_[0]", 0},
			{"_[1]", 0}};
	uint64_t key = hash_bytes(s, n);
	uint32_t id;
	if (map64_get(&f->memo, key, &id))
		return id;
	uint32_t flags = 0;
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && n > 4; i++)
		if (!memcmp(s + n - 4, suffixes[i].suffix, 4)) {
			flags = suffixes[i].flags;
			n -= 4;
			break;
		}
	id = import_frame(f->im, 0, tables_strn(f->im->tables, s, n), 0, 0, 0, flags);
	map64_put(&f->memo, key, id);
	return id;
}

/* "file.py:function:12" → one frame of that function. */
static frame_id austin_frame(struct folded *f, const char *s, size_t n)
{
	struct tables *t = f->im->tables;
	const char *colon = memrchr(s, ':', n),
		   *before = colon ? memrchr(s, ':', (size_t)(colon - s)) : NULL;
	uint64_t line = 0, key = hash_bytes(s, n);
	uint32_t id;
	if (!before || before + 1 == colon || colon + 1 == s + n)
		return frame_of(f, s, n);
	for (const char *p = colon + 1; p < s + n; p++)
		if ((unsigned)(*p - '0') > 9 ||
		    (line = line * 10 + (uint64_t)(*p - '0')) > INT32_MAX)
			return frame_of(f, s, n);
	if (map64_get(&f->memo, key, &id))
		return id;
	id = import_frame(f->im, 0, tables_strn(t, before + 1, (size_t)(colon - before - 1)), 0,
			  tables_strn(t, s, (size_t)(before - s)), (uint32_t)line, 0);
	map64_put(&f->memo, key, id);
	return id;
}

/* "P12;T0:13;" begins the line, the thread's number behind the interpreter's. Returns its length.
 */
static size_t austin_thread(const char *line, size_t n, struct raw_sample *s)
{
	char head[64];
	int pid, tid, interpreter, length = 0;
	memcpy(head, line, n < sizeof head - 1 ? n : sizeof head - 1);
	head[n < sizeof head - 1 ? n : sizeof head - 1] = 0;
	if (sscanf(head, "P%9d;T%9d:%9d%n", &pid, &interpreter, &tid, &length) < 3 || !length)
		length = sscanf(head, "P%9d;T%9d%n", &pid, &tid, &length) == 2 ? length : 0;
	size_t used = (size_t)length;
	if (!used || (used < n && line[used] != ';'))
		return 0;
	s->pid = pid;
	s->tid = tid;
	return used + (used < n);
}

/*
 * "[NAME tid=12];" begins the line, as async-profiler's -t has it: the thread, in whose name
 * further brackets may stand. Returns its length.
 */
static size_t bracket_thread(struct folded *f, const char *line, size_t n, struct raw_sample *s)
{
	static const char mark[] = "tid=";
	const char *end = n && line[0] == '[' ? memchr(line, ';', n) : NULL;
	size_t len = end ? (size_t)(end - line) : n && line[0] == '[' ? n : 0, digits = 0;
	int tid = 0;
	if (len < sizeof mark + 1 || line[len - 1] != ']')
		return 0;
	while (digits < 10 && (unsigned)(line[len - 2 - digits] - '0') < 10 && digits + 3 < len)
		digits++;
	size_t behind = digits + sizeof mark; /* the bytes from the mark on */
	if (!digits || digits > 9 || behind >= len ||
	    memcmp(line + len - behind, mark, sizeof mark - 1) != 0)
		return 0;
	const char *at = line + len - behind;
	if (at[-1] != ' ' && at[-1] != '[')
		return 0;
	for (size_t i = 0; i < digits; i++)
		tid = tid * 10 + (at[sizeof mark - 1 + i] - '0');
	s->tid = tid;
	if (at[-1] == ' ')
		import_comm(f->im, 0, 0, tid, line + 1, (size_t)(at - 1 - line - 1));
	return len + (len < n);
}

static int add_stack(struct folded *f, const char *line, size_t n, double count)
{
	double before = 0;
	bool fraction = false;
	f->frames.len = 0;
	if (f->differs)
		split_before(line, &n, &before, &fraction);
	struct sample_value value = {f->before, VALUE_OK, (uint64_t)llround(before * f->scale), 1};
	struct raw_sample s = {.cpu = UINT32_MAX,
			       .flags = SAMPLE_TIMELESS,
			       .event = f->event,
			       .weight = (uint64_t)llround(count * f->scale),
			       .hits = count * f->rate < 1 ? 1 : (uint64_t)llround(count * f->rate),
			       .effective = count * f->worth};
	size_t who = f->austin ? austin_thread(line, n, &s) : bracket_thread(f, line, n, &s);
	line += who;
	n -= who;
	for (size_t end = n; n;) {
		const char *semicolon = memrchr(line, ';', end);
		size_t start = semicolon ? (size_t)(semicolon - line) + 1 : 0;
		if (end > start && vec_push(&f->frames, (f->austin ? austin_frame : frame_of)(
								f, line + start, end - start)))
			return -ENOMEM;
		if (!semicolon)
			break;
		end = start - 1;
	}
	if (!f->frames.len && vec_push(&f->frames, FRAME_UNKNOWN))
		return -ENOMEM;
	if (!(count > 0) && !(before > 0))
		return 0;
	if (before > 0) {
		s.values = &value;
		s.nvalues = 1;
	}
	if (!(count > 0)) {
		s.hits = 0;
		s.flags |= SAMPLE_ACCOUNTED;
	}
	s.frames = f->frames.data;
	s.nframes = (uint32_t)f->frames.len;
	if (f->austin)
		s.hits = 1;
	s.cut = (uint8_t)import_cut(f->im, s.frames, s.nframes);
	f->im->sink->ops->sample(f->im->sink->ctx, &s);
	return 0;
}

struct look {
	unsigned lines, good, stacks;
	unsigned tables; /* of the good ones, with another number before the last, or indented */
};

static bool ends_in_number(const char *s, size_t n)
{
	size_t i = n;
	while (i && (unsigned)(s[i - 1] - '0') < 10)
		i--;
	return i < n && (!i || s[i - 1] == ' ' || s[i - 1] == '\t');
}

static struct look look_at(const uint8_t *head, size_t n, bool whole)
{
	struct look l = {0};
	const char *p = (const char *)head, *end = p + n;
	while (p < end && l.lines < 1000) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = nl ? (size_t)(nl - p) : (size_t)(end - p), stack;
		if (len && p[len - 1] == '\r')
			len--;
		double count;
		bool fraction;
		if (!nl && !whole)
			break;
		if (len && p[0] != '#') {
			l.lines++;
			/* "key: 12" and "key = 12" are some other text */
			if (split_count(p, len, &stack, &count, &fraction) && stack &&
			    !strchr(":=", p[stack - 1]) && p[len - 1] != '.') {
				l.good++;
				l.tables += p[0] == ' ' || p[0] == '\t' || ends_in_number(p, stack);
				l.stacks += memchr(p, ';', stack) != NULL;
			}
		}
		p = nl ? nl + 1 : end;
	}
	return l;
}

/* A stack may begin with "[unknown]". */
static bool looks_like_json(const uint8_t *head, size_t n)
{
	size_t i = 1;
	while (i < n && strchr(" \t\r\n", head[i]))
		i++;
	return head[0] == '{' || (head[0] == '[' && (i == n || strchr("{[\"]", head[i])));
}

static int folded_recognise(const uint8_t *head, size_t n)
{
	if (!n || memchr(head, 0, n < 4096 ? n : 4096) || looks_like_json(head, n))
		return 0;
	struct look l = look_at(head, n, n < 64 << 10);
	if (!l.good || l.good * 3 < l.lines)
		return 0;
	/* Without one semicolon, words and numbers may be of anything. */
	return l.stacks ? 60 : l.good == l.lines && !l.tables ? 30 : 0;
}

/*
 * Weights a count: 1, or a million where counts have fractions, or less where the sum would not
 * fit. Reads the whole stream and begins it anew.
 */
static int choose_scale(struct import *im, double *ret_scale, struct totals *ret_totals,
			struct err *err)
{
	double sum = 0, count, scale = 1;
	*ret_totals = (struct totals){0};
	bool fractions = false, fraction;
	size_t len, stack;
	char *line;
	int rc = stream_rewind(im->in, err);
	if (!rc)
		stream_utf8(im->in);
	while (!rc && stream_line(im->in, &line, &len)) {
		if (!import_go_on(im))
			rc = -ECANCELED;
		else if (len && line[0] != '#' &&
			 split_count(line, len, &stack, &count, &fraction)) {
			double before = 0;
			ret_totals->stacks += stack > 0;
			ret_totals->pairs += stack &&
					     split_before(line, &stack, &before, &fraction);
			fractions |= fraction;
			sum += count > before ? count : before;
			ret_totals->lines += count > 0;
			uint64_t a = (uint64_t)count, b = ret_totals->period;
			for (uint64_t rest; b; a = b, b = rest)
				rest = a % b;
			ret_totals->period = a;
		}
	}
	for (scale = fractions ? FRACTION : 1; sum * scale > WEIGHT_MAX;)
		scale /= 10;
	rc = rc ? rc : stream_rewind(im->in, err);
	if (!rc)
		stream_utf8(im->in);
	*ret_scale = scale;
	ret_totals->sum = sum;
	if (fractions)
		ret_totals->period = 0;
	return rc;
}

/*
 * "# nanoseconds of NAME, N samples worth E" at the top, as our own exporter writes it: counts are
 * times. Returns the samples a count, and those of equal weight that would say as much.
 */
static double take_unit(struct import *im, double sum, struct event_desc *d, double *ret_worth)
{
	static const char mark[] = "# nanoseconds of ";
	char line[192];
	const uint8_t *head;
	size_t n = stream_peek(im->in, sizeof line - 1, &head), len = sizeof mark - 1;
	n = n < sizeof line - 1 ? n : sizeof line - 1;
	memcpy(line, head, n);
	line[n] = 0;
	line[strcspn(line, "\r\n")] = 0;
	char *comma = strrchr(line, ',');
	if (strncmp(line, mark, len) != 0 || !comma || d->scale != 0 || !(sum > 0))
		return 1;
	static const char worth[] = " samples worth ";
	char *rest;
	double samples = strtod(comma + 1, &rest);
	double effective = strncmp(rest, worth, sizeof worth - 1)
				   ? 0
				   : strtod(rest + sizeof worth - 1, NULL);
	*comma = 0;
	snprintf(d->name, sizeof d->name, "%.*s", (int)sizeof d->name - 1, line + len);
	d->unit = EVENT_NS;
	d->cpu_time = !strncmp(d->name, "cpu", 3) || !strncmp(d->name, "task-clock", 10);
	if (!(samples >= 1 && samples < sum))
		return 0; /* nobody knows: each line is one at least */
	*ret_worth = effective >= 1 && effective < samples ? effective / sum : 0;
	return samples / sum;
}

/* "# austin: 3.4.1" and "# mode: wall" at the top. */
static void take_austin(struct folded *f, double sum, struct event_desc *d)
{
	const uint8_t *head;
	size_t n = stream_peek(f->im->in, 1024, &head);
	const char *p = (const char *)head, *end = p + (n < 1024 ? n : 1024), *nl;
	char mode[8] = "";
	for (; p < end && *p == '#' && (nl = memchr(p, '\n', (size_t)(end - p))); p = nl + 1) {
		f->austin |= nl - p > 10 && !memcmp(p, "# austin: ", 10);
		if (nl - p > 8 && !memcmp(p, "# mode: ", 8))
			snprintf(mode, sizeof mode, "%.*s", (int)(nl - p - 8), p + 8);
	}
	mode[strcspn(mode, "\r ")] = 0;
	bool cpu = !strcmp(mode, "cpu");
	f->austin &= (cpu || !strcmp(mode, "wall")) && d->unit == EVENT_COUNT && !d->scale &&
		     sum < WEIGHT_MAX / 1000;
	if (!f->austin)
		return;
	memcpy(d->name, mode, sizeof mode);
	d->unit = EVENT_NS;
	d->cpu_time = cpu;
	f->scale = 1000;
}

/* The first of two counts is an event of its own, read along. */
static void take_difference(struct folded *f, const struct totals *t, const struct event_desc *d)
{
	f->differs = t->stacks && t->pairs == t->stacks && d->unit == EVENT_COUNT && !f->austin;
	if (!f->differs)
		return;
	struct event_desc before = {.name = "before", .scale = d->scale};
	f->before = import_event_desc(f->im, &before);
	f->im->sink->ops->say(f->im->sink->ctx,
			      "every line has two counts: the second is shown, the first is the "
			      "event before");
}

/* Counts that are sums of one period: so many samples there were. */
static void take_period(struct folded *f, const struct totals *t, const struct event_desc *d)
{
	char text[128];
	if (t->period < PERIOD_MIN || t->lines < 2 || f->austin || d->unit != EVENT_COUNT)
		return;
	f->rate = 1 / (double)t->period;
	snprintf(text, sizeof text,
		 "all counts are multiples of %llu: each %llu is taken for a sample",
		 (unsigned long long)t->period, (unsigned long long)t->period);
	f->im->sink->ops->say(f->im->sink->ctx, text);
}

static int folded_run(struct import *im, struct err *err)
{
	struct folded f = {.im = im};
	struct totals totals;
	int first = choose_scale(im, &f.scale, &totals, err);
	if (first)
		return first;
	struct event_desc d = {
		.name = "samples", .sampled = true, .scale = f.scale != 1 ? 1 / f.scale : 0};
	f.rate = take_unit(im, totals.sum, &d, &f.worth);
	take_austin(&f, totals.sum, &d);
	take_period(&f, &totals, &d);
	f.event = import_event_desc(im, &d);
	take_difference(&f, &totals, &d);
	map64_init(&f.memo);
	char *line;
	size_t len, stack;
	uint64_t number = 0;
	double count;
	bool fraction;
	int rc = 0;
	while (!rc && stream_line(im->in, &line, &len)) {
		number++;
		if (!import_go_on(im))
			rc = -ECANCELED;
		else if (!len || line[0] == '#')
			continue;
		else if (split_count(line, len, &stack, &count, &fraction))
			rc = add_stack(&f, line, stack, count);
		else
			import_skip(im, number);
	}
	if (rc == -ENOMEM)
		err_set(err, ENOMEM, "no memory at line %llu", (unsigned long long)number);
	map64_fini(&f.memo);
	vec_fini(&f.frames);
	return rc;
}

const struct importer_ops importer_folded = {"folded stacks", VIEW_FUNCTIONS, folded_recognise,
					     folded_run};
