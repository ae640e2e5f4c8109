/*
 * Levels over time of progressive filling against their definition: of entities, trees with
 * quotas, floors and queues, each node's l halved for; and what is asked of those levels.
 */
#include "tap.h"

#include <stdint.h>
#include <stdlib.h>

#include "alloc_help.h"
#include "alloc/policy/filling.h"

enum { MOST_JOBS = 9, MOST_NODES = 6 };

static void
random_tree(struct gv_tree *t, bool quotas)
{
	bool last_first = uniform() < .5; /* nodes at the top */
	size_t k;

	t->n = 1 + below(MOST_NODES);
	for (k = 0; k < t->n; k++) {
		size_t top = last_first ? t->n - 1 : 0;

		t->parent[k] = k == top || uniform() < .4 ? SIZE_MAX
			       : last_first               ? k + 1 + below(t->n - 1 - k)
							  : below(k);
		t->weight[k] = (double)(1 + below(3));
		t->quota[k] = quotas && uniform() < .5 ? 2 * uniform() : 0;
	}
}

static bool
is_leaf(const struct gv_tree *t, size_t node)
{
	size_t k;

	for (k = 0; k < t->n; k++)
		if (t->parent[k] == node)
			return false;
	return true;
}

static struct gv_problem
random_problem(const struct gv_tree *t, size_t n, bool fifo, bool floors, double *need)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, 2);
	gv_problem_ask(&p, 1u << GV_NUMBER_ENTITY | 1u << GV_NUMBER_ENTITY_WEIGHT |
			       (fifo ? 1u << GV_NUMBER_POSITION : 0));
	p.tree = t;
	for (j = 0; j < p.m; j++)
		p.capacity[j] = (double)(1 + below(5));
	for (i = 0; i < n; i++) {
		p.count[i] = (double)(1 + below(3));
		p.scale[i] = (double)(1 << below(2));
		p.weight[i] = uniform() < .5 ? 1 : .25 + 4 * uniform();
		for (j = 0; j < p.m; j++)
			if (uniform() < .7 && p.scale[i] <= p.capacity[j])
				p.rate[i * p.m + j] = exp(3 * uniform());
		make_runnable(&p, i);
		need[i] =
		    floors && uniform() < .4
			? .8 * uniform() * fmax(p.rate[i * p.m], p.rate[i * p.m + 1])
			: 0;
		do
			p.number[GV_NUMBER_ENTITY][i] = (double)below(t->n);
		while (!is_leaf(t, (size_t)p.number[GV_NUMBER_ENTITY][i]));
		p.number[GV_NUMBER_ENTITY_WEIGHT][i] =
		    t->weight[(size_t)p.number[GV_NUMBER_ENTITY][i]];
		if (fifo)
			p.number[GV_NUMBER_POSITION][i] = (double)((i * 11) % n);
	}
	return p;
}

/* ---- the definition ---- */

static bool
is_in(const struct gv_tree *t, size_t node, size_t in)
{
	for (; node != SIZE_MAX; node = t->parent[node])
		if (node == in)
			return true;
	return false;
}

static size_t
entity(const struct gv_filling *f, size_t i)
{
	return (size_t)f->p->number[GV_NUMBER_ENTITY][i];
}

/* What all jobs in a node have of v. */
static double
sum_of(const struct gv_filling *f, const double *v, size_t node)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < f->p->n; i++)
		if (is_in(f->p->tree, entity(f, i), node))
			sum += f->p->count[i] * v[i];
	return sum;
}

static double
between(double v, double least, double most)
{
	return fmin(fmax(v, least), most);
}

/* What job i, or node k, has at the node's l: at least what it begins with, at most all. */
static double
job_at(const struct gv_filling *f, const double *from, double l, size_t i)
{
	return between(f->p->weight[i] * l, from[i], f->most[i]);
}

static double
node_at(const struct gv_filling *f, const double *from, double l, size_t k)
{
	return between(
	    f->p->tree->weight[k] * l, sum_of(f, from, k), sum_of(f, f->most, k));
}

