/* Models, machines and options of many shapes, drawn: what is asked for recorded answers. */
#ifndef PARTITION_DRAWS_H
#define PARTITION_DRAWS_H

#include "partition_help.h"
#include "recorded_frame.h"

enum { DRAWN_MOST = 300, DRAWN_EDGES = 1500, DRAWN_TIES = 4 };

/* It must not be moved once it was drawn. */
struct drawn {
	struct gv_graph g;
	struct gv_graph_layer layer[DRAWN_MOST];
	struct gv_graph_edge edge[DRAWN_EDGES];
	struct gv_graph_edge tie[DRAWN_TIES];
};

enum drawn_shape {
	DRAWN_CHAIN,
	DRAWN_NONE, /* no edges */
	DRAWN_SPARSE,
	DRAWN_DENSE,
	DRAWN_LOCAL,  /* each layer reads one or two of the last few */
	DRAWN_FORKS,  /* branches side by side, again and again */
	DRAWN_LADDER, /* two chains with rungs */
	DRAWN_CHAINS, /* that nothing connects */
	DRAWN_TREE,   /* each layer reads one before it */
	DRAWN_SHAPES
};

/* ---- amounts ---- */

enum drawn_kind {
	DRAWN_ZERO,
	DRAWN_ONE,
	DRAWN_WHOLE,
	DRAWN_PART,
	DRAWN_FAR,    /* far apart */
	DRAWN_NEAR,   /* hardly different */
	DRAWN_SELDOM, /* mostly 0 */
	DRAWN_KINDS
};

static inline double
drawn_amount(enum drawn_kind kind)
{
	static const double power[] = {1e-6, 1e-3, .5, 1, 8, 1e3, 1e6};
	static const double more[] = {0, 1e-15, 1e-13, 3e-12, 1e-11, 1e-10, 1e-8, 1e-7};
	double part = uniform();
	size_t n = draw(56);

	switch (kind) {
	case DRAWN_ONE:
		return 1;
	case DRAWN_WHOLE:
		return (double)(n % 5);
	case DRAWN_PART:
		return part;
	case DRAWN_FAR:
		return power[n % 7] * (1 + part);
	case DRAWN_NEAR:
		return 1 + more[n % 8];
	case DRAWN_SELDOM:
		return n % 3 == 0 ? part : 0;
	case DRAWN_ZERO:
	case DRAWN_KINDS:
		break;
	}
	return 0;
}

static inline enum drawn_kind
drawn_kind(void)
{
	return (enum drawn_kind)draw(DRAWN_KINDS);
}

/* ---- graphs ---- */

/* An edge, once. */
static inline void
drawn_edge(struct drawn *d, size_t src, size_t dst)
{
	size_t k;

	for (k = 0; k < d->g.n_edges; k++)
		if (d->edge[k].src == src && d->edge[k].dst == dst)
			return;
	if (d->g.n_edges < DRAWN_EDGES)
		d->edge[d->g.n_edges++] =
		    (struct gv_graph_edge){(uint32_t)src, (uint32_t)dst};
}

/* Branches behind the layer up to which there are some; where they join. */
static inline size_t
drawn_fork(struct drawn *d, size_t root, size_t n)
{
	size_t branches = 2 + draw(4), length = 1 + draw(4), b, i, next = root + 1, at;
	size_t last[5], n_last = 0;

	for (b = 0; b < branches && next + 1 < n; b++) {
		for (at = root, i = 0; i < length && next + 1 < n; i++, at = next++)
			drawn_edge(d, at, next);
		last[n_last++] = at;
	}
	for (b = 0; b < n_last; b++)
		drawn_edge(d, last[b], next);
	if (n_last == 0)
		drawn_edge(d, root, next);
	return next;
}

