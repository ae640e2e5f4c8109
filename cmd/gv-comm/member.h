/*
 * One member: the same as all others do, size after size.  They agree on what to do
 * next because what it follows from is summed up among them first.
 */
#ifndef COMM_MEMBER_H
#define COMM_MEMBER_H

#include "net/gang.h"
#include "rows.h"

struct member {
	struct gv_gang *g;
	int rank;
	const struct gv_trees *trees;
	const struct options *o;
	struct gv_coll_pace pace;
	/* is told of each row at rank 0; 0, or -1 to stop */
	int (*tell)(void *ctx, const struct row *r);
	void *ctx;
};

/* Runs all sizes.  0, or -1 with *e. */
int member_run(const struct member *m, struct gv_error *e);

#endif
