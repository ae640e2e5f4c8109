#include "submit.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "gv-run/state/state.h"
#include "sched/cluster.h"
#include "spool.h"
#include "submission.h"
#include "table/tab.h"

const char submit_spool[] = "submit";

void
submit_waiting(const char *dir, struct gv_hash *ids, struct gv_arena *arena)
{
	size_t n, i;
	char **id = spool_list(dir, submit_spool, &n);

	for (i = 0; i < n; i++) {
		struct gv_error ignored = {0};
		struct gv_frame f;
		char *s;
		size_t len;

		/* what has just been taken is in the table, what is bad is not taken */
		if (spool_read(dir, submit_spool, id[i], &s, &len, &ignored) == 0) {
			if (gv_frame_parse(&f, id[i], s, len, &ignored) == 0) {
				submission_ids(ids, arena, &f);
				gv_frame_free(&f);
			}
			free(s);
		}
		free(id[i]);
	}
	free(id);
}

/* Whether the run asks a policy: one that was given, or one that its table names. */
static bool
asks(const struct state *s, const struct gv_frame *table)
{
	ptrdiff_t column = gv_frame_find(table, "policy");

	return state_has(s, "policy") ||
	       (table->n_rows > 0 && gv_frame_cell(table, 0, column).len > 0);
}

/* The table as it is entered: as it was read, so that messages have its lines. */
static int
enter(const struct settings *o, const struct gv_frame *f, struct gv_error *e)
{
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	struct gv_tabw w;
	size_t row, i;
	int rc;

	gv_tabw_init(&w, out, false);
	for (i = 0; i < f->n_columns; i++)
		gv_tabw_cell(&w, f->name[i]);
	gv_tabw_end(&w);
	for (row = 0; row < f->n_rows; row++) {
		for (i = 0; i < f->n_columns; i++)
			gv_tabw_cell(&w, gv_frame_cell(f, row, (ptrdiff_t)i));
		gv_tabw_end(&w);
	}
	rc = gv_out_close(out, e);
	if (rc == 0)
		rc = spool_put(o->state, submit_spool, text.s, text.len, NULL, e);
	gv_strbuf_free(&text);
	return rc;
}

/* What the state says of the run. */
static int
read_run(const struct state *s, struct gv_cluster *c, struct gv_frame *table,
    struct gv_error *e)
{
	char *jobs = state_path(s, "jobs.csv"), *pools = state_path(s, "cluster.csv");
	int rc;

	if (!state_has(s, "jobs.csv"))
		rc = gv_error_set(e, "%s: holds no run", s->dir);
	else
		rc = gv_cluster_read(c, pools, e) == 0 ? gv_frame_load(table, jobs, e)
						       : -1;
	free(jobs);
	free(pools);
	return rc;
}

int
submit_send(const struct settings *o, struct gv_error *slips, struct gv_error *e)
{
	struct state s = STATE_NONE;
	struct gv_cluster cluster = {0};
	struct gv_frame table = {0}, f = {0};
	struct gv_hash known = {0};
	struct gv_arena arena = {0};
	struct gv_rates t = {0};
	struct submission_run run = {&cluster, &table, &known, false};
	int rc;

	s.dir = gv_xstrdup(o->state);
	submit_waiting(
	    o->state, &known, &arena); /* first: they go from here to the table */
	rc = read_run(&s, &cluster, &table, e);
	if (rc == 0)
		rc = gv_frame_load(&f, o->input, e);
	if (rc == 0) {
		submission_ids(&known, &arena, &table);
		run.shares = !asks(&s, &table);
		rc = submission_from(&t, &f, &run, slips, e);
	}
	if (rc == 0)
		rc = enter(o, &t.frame, e);
	if (rc == 0 && !o->quiet && !state_is_alive(&s))
		gv_warn("%s: no gv-run runs here: the jobs wait for the one that goes on "
			"with --resume",
		    s.dir);
	gv_rates_free(&t);
	gv_frame_free(&table);
	gv_cluster_free(&cluster);
	gv_hash_free(&known);
	gv_arena_free(&arena);
	free(s.dir);
	return rc;
}
