/* Tables of gv-run: of a run as it is now, with pairs, and as people see them. */
#include "tap.h"

#include <stdlib.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "gv-run/core/table.h"
#include "gv-run/live/submission.h"
#include "gv-run/look/align.h"

static void
frame(struct gv_frame *f, const char *name, const char *text)
{
	struct gv_error e = {0};

	if (gv_frame_parse(f, name, text, strlen(text), &e) != 0)
		gv_die_error(&e);
}

static void
make_jobs(struct jobs *j, const char *cluster, const char *table)
{
	static const struct settings o = {.round_s = 1, .max_failures = 1};
	struct gv_frame f;
	struct gv_error e = {0};

	*j = (struct jobs){0};
	frame(&f, "c.csv", cluster);
	if (gv_cluster_from(&j->cluster, &f, &e) != 0)
		gv_die_error(&e);
	gv_frame_free(&f);
	frame(&f, "t.csv", table);
	if (gv_rates_from(&j->table, &f, &j->cluster, &e) != 0)
		gv_die_error(&e);
	gv_rates_spread(&j->table, &j->cluster);
	jobs_make(j, &o, NULL);
}

/* What is written: everything, or what a policy is asked. */
static void
is_table(const struct jobs *j, bool everything, const char *want, const char *name)
{
	static const double isolated_s[] = {1, 2, 3};
	struct gv_strbuf got = {0};
	struct gv_out *out = gv_out_memory(&got);
	struct gv_error e = {0};

	if (everything)
		table_write_to(j, isolated_s, out);
	else
		table_write_rates(j, isolated_s, out);
	gv_out_close(out, &e);
	is_str(got.s, want, "%s", name);
	gv_strbuf_free(&got);
}

/* ---- pairs ---- */

#define HEAD "job_id,total_steps,gpu_type,steps_per_s"
#define NOW  "steps_remaining,elapsed_s,isolated_elapsed_s"

/* A pair that the policy has told of, on GPUs of type A or B. */
static void
add_pair(struct jobs *j, size_t a, size_t b, size_t type, double rate, double with)
{
	size_t pair = gv_rounds_pair(&j->life.rounds, a, b);
	struct gv_round_claim *c = gv_rounds_claim(&j->life.rounds, pair, type);

	c->rate = rate;
	c->with_rate = with;
	gv_life_set_share(&j->life, pair, type, .25);
}

static void
test_pairs(void)
{
	struct jobs j;

	make_jobs(&j, "gpu_type,gpus\nA,1\nB,1\n",
	    HEAD ",share,policy\na,10,A,1,0.5,p\nb,20,B,2,0.25,p\nc,30,A,3,0,p\n");
	gv_life_time(&j.life, 0);
	gv_life_time(&j.life, 4);
	ok(table_can_change(&j), "without pairs a policy can be told what has changed");
	add_pair(&j, 0, 1, 0, 0, 7);
	add_pair(&j, 0, 2, 1, 5, 0);
	ok(!table_can_change(&j), "with pairs it cannot");
	is_table(&j, true,
	    HEAD ",with_job_id,with_steps_per_s," NOW ",share,policy\n"
		 "a,10,A,1,,,10,4,1,0.5,p\nb,20,B,2,,,20,4,2,0.25,p\n"
		 "c,30,A,3,,,30,4,3,0,p\n"
		 "a,10,A,0,b,7,10,4,1,0.25,p\na,10,B,5,c,0,10,4,1,0.25,p\n",
	    "pairs that only the policy knows are in the table");
	is_table(&j, false,
	    HEAD ",with_job_id,with_steps_per_s," NOW "\n"
		 "a,10,A,1,,,10,4,1\nb,20,B,2,,,20,4,2\nc,30,A,3,,,30,4,3\n"
		 "a,10,A,0,b,7,10,4,1\na,10,B,5,c,0,10,4,1\n",
	    "and in what it is asked");
	gv_life_gpu_away(&j.life, 1, true);
	gv_life_cancel(&j.life, 1);
	is_table(&j, false,
	    HEAD ",with_job_id,with_steps_per_s," NOW ",gpus_available\n"
		 "a,10,A,1,,,10,4,1,1\nc,30,A,3,,,30,4,3,1\na,10,B,5,c,0,10,4,1,0\n",
	    "of those who are there, with what GPUs there are");
	jobs_free(&j);
}

static void
test_pairs_of_table(void)
{
	struct jobs j;

	make_jobs(&j, "gpu_type,gpus\nA,1\nB,1\n",
	    HEAD ",with_job_id,with_steps_per_s,share\n"
		 "a,10,A,1,,,0.5\nb,20,A,1,,,0\nc,30,A,3,,,0\na,10,A,1,b,2,0.5\n"
		 "a,10,X,1,,,0\na,10,X,1,b,2,0\n");
	gv_life_time(&j.life, 0);
	gv_life_time(&j.life, 4);
	ok(!table_can_change(&j), "a table that has pairs is asked as a whole");
	add_pair(&j, 1, 0, 1, 5, 6);
	is_table(&j, true,
	    HEAD ",with_job_id,with_steps_per_s," NOW ",share\n"
		 "a,10,A,1,,,10,4,1,0.5\nb,20,A,1,,,20,4,2,0\nc,30,A,3,,,30,4,3,0\n"
		 "a,10,A,1,b,2,10,4,1,0.5\n"
		 "a,10,X,1,,,10,4,1,0\na,10,X,1,b,2,10,4,1,0\n"
		 "a,10,B,5,b,6,10,4,1,0.25\n",
	    "pairs of the table are there once, on types that it has them on");
	j.allocated = true;
	is_table(&j, false,
	    HEAD ",with_job_id,with_steps_per_s," NOW ",gpus_available\n"
		 "a,10,A,1,,,10,4,1,1\nb,20,A,1,,,20,4,2,1\nc,30,A,3,,,30,4,3,1\n"
		 "a,10,A,1,b,2,10,4,1,1\n"
		 "a,10,X,1,,,10,4,1,0\na,10,X,1,b,2,10,4,1,0\n"
		 "a,10,B,5,b,6,10,4,1,1\n",
	    "in an allocation there are none of a type that it has not");
	jobs_free(&j);
}

