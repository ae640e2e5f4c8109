/*
 * Who may share GPUs with whom: names of jobs before those of types, rows of two jobs before
 * others, and kinds in the order of their names, whatever the order of rows.
 */
#include "tap.h"

#include <stdlib.h>

#include "alloc/problem/pairs.h"
#include "base/mem.h"

static struct gv_gpu_type type[1] = {{.name = "a", .gpus = 2}};
static const struct gv_cluster cluster = {.n_types = 1, .type = type};
enum { MOST = 8 };

struct found {
	struct gv_rates r;
	struct gv_pairs t;
	struct gv_problem p;
	struct gv_together with;
};

static struct gv_frame
frame(const char *text)
{
	struct gv_error e = {0};
	struct gv_frame f;

	if (gv_frame_parse(&f, "t", text, strlen(text), &e) != 0)
		gv_die_error(&e);
	return f;
}

/* pairs NULL: there is no table of them. */
static void
find(struct found *w, const char *rates, const char *pairs)
{
	static const size_t column[1] = {0}, row[MOST] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct gv_frame f = frame(rates);
	struct gv_error e = {0};

	memset(w, 0, sizeof(*w));
	if (gv_rates_from(&w->r, &f, &cluster, &e) != 0)
		gv_die_error(&e);
	if (pairs != NULL) {
		f = frame(pairs);
		if (gv_pairs_from(&w->t, &f, &e) != 0)
			gv_die_error(&e);
		ok(f.n_rows == 0 && f.file == NULL, "the table is taken");
	}
	gv_problem_alloc(&w->p, w->r.n_jobs, 1);
	gv_pairs_find(
	    &w->p, &w->with, pairs != NULL ? &w->t : NULL, &w->r, &cluster, column, row);
}

static void
found_free(struct found *w)
{
	gv_together_free(&w->with);
	gv_problem_free(&w->p);
	gv_pairs_free(&w->t);
	gv_rates_free(&w->r);
}

/* The rate of job i beside job k, -1 where they cannot share. */
static double
rate(const struct found *w, size_t i, size_t k)
{
	size_t a, b, pair;

	if (w->p.together == NULL)
		return -1;
	a = w->p.kind[i];
	b = w->p.kind[k];
	pair = gv_together_find(&w->with, a < b ? a : b, a < b ? b : a);
	return pair == SIZE_MAX ? -1 : w->with.rate[pair * 2 + (a > b)];
}

#define JOBS  "job_id,job_type,scale_factor,gpu_type,steps_per_s\n"
#define PAIRS "job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b\n"

/* x, y and z are of the type q; t is a job, and what u calls its type. */
static void
test_names(void)
{
	struct found w;

	find(&w, JOBS "x,q,1,a,9\ny,q,1,a,9\nz,q,1,a,9\nt,q,1,a,9\nu,t,1,a,9\n",
	    PAIRS "t,q,1,a,1,2\nq,q,1,a,3,5\nx,q,1,a,6,7\nx,y,1,a,8,0.5\n");
	is_near(rate(&w, 0, 1), 8, 0, "a row of two jobs counts first");
	is_near(rate(&w, 1, 0), .5, 0, "for either");
	is_near(rate(&w, 0, 2), 6, 0, "then one of a job and a type");
	is_near(rate(&w, 2, 0), 7, 0, "for either");
	is_near(rate(&w, 2, 2), 4, 0, "two of one type: half of both");
	is_near(rate(&w, 3, 2), 1, 0, "a job whose name is first");
	is_near(rate(&w, 2, 3), 2, 0, "and its partner");
	is_near(rate(&w, 4, 2), -1, 0, "a type that has the name of a job is none");
	is_near(rate(&w, 4, 4), -1, 0, "with its own neither");
	found_free(&w);
	/* the first job of all, in the last row */
	find(&w, JOBS "x,q,1,a,9\ny,s,1,a,9\nz,q,1,a,9\n",
	    PAIRS "q,s,1,a,1,2\ns,s,1,a,3,5\nx,s,1,a,6,7\n");
	is_near(rate(&w, 0, 1), 6, 0, "the first job by its name");
	is_near(rate(&w, 2, 1), 1, 0, "another one by its type");
	found_free(&w);
}

