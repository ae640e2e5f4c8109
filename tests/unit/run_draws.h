/* Runs of gv-run that are drawn: clusters, tables of jobs, and what becomes of them. */
#ifndef RUN_DRAWS_H
#define RUN_DRAWS_H

#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "draws.h"
#include "gv-run/core/jobs.h"
#include "gv-run/core/table.h"
#include "recorded_frame.h"

enum { DRAWN_JOBS = 14, DRAWN_POOLS = 6 };

/* The texts that a run is of; jobs that come later are more lines of its table. */
struct drawn_run {
	size_t n_pools, n_jobs, turn;
	char pool[DRAWN_POOLS][40];
	bool nodes, policy, entities, gangs, pairs;
	struct gv_strbuf rows; /* of the table */
	struct settings o;
};

static const char drawn_header[] = "job_id,total_steps,command,scale_factor,arrival_s,"
				   "working_directory,entity,gpu_type,steps_per_s,"
				   "share,policy,with_job_id,with_steps_per_s\n";

static inline bool
one_in(size_t n)
{
	return below(n) == 0;
}

/* A name as a cell; some need quotes. */
static inline const char *
drawn_id(size_t m)
{
	static const char *const id[DRAWN_JOBS] = {"a", "\"b, \"\"q\"\"\"", "j2", "x/y",
	    "\303\251", "job 5", ".6", "j7", "8", "j9", "k", "l", "m", "n"};

	return id[m];
}

/* A type is a pool of its own, or one of several nodes. */
static inline void
draw_pool(struct drawn_run *d, size_t p)
{
	size_t k = d->nodes ? below(3) : p, gpus = 1 + below(4);
	char node[24] = "";

	if (d->nodes)
		snprintf(node, sizeof(node), "n%zu", p);
	snprintf(
	    d->pool[p], sizeof(d->pool[p]), "%c,%zu,%s,,2\n", "badcef"[k], gpus, node);
}

/* Types are those of the cluster, and one that it has not. */
static inline void
draw_job(struct drawn_run *d, size_t m, bool shares)
{
	static const char *const total[] = {"10", "25.5", "40", "100", ""};
	static const char type[] = "abc";
	const char *steps = total[below(5)], *entity = d->entities ? "team" : "";
	const char *dir = one_in(4) ? "sub" : one_in(4) ? "/tmp" : "";
	size_t gang = d->gangs ? 1 + below(3) : 1, arrival = one_in(3) ? below(9) : 0, k;
	size_t tenths = below(40), share;

	for (k = 0; k < 3; k++) {
		if (k > 0 && one_in(3))
			continue;
		share = shares ? below(5) : 0;
		gv_strbuf_fmt(&d->rows,
		    "%s,%s,run %zu,%zu,%zu,%s,%s,%c,%zu.%zu,%g,%s,,\n", drawn_id(m),
		    steps, m, gang, arrival, dir, entity, type[k], tenths / 10,
		    (tenths + k) % 10, (double)share / 16, d->policy ? "max-min" : "");
	}
	for (k = 0; d->pairs && k < m; k++) {
		size_t a = below(20), b = below(20);

		if (one_in(3))
			gv_strbuf_fmt(&d->rows,
			    "%s,%s,run %zu,%zu,%zu,%s,%s,%c,%g,%g,%s,%s,%g\n",
			    drawn_id(m), steps, m, gang, arrival, dir, entity,
			    type[below(2)], (double)a / 8, shares ? .125 : 0,
			    d->policy ? "max-min" : "", drawn_id(k), (double)b / 8);
	}
}

static inline void
draw_run(struct drawn_run *d)
{
	size_t n = 1 + below(one_in(4) ? 9 : 4), i;

	memset(d, 0, sizeof(*d));
	d->turn = one_in(2) ? 0 : below(13);
	d->nodes = one_in(3);
	d->policy = one_in(2);
	d->entities = one_in(4);
	d->pairs = one_in(3);
	d->gangs = !d->pairs && one_in(2);
	d->n_pools = 1 + below(4);
	d->o = (struct settings){.state = "s"};
	d->o.round_s = one_in(2) ? 1 : 2.5;
	d->o.max_failures = 1 + (int)below(3);
	d->o.order = one_in(3) ? GV_ROUND_GAVEL : GV_ROUND_OWED;
	for (i = 0; i < d->n_pools; i++)
		draw_pool(d, i);
	for (; d->n_jobs < n; d->n_jobs++)
		draw_job(d, d->n_jobs, true);
}

static inline void
drawn_run_free(struct drawn_run *d)
{
	gv_strbuf_free(&d->rows);
}

