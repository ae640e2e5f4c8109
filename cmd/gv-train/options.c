#include "options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

static const char usage_text[] = "usage: gv-train [options] --data=DATA MODEL";
static const char help_text[] =
    "usage: gv-train [options] --data=DATA MODEL\n"
    "Trains the network of a model table, or an array; saves itself on SIGTERM.\n"
    "  --data=DATA        digits[:N[:SEED]], idx:IMAGES,LABELS or csv:FILE\n"
    "  --test=DATA        test on it at the end; --test-every=N steps, too\n"
    "  --label=NAME       csv: column of the labels; --shape=HxWxC of a sample\n"
    "  --scale=HOW        standard, unit or none\n"
    "  --steps=N          batches to train on ($GV_TOTAL_STEPS)\n"
    "  --batch=N          samples of a batch (64); --shards=N its parts (4)\n"
    "  --optimizer=NAME   sgd, adam or adamw; --lr=X (0.01), --momentum=X,\n"
    "                     --weight-decay=X, --beta1=X, --beta2=X, --eps=X\n"
    "  --lr-step=N        multiply the rate every N steps by --lr-gamma=X (0.1)\n"
    "  --seed=N           of the parameters (1); --order-seed=N of the order (1)\n"
    "  --array=FILE       models to train at once: seed, lr, momentum, steps, ...\n"
    "  --threads=N        $GV_THREADS or 1\n"
    "  --checkpoint=DIR   save there and go on from there ($GV_CHECKPOINT_DIR)\n"
    "  --checkpoint-every=TIME  (30s); --checkpoint-steps=N also every N steps\n"
    "  --log-every=N      a row of losses every N steps (100)\n"
    "  --record=FILE      keep the rows there (DIR/losses.csv)\n"
    "  --timeout=TIME     give up on silent workers (5m); --trees=FILE to sum over\n"
    "  --shapes           print the model with shapes, parameters and flops\n"
    "  --export=FILE      write the data set as a table\n"
    "  --split=DIR        write the models of the checkpoint MODEL one by one\n"
    "  -o, --output=FILE  write the rows there; --tsv with tabs\n"
    "  -h, --help  -V, --version  -q, --quiet  -v, --verbose\n";

const char *const optimiser_names[] = {"sgd", "adam", "adamw", NULL};
const char *const scale_names[] = {"standard", "unit", "none", NULL};

enum {
	OPT_DATA = GV_OPT_OWN,
	OPT_TEST,
	OPT_LABEL,
	OPT_SHAPE,
	OPT_SCALE,
	OPT_STEPS,
	OPT_BATCH,
	OPT_OPTIMIZER,
	OPT_LR,
	OPT_MOMENTUM,
	OPT_WEIGHT_DECAY,
	OPT_BETA1,
	OPT_BETA2,
	OPT_EPS,
	OPT_LR_STEP,
	OPT_LR_GAMMA,
	OPT_SEED,
	OPT_ORDER_SEED,
	OPT_ARRAY,
	OPT_THREADS,
	OPT_SHARDS,
	OPT_CHECKPOINT,
	OPT_CHECKPOINT_EVERY,
	OPT_CHECKPOINT_STEPS,
	OPT_LOG_EVERY,
	OPT_TEST_EVERY,
	OPT_RECORD,
	OPT_TIMEOUT,
	OPT_TREES,
	OPT_SHAPES,
	OPT_EXPORT,
	OPT_SPLIT
};

