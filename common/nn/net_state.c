/* What a net holds, by name and as copies. */
#include <stdio.h>
#include <string.h>

#include "nn/net_private.h"

void
gv_net_time(struct gv_net *net, struct gv_net_times *times)
{
	net->be->time(net->be, times);
}

bool
gv_net_is_beside(const struct gv_net *net)
{
	return !net->be->host_memory;
}

void
gv_net_rows(const struct gv_net *net, size_t *first, size_t *n)
{
	*first = net->plan.first;
	*n = net->plan.n;
}

void
gv_net_set_active(struct gv_net *net, size_t b, bool active)
{
	size_t i;

	/* what was packed may lack the models that did not train */
	if (active && !net->active[b])
		for (i = 0; i < net->versions; i++)
			gv_nn_weights_changed(&net->weights[i], &net->plan);
	net->active[b] = active;
}

bool
gv_net_active(const struct gv_net *net, size_t b)
{
	return net->active[b];
}

/* Array i in the backend. */
struct place {
	const char *name;
	gv_real *v; /* [B][n] */
	size_t n;
};

static int
find(const struct gv_net *net, size_t i, struct place *a)
{
	const struct gv_nn_plan *p = &net->plan;
	struct place all[4];
	size_t n = 0;

	all[n++] = (struct place){"params", net->weights[net->order[0]].params, p->P};
	if (net->optimiser != GV_SGD) {
		all[n++] = (struct place){"adam_m", net->state, p->P};
		all[n++] = (struct place){"adam_v", net->state + p->B * p->P, p->P};
	} else if (net->momentum) {
		all[n++] = (struct place){"momentum", net->state, p->P};
	}
	if (p->Q > 0)
		all[n++] = (struct place){"running", net->running, p->Q};
	if (i < n) {
		*a = all[i];
		return 0;
	}
	i -= n;
	if (i + 1 >= net->versions)
		return -1;
	*a = (struct place){
	    net->older[i].name, net->weights[net->order[i + 1]].params, p->P};
	return 0;
}

int
gv_net_array(const struct gv_net *net, size_t i, struct gv_net_array *a)
{
	struct place at;

	if (find(net, i, &at) != 0)
		return -1;
	*a = (struct gv_net_array){at.name, at.n};
	return 0;
}

size_t
gv_net_find_array(const struct gv_net *net, const char *name, size_t *n)
{
	struct place at;
	size_t i;

	*n = 0;
	for (i = 0; find(net, i, &at) == 0; i++)
		if (strcmp(at.name, name) == 0) {
			*n = at.n;
			return i;
		}
	return SIZE_MAX;
}

int
gv_net_get(struct gv_net *net, size_t i, size_t b, gv_real *v)
{
	struct place at;

	if (find(net, i, &at) != 0)
		return -1;
	return net->be->get(net->be, v, at.v + b * at.n, at.n * sizeof(*v));
}

int
gv_net_put(struct gv_net *net, size_t i, size_t b, const gv_real *v)
{
	struct place at;
	size_t k;

	if (find(net, i, &at) != 0)
		return -1;
	for (k = 0; k < net->versions; k++)
		gv_nn_weights_changed(&net->weights[k], &net->plan);
	return net->be->put(net->be, at.v + b * at.n, v, at.n * sizeof(*v));
}

int
gv_net_get_gradients(struct gv_net *net, size_t b, gv_real *v)
{
	size_t P = net->plan.P;

	return net->be->get(net->be, v, net->grads.v + b * P, P * sizeof(*v));
}

gv_real *
gv_net_find_row(struct gv_net *net, size_t slot, size_t row, enum gv_net_side side)
{
	const struct gv_nn_flight *f = &net->flight[slot];
	const struct gv_nn_row *r = &net->plan.row[row];
	gv_real *v;

	gv_error_clear(&net->error);
	if (!r->held) {
		gv_error_set(&net->error, "row %zu is not of rows %zu to %zu", row,
		    net->plan.first_row, net->plan.last_row);
		return NULL;
	}
	v = gv_nn_side(&net->plan, f, r, side);
	if (v == NULL)
		gv_error_set(&net->error, "row %zu has no place yet", row);
	return v;
}

