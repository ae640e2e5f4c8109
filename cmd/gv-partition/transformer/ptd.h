/*
 * PTD-P: pipeline, tensor and data parallel training of a transformer.
 *
 * A model of what an iteration takes, in time and memory, for any way to split it
 * over p pipeline stages, t-way tensor parallel layers, c parts of each sequence and d
 * replicas, the c d copies of a layer sharing its experts among e of them, and the
 * search over all ways.
 *
 * Time is a sum of parts, each from sizes and the GPU's table row:
 *
 *   a matrix product of m x n x k takes
 *       2 m n k / (peak gemm_share) + bytes / (memory rate memory_share)
 *   so that small micro-batches and thin slices are slower; everything else in a
 *   layer moves each saved activation twice forward and four times backward at
 *   the same rate;
 *   a group of g GPUs reduces n bytes in 2 n (g - 1) / g / (rate link_share);
 *   the slowest stage, mostly the last with the output layer, is busy for m
 *   micro-batches, and a bubble of the other stages' time, divided by v, comes on
 *   top.
 *
 *   with c parts of a sequence, keys and values go around a ring of c GPUs beside the
 *   core of attention, their gradients too on the way back;
 *   with e-way experts, the tokens of a micro-batch go to their experts and back in an
 *   all-to-all of e GPUs each; experts are taken to have equally many tokens.
 *
 * Source: Narayanan et al., SC 2021, sections 2 to 4; Korthikanti et al., 2022,
 * section 4 (memory); Liu et al., Ring attention, ICLR 2024 (c); Lepikhin et al.,
 * GShard, ICLR 2021 (e); Rajbhandari et al., ZeRO, SC 2020, sections 5 and 7.  Differs:
 * they give ratios and bytes, not seconds; ZeRO's gradients are those of Megatron, 32
 * bits beside bf16, and where an iteration has several micro-batches, stages 2 and 3
 * reduce gradients, and 3 gathers weights, for each.
 */
#ifndef GV_PARTITION_PTD_H
#define GV_PARTITION_PTD_H

#include <stdbool.h>
#include <stddef.h>

#include "gpus.h"
#include "transformer.h"

/* What the program that trains can do. */
enum ptd_feature {
	PTD_SCATTER_GATHER,        /* stages send 1/t each, gathered over fast links */
	PTD_SEQUENCE_PARALLEL,     /* what is not sliced by t otherwise is, by sequence */
	PTD_FLASH_ATTENTION,       /* scores are never stored */
	PTD_DISTRIBUTED_OPTIMIZER, /* its state is split over the d replicas */
	PTD_OVERLAP, /* data parallel, and interleaved stages', communication is hidden */
	PTD_SHORT_LAST,       /* the last stage may have fewer layers */
	PTD_CONTEXT_PARALLEL, /* GPUs share sequences of PTD_LONG and more */
	PTD_EXPERT_PARALLEL,  /* replicas share experts */
	PTD_FEATURES
};
extern const char *const ptd_feature_name[PTD_FEATURES];

enum ptd_schedule {
	PTD_FLUSH, /* 1F1B with a flush */
	PTD_INTERLEAVED,
	PTD_GPIPE,
	PTD_ZB_H1,
	PTD_SCHEDULES
};
extern const char *const ptd_schedule_name[PTD_SCHEDULES];

enum { PTD_GPUS = 1000000 }; /* at most */

/* Tokens below which c is 1 unless it is pinned; from them on Megatron-Core advises it. */
enum { PTD_LONG = 8192 };

/* What is split over the replicas: nothing; state; gradients too; weights too. */
enum { PTD_ZERO_STAGES = 4 };

struct ptd_machine {
	const struct gpu_type *gpu;
	const char *name; /* of the type, as it was asked for */
	size_t gpus;      /* n */
	size_t node;      /* GPUs of a server */
	double link_bytes_per_s;
	double network_bytes_per_s;
	double memory; /* bytes of a GPU that may be used */
	enum precision precision;
	bool can[PTD_FEATURES];
};