static const struct option longopts[] = {GV_OPT_COMMON, GV_OPT_TABLE,
    {"data", required_argument, NULL, OPT_DATA},
    {"test", required_argument, NULL, OPT_TEST},
    {"label", required_argument, NULL, OPT_LABEL},
    {"shape", required_argument, NULL, OPT_SHAPE},
    {"scale", required_argument, NULL, OPT_SCALE},
    {"steps", required_argument, NULL, OPT_STEPS},
    {"batch", required_argument, NULL, OPT_BATCH},
    {"optimizer", required_argument, NULL, OPT_OPTIMIZER},
    {"lr", required_argument, NULL, OPT_LR},
    {"momentum", required_argument, NULL, OPT_MOMENTUM},
    {"weight-decay", required_argument, NULL, OPT_WEIGHT_DECAY},
    {"beta1", required_argument, NULL, OPT_BETA1},
    {"beta2", required_argument, NULL, OPT_BETA2},
    {"eps", required_argument, NULL, OPT_EPS},
    {"lr-step", required_argument, NULL, OPT_LR_STEP},
    {"lr-gamma", required_argument, NULL, OPT_LR_GAMMA},
    {"seed", required_argument, NULL, OPT_SEED},
    {"order-seed", required_argument, NULL, OPT_ORDER_SEED},
    {"array", required_argument, NULL, OPT_ARRAY},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"shards", required_argument, NULL, OPT_SHARDS},
    {"checkpoint", required_argument, NULL, OPT_CHECKPOINT},
    {"checkpoint-every", required_argument, NULL, OPT_CHECKPOINT_EVERY},
    {"checkpoint-steps", required_argument, NULL, OPT_CHECKPOINT_STEPS},
    {"log-every", required_argument, NULL, OPT_LOG_EVERY},
    {"test-every", required_argument, NULL, OPT_TEST_EVERY},
    {"record", required_argument, NULL, OPT_RECORD},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"trees", required_argument, NULL, OPT_TREES},
    {"shapes", no_argument, NULL, OPT_SHAPES},
    {"export", required_argument, NULL, OPT_EXPORT},
    {"split", required_argument, NULL, OPT_SPLIT}, {NULL, 0, NULL, 0}};

static void
set_defaults(struct options *o)
{
	struct gv_net_coef coef = GV_NET_COEF_DEFAULT;

	memset(o, 0, sizeof(*o));
	o->common.usage = usage_text;
	o->common.help = help_text;
	o->steps = -1;
	o->batch = 64;
	o->coef = coef;
	o->lr_gamma = 0.1;
	o->seed = o->order_seed = 1;
	o->data.label = o->test.label = "label";
	o->data.digit_seed = 1;
	o->test.digit_seed = 2;
	o->checkpoint_s = 30;
	o->log_every = 100;
	o->timeout_s = 300;
}

static int
one_of(const struct options *o, const char *option, const char *const *names)
{
	char q[GV_QUOTE_LEN];
	int i;

	for (i = 0; names[i] != NULL; i++)
		if (strcmp(optarg, names[i]) == 0)
			return i;
	gv_opt_usage(&o->common, "%s: expected %s, %s or %s, got %s", option, names[0],
	    names[1], names[2], gv_quote(q, optarg, strlen(optarg)));
}

static void
parse_shape(struct options *o)
{
	struct gv_shape shape;
	char q[GV_QUOTE_LEN];

	if (gv_shape_parse(optarg, &shape) != 0)
		gv_opt_usage(&o->common, "--shape: expected HxW or HxWxC, got %s",
		    gv_quote(q, optarg, strlen(optarg)));
	o->data.h = o->test.h = shape.height;
	o->data.w = o->test.w = shape.width;
	o->data.c = o->test.c = shape.channels;
}

static double
number(const struct options *o, const char *option, double max)
{
	return gv_opt_double(&o->common, option, optarg, 0, max);
}

static int64_t
whole(const struct options *o, const char *option, int64_t min, int64_t max)
{
	return gv_opt_int(&o->common, option, optarg, min, max);
}

static const double LARGE = 1e30;

/* true when the option was one of these */
static bool
take_training(struct options *o, int c)
{
	switch (c) {
	case OPT_STEPS:
		o->steps = whole(o, "--steps", 0, INT64_C(1) << 53);
		return true;
	case OPT_BATCH:
		o->batch = (size_t)whole(o, "--batch", 1, 1 << 24);
		return true;
	case OPT_OPTIMIZER:
		o->optimiser =
		    (enum gv_optimiser)one_of(o, "--optimizer", optimiser_names);
		return true;
	case OPT_LR:
		o->coef.lr = number(o, "--lr", LARGE);
		return true;
	case OPT_MOMENTUM:
		o->coef.momentum = number(o, "--momentum", 1);
		return true;
	case OPT_WEIGHT_DECAY:
		o->coef.weight_decay = number(o, "--weight-decay", LARGE);
		return true;
	case OPT_BETA1:
		o->coef.beta1 = number(o, "--beta1", 1);
		return true;
	case OPT_BETA2:
		o->coef.beta2 = number(o, "--beta2", 1);
		return true;
	case OPT_EPS:
		o->coef.eps = number(o, "--eps", 1);
		return true;
	case OPT_LR_STEP:
		o->lr_step = whole(o, "--lr-step", 1, INT64_C(1) << 53);
		return true;
	case OPT_LR_GAMMA:
		o->lr_gamma = number(o, "--lr-gamma", LARGE);
		return true;
	case OPT_SEED:
		o->seed = (uint64_t)whole(o, "--seed", 0, INT64_MAX);
		return true;
	case OPT_ORDER_SEED:
		o->order_seed = (uint64_t)whole(o, "--order-seed", 0, INT64_MAX);
		return true;
	case OPT_ARRAY:
		o->array = optarg;
		return true;
	case OPT_THREADS:
		o->threads = (size_t)whole(o, "--threads", 1, 1024);
		return true;
	case OPT_SHARDS:
		o->shards = (size_t)whole(o, "--shards", 1, 1024);
		return true;
	default:
		return false;
	}
}

