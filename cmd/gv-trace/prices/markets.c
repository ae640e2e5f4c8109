#include "markets.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "gv-trace/source/source.h"

enum { TIME, CLOUD, REGION, ZONE, INSTANCE, GPU, GPUS, PRICE, N_COLUMNS };

static const struct wanted columns[N_COLUMNS] = {
    [TIME] = {{"timestamp", "timestamp_utc", "first_seen"}, true},
    [CLOUD] = {{"cloud", "provider"}, true},
    [REGION] = {{"region"}, false},
    [ZONE] = {{"zone"}, true},
    [INSTANCE] = {{"instance", "instance_type"}, false},
    [GPU] = {{"gpu", "gpu_type"}, true},
    [GPUS] = {{"gpus", "num_gpus"}, true},
    [PRICE] = {{"price_usd_h", "usd_per_hour", "usd_per_h"}, true},
};

/* Whether the name is in the list. */
static bool
listed(const char *list, struct gv_cell name)
{
	while (list != NULL) {
		size_t len = strcspn(list, ",");

		if (len == name.len && memcmp(list, name.s, len) == 0)
			return true;
		if (list[len] == '\0')
			return false;
		list += len + 1;
	}
	return true;
}

static struct gv_cell
kept(struct gv_arena *a, struct gv_cell c, bool small)
{
	char *s = gv_arena_strndup(a, c.s, c.len);
	size_t i;

	for (i = 0; small && i < c.len; i++)
		s[i] = (char)tolower((unsigned char)s[i]);
	return (struct gv_cell){s, c.len};
}

static struct gv_cell
name_source(struct gv_arena *a, const struct market *m)
{
	struct gv_strbuf b = {0};
	struct gv_cell c;

	gv_strbuf_fmt(
	    &b, "%.*s/%.*s/", (int)m->cloud.len, m->cloud.s, (int)m->zone.len, m->zone.s);
	if (m->instance.len > 0)
		gv_strbuf_add(&b, m->instance.s, m->instance.len);
	else
		gv_strbuf_fmt(&b, "%lldx%.*s", (long long)m->gpus, (int)m->gpu_type.len,
		    m->gpu_type.s);
	c = kept(a, (struct gv_cell){b.s, b.len}, false);
	gv_strbuf_free(&b);
	return c;
}

/* The row's market in the list, which is new when it is not there. */
static struct market *
market_of(struct markets *m, struct gv_strbuf *key, const struct source *s, int64_t gpus)
{
	static const size_t parts[] = {CLOUD, ZONE, INSTANCE, GPU, GPUS};
	struct market *new;
	ptrdiff_t at;
	size_t i;

	gv_strbuf_clear(key);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct gv_cell c = source_cell(s, parts[i]);

		gv_strbuf_add(key, c.s, c.len);
		gv_strbuf_char(key, '\n');
	}
	at = gv_hash_find(&m->known, key->s, key->len);
	if (at >= 0)
		return &m->market[at];
	gv_hash_add(&m->known, gv_arena_strndup(&m->arena, key->s, key->len), key->len);
	m->market = gv_xgrow(m->market, &m->cap, m->n + 1, sizeof(*m->market));
	new = &m->market[m->n++];
	*new = (struct market){.cloud = kept(&m->arena, source_cell(s, CLOUD), false),
	    .region = kept(&m->arena, source_cell(s, REGION), false),
	    .zone = kept(&m->arena, source_cell(s, ZONE), false),
	    .instance = kept(&m->arena, source_cell(s, INSTANCE), false),
	    .gpu_type = kept(&m->arena, source_cell(s, GPU), true),
	    .gpus = gpus,
	    .mttp_s = INFINITY};
	new->source = name_source(&m->arena, new);
	return new;
}

/* The cell as a number in [min, max]. */
static int
read_number(const struct source *s, size_t k, double min, double max, double *v,
    struct gv_error *e)
{
	struct gv_cell c = source_cell(s, k);
	char q[GV_QUOTE_LEN];

