/*
 * gv-alloc - who gets which GPUs for what share of time.
 *
 * Reads rates (a job on a GPU type, and how fast it runs there), or jobs to be
 * joined with throughputs; asks a policy; writes the same rows with the columns
 * share and policy.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "answer.h"
#include "entities.h"
#include "policy.h"
#include "prices.h"
#include "sched/cluster.h"
#include "sched/rates.h"

enum {
	OPT_SOLVER = GV_OPT_OWN,
	OPT_CERTIFY,
	OPT_DUMP_LP,
	OPT_AGNOSTIC,
	OPT_PER_DOLLAR,
	OPT_RELAX_SLO,
	OPT_PRICES,
	OPT_AT,
	OPT_INSIDE,
	OPT_ENTITIES,
	NAMED = 10
};

static const double proved = 1e-9; /* relative gap */

static const char usage[] =
    "usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]";

static const char help[] =
    "usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]\n"
    "Decide which job gets which GPUs for what share of time.\n"
    "\n"
    "  -p, --policy=POLICY      what to aim for, one of\n"
    "      max-min water-filling isolated proportional makespan finish-time max-sum\n"
    "      min-cost min-cost+per-dollar fifo fifo-greedy sjf strategy-proof allox\n"
    "      --prices=FILE --at=S prices at a time: gpu_type, usd_per_h, time_s, source\n"
    "      --agnostic           as if a job were equally fast wherever it can run\n"
    "      --per-dollar         min-cost by the sum of the published program\n"
    "      --relax-slo          longer deadlines where they cannot be met\n"
    "  -c, --cluster=CLUSTER    table of GPUs: gpu_type, gpus\n"
    "  -t, --throughputs=FILE   the input is jobs without rates; they are here\n"
    "      --inside=HOW         water-filling inside an entity: fairness, fifo, none\n"
    "      --entities=FILE      weights of entities: entity, weight\n"
    "      --solver=SOLVER      auto; price: prices of types; glpk: job by job\n"
    "      --certify            prove the answer in rational arithmetic, or exit 1\n"
    "      --dump-lp=FILE       write the linear program, for glpsol and others\n"
    "      --tsv                write TSV\n"
    "  -o, --output=FILE        write here, whole or not at all\n"
    "  -q, --quiet              do not name jobs that are left out or can never run\n"
    "  -v, --verbose            objective, bound and gap on stderr\n"
    "  -h, --help; -V, --version  show this; the version\n"
    "\n"
    "RATES has job_id, gpu_type, steps_per_s; it comes out with share and policy.\n";

struct options {
	struct gv_opt common;
	const struct policy *policy;
	const char *cluster;
	const char *throughputs; /* NULL: the input has rates */
	const char *dump_lp;     /* NULL: none */
	enum solver solver;
	bool certify;
	enum inside inside;
	bool has_inside;
	const char *entities;   /* table of weights; NULL: all 1 */
	struct entities weights; /* that table */
	bool agnostic;
	bool per_dollar;
	bool relax_slo;
	const char *prices; /* table of offers; NULL: the cluster's */
	double at_s;        /* the time they are looked up at */
	char name[64]; /* the policy with its options, as -p takes it */
};

static bool
is_stdio(const char *path)
{
	return path != NULL && strcmp(path, "-") == 0;
}

/* Cuts an end off a name, if it is there. */
static bool
cut_end(char *name, const char *end)
{
	size_t len = strlen(name), cut = strlen(end);

	if (len < cut || strcmp(name + len - cut, end) != 0)
		return false;
	name[len - cut] = '\0';
	return true;
}

static void
set_policy(struct options *o, const char *arg)
{
	char known[512] = "";
	char q[GV_QUOTE_LEN];
	char *name = gv_xstrdup(arg);
	size_t i, len = 0;

	o->relax_slo = cut_end(name, "+relax-slo") || o->relax_slo;
	o->agnostic = cut_end(name, "+agnostic") || o->agnostic;
	o->policy = policy_find(name);
	free(name);
	if (o->policy != NULL)
		return;
	for (i = 0; policies[i] != NULL && len < sizeof(known); i++)
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
		    i > 0 ? ", " : "", policies[i]->name);
	gv_opt_usage(&o->common, "unknown policy %s; known: %s",
	    gv_quote(q, arg, strlen(arg)), known);
}

