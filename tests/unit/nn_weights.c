/*
 * Parameters of nets out of files of tensors and into them: every operator's tensors by name,
 * shape and number, as PyTorch has them; what is missing, of another shape or unknown.
 */
#include "nn_help.h"

#include "nn/tensors.h"
#include "nn/weights_file.h"

static char path[] = "/tmp/gv-weights-XXXXXX";

struct net {
	struct gv_model m;
	struct gv_net *net;
	struct gv_tensors t; /* as written of model 1 */
};

/* Two models with statistics, biases and coefficients of their own. */
static void
open_net(struct net *n, const char *table, size_t height, size_t width, size_t channels)
{
	struct gv_net_config c = {.models = 2, .batch = 4};
	struct gv_error e = {0};
	struct gv_net_array a;
	size_t i, k, b;

	n->m = help_model(table, height, width, channels, 3);
	n->net = help_net(&n->m, c, 0);
	for (b = 0; b < 2; b++)
		for (i = 0; gv_net_array(n->net, i, &a) == 0; i++) {
			gv_real *v = help_array(n->net, i, b);

			for (k = 0; k < a.n; k++)
				v[k] = (gv_real)gv_random_normal(5, b, (uint32_t)i, k);
			gv_net_put(n->net, i, b, v);
			free(v);
		}
	gv_net_set_steps(n->net, 1, 0x010203);
	if (gv_weights_write(path, n->net, &n->m, 1, &e) != 0 ||
	    gv_tensors_read(&n->t, path, &e) != 0)
		gv_die_error(&e);
}

static void
close_net(struct net *n)
{
	gv_tensors_free(&n->t);
	gv_net_free(n->net);
	gv_model_free(&n->m);
}

/* ---- what is written ---- */

/* The numbers of tensor NAME of the net, of model 1: to be freed. */
static gv_real *
ours(struct net *n, const char *name)
{
	struct gv_net_tensor t;
	gv_real *all, *v;
	struct gv_net_array a;
	size_t i, k;

	for (i = 0; gv_net_tensor(n->net, i, &t) == 0; i++)
		if (strcmp(t.name, name) == 0)
			break;
	if (gv_net_tensor(n->net, i, &t) != 0)
		gv_die("no tensor %s", name);
	for (k = 0; gv_net_array(n->net, k, &a) == 0; k++)
		if (strcmp(a.name, t.running ? "running" : "params") == 0)
			break;
	all = help_array(n->net, k, 1);
	v = gv_xcalloc(t.n, sizeof(*v));
	memcpy(v, all + t.offset, t.n * sizeof(*v));
	free(all);
	return v;
}

/*
 * Tensor NAME of the file has this shape, and its number (i, j, k, l) is ours at from + the sum of
 * each times its step, but in groups of grouped of i (0 = there are none): the group times jump.
 */
struct same {
	const char *name, *of; /* in the file, in the net */
	size_t dims;
	size_t shape[4], step[4], from, grouped, jump;
};

static void
is_same(struct net *n, const struct same *s)
{
	const struct gv_tensor *t = gv_tensors_find(&n->t, s->name);
	size_t size[4] = {1, 1, 1, 1}, i, wrong = 0, all = 1;
	gv_real *v;

	ok(t != NULL, "%s is there", s->name);
	if (t == NULL)
		return;
	for (i = 0; i < s->dims; i++) {
		wrong += t->shape[i] != s->shape[i];
		size[i] = s->shape[i];
		all *= size[i];
	}
	ok(wrong == 0 && t->dims == s->dims && strcmp(t->dtype, "F32") == 0,
	    "%s: its shape", s->name);
	if (wrong > 0 || t->n != all)
		return;
	v = ours(n, s->of);
	for (i = 0; i < all; i++) {
		size_t at[4], k, place = s->from, rest = i;

		for (k = 4; k-- > 0; rest /= size[k])
			at[k] = rest % size[k];
		if (s->grouped > 0) {
			place += at[0] / s->grouped * s->jump;
			at[0] %= s->grouped;
		}
		for (k = 0; k < 4; k++)
			place += at[k] * s->step[k];
		wrong += gv_tensor_number(t, i) < (double)v[place] ||
			 gv_tensor_number(t, i) > (double)v[place];
	}
	is_int((long long)wrong, 0, "%s: its numbers", s->name);
	free(v);
}

