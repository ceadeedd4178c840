/* syscalls: names of the system calls of the machine the program is built for. Any thread. */
#ifndef ALTPTTOP_SYSCALLS_H
#define ALTPTTOP_SYSCALLS_H

const char *syscall_name(long nr); /* static text; NULL: no such call */

#endif