/* Options of policies, and the name that says it all. */
static void
finish_policy(struct options *o)
{
	if (o->per_dollar && o->policy == &policy_min_cost)
		o->policy = &policy_per_dollar;
	if (o->per_dollar && o->policy != &policy_per_dollar)
		gv_opt_usage(&o->common, "--per-dollar is an option of policy min-cost");
	if (o->relax_slo && !(o->policy->numbers >> NUMBER_NEED & 1))
		gv_opt_usage(&o->common, "--relax-slo: policy %s has no deadlines",
		    o->policy->name);
	snprintf(o->name, sizeof(o->name), "%s%s%s", o->policy->name,
	    o->agnostic ? "+agnostic" : "", o->relax_slo ? "+relax-slo" : "");
}

static void
set_solver(struct options *o, const char *name)
{
	static const char *const names[] = {"auto", "glpk", "price"};
	char q[GV_QUOTE_LEN];
	size_t i;

	for (i = 0; i < 3; i++)
		if (strcmp(name, names[i]) == 0) {
			o->solver = (enum solver)i;
			return;
		}
	gv_opt_usage(&o->common, "unknown solver %s; known: auto, glpk, price",
	    gv_quote(q, name, strlen(name)));
}

static void
set_inside(struct options *o, const char *name)
{
	static const char *const names[] = {"fairness", "fifo", "none"};
	char q[GV_QUOTE_LEN];
	size_t i;

	for (i = 0; i < 3; i++)
		if (strcmp(name, names[i]) == 0) {
			o->inside = (enum inside)i;
			o->has_inside = true;
			return;
		}
	gv_opt_usage(&o->common, "--inside: expected fairness, fifo or none, got %s",
	    gv_quote(q, name, strlen(name)));
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	static const struct option longopts[] = {GV_OPT_COMMON, GV_OPT_TABLE,
	    {"policy", required_argument, NULL, 'p'},
	    {"cluster", required_argument, NULL, 'c'},
	    {"throughputs", required_argument, NULL, 't'},
	    {"solver", required_argument, NULL, OPT_SOLVER},
	    {"certify", no_argument, NULL, OPT_CERTIFY},
	    {"inside", required_argument, NULL, OPT_INSIDE},
	    {"entities", required_argument, NULL, OPT_ENTITIES},
	    {"dump-lp", required_argument, NULL, OPT_DUMP_LP},
	    {"agnostic", no_argument, NULL, OPT_AGNOSTIC},
	    {"per-dollar", no_argument, NULL, OPT_PER_DOLLAR},
	    {"relax-slo", no_argument, NULL, OPT_RELAX_SLO},
	    {"prices", required_argument, NULL, OPT_PRICES},
	    {"at", required_argument, NULL, OPT_AT}, {NULL, 0, NULL, 0}};
	int code;

	while ((code = getopt_long(argc, argv,
		    GV_OPT_SHORT GV_OPT_TABLE_SHORT "p:c:t:", longopts, NULL)) != -1) {
		switch (code) {
		case 'p':
			set_policy(o, optarg);
			break;
		case 'c':
			o->cluster = optarg;
			break;
		case 't':
			o->throughputs = optarg;
			break;
		case OPT_SOLVER:
			set_solver(o, optarg);
			break;
		case OPT_CERTIFY:
			o->certify = true;
			break;
		case OPT_INSIDE:
			set_inside(o, optarg);
			break;
		case OPT_ENTITIES:
			o->entities = optarg;
			break;
		case OPT_DUMP_LP:
			o->dump_lp = optarg;
			break;
		case OPT_AGNOSTIC:
			o->agnostic = true;
			break;
		case OPT_PER_DOLLAR:
			o->per_dollar = true;
			break;
		case OPT_PRICES:
			o->prices = optarg;
			break;
		case OPT_AT:
			o->at_s = gv_opt_double(
			    &o->common, "--at", optarg, -INFINITY, INFINITY);
			break;
		case OPT_RELAX_SLO:
			o->relax_slo = true;
			break;
		default:
			gv_opt_common(&o->common, code, argc, argv);
		}
	}
	if (o->policy == NULL)
		gv_opt_usage(&o->common, "a policy is needed: -p POLICY");
	finish_policy(o);
	if (o->cluster == NULL)
		gv_opt_usage(&o->common, "a cluster is needed: -c CLUSTER");
	if ((o->has_inside || o->entities != NULL) && !o->policy->entities)
		gv_opt_usage(&o->common, "%s: policy %s does not look at entities",
		    o->has_inside ? "--inside" : "--entities", o->policy->name);
	if (o->dump_lp != NULL && o->policy->program == NULL)
		gv_opt_usage(&o->common, "--dump-lp: policy %s is not a linear program",
		    o->policy->name);
	if (is_stdio(o->dump_lp) &&
	    (o->common.output == NULL || is_stdio(o->common.output)))
		gv_opt_usage(
		    &o->common, "--dump-lp=-: standard output has the allocation");
}

