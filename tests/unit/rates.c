/* common/sched: clusters, jobs, rates and their join; common/base/hash. */
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "sched/cluster.h"
#include "sched/rates.h"

static char path[] = "/tmp/gv-rates.XXXXXX";

static void
put(const char *text)
{
	struct gv_error e = {0};

	if (gv_file_write(path, text, strlen(text), &e) != 0)
		gv_die_error(&e);
}

/* The text as a frame called "t.csv". */
static struct gv_frame
frame(const char *text)
{
	struct gv_frame f;
	struct gv_error e = {0};

	put(text);
	if (gv_frame_load(&f, path, &e) != 0)
		gv_die_error(&e);
	free(f.file);
	f.file = gv_xstrdup("t.csv");
	return f;
}

static void
is_cell(struct gv_cell c, const char *want, const char *name)
{
	ok(gv_cell_is(c, want), "%s", name);
}

/* ---- hash ---- */

static void
test_hash(void)
{
	enum { N = 100000 };
	static char key[N][12];
	struct gv_hash h = {0};
	size_t i;
	int bad = 0;

	is_int(gv_hash_find(&h, "a", 1), -1, "nothing in an empty table");
	for (i = 0; i < N; i++) {
		int len = snprintf(key[i], sizeof(key[i]), "job%zu", i);

		bad += gv_hash_add(&h, key[i], (size_t)len) != i;
	}
	for (i = 0; i < N; i++) {
		bad += gv_hash_find(&h, key[i], strlen(key[i])) != (ptrdiff_t)i;
		bad += gv_hash_add(&h, key[i], strlen(key[i])) != i;
	}
	is_int(bad, 0, "numbers in order of addition");
	is_int((long long)h.n, N, "each once");
	is_int(gv_hash_find(&h, "job", 3), -1, "a prefix is another string");
	is_int((long long)gv_hash_add(&h, "", 0), N, "the empty string is one, too");
	is_int((long long)gv_hash_add(&h, NULL, 0), N, "wherever it lies");
	gv_hash_free(&h);
	gv_hash_free(&h);
}

/* ---- clusters ---- */

static void
bad_cluster(const char *text, const char *want)
{
	struct gv_cluster c;
	struct gv_error e = {0};
	char shown[GV_ERROR_LEN + 2];

	put(text);
	is_int(gv_cluster_read(&c, path, &e), -1, "refused: %s", want);
	/* the path differs from run to run */
	snprintf(shown, sizeof(shown), "F%s",
	    strncmp(e.text[0], path, strlen(path)) == 0 ? e.text[0] + strlen(path)
							: e.text[0]);
	is_str(shown, want, "message");
	gv_cluster_free(&c);
}

