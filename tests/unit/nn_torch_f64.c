/*
 * Agreement with PyTorch, in double: the same data and parameters, several
 * steps; losses, parameters and running statistics are the same to 1e-9.  One
 * case has PyTorch's numbers in here; the others ask it (nn_torch.py), among them
 * random ones: batches of 1 to 1,024, 1 to 130 channels, depthwise and in groups.
 * GV_LONG=1 draws more.
 */
#include <stdio.h>
#include <sys/wait.h>

#include "nn_random.h"

enum { STEPS = 6 };

struct net_case {
	const char *name, *table;
	size_t height, width, channels, classes, batch;
	enum gv_optimiser optimiser;
	struct gv_net_coef coef;
};

static const struct net_case cases[] = {
    {"mlp, plain sgd", HEAD "1,linear,,9,,,,,relu,\n2,linear,,,,,,,,\n3,xent,,,,,,,,\n",
	2, 3, 2, 4, 7, GV_SGD, {.lr = 0.1}},
    {"mlp, momentum and decay",
	HEAD "1,linear,,9,,,,,,0\n2,relu,,,,,,,,\n3,linear,,,,,,,,\n"
	     "4,xent,,,,,,,,\n",
	2, 3, 2, 4, 7, GV_SGD, {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01}},
    {"gelu behind conv, bn and linear",
	HEAD "1,conv,,6,3,1,1,,,\n2,gelu,,,,,,,,\n3,conv,,6,3,2,1,6,,0\n4,bn,,,,,,,,\n"
	     "5,gelu,,,,,,,,\n6,linear,,10,,,,,,\n7,gelu,,,,,,,,\n8,linear,,,,,,,,\n"
	     "9,xent,,,,,,,,\n",
	7, 6, 2, 5, 7, GV_ADAMW,
	{.lr = 0.003, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.02}},
    {"cnn, adam",
	HEAD "1,conv,,6,3,1,1,,relu,\n2,maxpool,,,3,2,1,,,\n3,conv,,8,3,2,1,2,relu,\n"
	     "4,avgpool,,,2,1,1,,,\n5,linear,,10,,,,,relu,\n6,linear,,,,,,,,\n7,xent,,,,,"
	     ",,,\n",
	7, 6, 2, 5, 7, GV_ADAM,
	{.lr = 0.003, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.02}},
    {"cnn with bn, adamw",
	HEAD
	"1,conv,,4,3,1,1,,,0\n2,bn,,,,,,,relu,\n3,maxpool,,,2,,,,,\n4,conv,,6,3,1,1,,,\n"
	"5,bn,,,,,,,,\n6,avgpool,,,,,,,,\n7,linear,,9,,,,,,\n8,bn,,,,,,,relu,\n9,linear,,"
	",,,,,,\n"
	"10,xent,,,,,,,,\n",
	6, 6, 3, 4, 7, GV_ADAMW,
	{.lr = 0.01, .beta1 = 0.8, .beta2 = 0.999, .eps = 1e-6, .weight_decay = 0.1}},
    {"every act behind every operator that has one",
	HEAD "1,conv,,4,3,1,1,,silu,\n2,bn,,,,,,,gelu,\n3,conv,1,4,3,1,1,4,leaky,\n"
	     "4,add,1;2;3,,,,,,tanh,\n5,concat,4;0;1,,,,,,sigmoid,\n"
	     "6,conv,5,3,1,1,0,,gelu-tanh,\n7,linear,6,9,,,,,gelu,\n"
	     "8,bn,7,,,,,,leaky:0.5,\n9,linear,,9,,,,,sigmoid,\n"
	     "10,add,7;8;9,,,,,,silu,\n11,linear,,7,,,,,tanh,\n12,linear,,,,,,,,\n"
	     "13,xent,,,,,,,,\n",
	4, 3, 2, 3, 6, GV_SGD, {.lr = 0.1, .momentum = 0.9}},
    {"a language model whose output has the weight of its embed",
	"id,op,from,out,k,g,act,bias,tied_with,dir\n"
	"1,embed,0,6,,,,,,\n2,ln,,,,,,,,\n3,linear,,18,1,,,,,\n4,causal,,,,2,,,,\n"
	"5,linear,,6,1,,,,,\n6,add,1;5,,,,,,,\n7,ln,,,,,,,,\n"
	"8,linear,,12,1,,gelu-tanh,,,\n9,linear,,6,1,,,,,\n10,add,6;9,,,,,,,\n"
	"11,ln,,,,,,,,\n12,linear,,,1,,,0,1,\n13,xent,,,,,,,,\n",
	5, 1, 1, 7, 6, GV_ADAMW,
	{.lr = 0.01, .beta1 = 0.8, .beta2 = 0.99, .eps = 1e-6, .weight_decay = 0.1}},
    {"as a DCGAN: up by tconv, down by conv",
	HEAD
	"1,linear,,24,,,,,,0\n2,bn,,,,,,,relu,\n3,tconv,,9,4,1,0,,,0\n4,bn,,,,,,,relu,\n"
	"5,tconv,,6,4,2,1,3,relu,\n6,tconv,,3,3,3,1,,tanh,\n7,conv,,5,4,2,1,,leaky,0\n"
	"8,tconv,,4,2,1,,,,\n9,conv,,6,4,2,1,,,\n10,bn,,,,,,,leaky,\n11,linear,,,,,,,,\n"
	"12,xent,,,,,,,,\n",
	2, 3, 2, 4, 6, GV_ADAM, {.lr = 0.003, .beta1 = 0.5, .beta2 = 0.999, .eps = 1e-5}},
    {"as a PointNet: max over points, joined to each",
	HEAD "1,conv,,8,1,,,,,\n2,bn,,,,,,,relu,\n3,conv,,12,1,,,,,\n4,bn,,,,,,,relu,\n"
	     "5,maxpool,,,,,,,,\n6,linear,,8,,,,,,\n7,avgpool,4,,,,,,,\n8,concat,6;7,,,,,"
	     ",relu,\n"
	     "9,linear,,,,,,,,\n10,xent,,,,,,,,\n",
	13, 1, 3, 4, 5, GV_ADAMW,
	{.lr = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-5}},
    {"as a GPT: tokens, ln, causal attention, labels at every place",
	HEAD "1,embed,0,12,,,,,,\n2,ln,,,,,,,,\n3,linear,,36,1,,,,,\n4,causal,,,,,,3,,\n"
	     "5,linear,,12,1,,,,,\n6,add,1;5,,,,,,,\n7,ln,,,,,,,,\n"
	     "8,linear,,30,1,,,,gelu,\n9,linear,,12,1,,,,,\n10,add,6;9,,,,,,,\n"
	     "11,ln,,,,,,,,0\n12,linear,,,1,,,,,0\n13,xent,,,,,,,,\n",
	19, 1, 1, 11, 5, GV_ADAMW,
	{.lr = 0.003, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-3, .weight_decay = 0.1}},
    {"as an encoder: attention, the mean of the places",
	HEAD "1,embed,0,8,23,,,,,0\n2,linear,,24,1,,,,,\n3,attention,,,,,,2,,\n"
	     "4,add,1;3,,,,,,,\n5,ln,,,,,,,,\n6,avgpool,,,,,,,,\n7,linear,,,,,,,,\n"
	     "8,xent,,,,,,,,\n",
	9, 1, 1, 4, 6, GV_SGD, {.lr = 0.05, .momentum = 0.9}},
    {"mse at every place",
	HEAD "1,conv,,6,3,1,1,,tanh,\n2,conv,,3,3,1,1,,,\n3,mse,,,,,,,,\n", 5, 4, 2, 3, 6,
	GV_SGD, {.lr = 0.1, .momentum = 0.9}},
    {"bce of some logits",
	HEAD "1,linear,,9,,,,,relu,\n2,linear,,,,,,,,\n3,bce,,,,,,,,\n", 2, 3, 2, 3, 6,
	GV_ADAM, {.lr = 0.01, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-4}},
    {"as a GNMT: lstm both ways, back, without bias, residual",
	"id,op,from,out,k,bias,dir,act\n1,lstm,,8,,,both,\n2,lstm,,8,,0,,\n3,add,2;1,,,,,"
	"\n"
	"4,lstm,3,8,,,back,\n5,add,3;4,,,,,\n6,conv,,5,1,,,tanh\n7,linear,,,,,,\n8,xent,,"
	",,,,\n",
	6, 1, 3, 4, 5, GV_SGD, {.lr = 0.1, .momentum = 0.9}},
    {"as a ResNet",
	HEAD
	"1,conv,,4,3,1,1,,,0\n2,bn,,,,,,,relu,\n3,conv,2,4,3,1,1,,,0\n4,bn,,,,,,,relu,\n"
	"5,conv,,4,3,1,1,,,0\n6,bn,,,,,,,,\n7,add,6;2,,,,,,relu,\n8,conv,7,6,3,2,1,,,0\n"
	"9,bn,,,,,,,relu,\n10,conv,,6,3,1,1,,,0\n11,bn,,,,,,,,\n12,conv,7,6,1,2,0,,,0\n"
	"13,bn,,,,,,,,\n14,add,11;13,,,,,,relu,\n15,avgpool,,,,,,,,\n16,linear,,,,,,,,\n"
	"17,xent,,,,,,,,\n",
	5, 5, 2, 3, 5, GV_SGD, {.lr = 0.05, .momentum = 0.9, .weight_decay = 1e-3}},
};

