/*
 * Drawn models, good and odd ones: what is said of them, their shapes, how their numbers are laid
 * out in nets and parts of nets and what they are at first is what it was.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "drawn_model.h"
#include "nn/cpu/cpu.h"
#include "nn/parts.h"
#include "nn/weights_layout.h"
#include "recorded_frame.h"

static struct gv_error e;

static void
recorded_shape(struct recorded *r, struct gv_shape s)
{
	recorded_whole(r, (long long)s.channels);
	recorded_whole(r, (long long)s.height);
	recorded_whole(r, (long long)s.width);
}

/* As it was read. */
static void
recorded_layer(struct recorded *r, const struct gv_layer *l)
{
	char act[GV_ACT_LEN];
	size_t k;

	recorded_whole(r, l->id);
	recorded_whole(r, (long long)l->place);
	recorded_text(r, gv_op_name(l->op));
	recorded_whole(r, (long long)l->inputs);
	for (k = 0; k < l->inputs; k++)
		recorded_whole(r, l->from[k]);
	recorded_whole(r, (long long)l->out);
	recorded_whole(r, (long long)l->k);
	recorded_whole(r, (long long)l->s);
	recorded_whole(r, (long long)l->p);
	recorded_whole(r, (long long)l->g);
	gv_act_text(l, act);
	recorded_text(r, act);
	recorded_whole(r, l->bias);
	recorded_whole(r, l->serial);
	recorded_double(r, l->rate);
	recorded_whole(r, l->is_tied ? (long long)l->tied : -1);
	recorded_whole(r, l->dir);
	recorded_whole(r, gv_op_has_out(l->op));
}

static void
recorded_model(struct recorded *r, const struct gv_model *m)
{
	struct gv_strbuf s = {0};
	struct gv_out *out = gv_out_memory(&s);
	struct gv_tabw w;
	size_t i;

	for (i = 0; i < m->n; i++) {
		const struct gv_layer *l = &m->layer[i];

		recorded_layer(r, l);
		recorded_shape(r, l->in_shape);
		recorded_shape(r, l->out_shape);
		recorded_whole(r, (long long)l->weights);
		recorded_whole(r, (long long)l->biases);
		recorded_whole(r, (long long)l->running);
		recorded_whole(r, (long long)l->kept);
		recorded_whole(r, (long long)l->flops);
	}
	recorded_shape(r, m->input);
	recorded_whole(r, (long long)m->classes);
	recorded_whole(r, m->target);
	recorded_whole(r, (long long)m->targets);
	recorded_whole(r, (long long)m->tokens);
	recorded_whole(r, (long long)m->outputs);
	recorded_whole(r, (long long)m->parameters);
	recorded_whole(r, (long long)m->running);
	recorded_whole(r, (long long)m->activations);
	recorded_whole(r, (long long)m->flops);
	gv_tabw_init(&w, out, false);
	gv_model_write_shapes(m, &w);
	recorded_whole(r, gv_out_close(out, &e));
	recorded_text(r, s.s);
	gv_strbuf_free(&s);
}

/* ---- plans ---- */

static void
recorded_row(struct recorded *r, const struct gv_nn_row *w)
{
	size_t k;

	recorded_whole(r, w->held);
	recorded_whole(r, (long long)w->in_size);
	recorded_whole(r, (long long)w->out_size);
	recorded_whole(r, (long long)w->places);
	recorded_whole(r, w->apart[0]);
	recorded_whole(r, w->apart[1]);
	recorded_whole(r, w->arena);
	recorded_whole(r, (long long)w->y);
	recorded_whole(r, (long long)w->dy);
	recorded_whole(r, w->kept_arena);
	recorded_whole(r, (long long)w->kept);
	recorded_whole(r, (long long)w->kept_dy);
	recorded_whole(r, (long long)w->weight);
	recorded_whole(r, (long long)w->bias);
	recorded_whole(r, (long long)w->running);
	recorded_whole(r, (long long)w->stat);
	recorded_whole(r, (long long)w->matrix_rows);
	recorded_whole(r, (long long)w->columns);
	for (k = 0; k < w->l.inputs; k++) {
		recorded_whole(r, w->adds[k]);
		recorded_whole(r, w->ends[k]);
	}
	recorded_whole(r, w->late);
}