/* Its tables as they are written now. */
static inline void
drawn_cluster_text(const struct drawn_run *d, struct gv_strbuf *b)
{
	size_t p;

	gv_strbuf_str(b, "gpu_type,gpus,node,ids,usd_per_h\n");
	for (p = 0; p < d->n_pools; p++)
		gv_strbuf_str(b, d->pool[p]);
}

static inline int
drawn_cluster(const struct drawn_run *d, struct gv_cluster *c, struct gv_error *e)
{
	struct gv_strbuf text = {0};
	struct gv_frame f = {0};
	int rc;

	drawn_cluster_text(d, &text);
	rc = gv_frame_parse(&f, "cluster.csv", text.s, text.len, e);
	if (rc == 0)
		rc = gv_cluster_from(c, &f, e);
	gv_frame_free(&f);
	gv_strbuf_free(&text);
	return rc;
}

/* The same table, its columns in another order. */
static inline void
drawn_turn(struct gv_frame *f, size_t turn)
{
	struct gv_cell cell[32];
	struct gv_frame to;
	size_t row, i;

	for (i = 0; i < f->n_columns; i++)
		cell[i] = f->name[(i + turn) % f->n_columns];
	gv_frame_start(&to, f->file, f->tsv, cell, f->n_columns);
	to.header_line = f->header_line;
	for (row = 0; row < f->n_rows; row++) {
		for (i = 0; i < f->n_columns; i++)
			cell[i] =
			    gv_frame_cell(f, row, (ptrdiff_t)((i + turn) % f->n_columns));
		gv_frame_add(&to, cell, f->line[row]);
	}
	gv_frame_free(f);
	*f = to;
}

static inline int
drawn_jobs_frame(const struct drawn_run *d, struct gv_frame *f, struct gv_error *e)
{
	struct gv_strbuf text = {0};
	int rc;

	gv_strbuf_fmt(&text, "%s%s", drawn_header, d->rows.s);
	rc = gv_frame_parse(f, "jobs.csv", text.s, text.len, e);
	gv_strbuf_free(&text);
	if (rc == 0)
		drawn_turn(f, d->turn);
	return rc;
}

/* A run that has not begun; what is no table is an answer, too. */
static inline int
drawn_begin(const struct drawn_run *d, struct jobs *j, struct gv_error *e)
{
	struct gv_frame f = {0};

	*j = (struct jobs){0};
	if (drawn_cluster(d, &j->cluster, e) != 0)
		return -1;
	if (drawn_jobs_frame(d, &f, e) != 0 ||
	    gv_rates_from(&j->table, &f, &j->cluster, e) != 0) {
		gv_cluster_free(&j->cluster);
		return -1;
	}
	gv_rates_spread(&j->table, &j->cluster);
	jobs_make(j, &d->o, NULL);
	return 0;
}

/* ---- what is recorded ---- */

static inline void
recorded_jobs(struct recorded *r, const struct jobs *j)
{
	const struct gv_life *l = &j->life;
	size_t m, k;

	recorded_double(r, l->now_s);
	recorded_whole(r, l->round);
	recorded_whole(r, l->rounds.order);
	recorded_whole(r, (long long)j->taken.n);
	for (m = 0; m < l->n_jobs; m++) {
		const struct gv_life_job *job = &l->job[m];

		recorded_whole(r, job->state);
		recorded_whole(r, (long long)job->spec.gang);
		recorded_double(r, job->spec.total_steps);
		recorded_double(r, job->spec.arrival_s);
		recorded_text(r, job->spec.see != NULL ? job->spec.see : "");
		recorded_double(r, job->steps);
		recorded_double(r, job->checkpoint);
		recorded_whole(r, job->launches);
		recorded_whole(r, job->failures);
		recorded_wholes(r, job->gpu, job->n_gpus);
	}
	for (m = 0; m < l->rounds.n_jobs; m++)
		for (k = 0; k < l->rounds.n_types; k++) {
			const struct gv_round_claim *c =
			    gv_rounds_claim(&l->rounds, m, k);

			recorded_double(r, c->rate);
			recorded_double(r, c->with_rate);
			recorded_double(r, c->share);
			recorded_double(r, c->received_s);
		}
}

/* What was written to memory, and is forgotten. */
static inline void
recorded_out(struct recorded *r, struct gv_out *out, struct gv_strbuf *text)
{
	struct gv_error e = {0};

	gv_out_close(out, &e);
	recorded_text(r, text->s != NULL ? text->s : "");
	gv_strbuf_free(text);
}

#endif
