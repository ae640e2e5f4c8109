/*
 * A transformer and what follows from its sizes alone: parameters, operations.
 *
 * Source: Narayanan et al., SC 2021, section 5.1 and its appendix; Korthikanti et
 * al., 2022, appendix A (model and hardware operations).  Differs: the width of
 * the feed-forward part may be other than 4 h, and it may be gated (Shazeer, 2020) or
 * one of several experts (Shazeer et al., ICLR 2017); heads may share keys and values
 * (Ainslie et al., EMNLP 2023); biases, positions that are learned, and the second half of
 * a norm may be missing; the output layer may have weights of its own; the last norm
 * counts.  With these, models count exactly what their publishers' files hold.
 */
#ifndef GV_PARTITION_TRANSFORMER_H
#define GV_PARTITION_TRANSFORMER_H

#include <stdbool.h>
#include <stddef.h>

/* Whole numbers, as double because all of them are multiplied. */
struct transformer {
	double layers;    /* l */
	double hidden;    /* h */
	double ffn;       /* 4 h in GPT; of one expert where there are several */
	double heads;     /* a */
	double kv_heads;  /* that have keys and values of their own; a in GPT */
	double head_size; /* h / a in GPT */
	double seq;       /* s, tokens */
	double vocab;     /* V, padded as it is trained */
	double batch;     /* B, sequences in all of an iteration */
	double experts;   /* of a layer; 0: one feed-forward part for all tokens */
	double top;       /* experts that each token goes through */
	double shared;    /* width of the part beside them that all go through; 0: none */
	bool gated;       /* SwiGLU and its like: three matrices instead of two */
	bool rms_norm;    /* one number for each of h, not two */
	bool no_biases;
	bool rotary; /* positions are not learned */
	/* queries and keys pass a norm over each head, with weights of its size */
	bool qk_norm;
	bool untied; /* the output layer does not share the embedding's weights */
};

/* What the backward pass computes again, layer by layer. */
enum ptd_recompute {
	PTD_NONE,
	PTD_SELECTIVE, /* the core of attention: scores, softmax, their product with V */
	PTD_FULL,      /* all of the layer, from its input */
	PTD_RECOMPUTES
};
extern const char *const ptd_recompute_name[PTD_RECOMPUTES];

/* Width of all heads of queries; of keys, values and queries. */
static inline double
transformer_q_width(const struct transformer *x)
{
	return x->heads * x->head_size;
}

static inline double
transformer_qkv_width(const struct transformer *x)
{
	return (x->heads + 2 * x->kv_heads) * x->head_size;
}

/* Weights and biases of all experts of one layer; 0 without experts. */
double transformer_expert_parameters(const struct transformer *x);

/* Weights and biases of one layer, experts and router included; 12 h^2 + 13 h in GPT. */
double transformer_layer_parameters(const struct transformer *x);

/* Of the norm behind the last layer; 2 h in GPT. */
double transformer_norm_parameters(const struct transformer *x);

/* Of learned positions, s h; 0 without. */
double transformer_position_parameters(const struct transformer *x);

/*
 * All of them; in GPT P = 12 l h^2 (1 + 13 / (12 h) + (V + s) / (12 l h)), where the
 * embedding of positions is the s, and the 2 h of the last norm.
 */
double transformer_parameters(const struct transformer *x);

/*
 * Floating-point operations of an iteration, all GPUs together.  Model: what the
 * mathematics needs, in GPT 72 B s l h^2 (1 + s / (6 h) + V / (12 l h)); of experts only
 * those that a token goes through.  Hardware: with what is computed again; full,
 * 96 B s l h^2 (1 + s / (6 h) + V / (16 l h)), and selective with s / (3 h), as both
 * sources count them.
 */
double transformer_flops(const struct transformer *x, enum ptd_recompute recompute);

#endif
