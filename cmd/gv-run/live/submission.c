#include "submission.h"

#include <string.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "gv-run/core/table.h"
#include "table/tab.h"

/* Columns that a run's table may have got since it began. */
static const char *const of_pairs[] = {"with_job_id", "with_steps_per_s"};

static bool
may_lack(struct gv_cell name)
{
	return table_computes(name) || gv_cell_is(name, of_pairs[0]) ||
	       gv_cell_is(name, of_pairs[1]);
}

static int
check_columns(const struct gv_frame *f, const struct submission_run *run,
    struct gv_error *slips, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];
	ptrdiff_t found;
	size_t i;
	int rc = 0;

	for (i = 0; i < run->table->n_columns; i++)
		if (!may_lack(run->table->name[i]))
			rc |= gv_frame_require(f, run->table->name[i].s, &found, e);
	if (run->shares)
		rc |= gv_frame_require(f, "share", &found, e);
	for (i = 0; i < f->n_columns; i++)
		if (!may_lack(f->name[i]) && gv_frame_find(run->table, f->name[i].s) < 0)
			gv_error_at(slips, f->file, f->header_line, NULL,
			    "column %s is none of the run's table, and left out",
			    gv_quote(q, f->name[i].s, f->name[i].len));
	return rc;
}

/* Where the run has no pools a job cannot be. */
static int
check_nodes(const struct gv_frame *f, const struct gv_cluster *c, struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(f, "node");
	char q[GV_QUOTE_LEN];
	size_t row, p;
	int rc = 0;

	for (row = 0; column >= 0 && row < f->n_rows; row++) {
		struct gv_cell node = gv_frame_cell(f, row, column);

		for (p = 0; p < c->n_pools && node.len > 0; p++)
			if (gv_cell_is(node, c->pool[p].node))
				break;
		if (p == c->n_pools)
			rc = gv_frame_error(f, row, column, e,
			    "the run has no GPUs on node %s",
			    gv_quote(q, node.s, node.len));
	}
	return rc;
}

/* Of a run without pairs neither the table nor the journal has a place for one. */
static int
check_pairs(const struct gv_frame *f, const struct gv_frame *table, struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(f, of_pairs[0]);
	size_t row;
	int rc = 0;

	if (gv_frame_find(table, of_pairs[0]) >= 0)
		return 0;
	for (row = 0; row < f->n_rows; row++)
		if (gv_frame_cell(f, row, column).len > 0)
			rc = gv_frame_error(
			    f, row, column, e, "the run has no pairs of jobs");
	return rc;
}

static int
check_jobs(const struct gv_rates *t, const struct submission_run *run, struct gv_error *e)
{
	ptrdiff_t command, id = gv_frame_find(&t->frame, "job_id");
	char q[GV_QUOTE_LEN];
	size_t m;
	int rc = gv_frame_require(&t->frame, "command", &command, e);

	for (m = 0; rc == 0 && m < t->n_jobs; m++)
		if (t->job[m].command.len == 0)
			gv_frame_error(&t->frame, t->job[m].row, command, e,
			    "expected a command, got nothing");
	for (m = 0; m < t->n_jobs; m++) {
		struct gv_cell name = t->job[m].id;

		if (gv_hash_find(run->known, name.s, name.len) >= 0)
			gv_frame_error(&t->frame, t->job[m].row, id, e,
			    "the run has a job %s already",
			    gv_quote(q, name.s, name.len));
	}
	return e->count > 0 ? -1 : 0;
}

int
submission_from(struct gv_rates *t, struct gv_frame *f, const struct submission_run *run,
    struct gv_error *slips, struct gv_error *e)
{
	*t = (struct gv_rates){0};
	if (check_columns(f, run, slips, e) != 0 ||
	    check_nodes(f, run->cluster, e) != 0 || check_pairs(f, run->table, e) != 0) {
		gv_frame_free(f);
		return -1;
	}
	if (gv_rates_from(t, f, run->cluster, e) != 0)
		return -1;
	gv_rates_spread(t, run->cluster);
	gv_rates_slips(t, run->cluster, slips);
	if (t->n_jobs == 0)
		gv_error_at(e, t->frame.file, 0, NULL, "no job");
	if (check_jobs(t, run, e) == 0 && gv_rates_check_types(t, run->cluster, e) == 0 &&
	    gv_rates_check_shares(t, e) == 0)
		return 0;
	gv_rates_free(t);
	return -1;
}

/* ---- the table with it ---- */

static void
write_cell(struct gv_tabw *w, const struct gv_rates *t, const struct gv_rate *rate,
    const struct gv_frame *like, size_t column)
{
	struct gv_cell name = like->name[column];

	if (gv_cell_is(name, "steps_remaining"))
		gv_tabw_double(w, t->job[rate->job].total_steps);
	else if (gv_cell_is(name, "share"))
		gv_tabw_double(w, rate->share);
	else if (gv_cell_is(name, "policy"))
		gv_tabw_cell(w, gv_frame_cell(like, 0, (ptrdiff_t)column));
	else if (table_computes(name))
		gv_tabw_double(w, 0);
	else
		gv_tabw_cell(w, gv_frame_cell(&t->frame, rate->row,
				    gv_frame_find(&t->frame, name.s)));
}

void
submission_add(
    struct gv_strbuf *text, const struct gv_rates *t, const struct gv_frame *like)
{
	struct gv_strbuf rows = {0};
	struct gv_out *out = gv_out_memory(&rows);
	struct gv_error e = {0};
	struct gv_tabw w;
	size_t header, i, k;

	gv_tabw_init(&w, out, false);
	for (k = 0; k < like->n_columns; k++)
		gv_tabw_cell(&w, like->name[k]);
	gv_tabw_end(&w);
	gv_out_flush(out);
	header = rows.len; /* the table has one */
	for (i = 0; i < t->n_rates; i++) {
		for (k = 0; k < like->n_columns; k++)
			write_cell(&w, t, &t->rate[i], like, k);
		gv_tabw_end(&w);
	}
	gv_out_close(out, &e);
	gv_strbuf_add(text, rows.s + header, rows.len - header);
	gv_strbuf_free(&rows);
}

void
submission_ids(struct gv_hash *ids, struct gv_arena *arena, const struct gv_frame *f)
{
	ptrdiff_t column = gv_frame_find(f, "job_id");
	size_t i;

	for (i = 0; i < f->n_rows; i++) {
		struct gv_cell id = gv_frame_cell(f, i, column);

		if (gv_hash_find(ids, id.s, id.len) < 0)
			gv_hash_add(ids, gv_arena_strndup(arena, id.s, id.len), id.len);
	}
}