static void
test_cluster(void)
{
	struct gv_cluster c;
	struct gv_error e = {0};

	memset(&c, 1, sizeof(c));
	is_int(gv_cluster_read(&c, "/nowhere/t.csv", &e), -1, "a file that is not there");
	ok(c.n_types == 0 && c.pool == NULL, "is no cluster");
	gv_error_clear(&e);
	put("node,gpus,gpu_type,usd_per_h,threads,memory_bytes\n"
	    "n1,4,v100,2.5,,16000000000\nn1,2,k80,,,\nn2,3,v100,2.50,0,16000000000\n");
	is_int(gv_cluster_read(&c, path, &e), 0, "reads");
	ok(c.n_types == 2 && c.n_pools == 3, "two types in three pools");
	is_str(c.type[0].name, "v100", "types in order of appearance");
	is_int((long long)c.type[0].gpus, 7, "pools add up");
	ok(c.type[0].usd_per_h == 2.5 && c.type[0].memory_bytes == 16000000000,
	    "price, memory");
	ok(c.type[1].gpus == 2 && isnan(c.type[1].usd_per_h) && c.type[1].threads == 0,
	    "defaults");
	ok(c.pool[2].type == 0 && c.pool[2].gpus == 3, "pools in order");
	is_str(c.pool[2].node, "n2", "with their nodes");
	is_int(gv_cluster_find(&c, (struct gv_cell){"k80", 3}), 1, "found by name");
	is_int(gv_cluster_find(&c, (struct gv_cell){"k8", 2}), -1, "only whole names");
	gv_cluster_free(&c);
	gv_cluster_free(&c);

	put("gpu_type,gpus,treads\ncpu,1,2\n");
	ok(gv_cluster_read(&c, path, &e) == 0 && c.warnings != NULL &&
		c.warnings->count == 1 && strstr(c.warnings->text[0], "treads") != NULL,
	    "a column that looks misspelled is told");
	gv_cluster_free(&c);
	put("gpu_type,gpus,threads\ncpu,1,2\n");
	ok(gv_cluster_read(&c, path, &e) == 0 && c.warnings == NULL, "else nothing is");
	gv_cluster_free(&c);

	put("gpu_type,gpus,threads\ncpu,1000000000,1000000\n");
	is_int(gv_cluster_read(&c, path, &e), 0, "as many GPUs and threads as may be");
	ok(c.type[0].gpus == 1e9 && c.type[0].threads == 1000000, "are all taken");
	gv_cluster_free(&c);
	bad_cluster("gpu_type,gpus\nv100,1000000001\n",
	    "F:2: gpus: expected a smaller number, got \"1000000001\"");
	bad_cluster("gpu_type,gpus,threads\ncpu,1,1000001\n",
	    "F:2: threads: expected a smaller number, got \"1000001\"");

	bad_cluster("gpu_type\nv100\n", "F:1: missing column \"gpus\" (found: gpu_type)");
	bad_cluster("gpu_type,gpus\n", "F: a cluster needs at least one row");
	bad_cluster("gpu_type,gpus\nv100,-1\n",
	    "F:2: gpus: expected a whole number >= 0, got \"-1\"");
	bad_cluster(
	    "gpu_type,gpus\nv100,\n", "F:2: gpus: expected an integer, got nothing");
	bad_cluster("gpu_type,gpus\nv100,9000000000\n",
	    "F:2: gpus: expected a smaller number, got \"9000000000\"");
	bad_cluster("gpu_type,gpus\n,1\n",
	    "F:2: gpu_type: expected the name of a GPU type, got nothing");
	bad_cluster("gpu_type,gpus\nv100,1\nv100,2\n",
	    "F:3: gpu_type: repeated gpu_type \"v100\", first at line 2");
	bad_cluster("gpu_type,gpus,node\nv100,1,a\nk80,1,a\nv100,2,b\nv100,2,a\n",
	    "F:5: gpu_type: repeated gpu_type \"v100\" on node \"a\", first at line 2");
	bad_cluster("gpu_type,gpus,node,usd_per_h\nk80,1,a,2\nv100,1,a,2\nv100,2,b,3\n",
	    "F:4: usd_per_h: expected \"2\" as at line 3, got \"3\"");
	bad_cluster("gpu_type,gpus,node,usd_per_h\nv100,1,a,2\nv100,2,b,3\n",
	    "F:3: usd_per_h: expected \"2\" as at line 2, got \"3\"");
	bad_cluster("gpu_type,gpus,usd_per_h\nv100,1,-2\n",
	    "F:2: usd_per_h: expected a number >= 0, got \"-2\"");
	bad_cluster("gpu_type,gpus,threads\ncpu,1,-1\n",
	    "F:2: threads: expected a whole number >= 0, got \"-1\"");
}

/* ---- jobs and rates ---- */

/* The last column of a table without quotes becomes its first.  The caller's. */
static char *
rotated(const char *text)
{
	struct gv_strbuf s = {0};

	while (*text != '\0') {
		size_t len = strcspn(text, "\n"), last = len;

		while (last > 0 && text[last - 1] != ',')
			last--;
		gv_strbuf_fmt(&s, "%.*s%s%.*s\n", (int)(len - last), text + last,
		    last > 0 ? "," : "", (int)(last > 0 ? last - 1 : 0), text);
		text += len + 1;
	}
	return s.s;
}

