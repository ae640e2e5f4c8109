/* Options of subcommands that train a net to measure it, and the net's model. */
#ifndef GV_PROFILE_NET_OPTIONS_H
#define GV_PROFILE_NET_OPTIONS_H

#include "base/opt.h"
#include "layer_times.h"
#include "nn/model.h"

/* The first member of what gv_opt_parse is given. */
struct net_options {
	struct gv_opt common;
	const char *model;
	bool measuring; /* one of these options was given */
	struct gv_shape shape;
	size_t classes;
	struct times_rule rule;
};
#define NET_DEFAULTS(u, h)                                                   \
	{                                                                    \
		.common = {.usage = (u), .help = (h)}, .shape = {1, 28, 28}, \
		.classes = 10, .rule = {                                     \
			.batch = 64,                                         \
			.models = 1,                                         \
			.device = {.threads = 1},                            \
			.optimiser = GV_SGD,                                 \
			.warmup_s = 0.5,                                     \
			.window_s = 2,                                       \
			.least_steps = 20                                    \
		}                                                            \
	}

/* ctx is a struct net_options */
void net_set_batch(void *ctx, const char *arg);
void net_set_shape(void *ctx, const char *arg);
void net_set_classes(void *ctx, const char *arg);
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
	{"optimizer", required_argument, .set = net_set_optimizer}, \
	{"threads", required_argument, .set = net_set_threads},     \
	{"device", required_argument, .set = net_set_device},       \
	{"math", required_argument, .set = net_set_math}
#define TIMES_OPTIONS                                               \
	{"warmup", required_argument, .set = net_set_warmup},       \
	{"window", required_argument, .set = net_set_window},       \
	{"repeats", required_argument, .set = net_set_repeats}
/* clang-format on */

/* Reads the model and shapes it.  0, or -1 with *e set; gv_model_free also then. */
int net_model(struct gv_model *m, const struct net_options *o, struct gv_error *e);

#endif
