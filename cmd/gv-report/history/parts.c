#include "parts.h"

#include <math.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static struct value
text(const char *s, size_t len)
{
	return (struct value){.kind = len > 0 ? TEXT : NOTHING, .text = {s, len}};
}

static struct value
word(const char *s)
{
	return text(s, strlen(s));
}

static struct value
number(double v)
{
	return (struct value){.kind = isfinite(v) ? NUMBER : NOTHING, .number = v};
}

/* What only pool events tell. */
static struct value
told(const struct report *r, double v)
{
	return number(r->history.n_pools > 0 ? v : NAN);
}

static struct value
count(size_t n)
{
	return (struct value){.kind = COUNT, .number = (double)n};
}

/* ---- summary ---- */

static const char *const summary_column[] = {"jobs", "waiting", "running", "preempted",
    "failed", "finished", "dropped", "ended", "elapsed_s", "makespan_s",
    "completion_mean_s", "completion_median_s", "completion_max_s", "queueing_mean_s",
    "queueing_max_s", "gpus", "available_gpu_s", "busy_gpu_s", "busy_share", "launches",
    "preemptions", "failures", "checkpoints", "restarts", "steps_lost", "jain_index",
    "least_share_ratio", "largest_share_difference", "completion_p95_s",
    "completion_p99_s", "queueing_p95_s", "queueing_p99_s"};

static void
summary_rows(
    const struct report *r, void (*put)(void *to, const struct value *v), void *to)
{
	const struct summary *s = &r->summary;
	struct value v[COUNT_OF(summary_column)], *p = v;
	int i;

	*p++ = count(s->jobs);
	for (i = 0; i < JOB_STATES; i++)
		*p++ = count(s->in_state[i]);
	*p++ = (struct value){.kind = FLAG, .number = r->history.ended};
	*p++ = number(s->elapsed_s);
	*p++ = number(s->makespan_s);
	*p++ = number(s->completion.mean);
	*p++ = number(s->completion.median);
	*p++ = number(s->completion.max);
	*p++ = number(s->queueing.mean);
	*p++ = number(s->queueing.max);
	*p++ = told(r, s->gpus);
	*p++ = told(r, s->available_gpu_s);
	*p++ = number(s->busy_gpu_s);
	*p++ = number(s->busy_gpu_s / s->available_gpu_s);
	*p++ = count(s->launches);
	*p++ = count(s->preemptions);
	*p++ = count(s->failures);
	*p++ = count(s->checkpoints);
	*p++ = count(r->history.restarts);
	*p++ = number(s->steps_lost);
	*p++ = number(s->jain);
	*p++ = number(s->least_ratio);
	*p++ = number(s->worst_difference);
	*p++ = number(s->completion.p95);
	*p++ = number(s->completion.p99);
	*p++ = number(s->queueing.p95);
	*p++ = number(s->queueing.p99);
	put(to, v);
}

/* ---- GPU types ---- */

static const char *const type_column[] = {
    "gpu_type", "gpus", "available_gpu_s", "busy_gpu_s", "busy_share", "launches"};

static void
type_rows(const struct report *r, void (*put)(void *to, const struct value *v), void *to)
{
	size_t i;

	for (i = 0; i < r->history.n_types; i++) {
		const struct gpu_type *t = &r->history.type[i];
		struct value v[COUNT_OF(type_column)], *p = v;

		*p++ = text(t->name, t->name_len);
		*p++ = told(r, (double)t->gpus);
		*p++ = told(r, t->available_gpu_s);
		*p++ = number(t->busy_gpu_s);
		*p++ = number(t->busy_gpu_s / t->available_gpu_s);
		*p++ = count(t->runs);
		put(to, v);
	}
}

/* ---- entities ---- */

static const char *const entity_column[] = {"entity", "jobs", "finished", "gpu_s",
    "completion_mean_s", "queueing_mean_s", "promised_share", "received_share"};