static void
bad_table(bool rates, const char *text, const char *want)
{
	char *turned = rotated(text);
	size_t columns = 1, k;
	struct gv_rates r;
	struct gv_error e = {0};
	struct gv_frame f = frame(text);
	int rc = rates ? gv_rates_from(&r, &f, NULL, &e) : gv_jobs_from(&r, &f, &e);

	is_int(rc, -1, "refused: %s", want);
	is_str(e.count > 0 ? e.text[0] : "", want, "message");
	ok(r.job == NULL && r.rate == NULL && f.file == NULL, "and nothing is left");
	gv_rates_free(&r);
	for (k = 0; text[k] != '\n'; k++)
		columns += text[k] == ',';
	/* wherever its columns stand; what lists them as they stand is another message */
	for (k = 1; k < columns && strstr(want, "found:") == NULL; k++) {
		char *next = rotated(turned);

		f = frame(turned);
		gv_error_clear(&e);
		rc = rates ? gv_rates_from(&r, &f, NULL, &e) : gv_jobs_from(&r, &f, &e);
		ok(rc == -1 && e.count > 0 && strcmp(e.text[0], want) == 0,
		    "refused with its columns in another order");
		gv_rates_free(&r);
		free(turned);
		turned = next;
	}
	free(turned);
}

static void
test_jobs(void)
{
	struct gv_rates r;
	struct gv_error e = {0};
	struct gv_frame f =
	    frame("job_id,job_type,scale_factor,total_steps,priority_weight,command,x\n"
		  "a,lm,2,100,3,run a,1\nb,,,,,,\n");

	is_int(gv_jobs_from(&r, &f, &e), 0, "jobs");
	ok(f.file == NULL && r.frame.n_rows == 2, "the frame is taken over");
	ok(r.n_jobs == 2 && r.n_rates == 0, "two jobs, no rates");
	is_cell(r.job[0].id, "a", "id");
	is_cell(r.job[0].job_type, "lm", "type");
	is_cell(r.job[0].command, "run a", "command");
	ok(r.job[0].scale_factor == 2 && r.job[0].priority_weight == 3, "numbers");
	ok(r.job[0].steps_remaining == 100, "what remains is everything unless said");
	ok(r.job[1].scale_factor == 1 && r.job[1].priority_weight == 1 &&
		r.job[1].arrival_s == 0 && r.job[1].elapsed_s == 0,
	    "defaults");
	ok(r.job[1].isolated_elapsed_s == 0 && r.job[1].min_steps_per_s == 0 &&
		r.job[1].move_cost == 1,
	    "defaults of those that are looked at seldom");
	ok(isnan(r.job[1].total_steps) && isnan(r.job[1].deadline_s) &&
		isnan(r.job[1].steps_remaining) && isnan(r.job[1].slo_factor),
	    "absent numbers");
	gv_rates_free(&r);
	gv_rates_free(&r);

	bad_table(false, "id\na\n", "t.csv:1: missing column \"job_id\" (found: id)");
	bad_table(false, "job_id,x\na,\nb,\na,\n",
	    "t.csv:4: job_id: repeated job_id \"a\", first at line 2");
	bad_table(false, "job_id,x\n,1\n",
	    "t.csv:2: job_id: expected the name of a job, got nothing");
	bad_table(false, "job_id,scale_factor\na,0\n",
	    "t.csv:2: scale_factor: expected a whole number from 1 to 1000000, got "
	    "\"0\"");
	bad_table(false, "job_id,priority_weight\na,0\n",
	    "t.csv:2: priority_weight: expected a number > 0, got \"0\"");
	bad_table(false, "job_id,total_steps\na,-5\n",
	    "t.csv:2: total_steps: expected a number >= 0, got \"-5\"");
	bad_table(false, "job_id,scale_factor\na,1000000\nb,1000001\n",
	    "t.csv:3: scale_factor: expected a whole number from 1 to 1000000, got "
	    "\"1000001\"");
	bad_table(false, "job_id,priority_weight\na,2.3e-308\nb,2.2e-308\n",
	    "t.csv:3: priority_weight: expected a number > 0, no smaller than 2.3e-308, "
	    "got \"2.2e-308\"");
	bad_table(false, "job_id,total_steps\na,many\n",
	    "t.csv:2: total_steps: expected a number, got \"many\"");
}

