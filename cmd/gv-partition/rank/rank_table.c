/* The table of ranked plans. */
#include <math.h>

#include "base/strbuf.h"
#include "rank_table.h"

static const char *const name[] = {"rank", "step_s", "speedup", "bubble_share", "stages",
    "gpus", "replicas", "gpu_types", "flat", "recompute", "in_flight", "memory_bytes",
    "first_layers"};

/* Of each stage: replicas. */
static void
replicas(struct gv_strbuf *b, const struct ranked *r)
{
	size_t k, l, n;

	for (k = 0; k < r->plan.n; k++) {
		for (n = 1, l = 0; l < r->machine.n_levels; l++)
			n *= r->plan.stage[k].replicas[l];
		gv_strbuf_fmt(b, "%s%zu", k > 0 ? ";" : "", n);
	}
}

/* Of each stage, where GPUs have types. */
static void
gpu_types(struct gv_strbuf *b, const struct gv_plan *p)
{
	size_t k;

	for (k = 0; k < p->n && p->fleet != NULL; k++)
		gv_strbuf_fmt(
		    b, "%s%s", k > 0 ? ";" : "", p->fleet->type[p->stage[k].type].name);
}

static void
recompute(struct gv_strbuf *b, const struct gv_plan *p)
{
	size_t k, n = 0;

	for (k = 0; k < p->n; k++)
		n += p->stage[k].recompute;
	if (n == 0 || n == p->n) {
		gv_strbuf_str(b, n == 0 ? "none" : "full");
		return;
	}
	for (k = 0; k < p->n; k++)
		gv_strbuf_fmt(
		    b, "%s%s", k > 0 ? ";" : "", p->stage[k].recompute ? "full" : "none");
}

/* The first row of each stage. */
static void
first_layers(struct gv_strbuf *b, const struct gv_plan *p, const struct gv_layers *l)
{
	ptrdiff_t id = gv_frame_find(&l->rows, "node_id");
	size_t k, v;

	for (k = 0; k < p->n; k++) {
		struct gv_cell c;

		for (v = 0; v + 1 < l->g.n && p->of[v] != k; v++)
			;
		c = gv_frame_cell(&l->rows, l->row[v], id);
		if (k > 0)
			gv_strbuf_char(b, ';');
		gv_strbuf_add(b, c.s, c.len);
	}
}

static void
write_row(
    struct gv_tabw *w, const struct ranked *r, size_t rank, const struct gv_layers *l)
{
	struct gv_strbuf b = {0};

	gv_tabw_int(w, (int64_t)rank);
	gv_tabw_double(w, round(r->step_s * 1e12) / 1e12);
	gv_tabw_double(w, round(r->report.single_s / r->step_s * 1e6) / 1e6);
	gv_tabw_double(w, round(r->bubble * 1e6) / 1e6);
	gv_tabw_int(w, (int64_t)r->plan.n);
	gv_tabw_int(w, (int64_t)r->report.gpus);
	replicas(&b, r);
	gv_tabw_str(w, b.s);
	gv_strbuf_clear(&b);
	gv_strbuf_str(&b, "");
	gpu_types(&b, &r->plan);
	gv_tabw_str(w, b.s);
	gv_tabw_str(w, r->machine.n_levels == 1 ? "yes" : "no");
	gv_strbuf_clear(&b);
	recompute(&b, &r->plan);
	gv_tabw_str(w, b.s);
	gv_tabw_int(w, (int64_t)r->in_flight);
	gv_tabw_double(w, round(r->bytes));
	gv_strbuf_clear(&b);
	first_layers(&b, &r->plan, l);
	gv_tabw_str(w, b.s);
	gv_tabw_end(w);
	gv_strbuf_free(&b);
}

void
ranking_write(const struct ranking *k, size_t top, const struct gv_layers *l,
    struct gv_out *out, bool tsv)
{
	struct gv_tabw w;
	size_t i;

	gv_tabw_init(&w, out, tsv);
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		gv_tabw_str(&w, name[i]);
	gv_tabw_end(&w);
	for (i = 0; i < k->n && (top == 0 || i < top); i++)
		write_row(&w, &k->row[i], i + 1, l);
}
