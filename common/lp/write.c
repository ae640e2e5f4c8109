/* CPLEX LP format. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "lp/lp.h"

struct writer {
	const struct gv_lp *lp;
	const struct gv_lp_names *names;
	struct gv_out *out;
	size_t terms; /* on the present line */
};

static const char *
name_of(const struct writer *w, bool row, size_t i, char buf[GV_LP_NAME_LEN])
{
	gv_lp_namer *namer = w->names == NULL ? NULL
			     : row            ? w->names->row
					      : w->names->col;

	if (!row && i >= w->lp->n_cols) /* the format knows no empty sums */
		snprintf(buf, GV_LP_NAME_LEN, "nothing");
	else if (namer != NULL)
		namer(w->names->ctx, i, buf);
	else
		snprintf(buf, GV_LP_NAME_LEN, "%c%zu", row ? 'r' : 'x', i + 1);
	return buf;
}

static const char *
number(double v, char buf[GV_NUM_LEN])
{
	gv_format_double(buf, v);
	return buf;
}

static void
put_term(struct writer *w, double value, size_t col)
{
	char num[GV_NUM_LEN];
	char name[GV_LP_NAME_LEN];

	if (w->terms > 0 && w->terms % 5 == 0)
		gv_out_str(w->out, "\n ");
	gv_out_fmt(w->out, " %c %s %s", value < 0 ? '-' : '+', number(fabs(value), num),
	    name_of(w, false, col, name));
	w->terms++;
}

/* order[] holds the entries row by row; start[i] where row i begins. */
struct by_row {
	size_t *start, *order;
};

static void
sort_entries(struct by_row *r, const struct gv_lp *lp)
{
	size_t i;

	r->start = gv_xcalloc(lp->n_rows + 2, sizeof(*r->start));
	r->order = gv_xcalloc(lp->n_entries, sizeof(*r->order));
	for (i = 0; i < lp->n_entries; i++)
		r->start[lp->entry[i].row + 2]++;
	for (i = 0; i < lp->n_rows; i++)
		r->start[i + 2] += r->start[i + 1];
	for (i = 0; i < lp->n_entries; i++)
		r->order[r->start[lp->entry[i].row + 1]++] = i;
}

static void
put_row(struct writer *w, const struct by_row *r, size_t i, const char *suffix,
    const char *sense, double bound)
{
	char name[GV_LP_NAME_LEN];
	char num[GV_NUM_LEN];
	size_t k;

	gv_out_fmt(w->out, " %s%s:", name_of(w, true, i, name), suffix);
	w->terms = 0;
	for (k = r->start[i]; k < r->start[i + 1]; k++)
		put_term(
		    w, w->lp->entry[r->order[k]].value, w->lp->entry[r->order[k]].col);
	if (r->start[i] == r->start[i + 1])
		put_term(w, 0, 0);
	gv_out_fmt(w->out, " %s %s\n", sense, number(bound, num));
}

static void
put_rows(struct writer *w)
{
	const struct gv_lp *lp = w->lp;
	struct by_row r;
	size_t i;

	sort_entries(&r, lp);
	gv_out_str(w->out, "\nSubject To\n");
	for (i = 0; i < lp->n_rows; i++) {
		bool lo = isfinite(lp->row_lo[i]);
		bool hi = isfinite(lp->row_hi[i]);

		if (lo && hi && lp->row_lo[i] == lp->row_hi[i]) {
			put_row(w, &r, i, "", "=", lp->row_lo[i]);
			continue;
		}
		if (lo)
			put_row(w, &r, i, hi ? "_lo" : "", ">=", lp->row_lo[i]);
		if (hi)
			put_row(w, &r, i, lo ? "_hi" : "", "<=", lp->row_hi[i]);
	}
	free(r.start);
	free(r.order);
}

/* The format's own bounds are 0 and infinity: the rest is listed. */
static void
put_bounds(struct writer *w)
{
	const struct gv_lp *lp = w->lp;
	char name[GV_LP_NAME_LEN];
	char num[2][GV_NUM_LEN];
	size_t i;

	gv_out_str(w->out, "\nBounds\n");
	for (i = 0; i < lp->n_cols; i++) {
		double lo = lp->col_lo[i];
		double hi = lp->col_hi[i];

		name_of(w, false, i, name);
		if (isinf(lo) && isinf(hi))
			gv_out_fmt(w->out, " %s free\n", name);
		else if (lo == hi)
			gv_out_fmt(w->out, " %s = %s\n", name, number(lo, num[0]));
		else if (isinf(lo))
			gv_out_fmt(
			    w->out, " -inf <= %s <= %s\n", name, number(hi, num[1]));
		else if (isfinite(hi))
			gv_out_fmt(w->out, " %s <= %s <= %s\n", number(lo, num[0]), name,
			    number(hi, num[1]));
		else if (lo != 0)
			gv_out_fmt(w->out, " %s >= %s\n", name, number(lo, num[0]));
	}
}

static void
put_integers(struct writer *w)
{
	char name[GV_LP_NAME_LEN];
	size_t i;

	if (!w->lp->has_integer)
		return;
	gv_out_str(w->out, "\nGeneral\n");
	for (i = 0; i < w->lp->n_cols; i++)
		if (w->lp->integer[i])
			gv_out_fmt(w->out, " %s\n", name_of(w, false, i, name));
}

static void
put_comment(struct writer *w, const char *text)
{
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		gv_out_fmt(w->out, "\\ %.*s\n", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

void
gv_lp_write(const struct gv_lp *lp, const struct gv_lp_names *names, struct gv_out *out)
{
	struct writer w = {lp, names, out, 0};
	size_t i;

	if (names != NULL && names->head != NULL)
		put_comment(&w, names->head);
	gv_out_str(out, lp->maximise ? "Maximize\n obj:" : "Minimize\n obj:");
	for (i = 0; i < lp->n_cols; i++)
		if (lp->cost[i] != 0)
			put_term(&w, lp->cost[i], i);
	if (w.terms == 0)
		put_term(&w, 0, 0);
	gv_out_char(out, '\n');
	put_rows(&w);
	put_bounds(&w);
	put_integers(&w);
	gv_out_str(out, "\nEnd\n");
}

static void
listed_row(void *ctx, size_t row, char buf[GV_LP_NAME_LEN])
{
	const struct gv_lp_name_table *t = ctx;

	memcpy(buf, t->row[row], GV_LP_NAME_LEN);
}

static void
listed_col(void *ctx, size_t col, char buf[GV_LP_NAME_LEN])
{
	const struct gv_lp_name_table *t = ctx;

	memcpy(buf, t->col[col], GV_LP_NAME_LEN);
}

struct gv_lp_name_table *
gv_lp_name_table(const struct gv_lp *lp, struct gv_lp_names *names)
{
	struct gv_lp_name_table *t =
	    gv_xcalloc(1, sizeof(*t) + (lp->n_rows + lp->n_cols) * GV_LP_NAME_LEN);

	t->row = (void *)(t + 1); /* one piece of memory */
	t->col = t->row + lp->n_rows;
	*names = (struct gv_lp_names){listed_row, listed_col, t, NULL};
	return t;
}
