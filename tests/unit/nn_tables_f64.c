/*
 * Random model tables over random samples: windows larger than what they are put to,
 * images of one place or one row, one channel, odd sizes, any operator behind any
 * other.  Each is refused, with a line and a column, or trains: losses are finite, the
 * gradient is the slope of the loss, and the numbers are those of the slow backend.
 * GV_LONG=1 draws more.
 */
#include <math.h>

#include "nn_fixture.h"
#include "nn_slow.h"

static uint64_t draws;

static size_t
below(size_t n)
{
	return (size_t)(gv_random(91, 0, 0, draws++) % n);
}

/* One of so many words; an empty one is nothing. */
static const char *
word(const char *const *words, size_t n)
{
	return words[below(n)];
}
#define WORD(...)                                \
	word((const char *const[]){__VA_ARGS__}, \
	    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void
cell(struct gv_strbuf *t, bool has, size_t v)
{
	if (has)
		gv_strbuf_fmt(t, "%zu", v);
	gv_strbuf_str(t, ",");
}

/* The rows that one reads: mostly the last, so that few are left over. */
static void
sources(struct gv_strbuf *t, size_t row, bool list, size_t unread)
{
	size_t n = list ? 2 + below(2) : 1, k;

	for (k = 0; k < n; k++) {
		size_t from = k == 0 && row > 1 ? row - 1 : below(row);

		if (k == 1 && unread > 0)
			from = unread;
		gv_strbuf_fmt(t, "%s%zu", k > 0 ? ";" : "", from);
	}
	gv_strbuf_str(t, ",");
}

/* A row of an operator; its numbers are small, and now and then out of place. */
static void
draw_row(struct gv_strbuf *t, size_t row)
{
	const char *op =
	    WORD("linear", "conv", "conv", "conv", "tconv", "tconv", "maxpool", "avgpool",
		"relu", "gelu", "add", "concat", "concat", "bn", "bn", "dropout", "lstm");
	bool window = strstr(op, "conv") != NULL || strstr(op, "pool") != NULL;
	bool out = strstr(op, "conv") != NULL || strcmp(op, "linear") == 0 ||
		   strcmp(op, "lstm") == 0;
	bool list = strcmp(op, "add") == 0 || strcmp(op, "concat") == 0;
	bool act = (out && strcmp(op, "lstm") != 0) || list || strcmp(op, "bn") == 0;
	bool conv = strstr(op, "conv") != NULL;

	gv_strbuf_fmt(t, "%zu,%s,", row, op);
	sources(t, row, list, row > 2 && below(3) > 0 ? row - 2 : 0);
	cell(t, out, 1 + below(9));
	cell(t, conv || (window && below(3) > 0), 1 + below(5));
	cell(t, window && below(2) == 0, 1 + below(3));
	cell(t, window && below(2) == 0, below(3));
	cell(t, conv && below(3) == 0, 1 + below(3));
	gv_strbuf_fmt(t, "%s,",
	    act ? WORD("", "relu", "leaky", "sigmoid", "tanh", "gelu", "silu",
		      "gelu-tanh", "leaky:0.01")
		: "");
	cell(t, out && below(3) == 0, 0);
	gv_strbuf_fmt(
	    t, "%s,", strcmp(op, "dropout") == 0 ? WORD("0.5", "0.1", "0", "1.5") : "");
	gv_strbuf_fmt(t, "%s\n",
	    strcmp(op, "lstm") == 0 ? WORD("", "both", "back", "forward") : "");
}

static void
draw_table(struct gv_strbuf *t)
{
	size_t rows = below(6), row;

	gv_strbuf_str(t, "id,op,from,out,k,s,p,g,act,bias,rate,dir\n");
	for (row = 1; row <= rows; row++)
		draw_row(t, row);
	gv_strbuf_fmt(
	    t, "%zu,linear,%zu,,,,,,,,,\n%zu,xent,,,,,,,,,,\n", row, row - 1, row + 1);
}

/* FILE:LINE: COLUMN: ... with a column of the table */
static bool
is_located(const char *text)
{
	static const char *const columns[] = {
	    "id", "op", "from", "out", "k", "s", "p", "g", "act", "bias", "rate", "dir"};
	const char *at = strchr(text, ':');
	size_t i, n;

	if (at == NULL || strspn(at + 1, "0123456789") == 0)
		return false;
	at += 1 + strspn(at + 1, "0123456789");
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		n = strlen(columns[i]);
		if (strncmp(at, ": ", 2) == 0 && strncmp(at + 2, columns[i], n) == 0 &&
		    at[2 + n] == ':')
			return true;
	}
	return false;
}

struct drawn {
	struct gv_model m;
	struct gv_net_config config;
	gv_real *x;
	int32_t *label;
};

/*
 * The slope of the loss along a direction, against the gradient: of model 0.  A
 * difference may reach over a kink of relu or maxpool, so there are some tries.
 */