enum { CASES = sizeof(cases) / sizeof(cases[0]), KNOWN = 4 };

/* What a case gives: losses of the steps, parameters, statistics. */
struct result {
	double loss[STEPS];
	size_t n;
	double *v;
};

struct data {
	gv_real *x;
	int32_t *label;
	gv_real *number; /* as label, for heads that want numbers */
	double *params;
	size_t batch, n; /* parameters */
};

/* Numbers of the rows before one. */
static size_t
parameters_before(const struct gv_model *m, size_t row)
{
	size_t n = 0, i;

	for (i = 0; i < row; i++)
		n += m->layer[i].weights + m->layer[i].biases;
	return n;
}

/* A tied row's copy of the weight. */
static void
tie(double *params, const struct gv_model *m, size_t row)
{
	const struct gv_layer *l = &m->layer[row], *to = &m->layer[l->tied];
	size_t channels = to->out_shape.channels, tokens = to->weights / channels, i;
	double *v = params + parameters_before(m, row);
	const double *from = params + parameters_before(m, l->tied);

	for (i = 0; i < l->weights; i++)
		v[i] = from[i % tokens * channels + i / tokens];
}

static void
make_data(struct data *d, const struct gv_model *m, size_t batch)
{
	size_t i, samples = STEPS * batch, all = samples * gv_shape_size(m->input);
	size_t targets = samples * m->targets;

	d->batch = batch;
	d->n = m->parameters;
	d->x = gv_xcalloc(all, sizeof(*d->x));
	d->label = gv_xcalloc(targets, sizeof(*d->label));
	d->number = gv_xcalloc(targets, sizeof(*d->number));
	d->params = gv_xcalloc(d->n + 1, sizeof(*d->params));
	for (i = 0; i < all; i++)
		d->x[i] = m->tokens > 0
			      ? (double)((i * i + i / 5) % m->tokens)
			      : 1.5 * sin(0.7 * (double)i + 0.3 * (double)(i % 11));
	for (i = 0; i < targets; i++) {
		d->label[i] = (int32_t)((i * i + i / 3) % m->classes);
		if (m->targets > 1 && i % 7 == 2)
			d->label[i] = -100;
		d->number[i] = (double)(i % 13) / 12;
	}
	for (i = 0; i < d->n; i++)
		d->params[i] = 0.4 * cos(1.3 * (double)i * (double)(i % 7 + 1));
	for (i = 0; i < m->n; i++)
		if (m->layer[i].is_tied)
			tie(d->params, m, i);
}

