/*
 * Tables that gv-run is given, good and odd ones: which pools and rows are of a node, what is
 * wrong with jobs, what becomes of those that come later, and how people see tables.
 */
#undef _FORTIFY_SOURCE /* whose wrappers are inline: the functions are ours here */
#include <fcntl.h>
#include <unistd.h>

#include "base/fileio.h"
#include "gv-run/core/node.h"
#include "gv-run/core/table.h"
#include "gv-run/live/submission.h"
#include "gv-run/look/align.h"
#include "run_draws.h"
#include "scratch.h"
#include "table_draws.h"
#include "unsynced.h"

enum { ROUNDS = 40, PER_ROUND = 40 };

/* The name of this host, in the place of the C library's. */
int
gethostname(char *name, size_t len)
{
	snprintf(name, len, "%s", len == 255 ? "n2" : "somewhere");
	return 0;
}

/* What is called instead of it where the library is hardened. */
int __gethostname_chk(char *name, size_t len, size_t room);
int
__gethostname_chk(char *name, size_t len, size_t room)
{
	(void)room;
	return gethostname(name, len);
}

/* ---- drawn tables ---- */

/* Of each type GPUs without a node, or on some; now and then twice on one. */
static int
draw_pools(struct gv_frame *f, struct gv_error *e)
{
	static const char *const node[] = {"n2", "n1", "n3", ""};
	static const char *const note[] = {"n", "~", "}", "a\nb", "\303\251", "1.23456"};
	static const char *const ids[] = {"", "", "", "0", "4;5", "x"};
	struct gv_strbuf text = {0};
	bool nodes = !one_in(4), many = one_in(2);
	size_t n = 1 + below(3), k, i;
	int rc;

	gv_strbuf_str(
	    &text, nodes ? "gpu_type,gpus,note,ids,node\n" : "gpu_type,gpus,note\n");
	for (i = 0; i < n; i++) {
		size_t first = below(4), last = many ? first + below(3) : first;

		for (k = first; k <= last; k++) {
			const char *id = ids[one_in(12) ? below(6) : 0];
			size_t gpus = below(4);

			gv_strbuf_fmt(&text, "%c,%zu,\"%s %zu\"", "ABC"[i], gpus,
			    note[below(6)], k);
			if (nodes)
				gv_strbuf_fmt(&text, ",%s,%s", id, node[k % 4]);
			gv_strbuf_char(&text, '\n');
			if (!nodes && !one_in(9))
				break;
		}
	}
	rc = gv_frame_parse(f, "c.csv", text.s, text.len, e);
	gv_strbuf_free(&text);
	return rc;
}

/* Jobs from number first on; mostly one table is like another. */
static void
draw_jobs(struct drawn_table *t, size_t first, size_t n)
{
	static const struct drawn_column column[] = {{"job_id", NULL, 4, false},
	    {"total_steps", "10|20|2.5", 4, true},
	    {"command", "x|y z|x|x z|z|w|v|u|t|s|r|q|p|", 4, true},
	    {"gpu_type", "A|B|C|D", 4, false}, {"steps_per_s", "1|0|2.5|1e-3", 4, false},
	    {"share", "0|.25|0.5|0", 3, false}, {"policy", "p|p|p|q", 1, false},
	    {"node", "n2||n2|n1", 2, true}, {"scale_factor", "1|1|2", 1, true},
	    {"elapsed_s", "3", 1, true}, {"steps_remaining", "5|7", 1, true},
	    {"isolated_elapsed_s", "1|", 1, true}, {"with_job_id", "", 2, false},
	    {"with_steps_per_s", "|1", 1, false}, {"extra", "1||a", 1, false},
	    {NULL, NULL, 0, false}};
	static const char *const type[] = {"A", "B", "C", "A_unconsolidated"};
	size_t m, k;
	char with[24];

	drawn_table_begin(t, column);
	for (m = first; m < first + n; m++)
		for (k = 0; k < 4; k++)
			if (!one_in(3))
				drawn_table_row(t, m, type[k], NULL);
	for (; m > first && one_in(4); m--) {
		snprintf(with, sizeof(with), "j%zu", first);
		drawn_table_row(t, m - 1, type[below(3)], with);
	}
}

/* ---- what is recorded ---- */

