/*
 * What each member has to begin with, and what it must have in the end: whole numbers,
 * so that a sum is exact in any order, and of a prime period, so that no chunk fits in
 * another's place.
 */
#ifndef COMM_CHECK_H
#define COMM_CHECK_H

#include "coll/coll.h"

struct check_what {
	const struct gv_trees *trees;
	enum gv_coll_type type;
	enum gv_coll_op op;
	int rank;
	size_t count;
};

/* Elements that this member has to begin with, and in the end (0 = none). */
size_t check_given(const struct check_what *w);
size_t check_wanted(const struct check_what *w);

void check_fill(const struct check_what *w, void *in);
/* Writes what no right answer has. */
void check_spoil(const struct check_what *w, void *out);
/* Elements of out that are not what they must be. */
size_t check_wrong(const struct check_what *w, const void *out);

#endif