static bool
take_files(struct options *o, int c)
{
	switch (c) {
	case OPT_DATA:
		o->data.text = optarg;
		return true;
	case OPT_TEST:
		o->test.text = optarg;
		return true;
	case OPT_LABEL:
		o->data.label = o->test.label = optarg;
		return true;
	case OPT_SHAPE:
		parse_shape(o);
		return true;
	case OPT_SCALE:
		o->scale = (enum data_scale)one_of(o, "--scale", scale_names);
		return true;
	case OPT_CHECKPOINT:
		o->checkpoint = optarg;
		return true;
	case OPT_CHECKPOINT_EVERY:
		o->checkpoint_s =
		    gv_opt_duration(&o->common, "--checkpoint-every", optarg);
		return true;
	case OPT_CHECKPOINT_STEPS:
		o->checkpoint_steps = whole(o, "--checkpoint-steps", 1, INT64_C(1) << 53);
		return true;
	case OPT_LOG_EVERY:
		o->log_every = whole(o, "--log-every", 1, INT64_C(1) << 53);
		return true;
	case OPT_TEST_EVERY:
		o->test_every = whole(o, "--test-every", 1, INT64_C(1) << 53);
		return true;
	case OPT_RECORD:
		o->record = optarg;
		return true;
	case OPT_TIMEOUT:
		o->timeout_s = gv_opt_duration(&o->common, "--timeout", optarg);
		return true;
	case OPT_TREES:
		o->trees = optarg;
		return true;
	case OPT_SHAPES:
		o->shapes = true;
		return true;
	case OPT_EXPORT:
		o->export_to = optarg;
		return true;
	case OPT_SPLIT:
		o->split_into = optarg;
		return true;
	default:
		return false;
	}
}

/* A number of the environment: whole, though a launcher may write it 1e+06. */
static int64_t
environment(const char *name, int64_t min, int64_t otherwise)
{
	const char *s = getenv(name);
	char q[GV_QUOTE_LEN];
	double v;

	if (s == NULL || s[0] == '\0')
		return otherwise;
	if (gv_parse_double(s, strlen(s), &v) != 0 || v < (double)min || v > 0x1p53 ||
	    v != floor(v))
		gv_die("%s: expected a whole number from %lld, got %s", name,
		    (long long)min, gv_quote(q, s, strlen(s)));
	return (int64_t)v;
}

static void
take_environment(struct options *o)
{
	const char *dir = getenv("GV_CHECKPOINT_DIR");

	if (o->steps < 0)
		o->steps = environment("GV_TOTAL_STEPS", 0, -1);
	if (o->threads == 0)
		o->threads = (size_t)environment("GV_THREADS", 1, 1);
	if (o->checkpoint == NULL && dir != NULL && dir[0] != '\0')
		o->checkpoint = dir;
}

static void
check(struct options *o, int argc, char **argv)
{
	bool needs_model = o->export_to == NULL;

	if (o->shapes + (o->export_to != NULL) + (o->split_into != NULL) > 1)
		gv_opt_usage(
		    &o->common, "--shapes, --export and --split exclude each other");
	if (o->split_into == NULL && o->data.text == NULL)
		gv_opt_usage(&o->common, "no data: --data=digits, for example");
	if (needs_model)
		o->model = gv_opt_input(&o->common, argc, argv);
	else if (optind < argc)
		gv_opt_usage(&o->common, "--export takes no operand");
	if (o->timeout_s <= 0)
		gv_opt_usage(&o->common, "--timeout: expected more than 0 s");
}

void
options_parse(struct options *o, int argc, char **argv)
{
	int c;

	set_defaults(o);
	while ((c = getopt_long(
		    argc, argv, GV_OPT_SHORT GV_OPT_TABLE_SHORT, longopts, NULL)) != -1)
		if (!take_training(o, c) && !take_files(o, c))
			gv_opt_common(&o->common, c, argc, argv);
	take_environment(o);
	check(o, argc, argv);
}
