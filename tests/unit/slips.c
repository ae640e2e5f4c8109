/* sched/rates.h: slips in tables of jobs and rates, types that a cluster has not, shares. */
#include <stdlib.h>

#include "base/strbuf.h"
#include "sched/rates.h"
#include "tap.h"

static struct gv_cell
cell(const char *s)
{
	return (struct gv_cell){s, strlen(s)};
}

/* Rates of one row a type, each of its own job and entity. */
static struct gv_rates
rates(const struct gv_cluster *c, const char *const (*row)[3], size_t n)
{
	static const char *const names[] = {
	    "entity", "gpu_type", "job_id", "steps_per_s", "share", "priority_wieght"};
	struct gv_cell column[6], of[6];
	struct gv_frame f = {0};
	struct gv_rates r = {0};
	struct gv_error e = {0};
	char id[32];
	size_t i, k;

	for (k = 0; k < 6; k++)
		column[k] = cell(names[k]);
	gv_frame_start(&f, "t", false, column, 6);
	for (i = 0; i < n; i++) {
		snprintf(id, sizeof(id), "j%zu", i);
		of[0] = cell(row[i][1]);
		of[1] = cell(row[i][0]);
		of[2] = cell(id);
		of[3] = of[5] = cell("1");
		of[4] = cell(row[i][2]);
		gv_frame_add(&f, of, (long)i + 2);
	}
	if (gv_rates_from(&r, &f, c, &e) != 0)
		gv_die_error(&e);
	return r;
}

static struct gv_gpu_type type[3] = {{.name = "v100"}, {.name = "P-100"}, {.name = "t"}};
static const struct gv_cluster cluster = {.n_types = 3, .type = type};

/* What is said of slips, a line each. */
static void
says(const struct gv_rates *r, const struct gv_cluster *c, const char *const *want,
    size_t n)
{
	struct gv_error w = {0};
	size_t i;

	gv_rates_slips(r, c, &w);
	is_int(w.count, n, "so many slips");
	for (i = 0; i < n && i < w.count; i++)
		is_str(w.text[i], want[i], "says what");
}

#define COLUMN "t: column \"priority_wieght\" is not known; is \"priority_weight\" meant?"

static void
test_slips(void)
{
	static const char *const row[][3] = {{"V100", "Team A", ""},
	    {"v100", "team_a", ""}, {"V100", "team_a", ""}, {"p100", "", ""},
	    {"k80", "b", ""}, {"v-100", "team_a", ""}, {"t", "TEAM-A", ""},
	    {"t", "Team A", ""}, {"t", "team_a", ""}, {"t", "-", ""}, {"t", "", ""},
	    {"t", "B", ""}, {"K80", "", ""}}; /* nor has it a k80 */
	static const char *const want[] = {COLUMN,
	    "t:3: entity: \"team_a\" is another entity than \"Team A\" at line 2",
	    "t:8: entity: \"TEAM-A\" is another entity than \"Team A\" at line 2",
	    "t:13: entity: \"B\" is another entity than \"b\" at line 6",
	    "t:2: gpu_type: the cluster has no \"V100\"; is \"v100\" meant?",
	    "t:5: gpu_type: the cluster has no \"p100\"; is \"P-100\" meant?",
	    "t:7: gpu_type: the cluster has no \"v-100\"; is \"v100\" meant?"};
	static const char *const of_one[] = {
	    COLUMN, "t:2: gpu_type: the cluster has no \"V100\"; is \"v100\" meant?"};
	struct gv_rates r = rates(&cluster, row, sizeof(row) / sizeof(row[0]));

	says(&r, &cluster, want, 7);
	says(&r, NULL, want, 4); /* without a cluster no types */
	gv_rates_free(&r);
	r = rates(&cluster, row, 1);
	says(&r, &cluster, of_one, 2);
	gv_rates_free(&r);
}

/* Names of n letters. */
static const char *
name(char s[128], char c, size_t n)
{
	memset(s, c, n);
	s[n] = '\0';
	return s;
}

/* Types that there are not: as many names as a line has room for. */
static void
test_no_type(size_t a, size_t b, size_t c, bool both)
{
	char s[3][128], want[512];
	const char *const row[][3] = {{name(s[0], 'a', a), "", ""}, {s[0], "", ""},
	    {name(s[1], 'b', b), "", ""}, {name(s[2], 'c', c), "", ""}};
	struct gv_rates r = rates(&cluster, row, 4);
	struct gv_error e = {0};

	is_int(gv_rates_check_types(&r, &cluster, &e), -1, "no type is in the cluster");
	snprintf(want, sizeof(want),
	    "t: no GPU type of it is in the cluster: it has %s%s%s, ...; the cluster has "
	    "v100, P-100, t",
	    s[0], both ? ", " : "", both ? s[1] : "");
	is_str(e.text[0], want, "names of %zu and %zu bytes", a, b);
	gv_rates_free(&r);
}

