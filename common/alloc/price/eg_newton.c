/*
 * Newton's step on the barrier of eg_barrier.h.
 *
 * A job's l and time are coupled with those of others only by the prices, so they are
 * eliminated one job after another (Schur complement); written as sums of numbers >= 0,
 * what is left keeps its digits however small mu is.  Slacks go along with the steps: their
 * differences would lose them.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "eg_barrier.h"

/* ---- one job ---- */

/* y of type j joins types that are all slower, or all faster, by apart in the mean. */
static void
join(struct gv_eg_sums *t, double y, double own)
{
	double all = t->y + y;

	if (y == 0)
		return;
	t->squares += t->y * y / all * (t->apart * t->apart);
	t->apart *= t->y / all;
	t->y = all;
	t->own += own;
}

/*
 * Of all types sum_{k<q} y_k y_q (a_k - a_q)^2 + sum_k own_k; the same without type j into
 * without[j].  That is what the slower and the faster types have each, by how far their means
 * are from a_j: sums of numbers >= 0 along the order of rates, so no term is the rounding
 * of another.
 */
static double
sum_without_each(struct gv_eg_barrier *s, size_t i, double curve, double clock)
{
	const double *a = s->a[i], *y = s->bend;
	const size_t *order = s->order[i];
	struct gv_eg_sums t = {0};
	size_t at, j;

	for (at = 0; at < s->n_types[i]; at++) {
		j = order[at];
		t.apart += at > 0 ? a[j] - a[order[at - 1]] : 0;
		s->slower[at] = t;
		join(&t, y[j], y[j] * (curve + clock * a[j] * a[j]));
	}
	for (t = (struct gv_eg_sums){0}; at-- > 0;) {
		const struct gv_eg_sums *u = &s->slower[at];
		double apart;

		j = order[at];
		t.apart += at + 1 < s->n_types[i] ? a[order[at + 1]] - a[j] : 0;
		apart = u->apart + t.apart;
		s->without[j] = (u->y + t.y) * (u->squares + t.squares) +
				u->y * t.y * (apart * apart) + u->own + t.own;
		join(&t, y[j], y[j] * (curve + clock * a[j] * a[j]));
	}
	return t.y * t.squares + t.own;
}

/*
 * The Newton equations H d = -g of a job, per job of its row, of its terms
 *
 *	time - log l - mu log time - mu sum_j log (s p_j + time - l a_j)
 *
 * in the steps of l and of the slack of its type r, whose share bends the barrier most: in
 * those of l and time the others would drown.  With y_j = mu / slack_j^2 (bend) the slack
 * of type j is slack_r + l (a_r - a_j) + s (p_j - p_r), so H_ll = sum_j y_j (a_r - a_j)^2 + 1 / l^2
 * + a_r^2 mu / time^2, and det H is a sum of products of numbers >= 0.
 */
struct newton_system {
	size_t r;
	double l, slack;     /* gradient */
	double ll, ls, ss;   /* Hessian */
	double curve, clock; /* what l and time alone add to it */
	double det;
};

static struct newton_system
newton_system(struct gv_eg_barrier *s, size_t i)
{
	const double *a = s->a[i];
	double time = s->mu / s->time[i]; /* left */
	struct newton_system o = {.r = s->m, .slack = 1 - time};
	double plain = 0; /* of y */
	double *bend = s->bend;
	size_t j;

	for (j = 0; j < s->m; j++) {
		double slack = s->slack[i * s->m + j];

		bend[j] = a[j] > 0 ? s->bend_mu / slack / slack : 0;
		if (a[j] > 0 && (o.r == s->m || bend[j] > bend[o.r]))
			o.r = j;
	}
	o.curve = 1 / (s->l[i] * s->l[i]);
	o.clock = s->bend_mu / s->time[i] / s->time[i];
	o.l = a[o.r] * (1 - time) - 1 / s->l[i];
	for (j = 0; j < s->m; j++) {
		double y = s->bend[j];
		double x = s->mu / s->slack[i * s->m + j];
		double slower = a[o.r] - a[j];

		if (a[j] == 0)
			continue;
		o.l -= x * slower;
		o.slack -= x;
		o.ll += y * slower * slower;
		o.ls += y * slower;
		plain += y;
	}
	o.det = o.curve * o.clock + sum_without_each(s, i, o.curve, o.clock);
	o.ll += o.curve + o.clock * a[o.r] * a[o.r];
	o.ls += o.clock * a[o.r];
	o.ss = plain + o.clock;
	return o;
}