struct ptd_plan {
	size_t t, p, d; /* tensor, pipeline, data parallel */
	size_t c;       /* context parallel: t c p d = n */
	size_t e;       /* expert parallel: divides c d and the experts */
	size_t zero;    /* stage of ZeRO */
	size_t last; /* layers of the last stage; the others have equally many or more */
	size_t v;    /* virtual stages of a GPU */
	size_t b;    /* micro-batch, sequences */
	enum ptd_recompute recompute;
	enum ptd_schedule schedule;
};

/* Layers of every stage but the last: (l - last) / (p - 1). */
size_t ptd_stage_layers(const struct transformer *x, const struct ptd_plan *k);

/* Micro-batches of an iteration on each replica: B / (d b). */
size_t ptd_micro_batches(const struct transformer *x, const struct ptd_plan *k);

/* One layer and one micro-batch on one GPU, seconds; communication apart. */
struct ptd_layer {
	double forward_s, backward_s; /* without what is computed again */
	double weight_s; /* of backward_s: gradients of weights, which can wait */
	double core_s;   /* of forward_s: the core of attention */
	double reduce_s; /* tensor and expert parallel communication, of each pass */
	double ring_s;   /* context parallel, what the core of attention does not hide */
	double ring_back_s; /* the same, backward */
};

struct ptd_layer ptd_layer_time(
    const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k);

/* Seconds of an iteration, along the slowest stage, of equals the last. */
struct ptd_time {
	double compute_s;
	double tensor_s;   /* communication inside layers: of t, c and e */
	double pipeline_s; /* between stages */
	double data_s;     /* between replicas, as far as nothing hides it */
	double optimizer_s;
	double bubble_s;
	double iteration_s; /* the sum */
};

struct ptd_time ptd_time(
    const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k);

/* Bytes on a GPU of the stage that needs most, the first or the last. */
double ptd_memory(
    const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k);

/* What every GPU loses to the driver's context, NCCL's buffers and workspaces. */
enum { PTD_RESERVED_MIB = 2048 };

/* Share of a GPU's memory that an allocator fills before it runs out in pieces. */
#define PTD_USABLE 0.92

/* What plans are looked for.  A size of 0, and an int of -1, is free. */
struct ptd_pins {
	size_t t, p, d, c, e, v, b;
	size_t last;
	int zero; /* not said: 1 with PTD_DISTRIBUTED_OPTIMIZER, else 0 */
	int recompute;
	int schedule;    /* free: flush and interleaved */
	bool any_zero;   /* all stages of ZeRO */
	bool any_memory; /* also what does not fit */
};

struct ptd_row {
	struct ptd_plan plan;
	double memory;
	struct ptd_time time;
};

/* = {0} is empty. */
struct ptd_rows {
	size_t n;
	size_t cap;
	struct ptd_row *row;  /* [n] best first */
	size_t tried;         /* plans that were costed, also those that do not fit */
	struct ptd_row least; /* if tried: the one with least memory, not timed */
};

/*
 * All plans: t divides a, the heads of keys and f, and fills servers evenly, p v divides
 * l, c d is what is left of n, 2 c divides s unless c is 1, e divides c d and the experts,
 * b divides B / d; with v > 1, p divides the micro-batches; with PTD_SHORT_LAST, p need not
 * divide l where a shorter last stage takes what is left, and v divides both lengths.
 * Stages 2 and 3 of ZeRO only with p = 1, as DeepSpeed has them.
 * Best first: the least time; then the least memory; then the smaller t, p, c, e, v, the
 * longer last stage, the larger b, the lower stage of ZeRO, the less recomputation.
 */
void ptd_search(struct ptd_rows *r, const struct transformer *x,
    const struct ptd_machine *m, const struct ptd_pins *pins);
void ptd_rows_free(struct ptd_rows *r);

/*
 * The best plan on the largest part of the GPUs, all of them if possible, that has a plan,
 * whether it fits or not; m->gpus becomes that, or stays when none has.
 */
void ptd_search_part(struct ptd_rows *r, const struct transformer *x,
    struct ptd_machine *m, const struct ptd_pins *pins);

#endif