static void
test_rates(void)
{
	struct gv_cluster c;
	struct gv_rates r;
	struct gv_error e = {0};
	struct gv_frame f;

	put("gpu_type,gpus\nv100,1\nk80,2\n");
	is_int(gv_cluster_read(&c, path, &e), 0, "a cluster");
	f = frame(
	    "gpu_type,job_id,steps_per_s,share\nk80,a,1.5,0.25\nv100,b,2,\ntpu,a,9,1\n"
	    "v100,a,0,0\n");
	is_int(gv_rates_from(&r, &f, &c, &e), 0, "rates");
	ok(r.n_jobs == 2 && r.n_rates == 4 && r.has_share, "their number");
	ok(r.rate[0].job == 0 && r.rate[1].job == 1 && r.rate[2].job == 0,
	    "jobs of rows");
	ok(r.rate[0].type == 1 && r.rate[1].type == 0 && r.rate[2].type == -1,
	    "types of rows");
	ok(r.rate[0].steps_per_s == 1.5 && r.rate[0].share == 0.25 &&
		r.rate[1].share == 0,
	    "numbers of rows");
	is_int((long long)r.job[1].row, 1, "a job's first row");
	gv_rates_free(&r);
	f = frame("gpu_type,job_id,steps_per_s\n");
	is_int(gv_rates_from(&r, &f, &c, &e), 0, "no rows");
	ok(r.n_jobs == 0 && !r.has_share, "no jobs");
	gv_rates_free(&r);
	gv_cluster_free(&c);

	bad_table(true, "job_id,gpu_type\na,v100\n",
	    "t.csv:1: missing column \"steps_per_s\" (found: job_id, gpu_type)");
	bad_table(true, "job_id,gpu_type,steps_per_s\na,v100,1\na,k80,1\na,v100,2\n",
	    "t.csv:4: gpu_type: repeated row of job \"a\" on this type, first at line 2");
	bad_table(true, "job_id,gpu_type,steps_per_s\na,,1\n",
	    "t.csv:2: gpu_type: expected the name of a GPU type, got nothing");
	bad_table(true, "job_id,gpu_type,steps_per_s\na,v100,-1\n",
	    "t.csv:2: steps_per_s: expected a number >= 0, got \"-1\"");
	bad_table(true, "job_id,gpu_type,steps_per_s,share\na,v100,1,1.5\n",
	    "t.csv:2: share: expected a number from 0 to 1, got \"1.5\"");
	bad_table(true, "job_id,gpu_type,steps_per_s,share\na,v100,1,1\nb,v100,1,half\n",
	    "t.csv:3: share: expected a number, got \"half\"");
	bad_table(true,
	    "job_id,gpu_type,steps_per_s,priority_weight\na,v100,1,2\na,k80,1,3\n",
	    "t.csv:3: priority_weight: expected \"2\" as at line 2, got \"3\"");
	bad_table(true,
	    "job_id,gpu_type,steps_per_s,scale_factor\na,v100,1,2\nb,v100,1,1\na,k80,1,"
	    "4\n",
	    "t.csv:4: scale_factor: expected \"2\" as at line 2, got \"4\"");
	bad_table(false, "job_id,total_steps,scale_factor\na,5,2\na,5,1\n",
	    "t.csv:3: job_id: repeated job_id \"a\", first at line 2");
}