/* The job's step when prices go by d_price; NULL: they stay. */
static void
job_step(struct gv_eg_barrier *s, size_t i, const struct newton_system *o,
    const double *d_price)
{
	const double *a = s->a[i];
	double *d_slack = &s->d_slack[i * s->m];
	double first = d_price != NULL ? s->scale[i] * d_price[o->r] : 0;
	double l = o->clock * a[o->r] * first - o->l;
	double slack = o->clock * first - o->slack;
	size_t j;

	for (j = 0; j < s->m; j++) {
		d_slack[j] = d_price != NULL && a[j] > 0
				 ? s->scale[i] * (d_price[j] - d_price[o->r])
				 : 0;
		l -= s->bend[j] * (a[o->r] - a[j]) * d_slack[j];
		slack -= s->bend[j] * d_slack[j];
	}
	s->d_l[i] = (o->ss * l - o->ls * slack) / o->det;
	slack = (o->ll * slack - o->ls * l) / o->det;
	s->d_time[i] = slack - first + a[o->r] * s->d_l[i];
	for (j = 0; j < s->m; j++)
		d_slack[j] =
		    a[j] > 0 ? d_slack[j] + slack + (a[o->r] - a[j]) * s->d_l[i] : 0;
}

/*
 * What the job adds for the type at that place of the order of rates with each one before it,
 * which is no faster: y_j y_k / det times curve + clock a_j a_k + sum_q y_q (a_j - a_q) (a_k - a_q).
 * Terms of q before k or behind j are >= 0, those between them <= 0; each kind is summed up by
 * itself as k goes down: with sums of y_q (a_j - a_q), and of those times how far k is from q.
 */
static void
add_slower(struct gv_eg_barrier *s, size_t i, const struct newton_system *o, size_t at,
    double times)
{
	const double *a = s->a[i], *y = s->bend;
	const size_t *order = s->order[i];
	size_t j = order[at], m = s->m, q, k;
	double behind = 0,
	       behind_2 = 0;        /* q behind j: y_q (a_q - a_j), and its square's */
	double *before = s->before; /* [m] of q before each k */
	double slope = 0, between = 0;
	double last = a[j];

	for (q = at + 1; q < s->n_types[i]; q++) {
		double d = a[order[q]] - a[j];

		behind += y[order[q]] * d;
		behind_2 += y[order[q]] * d * d;
	}
	for (q = 0; q < at; q++) {
		double up = q > 0 ? a[order[q]] - a[order[q - 1]] : 0;

		before[q] = q > 0 ? before[q - 1] + slope * up : 0;
		slope += y[order[q]] * (a[j] - a[order[q]]);
	}
	slope = 0;
	for (q = at; q-- > 0;) {
		double sum;

		k = order[q];
		between += slope * (last - a[k]);
		slope += y[k] * (a[j] - a[k]);
		last = a[k];
		sum = o->curve + o->clock * a[j] * a[k] + before[q] +
		      (behind_2 + behind * (a[j] - a[k])) - between;
		s->schur[j > k ? j * m + k : k * m + j] -=
		    times * y[j] * (y[k] * (sum / o->det));
	}
}

/*
 * The Schur complement of the job: with z its own unknowns, H_pp - H_pz H_zz^-1 H_zp into
 * schur, the gradient g_p - H_pz H_zz^-1 g_z into d_price.
 */
static void
add_job(struct gv_eg_barrier *s, size_t i)
{
	const double *a = s->a[i];
	struct newton_system o = newton_system(s, i);
	double both = s->scale[i] * s->scale[i] * s->count[i];
	double ahead = s->bend_mu / s->mu;
	size_t j;

	job_step(s, i, &o, NULL);
	for (j = 0; j < s->m; j++) {
		double slack = s->slack[i * s->m + j];
		double y = s->bend[j];

		if (a[j] == 0)
			continue;
		s->d_price[j] += s->count[i] * s->scale[i] * (s->mu / slack) *
				 (1 - ahead * s->d_slack[i * s->m + j] / slack);
		s->schur[j * s->m + j] +=
		    both * y * ((o.curve * o.clock + s->without[j]) / o.det);
	}
	for (j = 0; j < s->n_types[i]; j++)
		add_slower(s, i, &o, j, both);
}

