/* Memory of a net's parts in a backend.  Private to common/nn. */
#ifndef GV_NN_PARTS_H
#define GV_NN_PARTS_H

#include "nn/backend.h"

/*
 * What a plan's parts take in a backend that wants room.  A size that overflows is
 * GV_NN_TOO_MUCH or more.
 */
#define GV_NN_TOO_MUCH (SIZE_MAX / 16)
struct gv_nn_sizes {
	size_t params, packed;    /* of one version */
	size_t activations, sums; /* of one slot: y, dy, hit; stats, sums */
	size_t placed; /* of one slot, of its user: y, dy of rows that are apart */
	size_t shared; /* y, dy, hit of all slots, where they are recomputed */
	size_t samples, targets; /* of one slot, where it needs a copy of its batch */
	size_t gradients, scratch;
};
struct gv_nn_sizes gv_nn_sizes(const struct gv_nn_plan *p, const struct gv_nn_room *room);

/* Bytes of a * b numbers. */
size_t gv_nn_bytes(double a, double b);

/* Each 0, or -1 with *e set; then what was made is to be freed all the same. */
int gv_nn_weights_make(struct gv_nn_weights *w, struct gv_nn_backend *be,
    const struct gv_nn_plan *p, const struct gv_nn_sizes *s, struct gv_error *e);
void gv_nn_weights_free(struct gv_nn_weights *w, struct gv_nn_backend *be);
/* Nothing is packed any more. */
void gv_nn_weights_changed(struct gv_nn_weights *w, const struct gv_nn_plan *p);

/* shared: of that size, of all flights; NULL when none is wanted */
int gv_nn_flight_make(struct gv_nn_flight *f, struct gv_nn_backend *be,
    const struct gv_nn_plan *p, const struct gv_nn_sizes *s, gv_real *shared,
    struct gv_error *e);
void gv_nn_flight_free(struct gv_nn_flight *f, struct gv_nn_backend *be);
/* The flight's own room for samples, made when it is first wanted. */
int gv_nn_flight_own(struct gv_nn_flight *f, struct gv_nn_backend *be,
    const struct gv_nn_sizes *s, struct gv_error *e);

int gv_nn_grads_make(struct gv_nn_grads *g, struct gv_nn_backend *be,
    const struct gv_nn_sizes *s, struct gv_error *e);
void gv_nn_grads_free(struct gv_nn_grads *g, struct gv_nn_backend *be);

/*
 * n numbers of the host to activations, or from them: of stored bytes each, gv_real's
 * or 2 (bfloat16, to the nearest).  0, or -1 as put and get.
 */
int gv_nn_put_stored(
    struct gv_nn_backend *be, void *to, const gv_real *v, size_t n, size_t stored);
int gv_nn_get_stored(
    struct gv_nn_backend *be, gv_real *v, const void *from, size_t n, size_t stored);

#endif
