/* The rate of a job from its progress reports.  No I/O. */
#ifndef GV_PROFILE_RATE_FIT_H
#define GV_PROFILE_RATE_FIT_H

#include <stdbool.h>
#include <stddef.h>

/* A progress report: steps done in all, and when it was seen. */
struct report {
	double time_s;
	double steps;
};

struct rate_fit {
	double steps_per_s;
	/* of it, steps/s; INFINITY of 2 reports, which tell none */
	double standard_error;
	double span_s; /* from the first report to the last */
	size_t n;      /* reports used */
};

/*
 * The slope of the least-squares line of steps over time through r[n], times
 * rising.  Its standard error is the larger of two: that of the regression,
 * right when the times of the reports are noisy, and that of the means of up
 * to 8 batches of the intervals between reports (batch means), right when the
 * speed itself varies, where the regression's would be far too small.
 *
 * false when there are fewer than 2 reports.  Cost: linear.
 */
bool rate_fit(struct rate_fit *f, const struct report *r, size_t n);

/* When a measurement is good enough. */
struct fit_rule {
	double warmup_s; /* from the first report on, not measured */
	double window_s; /* then measured for at least this long */
};

enum { FIT_MIN_REPORTS = 3, FIT_MAX_WINDOWS = 4 };
extern const double fit_max_relative_error;

/*
 * Where the measured window begins: the first report at least warmup_s after
 * the first; n when there is none yet.
 */
size_t fit_window(const struct fit_rule *rule, const struct report *r, size_t n);

/*
 * Whether the window is complete: FIT_MIN_REPORTS in it, window_s long, and the
 * standard error at most fit_max_relative_error of the rate or the window
 * FIT_MAX_WINDOWS times as long.
 */
bool fit_enough(const struct fit_rule *rule, const struct report *r, size_t n);

/*
 * The rate from what there is: of the window when it has FIT_MIN_REPORTS and at
 * least half its length, else of all reports, and then *complete is false.  One
 * report alone: its steps over the time since start_s.  false: no report.
 */
bool fit_best(struct rate_fit *f, bool *complete, const struct fit_rule *rule,
    double start_s, const struct report *r, size_t n);

#endif
