/* Options of subcommands that train a net to measure it, and the net's model. */
#ifndef GV_PROFILE_NET_OPTIONS_H
#define GV_PROFILE_NET_OPTIONS_H

#include "base/opt.h"
#include "data/fit.h"
#include "layer_times.h"
#include "nn/model.h"

/* The first member of what gv_opt_parse is given. */
struct net_options {
	struct gv_opt common;
	const char *model;
	bool measuring;            /* one of these options was given */
	struct gv_shape shape;     /* of a sample; without channels: not given */
	size_t classes;            /* 0: not given */
	struct gv_data_sets sets;  /* real samples; without a text random ones */
	const char *of_sets;       /* an option that says nothing without them */
	struct gv_data data, test; /* what there is of them; test is empty */
	struct times_rule rule;
};
#define NET_DEFAULTS(u, h)                                                            \
	{                                                                             \
		.common = {.usage = (u), .help = (h)}, .sets = GV_DATA_SETS_DEFAULTS, \
		.rule = {                                                             \
			.batch = 64,                                                  \
			.models = 1,                                                  \
			.device = {.threads = 1},                                     \
			.optimiser = GV_SGD,                                          \
			.warmup_s = 0.5,                                              \
			.window_s = 2,                                                \
			.least_steps = 20                                             \
		}                                                                     \
	}

/* ctx is a struct net_options */
void net_set_batch(void *ctx, const char *arg);
void net_set_shape(void *ctx, const char *arg);
void net_set_classes(void *ctx, const char *arg);
void net_set_data(void *ctx, const char *arg);
void net_set_label(void *ctx, const char *arg);
void net_set_context(void *ctx, const char *arg);
void net_set_scale(void *ctx, const char *arg);
void net_set_autoencode(void *ctx, const char *arg);
void net_set_optimizer(void *ctx, const char *arg);
void net_set_threads(void *ctx, const char *arg);
void net_set_device(void *ctx, const char *arg);
void net_set_math(void *ctx, const char *arg);
void net_set_warmup(void *ctx, const char *arg);
void net_set_window(void *ctx, const char *arg);
void net_set_repeats(void *ctx, const char *arg);

/* Rows of an option table. */
/* clang-format off */
#define NET_OPTIONS                                                 \
	{"batch", required_argument, .set = net_set_batch},         \
	{"shape", required_argument, .set = net_set_shape},         \
	{"classes", required_argument, .set = net_set_classes},     \
	{"data", required_argument, .set = net_set_data},           \
	{"label", required_argument, .set = net_set_label},         \
	{"context", required_argument, .set = net_set_context},     \
	{"scale", required_argument, .set = net_set_scale},         \
	{"autoencode", no_argument, .set = net_set_autoencode},     \
	{"optimizer", required_argument, .set = net_set_optimizer}, \
	{"threads", required_argument, .set = net_set_threads},     \
	{"device", required_argument, .set = net_set_device},       \
	{"math", required_argument, .set = net_set_math}
#define TIMES_OPTIONS                                               \
	{"warmup", required_argument, .set = net_set_warmup},       \
	{"window", required_argument, .set = net_set_window},       \
	{"repeats", required_argument, .set = net_set_repeats}
/* clang-format on */

/*
 * Reads the model and what samples it is to be measured on, and shapes it for them: those of
 * --data, as gv-train would train on them; else random ones of --shape and --classes, by default
 * 28x28x1 and 10, for a model of tokens 64 of 256 kinds.  o->rule has them.  0, or -1 with *e
 * set; gv_model_free and net_free also then.
 */
int net_model(struct gv_model *m, struct net_options *o, struct gv_error *e);
void net_free(struct net_options *o);

#endif