static void
recorded_sizes(struct recorded *r, const struct gv_nn_plan *p)
{
	struct gv_nn_room room = {.packed = below(1000), .scratch = 0};
	struct gv_nn_sizes s;

	room.scratch = below(1000);
	s = gv_nn_sizes(p, &room);
	recorded_whole(r, (long long)s.params);
	recorded_whole(r, (long long)s.packed);
	recorded_whole(r, (long long)s.activations);
	recorded_whole(r, (long long)s.sums);
	recorded_whole(r, (long long)s.placed);
	recorded_whole(r, (long long)s.shared);
	recorded_whole(r, (long long)s.samples);
	recorded_whole(r, (long long)s.targets);
	recorded_whole(r, (long long)s.gradients);
	recorded_whole(r, (long long)s.scratch);
}

static void
draw_range(struct gv_net_config *c, size_t rows)
{
	if (below(2) == 0)
		return;
	c->first_row = below(rows);
	c->last_row = below(3) == 0 ? 0 : c->first_row + 1 + below(rows - c->first_row);
	c->recompute = below(2) == 0;
	c->places = below(2) == 0;
}

static void
recorded_plan(struct recorded *r, const struct gv_model *m)
{
	struct gv_net_config c = {.models = 1 + below(3)};
	struct gv_nn_plan p;
	size_t i, first, last;

	c.batch = 1 + below(9);
	c.shards = below(2) == 0 ? 0 : c.batch >= 4 ? 4 : 1;
	c.ranks = c.batch >= 4 ? (size_t)1 << below(3) : below(2);
	c.rank = c.ranks > 1 ? below(c.ranks) : 0;
	c.micro_batches = below(3);
	draw_range(&c, m->n);
	gv_nn_plan_make(&p, m, &c);
	for (i = 0; i < p.rows; i++)
		recorded_row(r, &p.row[i]);
	for (i = 0; i < p.shards; i++) {
		gv_nn_shard(&p, i, &first, &last);
		recorded_whole(r, (long long)first);
		recorded_whole(r, (long long)last);
	}
	recorded_whole(r, (long long)p.P);
	recorded_whole(r, (long long)p.Q);
	recorded_whole(r, (long long)p.first);
	recorded_whole(r, (long long)p.n);
	recorded_whole(r, (long long)p.S);
	recorded_whole(r, (long long)p.R);
	recorded_whole(r, (long long)p.micro_batches);
	recorded_wholes(r, p.numbers[0], GV_NN_ARENAS);
	recorded_wholes(r, p.numbers[1], GV_NN_ARENAS);
	recorded_whole(r, (long long)p.apart);
	recorded_whole(r, (long long)p.activations);
	recorded_whole(r, (long long)p.stat_size);
	recorded_whole(r, (long long)p.widest);
	recorded_double(r, p.flops);
	recorded_whole(r, (long long)gv_nn_target_bytes(&p));
	recorded_sizes(r, &p);
	p.stored = 2;
	recorded_sizes(r, &p);
	gv_nn_plan_free(&p);
}

/* ---- nets ---- */

static void
recorded_tensor(
    struct recorded *r, const struct gv_model *m, const struct gv_net_tensor *t)
{
	struct gv_weights_piece piece[GV_WEIGHTS_PIECES];
	struct gv_strbuf name = {0};
	size_t n = gv_weights_pieces(&m->layer[t->row], t, piece), i, k;

	recorded_text(r, t->name);
	recorded_whole(r, (long long)t->row);
	recorded_whole(r, t->running);
	recorded_whole(r, (long long)t->offset);
	recorded_whole(r, (long long)t->n);
	for (i = 0; i < n; i++) {
		gv_weights_name(&name, m, t->row, piece[i].name);
		recorded_text(r, name.s);
		gv_strbuf_clear(&name);
		recorded_whole(r, (long long)piece[i].offset);
		recorded_wholes(r, piece[i].n, GV_WEIGHTS_AXES);
		recorded_wholes(r, piece[i].stride, GV_WEIGHTS_AXES);
		for (k = 0; k < piece[i].dims; k++)
			recorded_whole(r, (long long)piece[i].shape[k]);
		recorded_whole(r, piece[i].added);
	}
	gv_strbuf_free(&name);
}

/* Sizes that depend on no processor, arrays by name, what crosses the ends of a part. */
static void
recorded_net(
    struct recorded *r, struct gv_net *net, const struct gv_model *m, size_t models)
{
	size_t *row = gv_xcalloc(m->n, sizeof(*row)), n, i, b;
	struct gv_net_bytes bytes;
	struct gv_net_array a;
	struct gv_net_tensor t;

