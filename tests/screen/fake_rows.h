/* fake_rows: what the makers of fake answers share. */
#ifndef ALTPTTOP_FAKE_ROWS_H
#define ALTPTTOP_FAKE_ROWS_H

#include "fake.h"

struct row *fake_add(struct arena *arena, struct row *rows, uint32_t *n);
/* The value as it is, or moving a little from answer to answer. */
double fake_wobble(struct fake *f, double v, unsigned seed);
void fake_share(struct fake *f, struct row *r, double self, double total, unsigned seed);
void fake_ipc(struct fake *f, struct row *r, double v); /* NAN: not known */

typedef void fake_rows_fn(struct fake *f, struct arena *arena, struct answer *a, struct row *rows);
fake_rows_fn fake_events_of, fake_topdown_of, fake_verdicts_of, fake_analysis_of, fake_text_of;

#endif
