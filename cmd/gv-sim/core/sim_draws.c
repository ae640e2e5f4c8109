/*
 * What comes by chance.  Each node and each launch has random numbers of its own, so that
 * what happens to one changes nothing for the others.
 */
#include <math.h>

#include "base/rng.h"
#include "sim_parts.h"

double
sim_exponential(
    const struct sim *s, enum sim_stream of, size_t who, uint64_t i, double mean)
{
	return -mean * log1p(-gv_random_uniform(s->o->fault_seed, of, (uint32_t)who, i));
}

double
sim_job_fails_s(const struct sim *s, size_t m)
{
	if (!(s->o->job_mtbf_s > 0))
		return HUGE_VAL;
	return s->job[m].launch_s +
	       sim_exponential(s, SIM_OF_JOBS, m, s->job[m].launches, s->o->job_mtbf_s);
}
