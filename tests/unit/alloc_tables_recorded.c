/*
 * From tables to answers: the problems that drawn tables of jobs, clusters, entities and pairs
 * make, what is answered to them and what is said of wrong ones is what it was.
 */
#include "tap.h"

#include <stdarg.h>

#include <glpk.h>

#include "alloc_help.h"
#include "alloc_draws.h"
#include "alloc/answer/answer.h"
#include "alloc/answer/entity_levels.h"
#include "alloc/answer/named.h"
#include "alloc/answer/one_more.h"
#include "alloc/answer/pop.h"
#include "alloc/answer/stay.h"
#include "alloc/problem/choose_node.h"
#include "alloc/problem/nodes.h"

static struct recorded r;

enum { MOST_TYPES = 4, MOST_NODES = 3, MOST_TEXT = 1 << 16 };

static const char *const type_name[MOST_TYPES] = {"v100", "k80", "p100", "a100"};
static const char *const node_name[MOST_NODES] = {"n2", "n0", "n1"};
static const char *const entity_name[] = {"red", "blue", "Green-1", "amber", "green_1"};
enum { ENTITIES = sizeof(entity_name) / sizeof(entity_name[0]) };

/* ---- texts of tables ---- */

struct text {
	char s[MOST_TEXT];
	size_t n;
};

GV_PRINTF(2, 3) static void say(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->n += (size_t)vsnprintf(t->s + t->n, sizeof(t->s) - t->n, fmt, ap);
	va_end(ap);
	if (t->n >= sizeof(t->s))
		gv_die("a table is too long");
}

/* What all tables of a question are of. */
struct asked {
	size_t types, jobs;
	bool nodes, all_tied, wrong, pairs, entities, tree;
	struct gv_cluster cluster;
	struct gv_rates rates;
	struct gv_entities entity;
	struct gv_pairs together;
	struct gv_nodes split;
	const struct gv_cluster *now; /* of the rates */
};

static void
record_error(struct gv_error *e)
{
	size_t i;

	recorded_whole(&r, (long long)e->count);
	for (i = 0; i < e->count && i < GV_ERROR_KEPT; i++)
		recorded_text(&r, e->text[i]);
	gv_error_clear(e);
}

static int
parse(struct gv_frame *f, const char *name, const struct text *t, struct gv_error *e)
{
	return gv_frame_parse(f, name, t->s, t->n, e);
}

static int
draw_cluster(struct asked *q, struct gv_error *e)
{
	static struct text t;
	bool priced = uniform() < .7, none = uniform() < .1;
	double way = uniform(), unpaid = way < .8 ? 0 : way < .95 ? .4 : 1;
	size_t j, k, pools = q->nodes ? 1 + below(MOST_NODES) : 1;
	struct gv_frame f = {0};
	int rc;

	t.n = 0;
	say(&t, "gpu_type,gpus,usd_per_h%s\n", q->nodes ? ",node" : "");
	for (j = 0; j < q->types; j++) {
		double price = drawn_number(DRAWN_HALVES);

		if (uniform() < unpaid)
			price = 0;
		for (k = 0; k < pools; k++) {
			size_t gpus = below(5);

			say(&t, "%s,%zu,", type_name[j], k == 0 ? gpus + 1 : gpus);
			if (priced && !(none && j == 1))
				say(&t, "%g", price);
			if (q->nodes)
				say(&t, ",%s", node_name[(j + k) % MOST_NODES]);
			say(&t, "\n");
		}
	}
	rc = parse(&f, "cluster", &t, e);
	if (rc == 0)
		rc = gv_cluster_from(&q->cluster, &f, e);
	gv_frame_free(&f);
	for (j = 0; rc == 0 && j < q->cluster.n_types; j++) {
		size_t away = 1 + below(3);

		if (uniform() < .05)
			q->cluster.type[j].away = away;
		if (uniform() < .05)
			q->cluster.type[j].elsewhere = away;
	}
	return rc;
}

/* The columns that describe a job, which all its rows have. */
struct job_text {
	char s[256];
	size_t scale;
};

static const char job_head[] =
    "scale_factor,priority_weight,entity,node,job_type,total_steps,"
    "steps_remaining,elapsed_s,isolated_elapsed_s,arrival_s,"
    "deadline_s,slo_factor,min_steps_per_s,move_cost";