/* The edges to layer i of those before it. */
static inline void
drawn_edges_to(struct drawn *d, enum drawn_shape shape, size_t i, size_t of)
{
	size_t k;

	switch (shape) {
	case DRAWN_CHAIN:
		drawn_edge(d, i - 1, i);
		break;
	case DRAWN_SPARSE:
		for (k = 0; k < i; k++)
			if (draw(i) < of)
				drawn_edge(d, k, i);
		break;
	case DRAWN_DENSE:
		for (k = 0; k < i; k++)
			if (draw(5) < of)
				drawn_edge(d, k, i);
		break;
	case DRAWN_LOCAL:
		for (k = draw(3); k > 0; k--)
			drawn_edge(d, i - 1 - draw(i < 3 * of ? i : 3 * of), i);
		break;
	case DRAWN_LADDER:
		if (i > 1)
			drawn_edge(d, i - 2, i);
		if (draw(4) < of)
			drawn_edge(d, i - 1, i);
		break;
	case DRAWN_CHAINS:
		if (i > of)
			drawn_edge(d, i - 1 - of, i);
		break;
	case DRAWN_TREE:
		drawn_edge(d, i - 1 - draw(i < 2 * of ? i : 2 * of), i);
		break;
	case DRAWN_NONE:
	case DRAWN_FORKS:
	case DRAWN_SHAPES:
		break;
	}
}

/* Other numbers for the layers, or other places of the edges. */
static inline void
drawn_mix(struct drawn *d)
{
	uint32_t name[DRAWN_MOST];
	bool names = draw(2) == 0, edges = draw(2) == 0;
	struct gv_graph_edge e;
	size_t i, k;

	for (i = 0; i < d->g.n; i++) {
		k = names ? draw(i + 1) : i;
		name[i] = name[k];
		name[k] = (uint32_t)i;
	}
	for (i = 0; i < d->g.n_edges; i++) {
		e = (struct gv_graph_edge){name[d->edge[i].src], name[d->edge[i].dst]};
		k = edges ? draw(i + 1) : i;
		d->edge[i] = d->edge[k];
		d->edge[k] = e;
	}
}

static inline void
drawn_layers(struct drawn *d)
{
	enum drawn_kind time = drawn_kind(), forward = drawn_kind(), bytes = drawn_kind(),
			weights = drawn_kind();
	size_t i;

	for (i = 0; i < d->g.n; i++) {
		struct gv_graph_layer *l = &d->layer[i];

		l->time_s = drawn_amount(time);
		l->forward_s = l->time_s / 4 + drawn_amount(forward) / 8;
		l->update_s = l->time_s / 16;
		l->activation = drawn_amount(bytes);
		l->kept = l->activation;
		l->kept += drawn_amount(bytes) / 2;
		l->parameter = drawn_amount(weights);
	}
}

/* n layers (1 to 300) of a shape. */
static inline void
drawn_of(struct drawn *d, enum drawn_shape shape, size_t n)
{
	size_t of = 1 + draw(4), i;

	memset(d, 0, sizeof(*d));
	d->g =
	    (struct gv_graph){.n = n, .layer = d->layer, .edge = d->edge, .tie = d->tie};
	for (i = 1; i < n; i++)
		drawn_edges_to(d, shape, i, of);
	for (i = 0; shape == DRAWN_FORKS && i + 1 < n;)
		i = drawn_fork(d, i, n);
	drawn_mix(d);
	drawn_layers(d);
}

/* Ties two layers, or one with itself. */
static inline void
drawn_tie(struct drawn *d)
{
	struct gv_graph_edge *t = &d->tie[d->g.n_ties++];

	t->src = (uint32_t)draw(d->g.n);
	t->dst = (uint32_t)draw(d->g.n);
}

/* Up to so many layers of any shape; of one graph in four some are tied. */
static inline void
drawn_graph(struct drawn *d, size_t most)
{
	enum drawn_shape shape = (enum drawn_shape)draw(DRAWN_SHAPES);
	size_t ties;

	drawn_of(d, shape, 1 + draw(most));
	for (ties = draw(4) == 0 ? draw(DRAWN_TIES + 1) : 0; ties > 0; ties--)
		drawn_tie(d);
}

/* ---- machines, options ---- */

/* Of so many levels, components of up to so many. */
static inline struct gv_machine
drawn_machine(size_t n_levels, size_t most)
{
	struct gv_machine m = {.n_levels = n_levels};
	size_t how = draw(6), sums = draw(3), l;

	for (l = 0; l < n_levels; l++) {
		m.gpus[l] = 1 + draw(most);
		m.bytes_per_s[l] = how == 0   ? 1
				   : how == 1 ? (double)(8 >> l)
				   : how == 2 ? (double)(1 << l)
				   : how == 3 ? 1e6
					      : (double)(1 + draw(30)) / 4;
		if (sums == 0)
			m.sum_bytes_per_s[l] =
			    m.bytes_per_s[l] * (double)(1 + draw(4)) / 4;
	}
	return m;
}