	gv_net_bytes(net, &bytes);
	recorded_whole(r, (long long)bytes.params);
	recorded_whole(r, (long long)bytes.gradients);
	recorded_whole(r, (long long)bytes.state);
	recorded_whole(r, (long long)bytes.running);
	recorded_whole(r, (long long)bytes.activations);
	for (i = 0; gv_net_array(net, i, &a) == 0; i++) {
		gv_real *v = gv_xcalloc(a.n, sizeof(*v));

		recorded_text(r, a.name);
		recorded_whole(r, (long long)a.n);
		for (b = 0; b < models; b++) {
			gv_net_get(net, i, b, v);
			for (n = 0; n < a.n; n++)
				recorded_double(r, (double)v[n]);
		}
		free(v);
	}
	recorded_whole(r, gv_net_find_array(net, "none", &n) == SIZE_MAX);
	recorded_whole(r, (long long)n);
	for (i = 0; gv_net_tensor(net, i, &t) == 0; i++)
		recorded_tensor(r, m, &t);
	for (i = 0; i < m->n; i++) {
		gv_net_boundary(net, i, row, &n);
		recorded_wholes(r, row, n);
		recorded_whole(r, (long long)gv_net_row_size(net, i));
		recorded_whole(r, (long long)gv_net_tied_size(net, i));
	}
	gv_net_rows(net, &i, &n);
	recorded_whole(r, (long long)(100 * i + n));
	recorded_whole(r, gv_net_clips(net));
	free(row);
}

/* Numbers that are too small or too large, some of them. */
static void
draw_wrong(struct gv_net_config *c)
{
	static const size_t odd[] = {0, 1, 2, 3, 4, 5, 8, (1 << 20) + 1, (1 << 24) + 1};
	size_t *at[] = {&c->models, &c->batch, &c->shards, &c->ranks, &c->rank,
	    &c->micro_batches, &c->slots, &c->versions, &c->first_row, &c->last_row};
	size_t which = below(sizeof(at) / sizeof(at[0])), v = odd[below(9)];

	if (which == 0 && v > 3 && v < 100) /* seeds and coefficients are of so many */
		return;
	*at[which] =
	    which == 1 && v > 100 ? odd[8] : v; /* nothing that is large and right */
}

static void
ask_net(struct recorded *r, const struct gv_model *m)
{
	const uint64_t seed[3] = {below(100), 7, 9};
	struct gv_net_coef coef[3] = {
	    GV_NET_COEF_DEFAULT, GV_NET_COEF_DEFAULT, GV_NET_COEF_DEFAULT};
	struct gv_net_config c = {.models = 1 + below(3), .seed = seed, .coef = coef};
	struct gv_net *net = NULL;
	size_t first, last, at;
	int rc;

	c.batch = 1 + below(9);
	c.slots = below(3);
	c.versions = below(4);
	c.optimiser = (enum gv_optimiser)below(3);
	at = below(3);
	coef[at].momentum = below(2) == 0 ? 0 : .9;
	at = below(3);
	coef[at].clip_norm = below(3) == 0 ? 1 : 0;
	draw_range(&c, m->n);
	if (below(6) == 0)
		draw_wrong(&c);
	c.backend = gv_cpu_new(1);
	gv_error_clear(&e);
	rc = gv_net_new(&net, m, &c, &e);
	recorded_whole(r, rc);
	recorded_error(r, &e);
	if (rc != 0)
		return;
	recorded_net(r, net, m, c.models);
	last = c.last_row > 0 ? c.last_row : m->n;
	for (first = c.first_row; first < last; first++) {
		recorded_whole(r, (long long)gv_net_piece_end(net, first, last));
		recorded_whole(
		    r, (long long)gv_net_piece_begin(net, c.first_row, first + 1));
		recorded_whole(r, (long long)gv_net_gradients_size(net, first, last));
	}
	gv_net_free(net);
}

