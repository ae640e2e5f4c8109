/*
 * gv-profile layers --stages: the rows of each stage are measured in a net of their own, as a
 * worker of a pipeline has them, and all rows are; samples are those of the rule.
 */
#include "gv-profile/layers/bench_parts.h"
#include "nn_help.h"

enum { STAGES = 3, BATCH = 8, MICRO_BATCHES = 4 };

static const char table[] = "id,op,from,out,k,p,act\n"
			    "1,conv,0,8,3,1,relu\n"
			    "2,conv,1,8,3,1,\n"
			    "3,add,2;1,,,,relu\n"
			    "4,linear,3,64,,,relu\n"
			    "5,linear,4,64,,,relu\n"
			    "6,linear,5,10,,,\n"
			    "7,xent,6,,,,\n";

static struct gv_net_bytes
bytes_of(const struct gv_model *m, size_t first, size_t last, size_t slots)
{
	uint64_t seed = 1;
	struct gv_net_coef coef = GV_NET_COEF_DEFAULT;
	struct gv_net_config c = {.models = 1,
	    .batch = BATCH,
	    .micro_batches = MICRO_BATCHES,
	    .slots = slots,
	    .first_row = first,
	    .last_row = last,
	    .seed = &seed,
	    .coef = &coef,
	    .backend = gv_cpu_new(1)};
	struct gv_net_bytes bytes;
	struct gv_error e = {0};
	struct gv_net *net;

	if (gv_net_new(&net, m, &c, &e) != 0)
		gv_die_error(&e);
	gv_net_bytes(net, &bytes);
	gv_net_free(net);
	return bytes;
}

/* The samples and labels of a rule, over and over. */
static void
test_samples(const struct gv_model *m)
{
	struct gv_data d = {.n = 5, .h = 8, .w = 8, .c = 1, .size = 64, .targets = 1};
	struct times_rule rule = {.batch = BATCH,
	    .models = 1,
	    .in_flight = 2,
	    .data = &d,
	    .device.threads = 1,
	    .quiet = true};
	struct gv_error e = {0};
	struct bench b = {0};
	size_t i, same = 0, labels = 0;

	d.x = gv_xcalloc(d.n * d.size, sizeof(*d.x));
	d.y = gv_xcalloc(d.n, sizeof(*d.y));
	for (i = 0; i < d.n * d.size; i++)
		d.x[i] = (float)i;
	for (i = 0; i < d.n; i++)
		d.y[i] = (int32_t)(9 - i);
	if (bench_open(&b, m, &rule, NULL, &e) != 0)
		gv_die_error(&e);
	for (i = 0; i < b.in_flight * BATCH * b.sample; i++)
		same += b.x[i] == (float)(i % (d.n * d.size));
	for (i = 0; i < b.in_flight * BATCH; i++)
		labels += ((int32_t *)b.target)[i] == d.y[i % d.n];
	is_int(same, b.in_flight * BATCH * b.sample, "all samples are the rule's");
	is_int(labels, b.in_flight * BATCH, "and all labels");
	bench_close(&b);
	gv_data_free(&d);
}

int
main(void)
{
	struct times_rule rule = {.batch = BATCH,
	    .models = 1,
	    .micro_batches = MICRO_BATCHES,
	    .stages = STAGES,
	    .device.threads = 1,
	    .quiet = true};
	struct gv_model m = help_model(table, 8, 8, 1, 10);
	struct gv_net_bytes is, want;
	struct gv_error e = {0};
	struct bench b = {0};
	size_t k, params = 0, times = 0;

	gv_init("gv-profile.parts");
	if (bench_parts_open(&b, &m, &rule, &e) != 0)
		gv_die_error(&e);
	for (k = 0; k < STAGES; k++) {
		const struct bench_part *p = &b.part[k];

		gv_net_bytes(p->net, &is);
		want = bytes_of(&m, p->row, p[1].row, STAGES - k);
		ok(p[1].row > p->row, "stage %zu has rows", k);
		is_int(is.total, want.total, "and what a net of them holds");
		params += is.params;
	}
	is_int(b.part[0].row, 0, "from the first row");
	is_int(b.part[STAGES].row, m.n, "to the last");
	is_int(params, bytes_of(&m, 0, m.n, 1).params, "all weights, once");
	memset(b.now, 0, b.rows * sizeof(*b.now));
	b.timed = true;
	bench_parts_time(&b, b.now);
	bench_step(&b, NULL);
	bench_parts_time(&b, NULL);
	for (k = 0; k < m.n; k++)
		times += b.now[k].forward_s > 0 && b.now[k].backward_s > 0;
	ok(!b.failed, "a step of all");
	/* a loss that is so small may be made in no time */
	ok(times + 1 >= m.n, "in which all rows are timed: %zu of %zu", times, m.n);
	ok(b.now[0].update_s > 0 && b.now[5].update_s > 0, "and updated");
	bench_parts_close(&b);
	test_samples(&m);
	gv_model_free(&m);
	return done_testing();
}
