/*
 * gv-alloc - who gets which GPUs for what share of time.
 *
 * Reads rates (a job on a GPU type, and how fast it runs there), or jobs to be
 * joined with throughputs; asks a policy; writes the same rows with the columns
 * share and policy.
 */
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "alloc/answer/answer.h"
#include "alloc/answer/one_more.h"
#include "alloc/answer/stay.h"
#include "alloc/price/price.h"
#include "alloc/problem/nodes.h"
#include "alloc/prove/explain.h"
#include "again.h"
#include "assign.h"
#include "answer_write.h"
#include "options.h"
#include "prices.h"
#include "say.h"
#include "warnings.h"
#include "sched/asking/available.h"
#include "sched/cluster.h"
#include "sched/rates.h"
#include "standing.h"
#include "warm.h"
#include "lp/tolerance.h"

/* The tables beside the main one, read once. */
struct inputs {
	struct gv_cluster cluster;
	struct gv_nodes nodes;       /* for jobs that name their nodes */
	struct gv_frame throughputs; /* when there are any */
	struct gv_entities weights;
	struct gv_pairs pairs;
	struct gv_previous previous;
	struct gv_price_memory memory; /* from one table to the next */
	struct standing standing;      /* --changes: the last table */
	char *again;                   /* the policy with what it takes to ask it again */
};

/*
 * Rates of the cluster's types; gangs on several nodes count as they are the faster, unless
 * jobs name their nodes.
 */
static int
rates_of(struct gv_rates *r, struct gv_frame *frame, const struct gv_cluster *c,
    struct gv_error *e)
{
	if (gv_rates_from(r, frame, c, e) != 0)
		return -1;
	if (!gv_nodes_tied(r, c))
		gv_rates_spread(r, c);
	return 0;
}

static int
read_weights(struct gv_entities *w, const char *path, struct gv_error *e)
{
	struct gv_frame frame = {0};

	return gv_frame_load(&frame, path, e) != 0 ? -1 : gv_entities_from(w, &frame, e);
}

/* That the cluster has the GPUs of all quotas. */
static int
check_quotas(const struct gv_entities *w, const struct gv_cluster *c, struct gv_error *e)
{
	double gpus = 0;
	size_t i;

	for (i = 0; i < c->n_types; i++)
		gpus += (double)c->type[i].gpus;
	return gv_entities_fit(w, gpus, e);
}

static int
read_pairs(struct gv_pairs *t, const char *path, struct gv_error *e)
{
	struct gv_frame frame = {0};

	return gv_frame_load(&frame, path, e) != 0 ? -1 : gv_pairs_from(t, &frame, e);
}

/* The shares of an allocation; without one nobody was there. */
static int
read_previous(struct gv_previous *v, const char *path, const struct gv_cluster *c,
    struct gv_error *e)
{
	struct gv_frame frame = {0};
	struct gv_rates r = {0};
	int rc = 0;

	gv_previous_clear(v, c->n_types);
	if (path == NULL)
		return 0;
	if (gv_frame_load(&frame, path, e) != 0 || rates_of(&r, &frame, c, e) != 0)
		return -1;
	if (r.has_share)
		gv_previous_from(v, &r, c);
	else
		rc = gv_error_set(e,
		    "%s: no column \"share\"; --previous is an "
		    "allocation",
		    r.frame.file);
	gv_rates_free(&r);
	return rc;
}

static int
inputs_read(struct inputs *in, struct options *o, struct gv_error *e)
{
	if (gv_cluster_read(&in->cluster, o->cluster, e) != 0 ||
	    (o->prices != NULL &&
		prices_read(&in->cluster, o->prices, o->at_s, e) != 0) ||
	    (o->throughputs != NULL &&
		gv_frame_load(&in->throughputs, o->throughputs, e) != 0) ||
	    (o->entities != NULL && read_weights(&in->weights, o->entities, e) != 0) ||
	    check_quotas(&in->weights, &in->cluster, e) != 0 ||
	    (o->sharing != NULL && read_pairs(&in->pairs, o->sharing, e) != 0) ||
	    (o->warm != NULL &&
		warm_read(&in->memory, o->warm, &in->cluster, o->name, e) != 0) ||
	    read_previous(&in->previous, o->previous, &in->cluster, e) != 0)
		return -1;
	if (o->previous != NULL || o->has_stay)
		o->answer.previous = &in->previous;
	gv_nodes_split(&in->nodes, &in->cluster, o->explain != NULL);
	in->again = again_words(o);
	o->answer.policy.solve.memory = &in->memory;
	o->answer.entities = &in->weights;
	o->answer.pairs = o->sharing != NULL ? &in->pairs : NULL;
	return 0;
}

