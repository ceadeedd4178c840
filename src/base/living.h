/*
 * living: a thread of a process that has its memory.
 *
 * When the first thread of a process ends before the others, what /proc/PID tells of maps, exe,
 * root and memory is a zombie's: nothing. The same files below /proc/TID of any other thread are
 * the process's (proc_pid(5): /proc/TID is there for every thread, only not listed). Any thread.
 */
#ifndef ALTPTTOP_LIVING_H
#define ALTPTTOP_LIVING_H

#include <sys/types.h>

/* @pid, or where its first thread has ended another thread of it. Costs a read of /proc/PID/stat.
 */
pid_t living_thread(pid_t pid);

#endif