/* At most one input may be standard input. */
static void
check_inputs(const struct options *o, const char *input)
{
	const char *const path[] = {input, o->cluster, o->throughputs, o->entities, o->prices};
	size_t i, n = 0;

	for (i = 0; i < 5; i++)
		n += is_stdio(path[i]);
	if (n > 1)
		gv_opt_usage(&o->common, "only one input can be standard input");
}

/* ---- what is said about jobs ---- */

static void
name_missing(
    const struct gv_rates *jobs, const size_t *missing, size_t n, const char *file)
{
	size_t i;

	for (i = 0; i < n && i < NAMED; i++) {
		const struct gv_job *j = &jobs->job[missing[i]];
		char q[2][GV_QUOTE_LEN];

		gv_warn("%s:%ld: job %s is left out: %s has no throughput of %s with "
			"scale_factor %lld",
		    jobs->frame.file, jobs->frame.line[j->row],
		    gv_quote(q[0], j->id.s, j->id.len), file,
		    gv_quote(q[1], j->job_type.s, j->job_type.len),
		    (long long)j->scale_factor);
	}
	if (n > NAMED)
		gv_warn("%zu more jobs are left out", n - NAMED);
}

/* The largest pool on which each job has a rate above 0. */
static size_t *
largest_pools(const struct gv_rates *r, const struct gv_cluster *c)
{
	size_t *largest = gv_xcalloc(r->n_jobs, sizeof(*largest));
	size_t i;

	for (i = 0; i < r->n_rates; i++) {
		const struct gv_rate *rate = &r->rate[i];

		if (rate->type >= 0 && rate->steps_per_s > 0 &&
		    c->type[rate->type].gpus > largest[rate->job])
			largest[rate->job] = c->type[rate->type].gpus;
	}
	return largest;
}

static void
name_never_running(
    const struct gv_rates *r, const struct gv_cluster *c, const struct answer *a)
{
	size_t *largest = largest_pools(r, c);
	size_t i, n = 0;

	for (i = 0; i < r->n_jobs; i++) {
		const struct gv_job *j = &r->job[i];
		char q[GV_QUOTE_LEN];

		if (a->row[i] != SIZE_MAX || n++ >= NAMED)
			continue;
		gv_quote(q, j->id.s, j->id.len);
		if (largest[i] == 0)
			gv_warn("%s:%ld: job %s can never run: no rate above 0 on a GPU "
				"of the cluster",
			    r->frame.file, r->frame.line[j->row], q);
		else
			gv_warn("%s:%ld: job %s can never run: it needs %lld GPUs of one "
				"type, "
				"the largest pool it has a rate on has %zu",
			    r->frame.file, r->frame.line[j->row], q,
			    (long long)j->scale_factor, largest[i]);
	}
	if (n > NAMED)
		gv_warn("%zu more jobs can never run", n - NAMED);
	free(largest);
}

