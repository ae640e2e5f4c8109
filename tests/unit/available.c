/* common/sched/asking: tables that say how many GPUs are there, and answers of changes. */
#include "tap.h"

#include <stdlib.h>

#include "base/strbuf.h"
#include "sched/asking/available.h"
#include "sched/asking/follow.h"

static struct gv_gpu_type type[] = {{.name = "a", .gpus = 4}, {.name = "b", .gpus = 2}};
static struct gv_pool pool[] = {
    {.type = 0, .gpus = 4, .node = ""}, {.type = 1, .gpus = 2, .node = ""}};
static const struct gv_cluster cluster = {
    .n_types = 2, .type = type, .n_pools = 2, .pool = pool};

static void
frame(struct gv_frame *f, const char *text)
{
	struct gv_error e = {0};

	if (gv_frame_parse(f, "t", text, strlen(text), &e) != 0)
		gv_die_error(&e);
}

static void
add_errors(struct gv_strbuf *b, const struct gv_error *e)
{
	size_t i;

	for (i = 0; i < e->count; i++)
		gv_strbuf_fmt(b, "!%s", e->text[i]);
}

/* What rows behind the header say is there and away, of each type, or is wrong. */
static void
says(const char *header, const char *rows, const char *want, const char *name)
{
	struct gv_strbuf text = {0}, got = {0};
	struct gv_cluster now;
	struct gv_frame f;
	struct gv_rates r;
	struct gv_error e = {0};
	int rc;

	gv_strbuf_fmt(&text, "job_id,gpu_type,steps_per_s%s\n%s", header, rows);
	frame(&f, text.s);
	if (gv_rates_from(&r, &f, &cluster, &e) != 0)
		gv_die_error(&e);
	rc = gv_rates_available(&r, &cluster, &now, &e);
	gv_strbuf_fmt(&got, "%zu+%zu %zu+%zu", now.type[0].gpus, now.type[0].away,
	    now.type[1].gpus, now.type[1].away);
	if (rc != 0)
		gv_strbuf_clear(&got);
	add_errors(&got, &e);
	is_str(got.s, want, "%s", name);
	free(now.type);
	gv_rates_free(&r);
	gv_strbuf_free(&text);
	gv_strbuf_free(&got);
}

static void
test_available(void)
{
	static const char column[] = ",gpus_available";

	says("", "x,a,1\n", "4+0 2+0", "no column: all GPUs are there");
	says(column, "x,a,1,\nx,b,1,\n", "4+0 2+0",
	    "nor does an empty cell say otherwise");
	says(column, "x,a,1,3\ny,a,1,3\nz,a,1,\n", "3+1 2+0", "one of a is away");
	says(column, "x,b,1,0\nx,a,1,4\n", "4+0 0+2", "all of b are");
	says(column, "x,a,1,5\nx,none,1,x\n", "5+0 2+0",
	    "more than the cluster has are there; types that it has not are nobody's");
	says(column, "x,a,1,-1\n",
	    "!t:2: gpus_available: expected a whole number >= 0, got \"-1\"", "below 0");
	says(column, "x,b,1,0\ny,b,1,1\n",
	    "!t:3: gpus_available: expected 0 as at line 2, got \"1\"",
	    "rows that differ");
	says(column, "x,b,1,x\n", "!t:2: gpus_available: expected an integer, got \"x\"",
	    "no number");
}

/* ---- answers of changes ---- */

/* The shares after an answer, as "JOB TYPE SHARE;", or what is wrong with it. */
static void
changes(struct gv_follow *f, const char *answer, const char *want, const char *name)
{
	static const struct gv_job all[] = {
	    {.id = {"none", 4}}, {.id = {"x", 1}}, {.id = {"y", 1}}};
	static const size_t job[] = {2, 1};
	struct gv_asked asked = {.n = 2, .job = job, .all = all};
	struct gv_strbuf got = {0};
	struct gv_reply r = {0};
	struct gv_frame t;
	struct gv_error e = {0};
	size_t i;

	gv_strbuf_str(&got, "");
	frame(&t, answer);
	if (gv_follow_reply(f, &r, &t, &cluster, &asked, &e) == 0)
		for (i = 0; i < r.n; i++)
			gv_strbuf_fmt(&got, "%zu %zu %g;", r.share[i].job,
			    r.share[i].type, r.share[i].share);
	add_errors(&got, &e);
	is_str(got.s, want, "%s", name);
	gv_reply_free(&r);
	gv_strbuf_free(&got);
}

static void
test_changes(void)
{
	struct gv_follow f = {0};
	struct gv_asked none = {0};
	struct gv_reply whole = {0};

	gv_follow_begin(&f, &whole, &none, 3, 2);
	changes(&f, "job_id,gpu_type,share\ny,a,0.25\nx,b,1\n", "0 0 0.25;1 1 1;",
	    "shares of two jobs");
	changes(&f, "job_id,gpu_type,share\n", "0 0 0.25;1 1 1;", "nothing has changed");
	changes(&f, "share,gpu_type,job_id\n0,a,y\n0.5,b,y\n", "0 1 0.5;1 1 1;",
	    "one has moved");
	changes(&f, "job_id,gpu_type\ny,a\n",
	    "!t:1: missing column \"share\" (found: job_id, gpu_type)", "no share");
	changes(&f, "job_id,gpu_type,share\ny,a,half\n",
	    "!t:2: share: expected a number, got \"half\"", "no number");
	changes(&f, "job_id,gpu_type,share\ny,a,\n",
	    "!t:2: share: expected a number, got nothing", "no share in a row");
	changes(&f, "job_id,gpu_type,share\ny,a,-0.5\n",
	    "!t:2: share: expected a number from 0 to 1, got \"-0.5\"", "below 0");
	changes(&f, "job_id,gpu_type,share\nnone,a,0\ny,c,0\n",
	    "!t:2: job_id: the policy was not asked about job \"none\""
	    "!t:3: gpu_type: expected a GPU type of the cluster, got \"c\"",
	    "nobody it was asked about, nor a type that is there");
	gv_follow_free(&f);
}

int
main(void)
{
	gv_init("available");
	test_available();
	test_changes();
	return done_testing();
}
