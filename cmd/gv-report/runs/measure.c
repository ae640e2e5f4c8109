#include "measure.h"

#include <math.h>

const struct measure_info measures[MEASURES] = {
    [M_JOBS] = {"jobs", "jobs", OF_COUNT},
    [M_FINISHED] = {"finished", "finished", OF_COUNT},
    [M_COMPLETION_MEAN] = {"completion_mean_s", "JCT mean", OF_SECONDS},
    [M_COMPLETION_MEDIAN] = {"completion_median_s", "JCT median", OF_SECONDS},
    [M_COMPLETION_P95] = {"completion_p95_s", "JCT p95", OF_SECONDS},
    [M_COMPLETION_P99] = {"completion_p99_s", "JCT p99", OF_SECONDS},
    [M_COMPLETION_MAX] = {"completion_max_s", "JCT longest", OF_SECONDS},
    [M_SHORT_MEAN] = {"short_completion_mean_s", "short jobs' mean", OF_SECONDS},
    [M_LONG_MEAN] = {"long_completion_mean_s", "long jobs' mean", OF_SECONDS},
    [M_QUEUEING_MEAN] = {"queueing_mean_s", "queueing mean", OF_SECONDS},
    [M_QUEUEING_MEDIAN] = {"queueing_median_s", "queueing median", OF_SECONDS},
    [M_QUEUEING_P95] = {"queueing_p95_s", "queueing p95", OF_SECONDS},
    [M_QUEUEING_P99] = {"queueing_p99_s", "queueing p99", OF_SECONDS},
    [M_QUEUEING_MAX] = {"queueing_max_s", "queueing longest", OF_SECONDS},
    [M_FAIRNESS_MEAN] = {"fairness_mean", "fairness mean", OF_NUMBER},
    [M_FAIRNESS_MEDIAN] = {"fairness_median", "fairness median", OF_NUMBER},
    [M_FAIRNESS_P95] = {"fairness_p95", "fairness p95", OF_NUMBER},
    [M_FAIRNESS_P99] = {"fairness_p99", "fairness p99", OF_NUMBER},
    [M_FAIRNESS_MAX] = {"fairness_max", "fairness worst", OF_NUMBER},
    [M_MAKESPAN] = {"makespan_s", "makespan", OF_SECONDS},
    [M_GPUS] = {"gpus", "GPUs", OF_COUNT},
    [M_BUSY_GPU_S] = {"busy_gpu_s", "GPU time used", OF_SECONDS},
    [M_UTILISATION] = {"utilisation", "GPUs busy", OF_SHARE},
    [M_USD] = {"usd", "cost USD", OF_NUMBER},
    [M_DEADLINES] = {"deadlines", "deadlines", OF_COUNT},
    [M_DEADLINES_MISSED] = {"deadlines_missed", "missed", OF_COUNT},
    [M_LAUNCHES] = {"launches", "launches", OF_COUNT},
    [M_PREEMPTIONS] = {"preemptions", "preemptions", OF_COUNT},
    [M_FAILURES] = {"failures", "failures", OF_COUNT},
    [M_STEPS_LOST] = {"steps_lost", "steps lost", OF_NUMBER},
    [M_JAIN] = {"jain_index", "Jain index", OF_NUMBER},
    [M_END] = {"end_s", "end", OF_SECONDS},
    [M_ROUNDS] = {"rounds", "rounds", OF_COUNT},
    [M_QUESTIONS] = {"questions", "questions", OF_COUNT},
    [M_MOST_WAITING] = {"most_waiting", "most waiting", OF_COUNT},
};

enum measure
measure_named(struct gv_cell name)
{
	size_t i = 0;

	while (i < MEASURES && !gv_cell_is(name, measures[i].name))
		i++;
	return (enum measure)i;
}

void
measure_spread(double value[MEASURES], enum measure first, const struct spread *s)
{
	const double of[] = {s->mean, s->median, s->p95, s->p99, s->max};
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (isnan(value[first + i]))
			value[first + i] = of[i];
}
