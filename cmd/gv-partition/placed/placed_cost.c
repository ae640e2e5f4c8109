/* What stages cost where they are, and a whole plan of them. */
#include "placed_cost.h"

#include <string.h>

struct links
links_of(const struct gv_machine *m)
{
	struct links x = {
	    .n = gv_machine_component(m, m->n_levels), .n_levels = m->n_levels};
	double slowest = m->bytes_per_s[0], sums = gv_machine_sum_rate(m, 0);
	size_t l;

	for (l = 0; l < m->n_levels; l++) {
		if (m->bytes_per_s[l] < slowest)
			slowest = m->bytes_per_s[l];
		if (gv_machine_sum_rate(m, l) < sums)
			sums = gv_machine_sum_rate(m, l);
		x.group[l] = gv_machine_component(m, l + 1);
		x.at[l] = (struct gv_machine){1, {x.n}, {slowest}, {sums}};
	}
	return x;
}

size_t
links_level(const struct links *x, size_t first, size_t n)
{
	size_t l = 0;

	while (
	    l + 1 < x->n_levels && first / x->group[l] != (first + n - 1) / x->group[l])
		l++;
	return l;
}

struct stage_terms
links_stage(const struct links *x, const struct cost_rules *r, size_t level,
    const struct stage_size *size, size_t n)
{
	struct stage_size alone = {size->time_s, size->parameter, 0, 0};

	return stage_cost(r, &x->at[level], 0, &alone, n, false);
}

double
links_transfer(const struct links *x, const struct cost_rules *r, size_t level,
    double bytes, size_t n, bool sends)
{
	struct stage_size size = {0, 0, sends ? 0 : bytes, sends ? bytes : 0};

	return stage_cost(r, &x->at[level], 0, &size, n, false).transfer_s;
}

/* The load of a row, its stage and the next one where they are: [first, first + gpus). */
static void
cost_row(struct plan_report *r, size_t i, const struct links *x,
    const struct cost_rules *rules, size_t first)
{
	struct stage_report *row = &r->row[i];
	size_t n = row->gpus, level;
	double t = 0;

	row->terms = links_stage(x, rules, links_level(x, first, n), &row->size, n);
	if (i > 0) {
		size_t before = r->row[i - 1].gpus;

		level = links_level(x, first - before, before + n);
		t = links_transfer(x, rules, level, row->size.in, n, false);
	}
	if (i > 0 && i + 1 < r->n) {
		level = links_level(x, first, n + r->row[i + 1].gpus);
		t = stage_larger(
		    t, links_transfer(x, rules, level, row->size.out, n, true));
	}
	row->terms.transfer_s = t;
	row->terms.load_s = stage_larger(row->terms.load_s, t);
}

int
placed_evaluate(struct plan_report *r, const struct gv_plan *p, const struct gv_graph *g,
    const struct gv_machine *m, const struct cost_rules *rules, enum ideals_kind cut,
    struct gv_error *e)
{
	struct links x = links_of(m);
	size_t i, first;

	if (plan_evaluate(r, p, g, &x.at[x.n_levels - 1], rules, cut, e) != 0)
		return -1;
	r->bottleneck_s = 0;
	r->slowest = 0;
	first = x.n - r->gpus;
	for (i = 0; i < r->n; first += r->row[i++].gpus) {
		cost_row(r, i, &x, rules, first);
		if (r->row[i].terms.load_s > r->bottleneck_s) {
			r->bottleneck_s = r->row[i].terms.load_s;
			r->slowest = i;
		}
	}
	return 0;
}
