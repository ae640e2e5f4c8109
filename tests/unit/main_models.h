/* Models that a main is given, and times of their layers; behind its source and drawn_mains.h. */
#ifndef MAIN_MODELS_H
#define MAIN_MODELS_H

enum { MODEL_LAYERS = 5 };

static struct gv_layer layer_drawn[MODEL_LAYERS];

int
model_drawn(struct gv_model *m, struct net_options *o, struct gv_error *e)
{
	size_t i;

	gv_warn("model %s, batch %zu, %zu models, %g s, %g s, %zu steps, %d", o->model,
	    o->rule.batch, o->rule.models, o->rule.warmup_s, o->rule.window_s,
	    o->rule.least_steps, o->rule.quiet);
	gv_warn("in flight %zu, %zu, stages %zu, %zu threads, %d", o->rule.in_flight,
	    o->rule.micro_batches, o->rule.stages, o->rule.device.threads,
	    (int)o->rule.optimiser);
	*m = (struct gv_model){.n = 1 + below(MODEL_LAYERS), .layer = layer_drawn};
	for (i = 0; i < m->n; i++)
		layer_drawn[i].id = (int64_t)(10 * i + 3);
	return one_in(15) ? gv_error_set(e, "no model") : 0;
}

void
model_forgotten(struct gv_model *m)
{
	gv_warn("%zu layers forgotten", m->n);
}

static void
draw_spread(struct spread *s)
{
	static const double error[] = {0, .05, .25, .0625, .03125, .046875};

	s->median_s = (double)(1 + below(64)) / (one_in(3) ? 8192 : 64);
	s->deviation_s = s->median_s / (double)(1 + below(9));
	s->error_s = s->median_s * error[below(6)];
}

int
times_drawn(struct layer_times *t, const struct gv_model *m,
    const struct times_rule *rule, struct gv_error *e)
{
	size_t i;

	gv_warn("times of %zu layers, %zu models", m->n, rule->models);
	*t = (struct layer_times){.n = m->n, .steps = 3 + below(9)};
	t->layer = gv_xcalloc(m->n, sizeof(*t->layer));
	for (i = 0; i < m->n; i++) {
		draw_spread(&t->layer[i].forward);
		draw_spread(&t->layer[i].backward);
	}
	draw_spread(&t->layers);
	draw_spread(&t->step);
	t->passed_s = (double)below(64) / 64;
	t->update_s = (double)below(64) / 256;
	return one_in(15) ? gv_error_set(e, "no times") : 0;
}

/*
 * Rounds of command lines of the subcommand, drawn from these words [n] by the seed that draws
 * were begun with, and all that comes of them.
 */
static void
recorded_lines(struct recorded *r, const char *name, uint32_t rounds,
    int (*main_)(int, char **), const char *const *word, size_t n)
{
	enum { PER_ROUND = 14 };
	uint32_t i;
	int k;

	for (i = 0; i < rounds; i++) {
		draws_begin(draws.seed, i, 0);
		for (k = 0; k < PER_ROUND; k++) {
			char *argv[MAIN_WORDS];
			int argc = draw_words(argv, name, word, n, 4);

			recorded_main(r, main_, argc, argv);
		}
		recorded_answer(r, "%d command lines", PER_ROUND);
	}
}

#endif
