/*
 * A transformer and what follows from its sizes alone: parameters, operations.
 *
 * Source: Narayanan et al., SC 2021, section 5.1 and its appendix; Korthikanti et
 * al., 2022, appendix A (model and hardware operations).  Differs: the width of
 * the feed-forward part may be other than 4 h, and the output layer may have
 * weights of its own.
 */
#ifndef GV_PARTITION_TRANSFORMER_H
#define GV_PARTITION_TRANSFORMER_H

#include <stdbool.h>
#include <stddef.h>

/* Whole numbers, as double because all of them are multiplied. */
struct transformer {
	double layers; /* l */
	double hidden; /* h */
	double ffn;    /* 4 h in GPT */
	double heads;  /* a; h is a multiple */
	double seq;    /* s, tokens */
	double vocab;  /* V, padded as it is trained */
	double batch;  /* B, sequences in all of an iteration */
	bool untied;   /* the output layer does not share the embedding's weights */
};

/* What the backward pass computes again, layer by layer. */
enum ptd_recompute {
	PTD_NONE,
	PTD_SELECTIVE, /* the core of attention: scores, softmax, their product with V */
	PTD_FULL,      /* all of the layer, from its input */
	PTD_RECOMPUTES
};
extern const char *const ptd_recompute_name[PTD_RECOMPUTES];

/* Weights and biases of one layer; 12 h^2 + 13 h in GPT. */
double transformer_layer_parameters(const struct transformer *x);

/*
 * P = 12 l h^2 (1 + 13 / (12 h) + (V + s) / (12 l h)), where the embedding of
 * positions is the s.
 */
double transformer_parameters(const struct transformer *x);

/*
 * Floating-point operations of an iteration, all GPUs together.  Model: what the
 * mathematics needs, 72 B s l h^2 (1 + s / (6 h) + V / (12 l h)).  Hardware: with
 * what is computed again; full, 96 B s l h^2 (1 + s / (6 h) + V / (16 l h)), and
 * selective with s / (3 h), as both sources count them.
 */
double transformer_flops(const struct transformer *x, enum ptd_recompute recompute);

#endif