/* With memory for some of the model's stages, or no limit. */
static inline struct search_options
drawn_options(const struct gv_graph *g, bool memory)
{
	struct search_options o = {.use = (enum use)draw(3)};
	struct cost_rules *r = &o.rules;
	double all = 0;
	size_t v;

	o.straight = draw(6) == 0;
	r->model = draw(2) == 0 ? COST_PAPER : COST_COMPAT;
	r->free_transfers = draw(4) == 0;
	r->schedule = (enum gv_schedule_kind)draw(GV_SCHEDULES);
	r->micro_batches = 1 + draw(9);
	if (r->schedule == GV_SCHEDULE_1F1B && draw(2) == 0)
		r->micro_batches = 0;
	r->state = (double)draw(3);
	r->recompute = (enum recompute)draw(3);
	for (v = 0; v < g->n; v++)
		all += g->layer[v].parameter + g->layer[v].kept;
	if (memory)
		r->memory = all * (double)(1 + draw(24)) / 6;
	return o;
}

/* ---- what comes out ---- */

static inline void
recorded_prefixes(struct recorded *r, const struct ideals *s)
{
	size_t i;

	recorded_whole(r, (long long)s->n);
	for (i = 0; i < s->n * s->words; i++)
		recorded_whole(r, (long long)s->bits[i]);
	recorded_doubles(r, s->time_s, s->n);
	recorded_doubles(r, s->forward_s, s->n);
	recorded_doubles(r, s->activation, s->n);
	recorded_doubles(r, s->parameter, s->n);
	recorded_doubles(r, s->out, s->n);
	for (i = 0; i < s->n * s->sub_words; i++)
		recorded_whole(r, (long long)s->sub[i]);
	for (i = 0; i <= s->n; i++)
		recorded_whole(r, (long long)s->sup_at[i]);
	for (i = 0; i < s->sup_at[s->n]; i++)
		recorded_whole(r, s->sup[i]);
}

static inline void
recorded_plan(struct recorded *r, const struct gv_plan *p, size_t n_layers)
{
	size_t i, l;

	recorded_whole(r, (long long)p->n);
	for (i = 0; i < p->n; i++) {
		const struct gv_stage *s = &p->stage[i];

		for (l = 0; l < GV_PLAN_LEVELS; l++) {
			recorded_whole(r, (long long)s->replicas[l]);
			recorded_whole(r, (long long)s->within[l]);
		}
		recorded_whole(r, s->recompute);
		recorded_whole(r, (long long)s->type);
	}
	for (i = 0; p->of != NULL && i < n_layers; i++)
		recorded_whole(r, p->of[i]);
}

static inline void
recorded_row(struct recorded *r, const struct stage_report *row)
{
	recorded_whole(r, (long long)row->level);
	recorded_whole(r, (long long)row->stage);
	recorded_whole(r, (long long)row->within);
	recorded_whole(r, (long long)row->first);
	recorded_whole(r, (long long)row->last);
	recorded_whole(r, (long long)row->replicas);
	recorded_whole(r, (long long)row->gpus);
	recorded_double(r, row->size.time_s);
	recorded_double(r, row->size.parameter);
	recorded_double(r, row->size.in);
	recorded_double(r, row->size.out);
	recorded_double(r, row->activation);
	recorded_double(r, row->terms.compute_s);
	recorded_double(r, row->terms.sync_s);
	recorded_double(r, row->terms.transfer_s);
	recorded_double(r, row->terms.load_s);
	recorded_whole(r, row->recompute);
	recorded_whole(r, (long long)row->in_flight);
	recorded_double(r, row->memory);
}

static inline void
recorded_report(struct recorded *r, const struct plan_report *report)
{
	size_t i;

	recorded_whole(r, (long long)report->n);
	for (i = 0; i < report->n; i++)
		recorded_row(r, &report->row[i]);
	recorded_double(r, report->bottleneck_s);
	recorded_whole(r, (long long)report->slowest);
	recorded_whole(r, (long long)report->gpus);
	recorded_double(r, report->single_s);
	recorded_double(r, report->data_parallel_s);
	recorded_double(r, report->idle_s);
}

#endif