static void
inputs_free(struct inputs *in)
{
	gv_frame_free(&in->throughputs);
	gv_entities_free(&in->weights);
	gv_pairs_free(&in->pairs);
	gv_previous_free(&in->previous);
	gv_price_forget(&in->memory);
	standing_free(&in->standing);
	free(in->again);
	gv_nodes_free(&in->nodes);
	gv_cluster_free(&in->cluster);
}

/* The rates of the present table, joined with the throughputs if there are any. */
static int
read_rates(struct gv_rates *r, struct gv_tab *t, const struct options *o,
    const struct inputs *in, struct gv_error *e)
{
	struct gv_frame frame = {0};
	struct gv_rates jobs = {0};
	size_t *missing;
	size_t n_missing = 0;
	int rc;

	if (gv_frame_read(&frame, t, e) != 0)
		return -1;
	if (o->throughputs == NULL)
		return rates_of(r, &frame, &in->cluster, e);
	if (gv_jobs_from(&jobs, &frame, e) != 0)
		return -1;
	missing = gv_xcalloc(jobs.n_jobs, sizeof(*missing));
	rc = gv_rates_join(&frame, &jobs, &in->throughputs, missing, &n_missing, e);
	if (rc == 0 && !o->common.quiet)
		say_missing(&jobs, missing, n_missing, in->throughputs.file);
	free(missing);
	gv_rates_free(&jobs);
	return rc == 0 ? rates_of(r, &frame, &in->cluster, e) : -1;
}

static int
dump_lp(const struct options *o, const struct gv_rates *r, const struct gv_cluster *c,
    const struct gv_answer *a, struct gv_error *e)
{
	struct gv_out *out;

	if (gv_out_open(&out, o->dump_lp, e) != 0)
		return -1;
	answer_write_lp(a, r, c, o->policy, out);
	return out == gv_stdout() ? 0 : gv_out_close(out, e);
}

static void
say_asked(size_t done, size_t of)
{
	gv_progress("explaining: %zu of %zu times asked with one more", done, of);
}

/* Into the file of --explain. */
static int
explain(const struct options *o, const struct gv_rates *r, const struct gv_cluster *c,
    const struct gv_answer *a, struct gv_error *e)
{
	struct gv_one_more *more = gv_xcalloc(c->n_types, sizeof(*more));
	struct gv_problem p = a->p;
	double *need = gv_answer_needs(a);
	struct gv_entity_levels entities;
	struct gv_explanation x = {0};
	struct gv_out *out = NULL;
	struct gv_tabw w;
	int rc;

	if (p.number[GV_NUMBER_NEED] != NULL)
		p.number[GV_NUMBER_NEED] = need;
	gv_explain_make(&x, &p, o->policy->measure, &a->s);
	gv_entity_levels_make(&entities, a, r, o->answer.entities);
	rc = gv_one_more_make(more, &entities, a, r, c, o->policy, &o->answer,
	    o->common.quiet ? NULL : say_asked, e);
	gv_progress(NULL);
	if (rc == 0)
		rc = gv_out_open(&out, o->explain, e);
	if (rc == 0) {
		gv_tabw_init(&w, out, o->common.tsv);
		explain_write(&x, a, r, c, o->name, more, &entities, &w);
		rc = out == gv_stdout() ? 0 : gv_out_close(out, e);
	}
	gv_entity_levels_free(&entities);
	gv_explain_free(&x);
	free(need);
	free(more);
	return rc;
}

