#include "answer.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "alloc/prove/certificate.h"
#include "alloc/problem/classes.h"
#include "alloc/place/constrained.h"
#include "deal.h"
#include "draw.h"
#include "entities.h"
#include "alloc/prove/multipliers.h"
#include "pop.h"

static const double feasible = 1e-9;
static const char too_far[] =
    "the numbers of this table are too far apart for double precision";

/* What each class was told of its deadline, for its jobs. */
static void
deal_late(struct answer *a, const struct gv_classes *c)
{
	bool *late = a->s.late;
	size_t i;

	if (late == NULL)
		return;
	a->s.late = gv_xcalloc(a->p.n, sizeof(*late));
	for (i = 0; i < a->p.n; i++)
		a->s.late[i] = late[c->of[i]];
	free(late);
}

/* Policies of cost divide by prices, budgets count them. */
static int
check_prices(const struct gv_policy *policy, const struct gv_solve_options *opt,
    const struct gv_cluster *c, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];
	size_t i;
	int rc = 0;

	for (i = 0; (policy->prices || opt->budget > 0) && i < c->n_types; i++)
		if (c->type[i].gpus > 0 && !(c->type[i].usd_per_h > 0))
			rc = gv_error_set(e,
			    "%s%s needs a usd_per_h above 0 of every GPU type; %s has "
			    "none",
			    policy->prices ? "policy " : "",
			    policy->prices ? policy->name : "--budget",
			    gv_quote(q, c->type[i].name, strlen(c->type[i].name)));
	return rc;
}

/* The multipliers of the classes, for their jobs. */
static void
deal_multipliers(struct answer *a, const struct gv_classes *c)
{
	struct gv_multipliers *to = &a->s.multipliers;
	struct gv_multipliers of = *to;
	size_t i;

	if (of.job == NULL)
		return;
	to->job = gv_xcalloc(a->p.n, sizeof(*to->job));
	to->time = gv_xcalloc(a->p.n, sizeof(*to->time));
	for (i = 0; i < a->p.n; i++) {
		to->job[i] = of.job[c->of[i]];
		to->time[i] = of.time[c->of[i]];
	}
	free(of.job);
	free(of.time);
}

/* The pairs of the classes, for pairs of their jobs. */
static void
deal_shared(struct answer *a, const struct gv_classes *c)
{
	struct gv_pair *pair = a->s.pair;

	if (a->p.together == NULL)
		return;
	a->s.pair = deal_pairs(c, a->p.n, a->rank, pair, a->s.n_pairs, &a->s.n_pairs);
	free(pair);
}

/* Tables have finite numbers: what a program has that is not is made of them. */
static void
say_too_far(struct gv_error *e)
{
	static const char invalid[] = "linear program: ";

	if (e->count == 0 || strncmp(e->text[0], invalid, sizeof(invalid) - 1) != 0)
		return;
	gv_error_clear(e);
	gv_error_set(e, "%s", too_far);
}

int
answer_solve(struct answer *a, const struct gv_policy *policy,
    const struct gv_solve_options *opt, bool merge, struct gv_error *e)
{
	struct gv_classes c;
	double *x;
	double excess;
	int rc;

	gv_classes_make(&c, &a->p, merge);
	a->n_classes = c.p.n;
	x = gv_xcalloc(c.p.n, c.p.m * sizeof(*x));
	a->s.x = x;
	if (opt->multipliers)
		gv_multipliers_alloc(&a->s.multipliers, c.p.n, c.p.m);
	rc = policy->solve(&c.p, opt, &a->s, e);
	if (rc == -1)
		say_too_far(e);
	if (rc == 0)
		gv_problem_trim(&c.p, x);
	a->s.x = gv_xcalloc(a->p.n, a->p.m * sizeof(*x));
	gv_classes_deal(&c, a->p.n, x, a->s.x);
	deal_shared(a, &c);
	if (rc == 0 && a->p.together != NULL)
		gv_solution_trim(&a->p, &a->s);
	deal_late(a, &c);
	deal_multipliers(a, &c);
	gv_classes_free(&c);
	free(x);
	a->impossible = rc == 1;
	if (rc != 0)
		return rc == 1 ? 0 : -1;
	excess = gv_solution_excess(&a->p, &a->s);
	if (!(excess <= feasible) || !isfinite(a->s.objective) ||
	    (a->s.has_bound && !isfinite(a->s.bound)) ||
	    (a->s.objective <= 0 && !(a->s.has_bound && a->s.bound == 0)))
		return gv_error_set(e, "%s", too_far);
	return 0;
}

struct named {
	struct gv_cell id;
	size_t row;
};

static int
by_id(const void *a, const void *b)
{
	const struct named *x = a;
	const struct named *y = b;

	return strcmp(x->id.s, y->id.s);
}

/* The jobs of a->p in the order of their names. */
static void
rank_jobs(struct answer *a, const struct gv_rates *r)
{
	struct named *job = gv_xcalloc(a->p.n, sizeof(*job));
	size_t i, n = 0;

	a->rank = gv_xcalloc(a->p.n, sizeof(*a->rank));
	for (i = 0; i < r->n_jobs; i++)
		if (a->row[i] != SIZE_MAX)
			job[n++] = (struct named){r->job[i].id, a->row[i]};
	qsort(job, n, sizeof(*job), by_id);
	for (i = 0; i < n; i++)
		a->rank[job[i].row] = i;
	free(job);
}

/* Who can share with whom, where the policy lets them. */
static int
find_pairs(struct answer *a, const struct gv_rates *r, const struct gv_cluster *c,
    const struct gv_policy *policy, const struct gv_solve_options *opt,
    struct gv_error *e)
{
	const struct gv_frame *f = &r->frame;
	size_t i = 0;

