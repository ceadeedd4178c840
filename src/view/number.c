/*
 * number: the one place where figures become text for screens. Decimals are fixed by kind, never by
 * value, and the unknown has a sign of its own. No state, any thread.
 */
#include "number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

static const char *dash(char *ret)
{
	snprintf(ret, NUMBER_TEXT, "%s", NUMBER_DASH);
	return ret;
}

const char *number_percent(char ret[NUMBER_TEXT], double share)
{
	if (!(share >= 0))
		return dash(ret);
	if (share >= 100)
		snprintf(ret, NUMBER_TEXT, "%.0f", fmin(share, 1e9) * 100);
	else
		snprintf(ret, NUMBER_TEXT, "%.1f", share * 100);
	return ret;
}

const char *number_grouped(char ret[NUMBER_TEXT], uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)v), out = 0;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			ret[out++] = ',';
		ret[out++] = digits[i];
	}
	ret[out] = '\0';
	return ret;
}

const char *number_short(char ret[NUMBER_TEXT], double v)
{
	static const char suffix[] = " kMGTPE";
	double a = fabs(v);
	unsigned i = 0;

	if (isnan(v))
		return dash(ret);
	while (a >= 999.5 && i + 2 < sizeof suffix) {
		a /= 1000;
		v /= 1000;
		i++;
	}
	if (i == 0)
		snprintf(ret, NUMBER_TEXT, "%.0f", v);
	else
		snprintf(ret, NUMBER_TEXT, "%.*f%c", a >= 99.95 ? 0 : 1, v, suffix[i]);
	return ret;
}

const char *number_fixed(char ret[NUMBER_TEXT], double v, int digits)
{
	if (isnan(v))
		return dash(ret);
	if (fabs(v) >= 99999.5)
		return number_short(ret, v);
	snprintf(ret, NUMBER_TEXT, "%.*f", digits < 0 ? 0 : digits > 9 ? 9 : digits, v);
	return ret;
}

const char *number_ns(char ret[NUMBER_TEXT], double ns)
{
	static const struct {
		double over, unit;
		const char *name;
	} steps[] = {{999.5, 1, "ns"},
		     {999.5e3, 1e3, "\xc2\xb5s"},
		     {999.5e6, 1e6, "ms"},
		     {INFINITY, 1e9, "s"}};
	double a = fabs(ns), v;
	unsigned i = 0;

	if (isnan(ns))
		return dash(ret);
	while (i < 3 && a >= steps[i].over)
		i++;
	v = ns / steps[i].unit;
	snprintf(ret, NUMBER_TEXT, "%.*f %s",
		 i == 0 || fabs(v) >= 99.95 ? 0
		 : fabs(v) >= 9.995         ? 1
					    : 2,
		 fmin(v, 1e12), steps[i].name);
	return ret;
}

const char *number_bytes(char ret[NUMBER_TEXT], double bytes)
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	unsigned i = 0;

	if (!(bytes >= 0))
		return dash(ret);
	while (bytes >= 1023.5 && i < 4) {
		bytes /= 1024;
		i++;
	}
	snprintf(ret, NUMBER_TEXT, "%.*f %s", i == 0 || bytes >= 99.95 ? 0 : 1, fmin(bytes, 1e12),
		 names[i]);
	return ret;
}

const char *number_elapsed(char ret[NUMBER_TEXT], uint64_t ns)
{
	unsigned long long s = ns / 1000000000ULL;

	if (s < 3600)
		snprintf(ret, NUMBER_TEXT, "%llu:%02llu", s / 60, s % 60);
	else if (s < 100 * 3600)
		snprintf(ret, NUMBER_TEXT, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
	else
		snprintf(ret, NUMBER_TEXT, "%llud%02lluh", s / 86400, s / 3600 % 24);
	return ret;
}

const char *number_window(char ret[NUMBER_TEXT], uint64_t ns)
{
	if (!ns)
		snprintf(ret, NUMBER_TEXT, "all");
	else if (ns % 1000000000ULL)
		snprintf(ret, NUMBER_TEXT, "%.1f s", (double)ns / 1e9);
	else
		snprintf(ret, NUMBER_TEXT, "%llu s", (unsigned long long)(ns / 1000000000ULL));
	return ret;
}
