/*
 * --changes: the table that the last question left, which tables of changes make into the
 * next one (gv-tables(5), "Changes").
 */
#ifndef GV_ALLOC_STANDING_H
#define GV_ALLOC_STANDING_H

#include "alloc/answer/answer.h"
#include "options.h"
#include "sched/rates.h"

/* = {0} is none. */
struct standing {
	bool known;
	struct gv_rates r;
	size_t cap_jobs, cap_rates;
	size_t *first; /* [r.n_jobs + 1] of its rates, which stand together */
	double *said;  /* [r.n_rates] its share in the last answer */
};

/*
 * Whether the table can be told changes of: reads is then what a column of that name says
 * of each job, the columns whose numbers count.  Else NULL.
 */
const char *standing_reads(const struct options *o, const struct gv_rates *r);

/* Keeps a whole table, which is taken over, and what it was answered. */
void standing_keep(struct standing *s, struct gv_rates *r, const struct gv_answer *a);

/* Whether the present table of t is one of changes. */
bool standing_is_change(const struct gv_tab *t);

/* Makes s->r the next table.  0, or -1 with *e set. */
int standing_change(
    struct standing *s, struct gv_tab *t, const struct gv_cluster *c, struct gv_error *e);

/* Writes the rows whose shares are others than in the last answer. */
void standing_write(struct standing *s, const struct gv_answer *a,
    const struct gv_cluster *c, struct gv_tabw *w);

void standing_free(struct standing *s); /* also of a zeroed one */

#endif
