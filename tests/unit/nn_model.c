/* Model tables: reading, errors, shapes, counts. */
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "base/mem.h"
#include "nn_help.h"

#define HEAD "id,op,from,out,k,s,p,g,act,bias\n"
#define END  "8,linear,,,,,,,,\n9,xent,,,,,,,,\n"

static const char cnn[] = /* sensAI's small experiment */
    "id\top\tfrom\tout\tk\ts\tp\tg\tact\n"
    "1\tconv\t0\t32\t3\t1\t1\t1\trelu\n"
    "2\tmaxpool\t1\t-\t2\t2\t0\t-\t-\n"
    "3\tconv\t2\t64\t3\t1\t1\t1\trelu\n"
    "4\tconv\t3\t64\t3\t1\t1\t1\trelu\n"
    "5\tmaxpool\t4\t-\t2\t2\t0\t-\t-\n"
    "6\tlinear\t5\t128\t\t\t\t\trelu\n"
    "7\tlinear\t6\t\t\t\t\t\t\n"
    "8\txent\t7\t\t\t\t\t\t\n";

static void
test_counts(void)
{
	struct gv_model m = help_model(cnn, 16, 16, 1, 10), bn, groups;

	is_int(m.parameters, 188234, "the CNN has 188 234 parameters");
	is_int(m.flops,
	    2 * (256 * 9 * 32 + 64 * 288 * 64 + 64 * 576 * 64 + 1024 * 128 + 128 * 10),
	    "and 7.49 MFLOP forward");
	is_int(m.flops, 7490048, "by hand");
	is_int(m.activations, 256 * 32 + 64 * 32 + 64 * 64 * 2 + 16 * 64 + 128 + 10 + 1,
	    "numbers that a sample leaves behind");
	is_int(m.running, 0, "no running statistics");
	ok(gv_model_shape(&m, (struct gv_shape){3, 32, 32}, 100, NULL) == 0,
	    "shapes again");
	is_int(m.parameters, (27 * 32 + 32) + 18496 + 36928 + (4096 * 128 + 128) + 12900,
	    "with other samples and classes");
	gv_model_free(&m);
	bn = help_model(HEAD
	    "1,conv,,6,5,2,2,,,0\n2,bn,,,,,,,relu,\n3,avgpool,,,,,,,,\n" END,
	    9, 7, 4, 3);
	is_int(bn.layer[0].out_shape.height, 5, "(9 + 4 - 5) / 2 + 1");
	is_int(bn.layer[0].out_shape.width, 4, "(7 + 4 - 5) / 2 + 1");
	is_int(bn.layer[0].biases, 0, "no bias");
	is_int(bn.layer[1].running, 12, "mean and variance of 6 channels");
	is_int(gv_shape_size(bn.layer[2].out_shape), 6, "the average of all");
	is_int(bn.parameters, 5 * 5 * 4 * 6 + 12 + 6 * 3 + 3, "parameters with bn");
	gv_model_free(&bn);
	groups =
	    help_model(HEAD "1,conv,,12,3,1,0,4,,\n2,relu,,,,,,,,\n" END, 5, 5, 8, 3);
	is_int(groups.layer[0].weights, 9 * 2 * 12, "weights of a conv in groups");
	is_int(groups.layer[0].flops, 2 * 9 * 2 * 12 * 9, "and its flops");
	gv_model_free(&groups);
}

static bool
is_taken(const char *op, struct gv_shape input, unsigned out, const char *options)
{
	struct gv_error e = {0};
	struct gv_model m = {0};
	char table[300];
	bool taken;

	snprintf(table, sizeof(table),
	    HEAD "1,%s,,%u,%s\n2,avgpool,,,,,,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n", op,
	    out, options);
	taken = help_read(&m, table, &e) == 0 && gv_model_shape(&m, input, 2, &e) == 0;
	gv_model_free(&m);
	return taken || e.count == 0 || strstr(e.text[0], "too large") == NULL;
}

/* A weight and a sample's output have up to 2^40 numbers, and a row takes up to 2^59 products. */
static void
test_largest(void)
{
	static const struct {
		const char *name, *op, *options;
		struct gv_shape input; /* channels, height, width */
		unsigned out;          /* the most that may be */
	} of[] = {{"weight of a linear", "linear", ",,,,,", {1 << 20, 1, 1}, 1 << 20},
	    {"of one of all numbers", "linear", ",,,,,", {1 << 8, 1 << 5, 1 << 5},
		1 << 22},
	    {"of one of each place", "linear", "1,,,,,", {1 << 20, 1, 2}, 1 << 20},
	    {"output of each place", "linear", "1,,,,,", {2, 1 << 9, 1 << 11}, 1 << 20},
	    {"weight of a conv", "conv", "4,1,1,,,", {1 << 16, 2, 2}, 1 << 20},
	    {"output of a conv", "conv", "3,1,1,,,", {1, 254, 510}, 1 << 23},
	    {"products of a conv", "conv", "3,1,1,,,", {1 << 16, 1022, 1022}, 932067},
	    {"output of a tconv", "tconv", "2,2,,,,", {1, 255, 511}, 1 << 21},
	    {"weight of an embed", "embed", "1024,,,,,", {1, 1, 1}, 1 << 30},
	    {"output of an embed", "embed", "4,,,,,", {1, 1 << 10, 1}, 1 << 30},
	    {"weight of an lstm", "lstm", ",,,,,", {3 << 18, 1, 1}, 1 << 18}};
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		ok(is_taken(of[i].op, of[i].input, of[i].out, of[i].options) &&
			!is_taken(of[i].op, of[i].input, of[i].out + 1, of[i].options),
		    "%s: up to %u", of[i].name, of[i].out);
}

