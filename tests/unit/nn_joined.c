/*
 * Ranks whose devices sum: what is summed when, in buckets of any size, each number once; the
 * same bits as where the host sums.  Here a rank's sum with the other is its own twice.
 */
#include "nn_help.h"

#include "base/strbuf.h"
#include "nn/backend.h"

enum { BATCH = 8, OWN = 4, MOST = 9, STEPS = 3 };

/* parameters of its rows: 4, 10, 12, 2 of bn; 28 in all */
static const char table[] = "id,op,out,act\n1,linear,1,\n2,linear,5,relu\n3,linear,1,\n"
			    "4,bn,,\n5,mse,,\n";
static const char labels[] = "id,op,out,act\n1,linear,1,\n2,linear,5,relu\n3,linear,,\n"
			     "4,xent,,\n";

/* ---- a backend that can sum ---- */

static struct gv_strbuf sums; /* numbers of the pieces of each sum: "16 16|4 4 2|" */
static double times, by;      /* of the last one */
static size_t waits;
static bool joins = true;
static int sums_left = -1; /* that go well; -1 = any number */
static size_t scaled;      /* pieces */

static int
join(struct gv_nn_backend *be, const struct gv_nn_join *j, struct gv_error *e)
{
	(void)be, (void)j;
	return joins ? 0 : gv_error_set(e, "the other one is away");
}

static int
add_ranks(struct gv_nn_backend *be, const struct gv_nn_piece *piece, size_t pieces)
{
	size_t i, k;

	(void)be;
	for (i = 0; i < pieces; i++) {
		gv_strbuf_fmt(&sums, i > 0 ? " %zu" : "%zu", piece[i].n);
		for (k = 0; k < piece[i].n; k++)
			piece[i].v[k] *= 2;
		times = piece[i].times;
		by = piece[i].by;
		scaled += times > 0 || by > 0;
	}
	gv_strbuf_char(&sums, '|');
	if (sums_left == 0)
		return -1;
	sums_left -= sums_left > 0;
	return 0;
}

static int
added(struct gv_nn_backend *be)
{
	(void)be;
	waits++;
	return 0;
}

static size_t left;

static void
leave(struct gv_nn_backend *be)
{
	(void)be;
	left++;
}

static int
make_id(struct gv_nn_backend *be, unsigned char *id, struct gv_error *e)
{
	(void)be, (void)e;
	id[0] = 77;
	return 0;
}

static struct gv_nn_backend *
backend_that_sums(void)
{
	struct gv_nn_backend *be = gv_cpu_new(1);

	be->join = join;
	be->add_ranks = add_ranks;
	be->added = added;
	be->leave = leave;
	be->make_id = make_id;
	return be;
}

static int
twice(void *ctx, gv_real *v, size_t n)
{
	(void)ctx;
	while (n-- > 0)
		*v++ *= 2;
	return 0;
}

/* ---- nets ---- */

/* Rank 0 of two; joined, or its host sums. */
static struct gv_net *
open_net(const struct gv_model *m, size_t models, size_t bucket, bool joined)
{
	struct gv_net_coef coef[MOST];
	uint64_t seed[MOST];
	struct gv_net_config c = {.models = models,
	    .batch = BATCH,
	    .ranks = 2,
	    .reduce = twice,
	    .bucket = bucket,
	    .seed = seed,
	    .coef = coef};
	struct gv_nn_join j = {.ranks = 2};
	struct gv_error e = {0};
	struct gv_net *net;
	size_t b;

	for (b = 0; b < models; b++) {
		seed[b] = b + 1;
		coef[b] = (struct gv_net_coef)GV_NET_COEF_DEFAULT;
		coef[b].lr = 0.02 / (double)(b + 1);
	}
	c.backend = joined ? backend_that_sums() : gv_cpu_new(1);
	if (gv_net_new(&net, m, &c, &e) != 0 || (joined && gv_net_join(net, &j, &e) != 0))
		gv_die_error(&e);
	gv_strbuf_clear(&sums);
	waits = scaled = 0;
	return net;
}

struct batch {
	gv_real x[OWN * 3];
	int32_t label[OWN];
	gv_real number[OWN];
};

static const void *
draw(const struct gv_model *m, struct batch *s, uint64_t k)
{
	void *to = m->target == GV_TARGET_LABELS ? (void *)s->label : (void *)s->number;

	help_samples(m, s->x, to, OWN, k);
	return to;
}

/* The sums of a step, without those of bn's statistics. */
static void
test_buckets(const char *text, size_t models, size_t bucket, const char *want)
{
	struct gv_model m = help_model(text, 1, 1, 3, 2);
	struct gv_net *net = open_net(&m, models, bucket, true);
	struct gv_net *host = open_net(&m, models, bucket, false);
	double loss[MOST], same[MOST];
	struct batch s;
	size_t k, b, wrong = 0;

	for (k = 0; k < STEPS; k++) {
		const void *target = draw(&m, &s, k);

		gv_strbuf_clear(&sums);
		wrong += gv_net_step(net, s.x, target, loss) != 0;
		wrong += gv_net_step(host, s.x, target, same) != 0;
		wrong += memcmp(loss, same, models * sizeof(*loss)) != 0;
	}
	is_str(sums.s, want, "%zu models, buckets of %zu", models, bucket);
	for (b = 0; b < models; b++)
		wrong += help_differences(net, b, host, b);
	wrong += scaled;
	is_int((long long)wrong, 0, "the same bits as by way of the host");
	gv_net_free(net);
	gv_net_free(host);
	gv_model_free(&m);
}

