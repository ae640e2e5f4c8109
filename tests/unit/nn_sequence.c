/*
 * Random transformers: the CPU's backend with every kernel that fuses, on one thread
 * and three, gives the bits of the slow one.  GV_LONG=1 draws more.
 */
#include "nn_help.h"
#include "base/strbuf.h"
#include "nn_slow.h"

enum { STEPS = 2 };

struct drawn {
	struct gv_strbuf table;
	size_t places, classes, batch, shards, models;
};

static size_t
below(uint64_t seed, uint64_t *at, size_t n)
{
	return (size_t)(gv_random(91, 0, (uint32_t)seed, (*at)++) % n);
}

/* Tokens or vectors, one or two rows of attention, each with a residual, labels everywhere. */
static void
draw(struct drawn *d, uint64_t seed)
{
	uint64_t at = 0;
	size_t heads = 1 + below(seed, &at, 4),
	       width = heads * (1 + below(seed, &at, 12));
	size_t many = below(seed, &at, 4), id = 2, k;

	*d = (struct drawn){.places = 1 + below(seed, &at, many == 0 ? 150 : 40),
	    .classes = 2 + below(seed, &at, 40),
	    .batch = 1 + below(seed, &at, 6),
	    .models = 1 + below(seed, &at, 3)};
	d->shards = gv_net_shards(d->batch);
	gv_strbuf_fmt(&d->table, "id,op,from,out,k,g,bias\n1,embed,0,%zu,,,%zu\n", width,
	    below(seed, &at, 2));
	for (k = 0; k < 1 + seed % 2; k++, id += 5)
		gv_strbuf_fmt(&d->table,
		    "%zu,ln,%zu,,,,%zu\n%zu,linear,,%zu,1,,\n%zu,%s,,,,%zu,\n"
		    "%zu,linear,,%zu,1,,0\n%zu,add,%zu;%zu,,,,\n",
		    id, id - 1, below(seed, &at, 2), id + 1, 3 * width, id + 2,
		    below(seed, &at, 3) > 0 ? "causal" : "attention", heads, id + 3,
		    width, id + 4, id - 1, id + 3);
	gv_strbuf_fmt(&d->table, "%zu,gelu,,,,,\n%zu,linear,,,1,,\n%zu,xent,,,,,\n", id,
	    id + 1, id + 2);
}

/* Numbers that both carry and that differ; steps of both. */
static size_t
differences(const struct drawn *d, const struct gv_model *m, struct gv_nn_backend *be,
    struct gv_net *slow, const double *losses)
{
	struct gv_net_config config = {.models = d->models,
	    .batch = d->batch,
	    .shards = d->shards,
	    .optimiser = GV_ADAMW,
	    .backend = be};
	struct gv_net *net = help_net(m, config, 0);
	size_t size = gv_shape_size(m->input), wrong = 0, k, b;
	gv_real *x = gv_xcalloc(d->batch * size, sizeof(*x));
	char *target = gv_xcalloc(d->batch, help_target_bytes(m));
	double loss[HELP_MODELS];

	for (k = 0; k < STEPS; k++) {
		help_samples(m, x, target, d->batch, k);
		gv_net_step(net, x, target, loss);
		wrong +=
		    memcmp(loss, losses + k * d->models, d->models * sizeof(*loss)) != 0;
	}
	for (b = 0; b < d->models; b++)
		wrong += help_differences(net, b, slow, b);
	free(x);
	free(target);
	gv_net_free(net);
	return wrong;
}

static size_t
try(uint64_t seed)
{
	static const char *const kernels[] = {"avx512", "avx2"};
	struct drawn d;
	struct gv_model m;
	struct gv_net *slow;
	gv_real *x;
	char *target;
	double *losses;
	size_t k, size, wrong = 0;

	draw(&d, seed);
	m = help_model(d.table.s, d.places, 1, 1, d.classes);
	size = gv_shape_size(m.input);
	slow = help_net(&m,
	    (struct gv_net_config){.models = d.models,
		.batch = d.batch,
		.shards = d.shards,
		.optimiser = GV_ADAMW,
		.backend = slow_new()},
	    0);
	x = gv_xcalloc(d.batch * size, sizeof(*x));
	target = gv_xcalloc(d.batch, help_target_bytes(&m));
	losses = gv_xcalloc(STEPS * d.models, sizeof(*losses));
	for (k = 0; k < STEPS; k++) {
		help_samples(&m, x, target, d.batch, k);
		gv_net_step(slow, x, target, losses + k * d.models);
	}
	wrong += differences(&d, &m, gv_cpu_new(1), slow, losses);
	wrong += differences(&d, &m, gv_cpu_new(3), slow, losses);
	for (k = 0; k < 2; k++)
		if (strcmp(gv_cpu_gemm_kernel(), "c") != 0 && gv_cpu_gemm_use(kernels[k]))
			wrong += differences(&d, &m, gv_cpu_new(1), slow, losses);
	gv_cpu_gemm_use(NULL);
	if (wrong > 0)
		printf("# seed %llu: %zu numbers differ\n%s", (unsigned long long)seed,
		    wrong, d.table.s);
	free(x);
	free(target);
	free(losses);
	gv_net_free(slow);
	gv_model_free(&m);
	gv_strbuf_free(&d.table);
	return wrong;
}

int
main(void)
{
	const char *many = getenv("GV_LONG");
	size_t n = many != NULL && *many != '\0' ? 400 : 40, i, wrong = 0;

	gv_init("nn_sequence");
	for (i = 0; i < n; i++)
		wrong += try(i) > 0;
	is_int((long long)wrong, 0, "%zu random transformers, bit for bit", n);
	return done_testing();
}
