#include "options.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

static const char usage_text[] = "usage: gv-train [options] --data=DATA MODEL";
static const char help_text[] =
    "usage: gv-train [options] --data=DATA MODEL\n"
    "Trains the network of a model table, or an array; saves itself on SIGTERM.\n"
    "samples  --data=DATA --test=DATA: digits[:N[:SEED]] idx:IMAGES,LABELS csv:FILE\n"
    "         sentences[:N[:SEED]] text:FILE tokens:FILE  --context=N tokens (64)\n"
    "         --label=NAME  --shape=HxW[xC]  --scale=standard|unit|none  --autoencode\n"
    "steps    --steps=N ($GV_TOTAL_STEPS)  --batch=N (64)  --micro-batches=N (1)\n"
    "update   --optimizer=sgd|adam|adamw  --lr=X (.01)  --momentum=X  --beta1=X (.9)\n"
    "         --beta2=X  --eps=X  --weight-decay=X  --clip-norm=X  --clip-value=X\n"
    "rate     --lr-schedule=constant|step|linear|polynomial|cosine|one-cycle\n"
    "         --lr-warmup=N  --lr-start=X  --lr-total=N (--steps)  --lr-end=X (0)\n"
    "         --lr-power=X (1)  --lr-step=N  --lr-gamma=X (.1)\n"
    "models   --seed=N (1)  --order-seed=N (1) of the samples  --array=FILE: many\n"
    "         --init=FILE  --init-partial  --weights=FILE: safetensors, in and out\n"
    "saving   --checkpoint=DIR ($GV_CHECKPOINT_DIR): there, and go on from there\n"
    "         --checkpoint-every=TIME (30s)  --checkpoint-steps=N\n"
    "losses   --log-every=N (100)  --test-every=N (at the end)  -o, --output=FILE\n"
    "         --record=FILE (DIR/losses.csv)  --stages=FILE: times  --tsv\n"
    "workers  --threads=N ($GV_THREADS or 1)  --shards=N (4)  --timeout=TIME (5m)\n"
    "         --trees=FILE  --schedule=NAME, by the plan  --chunks=N  --vertical-sync\n"
    "device   --device=cpu|cuda[:N]|auto (cpu)  --math=fp32|tf32|bf16 (fp32)\n"
    "         --transport=auto|tcp|nccl (auto)\n"
    "instead  --shapes of the model's rows  --export=FILE: the data set\n"
    "         --split=DIR: the models of a checkpoint  --join=FILE: one of many\n"
    "other    -h, --help  -V, --version  -q, --quiet  -v, --verbose\n";

const char *const optimiser_names[] = {"sgd", "adam", "adamw", NULL};

static void
set_defaults(struct options *o)
{
	struct gv_net_coef coef = GV_NET_COEF_DEFAULT;
	struct schedule schedule = SCHEDULE_DEFAULT;
	struct gv_data_sets sets = GV_DATA_SETS_DEFAULTS;

	memset(o, 0, sizeof(*o));
	o->common.usage = usage_text;
	o->common.help = help_text;
	o->steps = -1;
	o->batch = 64;
	o->coef = coef;
	o->schedule = schedule;
	o->micro_batches = 1;
	o->seed = o->order_seed = 1;
	o->data = sets;
	o->checkpoint_s = 30;
	o->log_every = 100;
	o->timeout_s = 300;
}

/* How an option's argument becomes a part of struct options. */
enum kind {
	TEXT,     /* const char *, as it is */
	FLAG,     /* bool */
	REAL,     /* double from 0 to most */
	WHOLE,    /* int64_t or uint64_t, within from and to */
	DURATION, /* double, seconds */
	SPECIAL   /* by its own function */
};

struct own {
	const char *name;
	int has_arg;
	enum kind kind;
	size_t at;        /* where in struct options */
	double most;      /* REAL */
	int64_t from, to; /* WHOLE */
	void (*special)(struct options *, const char *option);
};

