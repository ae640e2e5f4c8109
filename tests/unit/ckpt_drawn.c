/*
 * Checkpoints of drawn models: that of the whole is joined from slices of any cuts, byte for byte;
 * nets of other cuts go on from the slices as the whole does; and arrays are split into models
 * and joined again.
 */
#include <sys/resource.h>
#include <unistd.h>

#include "base/fileio.h"
#include "drawn_model.h"
#include "nn/ckpt_slices.h"
#include "nn_help.h"
#include "scratch.h"

enum { MOST_PARTS = 3, MODELS = 2, BATCH = 4 };

static struct gv_error e;
static const char *const lines[MODELS] = {"seed=1", "seed=2"};
static const char config[] = "batch 4\n";
static const char *const names[MOST_PARTS] = {"0.ckpt", "1.ckpt", "2.ckpt"};

static void
must(int rc)
{
	if (rc < 0)
		gv_die_error(&e);
}

static struct gv_net *
open_net(const struct gv_model *m, struct gv_net_config c, size_t first, size_t last)
{
	c.models = MODELS;
	c.batch = BATCH;
	c.first_row = first;
	c.last_row = last;
	return help_net(m, c, 0);
}

static bool
same_file(const char *a, const char *b)
{
	char *s, *t;
	size_t n, k;
	bool same;

	must(gv_file_read(a, &s, &n, SIZE_MAX / 4, &e));
	must(gv_file_read(b, &t, &k, SIZE_MAX / 4, &e));
	same = n == k && memcmp(s, t, n) == 0;
	free(s);
	free(t);
	return same;
}

/* Some rows each, from 0 to the end; how many. */
static size_t
draw_cuts(size_t *cut, size_t rows)
{
	size_t n = 1 + below(rows < MOST_PARTS ? rows : MOST_PARTS), i;

	cut[0] = 0;
	for (i = 1; i < n; i++)
		cut[i] = cut[i - 1] + 1 + below(rows - cut[i - 1] - (n - i));
	cut[n] = rows;
	return n;
}

/* Parts of the whole, by its own checkpoint, write theirs. */
static void
write_slices(struct gv_ckpt_slice *slice, size_t n, const size_t *cut,
    const struct gv_model *m, struct gv_net_config c, const struct gv_ckpt_slice *whole,
    const bool *diverged)
{
	const struct gv_ckpt_key key = {config, MODELS, lines};
	static char own[MOST_PARTS][40], with[MOST_PARTS][80];
	bool are[MODELS];
	size_t i;

	for (i = 0; i < n; i++) {
		struct gv_ckpt_key mine = key;
		struct gv_net *net = open_net(m, c, cut[i], cut[i + 1]);

		must(gv_ckpt_read_slices(
		    whole, 1, m, net, cut[i], cut[i + 1], &key, are, &e));
		ok(memcmp(are, diverged, sizeof(are)) == 0, "who has diverged");
		snprintf(own[i], sizeof(own[i]), "rows %zu %zu\n", cut[i], cut[i + 1]);
		snprintf(with[i], sizeof(with[i]), "%s%s", config, own[i]);
		mine.config = with[i];
		unlink(names[i]);
		must(gv_ckpt_write(names[i], net, &mine, diverged, &e));
		slice[i] = (struct gv_ckpt_slice){names[i], cut[i], cut[i + 1], own[i]};
		gv_net_free(net);
	}
}

/* The whole, trained a little. */
static struct gv_net *
trained(const struct gv_model *m, struct gv_net_config c)
{
	size_t size = gv_shape_size(m->input);
	gv_real *x = gv_xcalloc(BATCH * size, sizeof(*x));
	void *target = gv_xcalloc(BATCH, help_target_bytes(m));
	struct gv_net *net = open_net(m, c, 0, 0);
	double loss[MODELS];
	size_t steps = 1 + below(3), i;

	for (i = 0; i < steps; i++) {
		help_samples(m, x, target, BATCH, i);
		must(gv_net_step(net, x, target, loss));
		gv_net_set_active(net, 1, below(2) == 0);
	}
	free(x);
	free(target);
	return net;
}