static double
sum_at(const struct gv_filling *f, const double *from, double l, size_t node)
{
	double sum = 0;
	size_t i, k;

	for (i = 0; i < f->p->n; i++)
		sum += entity(f, i) == node ? f->p->count[i] * job_at(f, from, l, i) : 0;
	for (k = 0; k < f->n_nodes; k++)
		sum += f->p->tree->parent[k] == node ? node_at(f, from, l, k) : 0;
	return sum;
}

/* The jobs of a queue, the first ones first. */
static void
queue(
    const struct gv_filling *f, const double *from, double total, size_t node, double *v)
{
	size_t i, k;

	total -= sum_of(f, from, node);
	for (k = 0; k < f->p->n; k++)
		for (i = 0; i < f->p->n; i++) {
			double more;

			if ((size_t)f->p->number[GV_NUMBER_POSITION][i] != k ||
			    entity(f, i) != node)
				continue;
			more = between(total / f->p->count[i], 0, f->most[i] - from[i]);
			v[i] = from[i] + more;
			total -= more * f->p->count[i];
		}
}

/* Into v: what the jobs of a node have when it has total, and they began with from. */
static void
divide(
    const struct gv_filling *f, const double *from, double total, size_t node, double *v)
{
	double low = 0, high = 1e4, l = 0;
	size_t i, k;

	if (f->fifo && is_leaf(f->p->tree, node)) {
		queue(f, from, total, node, v);
		return;
	}
	while (high - low > 1e-14 * high + 1e-14) {
		l = (low + high) / 2;
		*(sum_at(f, from, l, node) < total ? &low : &high) = l;
	}
	for (i = 0; i < f->p->n; i++)
		if (entity(f, i) == node)
			v[i] = job_at(f, from, l, i);
	for (k = 0; k < f->n_nodes; k++)
		if (f->p->tree->parent[k] == node)
			divide(f, from, node_at(f, from, l, k), k, v);
}

/* The levels after time c of the stage, which began at from. */
static void
defined(const struct gv_filling *f, const double *from, double c, double *v)
{
	size_t k;

	memcpy(v, from, f->p->n * sizeof(*v));
	for (k = 0; k < f->n_nodes; k++)
		if (f->node[k].root)
			divide(f, from,
			    between(c * f->node[k].speed, sum_of(f, from, k),
				sum_of(f, f->most, k)),
			    k, v);
}

/* ---- the questions ---- */

struct wrong {
	size_t levels, weighted, slopes, until, time, rising, stages, lists;
};

static bool
rises(const struct gv_filling *f, size_t i)
{
	size_t k;

	for (k = 0; k < f->n_nodes; k++)
		if (f->node[k].root && is_in(f->p->tree, entity(f, i), k))
			return true;
	return false;
}

static bool
differ(const struct gv_filling *f, const double *v, const double *w, double tol)
{
	size_t i;

	for (i = 0; i < f->p->n; i++)
		if (!(fabs(v[i] - w[i]) <= tol * f->most[i]))
			return true;
	return false;
}

static void
check_weighted(const struct gv_filling *f, double c, const double *v, struct wrong *wrong)
{
	double lambda[MOST_JOBS + MOST_NODES], sum = 0;
	size_t k;

	for (k = 0; k < f->n_active; k++) {
		lambda[k] = uniform();
		if (f->active[k].job != SIZE_MAX)
			sum += lambda[k] * v[f->active[k].job];
	}
	wrong->weighted += !near(gv_filling_weighted(f, lambda, c), sum, 1e-12);
}

/* Straight on until the time they say; after it no more, but at the stage's end. */
static void
check_slopes(const struct gv_filling *f, const double *from, struct wrong *wrong)
{
	double slope[MOST_JOBS], v[MOST_JOBS], straight[MOST_JOBS];
	double until = gv_filling_slopes(f, slope), c;
	size_t i, step;

	if (!isfinite(until)) {
		for (i = 0; i < f->p->n; i++)
			wrong->until +=
			    rises(f, i) && f->have[i] < f->most[i] * (1 - 1e-9);
		return;
	}
	for (step = 0; step < 3; step++) {
		c = until * (step == 0 ? uniform() : step == 1 ? 1 - 1e-9 : 1.01);
		defined(f, from, f->time + c, v);
		for (i = 0; i < f->p->n; i++)
			straight[i] = f->have[i] + slope[i] * c;
		if (step < 2)
			wrong->slopes += differ(f, v, straight, 1e-8);
		else if (f->time + c < f->limit && until > 1e-9)
			wrong->until += !differ(f, v, straight, 1e-7 * until);
	}
}