static void
take_optimizer(struct options *o, const char *option)
{
	o->optimiser = (enum gv_optimiser)gv_opt_one_of(
	    &o->common, option, optarg, optimiser_names, GV_ADAMW + 1);
}

static void
take_scale(struct options *o, const char *option)
{
	o->data.scale = (enum gv_data_scale)gv_opt_one_of(
	    &o->common, option, optarg, gv_data_scale_names, GV_DATA_UNSCALED + 1);
}

static void
take_schedule(struct options *o, const char *option)
{
	o->schedule.kind = (enum schedule_kind)gv_opt_one_of(
	    &o->common, option, optarg, schedule_names, SCHEDULES);
}

static void
take_device(struct options *o, const char *option)
{
	char q[GV_QUOTE_LEN];

	if (gv_nn_device_parse(optarg, &o->device) != 0)
		gv_opt_usage(&o->common, "%s: expected cpu, cuda, cuda:N or auto, got %s",
		    option, gv_quote(q, optarg, strlen(optarg)));
}

static void
take_math(struct options *o, const char *option)
{
	static const char *const names[] = {"fp32", "tf32", "bf16"};

	o->device.math = (enum gv_nn_math)gv_opt_one_of(
	    &o->common, option, optarg, names, GV_NN_BF16 + 1);
}

static void
take_transport(struct options *o, const char *option)
{
	static const char *const names[] = {"auto", "tcp", "nccl"};

	o->transport = (enum transport)gv_opt_one_of(
	    &o->common, option, optarg, names, TRANSPORT_NCCL + 1);
}

static void
take_label(struct options *o, const char *option)
{
	(void)option;
	o->data.train.label = o->data.test.label = optarg;
}

static void
take_context(struct options *o, const char *option)
{
	o->data.train.context = o->data.test.context =
	    gv_opt_int(&o->common, option, optarg, 1, 1 << 20);
}

static void
take_shape(struct options *o, const char *option)
{
	struct gv_shape shape;
	char q[GV_QUOTE_LEN];

	if (gv_shape_parse(optarg, &shape) != 0)
		gv_opt_usage(&o->common, "%s: expected HxW or HxWxC, got %s", option,
		    gv_quote(q, optarg, strlen(optarg)));
	o->data.train.h = o->data.test.h = shape.height;
	o->data.train.w = o->data.test.w = shape.width;
	o->data.train.c = o->data.test.c = shape.channels;
}

#define AT(member)   .at = offsetof(struct options, member)
#define UP_TO(x)     .most = (x)
#define WITHIN(a, b) .from = (a), .to = (b)
#define BY(function) .special = (function)

#define LARGE 1e30
enum {
	MICRO_BATCHES_MOST = 1 << 16,
	CHUNKS_MOST = 64,
	SHARDS_MOST = 1024,
	THREADS_MOST = 1024,
	BATCH_MOST = 1 << 24
};
#define STEPS_MOST (INT64_C(1) << 53)

