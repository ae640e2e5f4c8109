/* What the jobs of an answer need. */
#include <math.h>
#include <stdlib.h>

#include "answer.h"
#include "base/mem.h"

bool
gv_answer_has_needs(const struct gv_answer *a)
{
	const double *need = a->p.number[GV_NUMBER_NEED];
	const double *minimum = a->p.number[GV_NUMBER_MINIMUM];
	size_t i;

	for (i = 0; need != NULL && i < a->p.n; i++)
		if (need[i] > 0 || minimum[i] > 0)
			return true;
	return false;
}

double *
gv_answer_needs(const struct gv_answer *a)
{
	const double *need = a->p.number[GV_NUMBER_NEED];
	const double *minimum = a->p.number[GV_NUMBER_MINIMUM];
	double *met = gv_xcalloc(a->p.n, sizeof(*met));
	size_t i;

	for (i = 0; need != NULL && i < a->p.n; i++) {
		met[i] = fmax(isinf(need[i]) ? 0 : need[i], minimum[i]);
		if (a->s.relaxation > 1)
			met[i] /= a->s.relaxation;
	}
	return met;
}