static void
free_data(struct data *d)
{
	free(d->x);
	free(d->label);
	free(d->number);
	free(d->params);
}

static void
train(struct result *out, const struct net_case *c, const struct gv_model *m,
    const struct data *d)
{
	uint64_t seed = 1;
	struct gv_net_config config = {.models = 1,
	    .batch = c->batch,
	    .optimiser = c->optimiser,
	    .seed = &seed,
	    .coef = &c->coef};
	struct gv_net *net = help_net(m, config, 0);
	struct gv_net_array a;
	size_t i;

	out->v = gv_xcalloc(d->n + m->running + 1, sizeof(*out->v));
	gv_net_put(net, 0, 0, d->params);
	for (i = 0; i < STEPS; i++)
		gv_net_step(net, d->x + i * c->batch * gv_shape_size(m->input),
		    m->target == GV_TARGET_NUMBERS
			? (const void *)(d->number + i * c->batch * m->targets)
			: d->label + i * c->batch * m->targets,
		    &out->loss[i]);
	gv_net_get(net, 0, 0, out->v);
	out->n = d->n;
	for (i = 1; gv_net_array(net, i, &a) == 0; i++)
		if (strcmp(a.name, "running") == 0) {
			gv_net_get(net, i, 0, out->v + out->n);
			out->n += a.n;
		}
	gv_net_free(net);
}