/* The fastest rate of a job on a type of the cluster. */
static double
fastest(const struct answer *a, size_t row)
{
	double most = 0;
	size_t j;

	for (j = 0; j < a->p.m; j++)
		most = fmax(most, problem_rate(&a->p, row, j));
	return most;
}

static void
name_late(const struct gv_rates *r, const struct gv_job *j, double need, double most)
{
	char q[GV_QUOTE_LEN];
	char num[2][GV_NUM_LEN];

	gv_quote(q, j->id.s, j->id.len);
	gv_format_double(num[0], need);
	gv_format_double(num[1], most);
	if (isinf(need))
		gv_warn("%s:%ld: job %s cannot be done by its deadline: it is over",
		    r->frame.file, r->frame.line[j->row], q);
	else if (need > most)
		gv_warn("%s:%ld: job %s cannot be done by its deadline: it needs %s "
			"steps/s, its fastest GPU type gives %s",
		    r->frame.file, r->frame.line[j->row], q,
		    num[0], num[1]);
	else
		gv_warn("%s:%ld: job %s cannot be done by its deadline: others need the "
			"GPUs, too",
		    r->frame.file, r->frame.line[j->row], q);
}

/* Whose deadlines cannot be met, and what would help. */
static void
name_all_late(const struct options *o, const struct gv_rates *r, const struct answer *a)
{
	const double *need = a->p.number[NUMBER_NEED];
	char num[GV_NUM_LEN];
	size_t i, n = 0;

	for (i = 0; i < r->n_jobs; i++) {
		size_t row = a->row[i];

		if (row == SIZE_MAX || a->s.late == NULL || !a->s.late[row] ||
		    n++ >= NAMED)
			continue;
		name_late(r, &r->job[i], need[row], fastest(a, row));
	}
	if (n > NAMED)
		gv_warn("%zu more jobs cannot be done by their deadlines", n - NAMED);
	if (!(a->s.relaxation > 1))
		return;
	snprintf(num, sizeof(num), "%.6g", a->s.relaxation);
	if (o->relax_slo)
		gv_warn("deadlines have %s times the time that is left", num);
	else
		gv_warn("with %s times the time that is left the deadlines could be met "
			"(--relax-slo)",
		    num);
}

static void
say_objective(const struct options *o, const struct gv_rates *r, const struct answer *a)
{
	const struct solution *s = &a->s;
	char num[3][GV_NUM_LEN];
	char more[4 * GV_NUM_LEN + 64] = "";

	gv_format_double(num[0], s->objective);
	gv_format_double(num[1], s->bound);
	snprintf(num[2], sizeof(num[2]), "%.2g", s->gap);
	if (a->p.n > 0 && s->has_bound)
		snprintf(more, sizeof(more), " objective=%s bound=%s gap=%s%s", num[0],
		    num[1], num[2], s->exact ? " certified=yes" : "");
	else if (a->p.n > 0)
		snprintf(more, sizeof(more), " objective=%s", num[0]);
	gv_warn("policy=%s jobs=%zu classes=%zu types=%zu%s", o->name, r->n_jobs,
	    a->n_classes, a->p.m, more);
}

/* ---- a table ---- */

/* The rates of the present table, joined with the throughputs if there are any. */
static int
read_rates(struct gv_rates *r, struct gv_tab *t, const struct options *o,
    const struct gv_cluster *cluster, const struct gv_frame *throughputs,
    struct gv_error *e)
{
	struct gv_frame frame = {0};
	struct gv_rates jobs = {0};
	size_t *missing;
	size_t n_missing = 0;
	int rc;

	if (gv_frame_read(&frame, t, e) != 0)
		return -1;
	if (o->throughputs == NULL)
		return gv_rates_from(r, &frame, cluster, e);
	if (gv_jobs_from(&jobs, &frame, e) != 0)
		return -1;
	missing = gv_xcalloc(jobs.n_jobs, sizeof(*missing));
	rc = gv_rates_join(&frame, &jobs, throughputs, missing, &n_missing, e);
	if (rc == 0 && !o->common.quiet)
		name_missing(&jobs, missing, n_missing, throughputs->file);
	free(missing);
	gv_rates_free(&jobs);
	return rc == 0 ? gv_rates_from(r, &frame, cluster, e) : -1;
}