/* What sums of rows and of statistics are made of. */
static void
test_rows(void)
{
	struct gv_model m = help_model(table, 1, 1, 3, 1);
	struct gv_net *net = open_net(&m, 3, 0, true);

	size_t b, wrong = 0;

	gv_net_set_active(net, 1, false);
	is_int(gv_net_add_rows(net, 0, 2, 0), 0, "rows");
	is_str(sums.s, "14 14 14|", "of each model");
	ok(!(times > 0), "as they are");
	gv_strbuf_clear(&sums);
	is_int(gv_net_add_rows(net, 2, 3, 0.5), 0, "rows, scaled");
	is_str(sums.s, "6 6 6|", "of each model");
	is_near(times / by, 0.5, 0, "by that");
	gv_strbuf_clear(&sums);
	is_int(gv_net_add_rows(net, 4, 5, 1), 0, "a row without parameters");
	is_int((long long)sums.len, 0, "is not summed");
	for (b = 0; b < 3; b++)
		gv_net_put(net, 1, b, (gv_real[]){1, 2});
	is_int(gv_net_add_running(net, 4), 0, "statistics");
	is_str(sums.s, "2 2|", "of the models that train");
	is_near(times / by, 0.25, 0, "their mean");
	for (b = 0; b < 3; b++) {
		gv_real *v = help_array(net, 1, b), want = b == 1 ? 1 : 2;

		wrong += v[0] < want || v[0] > want || v[1] < 2 * want || v[1] > 2 * want;
		free(v);
	}
	is_int((long long)wrong, 0, "of each");
	is_int((long long)waits, 0, "nobody has waited");
	is_int(gv_net_rows_added(net), 0, "then one waits");
	is_int((long long)waits, 1, "once");
	gv_net_free(net);
	net = open_net(&m, 1, 0, true);
	is_int(gv_net_add_rows(net, 2, 3, 1), 0, "rows of one model");
	is_str(sums.s, "6|", "are a piece");
	gv_net_free(net);
	gv_model_free(&m);
}

static void
test_failures(void)
{
	struct gv_model m = help_model(table, 1, 1, 3, 1);
	struct gv_net *net = open_net(&m, 1, 1, true), *alone;
	struct gv_net_config c = {.models = 1, .batch = BATCH};
	struct gv_nn_join j = {.ranks = 2};
	struct gv_error e = {0};
	unsigned char id[GV_NN_ID] = {0};
	int wrong = 0, last;
	double loss[1];
	struct batch s;
	const void *target = draw(&m, &s, 0);

	ok(gv_net_make_id(net, id, &e) == 0 && id[0] == 77, "a name of the gang");
	for (sums_left = 0; sums_left < 7; sums_left = last + 1) {
		last = sums_left;
		wrong += gv_net_step(net, s.x, target, loss) != -1;
	}
	is_int((long long)wrong, 0, "any of the seven sums fails");
	sums_left = -1;
	ok(gv_net_error(net) == NULL, "of a rank that is gone");
	gv_net_leave(net);
	is_int((long long)left, 1, "it leaves");
	gv_strbuf_clear(&sums);
	ok(gv_net_step(net, s.x, target, loss) == 0 && sums.len == 0,
	    "and then its host sums");
	joins = false;
	ok(gv_net_join(net, &j, &e) == -1 && e.count == 1, "not joined");
	is_str(e.text[0], "the other one is away", "says why");
	ok(gv_net_step(net, s.x, target, loss) == 0 && sums.len == 0, "as before");
	joins = true;
	gv_net_free(net);

	alone = help_net(&m, c, 0);
	gv_error_clear(&e);
	ok(gv_net_where(alone, NULL, &e) == -1, "a CPU is no device");
	is_str(e.text[0], "it computes on the CPU", "says so");
	gv_net_leave(alone);
	gv_net_free(alone);
	gv_model_free(&m);
}

int
main(void)
{
	test_buckets(labels, 1, 0, "27|");
	test_buckets(labels, 1, 1, "12 1|10|4|");
	test_buckets(labels, 1, 12, "12 1|14|");
	test_buckets(labels, 1, 13, "22 1|4|");
	test_buckets(labels, 1, 19, "22 1|4|");
	/* 4 are less than a quarter */
	test_buckets(labels, 1, 20, "27|");
	test_buckets(labels, 2, 24, "12 12 2|14 14|");
	test_buckets(labels, 2, 35, "22 22 2|4 4|");
	test_buckets(labels, 2, 40, "54|");
	test_buckets(labels, 8, 1,
	    "12 12 12 12 12 12 12 12 8|10 10 10 10 10 10 10 10|4 4 4 4 4 4 4 4|");
	test_buckets(labels, 9, 1, "243|");
	/* first those of bn: two of the way forward, one of the way back */
	test_buckets(table, 1, 1, "1|1|2|2 1|6|10|4|");
	is_int((long long)waits, 4 * STEPS, "it waits for each of these, and once more");
	test_rows();
	test_failures();
	gv_strbuf_free(&sums);
	return done_testing();
}
