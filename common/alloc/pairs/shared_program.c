/* The programs of shared.h as --dump-lp writes them. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "master.h"

static void
name_program(const struct gv_master *m, struct gv_lp_names *out)
{
	const struct gv_problem *p = m->p;
	struct gv_lp_name_table *names = gv_lp_name_table(&m->lp, out);
	size_t rows = m->lp.n_rows, i;

	snprintf(names->row[rows - 1], GV_LP_NAME_LEN, "cost"); /* else renamed below */
	for (i = 0; i < p->m; i++)
		snprintf(names->row[i], GV_LP_NAME_LEN, "gpus(%zu)", i + 1);
	for (i = 0; i < p->n; i++) {
		snprintf(names->row[m->time[i]], GV_LP_NAME_LEN, "time(%zu)", i + 1);
		if (m->demand[i] != SIZE_MAX)
			snprintf(names->row[m->demand[i]], GV_LP_NAME_LEN, "%s(%zu)",
			    m->h->gain == NULL ? "level" : "need", i + 1);
	}
	snprintf(names->col[0], GV_LP_NAME_LEN, "t");
	for (i = 0; i < m->n; i++) {
		const struct gv_share *s = &m->share[i];

		if (s->b == SIZE_MAX)
			snprintf(names->col[i + 1], GV_LP_NAME_LEN, "x(%zu,%zu)",
			    s->a + 1, s->type + 1);
		else
			snprintf(names->col[i + 1], GV_LP_NAME_LEN, "y(%zu,%zu,%zu)",
			    s->a + 1, s->b + 1, s->type + 1);
	}
}

static void
use_pair(void *ctx, size_t a, size_t b, size_t pair, size_t type)
{
	gv_master_add(ctx, a, b, pair, type);
}

/* The whole program, in the units of the problem. */
static void
make_all(struct gv_master *m, const struct gv_shared *h)
{
	struct gv_pricing g;

	gv_master_init(m, h, true);
	gv_pricing_init(&g, h->p);
	gv_pricing_all(&g, use_pair, m);
	gv_pricing_free(&g);
	if (h->gain != NULL) {
		gv_master_set_objective(m, 0, 1);
		gv_master_fix_level(m, 1);
	}
}

static void
hand_out(struct gv_master *m, struct gv_lp *lp, struct gv_lp_names *names)
{
	name_program(m, names);
	*lp = m->lp;
	m->lp = (struct gv_lp){0};
	gv_master_free(m);
}

void
gv_shared_program(const struct gv_shared *h, struct gv_lp *lp, struct gv_lp_names *names)
{
	struct gv_master m;

	make_all(&m, h);
	hand_out(&m, lp, names);
}

void
gv_shared_ratio_program(const struct gv_shared *h, const double *cost, struct gv_lp *lp,
    struct gv_lp_names *names)
{
	const struct gv_problem *p = h->p;
	struct gv_master m;
	size_t i, row;

	make_all(&m, h);
	m.lp.col_lo[0] = 0;
	m.lp.col_hi[0] = INFINITY;
	for (i = 0; i < p->m; i++) {
		gv_lp_set(&m.lp, i, 0, -m.lp.row_hi[i]);
		m.lp.row_hi[i] = 0;
	}
	for (i = 0; i < p->n; i++) {
		gv_lp_set(&m.lp, m.time[i], 0, -1);
		m.lp.row_hi[m.time[i]] = 0;
	}
	row = gv_lp_add_row(&m.lp, 1, 1);
	for (i = 0; i < m.n; i++)
		gv_lp_set(
		    &m.lp, row, i + 1, p->scale[m.share[i].a] * cost[m.share[i].type]);
	hand_out(&m, lp, names);
}