/* Nothing is written for this table. */
GV_NORETURN static void
answer_no(void)
{
	gv_out_discard_all();
	exit(gv_finish() == GV_EXIT_OK ? GV_EXIT_NO : GV_EXIT_TROUBLE);
}

/* Proof asked for and not found: exit 1. */
static void
check_proof(const struct options *o, const struct gv_answer *a)
{
	double gap = a->stayed.asked ? a->stayed.gap : a->s.gap;
	double enough = o->policy->proved > 0 ? o->policy->proved : GV_TOL_PROVED;

	if (o->answer.policy.solve.placeable)
		enough = fmax(enough, GV_TOL_PROVED_PLACED);
	if (o->answer.pop > 1) /* which is not meant to reach its bound */
		return;

	if (a->p.n == 0 || !a->s.has_bound)
		return;
	if (o->answer.policy.solve.certify)
		gap = a->s.gap;
	if (gap <= enough && (a->s.exact || !o->answer.policy.solve.certify))
		return;
	if (isinf(a->s.objective) && !o->answer.policy.solve.certify)
		return; /* beside never any bound is small */
	if (gap <= enough)
		gv_warn("not proved in rational arithmetic");
	else
		gv_warn("not proved: the best objective may be larger by %.2g of itself",
		    gap);
	if (o->answer.policy.solve.certify)
		answer_no();
}

/* Shares that are farther from the last ones than they could be. */
static void
say_stayed(const struct gv_stayed *s)
{
	if (s->failed)
		gv_warn("--previous: no solver came to shares that stay close; these are "
			"the policy's own");
	else if (s->idle)
		gv_warn("--stay: no solver came to what else could run where jobs stay");
}

/* The objective is the best; of what else was to be, that is not known. */
static void
say_second(const struct gv_answer *a)
{
	if (a->s.second_missed && a->p.n > 0 && a->s.gap <= GV_TOL_PROVED)
		gv_warn("warning: no solver came to the end of the second program: other "
			"shares with the same objective may get more done");
}

/* What goes beside the answer first, so that there is no answer where that fails. */
static int
write_files(const struct options *o, const struct gv_rates *r, const struct gv_cluster *c,
    const struct gv_answer *a, struct gv_error *e)
{
	if (o->dump_lp != NULL && dump_lp(o, r, c, a, e) != 0)
		return -1;
	return o->explain != NULL ? explain(o, r, c, a, e) : 0;
}

/* The cluster as the jobs of r have it, whose rates get its types; NULL with *e set. */
static const struct gv_cluster *
cluster_of(struct gv_rates *r, const struct options *o, const struct inputs *in,
    struct gv_error *e)
{
	const char *other = o->sharing != NULL           ? "--space-sharing"
			    : o->answer.previous != NULL ? "--previous"
			    : o->warm != NULL            ? "--warm"
							 : NULL;

	if (!gv_nodes_tied(r, &in->cluster))
		return &in->cluster;
	if (other != NULL)
		gv_error_set(e,
		    "%s: %s does not go together with jobs that name their nodes",
		    r->frame.file, other);
	return other == NULL && gv_nodes_tie(r, &in->cluster, &in->nodes, e) == 0
		   ? &in->nodes.split
		   : NULL;
}

/* The answer as a table: whole, or what has changed of one. */
static void
write_answer(const struct options *o, const struct gv_answer *a, struct gv_rates *r,
    const struct gv_cluster *c, struct inputs *in, struct gv_tabw *w)
{
	char relaxation[GV_NUM_LEN];
	const struct answer_columns every = {.policy = in->again,
	    .relaxation = o->answer.policy.relax_slo ? relaxation : NULL,
	    .reads = standing_reads(o, r)};

	if (r == &in->standing.r) {
		standing_write(&in->standing, a, c, w);
		return;
	}
	relaxation_text(relaxation, r, a);
	answer_write(a, r, c, &every, o->sharing != NULL, w);
}

