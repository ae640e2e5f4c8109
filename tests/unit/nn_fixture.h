/* A net of the tests with its data, for whoever makes several of it. */
#ifndef NN_FIXTURE_H
#define NN_FIXTURE_H

#include "nn_cases.h"
#include "nn_nets.h"
#include "nn_random.h"

static const enum gv_optimiser optimisers[] = {GV_SGD, GV_ADAM, GV_ADAMW};

/* A model and its data: one of cases, of nets behind them, of random ones behind these. */
struct fixture {
	const struct help_case *c;
	struct gv_model m;
	size_t size, most; /* numbers of a sample; samples of an update */
	gv_real *x;
	char *target;
	size_t bytes; /* of a sample's targets */
	struct gv_net_config config;
};

static inline void
open_fixture(struct fixture *f, size_t i)
{
	static struct help_case larger;
	static struct random_case r;

	*f = (struct fixture){.c = i < CASES ? &cases[i] : &larger};
	if (i >= CASES + NETS) {
		random_free(&r);
		random_case(&r, i - CASES - NETS);
		larger = (struct help_case){r.name, r.table.s, r.side, r.side, r.channels,
		    r.classes, r.batch, 1 + i % 2, gv_net_shards(r.batch)};
	} else if (i >= CASES) {
		const struct net_case *n = &nets[i - CASES];

		larger = (struct help_case){n->name, n->table, n->height, n->width,
		    n->channels, n->classes, n->batch, 2, n->shards};
	}
	f->m = help_model(
	    f->c->table, f->c->height, f->c->width, f->c->channels, f->c->classes);
	f->size = gv_shape_size(f->m.input);
	f->config = (struct gv_net_config){.models = f->c->models,
	    .batch = f->c->batch,
	    .shards = f->c->shards,
	    .optimiser = optimisers[i % 3]};
	f->most = 4 * f->c->batch;
	f->x = gv_xcalloc(f->most * f->size, sizeof(*f->x));
	f->bytes = help_target_bytes(&f->m);
	f->target = gv_xcalloc(f->most, f->bytes);
}

static inline void
close_fixture(struct fixture *f)
{
	gv_model_free(&f->m);
	free(f->x);
	free(f->target);
}

static inline struct gv_net *
make(const struct fixture *f, struct gv_nn_backend *be)
{
	struct gv_net_config c = f->config;

	c.backend = be;
	return help_net(&f->m, c, 0);
}

static inline size_t
differences(const struct fixture *f, struct gv_net *a, struct gv_net *b)
{
	size_t n = 0, i;

	for (i = 0; i < f->c->models; i++)
		n += help_differences(a, i, b, i);
	return n;
}

static inline void
draw(const struct fixture *f, size_t k)
{
	help_samples(&f->m, f->x, f->target, f->most, 7 + k);
}

#endif
