/* How trainings go: losses by steps, of several models and runs, and their curves. */
#ifndef GV_REPORT_LOSSES_H
#define GV_REPORT_LOSSES_H

#include <stdbool.h>

#include "base/hash.h"
#include "base/mem.h"
#include "draw/svg.h"
#include "table/tab.h"

enum loss_kind { LOSS_TRAINING, LOSS_TEST, LOSS_ACCURACY, LOSS_KINDS };

/* A number by steps, in the order of rows. */
struct loss_curve {
	size_t n, cap;
	struct loss_point {
		double step, value;
	} * point;
};

/* One model of one run. */
struct loss_model {
	const char *name; /* of the run, and of the model where there are several */
	struct loss_curve curve[LOSS_KINDS];
};

/* Of losses: by their ratios, in proportion, or as they need. */
enum loss_axis { LOSS_AUTO, LOSS_LINEAR, LOSS_LOG };

/* = {0} is empty. */
struct losses {
	enum loss_axis axis;
	double smooth; /* steps of which training losses are means; 0 = as they are */
	size_t n, cap;
	struct loss_model *model;
	struct gv_arena arena;
};

bool losses_take(const struct gv_tab *t);

/*
 * Adds the models of the present table of t, of the run called name.  *cut is the line of
 * a last row that is not complete, since the run may just be writing it, and 0 otherwise.
 * 0, or -1 with *e set.
 */
int losses_read(
    struct losses *l, const char *name, struct gv_tab *t, long *cut, struct gv_error *e);

/*
 * Draws a panel of each kind there is from y down, as wide as figures are
 * (charts/figure.h); the height; s NULL: only that.
 */
double losses_draw(struct gv_svg *s, const struct losses *l, double y);

void losses_free(struct losses *l);

#endif
