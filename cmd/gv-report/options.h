/* The options of gv-report. */
#ifndef GV_REPORT_OPTIONS_H
#define GV_REPORT_OPTIONS_H

#include "base/opt.h"
#include "gv-report/history/parts.h"
#include "gv-report/losses/losses.h"
#include "gv-report/page/format.h"

struct options {
	struct gv_opt common;
	enum format format;
	const struct part *part; /* NULL = the format's default, or a part of runs */
	int digits;
	const char *by;      /* what --by says */
	const char *cluster; /* NULL = not given */
	const char *run;     /* NULL = by the file's name */
	const char *chart;   /* what --chart says */
	unsigned charts;     /* figures: a bit for each, charts/figure.h */
	bool drawn;          /* the drawing of one run's jobs is asked for */
	enum loss_axis axis; /* of losses */
	double smooth;       /* steps; 0 = losses as they are */
	bool per_job;
	bool expect_finished;
	double expect_points; /* < 0: nothing is expected of shares */
};

/* Reads them; optind is left at the operands. */
void options_parse(struct options *o, int argc, char **argv);

#endif
