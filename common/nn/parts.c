#include "nn/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

size_t
gv_nn_bytes(double a, double b)
{
	double n = a * b * sizeof(gv_real);

	return n >= (double)GV_NN_TOO_MUCH ? GV_NN_TOO_MUCH : (size_t)n;
}

static size_t
in_bytes(double n)
{
	return n >= (double)GV_NN_TOO_MUCH ? GV_NN_TOO_MUCH : (size_t)n;
}

/* Shorter numbers than gv_real: then everything begins at 16 bytes. */
static bool
is_short(const struct gv_nn_plan *p)
{
	return p->stored < sizeof(gv_real);
}

static double
up_to_16(double bytes)
{
	return 16 * ceil(bytes / 16);
}

/* Bytes of outputs in an arena, or of gradients. */
static double
half_of(const struct gv_nn_plan *p, enum gv_net_side side, enum gv_nn_arena arena)
{
	double bytes = (double)p->B * (double)p->n * (double)p->numbers[side][arena] *
		       (double)p->stored;

	return is_short(p) ? up_to_16(bytes) : bytes;
}

static double
both_of(const struct gv_nn_plan *p, enum gv_nn_arena arena)
{
	return half_of(p, GV_NET_OUTPUT, arena) + half_of(p, GV_NET_GRADIENT, arena);
}

/* Bytes of a gv_real of each sample. */
static double
scores_of(const struct gv_nn_plan *p)
{
	double bytes = (double)p->B * (double)p->n * sizeof(gv_real);

	return is_short(p) ? up_to_16(bytes) : bytes;
}

/* Whether a row reads the sample's numbers as those of an activation. */
static bool
stores_x(const struct gv_nn_plan *p)
{
	size_t i, k;

	for (i = p->first_row; i < p->last_row && is_short(p); i++)
		for (k = 0; k < p->row[i].l.inputs && p->row[i].l.op != GV_OP_EMBED; k++)
			if (p->row[i].l.from[k] == GV_FROM_INPUT)
				return true;
	return false;
}

/* Short numbers: bytes of the losses, and of the samples once more. */
static double
apart_of(const struct gv_nn_plan *p)
{
	if (!is_short(p))
		return 0;
	return scores_of(p) +
	       (stores_x(p) ? (double)p->n * (double)p->in_size * (double)p->stored : 0);
}

struct gv_nn_sizes
gv_nn_sizes(const struct gv_nn_plan *p, const struct gv_nn_room *room)
{
	double B = (double)p->B, n = (double)p->n;
	double sums = (double)p->stat_size + (double)p->shards * (double)p->widest;

	return (struct gv_nn_sizes){
	    .params = gv_nn_bytes(B, (double)p->P),
	    .packed = gv_nn_bytes(B, (double)room->packed),
	    .activations = in_bytes(
		both_of(p, GV_NN_OWN) + (p->recompute ? 0 : scores_of(p)) + apart_of(p)),
	    .placed = in_bytes(B * n * (double)p->apart * (double)p->stored),
	    .shared =
		p->recompute ? in_bytes(both_of(p, GV_NN_SHARED) + scores_of(p)) : 0,
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

static void *
behind(void *p, size_t bytes)
{
	return (char *)p + bytes;
}

/* Losses, which are gv_real, and samples, which are not: where outputs are short, apart. */
static void
place_apart(struct gv_nn_flight *f, const struct gv_nn_plan *p)
{
	const struct gv_nn_row *head = &p->row[p->rows - 1];
	size_t half = (size_t)half_of(p, GV_NET_GRADIENT, GV_NN_OWN),
	       scores = (size_t)scores_of(p);

	if (is_short(p)) {
		f->loss = behind(f->dy[GV_NN_OWN], half + (p->recompute ? 0 : scores));
		if (stores_x(p))
			f->stored_x = behind(f->loss, scores);
	} else if (p->last_row == p->rows) {
		f->loss = gv_nn_side(p, f, head, GV_NET_OUTPUT);
	}
}

int
gv_nn_flight_make(struct gv_nn_flight *f, struct gv_nn_backend *be,
    const struct gv_nn_plan *p, const struct gv_nn_sizes *s, gv_real *shared,
    struct gv_error *e)
{
	size_t i;

	if (take(&f->y[GV_NN_OWN], be, GV_NN_ACTIVATIONS, s->activations, e) != 0 ||
	    take(&f->stats, be, GV_NN_SCRATCH, s->sums, e) != 0)
		return -1;
	f->y[GV_NN_SHARED] = shared;
	for (i = 0; i < GV_NN_ARENAS && f->y[i] != NULL; i++) {
		enum gv_nn_arena arena = (enum gv_nn_arena)i;

		f->dy[i] = behind(f->y[i], (size_t)half_of(p, GV_NET_OUTPUT, arena));
		f->hit = behind(f->dy[i], (size_t)half_of(p, GV_NET_GRADIENT, arena));
	}
	for (i = 0; i < 2 && p->places; i++)
		f->placed[i] = gv_xcalloc(p->rows, sizeof(*f->placed[i]));
	place_apart(f, p);
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
	free(f->placed[GV_NET_OUTPUT]);
	free(f->placed[GV_NET_GRADIENT]);
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

/* ---- numbers of the host from and to stored ones: gv_real, or bfloat16 ---- */

static uint16_t
to_bf16(gv_real v)
{
	float f = (float)v;
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return f != f ? 0x7fff : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static gv_real
from_bf16(uint16_t v)
{
	uint32_t bits = (uint32_t)v << 16;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return (gv_real)f;
}

int
gv_nn_put_stored(
    struct gv_nn_backend *be, void *to, const gv_real *v, size_t n, size_t stored)
{
	uint16_t *s;
	size_t i;
	int status;

	if (stored == sizeof(*v))
		return be->put(be, to, v, n * sizeof(*v));
	s = gv_xcalloc(n + 1, sizeof(*s));
	for (i = 0; i < n; i++)
		s[i] = to_bf16(v[i]);
	status = be->put(be, to, s, n * sizeof(*s));
	free(s);
	return status;
}

int
gv_nn_get_stored(
    struct gv_nn_backend *be, gv_real *v, const void *from, size_t n, size_t stored)
{
	uint16_t *s;
	size_t i;
	int status;

	if (stored == sizeof(*v))
		return be->get(be, v, from, n * sizeof(*v));
	s = gv_xcalloc(n + 1, sizeof(*s));
	status = be->get(be, s, from, n * sizeof(*s));
	for (i = 0; i < n; i++)
		v[i] = from_bf16(s[i]);
	free(s);
	return status;
}
