#include "offers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"
#include "table/tab.h"

/* A row of the table. */
struct row {
	double time_s, usd_per_h;
	size_t number; /* of the row */
	size_t offer;
	size_t source; /* of those that offer the same */
};

struct rows {
	struct row *row; /* [n] */
	size_t n;
	struct gv_hash sources;
};

/* The pool of a type whose node has the name of a source; n_pools = none. */
static size_t
find_node(const struct gv_cluster *c, size_t type, struct gv_cell source)
{
	size_t p = 0;

	while (p < c->n_pools && (c->pool[p].type != type || c->pool[p].node[0] == '\0' ||
				     !gv_cell_is(source, c->pool[p].node)))
		p++;
	return p;
}

static int
take_row(struct offers *o, struct rows *all, const struct gv_cluster *c,
    const struct gv_frame *f, size_t i, struct gv_error *e)
{
	ptrdiff_t usd = gv_frame_find(f, "usd_per_h");
	struct gv_cell source = gv_frame_cell(f, i, gv_frame_find(f, "source"));
	ptrdiff_t type =
	    gv_cluster_find(c, gv_frame_cell(f, i, gv_frame_find(f, "gpu_type")));
	struct row *r = &all->row[all->n];
	size_t pool;

	if (gv_frame_double(f, i, gv_frame_find(f, "time_s"), 0, &r->time_s, e) != 0 ||
	    gv_frame_double(f, i, usd, NAN, &r->usd_per_h, e) != 0)
		return -1;
	if (r->usd_per_h < 0)
		return gv_frame_error(f, i, usd, e, "expected a number of 0 or more");
	if (type < 0)
		return 0;
	pool = find_node(c, (size_t)type, source);
	r->offer = (size_t)type;
	if (pool < c->n_pools && o->of_pool[pool] == (size_t)type)
		o->of_pool[pool] = o->n++;
	if (pool < c->n_pools)
		r->offer = o->of_pool[pool];
	r->source = gv_hash_add(&all->sources, source.s, source.len);
	r->number = all->n++;
	return 0;
}

static int
by_time(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;

	if (x->time_s != y->time_s)
		return x->time_s < y->time_s ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* The least that an offer costs now, at one of its sources. */
static double
cheapest(const struct rows *all, const double *now, size_t offer)
{
	size_t n = all->sources.n;
	double best = HUGE_VAL;
	size_t i;

	for (i = 0; i < n; i++)
		best = fmin(best, now[offer * n + i]);
	return best;
}

/* Row after row: what each offer costs from then on. */
static void
make_prices(struct offers *o, struct rows *all)
{
	size_t n = all->sources.n;
	double *now = gv_xcalloc(o->n * n + 1, sizeof(*now));
	size_t i;

	for (i = 0; i < o->n * n; i++)
		now[i] = HUGE_VAL;
	qsort(all->row, all->n, sizeof(*all->row), by_time);
	o->price = gv_xcalloc(all->n + 1, sizeof(*o->price));
	for (i = 0; i < all->n; i++) {
		const struct row *r = &all->row[i];

		now[r->offer * n + r->source] = r->usd_per_h;
		o->price[o->n_prices++] =
		    (struct sim_price){r->time_s, r->offer, cheapest(all, now, r->offer)};
	}
	free(now);
}

int
offers_read(
    struct offers *o, const struct gv_cluster *c, const char *path, struct gv_error *e)
{
	struct rows all = {0};
	struct gv_frame f = {0};
	ptrdiff_t must;
	size_t i;
	int rc;

	if (gv_frame_load(&f, path, e) != 0 ||
	    gv_frame_require(&f, "gpu_type", &must, e) != 0 ||
	    gv_frame_require(&f, "usd_per_h", &must, e) != 0)
		return -1;
	o->n = c->n_types;
	o->of_pool = gv_xcalloc(c->n_pools + 1, sizeof(*o->of_pool));
	for (i = 0; i < c->n_pools; i++)
		o->of_pool[i] = c->pool[i].type;
	all.row = gv_xcalloc(f.n_rows + 1, sizeof(*all.row));
	for (i = 0, rc = 0; i < f.n_rows && rc == 0; i++)
		rc = take_row(o, &all, c, &f, i, e);
	if (rc == 0)
		make_prices(o, &all);
	gv_hash_free(&all.sources);
	free(all.row);
	gv_frame_free(&f);
	return rc;
}

/* ---- bids ---- */

/* One of them, which ends at a comma. */
static int
take_bid(struct offers *o, const struct gv_cluster *c, const char *bid, size_t len,
    struct gv_error *e)
{
	const char *colon = memchr(bid, ':', len);
	const char *number = colon != NULL ? colon + 1 : bid;
	struct gv_cell name = {bid, colon != NULL ? (size_t)(colon - bid) : 0};
	char q[GV_QUOTE_LEN];
	double usd;
	size_t j;
	bool any = false;

	if (gv_parse_double(number, len - (size_t)(number - bid), &usd) != 0 || usd < 0)
		return gv_error_set(e,
		    "--bid: expected US dollars, as 1.2 or v100:1.2, "
		    "got %s",
		    gv_quote(q, bid, len));
	for (j = 0; j < c->n_types; j++)
		if (colon == NULL || gv_cell_is(name, c->type[j].name)) {
			o->bid[j] = usd;
			any = true;
		}
	return any ? 0
		   : gv_error_set(e, "--bid: the cluster has no GPU type %s",
			 gv_quote(q, name.s, name.len));
}

int
offers_bids(
    struct offers *o, const struct gv_cluster *c, const char *list, struct gv_error *e)
{
	size_t j;

	o->bid = gv_xcalloc(c->n_types + 1, sizeof(*o->bid));
	for (j = 0; j < c->n_types; j++)
		o->bid[j] = HUGE_VAL;
	for (;;) {
		size_t len = strcspn(list, ",");

		if (take_bid(o, c, list, len, e) != 0)
			return -1;
		if (list[len] == '\0')
			return 0;
		list += len + 1;
	}
}

void
offers_free(struct offers *o)
{
	free(o->of_pool);
	free(o->price);
	free(o->bid);
	*o = (struct offers){0};
}