static const struct own own[] = {
    {"data", required_argument, TEXT, AT(data.train.text)},
    {"test", required_argument, TEXT, AT(data.test.text)},
    {"label", required_argument, SPECIAL, BY(take_label)},
    {"context", required_argument, SPECIAL, BY(take_context)},
    {"shape", required_argument, SPECIAL, BY(take_shape)},
    {"scale", required_argument, SPECIAL, BY(take_scale)},
    {"steps", required_argument, WHOLE, AT(steps), WITHIN(0, STEPS_MOST)},
    {"batch", required_argument, WHOLE, AT(batch), WITHIN(1, BATCH_MOST)},
    {"micro-batches", required_argument, WHOLE, AT(micro_batches),
	WITHIN(1, MICRO_BATCHES_MOST)},
    {"shards", required_argument, WHOLE, AT(shards), WITHIN(1, SHARDS_MOST)},
    {"test-every", required_argument, WHOLE, AT(test_every), WITHIN(1, STEPS_MOST)},
    {"threads", required_argument, WHOLE, AT(threads), WITHIN(1, THREADS_MOST)},
    {"device", required_argument, SPECIAL, BY(take_device)},
    {"math", required_argument, SPECIAL, BY(take_math)},
    {"schedule", required_argument, TEXT, AT(pipeline)},
    {"chunks", required_argument, WHOLE, AT(chunks), WITHIN(1, CHUNKS_MOST)},
    {"vertical-sync", no_argument, FLAG, AT(vertical_sync)},
    {"optimizer", required_argument, SPECIAL, BY(take_optimizer)},
    {"lr", required_argument, REAL, AT(coef.lr), UP_TO(LARGE)},
    {"momentum", required_argument, REAL, AT(coef.momentum), UP_TO(1)},
    {"weight-decay", required_argument, REAL, AT(coef.weight_decay), UP_TO(LARGE)},
    {"beta1", required_argument, REAL, AT(coef.beta1), UP_TO(1)},
    {"beta2", required_argument, REAL, AT(coef.beta2), UP_TO(1)},
    {"eps", required_argument, REAL, AT(coef.eps), UP_TO(1)},
    {"clip-norm", required_argument, REAL, AT(coef.clip_norm), UP_TO(LARGE)},
    {"clip-value", required_argument, REAL, AT(coef.clip_value), UP_TO(LARGE)},
    {"lr-schedule", required_argument, SPECIAL, BY(take_schedule)},
    {"lr-warmup", required_argument, WHOLE, AT(schedule.warmup), WITHIN(0, STEPS_MOST)},
    {"lr-start", required_argument, REAL, AT(schedule.start), UP_TO(1)},
    {"lr-total", required_argument, WHOLE, AT(schedule.total), WITHIN(1, STEPS_MOST)},
    {"lr-end", required_argument, REAL, AT(schedule.end), UP_TO(1)},
    {"lr-power", required_argument, REAL, AT(schedule.power), UP_TO(LARGE)},
    {"lr-step", required_argument, WHOLE, AT(schedule.step), WITHIN(1, STEPS_MOST)},
    {"lr-gamma", required_argument, REAL, AT(schedule.gamma), UP_TO(LARGE)},
    {"seed", required_argument, WHOLE, AT(seed), WITHIN(0, INT64_MAX)},
    {"order-seed", required_argument, WHOLE, AT(order_seed), WITHIN(0, INT64_MAX)},
    {"array", required_argument, TEXT, AT(array)},
    {"init", required_argument, TEXT, AT(init)},
    {"init-partial", no_argument, FLAG, AT(init_partial)},
    {"autoencode", no_argument, FLAG, AT(data.own)},
    {"weights", required_argument, TEXT, AT(weights)},
    {"checkpoint", required_argument, TEXT, AT(checkpoint)},
    {"checkpoint-every", required_argument, DURATION, AT(checkpoint_s)},
    {"checkpoint-steps", required_argument, WHOLE, AT(checkpoint_steps),
	WITHIN(1, STEPS_MOST)},
    {"log-every", required_argument, WHOLE, AT(log_every), WITHIN(1, STEPS_MOST)},
    {"record", required_argument, TEXT, AT(record)},
    {"stages", required_argument, TEXT, AT(stages)},
    {"timeout", required_argument, DURATION, AT(timeout_s)},
    {"trees", required_argument, TEXT, AT(trees)},
    {"transport", required_argument, SPECIAL, BY(take_transport)},
    {"shapes", no_argument, FLAG, AT(shapes)},
    {"export", required_argument, TEXT, AT(export_to)},
    {"split", required_argument, TEXT, AT(split_into)},
    {"join", required_argument, TEXT, AT(join_into)},
};
enum { OWN = sizeof(own) / sizeof(own[0]) };