static void
recorded_rates(struct recorded *r, const struct gv_rates *t)
{
	size_t i;

	recorded_frame(r, &t->frame);
	recorded_whole(r, t->has_share);
	for (i = 0; i < t->n_jobs; i++) {
		recorded_cell(r, t->job[i].id);
		recorded_double(r, t->job[i].total_steps);
		recorded_double(r, t->job[i].steps_remaining);
	}
	for (i = 0; i < t->n_rates; i++) {
		recorded_whole(r, (long long)t->rate[i].job);
		recorded_whole(r, t->rate[i].type);
		recorded_double(r, t->rate[i].steps_per_s);
		recorded_double(r, t->rate[i].share);
	}
}

static void
recorded_path(struct recorded *r, const char *path)
{
	struct gv_error e = {0};
	size_t len;
	char *s;

	if (gv_file_read(path, &s, &len, 1 << 20, &e) != 0)
		gv_die_error(&e);
	recorded_bytes(r, s, len);
	free(s);
}

static void
recorded_aligned(struct recorded *r, const struct gv_frame *f)
{
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	struct gv_error e = {0};

	align_write(f, out);
	gv_out_close(out, &e);
	recorded_text(r, text.s != NULL ? text.s : "");
	gv_strbuf_free(&text);
}

/* Standard output is a terminal, as wide as is said. */
int
isatty(int fd)
{
	return fd == 1;
}

/* As it is written on a terminal. */
static void
recorded_fitted(struct recorded *r, const struct gv_frame *f)
{
	int fd = open("shown", O_RDWR | O_CREAT | O_TRUNC, 0600), before;
	char columns[24];

	snprintf(columns, sizeof(columns), "%zu", 1 + below(80));
	setenv("COLUMNS", columns, 1);
	fflush(stdout);
	before = dup(1);
	dup2(fd, 1);
	close(fd);
	align_write(f, gv_stdout());
	gv_out_flush(gv_stdout());
	dup2(before, 1);
	close(before);
	recorded_path(r, "shown");
}

/* ---- questions ---- */

/* Pools of a node; -1: there is no run. */
static int
ask_cluster(struct recorded *r, struct gv_cluster *c, struct node_choice *choice)
{
	static const char *const node[] = {NULL, "n2", "n1", "n2", "n9"};
	const char *name = node[below(5)];
	struct gv_error e = {0};
	struct gv_frame f = {0};
	size_t i;
	int rc;

	*c = (struct gv_cluster){0};
	*choice = (struct node_choice){0};
	rc = draw_pools(&f, &e);
	if (rc == 0)
		recorded_aligned(r, &f);
	if (rc == 0)
		recorded_fitted(r, &f);
	if (rc == 0 && gv_cluster_from(c, &f, &e) != 0)
		rc = -1;
	if (rc == 0) {
		const char *only = node_only(c);

		recorded_text(r, only != NULL ? only : "none");
		rc = node_select(c, "c.csv", name, choice, &e);
		recorded_whole(r, rc);
	}
	if (rc == 0) {
		recorded_cluster(r, c);
		recorded_text(r, choice->name != NULL ? choice->name : "all");
		for (i = 0; i < c->n_types; i++)
			recorded_whole(r, choice->elsewhere[i]);
		recorded_whole(r, node_write(c, &f, "w.csv", &e));
		recorded_path(r, "w.csv");
		if (one_in(5))
			recorded_whole(r, node_write(c, &f, "none/w.csv", &e));
	}
	recorded_error(r, &e);
	gv_frame_free(&f);
	return rc;
}

/* A table of jobs, its columns in any order. */
static void
put_jobs(const char *path)
{
	struct gv_strbuf text = {0};
	struct gv_error e = {0};
	struct drawn_table d;
	struct gv_frame f;
	struct gv_out *out;
	struct gv_tabw w;
	size_t first = one_in(3) ? 2 : 0, n = 1 + below(4), row, i;

	draw_jobs(&d, first, n);
	gv_strbuf_add(&text, d.text.s, d.text.len);
	if (drawn_table_end(&d, &f, &e) == 0) {
		drawn_turn(&f, one_in(2) ? 0 : below(f.n_columns));
		gv_strbuf_clear(&text);
		out = gv_out_memory(&text);
		gv_tabw_init(&w, out, false);
		for (i = 0; i < f.n_columns; i++)
			gv_tabw_cell(&w, f.name[i]);
		gv_tabw_end(&w);
		for (row = 0; row < f.n_rows; row++) {
			for (i = 0; i < f.n_columns; i++)
				gv_tabw_cell(&w, gv_frame_cell(&f, row, (ptrdiff_t)i));
			gv_tabw_end(&w);
		}
		gv_out_close(out, &e);
		gv_frame_free(&f);
	}
	scratch_file(path, text.s, text.len);
	gv_strbuf_free(&text);
}

