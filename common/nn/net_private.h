/* Inside a net.  Private to common/nn/net*.c. */
#ifndef GV_NN_NET_PRIVATE_H
#define GV_NN_NET_PRIVATE_H

#include "nn/parts.h"
#include "nn/stage.h"

struct gv_nn_older {
	char name[32];
};

struct gv_net {
	struct gv_nn_plan plan;
	struct gv_nn_backend *be;
	struct gv_nn_sizes sizes;
	struct gv_net_bytes bytes;

	struct gv_nn_weights *weights; /* [versions] */
	size_t versions;
	size_t *order;               /* [versions] their numbers, the newest first */
	struct gv_nn_older *older;   /* [versions - 1] names of the others' arrays */
	struct gv_nn_flight *flight; /* [slots] */
	size_t slots;
	gv_real *shared; /* activations of all slots, where they are recomputed */
	size_t there;    /* the slot whose these are; SIZE_MAX: of none */
	struct gv_nn_grads grads;
	gv_real *state;   /* [0, 1 or 2][B][P] */
	gv_real *running; /* [B][Q], then the same as the update will leave them */
	gv_real *scratch; /* the backend's */
	struct gv_nn_ranks ranks;
	bool adding;   /* sums of the gradients are on their way */
	size_t bucket; /* numbers of one; 0: as many as is usual */

	enum gv_optimiser optimiser;
	bool momentum;
	uint64_t *seed;
	struct gv_net_coef *coef;
	bool *active;
	uint64_t *steps;
	gv_real *mean;   /* [B] losses on their way out */
	size_t together; /* models that go through a step at a time */
	bool learns;     /* the backend does */
	bool *chosen;    /* [B] that are active, while some of them go */
	/* losses of steps that were not taken yet, [GV_NET_LATE][B]: GV_NN_PINNED; whose */
	gv_real *late;
	bool *late_of;
	size_t late_first,
	    late_n; /* the oldest, how many; event k: those in place k are there */

	const gv_real *data_x; /* gv_net_data */
	const void *data_target;
	void *data_copy[2]; /* the device's, to be released, */
	size_t data_bytes;  /* and their size */

	struct gv_error error; /* no memory for samples */
};

/* What model b draws in micro-batch k of its training, in a slot. */
void gv_net_set_key(struct gv_net *net, size_t slot, size_t b, uint64_t k);
/* Where the gradients of rows [first, last) lie in each model's [P], and how many. */
size_t gv_net_gradients_at(
    const struct gv_nn_plan *p, size_t first, size_t last, size_t *n);
/*
 * All rows back and their gradients, where ranks have joined: they are summed bucket by
 * bucket while the rows before them go back; gv_net_sum_ranks ends the sums.  0 or -1.
 */
int gv_net_back_and_sum(struct gv_net *net, struct gv_net_work w, bool first);
/* to [n][m] = v [m][n], transposed. */
void gv_nn_transpose(gv_real *to, const gv_real *v, size_t m, size_t n);
/* A row's output or its gradient in a slot; NULL with the net's error set: not here. */
gv_real *gv_net_find_row(
    struct gv_net *net, size_t slot, size_t row, enum gv_net_side side);
/* Gradients and losses, summed over the ranks.  0 or -1. */
int gv_net_sum_ranks(struct gv_net *net);

static inline gv_real *
gv_net_running_next(const struct gv_net *net)
{
	return net->running + net->plan.B * net->plan.Q;
}

/*
 * Whether a step's last gradients and its update may be the backend's one work: nothing comes
 * between them.  And that: for the micro-batch in slot 0.
 */
bool gv_net_learns(const struct gv_net *net);
int gv_net_learn(struct gv_net *net, bool first);

#endif