/* The GPUs that r is about: those of in, or less into *now.  NULL with *e set. */
static const struct gv_cluster *
gpus_of(struct gv_rates *r, const struct options *o, const struct inputs *in,
    struct gv_cluster *now, struct gv_error *e)
{
	const struct gv_cluster *cluster = cluster_of(r, o, in, e);

	if (cluster != &in->cluster)
		return cluster;
	return gv_rates_available(r, cluster, now, e) == 0 ? now : NULL;
}

static int
answer_rates(const struct options *o, struct gv_rates *r, struct inputs *in,
    struct gv_tabw *w, struct gv_error *e)
{
	const struct gv_cluster *cluster;
	struct gv_cluster now = {0};
	struct gv_answer a = {0};
	double together;
	int rc = -1, made = -1;

	if (gv_rates_check_types(r, &in->cluster, e) != 0) {
		gv_warn_error(e);
		answer_no();
	}
	warn_of_slips(o, r, &in->cluster, o->entities != NULL ? &in->weights : NULL);
	if (assign_nodes(r, o, &in->cluster, &together, e) != 0)
		return -1;
	cluster = gpus_of(r, o, in, &now, e);
	if (cluster != NULL)
		made = gv_answer_make(&a, r, cluster, o->policy, &o->answer, e);
	gv_progress(NULL);
	if (made == 0) {
		if (!o->common.quiet)
			say_never_running(r, cluster, &a);
		if (a.impossible || !o->common.quiet)
			say_late(o, r, &a);
		if (a.impossible)
			answer_no();
		if (!o->common.quiet)
			say_second(&a);
		if (!o->common.quiet)
			say_never(&a);
		check_proof(o, &a);
		say_stayed(&a.stayed);
		rc = write_files(o, r, cluster, &a, e);
	}
	if (rc == 0) {
		if (o->common.verbose > 0)
			say_objective(o, r, &a, together);
		write_answer(o, &a, r, cluster, in, w);
		if (o->answer.previous != NULL)
			gv_stay_remember(&in->previous, &a, r);
		if (r != &in->standing.r && standing_reads(o, r) != NULL)
			standing_keep(&in->standing, r, &a);
	}
	gv_answer_free(&a);
	free(now.type);
	return rc;
}

static int
answer_table(const struct options *o, struct gv_tab *t, struct inputs *in,
    struct gv_tabw *w, struct gv_error *e)
{
	struct gv_rates r = {0};
	int rc;

	if (o->changes && standing_is_change(t))
		rc = standing_change(&in->standing, t, &in->cluster, e) == 0
			 ? answer_rates(o, &in->standing.r, in, w, e)
			 : -1;
	else {
		standing_free(&in->standing);
		rc =
		    read_rates(&r, t, o, in, e) == 0 ? answer_rates(o, &r, in, w, e) : -1;
	}
	gv_rates_free(&r);
	if (rc == 0 && (gv_tab_paused(t) || o->stream))
		gv_tabw_between(w);
	return rc;
}

int
main(int argc, char **argv)
{
	struct options o;
	struct gv_error e = {0};
	struct inputs in = {0};
	struct gv_tab *t = NULL;
	struct gv_out *out = NULL;
	struct gv_tabw w;
	int more = 0;

	gv_init("gv-alloc");
	options_parse(&o, argc, argv);
	if (!o.common.quiet)
		o.answer.policy.solve.progress = say_progress;
	if (inputs_read(&in, &o, &e) != 0 || gv_tab_open(&t, o.input, &e) != 0 ||
	    gv_out_open(&out, o.common.output, &e) != 0)
		gv_die_error(&e);
	gv_tabw_init(&w, out, o.common.tsv);
	while ((more = gv_tab_table(t, &e)) == 1)
		if (answer_table(&o, t, &in, &w, &e) != 0)
			gv_die_error(&e);
	if (more == -1 || (out != gv_stdout() && gv_out_close(out, &e) != 0) ||
	    (o.warm != NULL &&
		warm_write(&in.memory, o.warm, &in.cluster, o.name, &e) != 0))
		gv_die_error(&e);
	gv_tab_close(t);
	inputs_free(&in);
	return gv_finish();
}