static void
check_time(const struct gv_filling *f, struct wrong *wrong)
{
	double v[MOST_JOBS], time = gv_filling_time(f);
	bool all = true, later = true, floors = false;
	size_t i;

	for (i = 0; i < f->n_nodes; i++)
		floors = floors || f->node[i].floors;
	gv_filling_levels(f, time, v);
	for (i = 0; i < f->p->n; i++)
		all = all && (!rises(f, i) || v[i] >= f->most[i] * (1 - 1e-12));
	gv_filling_levels(f, time * (1 - 1e-4), v);
	for (i = 0; i < f->p->n; i++)
		later = later && (!rises(f, i) || v[i] >= f->most[i] * (1 - 1e-12));
	wrong->time += !(all || near(f->time + time, f->limit, 1e-12)) ||
		       (later && all && time > 1e-9 && !floors);
}

/* ---- lists ---- */

/* What more the jobs of a node, and of those in it, can have. */
static double
room_of(const struct gv_filling *f, size_t node)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < f->p->n; i++)
		if (is_in(f->p->tree, entity(f, i), node) && !f->frozen[i] && rises(f, i))
			sum += f->p->count[i] * (f->most[i] - f->have[i]);
	return sum;
}

/* How much later than the others of its node it rises which has so much. */
static double
later_by(double have, double weight, double level)
{
	return fmax(0, have / weight - level);
}

/* Whether an item is what it says of job i, or of node k. */
static bool
is_item(const struct gv_filling *f, const struct gv_active_item *r, size_t node)
{
	size_t id = r->job != SIZE_MAX ? r->job : r->node;
	double weight, count, more, level = f->node[node].level, start, room;
	bool in;

	if (r->job != SIZE_MAX) {
		weight = f->p->weight[id];
		count = f->p->count[id];
		more = f->most[id] - f->have[id];
		start = f->floor[id] > 0 && !f->fifo
			    ? later_by(f->have[id], weight, level)
			    : 0;
		room = f->fifo ? f->p->number[GV_NUMBER_POSITION][id]
			       : start + more / weight;
		in = entity(f, id) == node && !f->frozen[id] && rises(f, id) &&
		     r->most == f->most[id] && r->have == f->have[id];
	} else {
		weight = f->p->tree->weight[id];
		count = 1;
		more = room_of(f, id);
		start = f->node[id].floors
			    ? later_by(sum_of(f, f->have, id), weight, level)
			    : 0;
		room = start + more / weight;
		in = f->p->tree->parent[id] == node && !f->node[id].root && more > 0 &&
		     near(r->most, more, 1e-12) && r->have == 0;
	}
	return in && r->weight == weight && r->count == count &&
	       fabs(r->start - start) <= 1e-9 * fmax(1, level) &&
	       fabs(r->room - room) <= 1e-9 * fmax(1, room);
}

/* How many jobs and nodes can rise. */
static size_t
count_items(const struct gv_filling *f)
{
	size_t i, k, n = 0;

	for (i = 0; i < f->p->n; i++)
		n += !f->frozen[i] && rises(f, i);
	for (k = 0; k < f->n_nodes; k++) {
		bool in = false;

		for (i = 0; i < f->n_nodes; i++)
			in = in || (i != k && f->node[i].root && is_in(f->p->tree, k, i));
		n += in && !f->node[k].root && room_of(f, k) > 0;
	}
	return n;
}