static void
test_types(void)
{
	static const char *const row[][3] = {
	    {"v100", "", ""}, {"k80", "", ""}, {"t", "", ""}};
	char s[128];
	const char *const one[][3] = {{name(s, 'x', 115), "", ""}};
	struct gv_rates r = rates(&cluster, row, 2);
	struct gv_error e = {0};

	is_int(gv_rates_check_types(&r, &cluster, &e), 0, "the first of them is there");
	gv_rates_free(&r);
	r = rates(&cluster, row + 1, 2);
	is_int(gv_rates_check_types(&r, &cluster, &e), 0, "the last of them is there");
	gv_rates_free(&r);
	r = rates(&cluster, row, 0);
	is_int(gv_rates_check_types(&r, &cluster, &e), 0, "no rows");
	gv_rates_free(&r);
	r = rates(&cluster, one, 1);
	gv_rates_check_types(&r, &cluster, &e);
	is_str(e.text[0],
	    "t: no GPU type of it is in the cluster: it has ...; the cluster has v100, "
	    "P-100, t",
	    "a name that is too long");
	gv_rates_free(&r);
	test_no_type(3, 4, 110, true);
	test_no_type(1, 4, 110, true);
	test_no_type(1, 112, 9, false);
	test_no_type(56, 56, 9, true);
	test_no_type(56, 57, 9, false);
	test_no_type(57, 57, 9, false);
}

/* Shares of a job, alone and with others, add up to 1 at most. */
static void
test_shares(void)
{
	static const char *const row[][3] = {
	    {"v100", "", "0.6"}, {"v100", "", "0.25"}, {"v100", "", "1"}};
	struct gv_rates r = rates(&cluster, row, 3);
	struct gv_error e = {0};

	is_int(gv_rates_check_shares(&r, &e), 0, "no more than all");
	r.rate[2].share = 1 + .9e-6;
	is_int(gv_rates_check_shares(&r, &e), 0, "but for rounding");
	r.rate[2].share = 1.25;
	is_int(gv_rates_check_shares(&r, &e), -1, "more");
	is_str(e.text[0],
	    "t:4: share: expected shares of job \"j2\" that add up to at most 1, got "
	    "1.25",
	    "says of whom");
	gv_error_clear(&e);
	r.rate[2].share = .75;
	r.rate[2].with = 0;
	is_int(gv_rates_check_shares(&r, &e), -1, "with another one");
	is_int(e.count, 1, "who has less is in order");
	is_str(e.text[0],
	    "t:2: share: expected shares of job \"j0\" that add up to at most 1, got "
	    "1.35",
	    "says that it is the other one");
	gv_rates_free(&r);
}

/* Two jobs on so many types, and behind them a row for the second job on one of these. */
static int
many_types(size_t types, size_t again, struct gv_rates *r, struct gv_error *e)
{
	struct gv_strbuf text = {0};
	struct gv_frame f;
	size_t m, j;
	int rc;

	gv_strbuf_str(&text, "job_id,gpu_type,steps_per_s\n");
	for (j = 0; j < types; j++)
		for (m = 0; m < 2; m++)
			gv_strbuf_fmt(&text, "j%zu,t%zu,1\n", m, j);
	if (again < types)
		gv_strbuf_fmt(&text, "j1,t%zu,1\n", again);
	gv_error_clear(e);
	if (gv_frame_parse(&f, "t", text.s, text.len, e) != 0)
		gv_die_error(e);
	rc = gv_rates_from(r, &f, NULL, e);
	ok(f.n_rows == 0 && f.n_columns == 0, "the table is taken, good or bad");
	gv_strbuf_free(&text);
	return rc;
}

/* A row that is there already is found whatever number its type has. */
static void
test_many_types(void)
{
	static const size_t again[] = {0, 1, 62, 63, 64, 65, 127, 128, 139};
	struct gv_error e = {0};
	struct gv_rates r;
	char want[128];
	size_t i;

	is_int(many_types(140, SIZE_MAX, &r, &e), 0, "two jobs on 140 types");
	is_int(r.n_rates, 280, "each row counts");
	gv_rates_free(&r);
	for (i = 0; i < sizeof(again) / sizeof(again[0]); i++) {
		is_int(many_types(140, again[i], &r, &e), -1, "type %zu twice", again[i]);
		snprintf(want, sizeof(want),
		    "t:282: gpu_type: repeated row of job \"j1\" on this type, first at "
		    "line %zu",
		    2 * again[i] + 3);
		is_str(e.count == 1 ? e.text[0] : "", want, "says where it was");
	}
}

int
main(void)
{
	test_slips();
	test_types();
	test_shares();
	test_many_types();
	return done_testing();
}