static void
take(struct options *o, const struct own *w)
{
	char *to = (char *)o + w->at;
	char option[40];

	snprintf(option, sizeof(option), "--%s", w->name);
	switch (w->kind) {
	case TEXT:
		*(const char **)to = optarg;
		break;
	case FLAG:
		*(bool *)to = true;
		break;
	case REAL:
		*(double *)(void *)to =
		    gv_opt_double(&o->common, option, optarg, 0, w->most);
		break;
	case WHOLE:
		*(int64_t *)(void *)to =
		    gv_opt_int(&o->common, option, optarg, w->from, w->to);
		break;
	case DURATION:
		*(double *)(void *)to = gv_opt_duration(&o->common, option, optarg);
		break;
	case SPECIAL:
		w->special(o, option);
		break;
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
		o->threads = (uint64_t)environment("GV_THREADS", 1, 1);
	if (o->checkpoint == NULL && dir != NULL && dir[0] != '\0')
		o->checkpoint = dir;
}

static void
check(struct options *o, int argc, char **argv)
{
	if (o->shapes + (o->export_to != NULL) + (o->split_into != NULL) +
		(o->join_into != NULL) >
	    1)
		gv_opt_usage(&o->common,
		    "--shapes, --export, --split and --join exclude each other");
	if (o->split_into == NULL && o->join_into == NULL && o->data.train.text == NULL)
		gv_opt_usage(&o->common, "no data: --data=digits, for example");
	if (o->join_into != NULL) {
		o->parts = (const char *const *)argv + optind;
		o->n_parts = (size_t)(argc - optind);
		if (o->n_parts == 0)
			gv_opt_usage(&o->common, "--join: no checkpoints are named");
	} else if (o->export_to == NULL)
		o->model = gv_opt_input(&o->common, argc, argv);
	else if (optind < argc)
		gv_opt_usage(&o->common, "--export takes no operand");
	if (o->batch % o->micro_batches != 0)
		gv_opt_usage(&o->common,
		    "--micro-batches: %llu are no equal parts of a batch of %llu",
		    (unsigned long long)o->micro_batches, (unsigned long long)o->batch);
	if (o->device.kind == GV_NN_CPU && o->device.math != GV_NN_FP32)
		gv_opt_usage(&o->common, "--math: the CPU has fp32 alone");
	if (o->pipeline == NULL &&
	    (o->vertical_sync || o->chunks > 0 || o->stages != NULL))
		gv_opt_usage(
		    &o->common, "--chunks, --stages and --vertical-sync need --schedule");
	if (o->pipeline != NULL && o->trees != NULL)
		gv_opt_usage(&o->common,
		    "--trees are for workers that all have the whole model, not for "
		    "--schedule");
	if (o->chunks == 0)
		o->chunks = o->pipeline != NULL && strcmp(o->pipeline, "interleaved") == 0
				? 2
				: 1;
	if (o->transport == TRANSPORT_NCCL && o->device.kind == GV_NN_CPU)
		gv_opt_usage(&o->common, "--transport=nccl needs --device=cuda");
	if (o->transport == TRANSPORT_NCCL && o->trees != NULL)
		gv_opt_usage(
		    &o->common, "--transport=nccl and --trees exclude each other");
	if (o->timeout_s <= 0)
		gv_opt_usage(&o->common, "--timeout: expected more than 0 s");
}

void
options_parse(struct options *o, int argc, char **argv)
{
	static const struct option common[] = {GV_OPT_COMMON, GV_OPT_TABLE};
	enum { COMMON = sizeof(common) / sizeof(common[0]) };
	struct option longopts[COMMON + OWN + 1] = {{0}};
	size_t i;
	int c;

	memcpy(longopts, common, sizeof(common));
	for (i = 0; i < OWN; i++)
		longopts[COMMON + i] = (struct option){
		    own[i].name, own[i].has_arg, NULL, GV_OPT_OWN + (int)i};
	set_defaults(o);
	while ((c = getopt_long(
		    argc, argv, GV_OPT_SHORT GV_OPT_TABLE_SHORT, longopts, NULL)) != -1) {
		if (c >= GV_OPT_OWN)
			take(o, &own[c - GV_OPT_OWN]);
		else
			gv_opt_common(&o->common, c, argc, argv);
	}
	take_environment(o);
	check(o, argc, argv);
}