static bool
is_slope(const struct drawn *d, struct gv_net *net)
{
	size_t n = d->m.parameters, i, try;
	gv_real *params = help_array(net, 0, 0), *moved = help_array(net, 0, 0);
	double up[HELP_MODELS], down[HELP_MODELS], slope, numeric, h = 1e-5;
	gv_real *grads = gv_xcalloc(n, sizeof(*grads));
	bool is = false;

	/* bn starts at beta 0, where a channel that is constant stands on relu's kink */
	for (i = 0; i < n; i++)
		params[i] += 0.3 * gv_random_normal(92, 0, 0, i);
	for (try = 0; try < 6 && !is; try++, h /= 3) {
		uint64_t seed = draws++;

		gv_net_put(net, 0, 0, params);
		gv_net_gradient(net, d->x, d->label, up);
		gv_net_get_gradients(net, 0, grads);
		for (slope = 0, i = 0; i < n; i++)
			slope +=
			    grads[i] * gv_random_normal(seed, 0, 0, i) / sqrt((double)n);
		for (i = 0; i < n; i++)
			moved[i] = params[i] +
				   h * gv_random_normal(seed, 0, 0, i) / sqrt((double)n);
		gv_net_put(net, 0, 0, moved);
		gv_net_gradient(net, d->x, d->label, up);
		for (i = 0; i < n; i++)
			moved[i] = params[i] -
				   h * gv_random_normal(seed, 0, 0, i) / sqrt((double)n);
		gv_net_put(net, 0, 0, moved);
		gv_net_gradient(net, d->x, d->label, down);
		numeric = (up[0] - down[0]) / (2 * h);
		is = fabs(numeric - slope) <=
		     1e-6 * (fabs(numeric) + fabs(slope) + 1e-3 / h * 1e-5);
	}
	gv_net_put(net, 0, 0, params);
	free(params);
	free(moved);
	free(grads);
	return is;
}

/* What is wrong with a table that is taken; NULL = nothing. */
static const char *
train(struct drawn *d)
{
	struct gv_net_config c = d->config;
	double loss[HELP_MODELS], other[HELP_MODELS];
	struct gv_net *net, *slow;
	const char *wrong = NULL;
	size_t k, b, size = gv_shape_size(d->m.input);

	c.backend = gv_cpu_new(1 + below(3));
	net = help_net(&d->m, c, 0);
	c.backend = slow_new();
	slow = help_net(&d->m, c, 0);
	help_batch(d->x, d->label, c.batch, size, d->m.classes, draws++);
	if (!is_slope(d, net))
		wrong = "the gradient is not the slope of the loss";
	help_copy(slow, net, c.models);
	for (k = 0; k < 2; k++) {
		help_batch(d->x, d->label, c.batch, size, d->m.classes, draws++);
		gv_net_step(net, d->x, d->label, loss);
		gv_net_step(slow, d->x, d->label, other);
		if (memcmp(loss, other, c.models * sizeof(*loss)) != 0)
			wrong = "losses are not those of the slow backend";
		for (b = 0; b < c.models; b++)
			if (!isfinite(loss[b]))
				wrong = "a loss is not finite";
	}
	for (b = 0; b < c.models; b++)
		if (help_differences(net, b, slow, b) > 0)
			wrong = "parameters are not those of the slow backend";
	gv_net_free(net);
	gv_net_free(slow);
	return wrong;
}

/* Draws and trains table i; 1 when it was taken, 0 refused, -1 wrong. */
static int
draw_one(uint64_t i)
{
	struct gv_shape input;
	struct gv_strbuf t = {0};
	struct gv_error e = {0};
	struct drawn d = {.config = {.models = 1}};
	const char *wrong = NULL;
	int taken;

	draws = i << 32;
	input = (struct gv_shape){1 + below(4), 1 + below(8), 1 + below(8)};
	if (below(3) == 0)
		input.width = 1;
	if (below(6) == 0)
		input.height = input.width = 1;
	draw_table(&t);
	d.config.models += below(2);
	d.config.batch = 2 + below(8);
	d.config.optimiser = optimisers[below(3)];
	taken = help_read(&d.m, t.s, &e) == 0 &&
		gv_model_shape(&d.m, input, 2 + below(4), &e) == 0;
	if (taken && d.m.parameters + d.m.activations < 60000) {
		d.x = gv_xcalloc(d.config.batch * gv_shape_size(input), sizeof(*d.x));
		d.label = gv_xcalloc(d.config.batch, sizeof(*d.label));
		wrong = train(&d);
		free(d.x);
		free(d.label);
	} else if (!taken && !is_located(e.text[0])) {
		wrong = e.text[0];
	}
	if (wrong != NULL)
		printf("# table %llu, samples %zux%zux%zu: %s\n%s", (unsigned long long)i,
		    input.height, input.width, input.channels, wrong, t.s);
	gv_model_free(&d.m);
	gv_strbuf_free(&t);
	return wrong != NULL ? -1 : taken;
}

int
main(void)
{
	const char *many = getenv("GV_LONG"), *from = getenv("GV_SEED");
	uint64_t n = many != NULL && *many != '\0' ? 20000 : 600, i;
	uint64_t first = from != NULL ? strtoull(from, NULL, 10) : 0;
	size_t taken = 0, wrong = 0;

	gv_init("nn_tables_f64");
	for (i = first; i < first + n; i++) {
		int r = draw_one(i);

		taken += r == 1;
		wrong += r < 0;
	}
	is_int(wrong, 0, "random tables that are refused without a place or train wrong");
	ok(taken > n / 6 && taken < n * 9 / 10, "%zu of %llu are taken", taken,
	    (unsigned long long)n);
	return done_testing();
}
