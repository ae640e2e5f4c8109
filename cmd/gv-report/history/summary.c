#include "summary.h"

#include <math.h>
#include <stdlib.h>

static double
of_active(const struct history *h, const struct job *j, double s)
{
	double active_s = job_active_s(h, j);

	return active_s > 0 ? s / active_s : NAN;
}

double
job_promised(const struct history *h, const struct job *j)
{
	const struct use *u;
	double s = 0;

	for (u = j->use; u != NULL; u = u->next)
		s += u->promised_s;
	return of_active(h, j, s);
}

double
job_received(const struct history *h, const struct job *j)
{
	return of_active(h, j, j->running_s);
}

double
use_promised(const struct history *h, const struct job *j, const struct use *u)
{
	return of_active(h, j, u->promised_s);
}

double
use_received(const struct history *h, const struct job *j, const struct use *u)
{
	return of_active(h, j, u->running_s);
}

double
job_completion_s(const struct job *j)
{
	return j->state == JOB_FINISHED ? j->left_s - j->arrival_s : NAN;
}

double
job_queueing_s(const struct job *j)
{
	return j->start_s - j->arrival_s;
}

static void
times(struct summary *s, const struct history *h)
{
	double *completion = gv_xcalloc(h->n_jobs + 1, sizeof(*completion));
	double *queueing = gv_xcalloc(h->n_jobs + 1, sizeof(*queueing));
	double first = NAN, last = NAN;
	size_t i, n = 0, m = 0;
	bool active = false;

	for (i = 0; i < h->n_jobs; i++) {
		const struct job *j = &h->job[i];

		if (!isnan(job_completion_s(j)))
			completion[n++] = job_completion_s(j);
		if (!isnan(job_queueing_s(j)))
			queueing[m++] = job_queueing_s(j);
		first = fmin(first, j->arrival_s);
		last = fmax(last, j->left_s);
		active |= isnan(j->left_s);
	}
	s->completion = spread_of(completion, n);
	s->queueing = spread_of(queueing, m);
	s->makespan_s = active ? NAN : last - first;
	free(completion);
	free(queueing);
}

static void
fairness(struct summary *s, const struct history *h)
{
	double sum = 0, squares = 0, n = 0;
	const struct use *u;
	size_t i;

	s->least_ratio = s->worst_difference = NAN;
	for (i = 0; i < h->n_jobs; i++) {
		const struct job *j = &h->job[i];
		double r = job_received(h, j) / job_promised(h, j);

		if (isfinite(r)) {
			sum += r;
			squares += r * r;
			n++;
			if (!(r >= s->least_ratio)) {
				s->least_ratio = r;
				s->least_job = i;
			}
		}
		for (u = j->use; u != NULL; u = u->next) {
			double d = fabs(use_received(h, j, u) - use_promised(h, j, u));

			if (!isnan(d) && !(d <= s->worst_difference)) {
				s->worst_difference = d;
				s->worst_job = i;
				s->worst_type = u->type;
			}
		}
	}
	s->jain = squares > 0 ? sum * sum / (n * squares) : NAN;
}

static struct entity *
entity_of(struct summary *s, const struct job *j, size_t *cap)
{
	size_t i = gv_hash_add(&s->entities, j->entity, j->entity_len);

	if (i == s->n_entities) {
		s->entity = gv_xgrow(s->entity, cap, i + 1, sizeof(*s->entity));
		s->entity[i] =
		    (struct entity){.name = j->entity, .name_len = j->entity_len};
		s->n_entities++;
	}
	return &s->entity[i];
}

static void
entities(struct summary *s, const struct history *h)
{
	size_t cap = 0, i;
	struct {
		size_t started, active;
	} *n = gv_xcalloc(h->n_jobs + 1, sizeof(*n));

	for (i = 0; i < h->n_jobs; i++) {
		const struct job *j = &h->job[i];
		struct entity *t = entity_of(s, j, &cap);
		size_t k = (size_t)(t - s->entity);

		t->jobs++;
		t->gpu_s += j->gpu_s;
		if (j->state == JOB_FINISHED) {
			t->finished++;
			t->completion_s += job_completion_s(j);
		}
		if (!isnan(j->start_s)) {
			n[k].started++;
			t->queueing_s += job_queueing_s(j);
		}
		if (job_active_s(h, j) > 0) {
			n[k].active++;
			t->promised_share += job_promised(h, j);
			t->received_share += job_received(h, j);
		}
	}
	for (i = 0; i < s->n_entities; i++) {
		struct entity *t = &s->entity[i];

		t->completion_s /= (double)t->finished; /* 0 / 0 is NAN: of none */
		t->queueing_s /= (double)n[i].started;
		t->promised_share /= (double)n[i].active;
		t->received_share /= (double)n[i].active;
	}
	free(n);
}

void
summary_of(struct summary *s, const struct history *h)
{
	size_t i;

	*s = (struct summary){.jobs = h->n_jobs, .elapsed_s = h->last_s};
	for (i = 0; i < h->n_jobs; i++) {
		const struct job *j = &h->job[i];

		s->in_state[j->state]++;
		s->launches += j->launches;
		s->preemptions += j->preemptions;
		s->failures += j->failures;
		s->checkpoints += j->checkpoints;
		s->steps_lost += j->steps_lost;
	}
	for (i = 0; i < h->n_types; i++) {
		s->gpus += (double)h->type[i].gpus;
		s->available_gpu_s += h->type[i].available_gpu_s;
		s->busy_gpu_s += h->type[i].busy_gpu_s;
	}
	times(s, h);
	fairness(s, h);
	entities(s, h);
}

void
summary_free(struct summary *s)
{
	free(s->entity);
	gv_hash_free(&s->entities);
	*s = (struct summary){0};
}
