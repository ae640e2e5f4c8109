/* Options of gv-partition that only --planner=ptd-p has. */
#ifndef GV_PARTITION_OPTIONS_PTD_H
#define GV_PARTITION_OPTIONS_PTD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opt.h"
#include "gv-partition/transformer/ptd.h"

struct ptd_options {
	const char *gpu_type;  /* NULL: the rows say */
	const char *gpu_types; /* a file; NULL: the shipped one */
	size_t gpus;           /* 0: the rows or the levels say */
	int precision;         /* -1: bf16 where there is, else fp16 */
	bool can[PTD_FEATURES];
	bool features; /* were said */
	int recompute; /* -1: any */
	int schedule;  /* -1: flush and interleaved */
	int zero;      /* -1: as the features say, or any */
	bool any_zero;
};

/* Fills *p with what holds where nothing is said: all features. */
void ptd_options_init(struct ptd_options *p);

/* The arguments of --features, --precision, --zero; ends with a usage error. */
void ptd_options_features(struct ptd_options *p, const struct gv_opt *o, const char *arg);
void ptd_options_precision(
    struct ptd_options *p, const struct gv_opt *o, const char *arg);
void ptd_options_zero(struct ptd_options *p, const struct gv_opt *o, const char *arg);

#endif
