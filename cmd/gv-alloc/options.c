#include "options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "alloc/answer/named.h"
#include "alloc/answer/pop.h"

static const char usage[] =
    "usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]";

static const char help[] =
    "usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]\n"
    "Decide which job gets which GPUs for what share of time.\n"
    "\n"
    "  -p, --policy=POLICY      max-min, water-filling, isolated, proportional,\n"
    "      makespan, finish-time, max-sum, min-cost, min-cost+per-dollar, fifo,\n"
    "      fifo-greedy, sjf, strategy-proof, allox or gandiva\n"
    "  -c, --cluster=FILE       GPUs: gpu_type, gpus\n"
    "  -t, --throughputs=FILE   rates by job_type, for jobs without any\n"
    "  --prices=FILE --at=TIME  then current; --budget=USD_PER_H, at most\n"
    "  --entities=FILE          weights, quotas; --inside=fairness|fifo|none\n"
    "  --space-sharing=FILE     rates of two jobs that share GPUs\n"
    "  --relax-slo              relax deadlines and minimums that cannot be met\n"
    "  --placeable, --agnostic  only what rounds can give; no rate differs by type\n"
    "  --nodes                  a node for each job; --alpha=A, allox: of who waits\n"
    "  --pop=K, --per-dollar    solve in K parts; min-cost as published; --seed=N\n"
    "  --solver=auto|glpk|interior|price  one linear program, or prices\n"
    "  --certify                prove the answer in rational arithmetic, or exit 1\n"
    "  --explain=FILE           what binds, prices; --dump-lp=FILE, the program\n"
    "  --previous=FILE          stay close to it; --stay=PART, giving up that\n"
    "  --warm=FILE              keep prices there; the next answer comes sooner\n"
    "  --stream, --changes      tables follow each other, or what changes; --tsv\n"
    "  -o, --output=FILE        write here, complete or not at all\n"
    "  -q, --quiet; -v, --verbose  no warnings; objective, bound and gap on stderr\n"
    "  -h, --help; -V, --version   show this; the version\n";

static bool
is_stdio(const char *path)
{
	return path != NULL && strcmp(path, "-") == 0;
}

static void
set_policy(void *ctx, const char *arg)
{
	struct options *o = ctx;
	char known[512];
	char q[GV_QUOTE_LEN];

	o->policy = gv_policy_named(arg, &o->answer, &o->has_inside);
	if (o->policy != NULL)
		return;
	gv_policy_names(known, sizeof(known));
	gv_opt_usage(&o->common, "unknown policy %s; known: %s",
	    gv_quote(q, arg, strlen(arg)), known);
}

static void
set_solver(void *ctx, const char *arg)
{
	static const char *const names[] = {"auto", "glpk", "price", "interior"};
	struct options *o = ctx;

	o->answer.policy.solve.solver =
	    (enum gv_solver)gv_opt_one_of(&o->common, "--solver", arg, names, 4);
}

static void
set_inside(void *ctx, const char *arg)
{
	static const char *const names[] = {"fairness", "fifo", "none"};
	struct options *o = ctx;

	o->answer.policy.inside =
	    (enum gv_inside)gv_opt_one_of(&o->common, "--inside", arg, names, 3);
	o->has_inside = true;
}

static void
set_pop(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->answer.pop = (size_t)gv_opt_int(&o->common, "--pop", arg, 1, GV_MOST_PARTS);
}

static void
set_budget(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->answer.budget = gv_opt_double(&o->common, "--budget", arg, 0, 1e15);
	if (o->answer.budget == 0)
		gv_opt_usage(&o->common, "--budget: expected a number above 0");
}

static void
set_stay(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->answer.stay = gv_opt_double(&o->common, "--stay", arg, 0, 1);
	o->has_stay = true;
	if (o->answer.stay == 1)
		gv_opt_usage(&o->common, "--stay: expected a number below 1");
}

static void
set_at(void *ctx, const char *arg)
{
	struct options *o = ctx;

	char q[GV_QUOTE_LEN];

	if (gv_parse_time(arg, &o->at_s) != 0)
		gv_opt_usage(&o->common,
		    "--at: expected seconds or a date such as 2026-11-22T09:30, got %s",
		    gv_quote(q, arg, strlen(arg)));
}

static void
set_seed(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->answer.seed = (uint64_t)gv_opt_int(&o->common, "--seed", arg, 0, INT64_MAX);
	o->has_seed = true;
}

static void
set_alpha(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->answer.policy.alpha = gv_opt_double(&o->common, "--alpha", arg, 0, 1);
	if (o->answer.policy.alpha == 0)
		gv_opt_usage(&o->common, "--alpha: expected a number above 0");
}