/* Other samples and classes leave nothing of those before. */
static void
test_again(void)
{
	struct gv_model m =
	    help_model(HEAD "1,embed,0,3,,,,,,\n2,embed,0,3,9,,,,,\n3,embed,0,3,5,,,,,\n"
			    "4,add,1;2;3,,,,,,,\n5,linear,,,,,,,,\n6,xent,,,,,,,,\n",
		2, 1, 1, 10);
	struct gv_model other =
	    help_model(HEAD "1,linear,,2,,,,,,\n2,mse,,,,,,,,\n", 2, 1, 1, 1);
	struct gv_error e = {0};
	double flops = m.flops;
	size_t weights = m.layer[0].weights;

	is_int(m.tokens, 5, "as many tokens as all tables have");
	ok(gv_model_shape(&m, (struct gv_shape){1, 2, 1}, 4, &e) == 0, "fewer classes");
	is_int(m.tokens, 4, "are fewer tokens where these are the classes");
	is_int(weights - m.layer[0].weights, 6 * m.layer[0].out, "and a smaller table");
	ok(gv_model_shape(&m, (struct gv_shape){1, 2, 1}, 10, &e) == 0 &&
		m.flops == flops && m.layer[0].weights == weights && m.tokens == 5,
	    "as before again");
	ok(gv_model_shape(&m, (struct gv_shape){1, 2, 1}, 1, &e) == -1 && e.count == 1,
	    "one class is none");
	gv_error_clear(&e);
	is_int(other.tokens, 0, "no tokens; one number is no class");
	gv_model_free(&m);
	gv_model_free(&other);
}

/* A batch is summed in as many parts as each has a sample, of 1, 2 or 4. */
static void
test_shards(void)
{
	static const size_t want[] = {1, 1, 2, 2, 4, 4, 4};
	size_t i, wrong = 0;

	for (i = 1; i < sizeof(want) / sizeof(want[0]); i++)
		wrong += gv_net_shards(i) != want[i];
	is_int(wrong, 0, "parts of a batch");
	is_int(gv_net_shards(1000000), 4, "of a large one as well");
}

/* The tables that are shipped, with their parameters by hand. */
static void
test_shipped(void)
{
	static const struct {
		const char *path;
		struct gv_shape input;
		size_t parameters;
	} shipped[] = {
	    {"share/models/linear.tsv", {1, 28, 28}, 784 * 10 + 10},
	    {"share/models/mlp.tsv", {1, 28, 28}, 785 * 128 + 129 * 10},
	    {"share/models/mlp-large.tsv", {1, 16, 16}, 257 * 512 + 513 * 512 + 513 * 10},
	    {"share/models/cnn-small.tsv", {1, 16, 16},
		10 * 8 + 73 * 16 + (4 * 4 * 16 + 1) * 10},
	    {"share/models/cnn.tsv", {1, 16, 16}, 188234},
	    {"share/models/cnn-bn.tsv", {1, 16, 16}, 188234 + 2 * (32 + 64 + 64)},
	    /* weights and biases of convs, bn, the head */
	    {"share/models/resnet-small.tsv", {1, 16, 16},
		10 * 16 + 2 * 145 * 16 + 145 * 32 + 289 * 32 + 17 * 32 +
		    2 * (3 * 16 + 3 * 32) + 33 * 10},
	    /* tokens and places; of a block two ln, attention, two wide ones */
	    {"share/models/gpt-tiny.tsv", {1, 64, 1},
		(10 + 64) * 32 + 2 * (4 * 32 + 33 * 96 + 33 * 32 + 33 * 128 + 129 * 32) +
		    2 * 32 + 32 * 10},
	    {"share/models/gpt-small.tsv", {1, 64, 1},
		(10 + 64) * 256 +
		    4 * (4 * 256 + 257 * 768 + 257 * 256 + 257 * 1024 + 1025 * 256) +
		    2 * 256 + 256 * 10},
	    {"share/models/encoder.tsv", {1, 64, 1},
		(256 + 64) * 64 +
		    2 * (4 * 64 + 65 * 192 + 65 * 64 + 65 * 256 + 257 * 64) + 2 * 64 +
		    65 * 10},
	    /* torchvision's and PyTorch's example's numbers, of 10 classes in place of 1,000 */
	    {"share/models/vgg16.tsv", {3, 224, 224}, 138357544 - 990 * 4097},
	    {"share/models/resnet18.tsv", {3, 224, 224}, 11689512 - 990 * 513},
	    {"share/models/mobilenet-v2.tsv", {3, 224, 224}, 3504872 - 990 * 1281},
	    {"share/models/dcgan-discriminator.tsv", {3, 64, 64}, 2765568},
	    {"share/models/dcgan.tsv", {3, 64, 64},
		2765568 - 512 * 16 + 512 * 16 * 100 + 3576704},
	    {"share/models/dcgan-small.tsv", {1, 16, 16},
		16 * (8 + 8 * 16 + 16 * 24 + 24 * 16 + 16 * 8 + 8) + 2 * (16 + 16 + 8)},
	    {"share/models/vgg-small.tsv", {1, 16, 16},
		10 * 16 + 145 * 32 + 289 * 64 + 577 * 64 + 257 * 128 + 129 * 128 +
		    129 * 10},
	    {"share/models/mobilenet-small.tsv", {1, 16, 16},
		/* stem; blocks up, depthwise, down with bn; tail; head */
		9 * 8 + 16 + (72 + 16 + 64 + 16) + (320 + 352 + 544) +
		    (1152 + 704 + 1056) + (1152 + 704 + 1584) + (2496 + 1056 + 2352) +
		    24 * 64 + 128 + 65 * 10},
	    /* of three coordinates */
	    {"share/models/pointnet.tsv", {3, 1024, 1},
		6 * 64 + 2 * 67 * 64 + 67 * 128 + 131 * 1024 + 1027 * 512 + 515 * 256 +
		    257 * 10},
	    {"share/models/pointnet-small.tsv", {3, 64, 1},
		6 * 16 + 19 * 32 + 35 * 64 + 67 * 32 + 33 * 10},
	    /* tokens and places, attention, lstm layers of one bias */
	    {"share/models/gnmt-small.tsv", {1, 32, 1},
		(10 + 32) * 48 + 49 * 144 + (2 * 48 + 1 + 2 * (3 * 48 + 1)) * 192 +
		    49 * 10},
	    {"share/models/gnmt.tsv", {1, 32, 1},
		(10 + 32) * 1024 + 1025 * 3072 +
		    (2 * 1024 + 1 + 7 * (3 * 1024 + 1)) * 4096 + 1025 * 10},
	    {"share/models/lstm-small.tsv", {16, 16, 1},
		2 * (16 + 16 + 1) * 64 + 2 * 65 * 128 + 33 * 10},
	};
	size_t i;

	for (i = 0; i < sizeof(shipped) / sizeof(shipped[0]); i++) {
		struct gv_error e = {0};
		struct gv_model m = {0};

		ok(gv_model_read(&m, shipped[i].path, &e) == 0 &&
			gv_model_shape(&m, shipped[i].input, 10, &e) == 0,
		    "%s is a model", shipped[i].path);
		is_int(m.parameters, shipped[i].parameters, "%s: parameters",
		    shipped[i].path);
		gv_model_free(&m);
	}
}

