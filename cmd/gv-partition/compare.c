#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "explain.h"

/* ---- reading ---- */

static int
read_rows(struct gv_frame *f, const char *path, struct gv_error *e)
{
	struct gv_tab *t;
	int rc = -1;

	if (gv_tab_open(&t, path, e) != 0)
		return -1;
	if (gv_tab_table(t, e) == 1)
		rc = gv_frame_read(f, t, e);
	gv_tab_close(t);
	return rc;
}

static int
find_rows(struct gv_layers *b, const struct gv_layers *a, struct gv_error *e)
{
	ptrdiff_t of_a = gv_frame_find(&a->rows, "node_id"), of_b;
	struct gv_hash ids = {0};
	char q[GV_QUOTE_LEN];
	size_t i;
	int rc = 0;

	if (gv_frame_require(&b->rows, "node_id", &of_b, e) != 0)
		return -1;
	for (i = 0; i < b->rows.n_rows; i++) {
		struct gv_cell id = gv_frame_cell(&b->rows, i, of_b);

		if (gv_hash_add(&ids, id.s, id.len) != i) {
			rc = gv_frame_error(&b->rows, i, of_b, e, "duplicate node_id %s",
			    gv_quote(q, id.s, id.len));
			break;
		}
	}
	for (i = 0; rc == 0 && i < a->g.n; i++) {
		struct gv_cell id = gv_frame_cell(&a->rows, a->row[i], of_a);
		ptrdiff_t at = gv_hash_find(&ids, id.s, id.len);

		if (at < 0)
			rc = gv_error_at(e, b->rows.file, b->rows.header_line, NULL,
			    "no row for layer %s", gv_quote(q, id.s, id.len));
		b->row[i] = (size_t)at;
	}
	gv_hash_free(&ids);
	return rc;
}

int
compare_read(
    struct gv_layers *b, const struct gv_layers *a, const char *path, struct gv_error *e)
{
	*b = (struct gv_layers){.g = a->g};
	if (read_rows(&b->rows, path, e) != 0)
		return -1;
	b->row = gv_xcalloc(a->g.n, sizeof(*b->row));
	return find_rows(b, a, e);
}

void
compare_free(struct gv_layers *b)
{
	gv_frame_free(&b->rows);
	free(b->row);
	memset(b, 0, sizeof(*b));
}

/* ---- writing ---- */

static size_t
replicas_of(const struct gv_stage *s, const struct gv_machine *m)
{
	size_t n = 1, l;

	for (l = 0; l < m->n_levels; l++)
		n *= s->replicas[l] > 0 ? s->replicas[l] : 1;
	return n;
}

/* Whether a layer does not stay where it was, as it was. */
static bool
moved(const struct compared *pair, const struct gv_machine *m, size_t layer)
{
	uint32_t i = pair[0].p->of[layer], k = pair[1].p->of[layer];
	const struct gv_stage *a = &pair[0].p->stage[i], *b = &pair[1].p->stage[k];

	return i != k || replicas_of(a, m) != replicas_of(b, m) ||
	       a->recompute != b->recompute;
}

static void
write_plan(struct gv_tabw *w, const struct compared *c, const struct plan_report *first,
    size_t layers_moved, const struct cost_rules *rules)
{
	const struct stage_report *slowest = &c->r->row[c->r->slowest];
	double memory = 0, transfer = 0, sync = 0;
	size_t i;

	for (i = 0; i < c->r->n; i++) {
		const struct stage_report *s = &c->r->row[i];

		if (s->level > 0)
			continue;
		memory = s->memory > memory ? s->memory : memory;
		transfer += 2 * s->size.in;
		sync += s->gpus > 1 ? s->size.parameter : 0;
	}
	gv_tabw_str(w, c->name);
	gv_tabw_int(w, (int64_t)c->p->n);
	gv_tabw_int(w, (int64_t)c->r->gpus);
	gv_tabw_double(w, c->r->bottleneck_s);
	gv_tabw_int(w, (int64_t)slowest->stage);
	gv_tabw_str(w, explain_limit(&slowest->terms, rules->model));
	gv_tabw_double(w, memory);
	gv_tabw_double(w, transfer);
	gv_tabw_double(w, sync);
	gv_tabw_int(w, (int64_t)layers_moved);
	gv_tabw_double(w, first->bottleneck_s / c->r->bottleneck_s);
	gv_tabw_end(w);
}

static void
write_names(struct gv_tabw *w, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		gv_tabw_str(w, names[i]);
	gv_tabw_end(w);
}

static void
write_moves(struct gv_tabw *w, const struct gv_layers *l, const struct gv_machine *m,
    const struct compared *pair)
{
	static const char *const names[] = {"node_id", "stage", "new_stage", "replicas",
	    "new_replicas", "recompute", "new_recompute"};
	ptrdiff_t id = gv_frame_find(&l->rows, "node_id");
	size_t v;

	write_names(w, names, sizeof(names) / sizeof(names[0]));
	for (v = 0; v < l->g.n; v++) {
		uint32_t i = pair[0].p->of[v], k = pair[1].p->of[v];
		const struct gv_stage *a = &pair[0].p->stage[i],
				      *b = &pair[1].p->stage[k];

		if (!moved(pair, m, v))
			continue;
		gv_tabw_cell(w, gv_frame_cell(&l->rows, l->row[v], id));
		gv_tabw_int(w, (int64_t)i);
		gv_tabw_int(w, (int64_t)k);
		gv_tabw_int(w, (int64_t)replicas_of(a, m));
		gv_tabw_int(w, (int64_t)replicas_of(b, m));
		gv_tabw_str(w, a->recompute ? "full" : "none");
		gv_tabw_str(w, b->recompute ? "full" : "none");
		gv_tabw_end(w);
	}
}

void
compare_write(const struct gv_layers *l, const struct gv_machine *m,
    const struct compared *pair, const struct cost_rules *rules, struct gv_out *out,
    bool tsv)
{
	static const char *const names[] = {"plan", "stages", "gpus", "slowest_s",
	    "slowest_stage", "limit", "memory_bytes", "transfer_bytes", "sync_bytes",
	    "layers_moved", "speed"};
	struct gv_tabw w;
	size_t v, n = 0;

	for (v = 0; v < l->g.n; v++)
		n += moved(pair, m, v);
	gv_tabw_init(&w, out, tsv);
	write_names(&w, names, sizeof(names) / sizeof(names[0]));
	write_plan(&w, &pair[0], pair[0].r, 0, rules);
	write_plan(&w, &pair[1], pair[0].r, n, rules);
	gv_tabw_between(&w);
	write_moves(&w, l, m, pair);
}
