/*
 * doctor_report: gathers the checks of all rooms into one text.
 *
 * Runs on the engine's jobs thread, or on the main thread for --doctor.
 */
#include "proc/doctor.h"
#include "session.h"

char *doctor_report(void *ctx)
{
	static const struct doctor_check *const lists[] = {doctor_checks, NULL};

	return doctor_text(ctx, lists, NULL);
}