static void
parse(struct options *o, int argc, char **argv)
{
	const struct gv_opt_own own[] = {
	    {"policy", required_argument, 'p', .set = set_policy},
	    {"cluster", required_argument, 'c', .text = &o->cluster},
	    {"throughputs", required_argument, 't', .text = &o->throughputs},
	    {"seed", required_argument, .set = set_seed},
	    {"alpha", required_argument, .set = set_alpha},
	    {"space-sharing", required_argument, .text = &o->sharing},
	    {"agnostic", no_argument, .flag = &o->answer.agnostic},
	    {"per-dollar", no_argument, .flag = &o->per_dollar},
	    {"relax-slo", no_argument, .flag = &o->answer.policy.relax_slo},
	    {"nodes", no_argument, .flag = &o->nodes},
	    {"placeable", no_argument, .flag = &o->answer.policy.solve.placeable},
	    {"inside", required_argument, .set = set_inside},
	    {"entities", required_argument, .text = &o->entities},
	    {"prices", required_argument, .text = &o->prices},
	    {"at", required_argument, .set = set_at},
	    {"previous", required_argument, .text = &o->previous},
	    {"stay", required_argument, .set = set_stay},
	    {"budget", required_argument, .set = set_budget},
	    {"pop", required_argument, .set = set_pop},
	    {"solver", required_argument, .set = set_solver},
	    {"certify", no_argument, .flag = &o->answer.policy.solve.certify},
	    {"dump-lp", required_argument, .text = &o->dump_lp},
	    {"explain", required_argument, .text = &o->explain},
	    {"stream", no_argument, .flag = &o->stream},
	    {"changes", no_argument, .flag = &o->changes},
	    {"warm", required_argument, .text = &o->warm}, {.name = NULL}};

	gv_opt_parse(&o->common, true, own, o, argc, argv);
}

/* Which policies have it, and what it does not go with. */
static void
check_constraints(const struct options *o)
{
	const char *other = o->sharing != NULL               ? "--space-sharing"
			    : o->answer.policy.solve.certify ? "--certify"
			    : o->dump_lp != NULL             ? "--dump-lp"
							     : NULL;

	if (o->answer.budget > 0 && !o->policy->multipliers)
		gv_opt_usage(
		    &o->common, "--budget: policy %s does not have it", o->policy->name);
	if (o->answer.budget > 0 && o->sharing != NULL)
		gv_opt_usage(
		    &o->common, "--budget does not go together with --space-sharing");
	if (!o->answer.policy.solve.placeable)
		return;
	if (!o->policy->multipliers)
		gv_opt_usage(&o->common, "--placeable: policy %s does not have it",
		    o->policy->name);
	if (other != NULL)
		gv_opt_usage(
		    &o->common, "--placeable does not go together with %s", other);
}

/* Which policies can stay close to the last answer, and what that does not go with. */
static void
check_stay(const struct options *o)
{
	const char *option = o->has_stay ? "--stay" : "--previous";
	const struct gv_solver_options *solve = &o->answer.policy.solve;
	bool gives_up = o->answer.stay > 0;
	const char *other = o->sharing != NULL  ? "--space-sharing"
			    : solve->placeable  ? "--placeable"
			    : o->answer.pop > 1 ? "--pop"
			    : solve->certify && (gives_up || !o->policy->multipliers)
				? "--certify"
			    : o->explain != NULL && gives_up ? "--explain"
							     : NULL;

	if (!o->has_stay && o->previous == NULL)
		return;
	if (o->policy->measure == GV_MEASURE_NONE)
		gv_opt_usage(&o->common, "%s: policy %s does not have it", option,
		    o->policy->name);
	if (other != NULL)
		gv_opt_usage(
		    &o->common, "%s does not go together with %s", option, other);
}

/* Which policies have --pop, and what it does not go with. */
static void
check_pop(const struct options *o)
{
	const char *other = o->answer.policy.solve.certify     ? "--certify"
			    : o->explain != NULL               ? "--explain"
			    : o->dump_lp != NULL               ? "--dump-lp"
			    : o->answer.policy.solve.placeable ? "--placeable"
			    : o->answer.budget > 0             ? "--budget"
							       : NULL;

	if (o->answer.pop <= 1)
		return;
	if (!gv_pop_possible(o->policy))
		gv_opt_usage(
		    &o->common, "--pop: policy %s does not have it", o->policy->name);
	if (other != NULL)
		gv_opt_usage(&o->common, "--pop does not go together with %s", other);
}

/* What needs GPUs that are not told apart by nodes. */
static void
check_nodes(const struct options *o)
{
	const char *other = o->sharing != NULL                   ? "--space-sharing"
			    : o->previous != NULL || o->has_stay ? "--previous"
			    : o->warm != NULL                    ? "--warm"
								 : NULL;

	if (o->nodes && other != NULL)
		gv_opt_usage(&o->common, "--nodes does not go together with %s", other);
}