static void
are_zeros(struct net *n, const char *name, size_t want)
{
	const struct gv_tensor *t = gv_tensors_find(&n->t, name);
	size_t i, wrong = 0;

	ok(t != NULL && t->n == want, "%s is there", name);
	if (t == NULL)
		return;
	for (i = 0; i < t->n; i++)
		wrong += gv_tensor_number(t, i) < 0 || gv_tensor_number(t, i) > 0;
	is_int((long long)wrong, 0, "%s: zeros", name);
}

static void
test_image(void)
{
	/* 4 x 6 of 4 channels, 2 x 3 of 6, 4 x 6 of 8 */
	static const char table[] =
	    "id,name,op,from,out,k,s,p,g,act\n1,-,conv,0,6,3,2,1,2,\n"
	    "2,norm,bn,1,,,,,,relu\n3,,tconv,2,8,2,2,0,2,\n"
	    "4,,linear,3,5,,,,,\n5,,ln,4,,,,,,\n6,,linear,5,,,,,,\n7,,xent,,,,,,,\n";
	static const struct same v[] = {
	    {"1.weight", "1.weight", 4, {6, 2, 3, 3}, {1, 3, 18, 6}, 0, 3, 54},
	    {"1.bias", "1.bias", 1, {6}, {1}, 0, 0, 0},
	    {"norm.weight", "2.weight", 1, {6}, {1}, 0, 0, 0},
	    {"norm.bias", "2.bias", 1, {6}, {1}, 0, 0, 0},
	    {"norm.running_mean", "2.mean", 1, {6}, {1}, 0, 0, 0},
	    {"norm.running_var", "2.variance", 1, {6}, {1}, 0, 0, 0},
	    {"3.weight", "3.weight", 4, {6, 4, 2, 2}, {1, 3, 24, 12}, 0, 3, 48},
	    {"3.bias", "3.bias", 1, {8}, {1}, 0, 0, 0},
	    {"4.bias", "4.bias", 1, {5}, {1}, 0, 0, 0},
	    {"5.weight", "5.weight", 1, {5}, {1}, 0, 0, 0},
	    {"5.bias", "5.bias", 1, {5}, {1}, 0, 0, 0},
	    {"6.weight", "6.weight", 2, {3, 5}, {1, 3}, 0, 0, 0},
	    {"6.bias", "6.bias", 1, {3}, {1}, 0, 0, 0}};
	const struct gv_tensor *t;
	struct net n;
	size_t i, wrong = 0;
	gv_real *w;

	open_net(&n, table, 4, 6, 4);
	is_int((long long)n.t.n, 15, "no others");
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		is_same(&n, &v[i]);
	t = gv_tensors_find(&n.t, "norm.num_batches_tracked");
	ok(t == &n.t.v[0] && t->dims == 0 && t->bytes == 8 &&
		strcmp(t->dtype, "I64") == 0 &&
		memcmp(t->data, "\3\2\1\0\0\0\0\0", 8) == 0,
	    "steps, first of all");
	t = gv_tensors_find(&n.t, "4.weight");
	w = ours(&n, "4.weight");
	ok(t != NULL && t->dims == 2 && t->shape[0] == 5 && t->shape[1] == 192,
	    "linear of an image: its shape");
	/* theirs [out][channel][place], ours [place][channel][out] */
	for (i = 0; t != NULL && i < t->n; i++) {
		size_t out = i / 192, channel = i % 192 / 24, place = i % 24;
		double x = (double)w[(place * 8 + channel) * 5 + out];

		wrong += gv_tensor_number(t, i) < x || gv_tensor_number(t, i) > x;
	}
	is_int((long long)wrong, 0, "by channels");
	free(w);
	close_net(&n);
}

