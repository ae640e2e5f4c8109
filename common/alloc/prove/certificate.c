#include "proof.h"

#include <math.h>

bool
gv_certificate_possible(const struct gv_problem *p, enum gv_measure measure)
{
	return measure != GV_MEASURE_NONE &&
	       (p->together == NULL || measure != GV_MEASURE_RATIO);
}

void
gv_certificate_make(struct gv_certificate *c, const struct gv_problem *p,
    enum gv_measure measure, const struct gv_solution *s)
{
	struct gv_proof w;

	*c = (struct gv_certificate){.gap = INFINITY};
	gv_proof_init(&w, p, measure, s);
	gv_proof_shares(&w, c);
	switch (measure) {
	case GV_MEASURE_NONE:
		break;
	case GV_MEASURE_LEVEL:
	case GV_MEASURE_SECONDS:
		gv_proof_least(&w, c);
		break;
	case GV_MEASURE_ALONE:
		gv_proof_finish(&w, c);
		break;
	case GV_MEASURE_RATIO:
		gv_proof_ratio(&w, c);
		break;
	default:
		gv_proof_sum(&w, c);
	}
	gv_proof_free(&w);
}