	if (source_number(s, k, v, e) != 0)
		return -1;
	if (*v >= min && *v <= max)
		return 0;
	return source_error(s, k, e, "expected a number from %g to %g, got %s", min, max,
	    gv_quote(q, c.s, c.len));
}

static int
read_row(
    struct markets *m, struct gv_strbuf *key, const struct source *s, struct gv_error *e)
{
	struct gv_cell at = source_cell(s, TIME);
	double time_s, gpus, price;
	struct market *to;
	char q[GV_QUOTE_LEN];
	int rc = source_time(s, TIME, &time_s, e);

	rc |= read_number(s, GPUS, 1, 1e6, &gpus, e);
	rc |= read_number(s, PRICE, 0, 1e9, &price, e);
	if (rc != 0)
		return -1;
	if (isnan(time_s))
		return source_error(
		    s, TIME, e, "expected a time, got %s", gv_quote(q, at.s, at.len));
	to = market_of(m, key, s, (int64_t)gpus);
	to->point = gv_xgrow(to->point, &to->cap, to->n + 1, sizeof(*to->point));
	to->point[to->n++] = (struct price_point){time_s, price / gpus, m->n_rows};
	return 0;
}

int
markets_read(struct markets *m, const char *path, const struct market_filter *f,
    struct gv_error *e)
{
	struct gv_strbuf key = {0};
	struct source s;
	int row;

	if (source_table(&s, path, columns, N_COLUMNS, e) != 0)
		return -1;
	while (e->count < GV_ERROR_KEPT && (row = source_next(&s, e)) != 0) {
		struct gv_cell cloud;

		if (row < 0)
			continue;
		cloud = source_cell(&s, CLOUD);
		if (m->n_rows++ == 0)
			m->first_cloud = kept(&m->arena, cloud, false);
		if (listed(f->clouds, cloud) &&
		    listed(f->regions, source_cell(&s, REGION)))
			read_row(m, &key, &s, e);
	}
	source_close(&s);
	gv_strbuf_free(&key);
	return e->count > 0 ? -1 : 0;
}

static int
compare_cells(struct gv_cell a, struct gv_cell b)
{
	int c = memcmp(a.s, b.s, a.len < b.len ? a.len : b.len);

	return c != 0 ? c : a.len < b.len ? -1 : a.len > b.len;
}

static int
compare_markets(const void *one, const void *other)
{
	const struct market *a = one, *b = other;
	int c = compare_cells(a->cloud, b->cloud);

	c = c != 0 ? c : compare_cells(a->zone, b->zone);
	c = c != 0 ? c : compare_cells(a->instance, b->instance);
	c = c != 0 ? c : compare_cells(a->gpu_type, b->gpu_type);
	return c != 0 ? c : a->gpus < b->gpus ? -1 : a->gpus > b->gpus;
}

static int
compare_points(const void *one, const void *other)
{
	const struct price_point *a = one, *b = other;

	if (a->time_s != b->time_s)
		return a->time_s < b->time_s ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void
markets_sort(struct markets *m)
{
	size_t i;

	m->begin_s = INFINITY;
	m->end_s = -INFINITY;
	for (i = 0; i < m->n; i++) {
		const struct market *k = &m->market[i];

		qsort(k->point, k->n, sizeof(*k->point), compare_points);
		m->begin_s = fmin(m->begin_s, k->point[0].time_s);
		m->end_s = fmax(m->end_s, k->point[k->n - 1].time_s);
	}
	if (m->n > 0)
		qsort(m->market, m->n, sizeof(*m->market), compare_markets);
}

void
markets_free(struct markets *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		free(m->market[i].point);
	free(m->market);
	gv_hash_free(&m->known);
	gv_arena_free(&m->arena);
	*m = (struct markets){0};
}

double
market_price(const struct market *m, double time_s)
{
	size_t low = 0,
	       high = m->n; /* points before low are not later, from high on later */

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->point[mid].time_s <= time_s)
			low = mid + 1;
		else
			high = mid;
	}
	return low > 0 ? m->point[low - 1].usd_per_h : NAN;
}
