/* How long instances of a market live: markets_lifetimes. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/strbuf.h"
#include "gv-trace/source/source.h"
#include "markets.h"

enum { CLOUD, GPU, GPUS, START, END, OUTCOME, N_COLUMNS };

static const struct wanted columns[N_COLUMNS] = {
    [CLOUD] = {{"cloud", "provider"}, true},
    [GPU] = {{"gpu", "gpu_type"}, true},
    [GPUS] = {{"gpus", "num_gpus"}, true},
    [START] = {{"start"}, true},
    [END] = {{"end"}, true},
    [OUTCOME] = {{"outcome"}, true},
};

/* Of a cloud, GPU type and size. */
struct lives {
	struct gv_hash kinds;
	struct {
		double lived_s;
		size_t preempted;
	} * of; /* [kinds.n] */
	size_t cap;
	struct gv_arena keys;
	struct gv_strbuf key;
};

/* The key of a kind, in lives->key. */
static void
make_key(struct lives *l, struct gv_cell cloud, struct gv_cell gpu, int64_t gpus)
{
	size_t i;

	gv_strbuf_clear(&l->key);
	gv_strbuf_fmt(&l->key, "%lld\n", (long long)gpus);
	gv_strbuf_add(&l->key, cloud.s, cloud.len);
	gv_strbuf_char(&l->key, '\n');
	for (i = 0; i < gpu.len; i++)
		gv_strbuf_char(&l->key, (char)tolower((unsigned char)gpu.s[i]));
}

static int
read_life(struct lives *l, const struct source *s, struct gv_error *e)
{
	struct gv_cell outcome = source_cell(s, OUTCOME);
	char q[GV_QUOTE_LEN];
	double start, end, gpus;
	ptrdiff_t at;

	if (source_time(s, START, &start, e) != 0 || source_time(s, END, &end, e) != 0 ||
	    source_number(s, GPUS, &gpus, e) != 0)
		return -1;
	if (!(end >= start))
		return source_error(
		    s, END, e, "expected a time that is not before the start");
	if (!(gpus >= 1 && gpus <= 1e6))
		return source_error(s, GPUS, e, "expected a number from 1 to 1000000");
	if (!gv_cell_is(outcome, "preempted") && !gv_cell_is(outcome, "alive_at_end"))
		return source_error(s, OUTCOME, e,
		    "expected preempted or alive_at_end, got %s",
		    gv_quote(q, outcome.s, outcome.len));
	make_key(l, source_cell(s, CLOUD), source_cell(s, GPU), (int64_t)gpus);
	at = gv_hash_find(&l->kinds, l->key.s, l->key.len);
	if (at < 0) {
		at = (ptrdiff_t)gv_hash_add(&l->kinds,
		    gv_arena_strndup(&l->keys, l->key.s, l->key.len), l->key.len);
		l->of = gv_xgrow(l->of, &l->cap, l->kinds.n, sizeof(*l->of));
		l->of[at].lived_s = 0;
		l->of[at].preempted = 0;
	}
	l->of[at].lived_s += end - start;
	l->of[at].preempted += gv_cell_is(outcome, "preempted");
	return 0;
}

static int
read_lives(struct lives *l, const char *path, struct gv_error *e)
{
	struct source s;
	int row;

	if (source_table(&s, path, columns, N_COLUMNS, e) != 0)
		return -1;
	while (e->count < GV_ERROR_KEPT && (row = source_next(&s, e)) != 0)
		if (row == 1)
			read_life(l, &s, e);
	source_close(&s);
	return e->count > 0 ? -1 : 0;
}

int
markets_lifetimes(
    struct markets *m, const char *path, double otherwise, struct gv_error *e)
{
	struct lives l = {0};
	size_t i;
	int rc = path != NULL ? read_lives(&l, path, e) : 0;

	for (i = 0; rc == 0 && i < m->n; i++) {
		struct market *k = &m->market[i];
		ptrdiff_t at;

		make_key(&l, k->cloud, k->gpu_type, k->gpus);
		at = gv_hash_find(&l.kinds, l.key.s, l.key.len);
		if (at < 0)
			k->mttp_s = otherwise;
		else if (l.of[at].preempted > 0)
			k->mttp_s = l.of[at].lived_s / (double)l.of[at].preempted;
	}
	gv_hash_free(&l.kinds);
	gv_arena_free(&l.keys);
	gv_strbuf_free(&l.key);
	free(l.of);
	return rc;
}
