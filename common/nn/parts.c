#include "nn/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

size_t
gv_nn_bytes(double a, double b)
{
	double n = a * b * sizeof(gv_real);

	return n >= (double)GV_NN_TOO_MUCH ? GV_NN_TOO_MUCH : (size_t)n;
}

struct gv_nn_sizes
gv_nn_sizes(const struct gv_nn_plan *p, const struct gv_nn_room *room)
{
	double B = (double)p->B, n = (double)p->n;
	double sums = (double)p->stat_size + (double)p->shards * (double)p->widest;

	return (struct gv_nn_sizes){
	    .params = gv_nn_bytes(B, (double)p->P),
	    .packed = gv_nn_bytes(B, (double)room->packed),
	    .activations =
		gv_nn_bytes(B * n, 2 * (double)p->numbers[GV_NN_OWN] + !p->recompute),
	    .shared = gv_nn_bytes(
		p->recompute ? B * n : 0, 2 * (double)p->numbers[GV_NN_SHARED] + 1),
	    .samples = gv_nn_bytes(n, (double)p->in_size),
	    .targets = p->n * gv_nn_target_bytes(p),
	    .sums = gv_nn_bytes(B, sums),
	    .gradients = gv_nn_bytes(B * (double)p->P + B, 1),
	    .scratch = gv_nn_bytes((double)room->scratch, 1),
	};
}

static int
take(void *to, struct gv_nn_backend *be, enum gv_nn_memory kind, size_t bytes,
    struct gv_error *e)
{
	void *p = be->alloc(be, kind, bytes, e);

	memcpy(to, &p, sizeof(p));
	return p == NULL ? -1 : 0;
}

int
gv_nn_weights_make(struct gv_nn_weights *w, struct gv_nn_backend *be,
    const struct gv_nn_plan *p, const struct gv_nn_sizes *s, struct gv_error *e)
{
	w->is_packed = gv_xcalloc(p->rows, 1);
	return take(&w->params, be, GV_NN_PARAMS, s->params, e) != 0 ||
		       take(&w->packed, be, GV_NN_SCRATCH, s->packed, e) != 0
		   ? -1
		   : 0;
}

void
gv_nn_weights_free(struct gv_nn_weights *w, struct gv_nn_backend *be)
{
	be->release(be, GV_NN_PARAMS, w->params);
	be->release(be, GV_NN_SCRATCH, w->packed);
	free(w->is_packed);
}

void
gv_nn_weights_changed(struct gv_nn_weights *w, const struct gv_nn_plan *p)
{
	memset(w->is_packed, 0, p->rows);
}

int
gv_nn_flight_make(struct gv_nn_flight *f, struct gv_nn_backend *be,
    const struct gv_nn_plan *p, const struct gv_nn_sizes *s, gv_real *shared,
    struct gv_error *e)
{
	size_t i, half;

	if (take(&f->y[GV_NN_OWN], be, GV_NN_ACTIVATIONS, s->activations, e) != 0 ||
	    take(&f->stats, be, GV_NN_SCRATCH, s->sums, e) != 0)
		return -1;
	f->y[GV_NN_SHARED] = shared;
	for (i = 0; i < GV_NN_ARENAS && f->y[i] != NULL; i++) {
		half = p->B * p->n * p->numbers[i];
		f->dy[i] = f->y[i] + half;
		f->hit = f->dy[i] + half;
	}
	f->sums = f->stats + p->B * p->stat_size;
	f->key = gv_xcalloc(p->B, sizeof(*f->key));
	return 0;
}

void
gv_nn_flight_free(struct gv_nn_flight *f, struct gv_nn_backend *be)
{
	be->release(be, GV_NN_ACTIVATIONS, f->y[GV_NN_OWN]);
	be->release(be, GV_NN_SCRATCH, f->stats);
	free(f->key);
	be->release(be, GV_NN_ACTIVATIONS, f->own_x);
	be->release(be, GV_NN_ACTIVATIONS, f->own_target);
}

int
gv_nn_flight_own(struct gv_nn_flight *f, struct gv_nn_backend *be,
    const struct gv_nn_sizes *s, struct gv_error *e)
{
	if (f->own_target != NULL)
		return 0;
	if (f->own_x == NULL &&
	    take(&f->own_x, be, GV_NN_ACTIVATIONS, s->samples, e) != 0)
		return -1;
	return take(&f->own_target, be, GV_NN_ACTIVATIONS, s->targets, e);
}

int
gv_nn_grads_make(struct gv_nn_grads *g, struct gv_nn_backend *be,
    const struct gv_nn_sizes *s, struct gv_error *e)
{
	return take(&g->v, be, GV_NN_GRADIENTS, s->gradients, e);
}

void
gv_nn_grads_free(struct gv_nn_grads *g, struct gv_nn_backend *be)
{
	be->release(be, GV_NN_GRADIENTS, g->v);
}