static void
test_write(void)
{
	static const char want[] = "id,name,op,k,parameters2,in_channels,in_height,in_"
				   "width,out_channels,out_height,"
				   "out_width,parameters,flops,activation_bytes\n"
				   "7,\"a, b\",maxpool,2,x,3,4,5,3,2,2,0,0,48\n"
				   "5,,linear,,,3,2,2,10,1,1,130,240,40\n"
				   "6,,xent,,,10,1,1,1,1,1,0,0,4\n";
	struct gv_model m = help_model(
	    "id,name,op,flops,k,parameters2,in_channels\n7,\"a, b\",maxpool,1,2,x,9\n"
	    "5,,linear,,,,\n6,,xent,,,,\n",
	    4, 5, 3, 10);
	struct gv_error e = {0};
	char path[] = "/tmp/gv-nn-XXXXXX", *text;
	struct gv_tabw w;
	struct gv_out *out;
	size_t len;
	int fd = mkstemp(path);

	out = gv_out_fd(fd, path);
	gv_tabw_init(&w, out, false);
	gv_model_write_shapes(&m, &w);
	ok(gv_out_close(out, &e) == 0, "written");
	close(fd);
	ok(gv_file_read(path, &text, &len, 1 << 20, &e) == 0, "read");
	is_str(text, want, "own columns stay, an old flops is replaced");
	free(text);
	unlink(path);
	gv_model_free(&m);
}

/* What follows the file's name in each message, a line each. */
static void
is_error(const char *table, const char *want)
{
	struct gv_error e = {0};
	struct gv_model m = {0};
	char got[GV_ERROR_KEPT * GV_ERROR_LEN] = "";
	size_t i;
	int status = help_read(&m, table, &e);

	if (status == 0)
		status = gv_model_shape(&m, (struct gv_shape){4, 6, 5}, 3, &e);
	for (i = 0; i < e.count && i < GV_ERROR_KEPT; i++) {
		const char *s = strchr(e.text[i], ':');

		strcat(got, i > 0 ? "\n" : "");
		strcat(got, s != NULL ? s + 1 : e.text[i]);
	}
	is_int(status, -1, "refused");
	is_str(got, want, "and why");
	gv_model_free(&m);
}

#define LEAKY                                                                      \
	"2: act: expected relu, leaky, leaky:SLOPE with a slope between 0 and 1, " \
	"sigmoid, tanh, gelu, silu, gelu-tanh or nothing, got "
#define RATE "2: rate: expected the share that becomes 0, from 0 to below 1, got "