static void
test_lstm(void)
{
	/* 4 inputs, 2 of state each way; 4 more, 3 of state back only */
	static const char table[] = "id,op,from,out,bias,dir\n1,lstm,0,4,,both\n"
				    "2,lstm,1,3,,back\n3,lstm,2,2,0,\n4,linear,,,,\n"
				    "5,xent,,,,\n";
	static const struct same v[] = {
	    {"1.weight_ih_l0", "1.weight", 2, {8, 4}, {1, 8}, 0, 0, 0},
	    {"1.weight_hh_l0", "1.weight", 2, {8, 2}, {1, 8}, 32, 0, 0},
	    {"1.weight_ih_l0_reverse", "1.weight", 2, {8, 4}, {1, 8}, 48, 0, 0},
	    {"1.weight_hh_l0_reverse", "1.weight", 2, {8, 2}, {1, 8}, 80, 0, 0},
	    {"1.bias_ih_l0", "1.bias", 1, {8}, {1}, 0, 0, 0},
	    {"1.bias_ih_l0_reverse", "1.bias", 1, {8}, {1}, 8, 0, 0},
	    {"2.weight_ih_l0_reverse", "2.weight", 2, {12, 4}, {1, 12}, 0, 0, 0},
	    {"2.weight_hh_l0_reverse", "2.weight", 2, {12, 3}, {1, 12}, 48, 0, 0},
	    {"2.bias_ih_l0_reverse", "2.bias", 1, {12}, {1}, 0, 0, 0},
	    {"3.weight_ih_l0", "3.weight", 2, {8, 3}, {1, 8}, 0, 0, 0},
	    {"3.weight_hh_l0", "3.weight", 2, {8, 2}, {1, 8}, 24, 0, 0}};
	struct net n;
	size_t i;

	open_net(&n, table, 5, 1, 4);
	is_int((long long)n.t.n, 16, "no others");
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		is_same(&n, &v[i]);
	are_zeros(&n, "1.bias_hh_l0", 8);
	are_zeros(&n, "1.bias_hh_l0_reverse", 8);
	are_zeros(&n, "2.bias_hh_l0_reverse", 12);
	close_net(&n);
}

static void
test_tokens(void)
{
	static const char table[] = "id,op,from,out,k,bias,tied_with\n1,embed,0,4,,,\n"
				    "2,linear,1,,1,0,1\n3,xent,,,,,\n";
	static const struct same v[] = {
	    {"1.weight", "1.weight", 2, {3, 4}, {4, 1}, 0, 0, 0},
	    {"1.bias", "1.bias", 2, {5, 4}, {4, 1}, 0, 0, 0},
	    {"2.weight", "2.weight", 2, {3, 4}, {1, 3}, 0, 0, 0}};
	struct net n;
	size_t i;

	open_net(&n, table, 5, 1, 1);
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		is_same(&n, &v[i]);
	close_net(&n);
}

/* A tied row's own tensor is of its embed's shape, and has its numbers. */
static void
test_tied_shape(void)
{
	static const char table[] = "id,op,from,out,k,bias,tied_with\n1,embed,0,4,,,\n"
				    "2,linear,1,,1,0,1\n3,xent,,,,,\n";
	struct gv_weights_take how = {.path = "w"};
	struct gv_error e = {0};
	struct gv_tensor *own;
	struct net n;

	open_net(&n, table, 5, 1, 1);
	how.m = &n.m;
	own = (struct gv_tensor *)(uintptr_t)gv_tensors_find(&n.t, "2.weight");
	own->data = gv_tensors_find(&n.t, "1.weight")->data;
	ok(gv_weights_take(n.net, 0, &n.t, &how, &e) == 0, "taken");
	own->shape[0] = 4;
	own->shape[1] = 3;
	ok(gv_weights_take(n.net, 0, &n.t, &how, &e) == -1, "of another shape");
	is_str(e.text[0],
	    "w: tensor \"1.weight\" is not that of row 2, which is tied with it",
	    "says so");
	gv_error_clear(&e);
	close_net(&n);
}

/* ---- what is taken ---- */

static char said[8][2 * GV_ERROR_LEN];
static size_t n_said;

static void
hear(void *ctx, const char *line)
{
	(void)ctx;
	if (n_said < 8)
		snprintf(said[n_said++], sizeof(said[0]), "%s", line);
}

static const char lstm_table[] = "id,op,from,out,bias,dir\n1,lstm,0,4,,both\n"
				 "2,linear,1,3,,\n3,linear,,,,\n4,xent,,,,\n";

/* Model 1's tensors into model 0. */
static void
test_back(void)
{
	struct net n;
	struct gv_error e = {0};
	struct gv_weights_take how = {.path = "w", .say = hear};
	struct gv_net_array a;
	size_t i, k, wrong = 0;

	open_net(&n, lstm_table, 5, 1, 4);
	how.m = &n.m;
	ok(gv_weights_take(n.net, 0, &n.t, &how, &e) == 0, "taken");
	is_int((long long)n_said, 0, "nothing is said");
	for (i = 0; gv_net_array(n.net, i, &a) == 0; i++) {
		gv_real *v = help_array(n.net, i, 0), *w = help_array(n.net, i, 1);

		if (strcmp(a.name, "params") == 0)
			for (k = 0; k < a.n; k++)
				wrong += v[k] < w[k] || v[k] > w[k];
		free(v);
		free(w);
	}
	is_int((long long)wrong, 0, "as written");
	close_net(&n);
}

