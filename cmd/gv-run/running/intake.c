#include "intake.h"

#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "gv-run/core/table.h"
#include "gv-run/live/spool.h"
#include "gv-run/live/submission.h"
#include "gv-run/live/submit.h"

/* What is taken at once. */
struct batch {
	struct gv_strbuf text; /* the run's table, and behind it what was accepted */
	struct gv_frame table; /* without that */
	struct gv_hash known;  /* ids of the jobs in text */
	struct gv_arena arena;
	size_t n_jobs;
	size_t cap_jobs;
	struct files *files; /* [n_jobs] of those accepted, in their order */
	bool noted;          /* the journal is to be written */
};

/* ---- one submission ---- */

/* It will not be asked about again, even where it cannot be removed. */
static void
drop(struct intake *in, const char *id)
{
	if (spool_drop(in->state->dir, submit_spool, id) == 0)
		return;
	in->done = gv_xgrow(in->done, &in->cap_done, in->n_done + 1, sizeof(*in->done));
	in->done[in->n_done++] = gv_xstrdup(id);
}

static bool
is_done(const struct intake *in, const char *id)
{
	size_t i;

	for (i = 0; i < in->n_done; i++)
		if (strcmp(in->done[i], id) == 0)
			return true;
	return false;
}

/* It is kept, and why, for whoever asks how the run is. */
static void
refuse(struct intake *in, const char *id, const struct gv_error *why)
{
	struct gv_strbuf path = {0}, words = {0};
	struct gv_error ignored = {0};
	size_t i;

	gv_warn("warning: submission %s is refused:", id);
	gv_warn_error(why);
	for (i = 0; i < why->count && i < GV_ERROR_KEPT; i++)
		gv_strbuf_fmt(&words, "%s\n", why->text[i]);
	gv_strbuf_fmt(&path, "%s/%s/%s.refused", in->state->dir, submit_spool, id);
	(void)gv_file_write(path.s, words.s, words.len, &ignored);
	gv_strbuf_free(&path);
	gv_strbuf_free(&words);
	drop(in, id);
}

/* The files of its jobs; none is left where one cannot be named. */
static int
name_files(
    struct batch *b, const struct state *s, const struct gv_rates *t, struct gv_error *e)
{
	size_t before = b->n_jobs;
	size_t m;
	int rc = 0;

	b->files = gv_xgrow(
	    b->files, &b->cap_jobs, b->n_jobs + t->n_jobs + 1, sizeof(*b->files));
	for (m = 0; m < t->n_jobs && rc == 0; m++)
		rc = files_name(&b->files[b->n_jobs++], s, t->job[m].id, e);
	while (rc != 0 && b->n_jobs > before)
		files_free(&b->files[--b->n_jobs]);
	return rc;
}

/* That an earlier gv-run has put its jobs into the table. */
static bool
is_in_table(const struct batch *b, const struct gv_frame *f)
{
	struct gv_cell id = gv_frame_cell(f, 0, gv_frame_find(f, "job_id"));

	return f->n_rows > 0 && gv_hash_find(&b->known, id.s, id.len) >= 0;
}

/* Adds a table to the batch: 1 = done before, 0, or -1 with *e set. */
static int
add(struct intake *in, struct batch *b, struct gv_frame *f, bool noted,
    struct gv_error *e)
{
	const struct submission_run run = {
	    &in->jobs->cluster, &b->table, &b->known, in->policy->command == NULL};
	struct gv_error slips = {0};
	struct gv_rates t;
	int rc;

	if (noted && is_in_table(b, f)) {
		gv_frame_free(f);
		return 1;
	}
	if (submission_from(&t, f, &run, &slips, e) != 0)
		return -1;
	rc = name_files(b, in->state, &t, e);
	if (rc == 0) {
		submission_add(&b->text, &t, &b->table);
		submission_ids(&b->known, &b->arena, &t.frame);
	}
	gv_rates_free(&t);
	return rc;
}

/* Whether its jobs come to the run now, or are there. */
static bool
accept(struct intake *in, struct batch *b, const char *id)
{
	bool noted = gv_hash_find(&in->jobs->taken, id, strlen(id)) >= 0;
	struct gv_error e = {0};
	struct gv_frame f;
	size_t len;
	char *s;
	int rc = spool_read(in->state->dir, submit_spool, id, &s, &len, &e);

	if (rc == 0) {
		rc = gv_frame_parse(&f, id, s, len, &e);
		free(s);
	}
	if (rc == 0)
		rc = add(in, b, &f, noted, &e);
	if (rc < 0)
		refuse(in, id, &e);
	if (rc == 0 && !noted) {
		journal_submission(in->journal, &in->jobs->life, id);
		jobs_taken(in->jobs, id, strlen(id));
	}
	return rc >= 0;
}

/* ---- all of them ---- */

/* The run's table as it is. */
static void
begin(struct intake *in, struct batch *b)
{
	struct gv_out *out = gv_out_memory(&b->text);
	struct gv_error e = {0};

	table_write_to(in->jobs, policy_isolated_s(in->policy), out);
	gv_out_close(out, &e);
	if (gv_frame_parse(&b->table, "jobs.csv", b->text.s, b->text.len, &e) != 0)
		gv_die_error(&e); /* it was read before */
	submission_ids(&b->known, &b->arena, &b->table);
}

/* The journal has them: they become jobs of the table in the state and of the run.  0 or -1. */
static int
carry_out(struct intake *in, struct batch *b)
{
	char *path = state_path(in->state, "jobs.csv");
	struct gv_error e = {0};
	struct gv_frame f = {0};
	int rc = gv_file_write(path, b->text.s, b->text.len, &e);

	if (rc == 0)
		rc = gv_frame_parse(&f, path, b->text.s, b->text.len, &e);
	if (rc == 0) {
		work_grow(in->work, b->files, b->n_jobs);
		b->n_jobs = 0; /* they are its */
		rc = jobs_change(in->jobs, &f, NULL, in->work->log, &e);
	}
	if (rc == 0)
		policy_grow(in->policy);
	else
		gv_warn_error(&e);
	free(path);
	return rc;
}

static void
end(struct batch *b)
{
	while (b->n_jobs > 0)
		files_free(&b->files[--b->n_jobs]);
	free(b->files);
	gv_strbuf_free(&b->text);
	gv_frame_free(&b->table);
	gv_hash_free(&b->known);
	gv_arena_free(&b->arena);
}

static void
take(struct intake *in, char **id, size_t n)
{
	struct batch b = {0};
	size_t n_good = 0;
	size_t i;

	begin(in, &b);
	for (i = 0; i < n; i++)
		if (accept(in, &b, id[i]))
			id[n_good++] = id[i];
	journal_commit(in->journal);
	if (in->journal->broken) {
		end(&b);
		return;
	}
	in->broken = b.n_jobs > 0 && carry_out(in, &b) != 0;
	for (i = 0; i < n_good && !in->broken; i++)
		drop(in, id[i]);
	end(&b);
}

void
intake_turn(struct intake *in)
{
	size_t n, i, k = 0;
	char **all = spool_list(in->state->dir, submit_spool, &n);
	char **id = gv_xcalloc(n + 1, sizeof(*id));

	for (i = 0; i < n; i++)
		if (!is_done(in, all[i]))
			id[k++] = all[i];
	if (k > 0 && !in->broken)
		take(in, id, k);
	for (i = 0; i < n; i++)
		free(all[i]);
	free(all);
	free(id);
}

void
intake_close(struct intake *in)
{
	while (in->n_done > 0)
		free(in->done[--in->n_done]);
	free(in->done);
	in->done = NULL;
}