static void
test_slices(const struct gv_model *m, struct gv_net_config c, const bool *diverged)
{
	const struct gv_ckpt_key key = {config, MODELS, lines};
	const struct gv_ckpt_slice whole = {"whole", 0, m->n, NULL};
	struct gv_ckpt_slice slice[MOST_PARTS];
	struct gv_net *net = trained(m, c), *other = open_net(m, c, 0, 0);
	size_t cut[MOST_PARTS + 1], n, wrong = 0, b;
	bool are[MODELS], damaged;

	must(gv_ckpt_write("whole", net, &key, diverged, &e));
	n = draw_cuts(cut, m->n);
	write_slices(slice, n, cut, m, c, &whole, diverged);
	must(gv_ckpt_join_slices(slice, n, "joined", &e));
	ok(same_file("whole", "joined"), "%zu slices are joined", n);
	must(gv_ckpt_read_slices(slice, n, m, other, 0, m->n, &key, are, &e));
	for (b = 0; b < MODELS; b++)
		wrong += help_differences(net, b, other, b) + (are[b] != diverged[b]) +
			 (gv_net_steps(net, b) != gv_net_steps(other, b));
	is_int((long long)wrong, 0, "and read into the whole");
	gv_net_free(other);
	other = open_net(m, c, 0, 0);
	must(gv_ckpt_read("whole", other, &key, are, &damaged, &e));
	for (b = 0, wrong = 0; b < MODELS; b++)
		wrong += help_differences(net, b, other, b) + (are[b] != diverged[b]);
	is_int((long long)wrong, 0, "as it is read");
	gv_net_free(net);
	gv_net_free(other);
}

static void
test_split(void)
{
	static const char *const parts[MODELS] = {"0.ckpt", "1.ckpt"};
	size_t b, models = 0;

	must(gv_ckpt_models("whole", &models, &e));
	is_int((long long)models, MODELS, "models of a file");
	for (b = 0; b < MODELS; b++)
		must(gv_ckpt_split("whole", b, parts[b], &e));
	must(gv_ckpt_join(parts, MODELS, "joined", &e));
	ok(same_file("whole", "joined"), "split and joined");
	ok(gv_ckpt_split("whole", MODELS, "0.ckpt", &e) == -1, "there is no third one");
	gv_error_clear(&e);
}

static void
test_drawn(size_t i)
{
	struct gv_shape input = {1 + below(3), 1, 1};
	static const char late[] =
	    "id,op,from,out\n1,linear,0,4\n2,linear,1,4\n3,linear,2,4\n"
	    "4,bn,3,\n5,linear,4,\n6,mse,5,\n";
	static const char early[] =
	    "id,op,from,out\n1,linear,0,4\n2,bn,1,\n3,linear,2,4\n"
	    "4,linear,3,4\n5,linear,4,\n6,mse,5,\n";
	struct gv_net_config c = {.optimiser = (enum gv_optimiser)(i % 3)};
	struct gv_strbuf s = {0};
	struct gv_model m = {0};
	bool diverged[MODELS];
	struct drawn_model d;
	struct gv_frame f;

	input.height = 1 + below(4);
	input.width = 1 + below(4);
	draw_model(&d, input, 3, 6);
	if (i % 5 == 0) /* running statistics in one slice */
		gv_strbuf_str(&s, i % 2 == 0 ? late : early);
	else
		model_table(&d, &s, 0);
	c.versions = 1 + below(2);
	diverged[0] = below(3) == 0;
	diverged[1] = below(3) == 0;
	if (gv_frame_parse(&f, "m.csv", s.s, s.len, &e) == 0 &&
	    gv_model_from_frame(&m, &f, &e) == 0 &&
	    gv_model_shape(&m, input, 3, &e) == 0) {
		test_slices(&m, c, diverged);
		test_split();
	}
	gv_error_clear(&e);
	gv_model_free(&m);
	gv_strbuf_free(&s);
}

int
main(void)
{
	static const char *const files[] = {"whole", "whole.old", "joined", "0.ckpt",
	    "1.ckpt", "2.ckpt", "0.ckpt.old", "1.ckpt.old", "2.ckpt.old", NULL};
	static const struct rlimit few = {24, 24};
	size_t i;

	setrlimit(RLIMIT_NOFILE, &few); /* what is opened is closed */
	scratch_enter();
	for (i = 0; i < 15; i++) {
		draws_begin(57, (uint32_t)i, 0);
		test_drawn(i);
		unlink("whole");
	}
	scratch_leave(files);
	return done_testing();
}