/* Rows of two jobs on the same GPUs. */
static void
test_pairs(void)
{
	struct gv_rates r;
	struct gv_error e = {0};
	struct gv_frame f =
	    frame("job_id,gpu_type,steps_per_s,with_job_id,with_steps_per_s,share\n"
		  "a,v100,2,,,0.5\na,v100,1.5,b,0.5,0.25\nb,v100,1,,,\n"
		  "b,k80,0.25,a,0,0\na,v100,1,c,1,0\nc,v100,1,,,\n");

	is_int(gv_rates_from(&r, &f, NULL, &e), 0, "rows of two jobs");
	ok(r.n_jobs == 3 && r.n_rates == 6, "their number");
	ok(r.rate[0].with == -1 && r.rate[0].with_steps_per_s == 0, "a row of one job");
	ok(r.rate[1].job == 0 && r.rate[1].with == 1 && r.rate[1].steps_per_s == 1.5 &&
		r.rate[1].with_steps_per_s == 0.5 && r.rate[1].share == 0.25,
	    "a row of two");
	ok(r.rate[3].job == 1 && r.rate[3].with == 0, "the other one first, elsewhere");
	ok(r.rate[4].with == 2, "a job that comes later");
	gv_rates_free(&r);

	bad_table(true, "job_id,gpu_type,steps_per_s,with_job_id\na,v100,1,b\n",
	    "t.csv:1: missing column \"with_steps_per_s\" (found: job_id, gpu_type, "
	    "steps_per_s, with_job_id)");
	bad_table(true,
	    "job_id,gpu_type,steps_per_s,with_job_id,with_steps_per_s\na,v100,1,b,1\n",
	    "t.csv:2: with_job_id: expected another job of the table, got \"b\"");
	bad_table(true,
	    "job_id,gpu_type,steps_per_s,with_job_id,with_steps_per_s\na,v100,1,a,1\n",
	    "t.csv:2: with_job_id: expected another job of the table, got \"a\"");
	bad_table(true,
	    "job_id,gpu_type,steps_per_s,with_job_id,with_steps_per_s\na,v100,1,,\n"
	    "b,v100,1,a,\n",
	    "t.csv:3: with_steps_per_s: expected a number, got nothing");
	bad_table(true,
	    "job_id,gpu_type,steps_per_s,with_job_id,with_steps_per_s\na,v100,1,,\n"
	    "b,v100,1,a,1\na,v100,1,b,1\n",
	    "t.csv:4: with_job_id: repeated row of the two jobs on this type, first at "
	    "line 3");
	bad_table(true,
	    "job_id,gpu_type,steps_per_s,with_job_id,with_steps_per_s\nb,v100,1,,\n"
	    "a,v100,1,b,1\na,k80,1,,\na,v100,1,,\na,v100,2,,\n",
	    "t.csv:6: gpu_type: repeated row of job \"a\" on this type, first at line 5");
	bad_table(true,
	    "job_id,scale_factor,gpu_type,steps_per_s,with_job_id,with_steps_per_s\n"
	    "a,2,v100,1,,\nb,1,v100,1,a,1\n",
	    "t.csv:3: with_job_id: jobs \"b\" and \"a\" cannot share GPUs: they need 1 "
	    "and 2");
	gv_error_clear(&e);
	f = frame(
	    "job_id,scale_factor,gpu_type,steps_per_s,with_job_id,with_steps_per_s\n"
	    "a,x,v100,1,,\nb,1,v100,1,a,1\n");
	is_int(gv_rates_from(&r, &f, NULL, &e), -1, "a gang that is no number");
	is_int((long long)e.count, 1, "is one error, and of the other job none");
}

/* More types than a word has bits. */
static void
test_many_types(void)
{
	struct gv_strbuf b = {0};
	struct gv_rates r;
	struct gv_error e = {0};
	struct gv_frame f;
	int i;

	gv_strbuf_str(&b, "job_id,gpu_type,steps_per_s\n");
	for (i = 0; i < 300; i++)
		gv_strbuf_fmt(&b, "j%d,t%d,%d\n", i % 3, i / 3, i);
	f = frame(b.s);
	is_int(gv_rates_from(&r, &f, NULL, &e), 0, "100 types");
	is_int((long long)r.n_jobs, 3, "of three jobs");
	gv_rates_free(&r);
	gv_strbuf_str(&b, "j1,t63,1\nj2,t64,1\nj0,t100,1\nj0,t100,1\n");
	f = frame(b.s);
	is_int(gv_rates_from(&r, &f, NULL, &e), -1, "repeated ones are found");
	is_int((long long)e.count, 3, "all of them");
	is_str(e.text[1],
	    "t.csv:303: gpu_type: repeated row of job \"j2\" on this type, first at line "
	    "196",
	    "message");
	gv_rates_free(&r);
	gv_strbuf_free(&b);
}

/* All errors of a table are found, also behind others. */
static void
test_all_errors(void)
{
	struct gv_rates r;
	struct gv_error e = {0};
	struct gv_frame f =
	    frame("job_id,scale_factor,total_steps\na,x,-1\n,1,1\na,1,1\nb,1,y\n");

	is_int(gv_jobs_from(&r, &f, &e), -1, "several errors");
	is_int((long long)e.count, 5, "all of them");
	is_str(e.text[3], "t.csv:4: job_id: repeated job_id \"a\", first at line 2",
	    "in order of rows");
}

/* ---- the join ---- */

