#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/hash.h"
#include "base/mem.h"
#include "table/tab.h"
#include "table_columns.h"

/* ---- reading ---- */

static int
check_commands(const struct gv_rates *t, struct gv_error *e)
{
	ptrdiff_t column;
	size_t m;
	int r = 0;

	if (gv_frame_require(&t->frame, "command", &column, e) != 0)
		return -1;
	for (m = 0; m < t->n_jobs; m++)
		if (t->job[m].command.len == 0)
			r = gv_frame_error(&t->frame, t->job[m].row, column, e,
			    "expected a command, got nothing");
	return r;
}

int
table_read(struct gv_rates *t, const char *path, const struct gv_cluster *c,
    const struct node_choice *node, bool shares, struct gv_error *slips,
    struct gv_error *e)
{
	struct gv_frame f = {0};

	if (gv_frame_load(&f, path, e) != 0)
		return -1;
	if (node_take_rows(node, &f, e) != 0) {
		gv_frame_free(&f);
		return -1;
	}
	if (gv_rates_from(t, &f, c, e) != 0)
		return -1;
	gv_rates_spread(t, c);
	gv_rates_slips(t, c, slips);
	node_check_jobs(node, t, c, e);
	if (!t->has_share && shares)
		gv_error_at(e, t->frame.file, t->frame.header_line, NULL,
		    "missing column \"share\"; gv-alloc adds it, or -p names a command "
		    "that does");
	check_commands(t, e);
	gv_rates_check_shares(t, e);
	if (e->count == 0)
		return 0;
	gv_rates_free(t);
	return -1;
}

int
table_policy(const struct gv_rates *t, const char **name, struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(&t->frame, "policy");
	char q[GV_QUOTE_LEN];
	struct gv_cell first;
	size_t row;

	*name = NULL;
	if (column < 0 || t->frame.n_rows == 0)
		return 0;
	first = gv_frame_cell(&t->frame, 0, column);
	for (row = 1; row < t->frame.n_rows; row++) {
		struct gv_cell c = gv_frame_cell(&t->frame, row, column);

		if (!gv_cell_equal(c, first))
			return gv_frame_expected(&t->frame, row, column, e,
			    "%s as in the first row", gv_quote(q, first.s, first.len));
	}
	if (first.len > 0)
		*name = first.s;
	return 0;
}

/* ---- merging ---- */

static bool
holds(const struct gv_hash *ids, struct gv_cell id)
{
	return ids != NULL && gv_hash_find(ids, id.s, id.len) >= 0;
}

/* The rows of one table; those of jobs that skip holds are left out, and of pairs with them. */
static void
merge_rows(struct gv_tabw *w, const struct table_columns *c, const struct gv_rates *t,
    const struct gv_hash *skip, const struct gv_rates *known,
    const struct gv_hash *known_ids, const char *policy)
{
	size_t i;

	for (i = 0; i < t->n_rates; i++) {
		const struct gv_rate *rate = &t->rate[i];
		const struct gv_job *job = &t->job[rate->job];
		ptrdiff_t old =
		    known == NULL ? -1 : gv_hash_find(known_ids, job->id.s, job->id.len);

		if (holds(skip, job->id) ||
		    (rate->with >= 0 && holds(skip, t->job[rate->with].id)))
			continue;
		table_write_carried(w, c, &t->frame, rate->row);
		gv_tabw_double(
		    w, old >= 0 ? known->job[old].steps_remaining : job->total_steps);
		gv_tabw_double(w, old >= 0 ? known->job[old].elapsed_s : 0);
		gv_tabw_double(w, old >= 0 ? known->job[old].isolated_elapsed_s : 0);
		gv_tabw_double(w, rate->share);
		if (policy != NULL)
			gv_tabw_str(w, policy);
		gv_tabw_end(w);
	}
}

static void
hash_ids(struct gv_hash *h, const struct gv_rates *t)
{
	size_t m;

	for (m = 0; t != NULL && m < t->n_jobs; m++)
		gv_hash_add(h, t->job[m].id.s, t->job[m].id.len);
}

int
table_merge(const struct gv_rates *known, const struct gv_rates *fresh, const char *path,
    struct gv_error *e)
{
	struct gv_hash known_ids = {0};
	struct gv_hash fresh_ids = {0};
	struct table_columns c = {0};
	const char *policy;
	struct gv_out *out;
	struct gv_tabw w;

	if (table_policy(fresh, &policy, e) != 0 || gv_out_open(&out, path, e) != 0)
		return -1;
	hash_ids(&known_ids, known);
	hash_ids(&fresh_ids, fresh);
	table_add_columns(&c, &fresh->frame, NULL);
	if (known != NULL)
		table_add_columns(&c, &known->frame, &fresh->frame);
	gv_tabw_init(&w, out, false);
	table_write_header(&w, &c, true, policy != NULL, false);
	if (known != NULL)
		merge_rows(&w, &c, known, &fresh_ids, known, &known_ids, policy);
	merge_rows(&w, &c, fresh, NULL, known, &known_ids, policy);
	gv_hash_free(&known_ids);
	gv_hash_free(&fresh_ids);
	free(c.name);
	return gv_out_close(out, e);
}