/* A table as it is given, for those GPUs; -1: it is not good. */
static int
ask_table(struct recorded *r, const struct gv_cluster *c,
    const struct node_choice *choice, struct gv_rates *t)
{
	struct gv_error slips = {0}, e = {0};
	const char *policy;
	bool shares = one_in(2);
	int rc;

	put_jobs("t.csv");
	rc = table_read(t, "t.csv", c, choice, shares, &slips, &e);
	recorded_whole(r, rc);
	recorded_error(r, &slips);
	recorded_error(r, &e);
	if (rc != 0)
		return -1;
	recorded_rates(r, t);
	gv_error_clear(&e);
	recorded_whole(r, table_policy(t, &policy, &e));
	recorded_text(r, policy != NULL ? policy : "none");
	recorded_error(r, &e);
	return 0;
}

static void
ask_merge(struct recorded *r, const struct gv_rates *known, const struct gv_rates *fresh)
{
	struct gv_error e = {0};
	int rc = table_merge(known, fresh, "m.csv", &e);

	recorded_whole(r, rc);
	recorded_error(r, &e);
	if (rc == 0)
		recorded_path(r, "m.csv");
}

/* Jobs that come later, some of which the run has or waits for. */
static void
ask_submission(struct recorded *r, const struct gv_cluster *c, const struct gv_rates *of)
{
	struct gv_hash known = {0};
	struct gv_arena arena = {0};
	bool shares = one_in(2);
	const struct submission_run run = {c, &of->frame, &known, shares};
	struct gv_error slips = {0}, e = {0};
	struct gv_strbuf rows = {0};
	struct drawn_table d;
	struct gv_rates t;
	struct gv_frame f;
	size_t first = below(6);

	if (!one_in(4))
		submission_ids(&known, &arena, &of->frame);
	draw_jobs(&d, first, 1 + below(3));
	if (drawn_table_end(&d, &f, &e) == 0) {
		drawn_turn(&f, one_in(2) ? 0 : below(f.n_columns));
		recorded_aligned(r, &f);
		if (!one_in(3))
			submission_ids(&known, &arena, &of->frame);
		if (submission_from(&t, &f, &run, &slips, &e) == 0) {
			submission_add(&rows, &t, &of->frame);
			gv_rates_free(&t);
		}
	}
	recorded_whole(r, (long long)known.n);
	recorded_error(r, &slips);
	recorded_error(r, &e);
	recorded_text(r, rows.s != NULL ? rows.s : "");
	gv_strbuf_free(&rows);
	gv_hash_free(&known);
	gv_arena_free(&arena);
}

static size_t
ask(struct recorded *r)
{
	struct node_choice choice;
	struct gv_cluster c;
	struct gv_rates a, b;
	size_t good = 0;

	if (ask_cluster(r, &c, &choice) == 0 && ask_table(r, &c, &choice, &a) == 0) {
		good = 1;
		ask_merge(r, NULL, &a);
		ask_submission(r, &c, &a);
		if (ask_table(r, &c, &choice, &b) == 0) {
			ask_merge(r, &a, &b);
			gv_rates_free(&b);
		}
		gv_rates_free(&a);
	}
	gv_cluster_free(&c);
	node_free(&choice);
	return good;
}

int
main(void)
{
	static const char *const made[] = {"w.csv", "t.csv", "m.csv", "shown", NULL};
	struct recorded r;
	uint32_t i;

	gv_init("gv-run");
	recorded_open(&r);
	scratch_enter();
	for (i = 0; i < ROUNDS; i++) {
		size_t good = 0, k;

		draws_begin(59, i, 0);
		for (k = 0; k < PER_ROUND; k++)
			good += ask(&r);
		recorded_answer(&r, "%d runs on a node, %zu good", PER_ROUND, good);
	}
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
