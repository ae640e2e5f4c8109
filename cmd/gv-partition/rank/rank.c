/* Which plans are run, and their order. */
#include "rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gv-partition/fleet/fleet.h"
#include "gv-partition/placed/placed.h"
#include "gv-partition/schedule/interleave.h"
#include "gv-partition/search/search.h"
#include "rank_maker.h"
#include "rank_vary.h"

enum {
	EVERY = 24,     /* GPUs up to which every number is looked at */
	DEEPEST = 64,   /* stages of equal replicas, at most */
	PREFIXES = 600, /* more are thinned out */
	FEW = 400,
	FASTEST = 5, /* plans that are varied */
	VARIED = 10,
	TRIES = 400, /* from each, on up to 32 GPUs, and the fewer the more there are */
};

/* ---- plans ---- */

/* The best plans on *part, which are plans on *whole as well. */
static void
add_best(struct maker *x, const struct ideals *s, const struct gv_machine *part,
    const struct gv_machine *whole)
{
	struct search_options o = *x->o;
	struct gv_plan p;
	int model;

	if (o.use == USE_ALL && gv_machine_component(part, part->n_levels) <
				    gv_machine_component(whole, whole->n_levels))
		return;
	for (model = 0; model < 2; model++) {
		if (plan_search(&p, s, x->g->n, part, &o) == SEARCH_FOUND)
			maker_add(x, &p, whole);
		o.rules.model = o.rules.model == COST_PAPER ? COST_COMPAT : COST_PAPER;
	}
}

/* The best one-level plans with each stage where it is. */
static void
add_placed(struct maker *x, const struct ideals *s, const struct gv_machine *flat)
{
	struct search_options o = *x->o;
	struct gv_plan p;
	int model;

	for (model = 0; model < 2; model++) {
		if (placed_search(&p, s, x->g->n, x->m, &o) == SEARCH_FOUND)
			maker_add(x, &p, flat);
		o.rules.model = o.rules.model == COST_PAPER ? COST_COMPAT : COST_PAPER;
	}
}

static struct gv_plan
copy(const struct gv_plan *p, size_t n_layers)
{
	struct gv_plan q = {.n = p->n};

	q.stage = gv_xcalloc(p->n, sizeof(*q.stage));
	memcpy(q.stage, p->stage, p->n * sizeof(*q.stage));
	q.of = gv_xcalloc(n_layers, sizeof(*q.of));
	memcpy(q.of, p->of, n_layers * sizeof(*q.of));
	return q;
}

/* Of depth stages, and of as many replicas of each as *flat has room for. */
static void
add_straight(struct maker *x, size_t depth, const struct gv_machine *flat)
{
	struct search_options o = *x->o;
	struct gv_machine part = *flat;
	size_t w = flat->gpus[0] / depth, k;
	struct gv_plan p, wide;

	part.gpus[0] = depth;
	o.straight = true;
	o.use = USE_ALL;
	if (plan_search(&p, x->few, x->g->n, &part, &o) != SEARCH_FOUND)
		return;
	if (w > 1 && !x->o->straight) {
		wide = copy(&p, x->g->n);
		for (k = 0; k < wide.n; k++)
			wide.stage[k].replicas[0] = w;
		maker_add(x, &wide, flat);
	}
	maker_add(x, &p, flat);
}

/* The next number of GPUs to look at: every one of the first, then by an eighth more. */
static size_t
next(size_t gpus, size_t most)
{
	size_t n = gpus < EVERY ? gpus + 1 : gpus + gpus / 8;

	return gpus < most && n > most ? most : n;
}

/* first: where the best of them is cut. */
static void
add_flat(struct maker *x, const struct ideals *first)
{
	struct gv_machine flat = *x->m, part;
	size_t n;

	gv_machine_flatten(&flat);
	part = flat;
	if (x->m->n_levels > 1)
		add_placed(x, first, &flat);
	for (n = 1; n <= flat.gpus[0]; n = next(n, flat.gpus[0])) {
		part.gpus[0] = n;
		add_best(x, x->few, &part, &flat);
		if (n <= DEEPEST)
			add_straight(x, n, &flat);
	}
}