static void
bad_join(const char *throughputs, const char *want)
{
	struct gv_frame j = frame("job_id,job_type\na,lm\n");
	struct gv_frame t = frame(throughputs);
	struct gv_frame out;
	struct gv_rates jobs;
	struct gv_error e = {0};
	size_t missing[1], n;

	gv_jobs_from(&jobs, &j, &e);
	is_int(gv_rates_join(&out, &jobs, &t, missing, &n, &e), -1, "refused: %s", want);
	is_str(e.text[0], want, "message");
	gv_rates_free(&jobs);
	gv_frame_free(&t);
	gv_frame_free(&out);
}

static void
test_join(void)
{
	struct gv_frame j = frame("job_id,steps_per_s,job_type,scale_factor,gpu_type,x\n"
				  "a,7,lm,1,,1\nb,,cnn,2,t4,2\nc,,lm,4,,3\nd,,,1,,4\n");
	struct gv_frame t =
	    frame("job_type,scale_factor,gpu_type,steps_per_s\n"
		  "lm,1,v100,10.0\ncnn,1,v100,1\ncnn,2,k80,3\nlm,1,k80,4\n"
		  "cnn,2,v100,0\n");
	struct gv_frame out;
	struct gv_rates jobs;
	struct gv_error e = {0};
	size_t missing[4], n = 9;
	static const char *const want[4][5] = {{"a", "lm", "1", "1", "v100"},
	    {"a", "lm", "1", "1", "k80"}, {"b", "cnn", "2", "2", "v100"},
	    {"b", "cnn", "2", "2", "k80"}};
	static const char *const rate[4] = {"10.0", "4", "0", "3"};
	size_t i;
	ptrdiff_t k;

	gv_jobs_from(&jobs, &j, &e);
	is_int(gv_rates_join(&out, &jobs, &t, missing, &n, &e), 0, "joins");
	ok(n == 2 && missing[0] == 2 && missing[1] == 3, "two jobs have no throughput");
	ok(out.n_columns == 6 && out.n_rows == 4, "shape");
	is_cell(out.name[4], "gpu_type", "the new columns stand behind");
	is_cell(out.name[5], "steps_per_s", "old ones of these names are gone");
	is_int(out.header_line, 1, "its header is where that of the jobs is");
	for (i = 0; i < 4; i++) {
		for (k = 0; k < 5; k++)
			is_cell(gv_frame_cell(&out, i, k), want[i][k], want[i][k]);
		is_cell(gv_frame_cell(&out, i, 5), rate[i], "rate, byte for byte");
	}
	gv_rates_free(&jobs);
	gv_frame_free(&t);
	is_cell(gv_frame_cell(&out, 0, 0), "a", "the texts are its own");
	gv_frame_free(&out);

	bad_join("job_type,scale_factor,gpu_type\n",
	    "t.csv:1: missing column \"steps_per_s\" (found: job_type, scale_factor, "
	    "gpu_type)");
	bad_join("job_type,scale_factor,gpu_type,steps_per_s\nlm,0,v100,1\n",
	    "t.csv:2: scale_factor: expected a whole number >= 1, got \"0\"");
	bad_join("job_type,scale_factor,gpu_type,steps_per_s\nlm,1,v100,-1\n",
	    "t.csv:2: steps_per_s: expected a number >= 0, got \"-1\"");
	bad_join("job_type,scale_factor,gpu_type,steps_per_s\nlm,1,,1\n",
	    "t.csv:2: gpu_type: expected the name of a GPU type, got nothing");
	bad_join("job_type,scale_factor,gpu_type,steps_per_s\nlm,1,v100,1\nlm,2,v100,"
		 "1\nlm,1,v100,2\n",
	    "t.csv:4: gpu_type: repeated row of job type \"lm\" "
	    "at this scale_factor, first at line 2");
	bad_join("job_type,scale_factor,gpu_type,steps_per_s\nlm,1,v100,1\nlm,2,v100,"
		 "1\nlm,2,v100,2\n",
	    "t.csv:4: gpu_type: repeated row of job type \"lm\" "
	    "at this scale_factor, first at line 3");
	bad_join("job_type,scale_factor,gpu_type,steps_per_s\nlm,x,v100,1\n",
	    "t.csv:2: scale_factor: expected an integer, got \"x\"");
	bad_join("gpu_type,gpus\n",
	    "t.csv:1: this is a cluster; expected a table of throughputs (job_type, "
	    "scale_factor, gpu_type, steps_per_s)");
}