/* The first number of a tensor of the file. */
static void
put_first(struct net *n, const char *name, float x)
{
	const struct gv_tensor *t = gv_tensors_find(&n->t, name);
	unsigned char *to = (unsigned char *)n->t.raw;
	uint32_t bits;
	size_t i;

	if (t == NULL)
		gv_die("no tensor %s", name);
	memcpy(&bits, &x, sizeof(bits));
	to += t->data - to;
	for (i = 0; i < 4; i++)
		to[i] = (unsigned char)(bits >> 8 * i);
}

static void
test_added(void)
{
	struct net n;
	struct gv_error e = {0};
	struct gv_weights_take how = {.path = "w"};
	gv_real *was, *is;
	size_t i, wrong = 0;

	open_net(&n, lstm_table, 5, 1, 4);
	how.m = &n.m;
	was = ours(&n, "1.bias");
	put_first(&n, "1.bias_hh_l0_reverse", 0.5F);
	ok(gv_weights_take(n.net, 1, &n.t, &how, &e) == 0, "two biases");
	is = ours(&n, "1.bias");
	for (i = 0; i < 16; i++)
		wrong += is[i] < was[i] + (i == 8 ? 0.5F : 0) ||
			 is[i] > was[i] + (i == 8 ? 0.5F : 0);
	is_int((long long)wrong, 0, "are added up");
	free(was);
	free(is);
	close_net(&n);
}

/* A tensor under another name. */
static void
rename_first(struct net *n, const char *from, char to)
{
	const struct gv_tensor *t = gv_tensors_find(&n->t, from);

	n->t.v[t - n->t.v].name[0] = to;
}

static void
test_missing(void)
{
	struct net n;
	struct gv_error e = {0};
	struct gv_weights_take how = {.path = "w", .partial = true, .say = hear};
	gv_real *was, *is;

	open_net(&n, lstm_table, 5, 1, 4);
	how.m = &n.m;
	rename_first(&n, "1.weight_hh_l0_reverse", '7');
	rename_first(&n, "2.bias", '8');
	was = ours(&n, "2.bias");
	n_said = 0;
	ok(gv_weights_take(n.net, 1, &n.t, &how, &e) == 0, "a part of them");
	is = ours(&n, "2.bias");
	ok(memcmp(was, is, 3 * sizeof(*is)) == 0, "what is missing stays as it was");
	is_int((long long)n_said, 4, "is told");
	is_str(said[0],
	    "w: no tensor \"1.weight_hh_l0_reverse\"; row 1, lstm, begins without",
	    "piece by piece");
	is_str(said[1], "w: no tensor \"2.bias\"; row 2, linear, begins without",
	    "in order");
	is_str(said[2], "w: tensor \"7.weight_hh_l0_reverse\" is of no row of the model",
	    "and what is left");
	is_str(said[3], "w: tensor \"8.bias\" is of no row of the model", "all of it");
	n_said = 0;
	how.silent_rest = true;
	ok(gv_weights_take(n.net, 1, &n.t, &how, &e) == 0 && n_said == 2,
	    "or not what is left");
	how.say = NULL;
	how.silent_rest = false;
	ok(gv_weights_take(n.net, 1, &n.t, &how, &e) == 0 && n_said == 2, "or to nobody");
	how.partial = false;
	ok(gv_weights_take(n.net, 1, &n.t, &how, &e) == -1, "refused");
	is_int((long long)e.count, 2, "for each");
	is_str(e.text[0],
	    "w: no tensor \"1.weight_hh_l0_reverse\"; row 1, lstm, needs 8 x 2",
	    "says so");
	is_str(
	    e.text[1], "w: no tensor \"2.bias\"; row 2, linear, needs 3", "and of both");
	free(was);
	free(is);
	close_net(&n);
}

int
main(void)
{
	close(mkstemp(path));
	test_image();
	test_lstm();
	test_tokens();
	test_tied_shape();
	test_back();
	test_added();
	test_missing();
	unlink(path);
	return done_testing();
}