/* The job's part of the step, from that of the prices; returns how fast it makes the barrier fall. */
static double
decrement_of_job(struct gv_eg_barrier *s, size_t i)
{
	struct newton_system o = newton_system(s, i);
	double fall;
	size_t j;

	job_step(s, i, &o, s->d_price);
	fall = s->d_l[i] / s->l[i] - s->d_time[i] * (1 - s->mu / s->time[i]);
	for (j = 0; j < s->m; j++)
		if (s->a[i][j] > 0)
			fall += s->d_slack[i * s->m + j] * s->mu / s->slack[i * s->m + j];
	return s->count[i] * fall;
}

/* ---- all ---- */

/* How fast the fixed and its own barrier make the sum fall with price p of type j. */
double
gv_eg_price_fall(const struct gv_eg_barrier *s, size_t j, double p)
{
	return s->fixed.own[j] / p - s->fixed.slope[j] + s->mu / (p - s->low[j]) -
	       s->mu / (s->high[j] - p);
}

/* The part of fixed jobs and of the borders of prices in the equations. */
static void
add_fixed(struct gv_eg_barrier *s)
{
	const struct gv_eg_fixed *f = &s->fixed;
	size_t m = s->m, j, k;

	for (j = 0; j < m; j++) {
		double p = s->price[j];

		s->d_price[j] = 0;
		memset(&s->schur[j * m], 0, m * sizeof(*s->schur));
		if (!s->has_gpus[j])
			continue;
		s->d_price[j] = gv_eg_price_fall(s, j, p);
		s->schur[j * m + j] = f->own[j] / p / p +
				      s->bend_mu / (p - s->low[j]) / (p - s->low[j]) +
				      s->bend_mu / (s->high[j] - p) / (s->high[j] - p);
	}
	for (j = 0; j < m; j++)
		for (k = 0; k < m; k++) {
			double n = f->pair[j * m + k];
			double d = s->price[j] - s->price[k];

			if (n == 0)
				continue;
			s->d_price[j] += n / d;
			s->d_price[k] -= n / d;
			s->schur[j * m + j] += n / d / d;
			s->schur[k * m + k] += n / d / d;
			s->schur[(j > k ? j : k) * m + (j > k ? k : j)] -= n / d / d;
		}
}

/* The fall along the prices' step by the fixed and their own barrier. */
static double
decrement_of_fixed(const struct gv_eg_barrier *s)
{
	const struct gv_eg_fixed *f = &s->fixed;
	double fall = 0;
	size_t m = s->m, j, k;

	for (j = 0; j < m; j++) {
		if (s->has_gpus[j])
			fall += s->d_price[j] * gv_eg_price_fall(s, j, s->price[j]);
		for (k = 0; k < m; k++)
			if (f->pair[j * m + k] > 0)
				fall += f->pair[j * m + k] *
					(s->d_price[j] - s->d_price[k]) /
					(s->price[j] - s->price[k]);
	}
	return fall;
}

/* Solves the lower triangle of schur for d_price, by Cholesky's factors. */
static void
solve_prices(struct gv_eg_barrier *s)
{
	double *h = s->schur, *b = s->d_price;
	size_t m = s->m, i, j, k;

	for (j = 0; j < m; j++) {
		double first = h[j * m + j];

		if (!s->has_gpus[j])
			first = h[j * m + j] = 1;
		for (i = j; i < m; i++) {
			double sum = h[i * m + j];

			for (k = 0; k < j; k++)
				sum -= h[i * m + k] * h[j * m + k];
			h[i * m + j] = i == j ? sqrt(fmax(sum, first * DBL_EPSILON))
					      : sum / h[j * m + j];
		}
	}
	for (i = 0; i < m; i++) {
		for (k = 0; k < i; k++)
			b[i] -= h[i * m + k] * b[k];
		b[i] /= h[i * m + i];
	}
	for (i = m; i-- > 0;) {
		for (k = i + 1; k < m; k++)
			b[i] -= h[k * m + i] * b[k];
		b[i] /= h[i * m + i];
	}
}

/* The step; returns how fast the barrier falls along it. */
double
gv_eg_newton(struct gv_eg_barrier *s)
{
	double fall;
	size_t i;

	add_fixed(s);
	for (i = 0; i < s->n; i++)
		add_job(s, i);
	solve_prices(s);
	fall = decrement_of_fixed(s);
	for (i = 0; i < s->n; i++)
		fall += decrement_of_job(s, i);
	return fall;
}
