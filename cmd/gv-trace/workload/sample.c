#include "sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

enum { MOST_GPUS = 1000000 };

/* ---- lists ---- */

static int
bad_value(const char *expected, const char *got, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];

	return gv_error_set(
	    e, "expected %s, got %s", expected, gv_quote(q, got, strlen(got)));
}

static int
read_numbers(struct numbers *n, const char *list, double max, const char *expected,
    bool whole, struct gv_error *e)
{
	size_t i;

	if (weighted_parse(&n->list, list, e) != 0)
		return -1;
	free(n->value);
	n->value = gv_xcalloc(n->list.n, sizeof(*n->value));
	for (i = 0; i < n->list.n; i++) {
		const char *text = n->list.text[i];
		double *v = &n->value[i];

		if (gv_parse_double(text, strlen(text), v) != 0 || !(*v > 0) ||
		    *v > max || (whole && *v != floor(*v)))
			return bad_value(expected, text, e);
	}
	return 0;
}

int
sample_scales(struct numbers *n, const char *list, struct gv_error *e)
{
	return read_numbers(
	    n, list, MOST_GPUS, "a whole number from 1 to 1000000", true, e);
}

int
sample_positive(struct numbers *n, const char *list, struct gv_error *e)
{
	return read_numbers(n, list, INFINITY, "a number > 0", false, e);
}

static int
read_span(struct span *s, const char *text)
{
	const char *dots = strstr(text, "..");
	char *lo;
	int rc;

	if (dots == NULL) {
		rc = gv_parse_duration(text, &s->lo);
		s->hi = s->lo;
	} else {
		lo = gv_xstrndup(text, (size_t)(dots - text));
		rc = gv_parse_duration(lo, &s->lo);
		rc |= gv_parse_duration(dots + 2, &s->hi);
		free(lo);
	}
	return rc == 0 && s->lo > 0 && s->hi >= s->lo ? 0 : -1;
}

int
sample_durations(struct sample_spec *s, const char *list, struct gv_error *e)
{
	size_t i;

	if (weighted_parse(&s->durations, list, e) != 0)
		return -1;
	free(s->span);
	s->span = gv_xcalloc(s->durations.n, sizeof(*s->span));
	for (i = 0; i < s->durations.n; i++)
		if (read_span(&s->span[i], s->durations.text[i]) != 0)
			return bad_value("a duration such as 90s, 15m or 2h, or 1h..4h",
			    s->durations.text[i], e);
	return 0;
}

static void
numbers_free(struct numbers *n)
{
	weighted_free(&n->list);
	free(n->value);
}

void
sample_spec_free(struct sample_spec *s)
{
	numbers_free(&s->scale_factor);
	numbers_free(&s->priority);
	numbers_free(&s->slo);
	weighted_free(&s->durations);
	weighted_free(&s->entities);
	free(s->span);
	*s = (struct sample_spec){0};
}

/* ---- draws ---- */

void
sample_start(struct sampler *s, const struct sample_spec *spec,
    const struct speeds *speeds, const struct job_types *types, ptrdiff_t reference)
{
	const bool testbed = spec->sampling == SAMPLING_TESTBED;

	*s = (struct sampler){
	    .spec = spec, .speeds = speeds, .types = types, .reference = reference};
	random_seed(&s->jobs, spec->seed + (testbed ? 0 : 2));
	random_seed(&s->arrivals, spec->seed + (testbed ? 1 : 3));
	random_seed(&s->durations, spec->seed + 2);
	random_seed(&s->scales, spec->seed + 3);
	random_seed(&s->slo, spec->seed + 6);
	random_seed(&s->entities, spec->seed + 7);
}

/* A value of the list; otherwise where there is none, or none was drawn. */
static double
draw_number(const struct numbers *n, struct random *r, double otherwise)
{
	size_t i;

	if (n->list.n == 0)
		return otherwise;
	i = weighted_pick(&n->list, random_double(r));
	return i < n->list.n ? n->value[i] : otherwise;
}

static double
in_span(const struct span *s, struct random *r)
{
	return s->lo == s->hi ? s->lo : s->lo * pow(s->hi / s->lo, random_double(r));
}

