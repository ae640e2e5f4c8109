#include "member.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "check.h"
#include "predict.h"

enum { ID_CONTROL, ID_DATA };

struct state {
	const struct member *m;
	struct gv_tree way;      /* of what the members agree on: */
	struct gv_trees control; /* one tree, up and down */
	struct gv_coll *sums, *maxima;
	unsigned char *in, *out;
	size_t count;
	double *times; /* [iterations] */
};

/* ---- agreeing ---- */

/* The first tree, both ways. */
static void
open_control(struct state *s)
{
	const struct member *m = s->m;
	const struct gv_tree *first = &m->trees->tree[0];
	struct gv_coll_spec spec = {.trees = &s->control,
	    .rank = m->rank,
	    .id = ID_CONTROL,
	    .type = GV_COLL_DOUBLE,
	    .op = GV_COLL_SUM,
	    .chunk_bytes = 4096};

	s->way = *first;
	if (first->down.above != NULL)
		s->way.up = first->down;
	else
		s->way.down = first->up;
	if (first->up.above != NULL && first->down.above != NULL)
		s->way.up = first->up;
	s->control = *m->trees;
	s->control.collective = GV_ALL_REDUCE;
	s->control.tree = &s->way;
	s->control.n_trees = 1;
	s->sums = gv_coll_new(m->g, &spec);
	spec.op = GV_COLL_MAX;
	s->maxima = gv_coll_new(m->g, &spec);
}

/* Makes v[0..n) what all members have there, summed or the largest. */
static int
agree(struct gv_coll *how, double *v, size_t n, struct gv_error *e)
{
	gv_coll_begin(how, v, v, n);
	return gv_coll_wait(how, e);
}

static int
meet(struct state *s, struct gv_error *e)
{
	double none = 0;

	return agree(s->sums, &none, 1, e);
}

/* ---- measuring ---- */

static int
rising(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static int
run_once(struct state *s, struct gv_coll *c, double *time_s, struct gv_error *e)
{
	double begun;

	if (meet(s, e) != 0)
		return -1;
	begun = gv_clock_s();
	gv_coll_begin(c, s->in, s->out, s->count);
	if (gv_coll_wait(c, e) != 0)
		return -1;
	*time_s = gv_clock_s() - begun;
	return 0;
}

/* The median over so many runs of the time at the slowest member. */
static int
measure(struct state *s, struct gv_coll *c, size_t n, double *time_s, struct gv_error *e)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (run_once(s, c, &s->times[i], e) != 0)
			return -1;
	if (agree(s->maxima, s->times, n, e) != 0)
		return -1;
	qsort(s->times, n, sizeof(*s->times), rising);
	*time_s =
	    n % 2 == 1 ? s->times[n / 2] : (s->times[n / 2 - 1] + s->times[n / 2]) / 2;
	return 0;
}

static struct gv_coll *
open_data(struct state *s, double chunk_bytes)
{
	const struct member *m = s->m;
	struct gv_coll_spec spec = {.trees = m->trees,
	    .rank = m->rank,
	    .id = ID_DATA,
	    .type = m->o->type,
	    .op = m->o->op,
	    .chunk_bytes = (size_t)chunk_bytes,
	    .pace = m->pace};

	return gv_coll_new(m->g, &spec);
}

/* Finds the fastest chunk: by the fastest of a few runs of each, which scatters least. */
static int
search(struct state *s, struct row *r, double bytes, struct gv_error *e)
{
	size_t n = ((size_t)s->m->o->iterations + 2) / 3;
	struct gv_tune t;
	double median_s;

	search_start(&t, s->m->trees, bytes);
	do {
		struct gv_coll *c = open_data(s, (double)t.chunk);
		int rc = measure(s, c, n, &median_s, e);

		gv_coll_free(c);
		if (rc != 0)
			return -1;
	} while (gv_tune_next(&t, s->times[0]));
	r->chunk_bytes = even_chunk(s->m->trees, bytes, (double)t.chunk);
	return 0;
}

static int
choose_chunk(struct state *s, struct row *r, int64_t bytes, struct gv_error *e)
{
	const struct member *m = s->m;

	predict(r, m->trees, m->o, NULL, bytes);
	if (m->o->chunk_by != CHUNK_SEARCH || r->count == 0)
		return 0;
	return search(s, r, row_bytes(m->trees, m->o, r->count), e);
}

/* Warms up, measures, and looks at every element of one more run. */
static int
run_row(struct state *s, struct row *r, struct gv_error *e)
{
	const struct member *m = s->m;
	struct gv_coll *c = open_data(s, r->chunk_bytes);
	struct check_what what = {m->trees, m->o->type, m->o->op, m->rank, s->count};
	double ignored;
	int64_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < m->o->warmup; i++)
		rc = run_once(s, c, &ignored, e);
	if (rc == 0)
		rc = measure(s, c, (size_t)m->o->iterations, &r->time_s, e);
	if (rc == 0) {
		check_spoil(&what, s->out);
		rc = run_once(s, c, &ignored, e);
	}
	gv_coll_free(c);
	if (rc != 0)
		return -1;
	r->wrong = (double)check_wrong(&what, s->out);
	return agree(s->sums, &r->wrong, 1, e);
}

static int
run_size(struct state *s, int64_t bytes, struct gv_error *e)
{
	const struct member *m = s->m;
	struct row r;
	struct check_what what = {m->trees, m->o->type, m->o->op, m->rank, 0};
	int rc;

	what.count = s->count = row_count(m->trees, m->o, bytes);
	s->in = gv_xcalloc(check_given(&what) + 1, gv_coll_type_size(m->o->type));
	s->out = gv_xcalloc(check_wanted(&what) + 1, gv_coll_type_size(m->o->type));
	check_fill(&what, s->in);
	rc = choose_chunk(s, &r, bytes, e);
	if (rc == 0)
		rc = run_row(s, &r, e);
	free(s->in);
	free(s->out);
	if (rc != 0)
		return -1;
	return m->rank == 0 ? m->tell(m->ctx, &r) : 0;
}

int
member_run(const struct member *m, struct gv_error *e)
{
	struct state s = {.m = m};
	int64_t bytes;
	int rc = 0;

	open_control(&s);
	s.times = gv_xcalloc((size_t)m->o->iterations, sizeof(*s.times));
	for (bytes = m->o->least_bytes; rc == 0 && bytes >= 0;
	     bytes = row_next(m->o, bytes))
		rc = run_size(&s, bytes, e);
	/* nobody leaves while another one waits */
	if (rc == 0)
		rc = meet(&s, e);
	gv_coll_free(s.sums);
	gv_coll_free(s.maxima);
	free(s.times);
	return rc;
}
