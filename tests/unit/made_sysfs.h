/*
 * made_sysfs: a directory that stands for /sys/bus/event_source/devices, with PMUs made up by a
 * test. One at a time.
 */
#ifndef ALTPTTOP_MADE_SYSFS_H
#define ALTPTTOP_MADE_SYSFS_H

extern char made_root[64];

/* An empty one, which the program looks into from now on. 0, or -1: it cannot be made. */
int made_sysfs(void);
/* A file below it, "cpu/format/event", with its directories. */
void made_put(const char *file, const char *text);
/* cmocka's teardown: the real ones are looked into again (tracefs too). */
int made_drop(void **state);

#endif
