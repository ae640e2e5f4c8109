/* A plan as columns of the table of layers: stage, replicas, recompute, place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "gv-partition/fleet/fleet.h"
#include "layers.h"

static const char *const name[] = {"stage", "replicas", "recompute", "place", "gpu_type"};
enum {
	STAGE,
	REPLICAS,
	RECOMPUTE,
	PLACE,
	GPU_TYPE,
	COLUMNS
}; /* the last for a fleet only */

/* ---- writing ---- */

static void
write_value(struct gv_tabw *w, const struct machine *m, const struct plan *p,
    size_t stage, size_t column)
{
	const struct stage *s = &p->stage[stage];
	struct gv_strbuf place = {0};
	size_t l, replicas = 1;

	switch (column) {
	case STAGE:
		gv_tabw_int(w, (int64_t)stage);
		break;
	case REPLICAS:
		for (l = 0; l < m->n_levels; l++)
			replicas *= s->replicas[l];
		gv_tabw_int(w, (int64_t)replicas);
		break;
	case RECOMPUTE:
		gv_tabw_str(w, s->recompute ? "full" : "none");
		break;
	case GPU_TYPE:
		gv_tabw_str(w, p->fleet->type[s->type].name);
		break;
	default:
		for (l = m->n_levels; l-- > 0;)
			gv_strbuf_fmt(&place, "%s%zux%zu", place.len > 0 ? ";" : "",
			    s->within[l], s->replicas[l]);
		gv_tabw_str(w, place.s);
		gv_strbuf_free(&place);
	}
}

static void
write_edges(const struct gv_frame *f, struct gv_tabw *w)
{
	size_t i, k;

	gv_tabw_between(w);
	for (k = 0; k < f->n_columns; k++)
		gv_tabw_cell(w, f->name[k]);
	gv_tabw_end(w);
	for (i = 0; i < f->n_rows; i++) {
		for (k = 0; k < f->n_columns; k++)
			gv_tabw_cell(w, gv_frame_cell(f, i, (ptrdiff_t)k));
		gv_tabw_end(w);
	}
}

void
layers_write(const struct layers *l, const struct plan *p, const struct machine *m,
    struct gv_out *out, bool tsv)
{
	const struct gv_frame *f = &l->rows;
	size_t columns = p->fleet != NULL ? COLUMNS : GPU_TYPE;
	ptrdiff_t at[COLUMNS];
	struct gv_tabw w;
	size_t i, k, c;

	gv_tabw_init(&w, out, tsv);
	for (c = 0; c < columns; c++)
		at[c] = gv_frame_find(f, name[c]);
	for (k = 0; k < f->n_columns; k++)
		gv_tabw_cell(&w, f->name[k]);
	for (c = 0; c < columns; c++)
		if (at[c] < 0)
			gv_tabw_str(&w, name[c]);
	gv_tabw_end(&w);
	for (i = 0; i < f->n_rows; i++) {
		size_t stage = l->layer[i] < 0 ? 0 : p->of[l->layer[i]];

		for (k = 0; k < f->n_columns; k++) {
			for (c = 0; c < columns && at[c] != (ptrdiff_t)k; c++)
				;
			if (c < columns)
				write_value(&w, m, p, stage, c);
			else
				gv_tabw_cell(&w, gv_frame_cell(f, i, (ptrdiff_t)k));
		}
		for (c = 0; c < columns; c++)
			if (at[c] < 0)
				write_value(&w, m, p, stage, c);
		gv_tabw_end(&w);
	}
	if (l->edges_behind)
		write_edges(&l->edges, &w);
}

/* ---- reading ---- */

struct reader {
	const struct layers *l;
	const struct machine *m;
	ptrdiff_t at[COLUMNS];
	bool placed;
};

/* "0x2;1x4" into the levels of *s, outermost first; -1 when it is not so. */
static int
parse_place(struct stage *s, const struct machine *m, struct gv_cell cell)
{
	const char *p = cell.s;
	size_t l;

	for (l = m->n_levels; l-- > 0;) {
		size_t a = strspn(p, "0123456789"), b;
		int64_t stage, replicas;

		if (p[a] != 'x')
			return -1;
		b = strspn(p + a + 1, "0123456789");
		if (gv_parse_int(p, a, &stage) != 0 ||
		    gv_parse_int(p + a + 1, b, &replicas) != 0 || replicas < 1 ||
		    replicas > GPUS || p[a + 1 + b] != (l > 0 ? ';' : '\0'))
			return -1;
		s->within[l] = (size_t)stage;
		s->replicas[l] = (size_t)replicas;
		p += a + 1 + b + 1;
	}
	return 0;
}