static void
test_errors(void)
{
	is_error("op\nxent\n", "1: missing column \"id\" (found: op)");
	is_error("id\n1\n", "1: missing column \"op\" (found: id)");
	is_error("id,op\n", " a model needs at least one row");
	is_error("id,op\n0,xent\n1,conf\n",
	    "2: id: expected a whole number >= 1, got \"0\"\n"
	    "3: op: unknown operator \"conf\"; known: linear, conv, "
	    "tconv, maxpool, avgpool, relu, gelu, add, concat, bn, dropout, lstm, ln, "
	    "embed, attention, causal, xent, "
	    "mse, bce");
	is_error("id,op\n3,relu\n3,xent\n", "3: id: duplicate id 3, first at line 2");
	is_error(
	    "id,op\n3,relu\n", "2: op: the last row must be xent, mse or bce, got relu");
	is_error("id,op\n1,xent\n2,xent\n", "2: op: xent must be the last row");
	is_error(HEAD "1,relu,2,,,,,,,\n" END,
	    "2: from: expected 0 or the id of one earlier row, got \"2\"");
	is_error(HEAD "1,relu,0;1,,,,,,,\n" END,
	    "2: from: expected 0 or the id of one earlier row, got \"0;1\"");
	is_error(
	    HEAD "1,relu,,,,,,,,\n2,relu,0,,,,,,,\n" END, "2: id: no row reads row 1");
	is_error(HEAD "1,relu,,,,,,,,\n2,relu,,,,,,,,\n3,relu,1,,,,,,,\n" END,
	    "3: id: no row reads row 2");
	is_error(HEAD "1,relu,,,,,,,,\n2,add,,,,,,,,\n" END,
	    "3: from: expected 2 to 8 ids of earlier rows, as 3;7, or 0, got nothing");
	is_error(HEAD "1,relu,,,,,,,,\n2,add,1,,,,,,,\n" END,
	    "3: from: expected 2 to 8 ids of earlier rows, as 3;7, or 0, got \"1\"");
	is_error(HEAD "1,relu,,,,,,,,\n2,add,1;,,,,,,,\n" END,
	    "3: from: expected 2 to 8 ids of earlier rows, as 3;7, or 0, got \"1;\"");
	is_error(HEAD "1,relu,,,,,,,,\n2,add,1;2,,,,,,,\n" END,
	    "3: from: expected 2 to 8 ids of earlier rows, as 3;7, or 0, got "
	    "\"1;2\"");
	is_error(HEAD "1,relu,,,,,,,,\n2,add,1;1;1;1;1;1;1;1;1,,,,,,,\n" END,
	    "3: from: expected 2 to 8 ids of earlier rows, as 3;7, or 0, got "
	    "\"1;1;1;1;1;1;1;1;1\"");
	is_error(HEAD "1,conv,,8,3,1,1,,,\n2,add,0;1,,,,,,,\n" END,
	    "3: from: inputs of one shape are added, got 6x5x4 and 6x5x8");
	is_error(HEAD "1,relu,,,,,,,,\n2,add,0;1,,3,,,,,\n" END,
	    "3: k: add has none, got \"3\"");
	is_error(HEAD "1,linear,,,,,,,,\n" END,
	    "2: out: expected a number of channels; only "
	    "the row that xent reads may leave it out");
	is_error(HEAD "1,linear,,0,,,,,,\n" END,
	    "2: out: expected a whole number >= 1, got \"0\"");
	is_error(HEAD "1,linear,,8.5,,,,,,\n" END,
	    "2: out: expected a whole number >= 1, got \"8.5\"");
	is_error(HEAD "1,linear,,9999999999,,,,,,\n" END,
	    "2: out: expected a whole number >= 1, got \"9999999999\"");
	is_error(HEAD "1,conv,,8,,,,,,\n" END, "2: k: conv needs a window size");
	is_error(HEAD "1,conv,,8,3,0,-1,x,swish,2\n" END,
	    "2: s: expected a whole number >= 1, got \"0\"\n"
	    "2: p: expected a whole number >= 0, got \"-1\"\n"
	    "2: g: expected a whole number >= 1, got \"x\"\n"
	    "2: act: expected relu, leaky, leaky:SLOPE with a slope between 0 and 1, "
	    "sigmoid, tanh, gelu, silu, gelu-tanh or nothing, got \"swish\"\n"
	    "2: bias: expected 0 or 1, got \"2\"");
	is_error(HEAD "1,linear,,8,,,,,leaky:1,\n" END, LEAKY "\"leaky:1\"");
	is_error(HEAD "1,linear,,8,,,,,leaky:0,\n" END, LEAKY "\"leaky:0\"");
	is_error(HEAD "1,linear,,8,,,,,leaky:,\n" END, LEAKY "\"leaky:\"");
	is_error(HEAD "1,linear,,8,,,,,leaky:x,\n" END, LEAKY "\"leaky:x\"");
	is_error("id,op,rate\n1,dropout,1\n2,xent,\n", RATE "\"1\"");
	is_error("id,op,rate\n1,dropout,-0.1\n2,xent,\n", RATE "\"-0.1\"");
	is_error("id,op,rate\n1,dropout,\n2,xent,\n", RATE "nothing");
	is_error(
	    "id,op,rate\n1,relu,0.5\n2,xent,\n", "2: rate: relu has none, got \"0.5\"");
	is_error("id,op,tied_with\n1,relu,1\n2,xent,\n",
	    "2: tied_with: relu has none, got \"1\"");
	is_error("id,op,out,tied_with\n1,linear,4,\n2,linear,,1\n3,xent,,\n",
	    "3: tied_with: expected the id of an earlier embed, got \"1\"");
	is_error("id,op,out,tied_with\n1,embed,4,\n2,linear,,0\n3,xent,,\n",
	    "3: tied_with: expected the id of an earlier embed, got \"0\"");
	is_error("id,op,out,k,tied_with\n1,embed,4,3,\n2,linear,3,1,1\n3,relu,,,\n"
		 "4,linear,3,1,1\n5,xent,,,\n",
	    "5: tied_with: row 2 is tied with row 1 already");
	is_error("id,op,out,k,tied_with\n1,embed,4,5,\n2,linear,3,1,1\n3,xent,,,\n",
	    "3: tied_with: its weight is 4x3, that of row 1, transposed, 4x5");
	is_error("id,op,out,k,tied_with\n1,embed,120,3,\n2,linear,1,1,\n"
		 "3,linear,3,,1\n4,xent,,,\n",
	    "4: tied_with: its weight is 120x3, that of row 1, transposed, 120x3");
	is_error("id,op,dir\n1,lstm,right\n2,xent,\n",
	    "2: dir: expected forward, back, both or nothing, got \"right\"");
	is_error("id,op,dir\n1,linear,both\n2,xent,\n",
	    "2: dir: linear has none, got \"both\"");
	is_error("id,op,out,dir\n1,lstm,4,both\n2,linear,,\n3,xent,,\n",
	    "2: from: an lstm reads places along the height, got 6x5");
	is_error("id,op,out,dir\n1,linear,4,\n2,lstm,7,both\n3,linear,,\n4,xent,,\n",
	    "3: out: 7 channels cannot be halved for both ways");
	is_error("id,op,out,dir\n1,linear,4,\n2,lstm,1000000,\n3,lstm,2147483646,both\n"
		 "4,linear,,\n5,xent,,\n",
	    "3: op: too large");
	is_error(HEAD "1,tconv,,8,,,,,,\n" END, "2: k: tconv needs a window size");
	is_error(
	    HEAD "1,tconv,,8,1,,3,,,\n" END, "2: p: padding 3 takes all 6 of the height");
	is_error(
	    HEAD "1,tconv,,8,2,,3,,,\n" END, "2: p: padding 3 takes all 6 of the width");
	is_error(HEAD "1,tconv,,8,3,,,3,,\n" END,
	    "2: g: 3 groups divide not both 4 channels in and 8 out");
	is_error(HEAD "1,tconv,,8,3,2147483647,,,,\n" END, "2: op: too large");
	is_error(HEAD "1,tconv,,8,2147483647,,,,,\n" END, "2: op: too large");
	is_error(HEAD "1,maxpool,,,2,,,,,\n2,concat,0;1,,,,,,,\n" END,
	    "3: from: inputs of one height and width are joined, got 6x5x4 and 3x2x4");
	is_error(HEAD "1,maxpool,,,3,1,2,,,\n" END,
	    "2: p: padding 2 is more than half of the window 3");
	is_error(HEAD "1,bn,,4,2,1,1,2,,1\n" END,
	    "2: out: bn has none, got \"4\"\n2: k: bn has none, got \"2\"\n"
	    "2: s: bn has none, got \"1\"\n2: p: bn has none, got \"1\"\n"
	    "2: g: bn has none, got \"2\"\n2: bias: bn has none, got \"1\"");
	is_error(HEAD "1,relu,,,,,,,relu,\n" END, "2: act: relu has none, got \"relu\"");
	is_error(HEAD "1,conv,,8,7,,,,,\n" END,
	    "2: k: window 7 is larger than the padded height 6");
	is_error(HEAD "1,maxpool,,,6,,,,,\n" END,
	    "2: k: window 6 is larger than the padded width 5");
	is_error(HEAD "1,conv,,8,3,,,3,,\n" END,
	    "2: g: 3 groups divide not both 4 channels in and 8 out");
	is_error(HEAD "1,linear,,4,,,,,,\n2,xent,,,,,,,,\n",
	    "3: op: 3 classes, but its input has 4 numbers");
	is_error(HEAD "1,conv,,2000000000,6,,2000000000,,,\n" END, "2: op: too large");
	is_error(HEAD "1,conv,,1,2147483647,,2147483647,,,\n" END, "2: op: too large");
	is_error(HEAD "1,maxpool,,,2147483647,1,1073741823,,,\n" END, "2: op: too large");
	is_error(HEAD "1,linear,,2147483647,,,,,,\n2,linear,,2147483647,,,,,,\n" END,
	    "3: op: too large");
	is_error(HEAD "1,embed,,2147483647,2147483647,,,,,\n" END, "2: op: too large");
	is_error(HEAD "1,linear,,8,2,,,,,\n" END,
	    "2: k: linear is of one place, 1, or of all, got 2");
	is_error(HEAD "1,relu,,,,,,,,\n2,embed,,4,,,,,,\n" END,
	    "3: from: embed reads the sample, 0");
	is_error(HEAD "1,linear,,12,1,,,,,\n2,causal,,,,,,3,,\n" END,
	    "3: g: 3 heads: queries, keys and values need 3 times as many channels or a "
	    "multiple, got 12");
	is_error(HEAD "1,linear,,6,1,,,,,\n2,attention,,,,,,0,,\n" END,
	    "3: g: expected a whole number >= 1, got \"0\"");
	is_error(HEAD "1,linear,,6,1,,,,,\n2,xent,,,,,,,,\n",
	    "3: op: 3 classes, but its input has 180 numbers");
}

