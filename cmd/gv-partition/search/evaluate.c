/*
 * What a plan costs, from its stages alone: nothing here is shared with the
 * search but the cost of one stage.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan.h"

/* Sums over the layers of each innermost stage, and the cuts behind them. */
struct sums {
	double *time_s, *forward_s, *parameter, *activation; /* [n] */
	double *cut; /* [n + 1]: [i] is in front of stage i */
};

static void
sums_free(struct sums *u)
{
	free(u->time_s);
	free(u->forward_s);
	free(u->parameter);
	free(u->activation);
	free(u->cut);
}

static struct sums
sums_of(const struct gv_plan *p, const struct gv_graph *g, enum ideals_kind cut)
{
	struct sums u = {0};
	uint64_t *bits = gv_xcalloc((g->n + 63) / 64, sizeof(*bits));
	size_t i, v;

	u.time_s = gv_xcalloc(p->n, sizeof(double));
	u.forward_s = gv_xcalloc(p->n, sizeof(double));
	u.parameter = gv_xcalloc(p->n, sizeof(double));
	u.activation = gv_xcalloc(p->n, sizeof(double));
	u.cut = gv_xcalloc(p->n + 1, sizeof(double));
	for (v = 0; v < g->n; v++) {
		i = p->of[v];
		u.time_s[i] += g->layer[v].time_s;
		u.forward_s[i] += g->layer[v].forward_s;
		u.parameter[i] += g->layer[v].parameter;
		u.activation[i] += g->layer[v].kept;
	}
	for (i = 0; i + 1 < p->n; i++) {
		for (v = 0; v < g->n; v++)
			if (p->of[v] == i)
				bits[v / 64] |= (uint64_t)1 << (v % 64);
		u.cut[i + 1] = ideals_cut(g, bits, cut);
	}
	free(bits);
	return u;
}

/* No component of the level above has more replicas in it than components. */
static int
check_replicas(
    const struct gv_plan *p, const struct gv_machine *m, size_t level, struct gv_error *e)
{
	size_t used = 0, k;

	for (k = 0; k < p->n; k++) {
		const struct gv_stage *s = &p->stage[k];
		bool outer =
		    k == 0 || (level + 1 < m->n_levels &&
				  s->within[level + 1] != s[-1].within[level + 1]);

		if (outer)
			used = 0;
		if (outer || s->within[level] != s[-1].within[level])
			used += s->replicas[level];
		if (used > m->gpus[level])
			return gv_error_set(e,
			    "stage %zu: %zu replicas on level %zu, which has %zu", k,
			    used, level + 1, m->gpus[level]);
	}
	return 0;
}

static int
check_plan(const struct gv_plan *p, const struct gv_graph *g, const struct gv_machine *m,
    struct gv_error *e)
{
	size_t *layers = gv_xcalloc(p->n, sizeof(*layers));
	size_t i, k;
	int rc = 0;

	for (i = 0; i < g->n; i++)
		layers[p->of[i]]++;
	for (i = 0; i < p->n && rc == 0; i++)
		if (layers[i] == 0)
			rc = gv_error_set(e, "stage %zu has no layers", i);
	free(layers);
	for (k = 0; k < g->n_edges && rc == 0; k++)
		if (p->of[g->edge[k].src] > p->of[g->edge[k].dst])
			rc = gv_error_set(e,
			    "stage %u feeds stage %u, which is in front of it",
			    (unsigned)p->of[g->edge[k].src],
			    (unsigned)p->of[g->edge[k].dst]);
	for (i = 0; i < m->n_levels && rc == 0; i++)
		rc = check_replicas(p, m, i, e);
	return rc;
}

/* Innermost stages [first, end) as one stage of a level; its row goes behind those inside it. */
struct evaluation {
	struct plan_report *r;
	const struct gv_plan *p;
	const struct gv_machine *m;
	const struct cost_rules *rules;
	struct sums u;
};

