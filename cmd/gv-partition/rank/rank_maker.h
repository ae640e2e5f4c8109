/* What makes a ranking: private to rank.c and rank_maker.c. */
#ifndef GV_PARTITION_RANK_MAKER_H
#define GV_PARTITION_RANK_MAKER_H

#include "rank.h"

struct maker {
	struct ranking *k;
	const struct ideals *s;   /* all */
	const struct ideals *few; /* s, or those the further plans are cut at */
	const struct gv_graph *g;
	const struct gv_machine *m;
	const struct gv_fleet *fleet;
	const struct search_options *o;
	enum ideals_kind cut;
	size_t most; /* plans that there can be to try */
	void (*progress)(size_t tried, size_t most);
};

/* Runs r->plan; whether it can run and fits. */
bool maker_run(const struct maker *x, struct ranked *r);

/* Takes the plan, on *m, into the ranking if it is new and can run; it owns *p from then on. */
void maker_add(struct maker *x, struct gv_plan *p, const struct gv_machine *m);

#endif
