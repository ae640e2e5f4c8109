/* What a run comes to, in single numbers. */
#ifndef GV_REPORT_MEASURE_H
#define GV_REPORT_MEASURE_H

#include <stddef.h>

#include "gv-report/history/spread.h"
#include "table/tab.h"

/* The five of a spread follow each other. */
enum measure {
	M_JOBS,
	M_FINISHED,
	M_COMPLETION_MEAN,
	M_COMPLETION_MEDIAN,
	M_COMPLETION_P95,
	M_COMPLETION_P99,
	M_COMPLETION_MAX,
	M_SHORT_MEAN,
	M_LONG_MEAN,
	M_QUEUEING_MEAN,
	M_QUEUEING_MEDIAN,
	M_QUEUEING_P95,
	M_QUEUEING_P99,
	M_QUEUEING_MAX,
	M_FAIRNESS_MEAN,
	M_FAIRNESS_MEDIAN,
	M_FAIRNESS_P95,
	M_FAIRNESS_P99,
	M_FAIRNESS_MAX,
	M_MAKESPAN,
	M_GPUS,
	M_BUSY_GPU_S,
	M_UTILISATION,
	M_USD,
	M_DEADLINES,
	M_DEADLINES_MISSED,
	M_LAUNCHES,
	M_PREEMPTIONS,
	M_FAILURES,
	M_STEPS_LOST,
	M_JAIN,
	M_END,
	M_ROUNDS,
	M_QUESTIONS,
	M_MOST_WAITING,
	MEASURES
};

enum measure_kind { OF_COUNT, OF_NUMBER, OF_SHARE, OF_SECONDS };

struct measure_info {
	const char *name; /* as in gv-sim's summary, and of columns */
	const char *head; /* for people */
	enum measure_kind kind;
};

extern const struct measure_info measures[MEASURES];

/* The measure of that name, or MEASURES. */
enum measure measure_named(struct gv_cell name);
/* Sets the five from first on, those that are NAN so far. */
void measure_spread(double value[MEASURES], enum measure first, const struct spread *s);

#endif
