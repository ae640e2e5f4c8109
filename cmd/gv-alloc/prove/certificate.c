#include "proof.h"

#include <math.h>

bool
certificate_possible(const struct problem *p, enum measure measure)
{
	return measure != MEASURE_NONE &&
	       (p->together == NULL || measure != MEASURE_RATIO);
}

void
certificate_make(struct certificate *c, const struct problem *p, enum measure measure,
    const struct solution *s)
{
	struct proof w;

	*c = (struct certificate){.gap = INFINITY};
	proof_init(&w, p, measure, s);
	proof_shares(&w, c);
	switch (measure) {
	case MEASURE_NONE:
		break;
	case MEASURE_LEVEL:
	case MEASURE_SECONDS:
		proof_least(&w, c);
		break;
	case MEASURE_ALONE:
		proof_finish(&w, c);
		break;
	case MEASURE_RATIO:
		proof_ratio(&w, c);
		break;
	default:
		proof_sum(&w, c);
	}
	proof_free(&w);
}
