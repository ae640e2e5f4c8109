#include "table.h"

#include <stdlib.h>

struct row {
	double time_s;
	size_t market;
	double usd_per_h;
};

static int
compare_rows(const void *one, const void *other)
{
	const struct row *a = one, *b = other;

	if (a->time_s != b->time_s)
		return a->time_s < b->time_s ? -1 : 1;
	return a->market < b->market ? -1 : a->market > b->market;
}

/* The changes of a market from start_s on, to row[0..]; how many. */
static size_t
changes(struct row *row, const struct market *k, size_t market, double start_s)
{
	size_t i, n = 0;

	for (i = 0; i < k->n; i++) {
		double t = k->point[i].time_s, price = k->point[i].usd_per_h;

		if (i + 1 < k->n &&
		    (k->point[i + 1].time_s <= start_s || k->point[i + 1].time_s == t))
			continue; /* a later row replaces it */
		if (n > 0 && row[n - 1].usd_per_h == price)
			continue;
		row[n++] = (struct row){t > start_s ? t - start_s : 0, market, price};
	}
	return n;
}

size_t
price_table_write(struct gv_tabw *w, const struct markets *m, double start_s)
{
	struct row *row;
	size_t i, n = 0;

	for (i = 0; i < m->n; i++)
		n += m->market[i].n;
	row = gv_xcalloc(n, sizeof(*row));
	for (i = n = 0; i < m->n; i++)
		n += changes(row + n, &m->market[i], i, start_s);
	if (n > 0)
		qsort(row, n, sizeof(*row), compare_rows);
	gv_tabw_str(w, "gpu_type");
	gv_tabw_str(w, "usd_per_h");
	gv_tabw_str(w, "time_s");
	gv_tabw_str(w, "source");
	gv_tabw_end(w);
	for (i = 0; i < n; i++) {
		gv_tabw_cell(w, m->market[row[i].market].gpu_type);
		gv_tabw_double(w, row[i].usd_per_h);
		gv_tabw_double(w, row[i].time_s);
		gv_tabw_cell(w, m->market[row[i].market].source);
		gv_tabw_end(w);
	}
	free(row);
	return n;
}