/* Whether every row has a place on all levels of the machine. */
static bool
all_placed(const struct reader *r)
{
	struct stage s;
	size_t v;

	for (v = 0; v < r->l->g.n; v++)
		if (r->at[PLACE] < 0 ||
		    parse_place(&s, r->m,
			gv_frame_cell(&r->l->rows, r->l->row[v], r->at[PLACE])) != 0)
			return false;
	return true;
}

static int
read_row(const struct reader *r, size_t row, int64_t *stage, struct stage *s,
    struct gv_error *e)
{
	const struct gv_frame *f = &r->l->rows;
	struct gv_cell recompute = gv_frame_cell(f, row, r->at[RECOMPUTE]);
	char q[GV_QUOTE_LEN];
	int64_t replicas = 0;
	size_t l, product = 1;

	memset(s, 0, sizeof(*s));
	if (gv_frame_int(f, row, r->at[STAGE], INT64_MIN, stage, e) != 0 ||
	    gv_frame_int(f, row, r->at[REPLICAS], INT64_MIN, &replicas, e) != 0)
		return -1;
	if (*stage < 0 || *stage >= (int64_t)r->l->g.n)
		return gv_frame_error(f, row, r->at[STAGE], e,
		    "expected a whole number from 0 to %zu, got \"%lld\"", r->l->g.n - 1,
		    (long long)*stage);
	if (replicas < 1 || replicas > GPUS)
		return gv_frame_error(f, row, r->at[REPLICAS], e,
		    "expected a whole number from 1 to %d, got \"%lld\"", GPUS,
		    (long long)replicas);
	s->recompute = gv_cell_is(recompute, "full");
	if (!s->recompute && recompute.len > 0 && !gv_cell_is(recompute, "none"))
		return gv_frame_error(f, row, r->at[RECOMPUTE], e,
		    "expected none or full, got %s",
		    gv_quote(q, recompute.s, recompute.len));
	s->replicas[0] = (size_t)replicas;
	if (!r->placed)
		return 0;
	parse_place(s, r->m, gv_frame_cell(f, row, r->at[PLACE]));
	for (l = 0; l < r->m->n_levels; l++)
		product *= s->replicas[l];
	if (product != (size_t)replicas)
		return gv_frame_error(f, row, r->at[PLACE], e,
		    "expected replicas whose product is %lld", (long long)replicas);
	return 0;
}

static bool
same_stage(const struct stage *a, const struct stage *b)
{
	size_t l;

	for (l = 0; l < LEVELS; l++)
		if (a->replicas[l] != b->replicas[l] || a->within[l] != b->within[l])
			return false;
	return a->recompute == b->recompute;
}

int
layers_plan(struct plan *p, const struct layers *l, const struct machine *m, bool *flat,
    struct gv_error *e)
{
	struct reader r = {.l = l, .m = m};
	bool *known;
	size_t v, c;
	int rc = 0;

	memset(p, 0, sizeof(*p));
	for (c = 0; c < COLUMNS; c++)
		r.at[c] = gv_frame_find(&l->rows, name[c]);
	if (gv_frame_require(&l->rows, "stage", &r.at[STAGE], e) != 0 ||
	    gv_frame_require(&l->rows, "replicas", &r.at[REPLICAS], e) != 0)
		return -1;
	r.placed = all_placed(&r);
	*flat = !r.placed && m->n_levels > 1;
	p->stage = gv_xcalloc(l->g.n, sizeof(*p->stage));
	p->of = gv_xcalloc(l->g.n, sizeof(*p->of));
	known = gv_xcalloc(l->g.n, sizeof(*known));
	for (v = 0; v < l->g.n; v++) {
		struct stage s;
		int64_t stage = 0;

		if (read_row(&r, l->row[v], &stage, &s, e) != 0) {
			rc = -1;
			continue;
		}
		s.within[0] = (size_t)stage;
		if (known[stage] && !same_stage(&s, &p->stage[stage]))
			rc = gv_frame_error(&l->rows, l->row[v], r.at[STAGE], e,
			    "other rows of stage %lld have another replicas, recompute "
			    "or place",
			    (long long)stage);
		known[stage] = true;
		p->stage[stage] = s;
		p->of[v] = (uint32_t)stage;
		if ((size_t)stage >= p->n)
			p->n = (size_t)stage + 1;
	}
	free(known);
	return rc;
}
