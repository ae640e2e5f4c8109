#include "bench_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/backend.h"
#include "plan/plan.h"

enum {
	STEPS = 3, /* of the whole, to know where the middle is */
	LINE = 64 / sizeof(gv_real),
	COPIES = 8,
	COPIES_BYTES = 64 << 20 /* of all copies, more than caches have of a core */
};

/* The copy that warms up. */
#define WARM_UP SIZE_MAX

static int
cross(struct bench *b, const struct bench_part *c, size_t slot, enum gv_net_side side,
    gv_real *v,
    int (*move)(struct gv_net *, size_t slot, size_t row, enum gv_net_side, gv_real *v))
{
	size_t k;

	for (k = 0; k < c->n; k++) {
		if (move(b->net, slot, c->crosses[k], side, v) != 0)
			return -1;
		v += gv_net_row_size(b->net, c->crosses[k]);
	}
	return 0;
}

static int
put(struct gv_net *net, size_t slot, size_t row, enum gv_net_side side, gv_real *v)
{
	return gv_net_put_row(net, slot, row, side, v);
}

static gv_real *
copy_at(const struct bench_part *c, enum gv_net_side side, size_t copy)
{
	size_t at = copy == WARM_UP ? c->n_copies : copy % c->n_copies;

	return c->copies[side] + at * c->numbers;
}

/* What crosses, a copy of it, for a slot. */
static int
come(struct bench *b, const struct bench_part *c, size_t copy, size_t slot,
    enum gv_net_side side)
{
	return c->copies[side] == NULL
		   ? cross(b, c, slot, side, c->side[side], put)
		   : cross(b, c, slot, side, copy_at(c, side, copy), gv_net_place_row);
}

static void
lay_one(const struct bench_part *c, enum gv_net_side side, size_t copy)
{
	if (c->copies[side] != NULL)
		memcpy(
		    copy_at(c, side, copy), c->side[side], c->numbers * sizeof(gv_real));
}

/* Which copy a part's micro-batch k of the present step reads. */
static size_t
copy_of(const struct bench_part *here, size_t k)
{
	return here->passed + k;
}

/*
 * What micro-batches from k on read, as it came: as many as there are copies, behind as many.
 * Those on their way read the same numbers.
 */
static void
lay(const struct bench *b, size_t part, enum gv_net_side side, size_t k)
{
	const struct bench_part *here = b->part + part;
	const struct bench_part *c = side == GV_NET_OUTPUT ? here : here + 1;
	size_t end = k + c->n_copies;

	if (c->copies[side] == NULL || k % c->n_copies != 0)
		return;
	for (; k < end && k < b->micro_batches; k++)
		lay_one(c, side, copy_of(here, k));
}

/* All that the first passes of a step read. */
static void
lay_first(const struct bench *b, size_t part)
{
	lay(b, part, GV_NET_OUTPUT, 0);
	lay(b, part, GV_NET_GRADIENT, 0);
	if (b->timed) {
		lay_one(&b->part[part], GV_NET_OUTPUT, WARM_UP);
		lay_one(&b->part[part + 1], GV_NET_GRADIENT, WARM_UP);
	}
}

/* How many of so many bytes. */
static size_t
copies_of(size_t bytes)
{
	size_t n = COPIES_BYTES / bytes;

	return n < 1 ? 1 : n > COPIES ? COPIES : n;
}

static int
keep(struct bench *b, struct bench_part *c)
{
	size_t k;

	c->crosses = gv_xcalloc(b->rows, sizeof(*c->crosses));
	gv_net_boundary(b->net, c->row, c->crosses, &c->n);
	for (k = 0; k < c->n; k++)
		c->numbers += gv_net_row_size(b->net, c->crosses[k]);
	c->numbers = (c->numbers / LINE + 1) * LINE;
	c->n_copies = copies_of(c->numbers * sizeof(gv_real));
	for (k = 0; k < 2; k++)
		c->side[k] = gv_xcalloc(c->numbers, sizeof(*c->side[k]));
	return cross(b, c, 0, GV_NET_OUTPUT, c->side[GV_NET_OUTPUT], gv_net_get_row) != 0
		   ? -1
		   : cross(b, c, 0, GV_NET_GRADIENT, c->side[GV_NET_GRADIENT],
			 gv_net_get_row);
}

