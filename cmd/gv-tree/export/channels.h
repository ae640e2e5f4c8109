/* A plan of rings or chains as NCCL's channels. */
#ifndef TREE_CHANNELS_H
#define TREE_CHANNELS_H

#include "base/err.h"
#include "gv-tree/plan/plan.h"

struct channels {
	size_t n, n_gpus;
	size_t *order;       /* [n][n_gpus] */
	double gbytes_per_s; /* of each */
	bool rings;          /* else chains */
	/* of the hops, as NCCL names them: NVL, NVB (about a GPU), SYS */
	const char *kind;
};

/* At most 32, a ring or chain of more weight more often.  0, or -1 with *e: these are trees. */
int channels_of(struct channels *c, const struct plan *p, struct gv_error *e);
void channels_free(struct channels *c);

#endif
