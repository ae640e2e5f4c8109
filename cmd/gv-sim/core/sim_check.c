/* What must hold: nothing is lost, nothing comes from nowhere. */
#include <math.h>

#include "sim_parts.h"

/* Sums of up to 10^8 pieces of time; each addition rounds by 1e-16 of the sum. */
static const double tolerance = 1e-6;

static bool
differ(double a, double b, double scale)
{
	return !(fabs(a - b) <= tolerance * fmax(1, scale));
}

/* GPU time that the rounds have credited on a type: pairs once. */
static double
credited_gpu_s(const struct gv_rounds *r, size_t type)
{
	double sum = 0;
	size_t m;

	for (m = 0; m < r->n_jobs; m++)
		sum += gv_rounds_claim(r, m, type)->received_s * (double)r->job[m].gang;
	return sum;
}

/* Steps that the time credited to a job, alone and in its pairs, is good for. */
static double
credited_steps(const struct gv_rounds *r, size_t m)
{
	ptrdiff_t pair = r->job[m].pairs;
	double sum = 0;
	size_t j;

	for (j = 0; j < r->n_types; j++)
		sum +=
		    gv_rounds_claim(r, m, j)->received_s * gv_rounds_claim(r, m, j)->rate;
	while (pair >= 0) {
		const struct gv_round_job *p = &r->job[pair];
		bool second = p->member[1] == m;

		for (j = 0; j < r->n_types; j++) {
			const struct gv_round_claim *c =
			    gv_rounds_claim(r, (size_t)pair, j);

			sum += c->received_s * (second ? c->with_rate : c->rate);
		}
		pair = p->next[second];
	}
	return sum;
}

static int
check_types(const struct sim *s, struct gv_error *e)
{
	size_t j;

	for (j = 0; j < s->cluster->n_types; j++) {
		double credited = credited_gpu_s(&s->life.rounds, j);

		if (differ(s->type[j].busy_gpu_s, credited, credited))
			return gv_error_set(e,
			    "GPU time does not add up: %.9g s of type %s held, %.9g "
			    "credited",
			    s->type[j].busy_gpu_s, s->cluster->type[j].name, credited);
	}
	return 0;
}

static int
check_job(const struct sim *s, size_t m, struct gv_error *e)
{
	double total = s->life.job[m].spec.total_steps;
	double done = sim_steps(s, m);
	double lost = s->job[m].lost;
	double credited = credited_steps(&s->life.rounds, m);
	bool finished = s->life.job[m].state == GV_LIFE_FINISHED;
	char q[GV_QUOTE_LEN];
	bool wrong;

	/* in step a job keeps its GPUs to the end of its last round; loading is no work */
	wrong = s->o->in_step || s->o->load_s > 0 || s->o->save_s > 0
		    ? done + lost > credited * (1 + tolerance) + tolerance * total
		    : differ(done + lost, credited, total);
	if (!wrong && !(finished && differ(done, total, total)))
		return 0;
	return gv_error_set(e,
	    "steps do not add up: job %s has done %.9g of %.9g and lost %.9g, %.9g "
	    "credited",
	    gv_quote(q, s->table->job[m].id.s, s->table->job[m].id.len), done, total,
	    lost, credited);
}

int
sim_check(const struct sim *s, struct gv_error *e)
{
	size_t m;

	if (s->o->ideal) /* nobody holds GPUs */
		return 0;
	for (m = 0; m < s->table->n_jobs; m++)
		if (check_job(s, m, e) != 0)
			return -1;
	return check_types(s, e);
}
