/*
 * demo: the bundled workload of --demo: a small make-believe server with named threads, call paths
 * worth reading, a contended lock, sleeping I/O and some kernel time. About one and a half CPUs.
 */
#ifndef ALTPTTOP_DEMO_H
#define ALTPTTOP_DEMO_H

#include <stddef.h>
#include <stdint.h>

/*
 * Run in a forked child until killed; the child dies with the process that forked it. Returns an
 * exit status only when it cannot start.
 */
int demo_workload(void);

/* What one thread of it owns; jobs keep everything they touch in here, the shared index apart. */
#define DEMO_TEXT_BYTES 16384
struct demo_thread {
	uint64_t random;
	uint64_t sum; /* results go here, so that no work can be optimised away */
	char text[DEMO_TEXT_BYTES];
	char page[4 * DEMO_TEXT_BYTES];
	double *matrices;
	int fd;
};

/* One portion of work each, about a millisecond. Implemented in demo_jobs.c and demo_server.c. */
void demo_sort_records(struct demo_thread *t);
void demo_transform_scene(struct demo_thread *t);
void demo_compress_block(struct demo_thread *t);
void demo_write_log(struct demo_thread *t);
void demo_serve_request(struct demo_thread *t);
void demo_reindex(struct demo_thread *t);

uint32_t demo_random(struct demo_thread *t, uint32_t below);

#endif