static void
draw_job(struct job_text *j, const struct asked *q, enum drawn_sort sort, bool needs)
{
	double weight = drawn_number(sort), steps = 100 * drawn_number(sort);
	double left = uniform() < .1 ? 0 : steps * .5, elapsed = 10 * uniform();
	double arrival = (double)below(5), need = uniform(), cost = (double)below(3);
	size_t entity = below(ENTITIES + 1), node = below(MOST_NODES + 2),
	       kind = below(3);
	char deadline[32] = "", slo[32] = "", minimum[32] = "";

	if (q->all_tied)
		node %= MOST_NODES;

	j->scale = uniform() < .6 ? 1 : 1 + below(4);
	if (needs && need < .2)
		snprintf(deadline, sizeof(deadline), "%.17g", elapsed + 1e4 * uniform());
	else if (needs && need < .3)
		snprintf(slo, sizeof(slo), "%.17g", 1 + 3 * uniform());
	if (needs && need > .8)
		snprintf(minimum, sizeof(minimum), "%.17g", .3 * uniform());
	snprintf(j->s, sizeof(j->s),
	    "%zu,%.17g,%s,%s,%s,%.17g,%.17g,%.17g,%.17g,%g,%s,%s,%s,%g", j->scale, weight,
	    q->entities && entity < ENTITIES ? entity_name[entity] : "",
	    q->nodes && node < MOST_NODES ? node_name[node] : "",
	    kind == 0   ? "lm"
	    : kind == 1 ? "resnet"
			: "",
	    steps, left, elapsed, elapsed * .5, arrival, deadline, slo, minimum, cost);
}

/* Jobs on each type that they can use, also across nodes; in no order; some share. */
static int
draw_rates(struct asked *q, struct gv_error *e)
{
	static struct text t;
	static struct job_text job[64];
	enum drawn_sort sort = drawn_sort(), rate = drawn_sort();
	bool needs = uniform() < .3;
	double likely = .3 + .7 * uniform(), alike = uniform() * .5;
	size_t i, j, k;
	struct gv_frame f = {0};

	t.n = 0;
	say(&t, "job_id,%s,gpu_type,steps_per_s%s\n", job_head,
	    q->pairs ? ",with_job_id,with_steps_per_s" : "");
	for (i = 0; i < q->jobs; i++) {
		draw_job(&job[i], q, sort, needs);
		if (i > 0 && uniform() < alike)
			job[i] = job[i - 1];
		for (j = 0; j < q->types; j++) {
			double v = uniform() < .05 ? 0 : drawn_number(rate),
			       apart = uniform();

			if (uniform() < likely)
				say(&t, "j%zu,%s,%s%s,%.17g%s\n", (i * 7) % 64, job[i].s,
				    type_name[j], apart < .1 ? "_unconsolidated" : "", v,
				    q->pairs ? ",," : "");
			k = below(i + 1);
			if (q->pairs && k < i && apart > .6 &&
			    job[k].scale == job[i].scale)
				say(&t, "j%zu,%s,%s,%.17g,j%zu,%.17g\n", (i * 7) % 64,
				    job[i].s, type_name[j], v * .7, (k * 7) % 64,
				    .5 + uniform());
		}
	}
	if (parse(&f, "rates", &t, e) != 0)
		return -1;
	return gv_rates_from(&q->rates, &f, &q->cluster, e);
}

static int
draw_entities(struct asked *q, struct gv_error *e)
{
	static struct text t;
	size_t k, gpus = 0;
	struct gv_frame f = {0};

	t.n = 0;
	say(&t, "entity,weight%s\n", q->tree ? ",parent,quota_gpus" : "");
	for (k = 0; k < ENTITIES + 2; k++) {
		double weight = drawn_number(DRAWN_HALVES);
		size_t parent = below(4), quota = below(4);
		bool has = uniform() < .4;

		if (k < ENTITIES && uniform() < .1)
			continue;
		if (q->wrong && uniform() < .05)
			weight = 0;
		say(&t, "%s,%g",
		    k < ENTITIES             ? entity_name[k]
		    : k == ENTITIES          ? "all"
		    : q->wrong && quota == 0 ? "red"
					     : "most",
		    weight);
		if (q->tree) {
			say(&t, ",%s",
			    k < ENTITIES ? (parent == 0      ? ""
					       : parent == 1 ? "most"
							     : "all")
			    : q->wrong && parent == 0
				? (uniform() < .5 ? "red" : "nobody")
				: "");
			if (has)
				say(&t, ",%zu", k < ENTITIES ? quota : 2 + 3 * quota);
			else
				say(&t, ",");
		}
		say(&t, "\n");
	}
	if (parse(&f, "entities", &t, e) != 0 || gv_entities_from(&q->entity, &f, e) != 0)
		return -1;
	for (k = 0; k < q->cluster.n_types; k++)
		gpus += q->cluster.type[k].gpus;
	gv_entities_slips(&q->entity, &q->rates, e);
	recorded_whole(&r, gv_entities_fit(&q->entity, (double)gpus, e));
	return 0;
}