/* The cuts behind which the next part of the time begins, a row in each part at least. */
static void
choose(struct bench *b, struct bench_part *part)
{
	double all = 0, sum = 0;
	size_t k, p = 1;

	for (k = 0; k < b->rows; k++)
		all += b->now[k].forward_s + b->now[k].backward_s;
	for (k = 0; k < b->rows && p < b->parts; k++) {
		double now = b->now[k].forward_s + b->now[k].backward_s;
		bool must = b->rows - k == b->parts - p;

		if (k > part[p - 1].row &&
		    (must || sum + now / 2 > all * (double)p / (double)b->parts))
			part[p++].row = k;
		sum += now;
	}
	part[b->parts].row = b->rows;
}

/* The cuts of a model that is a plan. */
static int
take_cuts(struct bench *b, struct bench_part *part, const struct gv_model *m,
    struct gv_error *e)
{
	struct gv_plan_columns at = gv_plan_columns(&m->table);
	size_t n = 0, k;

	for (k = 0; k < b->rows; k++) {
		struct gv_plan_row row;

		if (gv_plan_row(&row, &m->table, &at, k, b->rows, e) != 0)
			return -1;
		if ((size_t)row.stage == n && n < b->parts)
			part[n++].row = k;
		else if ((size_t)row.stage + 1 != n)
			return gv_frame_error(&m->table, k, at.stage, e,
			    "expected rows of stages 0 to %zu, in order", b->parts - 1);
	}
	part[n].row = b->rows;
	return n == b->parts ? 0
			     : gv_error_set(e, "a plan of stages=%zu is no %zu stages", n,
				   b->parts);
}

static int
forward(struct bench *b, size_t part, size_t k, size_t slot, size_t copy)
{
	const struct bench_part *here = b->part + part;

	if (k > 0)
		lay(b, part, GV_NET_OUTPUT, k);
	if (part > 0 && come(b, here, copy, slot, GV_NET_OUTPUT) != 0)
		return -1;
	return bench_forward(b, k, slot, here[0].row, here[1].row);
}

static int
backward(struct bench *b, size_t part, size_t k, size_t slot, size_t copy)
{
	const struct bench_part *here = b->part + part;

	if (k > 0)
		lay(b, part, GV_NET_GRADIENT, k);
	if (part + 1 < b->parts && come(b, here + 1, copy, slot, GV_NET_GRADIENT) != 0)
		return -1;
	return bench_backward(b, k, slot, here[0].row, here[1].row);
}

/* What a part before it has left in the caches is no part of a stage's times. */
static int
warm_up(struct bench *b, size_t part)
{
	int status;

	if (!b->timed)
		return 0;
	gv_net_time(b->net, NULL);
	status =
	    forward(b, part, 0, 0, WARM_UP) != 0 ? -1 : backward(b, part, 0, 0, WARM_UP);
	gv_net_time(b->net, b->now);
	return status;
}

int
bench_part_step(struct bench *b, size_t part)
{
	struct bench_part *here = &b->part[part];
	size_t slots = here->slots, f, k;

	b->net = here->net;
	if (b->part_now != NULL)
		*b->part_now = part;
	lay_first(b, part);
	if (warm_up(b, part) != 0)
		return -1;
	for (f = 0; f + 1 < slots; f++)
		if (forward(b, part, f, f, copy_of(here, f)) != 0)
			return -1;
	for (k = 0; k < b->micro_batches; k++) {
		if (f < b->micro_batches) {
			if (forward(b, part, f, f % slots, copy_of(here, f)) != 0)
				return -1;
			f++;
		}
		if (backward(b, part, k, k % slots, copy_of(here, k)) != 0)
			return -1;
	}
	here->passed += b->micro_batches;
	return bench_update(b);
}

