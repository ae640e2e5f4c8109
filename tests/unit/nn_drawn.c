/*
 * Nets of drawn models, however they are trained, have the bits of the slow backend: arrays of
 * models some of which stop, micro-batches, versions of the weights, tied rows, clipped gradients,
 * batches by numbers, whatever threads there are; and evaluations of any number of samples.
 */
#include "drawn_model.h"
#include "nn_help.h"
#include "nn_slow.h"

enum { MOST_MODELS = 3, SETS = 4 };

struct drawn_net {
	struct gv_model m;
	struct gv_net_config c;
	struct gv_net_coef coef[MOST_MODELS];
	uint64_t seed[MOST_MODELS];
	size_t threads, samples; /* of an update */
	size_t size, bytes;      /* numbers of a sample, bytes of its targets */
	gv_real *x;
	char *target;
	struct gv_net *net[2]; /* the CPU's, the slow one */
	struct gv_strbuf table;
};

static void
draw_coef(struct gv_net_coef *c)
{
	static const double decay[] = {0, 1e-3, .1}, momentum[] = {0, 0, .5, .9};

	*c = (struct gv_net_coef)GV_NET_COEF_DEFAULT;
	c->lr = .001 * (double)(1 + below(40));
	c->weight_decay = decay[below(3)];
	c->momentum = momentum[below(4)];
	c->beta1 = below(2) == 0 ? .9 : .8;
	c->clip_value = below(5) == 0 ? .05 : 0;
	c->clip_norm = below(5) == 0 ? .5 : 0;
}

static void
draw_config(struct drawn_net *d)
{
	size_t b;

	d->c = (struct gv_net_config){.models = 1 + below(MOST_MODELS)};
	d->c.batch = 1 + below(below(4) == 0 ? 30 : 7);
	d->c.micro_batches = below(3) == 0 ? 1 + below(3) : 1;
	d->c.versions = 1 + below(2);
	d->c.shards = below(3) == 0 ? 1 : 0;
	d->c.recompute = below(3) == 0;
	d->c.optimiser = (enum gv_optimiser)below(3);
	d->c.seed = d->seed;
	d->c.coef = d->coef;
	for (b = 0; b < MOST_MODELS; b++) {
		d->seed[b] = below(1000);
		draw_coef(&d->coef[b]);
	}
	d->threads = below(10) == 0 ? 2 + below(2) : 1;
}

/*
 * One model of long lines of weights and few samples, or of few images: threads share rows and
 * columns of weights, and places.
 */
static struct gv_shape
draw_shared(struct drawn_net *d)
{
	static const size_t columns[] = {48, 96, 150, 256, 512, 768},
			    in[] = {61, 200, 512, 900};
	struct gv_shape input = {1, 1, 1};
	size_t k = 1 + below(3);

	d->threads = 2 + below(2);
	d->c.models = 1;
	d->c.micro_batches = 1;
	if (below(3) > 0) {
		input.channels = in[below(4)];
		d->c.batch = 1 + below(below(3) == 0 ? 24 : 8);
		gv_strbuf_fmt(&d->table,
		    "id,op,from,out,k,s,g,act\n1,linear,0,%zu,,,,relu\n",
		    columns[below(6)]);
		gv_strbuf_fmt(&d->table,
		    "2,linear,1,%zu,,,,relu\n3,linear,2,,,,,\n4,mse,3,,,,,\n",
		    columns[below(6)]);
		return input;
	}
	input.channels = 1 + below(4);
	input.height = 4 + below(9);
	input.width = 4 + below(9);
	d->c.batch = 1 + below(2);
	gv_strbuf_fmt(&d->table, "id,op,from,out,k,s,g,act\n1,conv,0,20,%zu,,,relu\n", k);
	gv_strbuf_fmt(&d->table, "2,conv,1,%zu,2", 2 * (1 + below(20)));
	gv_strbuf_fmt(&d->table, ",%zu", 1 + below(2));
	gv_strbuf_fmt(
	    &d->table, ",%zu,relu\n3,linear,2,,,,,\n4,mse,3,,,,,\n", 1 + below(2));
	return input;
}

enum kind { SMALL, WIDE, SHARED, KINDS };