static int
draw_pairs(struct asked *q, struct gv_error *e)
{
	static struct text t;
	static const char *const other[] = {"lm", "resnet", "nobody", "j0", "j7"};
	size_t k, n = below(7);
	struct gv_frame f = {0};

	t.n = 0;
	say(&t, "job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b\n");
	for (k = 0; k < n; k++) {
		size_t a = below(5), b = below(5), scale = 1 + below(2),
		       type = below(q->types);
		double rate_a = drawn_number(DRAWN_PART),
		       rate_b = drawn_number(DRAWN_PART);

		if (uniform() < .05)
			rate_a = q->wrong ? -1 : 0;
		say(&t, "%s,%s,%zu,%s,%.17g,%.17g\n", other[a], other[b], scale,
		    type_name[type], rate_a, rate_b);
	}
	if (parse(&f, "pairs", &t, e) != 0)
		return -1;
	return gv_pairs_from(&q->together, &f, e);
}

/* ---- nodes ---- */

static int
record_nodes(struct asked *q, struct gv_error *e)
{
	const struct gv_cluster *c = &q->cluster;
	bool each = uniform() < .5;
	size_t i;
	int rc;

	q->now = c;
	recorded_whole(&r, gv_nodes_several(c));
	recorded_whole(&r, gv_nodes_tied(&q->rates, c));
	if (gv_nodes_several(c)) {
		double *share = gv_xcalloc(q->rates.n_jobs, c->n_types * sizeof(*share));
		double part = uniform();
		const char **node;

		for (i = 0; i < q->rates.n_jobs * c->n_types; i++)
			share[i] = uniform() < .3 ? 0 : part * uniform();
		node = gv_nodes_choose(&q->rates, c, share);
		for (i = 0; i < q->rates.n_jobs; i++)
			recorded_text(&r, node[i] == NULL ? "nowhere" : node[i]);
		free(node);
		free(share);
	}
	if (!gv_nodes_tied(&q->rates, c)) {
		gv_rates_spread(&q->rates, c);
		return 0;
	}
	gv_nodes_split(&q->split, c, each);
	for (i = 0; i < q->split.split.n_types; i++) {
		recorded_text(&r, q->split.split.type[i].name);
		recorded_whole(&r, (long long)q->split.split.type[i].gpus);
		recorded_whole(&r, (long long)q->split.split.type[i].elsewhere);
	}
	recorded_wholes(&r, q->split.type, q->split.nodes.n * c->n_types);
	rc = gv_nodes_tie(&q->rates, c, &q->split, e);
	for (i = 0; i < q->rates.n_rates; i++)
		recorded_whole(&r, q->rates.rate[i].type);
	q->now = &q->split.split;
	return rc;
}

/* ---- answers ---- */

/* What is counted the same by whatever solver, and what only sums without one are. */
static void
record_number(double v, bool exact)
{
	if (exact)
		recorded_double(&r, v);
	else {
		recorded_way(&r, v);
		recorded_rounded(&r, v, 6);
	}
}

/* Shares are those of a vertex: where GLPK is another one, of another. */
static void
record_share(double v, bool exact)
{
	if (exact)
		recorded_double(&r, v);
	else
		recorded_way(&r, v);
}

static void
record_levels(struct gv_entity_levels *l, bool exact)
{
	size_t k;

	recorded_whole(&r, (long long)l->names.n);
	for (k = 0; k < l->names.n; k++) {
		recorded_text(&r, l->names.key[k].s);
		record_number(l->level[k].value, exact);
		recorded_double(&r, l->level[k].quota);
		recorded_whole(&r, l->level[k].top);
		record_share(l->level[k].gpus, exact);
		record_share(l->level[k].done, exact);
	}
}

