#include "rate_fit.h"

#include <math.h>

enum { BATCHES = 8 };

const double fit_max_relative_error = 0.02;

/* sqrt(s^2 / Sxx) of the residuals around the line. */
static double
regression_error(const struct report *r, size_t n, double slope, double t_mean,
    double y_mean, double sxx)
{
	double rss = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		double d = r[i].steps - y_mean - slope * (r[i].time_s - t_mean);

		rss += d * d;
	}
	return sqrt(rss / (double)(n - 2) / sxx);
}

/* Of the mean rate, from the rates of batches weighted by their lengths. */
static double
batch_error(const struct report *r, size_t n)
{
	size_t intervals = n - 1;
	size_t batches = intervals < BATCHES ? intervals : BATCHES;
	double span = r[n - 1].time_s - r[0].time_s;
	double mean = (r[n - 1].steps - r[0].steps) / span;
	double sum = 0;
	size_t b;

	for (b = 0; b < batches; b++) {
		const struct report *from = &r[b * intervals / batches];
		const struct report *to = &r[(b + 1) * intervals / batches];
		double d = (to->steps - from->steps) - mean * (to->time_s - from->time_s);

		sum += d * d;
	}
	return sqrt(sum * (double)batches / (double)(batches - 1)) / span;
}

bool
rate_fit(struct rate_fit *f, const struct report *r, size_t n)
{
	double t_mean = 0;
	double y_mean = 0;
	double sxx = 0;
	double sxy = 0;
	size_t i;

	if (n < 2)
		return false;
	/* relative to the first report: the clock's zero may be far away */
	for (i = 0; i < n; i++) {
		t_mean += (r[i].time_s - r[0].time_s) / (double)n;
		y_mean += (r[i].steps - r[0].steps) / (double)n;
	}
	t_mean += r[0].time_s;
	y_mean += r[0].steps;
	for (i = 0; i < n; i++) {
		sxx += (r[i].time_s - t_mean) * (r[i].time_s - t_mean);
		sxy += (r[i].time_s - t_mean) * (r[i].steps - y_mean);
	}
	f->n = n;
	f->span_s = r[n - 1].time_s - r[0].time_s;
	f->steps_per_s = sxy / sxx;
	f->standard_error = INFINITY;
	if (n > 2)
		f->standard_error =
		    fmax(regression_error(r, n, f->steps_per_s, t_mean, y_mean, sxx),
			batch_error(r, n));
	return true;
}

size_t
fit_window(const struct fit_rule *rule, const struct report *r, size_t n)
{
	size_t i;

	for (i = 0; i < n && r[i].time_s < r[0].time_s + rule->warmup_s; i++)
		;
	return i;
}

bool
fit_enough(const struct fit_rule *rule, const struct report *r, size_t n)
{
	size_t w = fit_window(rule, r, n);
	struct rate_fit f;

	if (n - w < FIT_MIN_REPORTS || r[n - 1].time_s - r[w].time_s < rule->window_s)
		return false;
	if (!rate_fit(&f, r + w, n - w))
		return false;
	return f.standard_error <= fit_max_relative_error * f.steps_per_s ||
	       f.span_s >= FIT_MAX_WINDOWS * rule->window_s;
}

bool
fit_best(struct rate_fit *f, bool *complete, const struct fit_rule *rule, double start_s,
    const struct report *r, size_t n)
{
	size_t w = fit_window(rule, r, n);

	*complete = n - w >= FIT_MIN_REPORTS &&
		    r[n - 1].time_s - r[w].time_s >= rule->window_s / 2;
	if (*complete)
		return rate_fit(f, r + w, n - w);
	if (rate_fit(f, r, n))
		return true;
	if (n == 0)
		return false;
	f->n = 1;
	f->span_s = r[0].time_s - start_s;
	f->steps_per_s = r[0].steps / f->span_s;
	f->standard_error = INFINITY;
	return true;
}
