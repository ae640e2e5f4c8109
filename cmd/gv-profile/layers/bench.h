/* A net that trains on the samples of its rule, or random ones, at a learning rate of 0, to be measured. */
#ifndef GV_PROFILE_BENCH_H
#define GV_PROFILE_BENCH_H

#include "layer_times.h"
#include "memory_log.h"

/* = {0} before bench_open */
struct bench {
	struct gv_net *net; /* the whole; with parts that whose turn it is */
	gv_real *x;
	void *target;
	double *loss;                 /* [models] */
	size_t in_flight;             /* micro-batches, at most as many as */
	size_t micro_batches;         /* of a step */
	int (*step)(struct bench *b); /* instead of a plain one; NULL: none */
	_Atomic size_t *part_now;     /* where the present one is told; NULL: nowhere */
	size_t parts;                 /* of bench_parts, */
	struct bench_part *part;      /* [parts + 1] */
	size_t batch, sample;         /* numbers of a sample */
	size_t target_bytes;          /* of a sample */
	bool failed;
	bool timed;     /* the present step, into now */
	bool own_clock; /* steps are of the calling thread alone */
	size_t rows;
	struct gv_net_times *now;  /* [rows] of one step */
	size_t n, cap, cap_step;   /* steps timed */
	struct gv_net_times *seen; /* [n][rows] */
	double *step_s;            /* [n] of the steps between */
	double passed_s;           /* in all of these, others' time too */
};

/* log: what is allocated goes there; NULL = none.  0, or -1 with *e set. */
int bench_open(struct bench *b, const struct gv_model *m, const struct times_rule *rule,
    struct memory_log *log, struct gv_error *e);
void bench_close(struct bench *b); /* also when it could not be opened */
/* Another net of the model, as c says beside what the rule does, into b->net.  0, or -1 with *e. */
int bench_net(struct bench *b, const struct gv_model *m, const struct times_rule *rule,
    struct gv_net_config c, struct gv_error *e);
/*
 * One step, of all its micro-batches; its seconds, without those for which others had the core
 * of the only thread.  part: that, of the time that has passed; NULL: which is added to
 * b->passed_s.  b->failed: gv_net_error.
 */
double bench_step(struct bench *b, double *part);

/* Micro-batch k of a step, in a slot, through rows [first, last).  0, or -1: gv_net_error. */
int bench_forward(struct bench *b, size_t k, size_t slot, size_t first, size_t last);
int bench_backward(struct bench *b, size_t k, size_t slot, size_t first, size_t last);
int bench_update(struct bench *b); /* behind them all */

#endif