static double
draw_duration(const struct sample_spec *spec, struct random *r)
{
	size_t i = 0;

	if (spec->durations.n == 0)
		return 60 * (random_double(r) >= 0.8
				    ? pow(10, random_uniform(r, 3, 4))
				    : pow(10, random_uniform(r, 1.5, 3)));
	if (spec->durations.n > 1)
		i = weighted_pick(&spec->durations, random_double(r));
	/* what probabilities leave: the last one */
	return in_span(&spec->span[i < spec->durations.n ? i : spec->durations.n - 1], r);
}

static double
draw_arrival(struct sampler *s)
{
	if (s->n_drawn++ == 0)
		return 0;
	if (s->spec->rate_per_h > 0)
		s->arrival_s +=
		    random_exponential(&s->arrivals) * (3600 / s->spec->rate_per_h);
	else
		s->arrival_s += s->spec->every_s;
	return s->arrival_s;
}

/* A scale factor from a draw in [0,1). */
static int64_t
scale_of(const struct sample_spec *spec, double u)
{
	size_t i = weighted_pick(&spec->scale_factor.list, u);

	return i < spec->scale_factor.list.n ? (int64_t)spec->scale_factor.value[i] : 1;
}

static int
no_type(const struct sampler *s, int64_t scale_factor, struct gv_error *e)
{
	const struct gv_hash_key *gpu = &s->speeds->gpu_types.key[s->reference];
	char q[GV_QUOTE_LEN];

	return gv_error_set(e,
	    "%s: no job type to draw runs on %s with scale factor %lld",
	    s->speeds->frame.file, gv_quote(q, gpu->s, gpu->len),
	    (long long)scale_factor);
}

static double
speed_of(const struct sampler *s, size_t type, int64_t scale_factor)
{
	return speeds_find(s->speeds, s->types->number[type], scale_factor, s->reference);
}

/* Scale factor, duration, type and steps, as for the simulator. */
static int
draw_job(struct sampler *s, struct sampled *job, struct gv_error *e)
{
	struct random *r = &s->jobs;
	/* drawn also where all are 1 */
	const int64_t scale = scale_of(s->spec, random_double(r));
	ptrdiff_t type;

	job->duration_s = draw_duration(s->spec, r);
	type = types_draw(s->types, s->speeds, r, scale, s->reference);
	if (type < 0)
		return no_type(s, scale, e);
	job->scale_factor = scale;
	job->type = (size_t)type;
	job->total_steps = job->duration_s * speed_of(s, job->type, scale);
	return 0;
}

/* The same, as for the testbed. */
static int
draw_testbed_job(struct sampler *s, struct sampled *job, struct gv_error *e)
{
	const struct sample_spec *spec = s->spec;
	ptrdiff_t type = types_draw(s->types, s->speeds, &s->jobs, 1, s->reference);
	size_t n;

	if (type < 0)
		return no_type(s, 1, e);
	job->type = (size_t)type;
	job->scale_factor = 1;
	if (spec->scale_factor.list.n > 0 &&
	    types_runs_wide(s->types, job->type, s->speeds, s->reference)) {
		for (n = 0; n < 1000; n++) {
			job->scale_factor = scale_of(spec, random_double(&s->scales));
			if (speed_of(s, job->type, job->scale_factor) > 0)
				break;
		}
		if (n == 1000)
			return no_type(s, job->scale_factor, e);
	}
	if (spec->durations.n == 0)
		job->duration_s = 3600 * (1 + (double)random_below(&s->durations, 4));
	else if (spec->durations.equal)
		job->duration_s =
		    in_span(&spec->span[random_below(&s->durations, spec->durations.n)],
			&s->durations);
	else
		job->duration_s = draw_duration(spec, &s->durations);
	job->total_steps =
	    fmax(1, floor(job->duration_s * speed_of(s, job->type, job->scale_factor)));
	return 0;
}

int
sample_next(struct sampler *s, struct sampled *job, struct gv_error *e)
{
	const struct sample_spec *spec = s->spec;
	const bool testbed = spec->sampling == SAMPLING_TESTBED;

	if (testbed ? draw_testbed_job(s, job, e) : draw_job(s, job, e))
		return -1;
	job->priority = draw_number(&spec->priority, &s->jobs, 1);
	job->slo = draw_number(&spec->slo, &s->slo, NAN);
	job->entity = spec->entities.n == 0
			  ? 0
			  : weighted_pick(&spec->entities, random_double(&s->entities));
	job->arrival_s = testbed ? floor(draw_arrival(s)) : draw_arrival(s);
	return 0;
}
