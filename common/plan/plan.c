/* A plan as columns of the table of layers: stage, replicas, recompute, place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "plan/plan.h"
#include "table/kind.h"

static const char *const name[] = {"stage", "replicas", "recompute", "place", "gpu_type"};
enum {
	STAGE,
	REPLICAS,
	RECOMPUTE,
	PLACE,
	GPU_TYPE,
	COLUMNS
}; /* the last for a fleet only */

void
gv_plan_free(struct gv_plan *p)
{
	free(p->stage);
	free(p->of);
	memset(p, 0, sizeof(*p));
}

/* ---- writing ---- */

static void
write_value(struct gv_tabw *w, const struct gv_machine *m, const struct gv_plan *p,
    size_t stage, size_t column)
{
	const struct gv_stage *s = &p->stage[stage];
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
gv_plan_write(const struct gv_layers *l, const struct gv_plan *p,
    const struct gv_machine *m, struct gv_out *out, bool tsv)
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

struct gv_plan_columns
gv_plan_columns(const struct gv_frame *f)
{
	return (struct gv_plan_columns){
	    .stage = gv_frame_find(f, name[STAGE]),
	    .replicas = gv_frame_find(f, name[REPLICAS]),
	    .recompute = gv_frame_find(f, name[RECOMPUTE]),
	    .place = gv_frame_find(f, name[PLACE]),
	    .gpu_type = gv_frame_find(f, name[GPU_TYPE]),
	};
}

int
gv_plan_row(struct gv_plan_row *r, const struct gv_frame *f,
    const struct gv_plan_columns *c, size_t row, size_t n_stages, struct gv_error *e)
{
	struct gv_cell recompute = gv_frame_cell(f, row, c->recompute);

	*r = (struct gv_plan_row){.replicas = 1,
	    .recompute = gv_cell_is(recompute, "full"),
	    .place = gv_frame_cell(f, row, c->place),
	    .gpu_type = gv_frame_cell(f, row, c->gpu_type)};
	if (gv_frame_int(f, row, c->stage, INT64_MIN, &r->stage, e) != 0 ||
	    (c->replicas >= 0 &&
		gv_frame_int(f, row, c->replicas, INT64_MIN, &r->replicas, e) != 0))
		return -1;
	if (r->stage < 0 || r->stage >= (int64_t)n_stages)
		return gv_frame_error(f, row, c->stage, e,
		    "expected a whole number from 0 to %zu, got \"%lld\"", n_stages - 1,
		    (long long)r->stage);
	if (r->replicas < 1 || r->replicas > GV_PLAN_GPUS)
		return gv_frame_error(f, row, c->replicas, e,
		    "expected a whole number from 1 to %d, got \"%lld\"", GV_PLAN_GPUS,
		    (long long)r->replicas);
	if (!r->recompute && recompute.len > 0 && !gv_cell_is(recompute, "none"))
		return gv_frame_expected(f, row, c->recompute, e, "none or full");
	return 0;
}

struct reader {
	const struct gv_layers *l;
	const struct gv_machine *m;
	struct gv_plan_columns at;
	bool placed;
};

/* "0x2;1x4" into the levels of *s, outermost first; -1 when it is not so. */
static int
parse_place(struct gv_stage *s, const struct gv_machine *m, struct gv_cell cell)
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
		    replicas > GV_PLAN_GPUS || p[a + 1 + b] != (l > 0 ? ';' : '\0'))
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
	struct gv_stage s;
	size_t v;

	for (v = 0; v < r->l->g.n; v++)
		if (r->at.place < 0 ||
		    parse_place(&s, r->m,
			gv_frame_cell(&r->l->rows, r->l->row[v], r->at.place)) != 0)
			return false;
	return true;
}

static int
read_row(const struct reader *r, size_t row, int64_t *stage, struct gv_stage *s,
    struct gv_error *e)
{
	const struct gv_frame *f = &r->l->rows;
	struct gv_plan_row cells;
	size_t l, product = 1;

	memset(s, 0, sizeof(*s));
	if (gv_plan_row(&cells, f, &r->at, row, r->l->g.n, e) != 0)
		return -1;
	*stage = cells.stage;
	s->recompute = cells.recompute;
	s->replicas[0] = (size_t)cells.replicas;
	if (!r->placed)
		return 0;
	parse_place(s, r->m, cells.place);
	for (l = 0; l < r->m->n_levels; l++)
		product *= s->replicas[l];
	if (product != (size_t)cells.replicas)
		return gv_frame_error(f, row, r->at.place, e,
		    "expected replicas whose product is %lld", (long long)cells.replicas);
	return 0;
}

static bool
same_stage(const struct gv_stage *a, const struct gv_stage *b)
{
	size_t l;

	for (l = 0; l < GV_PLAN_LEVELS; l++)
		if (a->replicas[l] != b->replicas[l] || a->within[l] != b->within[l])
			return false;
	return a->recompute == b->recompute;
}

int
gv_plan_read(struct gv_plan *p, const struct gv_layers *l, const struct gv_machine *m,
    bool *flat, struct gv_error *e)
{
	struct reader r = {.l = l, .m = m};
	bool *known;
	size_t v;
	int rc = 0;

	memset(p, 0, sizeof(*p));
	r.at = gv_plan_columns(&l->rows);
	if (gv_frame_expect(&l->rows, GV_KIND_PLAN, e) != 0 ||
	    gv_frame_require(&l->rows, "stage", &r.at.stage, e) != 0 ||
	    gv_frame_require(&l->rows, "replicas", &r.at.replicas, e) != 0)
		return -1;
	r.placed = all_placed(&r);
	*flat = !r.placed && m->n_levels > 1;
	p->stage = gv_xcalloc(l->g.n, sizeof(*p->stage));
	p->of = gv_xcalloc(l->g.n, sizeof(*p->of));
	known = gv_xcalloc(l->g.n, sizeof(*known));
	for (v = 0; v < l->g.n; v++) {
		struct gv_stage s;
		int64_t stage = 0;

		if (read_row(&r, l->row[v], &stage, &s, e) != 0) {
			rc = -1;
			continue;
		}
		s.within[0] = (size_t)stage;
		if (known[stage] && !same_stage(&s, &p->stage[stage]))
			rc = gv_frame_error(&l->rows, l->row[v], r.at.stage, e,
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