/* What --dump-lp writes. */
static void
record_program(const struct gv_answer *a, const struct gv_policy *policy)
{
	char name[GV_LP_NAME_LEN];
	struct gv_lp lp = {0};
	struct gv_lp_names names;
	size_t i;

	if (policy->program == NULL || (a->p.together != NULL && a->p.budget > 0))
		return;
	gv_answer_program(a, policy, &lp, &names);
	recorded_lp(&r, &lp);
	for (i = 0; i < lp.n_rows - (a->p.budget > 0); i++) {
		names.row(names.ctx, i, name);
		recorded_text(&r, name);
	}
	for (i = 0; i < lp.n_cols; i++) {
		names.col(names.ctx, i, name);
		recorded_text(&r, name);
	}
	free(names.ctx);
	gv_lp_free(&lp);
}

static void
record_answer(struct asked *q, struct gv_answer *a, const struct gv_policy *policy,
    const struct gv_answer_options *opt, bool exact)
{
	struct gv_entity_levels l = {0};
	struct gv_previous v = {0};
	double *need = gv_answer_needs(a);
	size_t i;

	recorded_problem(&r, &a->p);
	if (a->p.together != NULL)
		recorded_together(&r, a->p.together);
	recorded_wholes(&r, a->tree.parent, a->tree.n);
	recorded_doubles(&r, a->tree.weight, a->tree.n);
	recorded_doubles(&r, a->tree.quota, a->tree.n);
	recorded_wholes(&r, a->type, q->now->n_types);
	recorded_wholes(&r, a->row, q->rates.n_jobs);
	for (i = 0; i < q->rates.n_jobs; i++) {
		recorded_whole(&r, a->later[i]);
		recorded_whole(&r, gv_answer_hopeless(a, &q->rates, policy, i));
	}
	recorded_whole(&r, a->rank != NULL);
	if (a->rank != NULL)
		recorded_wholes(&r, a->rank, a->p.n);
	recorded_whole(&r, (long long)a->n_classes);
	recorded_whole(&r, a->impossible);
	recorded_whole(&r, gv_answer_has_needs(a));
	for (i = 0; i < a->p.n; i++)
		record_number(need[i], exact);
	free(need);
	if (a->impossible || a->p.n == 0)
		return;
	record_program(a, policy);
	record_number(a->s.objective, exact);
	record_number(a->s.bound, exact);
	recorded_whole(&r, a->s.has_bound);
	recorded_way(&r, a->s.gap);
	recorded_way(&r, a->s.second_missed);
	recorded_whole(&r, (long long)a->s.n_made);
	recorded_whole(&r, a->stayed.asked);
	recorded_whole(&r, a->stayed.failed);
	recorded_whole(&r, a->stayed.idle);
	record_number(a->stayed.moved, exact);
	record_number(a->stayed.best, exact);
	for (i = 0; i < q->rates.n_rates; i++)
		record_share(gv_answer_share(a, &q->rates.rate[i]), exact);
	for (i = 0; i < a->s.n_pairs; i++)
		record_share(a->s.pair[i].x, exact);
	if (opt->entities != NULL) {
		gv_entity_levels_make(&l, a, &q->rates, opt->entities);
		record_levels(&l, exact);
		gv_entity_levels_free(&l);
	}
	gv_previous_from(&v, &q->rates, q->now);
	recorded_whole(&r, (long long)v.names.n);
	recorded_doubles(&r, v.share, v.names.n * v.m);
	gv_stay_remember(&v, a, &q->rates);
	recorded_whole(&r, (long long)v.names.n);
	for (i = 0; i < v.names.n * v.m; i++)
		record_share(v.share[i], exact);
	gv_previous_free(&v);
}

/* Last shares: of most jobs what they could have, of one that is gone, too. */
static void
draw_previous(struct gv_previous *v, const struct asked *q)
{
	const struct gv_cell gone = {.s = "gone", .len = 4};
	size_t i;

	gv_previous_clear(v, q->now->n_types);
	gv_previous_add(v, gone, 0, .5);
	for (i = 0; i < q->rates.n_rates; i++) {
		const struct gv_rate *t = &q->rates.rate[i];
		double share = uniform() * .5;

		if (t->type >= 0 && uniform() < .7)
			gv_previous_add(
			    v, q->rates.job[t->job].id, (size_t)t->type, share);
	}
}