static void
test_input_errors(void)
{
	struct gv_error e = {0};
	struct gv_model m = help_model(cnn, 16, 16, 1, 10);

	ok(gv_model_shape(&m, (struct gv_shape){1, 0, 16}, 10, &e) == -1,
	    "an empty sample");
	is_str(e.text[0], "a sample of 0 x 16 x 1 numbers", "says so");
	gv_error_clear(&e);
	ok(gv_model_shape(&m, (struct gv_shape){1, 16, 16}, 1, &e) == -1, "one class");
	is_str(e.text[0], "1 classes; at least 2 are needed", "says so");
	gv_model_free(&m);
}

static void
test_shape_parse(void)
{
	static const char *const wrong[] = {"", "3", "3x", "x3", "0x3", "3x0", "2x3x0",
	    "65537x1", "1x65537", "1x1x1x1", "ax1", "-1x1"};
	struct gv_shape s = {7, 7, 7};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ok(gv_shape_parse(wrong[i], &s) == -1 && s.height == 7,
		    "\"%s\" is no shape", wrong[i]);
	ok(gv_shape_parse("2x3", &s) == 0 && s.height == 2 && s.width == 3 &&
		s.channels == 1,
	    "height and width");
	ok(gv_shape_parse("65536x1x5", &s) == 0 && s.height == 65536 && s.width == 1 &&
		s.channels == 5,
	    "and channels");
}

/* Wrong configurations of a net. */
static void
is_config_error(struct gv_net_config c, const char *want)
{
	struct gv_model m = help_model(HEAD "1,bn,,,,,,,,\n" END, 1, 1, 3, 2);
	struct gv_net_coef coef = GV_NET_COEF_DEFAULT;
	struct gv_error e = {0};
	struct gv_net *net = NULL;
	uint64_t seed = 1;
	const char *s;

	c.seed = &seed;
	c.coef = &coef;
	c.backend = gv_cpu_new(1);
	ok(gv_net_new(&net, &m, &c, &e) == -1 && net == NULL, "no net");
	s = strncmp(e.text[0], "/tmp/", 5) == 0 ? strchr(e.text[0], ':') + 1 : e.text[0];
	is_str(s, want, "and why");
	gv_model_free(&m);
}