/* false: no net can be made of it. */
static bool
open_drawn(struct drawn_net *d, enum kind kind)
{
	static const uint64_t most[KINDS] = {500000, 500000, 4000000};
	bool wide = kind == WIDE;
	struct gv_shape input = {1 + below(wide ? 20 : 4), 1, 1};
	struct gv_error e = {0};
	struct gv_frame f;
	struct drawn_model model;
	size_t classes = 2 + below(wide ? 40 : 5);
	int rc;

	*d = (struct drawn_net){0};
	input.height = 1 + below(wide ? 12 : 6);
	input.width = below(3) == 0 ? 1 : 1 + below(wide ? 12 : 6);
	model_wide = wide ? 12 : 1;
	draw_model(&model, input, classes, wide ? 4 : 7);
	draw_config(d);
	if (kind == SHARED)
		input = draw_shared(d);
	else
		model_table(&model, &d->table, 0);
	if (gv_frame_parse(&f, "m.csv", d->table.s, d->table.len, &e) != 0 ||
	    gv_model_from_frame(&d->m, &f, &e) != 0 ||
	    gv_model_shape(&d->m, input, classes, &e) != 0 ||
	    d->m.flops * d->c.batch * d->c.micro_batches * d->c.models > most[kind]) {
		gv_error_clear(&e);
		return false;
	}
	d->c.backend = gv_cpu_new(d->threads);
	rc = gv_net_new(&d->net[0], &d->m, &d->c, &e);
	d->c.backend = slow_new();
	if (gv_net_new(&d->net[1], &d->m, &d->c, &e) != rc)
		gv_die("one backend alone has a net of it");
	gv_error_clear(&e);
	return rc == 0;
}

static void
close_drawn(struct drawn_net *d)
{
	if (d->net[0] != NULL)
		gv_net_free(d->net[0]);
	if (d->net[1] != NULL)
		gv_net_free(d->net[1]);
	gv_model_free(&d->m);
	gv_strbuf_free(&d->table);
	free(d->x);
	free(d->target);
}

/* How many arrays and steps differ. */
static size_t
unlike(struct drawn_net *d)
{
	size_t n = 0, b;

	for (b = 0; b < d->c.models; b++) {
		n += help_differences(d->net[0], b, d->net[1], b);
		n += gv_net_steps(d->net[0], b) != gv_net_steps(d->net[1], b);
	}
	return n;
}

static size_t
unlike_gradients(struct drawn_net *d)
{
	gv_real *v = gv_xcalloc(d->m.parameters + 1, sizeof(*v)),
		*w = gv_xcalloc(d->m.parameters + 1, sizeof(*w));
	size_t n = 0, b;

	for (b = 0; b < d->c.models; b++) {
		gv_net_get_gradients(d->net[0], b, v);
		gv_net_get_gradients(d->net[1], b, w);
		n += gv_net_active(d->net[0], b) &&
		     memcmp(v, w, d->m.parameters * sizeof(*v)) != 0;
	}
	free(v);
	free(w);
	return n;
}

/* Gradients of some rows, and losses behind those of the last: read, others put there, put back. */
static size_t
wrong_in_rows(struct drawn_net *d, struct gv_net *net)
{
	size_t first = below(d->m.n), last = first + 1 + below(d->m.n - first);
	size_t n = gv_net_gradients_size(net, first, last), before = 0, rows = 0,
	       wrong = 0, i, b;
	gv_real *v = gv_xcalloc(n + 1, sizeof(*v)), *w = gv_xcalloc(n + 1, sizeof(*w)),
		*all = gv_xcalloc(d->m.parameters + 1, sizeof(*all));

	for (i = 0; i < last; i++)
		*(i < first ? &before : &rows) +=
		    d->m.layer[i].weights + d->m.layer[i].biases;
	wrong += n != d->c.models * (rows + (last == d->m.n));
	gv_net_gradients_get(net, first, last, v);
	for (b = 0; b < d->c.models; b++) {
		gv_net_get_gradients(net, b, all);
		wrong += memcmp(all + before, v + b * rows, rows * sizeof(*v)) != 0;
	}
	for (i = 0; i < n; i++)
		w[i] = (gv_real)(i + 1);
	gv_net_gradients_put(net, first, last, w);
	memset(w, 0, n * sizeof(*w));
	gv_net_gradients_get(net, first, last, w);
	for (i = 0; i < n; i++)
		wrong += w[i] < (gv_real)(i + 1) || w[i] > (gv_real)(i + 1);
	gv_net_gradients_put(net, first, last, v);
	free(v);
	free(w);
	free(all);
	return wrong;
}

/* A net that has been trained begins anew as a fresh one. */
static size_t
wrong_anew(struct drawn_net *d)
{
	struct gv_error e = {0};
	struct gv_net *fresh;
	size_t wrong = 0, b;

	d->c.backend = gv_cpu_new(1);
	if (gv_net_new(&fresh, &d->m, &d->c, &e) != 0)
		gv_die_error(&e);
	gv_net_init(d->net[0]);
	for (b = 0; b < d->c.models; b++)
		wrong += help_differences(d->net[0], b, fresh, b) +
			 (gv_net_steps(d->net[0], b) != 0);
	gv_net_free(fresh);
	return wrong;
}