const gv_real *
gv_net_row_at(struct gv_net *net, size_t slot, size_t row, enum gv_net_side side)
{
	return gv_net_find_row(net, slot, row, side);
}

int
gv_net_place_row(
    struct gv_net *net, size_t slot, size_t row, enum gv_net_side side, gv_real *v)
{
	if (!net->plan.row[row].apart[side]) {
		gv_error_clear(&net->error);
		return gv_error_set(&net->error, "row %zu has its place", row);
	}
	net->flight[slot].placed[side][row] = v;
	return 0;
}

size_t
gv_net_row_size(const struct gv_net *net, size_t row)
{
	return net->plan.B * net->plan.n * net->plan.row[row].out_size;
}

int
gv_net_put_row(
    struct gv_net *net, size_t slot, size_t row, enum gv_net_side side, const gv_real *v)
{
	gv_real *at = gv_net_find_row(net, slot, row, side);

	if (at == NULL)
		return -1;
	return gv_nn_put_stored(
	    net->be, at, v, gv_net_row_size(net, row), net->plan.stored);
}

int
gv_net_get_row(
    struct gv_net *net, size_t slot, size_t row, enum gv_net_side side, gv_real *v)
{
	gv_real *at = gv_net_find_row(net, slot, row, side);

	if (at == NULL)
		return -1;
	return gv_nn_get_stored(
	    net->be, v, at, gv_net_row_size(net, row), net->plan.stored);
}

void
gv_net_boundary(const struct gv_net *net, size_t first, size_t *row, size_t *n)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t i, k, r;

	*n = 0;
	for (r = 0; r < first; r++) {
		bool read = false;

		for (i = first; i < p->rows; i++)
			for (k = 0; k < p->row[i].l.inputs; k++)
				read |= p->row[i].l.from[k] == (ptrdiff_t)r;
		if (read)
			row[(*n)++] = r;
	}
}

size_t
gv_net_version(const struct gv_net *net, size_t age)
{
	return net->order[age];
}

uint64_t
gv_net_steps(const struct gv_net *net, size_t b)
{
	return net->steps[b];
}

void
gv_net_set_steps(struct gv_net *net, size_t b, uint64_t steps)
{
	net->steps[b] = steps;
}

struct gv_net_coef
gv_net_coef(const struct gv_net *net, size_t b)
{
	return net->coef[b];
}

void
gv_net_set_coef(struct gv_net *net, size_t b, const struct gv_net_coef *c)
{
	net->coef[b] = *c;
}

int
gv_net_tensor(const struct gv_net *net, size_t i, struct gv_net_tensor *t)
{
	static const char *const names[] = {"weight", "bias", "mean", "variance"};
	size_t k, part;

	for (k = net->plan.first_row; k < net->plan.last_row; k++) {
		const struct gv_nn_row *r = &net->plan.row[k];
		size_t half = r->l.running / 2;
		size_t n[4] = {r->l.weights, r->l.biases, half, half};
		size_t offset[4] = {r->weight, r->bias, r->running, r->running + half};

		for (part = 0; part < 4; part++) {
			if (n[part] == 0 || i-- > 0)
				continue;
			snprintf(t->name, sizeof(t->name), "%lld.%s", (long long)r->l.id,
			    names[part]);
			t->row = k;
			t->running = part >= 2;
			t->offset = offset[part];
			t->n = n[part];
			return 0;
		}
	}
	return -1;
}

void
gv_net_bytes(const struct gv_net *net, struct gv_net_bytes *bytes)
{
	*bytes = net->bytes;
}

const char *
gv_net_error(const struct gv_net *net)
{
	return net->error.count > 0 ? net->error.text[0] : net->be->error(net->be);
}