static int
no_reduce(void *ctx, gv_real *v, size_t n)
{
	(void)ctx;
	(void)v;
	(void)n;
	return -1;
}

static void
test_config(void)
{
	is_config_error(
	    (struct gv_net_config){.models = 0, .batch = 4}, "0 models in an array");
	is_config_error(
	    (struct gv_net_config){.models = 1, .batch = 0}, "a batch of 0 samples");
	is_config_error((struct gv_net_config){.models = 1, .batch = 4, .shards = 3},
	    "3 shards: not a power of two up to the batch of 4");
	is_config_error((struct gv_net_config){.models = 1, .batch = 4, .shards = 8},
	    "8 shards: not a power of two up to the batch of 4");
	is_config_error((struct gv_net_config){.models = 1, .batch = 9, .ranks = 8},
	    "8 ranks: not a power of two up to 4 shards");
	is_config_error((struct gv_net_config){.models = 1, .batch = 9, .ranks = 3},
	    "3 ranks: not a power of two up to 4 shards");
	is_config_error(
	    (struct gv_net_config){.models = 1, .batch = 9, .ranks = 2, .rank = 2},
	    "rank 2 of 2 ranks");
	is_config_error((struct gv_net_config){.models = 1, .batch = 9, .ranks = 2},
	    "2 ranks, but no way to reduce");
	is_config_error(
	    (struct gv_net_config){
		.models = 1, .batch = 4, .first_row = 2, .last_row = 2},
	    "rows 2 to 2 of a model of 3");
	is_config_error((struct gv_net_config){.models = 1, .batch = 4, .last_row = 99},
	    "rows 0 to 99 of a model of 3");
	is_config_error((struct gv_net_config){.models = 1, .batch = 1},
	    "2: op: bn needs more than one number per channel to train on; the batch is "
	    "1");
}

static void
is_new_error(struct gv_model *m, struct gv_net_config c, const char *want)
{
	struct gv_net_coef coef = GV_NET_COEF_DEFAULT, *all;
	struct gv_error e = {0};
	struct gv_net *net = NULL;
	uint64_t *seed = gv_xcalloc(c.models, sizeof(*seed));
	size_t b;

	all = gv_xcalloc(c.models, sizeof(*all));
	for (b = 0; b < c.models; b++)
		all[b] = coef;
	c.seed = seed;
	c.coef = all;
	if (c.backend == NULL)
		c.backend = gv_cpu_new(1);
	ok(gv_net_new(&net, m, &c, &e) == -1 && net == NULL, "no net");
	is_str(e.text[0], want, "and why");
	free(seed);
	free(all);
}

/* More than there can be of memory and of threads. */
static void
test_too_much(void)
{
	/* large enough that threads are worth it */
	struct gv_model m = help_model(
			    HEAD "1,linear,,256,,,,,relu,\n" END, 32, 32, 1, 2),
			huge;
	struct rlimit was, now;
	unsigned long pages = 0;
	FILE *f;

	if (getenv("GV_SAN") != NULL && *getenv("GV_SAN") != '\0') {
		skip("sanitizer: its own memory");
		gv_model_free(&m);
		return;
	}
	huge = help_model(HEAD "1,linear,,1073741824,,,,,,\n" END, 32, 32, 1, 2);
	is_new_error(&huge, (struct gv_net_config){.models = 1 << 20, .batch = 1},
	    "the net is too large");
	is_new_error(&huge, (struct gv_net_config){.models = 40, .batch = 1},
	    "out of memory: 176437256520000 bytes wanted");
	gv_model_free(&huge);
	f = fopen("/proc/self/statm", "r");
	if (f == NULL || fscanf(f, "%lu", &pages) != 1)
		gv_die("no /proc/self/statm");
	fclose(f);
	getrlimit(RLIMIT_AS, &was);
	now = was;
	now.rlim_cur = (rlim_t)pages * 4096 + (64 << 20);
	setrlimit(RLIMIT_AS, &now);
	is_new_error(&m,
	    (struct gv_net_config){.models = 1, .batch = 4, .backend = gv_cpu_new(64)},
	    "cannot start 64 threads: Resource temporarily unavailable");
	setrlimit(RLIMIT_AS, &was);
	gv_model_free(&m);
}

/* A gang whose peer is gone: the step fails and leaves everything as it was. */
static void
test_reduce_fails(void)
{
	static const char *const tables[] = {HEAD "1,linear,,4,,,,,relu,\n" END,
	    HEAD "1,linear,,4,,,,,,\n2,bn,,,,,,,relu,\n" END};
	size_t i;

	for (i = 0; i < 2; i++) {
		struct gv_model m = help_model(tables[i], 1, 1, 3, 2);
		struct gv_net_config c = {
		    .models = 2, .batch = 6, .ranks = 2, .rank = 1, .reduce = no_reduce};
		struct gv_net *net = help_net(&m, c, 0), *fresh = help_net(&m, c, 0);
		gv_real x[6 * 3];
		int32_t label[6];
		double loss[2];

		help_batch(x, label, 6, 3, 2, 1);
		ok(gv_net_step(net, x, label, loss) == -1, "the step fails");
		is_int(help_differences(net, 0, fresh, 0) +
			   help_differences(net, 1, fresh, 1),
		    0, "and changes nothing");
		gv_net_free(net);
		gv_net_free(fresh);
		gv_model_free(&m);
	}
}

