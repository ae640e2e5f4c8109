/* The models that train at once: one, by the options, or the rows of --array. */
#ifndef GV_TRAIN_ARRAY_H
#define GV_TRAIN_ARRAY_H

#include "base/strbuf.h"
#include "options.h"

struct array {
	size_t n; /* B */
	uint64_t *seed;
	uint64_t *order_seed; /* of its samples */
	struct gv_net_coef *coef;
	uint64_t *steps;           /* of each model */
	struct schedule *schedule; /* complete */
	char **init;               /* the file that it begins with; NULL = none */
	uint32_t *init_crc;        /* its checksum, once it is read */
};

/*
 * Fills *a from the table o->array, whose columns seed, order_seed, steps, lr, momentum,
 * weight_decay, beta1, beta2, eps, clip_norm, clip_value, init and lr_* of schedules override
 * the options of the same names, one row a model (other columns are not looked at);
 * without a table from the options alone.  0, or -1 with *e set.
 */
int array_read(struct array *a, const struct options *o, struct gv_error *e);
void array_free(struct array *a); /* also of a zeroed one */

/* "seed=1 lr=0.1 ...": all that decides what model b computes. */
void array_describe(
    const struct array *a, size_t b, enum gv_optimiser kind, struct gv_strbuf *s);

/* The learning rate of model b at its update step (from 0). */
double array_rate(const struct array *a, size_t b, uint64_t step);

/* The longest of the models' steps. */
uint64_t array_last(const struct array *a);

#endif
