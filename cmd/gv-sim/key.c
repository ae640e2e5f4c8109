#include "key.h"

#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "net/hmac.h"

static void
add_text(struct gv_sha256 *sum, const char *s, size_t len)
{
	gv_sha256_add(sum, &len, sizeof(len));
	gv_sha256_add(sum, s, len);
}

static void
add_number(struct gv_sha256 *sum, double v)
{
	gv_sha256_add(sum, &v, sizeof(v));
}

/* Of each list, so that what ends one does not look like what begins the next. */
static void
add_length(struct gv_sha256 *sum, size_t n)
{
	gv_sha256_add(sum, &n, sizeof(n));
}

static void
add_frame(struct gv_sha256 *sum, const struct gv_frame *f)
{
	size_t i;
	size_t k;

	add_length(sum, f->n_columns);
	add_length(sum, f->n_rows);
	for (k = 0; k < f->n_columns; k++)
		add_text(sum, f->name[k].s, f->name[k].len);
	for (i = 0; i < f->n_rows; i++)
		for (k = 0; k < f->n_columns; k++) {
			struct gv_cell c = gv_frame_cell(f, i, (ptrdiff_t)k);

			add_text(sum, c.s, c.len);
		}
}

static void
add_cluster(struct gv_sha256 *sum, const struct gv_cluster *c)
{
	size_t i;

	add_length(sum, c->n_types);
	add_length(sum, c->n_pools);
	for (i = 0; i < c->n_types; i++) {
		add_text(sum, c->type[i].name, strlen(c->type[i].name));
		add_number(sum, c->type[i].usd_per_h);
	}
	for (i = 0; i < c->n_pools; i++) {
		add_text(sum, c->pool[i].node, strlen(c->pool[i].node));
		add_number(sum, (double)c->pool[i].type);
		add_number(sum, (double)c->pool[i].gpus);
	}
}

static void
add_world(struct gv_sha256 *sum, const struct tables *t)
{
	size_t i;

	add_length(sum, t->n_changes);
	add_length(sum, t->offers.n_prices);
	for (i = 0; i < t->n_changes; i++) {
		add_number(sum, t->change[i].time_s);
		add_number(sum, (double)t->change[i].pool);
		add_number(sum, t->change[i].away);
	}
	for (i = 0; i < t->offers.n_prices; i++) {
		add_number(sum, t->offers.price[i].time_s);
		add_number(sum, (double)t->offers.price[i].offer);
		add_number(sum, t->offers.price[i].usd_per_h);
	}
	for (i = 0; t->offers.bid != NULL && i < t->cluster.n_types; i++)
		add_number(sum, t->offers.bid[i]);
}

static void
add_settings(struct gv_sha256 *sum, const struct sim_settings *s)
{
	const double v[] = {s->round_s, s->order, s->shuffle, (double)s->seed, s->strict,
	    s->in_step, s->ask_first, s->ideal, s->interval_s, s->load_s, s->save_s,
	    s->checkpoint_s, s->node_mtbf_s, s->repair_s, s->job_mtbf_s,
	    (double)s->fault_seed, s->max_failures, s->ask_every_s};
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		add_number(sum, v[i]);
}

void
key_of(const struct tables *t, const struct options *o, char key[JOURNAL_KEY_LEN + 1])
{
	unsigned char digest[GV_SHA256_LEN];
	struct gv_sha256 sum;
	size_t i;

	gv_sha256_begin(&sum);
	add_text(&sum, o->policy, strlen(o->policy));
	add_frame(&sum, &t->rates.frame);
	add_cluster(&sum, &t->cluster);
	add_world(&sum, t);
	add_settings(&sum, &o->sim);
	gv_sha256_end(&sum, digest);
	for (i = 0; i < GV_SHA256_LEN; i++)
		snprintf(key + 2 * i, 3, "%02x", (unsigned)digest[i]);
}