static void
write_numbers(FILE *f, const char *name, const double *v, size_t n)
{
	size_t i;

	fprintf(f, ",\n\"%s\": [", name);
	for (i = 0; i < n; i++)
		fprintf(f, "%s%.17g", i > 0 ? ", " : "", v[i]);
	fputs("]", f);
}

static void
write_case(
    FILE *f, const struct net_case *c, const struct gv_model *m, const struct data *d)
{
	static const char *const names[] = {"sgd", "adam", "adamw"};
	const struct gv_frame *t = &m->table;
	size_t i, j;

	fprintf(f, "{\"rows\": [");
	for (i = 0; i < t->n_rows; i++)
		for (j = 0; j < t->n_columns; j++)
			fprintf(f, "%s\"%s\": \"%s\"%s",
			    j > 0   ? ", "
			    : i > 0 ? ",\n{"
				    : "{",
			    t->name[j].s, gv_frame_cell(t, i, (ptrdiff_t)j).s,
			    j + 1 < t->n_columns ? "" : "}");
	fprintf(f,
	    "],\n\"shape\": [%zu, %zu, %zu], \"classes\": %zu, \"optimiser\": \"%s\"",
	    c->height, c->width, c->channels, c->classes, names[c->optimiser]);
	fprintf(f, ", \"lr\": %.17g, \"momentum\": %.17g, \"weight_decay\": %.17g",
	    c->coef.lr, c->coef.momentum, c->coef.weight_decay);
	fprintf(f, ", \"beta1\": %.17g, \"beta2\": %.17g, \"eps\": %.17g", c->coef.beta1,
	    c->coef.beta2, c->coef.eps);
	fprintf(f, ", \"steps\": %d, \"batch\": %zu", STEPS, d->batch);
	write_numbers(f, "x", d->x, STEPS * d->batch * gv_shape_size(m->input));
	write_numbers(f, "params", d->params, d->n);
	fputs(",\n\"target\": [", f);
	for (i = 0; i < STEPS * d->batch * m->targets; i++)
		fprintf(f, "%s%.17g", i > 0 ? ", " : "",
		    m->target == GV_TARGET_NUMBERS ? d->number[i] : (double)d->label[i]);
	fputs("]}\n", f);
}

static void
compare(const struct net_case *c, const struct result *ours, const struct result *torch)
{
	double worst_loss = 0, worst = 0, off;
	size_t i;

	for (i = 0; i < STEPS; i++) {
		off = fabs(ours->loss[i] - torch->loss[i]);
		worst_loss = off > worst_loss || isnan(off) ? off : worst_loss;
	}
	for (i = 0; i < torch->n; i++) {
		off = fabs(ours->v[i] - torch->v[i]);
		worst = off > worst || isnan(off) ? off : worst;
	}
	is_near(worst_loss, 0, 1e-9, "%s: losses of %d steps", c->name, STEPS);
	is_near(worst, 0, 1e-9, "%s: %zu parameters and statistics", c->name, torch->n);
}

/*
 * Case KNOWN by PyTorch 2.15.0 on x86-64: nn_torch.py on what write_case writes, its
 * losses and every 29th of the numbers behind them.
 */
static const double known_loss[STEPS] = {1.2973858831405656, 1.4281896659759175,
    1.3206713875079308, 1.3720930777114513, 1.3050030508742423, 1.2454756287113578};
static const double known[] = {0.3636052367168202, 0.3557903577215704,
    0.38901937170207257, 0.3939226755499016, 0.40293837062853105, 0.3970812374186968,
    0.36351839902067123, 0.4337786794983543, 0.41704110088123714, 0.43017624670830396,
    0.3645104430026726, 0.3980259622495619, 0.3967933125220815, 0.44091685193960034,
    0.39757525559397655, 0.38567315790223766, 0.37302513500062456, 0.20478997860553977};