/* The memory that was counted is what there is, and the tensors tile it. */
static void
test_memory(void)
{
	struct gv_model m = help_model(HEAD
	    "1,conv,,5,3,1,1,,,0\n2,bn,,,,,,,relu,\n3,linear,,7,,,,,,\n" END,
	    4, 4, 2, 3);
	struct gv_net_config c = {.models = 2, .batch = 8, .optimiser = GV_ADAM};
	struct gv_net *net = help_net(&m, c, 0);
	struct gv_net_bytes bytes;
	struct gv_net_tensor t;
	struct gv_net_array a;
	char names[200] = "", arrays[100] = "";
	size_t i, params = 0, running = 0, first, n;

	gv_net_bytes(net, &bytes);
	is_int(
	    bytes.params, 2 * m.parameters * sizeof(gv_real), "bytes of the parameters");
	is_int(bytes.state, 2 * bytes.params, "of Adam's state");
	is_int(bytes.running, 2 * 2 * 10 * sizeof(gv_real), "of the running statistics");
	is_int(bytes.total,
	    bytes.params + bytes.gradients + bytes.state + bytes.running +
		bytes.activations + bytes.scratch,
	    "the total is the sum");
	for (i = 0; gv_net_tensor(net, i, &t) == 0; i++) {
		strcat(strcat(names, t.name), " ");
		is_int(t.offset, t.running ? running : params,
		    "%s begins where the last ended", t.name);
		*(t.running ? &running : &params) += t.n;
	}
	is_str(names,
	    "1.weight 2.weight 2.bias 2.mean 2.variance 3.weight 3.bias 8.weight 8.bias ",
	    "names of tensors");
	is_int(params, m.parameters, "the tensors are all parameters");
	is_int(running, m.running, "and all statistics");
	for (i = 0; gv_net_array(net, i, &a) == 0; i++)
		strcat(strcat(arrays, a.name), " ");
	is_str(arrays, "params adam_m adam_v running ", "names of arrays");
	gv_net_rows(net, &first, &n);
	ok(first == 0 && n == 8, "one rank has all samples");
	gv_net_free(net);
	c.optimiser = GV_SGD;
	for (i = 0; i < 3; i++) { /* both without momentum, one with, both */
		struct gv_net_coef coef[] = {GV_NET_COEF_DEFAULT, GV_NET_COEF_DEFAULT};

		coef[0].momentum = i > 1 ? .5 : 0;
		coef[1].momentum = i > 0 ? 1 : 0;
		c.coef = coef;
		net = help_net(&m, c, 0);
		gv_net_bytes(net, &bytes);
		is_int(bytes.state, i > 0 ? bytes.params : 0, "of SGD's state");
		ok((gv_net_array(net, 1, &a) == 0 && strcmp(a.name, "running") != 0) ==
			(i > 0),
		    "which is an array where it is");
		gv_net_free(net);
	}
	is_int(gv_net_shards(1), 1, "shards of 1");
	is_int(gv_net_shards(3), 2, "of 3");
	is_int(gv_net_shards(64), 4, "of 64");
	gv_model_free(&m);
}

/* Parameters are uniform in +-1/sqrt(fan in), a function of the seed and the place. */
static void
test_init(void)
{
	struct gv_model m =
	    help_model(HEAD "1,conv,,50,3,1,1,2,,\n2,bn,,,,,,,,\n" END, 4, 4, 8, 3);
	uint64_t seeds[2] = {1, 2}, same[2] = {2, 1};
	struct gv_net_config c = {.models = 2, .batch = 4, .seed = seeds};
	struct gv_net *net = help_net(&m, c, 0), *other;
	gv_real *a, *a1, *o;
	double sum = 0, squares = 0, largest = 0;
	size_t i, n = m.layer[0].weights;

	a = help_array(net, 0, 0);
	a1 = help_array(net, 0, 1);
	for (i = 0; i < n; i++) {
		double v = (double)a[i] * sqrt(36.0);

		sum += v;
		squares += v * v;
		largest = fabs(v) > largest ? fabs(v) : largest;
	}
	ok(largest <= 1 && largest > 0.99, "weights within 1/sqrt(fan in)");
	ok(fabs(sum / (double)n) < 4 * sqrt(1.0 / 3 / (double)n), "mean 0");
	ok(fabs(squares / (double)n - 1.0 / 3) < 4 * sqrt(4.0 / 45 / (double)n),
	    "variance 1/3");
	is_near(a[m.layer[0].weights + m.layer[0].biases], 1, 0, "gamma is 1");
	c.seed = same;
	other = help_net(&m, c, 0);
	o = help_array(other, 0, 1);
	ok(memcmp(a, o, m.parameters * sizeof(*a)) == 0 &&
		memcmp(a1, o, m.parameters * sizeof(*a)) != 0,
	    "the place in the array does not matter");
	free(o);
	o = help_array(other, 0, 0);
	ok(memcmp(a, o, n * sizeof(*a)) != 0, "the seed does");
	free(o);
	free(a);
	free(a1);
	gv_net_free(net);
	gv_net_free(other);
	gv_model_free(&m);
}

static void
is_path(const char *name, const char *want)
{
	char *got = gv_model_path(name);

	is_str(got, want, "the path of %s", name);
	free(got);
}

/* ---- rows in another order ---- */