/* The stage's size; T is to be filled. */
static struct stage_report
row_of(const struct evaluation *v, size_t level, size_t first, size_t end)
{
	const struct gv_stage *s = &v->p->stage[first];
	struct stage_report row = {.level = level,
	    .stage = s->within[level],
	    .first = first,
	    .last = end - 1,
	    .replicas = s->replicas[level]};
	size_t i, l;

	row.within = level + 1 < v->m->n_levels ? s->within[level + 1] : 0;
	for (i = first; i < end; i++) {
		row.size.parameter += v->u.parameter[i];
		row.activation += v->u.activation[i];
		row.recompute = row.recompute || v->p->stage[i].recompute;
	}
	row.size.in = v->u.cut[first];
	row.size.out = v->u.cut[end];
	if (level == 0)
		for (row.gpus = 1, l = 0; l < v->m->n_levels; l++)
			row.gpus *= s->replicas[l];
	return row;
}

/* The time of the pipeline of innermost stages [first, end) on one component of a level. */
static double
pipeline(struct evaluation *v, size_t level, size_t first, size_t end, size_t *slowest)
{
	size_t i = first, k;
	double most = -1, inner;

	for (; i < end; i = k) {
		struct stage_report row;
		size_t unused;

		k = i + 1;
		if (level > 0 && level < GV_PLAN_LEVELS)
			while (k < end && v->p->stage[k].within[level] ==
					      v->p->stage[i].within[level])
				k++;
		inner =
		    v->u.time_s[i] + (v->p->stage[i].recompute ? v->u.forward_s[i] : 0);
		if (level > 0)
			inner = pipeline(v, level - 1, i, k, &unused);
		row = row_of(v, level, i, k);
		row.size.time_s = inner;
		row.terms = stage_cost(
		    v->rules, v->m, level, &row.size, row.replicas, i == first);
		if (row.terms.load_s > most) {
			most = row.terms.load_s;
			*slowest = v->r->n;
		}
		v->r->row = gv_xrealloc(v->r->row, v->r->n + 1, sizeof(*v->r->row));
		v->r->row[v->r->n++] = row;
	}
	return most;
}

static void
add_memory(struct evaluation *v)
{
	size_t behind = 0, i, k, l;

	for (i = v->r->n; i-- > 0;) {
		struct stage_report *row = &v->r->row[i];

		if (row->level > 0)
			continue;
		behind += row->gpus;
		row->in_flight = stage_in_flight(v->rules, row->gpus, behind);
		row->memory = stage_memory(v->rules, &row->size, row->activation,
		    row->in_flight, row->recompute);
	}
	v->r->gpus = behind;
	for (l = 1; l < v->m->n_levels; l++)
		for (i = 0; i < v->r->n; i++) {
			struct stage_report *row = &v->r->row[i];

			for (k = 0; row->level == l && k < i; k++)
				if (v->r->row[k].level == 0 &&
				    v->r->row[k].first >= row->first)
					row->gpus += v->r->row[k].gpus;
		}
}

int
plan_evaluate(struct plan_report *r, const struct gv_plan *p, const struct gv_graph *g,
    const struct gv_machine *m, const struct cost_rules *rules, enum ideals_kind cut,
    struct gv_error *e)
{
	struct evaluation v = {.r = r, .p = p, .m = m, .rules = rules};
	double parameter = 0;
	size_t i;

	memset(r, 0, sizeof(*r));
	if (check_plan(p, g, m, e) != 0)
		return -1;
	v.u = sums_of(p, g, cut);
	r->bottleneck_s = pipeline(&v, m->n_levels - 1, 0, p->n, &r->slowest);
	add_memory(&v);
	for (i = 0; i < g->n; i++) {
		r->single_s += g->layer[i].time_s;
		parameter += g->layer[i].parameter;
	}
	r->data_parallel_s = data_parallel(rules, m, r->single_s, parameter);
	r->idle_s = r->single_s / (double)gv_machine_component(m, m->n_levels);
	sums_free(&v.u);
	return 0;
}

void
plan_report_free(struct plan_report *r)
{
	free(r->row);
	memset(r, 0, sizeof(*r));
}

size_t
plan_too_wide(const struct gv_plan *p, size_t n_levels, size_t most, size_t *replicas)
{
	size_t i, l;

	for (i = 0; i < p->n; i++) {
		for (*replicas = 1, l = 0; l < n_levels; l++)
			*replicas *= p->stage[i].replicas[l];
		if (*replicas > most)
			return i;
	}
	return i;
}