/* What dropout makes 0 in the first micro-batches, in an array. */
static void
ask_dropout(struct recorded *r)
{
	static const char table[] = "id,op,from,rate\n1,dropout,0,0.5\n2,mse,,\n";
	enum { MODELS = 2, BATCH = 3, SIZE = 20, ALL = MODELS * BATCH * SIZE };
	const uint64_t seed[MODELS] = {5, below(1000)};
	struct gv_net_coef coef[MODELS] = {GV_NET_COEF_DEFAULT, GV_NET_COEF_DEFAULT};
	struct gv_net_config c = {
	    .models = MODELS, .batch = BATCH, .seed = seed, .coef = coef};
	struct gv_net_work work = {.last = 2};
	gv_real x[BATCH * SIZE], target[BATCH * SIZE] = {0}, y[ALL];
	struct gv_model m = {0};
	struct gv_frame f;
	struct gv_net *net;
	size_t k, i;

	c.backend = gv_cpu_new(1);
	for (i = 0; i < BATCH * SIZE; i++)
		x[i] = 1;
	if (gv_frame_parse(&f, "m.csv", table, sizeof(table) - 1, &e) != 0 ||
	    gv_model_from_frame(&m, &f, &e) != 0 ||
	    gv_model_shape(&m, (struct gv_shape){SIZE, 1, 1}, SIZE, &e) != 0 ||
	    gv_net_new(&net, &m, &c, &e) != 0)
		gv_die_error(&e);
	for (k = 0; k < 3; k++) {
		gv_net_load(net, 0, x, target);
		gv_net_number(net, 0, k);
		recorded_whole(r, gv_net_forward(net, &work));
		recorded_whole(r, gv_net_get_row(net, 0, 0, GV_NET_OUTPUT, y));
		for (i = 0; i < ALL; i++)
			recorded_double(r, (double)y[i]);
	}
	gv_net_free(net);
	gv_model_free(&m);
}

/* ---- models ---- */

/* Two rows change places, or several. */
static void
ask_sorted(struct recorded *r, struct gv_model *m)
{
	size_t *order = gv_xcalloc(m->n, sizeof(*order)), swaps = 1 + below(3), i, at,
	       one;

	for (i = 0; i < m->n; i++)
		order[i] = i;
	for (i = 0; i < swaps && m->n > 2; i++) {
		at = below(m->n - 2);
		one = order[at];
		order[at] = order[at + 1];
		order[at + 1] = one;
	}
	gv_error_clear(&e);
	recorded_whole(r, gv_model_sort(m, order, &e));
	recorded_error(r, &e);
	for (i = 0; i < m->n; i++)
		recorded_layer(r, &m->layer[i]);
	recorded_frame(r, &m->table);
	free(order);
}

/* whether nets are made of it */
static void
ask_model(struct recorded *r, bool odd, bool nets)
{
	struct gv_shape input = {1 + below(4), 1, 1};
	struct gv_strbuf s = {0};
	struct gv_frame f;
	struct gv_model m = {0};
	struct drawn_model d;
	size_t classes = 2 + below(5);

	input.height = 1 + below(6);
	input.width = below(3) == 0 ? 1 : 1 + below(6);
	draw_model(&d, input, classes, 8);
	model_table(&d, &s, odd ? 10 + below(200) : 0);
	if (odd && below(10) == 0)
		input.channels = below(3) == 0 ? 0 : (size_t)1 << below(45);
	if (odd && below(6) == 0)
		input.height = (size_t)1 << below(40);
	if (odd && below(10) == 0)
		classes = 1 + below(3);
	gv_error_clear(&e);
	if (gv_frame_parse(&f, "m.csv", s.s, s.len, &e) == 0 &&
	    gv_model_from_frame(&m, &f, &e) == 0) {
		recorded_whole(r, (long long)gv_model_vocabulary(&m));
		recorded_whole(r, gv_model_embeds(&m));
		recorded_whole(r, gv_model_counts_hits(&m));
		recorded_whole(r, m.target);
		if (gv_model_shape(&m, input, classes, &e) == 0) {
			recorded_model(r, &m);
			if (!odd || m.parameters + m.activations < 100000)
				recorded_plan(r, &m);
			if (nets)
				ask_net(r, &m);
		}
		recorded_error(r, &e);
		ask_sorted(r, &m);
	}
	recorded_error(r, &e);
	gv_model_free(&m);
	gv_strbuf_free(&s);
}

int
main(void)
{
	struct recorded r;
	size_t i, k;

	recorded_open(&r);
	for (i = 0; i < 120; i++) {
		draws_begin(51, (uint32_t)i, 0);
		for (k = 0; k < 6; k++)
			ask_model(&r, false, true);
		recorded_answer(&r, "models %zu", i);
		for (k = 0; k < 10; k++)
			ask_model(&r, true, false);
		recorded_answer(&r, "odd models %zu", i);
	}
	ask_dropout(&r);
	recorded_answer(&r, "dropout");
	recorded_close(&r);
	return done_testing();
}
