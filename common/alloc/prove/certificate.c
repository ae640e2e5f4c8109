#include "printed.h"
#include "proof.h"

#include <math.h>

bool
gv_certificate_possible(const struct gv_problem *p, enum gv_measure measure)
{
	return measure != GV_MEASURE_NONE &&
	       (p->together == NULL || measure != GV_MEASURE_RATIO);
}

/*
 * Shares as doubles and as they are printed differ by less than 2^-53 of themselves,
 * what they are worth by no more: what is claimed holds for both.
 */
static void
allow_for_decimals(struct gv_certificate *c, enum gv_measure measure)
{
	const double rounding = 0x1p-52;
	bool least = measure == GV_MEASURE_SECONDS || measure == GV_MEASURE_ALONE;

	if (!isfinite(c->gap) || c->objective == 0)
		return;
	c->objective = nextafter(c->objective, least ? INFINITY : -INFINITY);
	c->gap += rounding;
}

void
gv_certificate_make(struct gv_certificate *c, const struct gv_problem *p,
    enum gv_measure measure, struct gv_solution *s)
{
	bool exact = gv_printed_trim(p, s);
	struct gv_proof w;

	*c = (struct gv_certificate){.gap = INFINITY};
	gv_proof_init(&w, p, measure, s);
	gv_proof_shares(&w, c);
	switch (measure) {
	case GV_MEASURE_NONE:
		break;
	case GV_MEASURE_LEVEL:
	case GV_MEASURE_SECONDS:
		gv_proof_level(&w, c);
		break;
	case GV_MEASURE_ALONE:
		gv_proof_finish_time(&w, c);
		break;
	case GV_MEASURE_RATIO:
		gv_proof_ratio(&w, c);
		break;
	default:
		gv_proof_sum(&w, c);
	}
	gv_proof_free(&w);
	if (!exact)
		allow_for_decimals(c, measure);
}