	while (i < r->n_rates && r->rate[i].with < 0)
		i++;
	if (i < r->n_rates && !policy->shares)
		return gv_frame_error(f, r->rate[i].row, gv_frame_find(f, "with_job_id"),
		    e, "policy %s gives no GPU to two jobs", policy->name);
	if (i == r->n_rates && opt->pairs == NULL)
		return 0;
	gv_pairs_find(&a->p, &a->together, opt->pairs, r, c, a->type, a->row);
	if (a->p.together != NULL)
		rank_jobs(a, r);
	return 0;
}

int
answer_problem(struct answer *a, const struct gv_rates *r, const struct gv_cluster *c,
    const struct gv_policy *policy, const struct gv_solve_options *opt,
    struct gv_error *e)
{
	unsigned numbers = policy->numbers;

	*a = (struct answer){0};
	a->type = gv_xcalloc(c->n_types, sizeof(*a->type));
	a->row = gv_xcalloc(r->n_jobs, sizeof(*a->row));
	if (policy->entities && opt->inside == INSIDE_FIFO)
		numbers |= 1u << NUMBER_PLACE;
	if (gv_problem_from_rates(&a->p, r, c, numbers, a->type, a->row, e) != 0)
		return -1;
	a->p.budget = opt->budget;
	if (policy->entities && opt->inside != INSIDE_NONE &&
	    gv_frame_find(&r->frame, "entity") >= 0)
		entities_number(&a->p, opt->entities, r, a->row);
	if (a->p.number[NUMBER_DRAW] != NULL)
		draw_order(&a->p, opt->seed, r, a->row);
	return find_pairs(a, r, c, policy, opt, e);
}

/* What is proved of the shares replaces what the policy says of them. */
static void
certify(struct answer *a, enum gv_measure measure)
{
	struct gv_problem p = a->p;
	double *need = answer_needs(a);
	struct gv_certificate c;

	if (p.number[NUMBER_NEED] != NULL)
		p.number[NUMBER_NEED] = need;
	gv_certificate_make(&c, &p, measure, &a->s);
	a->s.exact = c.excess == 0 && c.shortfall <= feasible && isfinite(c.gap);
	a->s.gap = c.gap;
	if (a->s.exact) {
		a->s.objective = c.objective;
		a->s.bound = c.bound;
	}
	free(need);
}

static bool
needs_any(const struct gv_problem *p)
{
	const double *need = p->number[NUMBER_NEED];
	size_t i;

	for (i = 0; need != NULL && i < p->n; i++)
		if (need[i] > 0)
			return true;
	return false;
}

int
answer_make(struct answer *a, const struct gv_rates *r, const struct gv_cluster *c,
    const struct gv_policy *policy, const struct gv_solve_options *opt, bool merge,
    struct gv_error *e)
{
	struct gv_solve_options own = *opt;
	bool proof;

	if (answer_problem(a, r, c, policy, opt, e) != 0 ||
	    check_prices(policy, opt, c, e) != 0)
		return -1;
	if (opt->agnostic)
		gv_problem_agnostic(&a->p);
	if ((opt->placeable || opt->budget > 0) && a->p.together != NULL)
		return gv_error_set(e, "%s does not go together with rows of two jobs",
		    opt->placeable ? "--placeable" : "--budget");
	proof = opt->certify && policy->multipliers &&
		gv_certificate_possible(&a->p, policy->measure);
	if (proof) {
		own.certify = false;
		own.multipliers = true;
	}
	if (opt->pop > 1 && needs_any(&a->p))
		return gv_error_set(e, "--pop: deadlines are not met part by part");
	if (a->p.n > 0 && opt->pop > 1)
		return pop_solve(a, r, policy, &own, merge, e);
	if (a->p.n > 0 && answer_solve(a, policy, &own, merge, e) != 0)
		return -1;
	if (proof && a->p.n > 0 && !a->impossible && a->s.multipliers.known)
		certify(a, policy->measure);
	return 0;
}

void
answer_free(struct answer *a)
{
	gv_problem_free(&a->p);
	gv_together_free(&a->together);
	free(a->rank);
	free(a->type);
	free(a->row);
	free(a->s.x);
	free(a->s.pair);
	free(a->s.late);
	gv_multipliers_free(&a->s.multipliers);
	*a = (struct answer){0};
}

double *
answer_needs(const struct answer *a)
{
	const double *need = a->p.number[NUMBER_NEED];
	double *met = gv_xcalloc(a->p.n, sizeof(*met));
	size_t i;

	for (i = 0; need != NULL && i < a->p.n; i++)
		met[i] = isinf(need[i])        ? 0
			 : a->s.relaxation > 1 ? need[i] / a->s.relaxation
					       : need[i];
	return met;
}

/* Names of a policy's program, and of rows behind its own. */
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
answer_write_lp(const struct answer *a, const struct gv_rates *r,
    const struct gv_cluster *c, const struct gv_policy *policy, struct gv_out *out)
{
	struct gv_lp lp = {0};
	struct longer_names n = {0};
	struct gv_lp_names names = {longer_row, longer_col, &n, NULL};
	struct gv_strbuf head = {0};
	struct gv_problem p = a->p;
	double *need = answer_needs(a);
	char q[GV_QUOTE_LEN];
	size_t i, j;

	if (p.number[NUMBER_NEED] != NULL)
		p.number[NUMBER_NEED] = need;
	policy->program(&p, &lp, &n.own);
	free(need);
	n.rows = lp.n_rows;
	gv_constrained_add_budget(&p, &lp, &n.own);
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