/* Each node's items in the order in which they have all; of equal ones jobs first, by number. */
static void
check_lists(const struct gv_filling *f, struct wrong *wrong)
{
	size_t k, node, n = 0;

	for (node = 0; node < f->n_nodes; node++) {
		const struct gv_filling_node *at = &f->node[node];
		double rest = 0;
		bool waits = false;

		for (k = at->end; k-- > at->first; n++) {
			const struct gv_active_item *r = &f->active[k], *next = r + 1;
			double weight = r->count * r->weight;
			size_t id = r->job != SIZE_MAX ? r->job : f->p->n + r->node;

			rest += weight;
			waits = waits || r->start > 0;
			wrong->lists +=
			    !is_item(f, r, node) || !near(r->rest, rest, 1e-12);
			if (k + 1 == at->end)
				continue;
			wrong->lists +=
			    r->room > next->room ||
			    (r->room == next->room &&
				id >= (next->job != SIZE_MAX ? next->job
							     : f->p->n + next->node));
		}
		wrong->lists += at->waits != waits;
	}
	wrong->lists += n != f->n_active || n != count_items(f);
}

/* ---- stages ---- */

/* Of those that are not over yet: quotas of the lowest nodes first, then all at the top. */
static void
check_stage(const struct gv_filling *f, size_t stage, struct wrong *wrong)
{
	const struct gv_tree *t = f->p->tree;
	size_t depth[MOST_NODES], k, at, stages = 1;

	for (k = 0; k < t->n; k++) {
		depth[k] = 0;
		for (at = t->parent[k]; at != SIZE_MAX; at = t->parent[at])
			depth[k]++;
		if (t->quota[k] > 0 && depth[k] + 2 > stages)
			stages = depth[k] + 2;
	}
	wrong->stages += stage >= stages || f->time != 0 ||
			 f->limit != (stage + 1 < stages ? 1 : INFINITY);
	for (k = 0; k < t->n; k++)
		wrong->stages +=
		    stage + 1 < stages
			? f->node[k].root !=
				  (depth[k] + 2 + stage == stages && t->quota[k] > 0) ||
			      f->node[k].speed != t->quota[k]
			: f->node[k].root != (depth[k] == 0) ||
			      f->node[k].speed != t->weight[k];
}

/* One stage, in a few steps of time. */
static void
run_stage(struct gv_filling *f, struct wrong *wrong)
{
	static const double free_types[2];
	double from[MOST_JOBS], v[MOST_JOBS], want[MOST_JOBS], c;
	size_t i, n = 0, step;
	bool held;

	memcpy(from, f->have, f->p->n * sizeof(*from));
	for (i = 0; i < f->p->n; i++)
		n += rises(f, i) && !f->frozen[i];
	wrong->rising += gv_filling_rising(f) != n;
	for (step = 0; step < 4; step++) {
		gv_filling_freeze_types(f, free_types, 1);
		gv_filling_sort(f);
		check_lists(f, wrong);
		check_slopes(f, from, wrong);
		check_time(f, wrong);
		c = fmin(f->limit - f->time, step == 0 ? .5 * uniform() : 2 * uniform());
		gv_filling_levels(f, c, v);
		defined(f, from, f->time + c, want);
		wrong->levels += differ(f, v, want, 1e-8);
		check_weighted(f, c, v, wrong);
		gv_filling_go_on(f, c);
		memcpy(f->have, v, f->p->n * sizeof(*v));
	}
	i = below(f->p->n); /* one that could have more is frozen */
	held = f->frozen[i];
	f->frozen[i] = true;
	gv_filling_sort(f);
	check_lists(f, wrong);
	f->frozen[i] = held;
}

