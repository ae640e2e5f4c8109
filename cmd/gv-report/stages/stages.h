/*
 * The stages of a plan, gv-tables(5): what gv-partition --explain says of them, or
 * what can be said from a plan's own rows.  Also their report: text, tables, drawing.
 */
#ifndef GV_REPORT_STAGES_H
#define GV_REPORT_STAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/tab.h"

enum stage_part { PART_COMPUTE, PART_SYNC, PART_TRANSFER, STAGE_PARTS };

/* Numbers that are not told are NAN, texts empty. */
struct stage {
	int64_t level, stage, within;
	int64_t place; /* which GPUs it shares with other stages; -1: none */
	int64_t layers, replicas, gpus;
	struct gv_cell first, last; /* node_ids */
	struct gv_cell recompute, limit, gpu_type;
	double part_s[STAGE_PARTS];
	double load_s;
	double place_s; /* of all stages of its place */
	double parameter, activation, in_flight, memory;
	size_t parent; /* the stage of the next level that it is in; n: none */
	double outer;  /* replicas of all it is in, which share the minibatches */
};

/* = {0} is an empty one. */
struct stages {
	size_t n;
	struct stage *stage; /* [n] level by level, the innermost first */
	bool whole; /* of --explain; else transfers, gradients and memory are not told */
	/* stages have types of GPUs; times of a plan's rows are not of these */
	bool typed;
	int64_t levels;
	size_t n_stages; /* innermost */
	int64_t gpus;
	size_t slowest;       /* of the outermost level */
	size_t fullest;       /* with the most memory; n: not told */
	double busy_share;    /* of all GPUs' time, when the slowest stage never waits */
	struct gv_frame rows; /* owns the texts */
};

/* Whether the present table of t has stages or is a plan, by its columns. */
bool stages_are(const struct gv_tab *t);
/*
 * Reads it, and behind a plan its edges, which are not looked at.  0, or -1 with
 * *e set, every bad row located, and *s is empty.
 */
int stages_read(struct stages *s, struct gv_tab *t, struct gv_error *e);
void stages_free(struct stages *s);

/* Fills parent and outer of each. */
void stages_nest(struct stages *s);

/* Stages in the order to show them: each in front of those inside it.  [s->n], to be freed. */
size_t *stages_order(const struct stages *s);

/*
 * Where each row stands in an order in which layers can run, by the table of edges behind
 * them; in their own where there is none, or no such order.  [rows->n_rows], to be freed.
 */
size_t *stages_ranks(const struct gv_frame *rows, const struct gv_frame *edges);

/* Busy share of a stage's GPUs when the slowest never waits: innermost level. */
double stage_busy(const struct stages *s, const struct stage *stage);

struct stages_unit {
	const char *name;
	double s;
};
/* One unit for all times, by the longest. */
struct stages_unit stages_unit(const struct stages *s);

extern const char *const stage_part_name[STAGE_PARTS];

/* The report: for people, for machines, drawn. */
void stages_text(struct gv_out *out, const struct stages *s, int digits);
void stages_table(struct gv_out *out, const struct stages *s, bool tsv);
void stages_json(struct gv_out *out, const struct stages *s);
void stages_svg(struct gv_out *out, const struct stages *s, int digits);
void stages_html(struct gv_out *out, const struct stages *s, int digits);

#endif