static void
test_known(const struct result *ours)
{
	size_t i;

	for (i = 0; i < STEPS; i++)
		is_near(ours->loss[i], known_loss[i], 1e-10, "loss %zu as PyTorch's", i);
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		is_near(
		    ours->v[29 * i], known[i], 1e-9, "number %zu as PyTorch's", 29 * i);
}

/* ---- PyTorch ---- */

/* Runs nn_torch.py on the files; NULL when there is no Python. */
static FILE *
ask(char (*path)[32], size_t files)
{
	const char *python = getenv("GV_PYTHON");
	struct gv_strbuf command = {0};
	FILE *f;
	size_t i;

	gv_strbuf_fmt(&command, "exec %s tests/unit/nn_torch.py",
	    python != NULL && *python != '\0' ? python : "python3");
	for (i = 0; i < files; i++)
		gv_strbuf_fmt(&command, " %s", path[i]);
	f = popen(command.s, "r");
	gv_strbuf_free(&command);
	return f;
}

/* The next n + STEPS lines; the numbers that there were. */
static size_t
read_result(struct result *out, FILE *f, size_t n)
{
	char line[100];
	size_t i;

	for (i = 0; i < STEPS + n && fgets(line, sizeof(line), f) != NULL; i++)
		*(i < STEPS ? &out->loss[i] : &out->v[i - STEPS]) = strtod(line, NULL);
	out->n = n;
	return i;
}

/*
 * A random case, of what is drawn into *r.  Adam divides rounding by eps, so
 * that of thousands of small gradients stays below 1e-9 only with a large one.
 */
static struct net_case
drawn(struct random_case *r, size_t i)
{
	random_case(r, i);
	return (struct net_case){r->name, r->table.s, r->side, r->side, r->channels,
	    r->classes, r->batch, (enum gv_optimiser)(i % 3),
	    {.lr = 0.003, .momentum = 0.9, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-3}};
}

/* Trains a case and leaves it in a file for PyTorch. */
static void
prepare(struct result *ours, const struct net_case *c, char path[32])
{
	struct gv_model m =
	    help_model(c->table, c->height, c->width, c->channels, c->classes);
	struct data d;
	FILE *f;

	make_data(&d, &m, c->batch);
	train(ours, c, &m, &d);
	strcpy(path, "/tmp/gv-nn-XXXXXX");
	f = fdopen(mkstemp(path), "w");
	write_case(f, c, &m, &d);
	fclose(f);
	free_data(&d);
	gv_model_free(&m);
}

int
main(void)
{
	/* random ones where PyTorch is known to be */
	size_t all = CASES, i, n = 0;
	const char *more = getenv("GV_PYTHON"), *many = getenv("GV_LONG");
	struct result *ours, torch;
	struct random_case *r;
	struct net_case *c;
	char(*path)[32];
	FILE *f;
	int status;

	gv_init("nn_torch_f64");
	if (more != NULL && *more != '\0')
		all += many != NULL && *many != '\0' ? 60 : 15;
	ours = gv_xcalloc(all, sizeof(*ours));
	c = gv_xcalloc(all, sizeof(*c));
	r = gv_xcalloc(all, sizeof(*r));
	path = gv_xcalloc(all, sizeof(*path));
	for (i = 0; i < all; i++) {
		c[i] = i < CASES ? cases[i] : drawn(&r[i], i - CASES);
		prepare(&ours[i], &c[i], path[i]);
	}
	test_known(&ours[KNOWN]);
	f = ask(path, all);
	for (i = 0; i < all && f != NULL; i++) {
		torch.v = gv_xcalloc(ours[i].n + 1, sizeof(*torch.v));
		n = read_result(&torch, f, ours[i].n);
		if (i > 0 || n > 0) {
			is_int(n, STEPS + ours[i].n, "%s: PyTorch answers", c[i].name);
			compare(&c[i], &ours[i], &torch);
		}
		free(torch.v);
		if (i == 0 && n == 0)
			break;
	}
	status = f == NULL ? -1 : pclose(f);
	/* 127 is the shell's: no Python */
	if (n == 0 && WIFEXITED(status) &&
	    (WEXITSTATUS(status) == 3 || WEXITSTATUS(status) == 127))
		skip("no torch to compare with");
	else
		ok(n > 0, "PyTorch answered");
	for (i = 0; i < all; i++) {
		unlink(path[i]);
		free(ours[i].v);
		random_free(&r[i]);
	}
	free(ours);
	free(r);
	free(c);
	free(path);
	return done_testing();
}
