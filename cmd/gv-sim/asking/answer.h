/* Shares, as a policy has answered, go into the life of the jobs. */
#ifndef ANSWER_H
#define ANSWER_H

#include "question.h"

/* A share of a job, or of two; jobs are numbers in the question. */
struct answer_share {
	size_t job;
	ptrdiff_t with; /* -1 = alone */
	size_t type;
	double share;
	double rate, with_rate; /* of two: how fast they are, where that is new */
};

struct answer {
	size_t n;
	size_t cap;
	struct answer_share *share;
};

void answer_add(struct answer *a, const struct answer_share *share);
void answer_free(struct answer *a);

/* Those asked about have these shares, which are sorted, and no others. */
void answer_take(struct sim *s, const struct question *q, struct answer *a);

#endif