/* The rows' ids, with those that they read and are tied with: "2<0 3<2=1". */
static const char *
rows_of(const struct gv_model *m)
{
	static struct gv_strbuf s;
	size_t i, k;

	gv_strbuf_clear(&s);
	for (i = 0; i < m->n; i++) {
		const struct gv_layer *l = &m->layer[i];

		gv_strbuf_fmt(&s, "%s%d", i > 0 ? " " : "", (int)l->id);
		for (k = 0; k < l->inputs; k++)
			gv_strbuf_fmt(&s, "%s%d", k == 0 ? "<" : ",",
			    l->from[k] == GV_FROM_INPUT ? 0
							: (int)m->layer[l->from[k]].id);
		if (l->is_tied)
			gv_strbuf_fmt(&s, "=%d", (int)m->layer[l->tied].id);
	}
	return s.s;
}

static void
test_sort(void)
{
	static const char text[] =
	    "id,op,from,out,k,tied_with\n1,embed,0,4,7,\n2,embed,0,4,7,\n"
	    "3,linear,1,7,1,2\n4,linear,3,4,1,\n5,add,2;4,,,\n6,linear,5,,,\n"
	    "7,xent,6,,,\n";
	static const char as_read[] = "1<0 2<0 3<1=2 4<3 5<2,4 6<5 7<6";
	static const size_t order[] = {1, 0, 2, 3, 4, 5, 6};
	static const size_t wrong[][7] = {{2, 0, 1, 3, 4, 5, 6}, {0, 2, 1, 3, 4, 5, 6}};
	struct gv_error e = {0};
	struct gv_model m;
	char want[80];
	size_t i;

	if (help_read(&m, text, &e) != 0)
		gv_die_error(&e);
	is_str(rows_of(&m), as_read, "as they are read");
	for (i = 0; i < 2; i++) {
		snprintf(want, sizeof(want),
		    ":4: row 3 would stand before row %zu, which it reads", i + 1);
		ok(gv_model_sort(&m, wrong[i], &e) == -1 && e.count == 1 &&
			strstr(e.text[0], want) != NULL,
		    "%s", want);
		gv_error_clear(&e);
	}
	is_str(rows_of(&m), as_read, "they stay");
	is_int(gv_model_sort(&m, order, &e), 0, "in another order");
	is_str(rows_of(&m), "2<0 1<0 3<1=2 4<3 5<2,4 6<5 7<6", "they read the same");
	gv_model_free(&m);
}

/* The tokens that all rows know: of the rows that say how many, the fewest. */
static void
test_vocabulary(void)
{
	static const struct {
		const char *first, *second;
		size_t want;
	} of[] = {{"", "", 0}, {"7", "", 7}, {"", "5", 5}, {"7", "5", 5}, {"5", "7", 5}};
	char text[200];
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct gv_error e = {0};
		struct gv_model m;

		snprintf(text, sizeof(text),
		    "id,op,from,out,k\n1,embed,0,4,%s\n2,embed,0,4,%s\n3,add,1;2,,\n"
		    "4,linear,3,,\n5,xent,4,,\n",
		    of[i].first, of[i].second);
		if (help_read(&m, text, &e) != 0)
			gv_die_error(&e);
		is_int((long long)gv_model_vocabulary(&m), (long long)of[i].want,
		    "tokens: %s and %s", of[i].first, of[i].second);
		gv_model_free(&m);
	}
}

/* Names are those of models that are shipped, where there is no such file. */
static void
test_names(void)
{
	char dir[] = "/tmp/gv-models.XXXXXX", models[64], file[96], want[96];
	const char *was = getenv("GV_DATA");
	char *data = was != NULL ? gv_xstrdup(was) : NULL;
	struct gv_error e = {0};
	struct gv_model m;
	static const char *const shipped[] = {"zero.tsv", "one.tsv", "two.txt", ".tsv"};
	size_t i;

	if (mkdtemp(dir) == NULL)
		abort();
	setenv("GV_DATA", dir, 1);
	gv_model_unknown("one", &e);
	snprintf(want, sizeof(want),
	    "one: there is no such file, and no models in %s/models", dir);
	is_str(e.text[0], want, "nothing is shipped");
	snprintf(models, sizeof(models), "%s/models", dir);
	mkdir(models, 0700);
	for (i = 0; i < 4; i++) {
		snprintf(file, sizeof(file), "%s/%s", models, shipped[i]);
		gv_file_write(file, "", 0, &e);
	}
	snprintf(want, sizeof(want), "%s/one.tsv", models);
	is_path("one", want);
	is_path("two", "two");
	is_path("./one", "./one");
	is_path("-", "-");
	is_path(want, want);
	gv_error_clear(&e);
	is_int(gv_model_unknown("two", &e), -1, "an unknown one");
	is_str(e.text[0],
	    "two: there is no such file and no such model; shipped are one, zero",
	    "message");
	gv_error_clear(&e);
	is_int(gv_model_read(&m, "two", &e), -1, "nor can it be read");
	is_str(e.text[0],
	    "two: there is no such file and no such model; shipped are one, zero",
	    "message");
	gv_error_clear(&e);
	is_int(gv_model_read(&m, "two.csv", &e), -1, "a name of a file is no model's");
	is_str(e.text[0], "two.csv: cannot open: No such file or directory", "message");
	if (chdir(dir) != 0)
		abort();
	gv_file_write("one", "", 0, &e);
	is_path("one", "one");
	if (data != NULL)
		setenv("GV_DATA", data, 1);
	else
		unsetenv("GV_DATA");
	free(data);
	gv_remove_tree(dir, &e);
}

int
main(void)
{
	gv_init("nn_model");
	test_counts();
	test_shards();
	test_largest();
	test_again();
	test_shipped();
	test_write();
	test_errors();
	test_input_errors();
	test_shape_parse();
	test_config();
	test_too_much();
	test_reduce_fails();
	test_memory();
	test_init();
	test_sort();
	test_vocabulary();
	test_names();
	return done_testing();
}
