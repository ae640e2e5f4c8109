/*
 * A synthetic workload, job by job.
 *
 * As published (Narayanan et al., OSDI 2020, section 7.1, and the program behind it):
 * a scale factor; a duration on the reference GPU of 60 * 10^x s, x uniform in [3,4]
 * with probability 0.2, else in [1.5,3]; a job type, any that runs with so many GPUs;
 * a priority.  Steps are the duration by the type's speed.  Arrivals are a Poisson
 * process whose first job comes at 0.  Random streams of their own (random.h): jobs
 * seed + 2, arrivals seed + 3, objectives of service time seed + 6, entities seed + 7.
 *
 * The traces for the testbed were drawn otherwise (generate_trace.py): a job type; where
 * it runs on several GPUs at all, a scale factor; a duration of 1, 2, 3 or 4 hours.
 * Steps, at least 1, and arrivals are rounded down.  Streams: types seed, arrivals
 * seed + 1, durations seed + 2, scale factors seed + 3.
 */
#ifndef TRACE_WORKLOAD_SAMPLE_H
#define TRACE_WORKLOAD_SAMPLE_H

#include "base/err.h"
#include "random.h"
#include "speeds.h"
#include "types.h"
#include "weighted.h"

/* Numbers with probabilities; n = 0: none were asked for. */
struct numbers {
	struct weighted list;
	double *value; /* [list.n] */
};

/* A duration: lo = hi, or a range whose logarithm is uniform; s. */
struct span {
	double lo, hi;
};

enum sampling { SAMPLING_SIMULATOR, SAMPLING_TESTBED };

struct sample_spec {
	enum sampling sampling;
	uint64_t seed;
	double rate_per_h;           /* Poisson arrivals; 0: see every_s */
	double every_s;              /* one job each time, 0 = all come at 0 */
	struct numbers scale_factor; /* none: 1 */
	struct weighted durations;   /* none: as published */
	struct span *span;           /* [durations.n] */
	struct numbers priority;     /* what the probabilities leave: 1 */
	struct numbers slo;          /* what they leave: no such objective */
	struct weighted entities;    /* what they leave: none */
};

/*
 * Each fills one of the spec's lists from an option's text.  0, or -1 with *e set.
 * sample_scales: whole numbers from 1 to 1000000; sample_positive: numbers above 0;
 * sample_durations: durations with units, alone or LO..HI.
 */
int sample_scales(struct numbers *n, const char *list, struct gv_error *e);
int sample_positive(struct numbers *n, const char *list, struct gv_error *e);
int sample_durations(struct sample_spec *s, const char *list, struct gv_error *e);
void sample_spec_free(struct sample_spec *s); /* also of a zeroed one */

struct sampler {
	const struct sample_spec *spec;
	const struct speeds *speeds;
	const struct job_types *types;
	ptrdiff_t reference; /* the GPU type that durations are of */
	struct random jobs, arrivals, slo, entities;
	struct random durations, scales; /* of the testbed */
	size_t n_drawn;
	double arrival_s; /* of the last job */
};

struct sampled {
	double arrival_s;
	int64_t scale_factor;
	double duration_s;
	size_t type; /* in types */
	double total_steps;
	double priority; /* 1 unless spec->priority */
	double slo;      /* NAN = none */
	size_t entity;   /* in spec->entities; their number = none */
};

/* All that is pointed to must outlive the sampler. */
void sample_start(struct sampler *s, const struct sample_spec *spec,
    const struct speeds *speeds, const struct job_types *types, ptrdiff_t reference);

/* The next job.  0, or -1 with *e set: no type runs with the scale factor drawn. */
int sample_next(struct sampler *s, struct sampled *job, struct gv_error *e);

#endif