static void
entity_rows(
    const struct report *r, void (*put)(void *to, const struct value *v), void *to)
{
	size_t i;

	for (i = 0; i < r->summary.n_entities; i++) {
		const struct entity *t = &r->summary.entity[i];
		struct value v[COUNT_OF(entity_column)], *p = v;

		*p++ = text(t->name, t->name_len);
		*p++ = count(t->jobs);
		*p++ = count(t->finished);
		*p++ = number(t->gpu_s);
		*p++ = number(t->completion_s);
		*p++ = number(t->queueing_s);
		*p++ = number(t->promised_share);
		*p++ = number(t->received_share);
		put(to, v);
	}
}

/* ---- jobs ---- */

static const char *const job_column[] = {"job_id", "entity", "state", "arrival_s",
    "start_s", "finish_s", "completion_s", "queueing_s", "running_s", "gpus", "gpu_s",
    "steps", "total_steps", "steps_lost", "launches", "preemptions", "failures",
    "checkpoints", "promised_share", "received_share", "share_difference"};

static void
job_rows(const struct report *r, void (*put)(void *to, const struct value *v), void *to)
{
	const struct history *h = &r->history;
	size_t i;

	for (i = 0; i < h->n_jobs; i++) {
		const struct job *j = &h->job[i];
		double promised = job_promised(h, j), received = job_received(h, j);
		struct value v[COUNT_OF(job_column)], *p = v;

		*p++ = text(j->id, j->id_len);
		*p++ = text(j->entity, j->entity_len);
		*p++ = word(job_state_name(j->state));
		*p++ = number(j->arrival_s);
		*p++ = number(j->start_s);
		*p++ = number(j->state == JOB_FINISHED ? j->left_s : NAN);
		*p++ = number(job_completion_s(j));
		*p++ = number(job_queueing_s(j));
		*p++ = number(j->running_s);
		*p++ = count(j->gpus);
		*p++ = number(j->gpu_s);
		*p++ = number(j->steps);
		*p++ = number(j->total_steps);
		*p++ = number(j->steps_lost);
		*p++ = count(j->launches);
		*p++ = count(j->preemptions);
		*p++ = count(j->failures);
		*p++ = count(j->checkpoints);
		*p++ = number(promised);
		*p++ = number(received);
		*p++ = number(received - promised);
		put(to, v);
	}
}

/* ---- jobs on types ---- */

static const char *const share_column[] = {"job_id", "gpu_type", "promised_share",
    "received_share", "share_difference", "running_s", "gpu_s", "steps", "steps_per_s"};

static void
share_rows(const struct report *r, void (*put)(void *to, const struct value *v), void *to)
{
	const struct history *h = &r->history;
	const struct use *u;
	size_t i;

	for (i = 0; i < h->n_jobs; i++) {
		const struct job *j = &h->job[i];

		for (u = j->use; u != NULL; u = u->next) {
			double promised = use_promised(h, j, u),
			       received = use_received(h, j, u);
			struct value v[COUNT_OF(share_column)], *p = v;

			*p++ = text(j->id, j->id_len);
			*p++ = text(h->type[u->type].name, h->type[u->type].name_len);
			*p++ = number(promised);
			*p++ = number(received);
			*p++ = number(received - promised);
			*p++ = number(u->running_s);
			*p++ = number(u->gpu_s);
			*p++ = number(u->steps);
			*p++ = number(u->steps / u->steps_s);
			put(to, v);
		}
	}
}

const struct part parts[PARTS] = {
    {"summary", NULL, summary_column, COUNT_OF(summary_column), summary_rows},
    {"type", "types", type_column, COUNT_OF(type_column), type_rows},
    {"entity", "entities", entity_column, COUNT_OF(entity_column), entity_rows},
    {"job", "jobs", job_column, COUNT_OF(job_column), job_rows},
    {"share", "shares", share_column, COUNT_OF(share_column), share_rows},
};