/* A step of one update's samples, by their bytes, in halves or by their numbers; how much differs. */
static size_t
step(struct drawn_net *d, bool by_number)
{
	double loss[2][MOST_MODELS];
	uint32_t *visit = gv_xcalloc(d->samples, sizeof(*visit));
	size_t at = below(SETS) * d->samples, wrong = 0, i;
	const char *target = d->target + at * d->bytes;
	const gv_real *x = d->x + at * d->size;
	bool halves = !by_number && below(2) == 0;
	int rc = 0;

	for (i = 0; i < d->samples; i++)
		visit[i] = (uint32_t)below(SETS * d->samples);
	for (i = 0; i < 2; i++)
		rc |= by_number ? gv_net_step_of(d->net[i], visit, loss[i])
		      : halves  ? gv_net_gradient(d->net[i], x, target, loss[i])
				: gv_net_step(d->net[i], x, target, loss[i]);
	if (halves)
		wrong += unlike_gradients(d) + wrong_in_rows(d, d->net[0]);
	for (i = 0; i < 2 && halves; i++)
		rc |= gv_net_update(d->net[i]);
	if (rc != 0)
		gv_die("a step failed");
	free(visit);
	return wrong + (memcmp(loss[0], loss[1], d->c.models * sizeof(loss[0][0])) != 0);
}

static size_t
evaluate(struct drawn_net *d, size_t n)
{
	size_t correct[2][MOST_MODELS], numbers = d->c.models * n * d->m.outputs, wrong,
					i;
	double loss[2][MOST_MODELS];
	gv_real *outputs[2];

	for (i = 0; i < 2; i++) {
		outputs[i] = gv_xcalloc(numbers, sizeof(gv_real));
		if (gv_net_eval(d->net[i], d->x, d->target, n, correct[i], loss[i],
			outputs[i]) != 0)
			gv_die("an evaluation failed");
	}
	wrong = memcmp(outputs[0], outputs[1], numbers * sizeof(gv_real)) != 0;
	wrong += memcmp(loss[0], loss[1], d->c.models * sizeof(loss[0][0])) != 0;
	wrong += memcmp(correct[0], correct[1], d->c.models * sizeof(correct[0][0])) != 0;
	free(outputs[0]);
	free(outputs[1]);
	return wrong;
}

static size_t
wrong_in(struct drawn_net *d)
{
	size_t all, wrong = 0, steps = 1 + below(4), i, b;
	bool numbers = below(2) == 0;

	d->samples = d->c.batch * d->c.micro_batches;
	d->size = gv_shape_size(d->m.input);
	d->bytes = help_target_bytes(&d->m);
	all = SETS * d->samples;
	d->x = gv_xcalloc(all * d->size, sizeof(*d->x));
	d->target = gv_xcalloc(all, d->bytes);
	help_samples(&d->m, d->x, d->target, all, below(1000));
	for (i = 0; i < 2 && numbers; i++)
		if (gv_net_data(d->net[i], d->x, d->target, all) != 0)
			gv_die("no data");
	for (i = 0; i < steps; i++) {
		b = below(d->c.models);
		if (below(4) == 0) {
			bool on = !gv_net_active(d->net[0], b);

			gv_net_set_active(d->net[0], b, on);
			gv_net_set_active(d->net[1], b, on);
		}
		wrong += step(d, numbers && below(3) > 0);
		wrong += unlike(d);
	}
	wrong += evaluate(d, 1 + below(all));
	return wrong + wrong_anew(d);
}

static void
test_drawn(const char *name, size_t n, enum kind kind)
{
	size_t nets = 0, wrong = 0, i;
	struct drawn_net d;

	for (i = 0; i < n; i++) {
		draws_begin(61, (uint32_t)i, kind);
		if (open_drawn(&d, kind)) {
			size_t now = wrong_in(&d);

			nets++;
			if (now > 0)
				printf("# %zu models, %zu x %zu samples, %zu threads\n%s",
				    d.c.models, d.c.micro_batches, d.c.batch, d.threads,
				    d.table.s);
			wrong += now > 0;
		}
		close_drawn(&d);
	}
	is_int((long long)wrong, 0, "%s: %zu nets as on the slow backend", name, nets);
	ok(nets > n / 2, "%s: most were nets", name);
}

int
main(void)
{
	test_drawn("small", 300, SMALL);
	test_drawn("wide", 120, WIDE);
	test_drawn("shared by threads", 24, SHARED);
	return done_testing();
}
