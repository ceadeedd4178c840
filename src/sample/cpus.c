/*
 * cpus: lists of CPUs as /sys and -C write them: "0-3,8". Pure but for reading the online list.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "sample/ringset.h"

#define CPUS_MAX 8192

struct cpu_list {
	VEC(int)
};

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* One "7" or "2-5"; returns what follows, NULL: neither. */
static const char *range_parse(const char *s, long *ret_first, long *ret_last)
{
	char *end;

	if (*s < '0' || *s > '9')
		return NULL;
	*ret_first = *ret_last = strtol(s, &end, 10);
	if (*end == '-') {
		if (end[1] < '0' || end[1] > '9')
			return NULL;
		*ret_last = strtol(end + 1, &end, 10);
	}
	if (*ret_first > *ret_last || *ret_last >= CPUS_MAX)
		return NULL;
	return end;
}

int cpus_parse(const char *list, int **ret_cpus, uint32_t *ret_n)
{
	struct cpu_list l = {0};
	long first, last;
	uint32_t n = 0;

	for (const char *s = list;; s++) {
		s = range_parse(s, &first, &last);
		if (!s || (*s != ',' && *s != '\0' && *s != '\n') || l.len > CPUS_MAX) {
			vec_fini(&l);
			return -EINVAL;
		}
		for (; first <= last; first++)
			if (vec_push(&l, (int)first)) {
				vec_fini(&l);
				return -ENOMEM;
			}
		if (*s != ',')
			break;
	}
	qsort(l.data, l.len, sizeof *l.data, by_number);
	for (size_t i = 0; i < l.len; i++)
		if (!n || l.data[n - 1] != l.data[i])
			l.data[n++] = l.data[i];
	*ret_cpus = l.data;
	*ret_n = n;
	return 0;
}

static int online_read(int **ret_cpus, uint32_t *ret_n)
{
	char text[4096] = "";
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");

	if (f) {
		if (!fgets(text, sizeof text, f))
			text[0] = '\0';
		fclose(f);
	}
	/* Without /sys: as many as /proc/stat tells; those that are offline turn out to be. */
	if (!text[0])
		snprintf(text, sizeof text, "0-%ld", sysconf(_SC_NPROCESSORS_CONF) - 1);
	return cpus_parse(text, ret_cpus, ret_n);
}

int cpus_read(const char *list, int **ret_cpus, uint32_t *ret_n, struct err *err)
{
	int *online = NULL, *wanted;
	uint32_t nonline, nwanted;
	int rc = online_read(&online, &nonline);

	if (rc)
		return err_set(err, -rc, "the list of CPUs cannot be read");
	if (!list) {
		*ret_cpus = online;
		*ret_n = nonline;
		return 0;
	}
	rc = cpus_parse(list, &wanted, &nwanted);
	if (rc) {
		free(online);
		return err_set(err, -rc, "-C %s: CPUs are named like 0-3,8", list);
	}
	for (uint32_t i = 0; i < nwanted && !rc; i++)
		if (!bsearch(&wanted[i], online, nonline, sizeof *online, by_number))
			rc = err_set(err, ENODEV, "-C %s: CPU %d is not online", list, wanted[i]);
	free(online);
	if (rc) {
		free(wanted);
		return rc;
	}
	*ret_cpus = wanted;
	*ret_n = nwanted;
	return 0;
}