/* Options of policies, and the name that says it all. */
static void
finish_policy(struct options *o)
{
	if (o->policy == NULL)
		gv_opt_usage(&o->common, "a policy is needed: -p POLICY");
	if (o->per_dollar && o->policy == &gv_policy_min_cost)
		o->policy = &gv_policy_per_dollar;
	if (o->per_dollar && o->policy != &gv_policy_per_dollar)
		gv_opt_usage(&o->common, "--per-dollar is an option of policy min-cost");
	if (o->answer.policy.relax_slo && !(o->policy->numbers & GV_NEEDS))
		gv_opt_usage(&o->common, "--relax-slo: policy %s has no deadlines",
		    o->policy->name);
	if ((o->has_inside || o->entities != NULL) && !o->policy->entities)
		gv_opt_usage(&o->common, "%s: policy %s does not look at entities",
		    o->has_inside ? "--inside" : "--entities", o->policy->name);
	if (o->answer.policy.alpha > 0 && o->policy != &gv_policy_allox)
		gv_opt_usage(&o->common, "--alpha is an option of policy allox");
	if (o->has_seed && o->answer.pop <= 1 &&
	    !(o->policy->numbers >> GV_NUMBER_DRAW & 1))
		gv_opt_usage(
		    &o->common, "--seed: policy %s draws nothing", o->policy->name);
	if (o->sharing != NULL && !o->policy->shares)
		gv_opt_usage(&o->common,
		    "--space-sharing: policy %s gives no GPU to two jobs",
		    o->policy->name);
	if (o->dump_lp != NULL && o->policy->program == NULL)
		gv_opt_usage(&o->common, "--dump-lp: policy %s is not a linear program",
		    o->policy->name);
	if (o->at_s < INFINITY && o->prices == NULL)
		gv_opt_usage(&o->common, "--at is the time of --prices");
	if (is_stdio(o->warm))
		gv_opt_usage(&o->common, "--warm=-: a file is needed");
	if (o->explain != NULL && o->policy->measure == GV_MEASURE_NONE)
		gv_opt_usage(&o->common,
		    "--explain: policy %s aims for nothing that has prices",
		    o->policy->name);
	check_constraints(o);
	check_pop(o);
	check_stay(o);
	check_nodes(o);
	o->answer.multipliers = o->explain != NULL && !o->answer.policy.solve.placeable;
	o->answer.pop_bound = o->common.verbose > 0;
	snprintf(o->name, sizeof(o->name), "%s%s%s%s%s", o->policy->name,
	    o->answer.policy.inside == GV_INSIDE_FIFO   ? "+fifo"
	    : o->answer.policy.inside == GV_INSIDE_NONE ? "+none"
							: "",
	    o->answer.agnostic ? "+agnostic" : "",
	    o->answer.policy.solve.placeable ? "+placeable" : "",
	    o->answer.policy.relax_slo ? "+relax-slo" : "");
	if (o->answer.pop > 1)
		snprintf(o->name + strlen(o->name), sizeof(o->name) - strlen(o->name),
		    "+pop%zu", o->answer.pop);
}

/* At most one input may be standard input, at most one output standard output. */
static void
check_files(const struct options *o)
{
	const char *const input[] = {o->input, o->cluster, o->throughputs, o->entities,
	    o->prices, o->sharing, o->previous};
	const char *const output[] = {
	    o->common.output == NULL ? "-" : o->common.output, o->dump_lp, o->explain};
	size_t i, n = 0;

	for (i = 0; i < sizeof(input) / sizeof(input[0]); i++)
		n += is_stdio(input[i]);
	if (n > 1)
		gv_opt_usage(&o->common, "only one input can be standard input");
	n = 0;
	for (i = 0; i < sizeof(output) / sizeof(output[0]); i++)
		n += is_stdio(output[i]);
	if (n > 1)
		gv_opt_usage(&o->common, "%s=-: standard output has %s",
		    is_stdio(o->dump_lp) ? "--dump-lp" : "--explain",
		    is_stdio(output[0]) ? "the allocation" : "the explanation");
}

/* Whoever is written last would be all that is left. */
static void
check_outputs(const struct options *o)
{
	const struct {
		const char *option, *file;
	} out[] = {{"--output", o->common.output}, {"--dump-lp", o->dump_lp},
	    {"--explain", o->explain}, {"--warm", o->warm}};
	size_t i, k;

	for (i = 0; i < sizeof(out) / sizeof(out[0]); i++)
		for (k = 0; k < i; k++)
			if (out[i].file != NULL && out[k].file != NULL &&
			    strcmp(out[i].file, out[k].file) == 0 &&
			    strncmp(out[i].file, "/dev/", 5) != 0)
				gv_opt_usage(&o->common, "%s and %s are the same file",
				    out[k].option, out[i].option);
}

void
options_parse(struct options *o, int argc, char **argv)
{
	*o = (struct options){.common = {.usage = usage, .help = help}, .at_s = INFINITY};
	parse(o, argc, argv);
	o->stream |= o->changes;
	finish_policy(o);
	if (o->cluster == NULL)
		gv_opt_usage(&o->common, "a cluster is needed: -c CLUSTER");
	o->input = gv_opt_input(&o->common, argc, argv);
	check_files(o);
	check_outputs(o);
}