static int
step(struct bench *b)
{
	size_t part;

	for (part = 0; part < b->parts; part++)
		if (bench_part_step(b, part) != 0)
			return -1;
	return 0;
}

/* ---- beginning and end ---- */

static int
failed(const struct bench *b, struct gv_error *e)
{
	return gv_error_set(e, "a step: %s", gv_net_error(b->net));
}

/* Where to cut, and what crosses there. */
static int
cut(struct bench *b, const struct gv_model *m, struct gv_error *e)
{
	size_t k;

	bench_step(b, NULL); /* all memory is there */
	memset(b->now, 0, b->rows * sizeof(*b->now));
	gv_net_time(b->net, b->now);
	for (k = 0; k < STEPS && !b->failed; k++)
		bench_step(b, NULL);
	gv_net_time(b->net, NULL);
	if (b->failed)
		return failed(b, e);
	b->part = gv_xcalloc(b->parts + 1, sizeof(*b->part));
	if (gv_frame_find(&m->table, "stage") < 0)
		choose(b, b->part);
	else if (take_cuts(b, b->part, m, e) != 0)
		return -1;
	for (k = 1; k < b->parts; k++)
		if (keep(b, &b->part[k]) != 0)
			return failed(b, e);
	return 0;
}

/* A net for each part in place of the whole: how a net works on its rows depends on all of them. */
static int
open_parts(struct bench *b, const struct gv_model *m, const struct times_rule *rule,
    struct gv_error *e)
{
	char why[GV_ERROR_LEN];
	size_t k;

	gv_net_free(b->net);
	b->net = NULL;
	b->step = step;
	for (k = 0; k < b->parts; k++) {
		struct bench_part *part = &b->part[k];
		size_t ahead = b->parts - k, side;
		struct gv_net_config c = {
		    .first_row = b->part[k].row, .last_row = b->part[k + 1].row};

		part->slots = c.slots =
		    ahead < b->micro_batches ? ahead : b->micro_batches;
		c.backend = gv_nn_device_open(&rule->device, why, e);
		if (c.backend == NULL)
			return -1;
		c.places = c.backend->host_memory;
		for (side = 0; k > 0 && side < 2 && c.places; side++)
			part->copies[side] = gv_xlines(
			    (part->n_copies + 1) * part->numbers, sizeof(gv_real));
		if (bench_net(b, m, rule, c, e) != 0)
			return -1;
		part->net = b->net;
		b->net = NULL;
	}
	b->net = b->part[0].net;
	return 0;
}

int
bench_parts_open(struct bench *b, const struct gv_model *m, const struct times_rule *rule,
    struct gv_error *e)
{
	if (bench_open(b, m, rule, NULL, e) != 0)
		return -1;
	if (b->parts == 1)
		return 0;
	return cut(b, m, e) != 0 ? -1 : open_parts(b, m, rule, e);
}

void
bench_parts_time(struct bench *b, struct gv_net_times *times)
{
	size_t k;

	if (b->part == NULL)
		gv_net_time(b->net, times);
	for (k = 0; b->part != NULL && k < b->parts; k++)
		gv_net_time(b->part[k].net, times);
}

void
bench_parts_close(struct bench *b)
{
	size_t k, side;

	for (k = 0; b->part != NULL && k < b->parts; k++) {
		if (b->part[k].net != NULL)
			b->net = NULL; /* one of these */
		gv_net_free(b->part[k].net);
		free(b->part[k].crosses);
		for (side = 0; side < 2; side++) {
			free(b->part[k].side[side]);
			free(b->part[k].copies[side]);
		}
	}
	free(b->part);
	bench_close(b);
}