/* The first job has the name of the type of the second; two are of one kind. */
static void
test_first(void)
{
	struct found w;

	find(&w, JOBS "t,s,2,a,9\nu,t,2,a,9\nv,q,2,a,9\nw,q,2,a,9\n",
	    PAIRS "t,q,2,a,1,2\nq,q,2,a,3,5\nv,t,2,a,6,7\n");
	is_near(rate(&w, 0, 3), 1, 0, "gangs of all GPUs");
	is_near(rate(&w, 2, 0), 6, 0, "the first job as the second one of a row");
	is_near(rate(&w, 3, 3), 4, 0, "two of one type");
	is_near(rate(&w, 1, 3), -1, 0, "its name is no type");
	found_free(&w);
	find(&w, JOBS "v,q,1,a,9\nw,q,1,a,9\nx,s,1,a,9\ny,q,2,a,9\n",
	    PAIRS "q,s,1,a,1,2\n");
	is_int(w.p.kind[0], w.p.kind[1], "two of one type are of one kind");
	ok(w.p.kind[0] != w.p.kind[2] && w.p.kind[0] != w.p.kind[3], "others are not");
	found_free(&w);
	find(&w, JOBS "v,q,3,a,9\nw,q,3,a,9\n", PAIRS "q,q,3,a,1,1\n");
	ok(w.p.together == NULL, "gangs of more GPUs than there are");
	found_free(&w);
}

/* Rows of two jobs in the table of rates, without another table, of jobs that have types. */
static void
test_rates(void)
{
	struct found w;

	find(&w,
	    "job_id,job_type,gpu_type,steps_per_s,with_job_id,with_steps_per_s\n"
	    "x,q,a,9,,\ny,q,a,9,,\nz,q,a,9,,\nx,q,a,3,z,4\n",
	    NULL);
	is_near(rate(&w, 0, 2), 3, 0, "as the row says");
	is_near(rate(&w, 2, 0), 4, 0, "for either");
	is_near(rate(&w, 0, 1), -1, 0, "nobody else");
	found_free(&w);
	find(&w,
	    "job_id,job_type,gpu_type,steps_per_s,with_job_id,with_steps_per_s\n"
	    "z,q,a,3,x,4\nz,q,a,9,,\nx,q,a,9,,\ny,q,a,9,,\ny,q,b,3,x,4\n",
	    NULL);
	is_near(rate(&w, 0, 1), 3, 0, "in the first row");
	is_near(rate(&w, 1, 0), 4, 0, "for either");
	is_near(rate(&w, 2, 1), -1, 0, "nobody on a type that is not there");
	found_free(&w);
	find(&w,
	    "job_id,job_type,gpu_type,steps_per_s,with_job_id,with_steps_per_s\n"
	    "x,q,a,9,,\ny,q,a,9,,\nz,q,a,9,,\nz,q,a,3,x,4\n",
	    NULL);
	is_near(rate(&w, 2, 0), 3, 0, "with the first job");
	is_near(rate(&w, 1, 0), -1, 0, "which is no other one");
	found_free(&w);
	find(&w, JOBS "x,q,1,a,9\ny,q,1,a,9\n", NULL);
	ok(w.p.together == NULL && w.p.kind == NULL, "no rows of two jobs");
	found_free(&w);
}

/* Kinds are in the order of scales and names, of which one may begin as another one. */
static void
test_order(void)
{
	static const char *const rows[] = {"ab", "a", "abc", "b", "aa", "B"};
	static const size_t place[] = {3, 1, 4, 5, 2, 0};
	char text[300] = JOBS;
	struct found w;
	size_t i, turn;

	for (turn = 0; turn < 6; turn++) {
		text[strlen(JOBS)] = '\0';
		for (i = 0; i < 6; i++) {
			strcat(text, rows[(i + turn) % 6]);
			strcat(text, ",,1,a,9\n");
		}
		find(&w, text, PAIRS "ab,a,1,a,1,1\nabc,b,1,a,1,1\naa,B,1,a,1,1\n");
		for (i = 0; i < 6; i++)
			is_int(w.p.kind[i], place[(i + turn) % 6], "%s",
			    rows[(i + turn) % 6]);
		found_free(&w);
	}
}

int
main(void)
{
	test_names();
	test_first();
	test_rates();
	test_order();
	return done_testing();
}