static void
ask_policy(struct asked *q, const char *name, struct gv_error *e)
{
	struct gv_answer_options opt = {.seed = below(100)};
	struct gv_previous v = {0};
	struct gv_answer a;
	bool inside = false, exact;
	const struct gv_policy *policy = gv_policy_named(name, &opt, &inside);
	int rc;

	exact = policy == &gv_policy_isolated || policy == &gv_policy_proportional;
	opt.entities = q->entities ? &q->entity : NULL;
	opt.pairs = q->pairs ? &q->together : NULL;
	if (uniform() < .2)
		opt.budget = 1 + 9 * uniform();
	if (uniform() < .3)
		opt.multipliers = true;
	if (uniform() < .2)
		opt.policy.solve.certify = true;
	if (uniform() < .2)
		opt.policy.relax_slo = true;
	opt.pop_bound = uniform() < .6;
	if (!q->pairs && uniform() < .2) {
		draw_previous(&v, q);
		opt.previous = &v;
		opt.stay = uniform() < .5 ? .02 : .1 * uniform();
		exact = false;
	}
	exact = exact && opt.budget == 0 && opt.pop < 2;
	recorded_whole(&r, gv_pop_possible(policy));
	rc = gv_answer_make(&a, &q->rates, q->now, policy, &opt, e);
	recorded_whole(&r, rc);
	if (rc == 0)
		record_answer(q, &a, policy, &opt, exact);
	if (rc == 0 && !a.impossible && uniform() < .2 && opt.pop < 2) {
		struct gv_one_more *more = gv_xcalloc(q->now->n_types, sizeof(*more));
		struct gv_entity_levels l = {0};
		size_t j;

		if (opt.entities != NULL)
			gv_entity_levels_make(&l, &a, &q->rates, opt.entities);
		rc = gv_one_more_make(
		    more, &l, &a, &q->rates, q->now, policy, &opt, NULL, e);
		for (j = 0; rc == 0 && j < q->now->n_types; j++) {
			record_number(more[j].change, false);
			recorded_whole(&r, (long long)more[j].unlocked);
		}
		for (j = 0; rc == 0 && j < l.names.n; j++) {
			record_number(l.level[j].one_more_gpu, false);
			record_number(l.level[j].one_more_quota, false);
		}
		gv_entity_levels_free(&l);
		free(more);
	}
	record_error(e);
	gv_answer_free(&a);
	gv_previous_free(&v);
}

static void
ask(const char *name)
{
	struct asked q = {.types = 1 + below(MOST_TYPES), .jobs = drawn_size(10)};
	struct gv_error e = {0};
	int rc;

	q.nodes = uniform() < .4;
	q.all_tied = uniform() < .7;
	q.wrong = uniform() < .2;
	q.pairs = uniform() < .3;
	q.entities = uniform() < .5;
	q.tree = uniform() < .5;
	rc = draw_cluster(&q, &e);
	if (rc == 0)
		rc = draw_rates(&q, &e);
	if (rc == 0) {
		if (q.entities)
			rc = draw_entities(&q, &e);
		if (rc == 0 && q.pairs)
			rc = draw_pairs(&q, &e);
		gv_rates_slips(&q.rates, &q.cluster, &e);
		if (record_nodes(&q, &e) != 0)
			rc = -1;
	}
	recorded_whole(&r, rc);
	recorded_whole(&r, (long long)e.count);
	if (rc == 0)
		ask_policy(&q, name, &e);
	record_error(&e);
	gv_entities_free(&q.entity);
	gv_pairs_free(&q.together);
	gv_nodes_free(&q.split);
	gv_rates_free(&q.rates);
	gv_cluster_free(&q.cluster);
}

int
main(void)
{
	char names[400];
	static const char *const name[] = {"isolated", "proportional", "max-min",
	    "isolated+agnostic", "proportional+none", "max-min+fifo", "makespan",
	    "finish-time", "max-sum", "min-cost+per-dollar", "fifo", "fifo-greedy", "sjf",
	    "allox", "gandiva", "max-min+pop2", "max-sum+agnostic+pop3",
	    "max-min+placeable", "isolated+pop2", "water-filling", "makespan+pop2",
	    "min-cost+per-dollar+pop2", "min-cost+pop3", "finish-time+pop2",
	    "water-filling+fifo", "max-min+pop4", "max-sum+placeable"};
	size_t k, i, n;

	recorded_open(&r);
	recorded_glpk(&r, glp_version());
	gv_policy_names(names, sizeof names);
	recorded_text(&r, names);
	gv_policy_names(names, 40);
	recorded_text(&r, names);
	for (k = 0; k < sizeof(name) / sizeof(name[0]); k++)
		for (n = 0; n < (k < 2 ? 40 : 8); n++) {
			draws_begin(1, (uint32_t)k, (uint32_t)n);
			for (i = 0; i < 20; i++)
				ask(name[k]);
			recorded_answer(&r, "%s, %zu", name[k], n);
		}
	recorded_close(&r);
	return done_testing();
}