static void
add_levels(struct maker *x)
{
	struct gv_machine part = *x->m;
	size_t outer = x->m->n_levels - 1, n;

	for (n = 1; n < x->m->gpus[outer]; n = next(n, x->m->gpus[outer])) {
		part.gpus[outer] = n;
		add_best(x, x->few, &part, x->m);
	}
}

/*
 * The best plans of a fleet of so many GPUs of each type; those with none are left out, and
 * the others stand in their order.
 */
static void
add_fleet(struct maker *x, const size_t *gpus)
{
	struct search_options o = *x->o;
	struct gv_fleet f = {.bytes_per_s = x->fleet->bytes_per_s,
	    .sum_bytes_per_s = x->fleet->sum_bytes_per_s};
	size_t type[GV_FLEET_TYPES], t, k;
	struct gv_plan p;
	int model;

	for (t = 0; t < x->fleet->n; t++) {
		if (gpus[t] == 0)
			continue;
		type[f.n] = t;
		f.type[f.n] = x->fleet->type[t];
		f.type[f.n++].gpus = gpus[t];
	}
	for (model = 0; model < 2 && f.n > 0; model++) {
		if (fleet_search(&p, x->few, x->g->n, &f, &o) == FLEET_FOUND) {
			for (k = 0; k < p.n; k++)
				p.stage[k].type = type[p.stage[k].type];
			maker_add(x, &p, x->m);
		}
		o.rules.model = o.rules.model == COST_PAPER ? COST_COMPAT : COST_PAPER;
	}
}

/* All, half or none of the GPUs of each type. */
static void
add_fleets(struct maker *x)
{
	size_t gpus[GV_FLEET_TYPES], n = 1, i, k, t;

	for (t = 0; t < x->fleet->n; t++)
		n *= 3;
	for (i = 0; i < n; i++) {
		for (k = i, t = 0; t < x->fleet->n; k /= 3, t++)
			gpus[t] = x->fleet->type[t].gpus * (2 - k % 3) / 2;
		add_fleet(x, gpus);
	}
}

static void
add_interleaved(struct maker *x)
{
	const struct interleaving i = {x->few, x->g, x->m, x->o, x->cut};
	size_t gpus = x->m->gpus[0], places, w;
	struct gv_plan p;

	for (places = gpus > 1 ? 2 : 1; places <= gpus; places = next(places, gpus)) {
		w = interleave_replicas(&i, places);
		if (w > 0 && isfinite(interleave_cut(&i, places, w, &p)))
			maker_add(x, &p, x->m);
	}
}

/* ---- plans near the fastest ---- */

struct trial {
	struct maker *x;
	struct gv_machine machine;
};

static double
step_of(void *ctx, const struct gv_plan *p)
{
	struct trial *t = ctx;
	struct ranked r = {.plan = *p,
	    .machine = t->machine,
	    .placed = t->machine.n_levels < t->x->m->n_levels};
	double step_s;

	t->x->k->tried++;
	if (t->x->progress != NULL)
		t->x->progress(t->x->k->tried, t->x->most);
	r.plan.fleet = t->x->fleet;
	step_s = maker_run(t->x, &r) ? r.step_s : INFINITY;
	plan_report_free(&r.report);
	return step_s;
}

/* Whether a faster plan than row i has as many stages. */
static bool
has_faster(const struct ranking *k, size_t i)
{
	size_t j;

	for (j = 0; j < i; j++)
		if (k->row[j].plan.n == k->row[i].plan.n)
			return true;
	return false;
}

static size_t
tries(size_t gpus)
{
	size_t n = gpus <= 32 ? TRIES : TRIES * 32 / gpus;

	return n < 40 ? 40 : n;
}

static void
add_near(struct maker *x, size_t i)
{
	/* not through x->k->row: it moves when a row is added */
	struct gv_plan p = copy(&x->k->row[i].plan, x->g->n);
	struct trial t = {x, x->k->row[i].machine};
	size_t gpus = gv_machine_component(x->m, x->m->n_levels);
	const struct vary v = {.s = x->s,
	    .g = x->g,
	    .o = x->o,
	    .gpus = gpus,
	    .fleet = x->fleet,
	    .levels =
		t.machine.n_levels > 1 || x->o->rules.schedule == GV_SCHEDULE_INTERLEAVED,
	    .tries = tries(gpus),
	    .step_s = step_of,
	    .ctx = &t};

	vary(&p, x->k->row[i].step_s, &v);
	maker_add(x, &p, &t.machine);
}