/* ---- jobs that come later ---- */

/*
 * What a table given to the run of jobs j adds to it: the rows, or "!" and what is wrong,
 * or "?", what is odd, and the rows.
 */
static void
submits(const struct jobs *j, bool shares, const char *table, const char *want,
    const char *name)
{
	struct gv_strbuf got = {0};
	struct gv_hash known = {0};
	struct gv_arena arena = {0};
	const struct submission_run run = {&j->cluster, &j->table.frame, &known, shares};
	struct gv_error slips = {0}, e = {0};
	struct gv_frame f;
	struct gv_rates t;
	size_t i;

	submission_ids(&known, &arena, &j->table.frame);
	frame(&f, "s.csv", table);
	if (submission_from(&t, &f, &run, &slips, &e) != 0) {
		for (i = 0; i < e.count; i++)
			gv_strbuf_fmt(&got, "!%s\n", e.text[i]);
	} else {
		for (i = 0; i < slips.count; i++)
			gv_strbuf_fmt(&got, "?%s\n", slips.text[i]);
		submission_add(&got, &t, &j->table.frame);
		gv_rates_free(&t);
	}
	is_str(got.s, want, "%s", name);
	gv_hash_free(&known);
	gv_arena_free(&arena);
	gv_strbuf_free(&got);
}

static void
test_submission(void)
{
	struct jobs j;

	make_jobs(&j, "gpu_type,gpus,node\nA,1,n1\nB,1,\n",
	    HEAD ",command,node," NOW ",share,policy\na,10,A,1,x,n1,10,0,0,0.5,p\n");
	submits(&j, false, HEAD ",command,node\nb,20,A,2,y,\nc,30,B,3,z,n1\n",
	    "b,20,A,2,y,,20,0,0,0,p\nc,30,B,3,z,n1,30,0,0,0,p\n",
	    "jobs that come later have the policy of those that are there");
	submits(&j, true, HEAD ",command,node,share,extra\nb,20,A,2,y,,0.25,1\n",
	    "?s.csv:1: column \"extra\" is none of the run's table, and left out\n"
	    "b,20,A,2,y,,20,0,0,0.25,p\n",
	    "or a share of their own, but no other column");
	submits(&j, true, HEAD ",node\nb,20,A,2,\n",
	    "!s.csv:1: missing column \"command\" (found: job_id, total_steps, gpu_type, "
	    "steps_per_s, node)\n!s.csv:1: missing column \"share\" (found: job_id, "
	    "total_steps, gpu_type, "
	    "steps_per_s, node)\n",
	    "columns that the run has must be there");
	submits(&j, false, HEAD ",command,node\nb,20,A,2,y,n1\nc,20,A,2,y,n2\n",
	    "!s.csv:3: node: the run has no GPUs on node \"n2\"\n", "so must the node");
	submits(&j, false, HEAD ",command,node\nb,20,A,2,,\na,20,A,2,y,\n",
	    "!s.csv:2: command: expected a command, got nothing\n"
	    "!s.csv:3: job_id: the run has a job \"a\" already\n",
	    "a command, and a name that is new");
	submits(&j, false, HEAD ",command,node\n", "!s.csv: no job\n", "and a job");
	submits(&j, false,
	    HEAD ",command,node,with_job_id,with_steps_per_s\nb,20,A,2,y,,,\n"
		 "c,20,A,2,y,,,\nb,20,A,1,y,,c,1\n",
	    "!s.csv:4: with_job_id: the run has no pairs of jobs\n",
	    "a run without pairs gets none");
	submits(&j, false,
	    HEAD ",command,node,with_job_id,with_steps_per_s\nb,20,A,2,y,,,\n",
	    "b,20,A,2,y,,20,0,0,0,p\n", "but columns for them may be there");
	submits(&j, false, HEAD ",command,node\nb,x,A,2,y,\n",
	    "!s.csv:2: total_steps: expected a number, got \"x\"\n",
	    "numbers are numbers");
	jobs_free(&j);
}

/* ---- for people ---- */

static void
is_aligned(const char *table, const char *want, const char *name)
{
	struct gv_strbuf got = {0};
	struct gv_out *out = gv_out_memory(&got);
	struct gv_error e = {0};
	struct gv_frame f;

	frame(&f, "t.csv", table);
	align_write(&f, out);
	gv_out_close(out, &e);
	is_str(got.s, want, "%s", name);
	gv_frame_free(&f);
	gv_strbuf_free(&got);
}

static void
test_aligned(void)
{
	is_aligned(
	    "id,rate,none,note,n\na,1.23456,,x.y,\n\"b\nc\",-10,,,7\n\303\251~,,,z ,\n",
	    "id         rate  none  note  n\n"
	    "a         1.235        x.y\n"
	    "\"b\\x0ac\"    -10              7\n"
	    "\"\303\251~\"                   z \n",
	    "numbers stand right, with four digits; what is not plain is in quotes");
	is_aligned("a,b\n", "a  b\n", "no row: names alone");
	is_aligned("a,b\n1,\n,\n", "a  b\n1\n\n", "rows end with their last cell");
}

int
main(void)
{
	gv_init("gv-run");
	test_pairs();
	test_pairs_of_table();
	test_submission();
	test_aligned();
	return done_testing();
}
