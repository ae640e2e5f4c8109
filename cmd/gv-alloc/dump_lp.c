/* --dump-lp: what the solver was asked, in CPLEX LP format. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer_write.h"
#include "base/strbuf.h"

/* Names of a policy's program, and of rows after its own. */
struct longer_names {
	struct gv_lp_names own;
	size_t rows;
};

static void
longer_row(void *ctx, size_t row, char buf[GV_LP_NAME_LEN])
{
	const struct longer_names *n = ctx;

	if (row < n->rows)
		n->own.row(n->own.ctx, row, buf);
	else
		strcpy(buf, "budget");
}

static void
longer_col(void *ctx, size_t col, char buf[GV_LP_NAME_LEN])
{
	const struct longer_names *n = ctx;

	n->own.col(n->own.ctx, col, buf);
}

void
answer_write_lp(const struct gv_answer *a, const struct gv_rates *r,
    const struct gv_cluster *c, const struct gv_policy *policy, struct gv_out *out)
{
	struct gv_lp lp = {0};
	struct longer_names n = {0};
	struct gv_lp_names names = {longer_row, longer_col, &n, NULL};
	struct gv_strbuf head = {0};
	char q[GV_QUOTE_LEN];
	size_t i, j;

	gv_answer_program(a, policy, &lp, &n.own);
	n.rows = lp.n_rows - (a->p.budget > 0);
	gv_strbuf_fmt(
	    &head, "policy %s; x(i,j): share of job i on GPU type j\n", policy->name);
	if (a->p.together != NULL)
		gv_strbuf_str(&head, "y(i,k,j): of jobs i and k together\n");
	for (j = 0; j < a->p.m; j++)
		for (i = 0; i < c->n_types; i++)
			if (a->type[i] == j)
				gv_strbuf_fmt(&head, "type %zu: %s\n", j + 1,
				    gv_quote(
					q, c->type[i].name, strlen(c->type[i].name)));
	for (i = 0; i < r->n_jobs; i++)
		if (a->row[i] != SIZE_MAX)
			gv_strbuf_fmt(&head, "job %zu: %s\n", a->row[i] + 1,
			    gv_quote(q, r->job[i].id.s, r->job[i].id.len));
	names.head = head.s;
	gv_lp_write(&lp, &names, out);
	gv_strbuf_free(&head);
	free(n.own.ctx);
	gv_lp_free(&lp);
}
