/* The drawing of one run over time, and what its files share. */
#ifndef GV_REPORT_DRAWING_H
#define GV_REPORT_DRAWING_H

#include "draw/svg.h"
#include "gv-report/charts/frame.h"
#include "gv-report/history/summary.h"

#define TIME_X 170.0 /* where times begin, and how wide they are */
#define TIME_W 640.0

struct drawing {
	struct gv_svg s;
	const struct history *h;
	const struct summary *sum;
	int digits;
	struct time_unit unit;
	double x_per_s;
	double lane_h, job_h; /* with the gaps */
	size_t *order;        /* [n_runs], runs by what they are drawn on */
};

/* Where a time is. */
static inline double
x_of(const struct drawing *d, double s)
{
	return TIME_X + s * d->x_per_s;
}

/* "n1:0", or "0" where nodes have no names. */
void lane_name(struct gv_strbuf *b, const struct lane *l);

/*
 * Puts the launches into d->order, by jobs (of_jobs: one run of each) or by lanes: those of
 * the i-th are order[first[i]..first[i + 1]).
 */
void sort_launches(struct drawing *d, bool of_jobs, size_t *first);

/*
 * The launches order[from..to) of a job (of_job) or a lane, in a height of h; those that a GPU
 * had at once each in a part of it.
 */
void draw_launches(
    struct drawing *d, size_t from, size_t to, bool of_job, double y, double h);

#endif