/*
 * Varies the fastest plans, and the fastest of each number of stages; what comes of
 * each joins them.
 */
static void
add_varied(struct maker *x)
{
	size_t n = x->k->n, varied = 0, i;

	for (i = 0; i < n && varied < VARIED; i++)
		if (i < FASTEST || !has_faster(x->k, i)) {
			add_near(x, i);
			varied++;
		}
}

/* ---- how many there can be ---- */

static size_t
numbers(size_t gpus, size_t deepest)
{
	size_t n, count = 0;

	for (n = 1; n <= gpus && n <= deepest; n = next(n, gpus))
		count++;
	return count;
}

/* Plans that are tried at most: see ranking_make. */
static size_t
most_tried(const struct maker *x, bool flat)
{
	size_t gpus = gv_machine_component(x->m, x->m->n_levels), n = 0, t;

	if (x->fleet != NULL) {
		for (n = 2, t = 0; t < x->fleet->n; t++)
			n *= 3;
	} else if (x->o->rules.schedule == GV_SCHEDULE_INTERLEAVED) {
		n = numbers(gpus, gpus);
	} else {
		n = 2 * numbers(gpus, gpus) + 2 * numbers(gpus, DEEPEST);
		if (x->m->n_levels > 1)
			n += 2;
		if (!flat)
			n += 2;
		if (!flat && x->m->n_levels > 1)
			n += 2 * numbers(x->m->gpus[x->m->n_levels - 1], gpus);
	}
	return n + (n < VARIED ? n : VARIED) * (tries(gpus) + 1);
}

/* ---- the ranking ---- */

static int
faster(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (fabs(x->step_s - y->step_s) > 1e-9 * fmax(x->step_s, y->step_s))
		return x->step_s < y->step_s ? -1 : 1;
	if (x->report.gpus != y->report.gpus)
		return x->report.gpus < y->report.gpus ? -1 : 1;
	if (x->bytes < y->bytes || x->bytes > y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return 0;
}

/* A stable sort: there are few, and qsort orders equals by chance. */
static void
sort(struct ranking *k)
{
	size_t i, j;

	for (i = 1; i < k->n; i++) {
		struct ranked r = k->row[i];

		for (j = i; j > 0 && faster(&r, &k->row[j - 1]) < 0; j--)
			k->row[j] = k->row[j - 1];
		k->row[j] = r;
	}
}

void
ranking_make(struct ranking *k, const struct rank_task *task)
{
	const struct gv_machine *m = task->m;
	struct maker x = {.k = k,
	    .s = task->s,
	    .few = task->s,
	    .g = task->g,
	    .m = m,
	    .fleet = task->fleet,
	    .o = task->o,
	    .cut = task->cut,
	    .progress = task->progress};
	struct ideals few = {0};
	uint32_t *pick;

	memset(k, 0, sizeof(*k));
	if (x.s->n > PREFIXES) {
		pick = gv_xcalloc(x.s->n, sizeof(*pick));
		ideals_pick(&few, x.s, pick, search_few(pick, x.s, FEW));
		x.few = &few;
		free(pick);
	}
	x.most = most_tried(&x, task->flat);
	if (task->fleet != NULL) {
		add_fleets(&x);
	} else if (task->o->rules.schedule == GV_SCHEDULE_INTERLEAVED) {
		add_interleaved(&x);
	} else {
		if (!task->flat)
			add_best(&x, x.s, m, m);
		if (!task->flat && m->n_levels > 1)
			add_levels(&x);
		add_flat(&x, task->flat ? x.s : x.few);
	}
	ideals_free(&few);
	sort(k);
	add_varied(&x);
	sort(k);
}

void
ranking_free(struct ranking *k)
{
	size_t i;

	for (i = 0; i < k->n; i++) {
		plan_report_free(&k->row[i].report);
		gv_plan_free(&k->row[i].plan);
	}
	free(k->row);
	memset(k, 0, sizeof(*k));
}