static int
dump_lp(const struct options *o, const struct gv_rates *r, const struct gv_cluster *c,
    const struct answer *a, struct gv_error *e)
{
	struct gv_out *out;

	if (gv_out_open(&out, o->dump_lp, e) != 0)
		return -1;
	answer_write_lp(a, r, c, o->policy, out);
	return out == gv_stdout() ? 0 : gv_out_close(out, e);
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
check_proof(const struct options *o, const struct answer *a)
{
	double enough = o->policy->proved > 0 ? o->policy->proved : proved;

	if (a->p.n == 0 || !a->s.has_bound)
		return;
	if (a->s.gap <= enough && (a->s.exact || !o->certify))
		return;
	if (a->s.gap <= enough)
		gv_warn("not proved in rational arithmetic");
	else
		gv_warn("not proved: the best objective may be larger by %.2g of itself",
		    a->s.gap);
	if (o->certify)
		answer_no();
}

static int
answer_table(const struct options *o, struct gv_tab *t, const struct gv_cluster *cluster,
    const struct gv_frame *throughputs, struct gv_tabw *w, struct gv_error *e)
{
	struct solve_options solve = {.solver = o->solver,
	    .certify = o->certify,
	    .inside = o->inside,
	    .entities = &o->weights,
	    .agnostic = o->agnostic,
	    .relax_slo = o->relax_slo};
	struct gv_rates r = {0};
	struct answer a = {0};
	int rc = -1;

	if (read_rates(&r, t, o, cluster, throughputs, e) == 0 &&
	    answer_make(
		&a, &r, cluster, o->policy, &solve, o->solver != SOLVER_GLPK, e) == 0) {
		if (!o->common.quiet)
			name_never_running(&r, cluster, &a);
		if (a.impossible || !o->common.quiet)
			name_all_late(o, &r, &a);
		if (a.impossible)
			answer_no();
		rc = o->dump_lp != NULL ? dump_lp(o, &r, cluster, &a, e) : 0;
		check_proof(o, &a);
		if (o->common.verbose > 0)
			say_objective(o, &r, &a);
		answer_write(&a, &r, o->name, w);
		if (gv_tab_paused(t))
			gv_tabw_between(w);
	}
	answer_free(&a);
	gv_rates_free(&r);
	return rc;
}

int
main(int argc, char **argv)
{
	struct options o = {.common = {.usage = usage, .help = help}, .at_s = INFINITY};
	struct gv_error e = {0};
	struct gv_cluster cluster = {0};
	struct gv_frame throughputs = {0};
	struct gv_tab *t = NULL;
	struct gv_out *out = NULL;
	struct gv_tabw w;
	const char *input;
	int more = 0;

	gv_init("gv-alloc");
	parse_options(&o, argc, argv);
	input = gv_opt_input(&o.common, argc, argv);
	check_inputs(&o, input);
	if (gv_cluster_read(&cluster, o.cluster, &e) != 0 ||
	    (o.prices != NULL && prices_read(&cluster, o.prices, o.at_s, &e) != 0) ||
	    (o.throughputs != NULL &&
		gv_frame_load(&throughputs, o.throughputs, &e) != 0) ||
	    (o.entities != NULL && entities_read(&o.weights, o.entities, &e) != 0) ||
	    gv_tab_open(&t, input, &e) != 0 ||
	    gv_out_open(&out, o.common.output, &e) != 0)
		gv_die_error(&e);
	gv_tabw_init(&w, out, o.common.tsv);
	while ((more = gv_tab_table(t, &e)) == 1)
		if (answer_table(&o, t, &cluster, &throughputs, &w, &e) != 0)
			gv_die_error(&e);
	if (more == -1 || (out != gv_stdout() && gv_out_close(out, &e) != 0))
		gv_die_error(&e);
	gv_tab_close(t);
	gv_frame_free(&throughputs);
	entities_free(&o.weights);
	gv_cluster_free(&cluster);
	return gv_finish();
}