/* Tables of jobs and of rates in words, each pair of kinds with a rate on some types. */
static void
draw_tables(struct gv_strbuf *jobs, struct gv_strbuf *rates, uint64_t *at)
{
	bool used[6][3][8] = {{{false}}};
	size_t i;

	gv_strbuf_str(jobs, "job_id,job_type,scale_factor\n");
	for (i = 0; i < 30; i++) {
		size_t x = gv_random(1, 0, 0, (*at)++) % 6;
		size_t y = gv_random(1, 0, 0, (*at)++) % 3;

		gv_strbuf_fmt(jobs, "j%zu,t%zu,%zu\n", i, x, y + 1);
	}
	gv_strbuf_str(rates, "gpu_type,steps_per_s,job_type,scale_factor\n");
	for (i = 0; i < 40; i++) {
		size_t x = gv_random(1, 0, 0, (*at)++) % 6;
		size_t y = gv_random(1, 0, 0, (*at)++) % 3;
		size_t z = gv_random(1, 0, 0, (*at)++) % 8;

		if (!used[x][y][z])
			gv_strbuf_fmt(rates, "g%zu,%zu,t%zu,%zu\n", z, i, x, y + 1);
		used[x][y][z] = true;
	}
}

/* The types of a table in the order in which they come; how many. */
static size_t
types_of(const struct gv_frame *t, const char *type[8])
{
	size_t n = 0, i, k;

	for (i = 0; i < t->n_rows; i++) {
		for (k = 0; k < n; k++)
			if (gv_cell_is(gv_frame_cell(t, i, 0), type[k]))
				break;
		if (k == n)
			type[n++] = gv_frame_cell(t, i, 0).s;
	}
	return n;
}

/* The rows of out from row on that a job must have: each type in its order, each matching row. */
static int
wrong_rows(const struct gv_frame *out, size_t *row, const struct gv_job *job,
    const struct gv_frame *t)
{
	const char *type[8];
	size_t n_types = types_of(t, type), k, r;
	int bad = 0;

	for (k = 0; k < n_types; k++)
		for (r = 0; r < t->n_rows; r++) {
			if (!gv_cell_is(gv_frame_cell(t, r, 0), type[k]) ||
			    !gv_cell_equal(gv_frame_cell(t, r, 2), job->job_type) ||
			    atoi(gv_frame_cell(t, r, 3).s) != job->scale_factor)
				continue;
			bad += *row >= out->n_rows ||
			       !gv_cell_equal(gv_frame_cell(out, *row, 0), job->id) ||
			       !gv_cell_is(gv_frame_cell(out, *row, 3), type[k]) ||
			       !gv_cell_equal(
				   gv_frame_cell(out, *row, 4), gv_frame_cell(t, r, 1));
			++*row;
		}
	return bad;
}

/* Random tables against the definition; jobs without a row are told. */
static void
test_join_random(void)
{
	int round, bad = 0;
	uint64_t at = 0;

	for (round = 0; round < 100; round++) {
		struct gv_strbuf a = {0}, b = {0};
		struct gv_frame j, t, out;
		struct gv_rates jobs;
		struct gv_error e = {0};
		size_t missing[30], n_missing, row = 0, i;

		draw_tables(&a, &b, &at);
		j = frame(a.s);
		t = frame(b.s);
		gv_jobs_from(&jobs, &j, &e);
		bad += gv_rates_join(&out, &jobs, &t, missing, &n_missing, &e) != 0;
		for (i = 0; i < 30; i++) {
			size_t before = row, m;

			bad += wrong_rows(&out, &row, &jobs.job[i], &t);
			for (m = 0; m < n_missing && missing[m] != i; m++)
				continue;
			bad += (m < n_missing) != (row == before);
		}
		bad += row != out.n_rows;
		gv_frame_free(&out);
		gv_frame_free(&t);
		gv_rates_free(&jobs);
		gv_strbuf_free(&a);
		gv_strbuf_free(&b);
	}
	is_int(bad, 0, "random joins agree with the definition");
}

int
main(void)
{
	int fd = mkstemp(path);

	if (fd == -1)
		gv_die_sys("%s", path);
	close(fd);
	test_hash();
	test_cluster();
	test_jobs();
	test_rates();
	test_pairs();
	test_many_types();
	test_all_errors();
	test_join();
	test_join_random();
	unlink(path);
	return done_testing();
}