static void
test(bool fifo, bool floors, bool quotas)
{
	enum { CASES = 40 };
	size_t parent[MOST_NODES], round, stages = 0, stage;
	double weight[MOST_NODES], quota[MOST_NODES], need[MOST_JOBS];
	struct gv_tree t = {0, parent, weight, quota};
	struct wrong wrong = {0};
	char name[80];

	for (round = 0; round < CASES; round++) {
		struct gv_filling f;
		struct gv_problem p;

		random_tree(&t, quotas);
		p = random_problem(&t, 1 + below(MOST_JOBS), fifo, floors, need);
		gv_filling_init(&f, &p, fifo, need);
		stage = 0;
		do {
			check_stage(&f, stage++, &wrong);
			run_stage(&f, &wrong);
			stages++;
		} while (gv_filling_next(&f));
		wrong.stages += !isinf(f.limit);
		gv_filling_free(&f);
		p.tree = NULL;
		gv_problem_free(&p);
	}
	snprintf(name, sizeof(name), "%zu stages%s%s%s", stages, fifo ? ", queues" : "",
	    floors ? ", floors" : "", quotas ? ", quotas" : "");
	is_int(wrong.levels, 0, "%s: levels are those of the definition", name);
	is_int(wrong.weighted, 0, "%s: weighted sums of levels", name);
	is_int(wrong.slopes, 0, "%s: they rise straight on as long as told", name);
	is_int(wrong.until, 0, "%s: and no longer", name);
	is_int(wrong.time, 0, "%s: when all have all, and not long before", name);
	is_int(wrong.rising, 0, "%s: how many can rise", name);
	is_int(wrong.stages, 0, "%s: quotas from the lowest up, then all", name);
	is_int(wrong.lists, 0, "%s: lists of what rises", name);
}

/* So many jobs that sums are of blocks. */
static void
test_blocks(void)
{
	enum { N = 2500 };
	double *need = gv_xcalloc(N, sizeof(*need)),
	       *lambda = gv_xcalloc(N, sizeof(*need)), *v = gv_xcalloc(N, sizeof(*need)),
	       sum = 0, c;
	struct gv_filling f;
	struct gv_problem p;
	size_t i;

	gv_problem_alloc(&p, N, 1);
	p.capacity[0] = 100;
	for (i = 0; i < N; i++) {
		p.count[i] = p.scale[i] = p.weight[i] = 1;
		p.rate[i] = 1 + uniform();
		lambda[i] = uniform();
	}
	gv_filling_init(&f, &p, false, need);
	gv_filling_sort(&f);
	c = gv_filling_time(&f) / 2;
	gv_filling_levels(&f, c, v);
	for (i = 0; i < N; i++)
		sum += lambda[i] * v[f.active[i].job];
	ok(near(gv_filling_weighted(&f, lambda, c), sum, 1e-12),
	    "weighted sums of %d levels", N);
	gv_filling_free(&f);
	gv_problem_free(&p);
	free(need);
	free(lambda);
	free(v);
}

/*
 * Two jobs have all before a third begins to rise from its floor: then nothing rises, whatever
 * rounding leaves of the sum of their weights.
 */
static void
test_gap(void)
{
	size_t round, i, steps = 0, off = 0;
	int step;

	for (round = 0; round < 300; round++) {
		double need[3] = {0}, from[3], v[3], want[3], rise;
		struct gv_filling f;
		struct gv_problem p;

		gv_problem_alloc(&p, 3, 1);
		p.capacity[0] = 9;
		for (i = 0; i < 3; i++) {
			p.count[i] = p.scale[i] = p.rate[i] = 1;
			p.weight[i] = .1 + uniform();
		}
		p.weight[2] = .01;
		need[2] = .5 + uniform() / 4;
		gv_filling_init(&f, &p, false, need);
		gv_filling_sort(&f);
		memcpy(from, f.have, sizeof(from));
		rise = f.most[0] + f.most[1] + f.have[2];
		for (step = -8; step <= 8; step++, steps++) {
			gv_filling_levels(&f, rise * (1 + step * 0x1p-53), v);
			want[0] = f.most[0];
			want[1] = f.most[1];
			want[2] = from[2];
			off += differ(&f, v, want, 1e-12);
		}
		gv_filling_free(&f);
		gv_problem_free(&p);
	}
	is_int(off, 0, "between those that have all and the next, %zu times", steps);
}

int
main(void)
{
	int kind;

	draws_begin(11, 3, 1);
	for (kind = 0; kind < 8; kind++)
		test(kind & 1, kind & 2, kind & 4);
	test_blocks();
	test_gap();
	return done_testing();
}
