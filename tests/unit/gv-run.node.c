/* gv-run on one of several nodes: which pools, rows and jobs are its own. */
#define _XOPEN_SOURCE 700
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "gv-run/core/node.h"
#include "gv-run/core/table.h"

static void
frame(struct gv_frame *f, const char *name, const char *text)
{
	struct gv_error e = {0};

	if (gv_frame_parse(f, name, text, strlen(text), &e) != 0)
		gv_die_error(&e);
}

static void
cluster(struct gv_cluster *c, const char *text)
{
	struct gv_frame f;
	struct gv_error e = {0};

	frame(&f, "c.csv", text);
	if (gv_cluster_from(c, &f, &e) != 0)
		gv_die_error(&e);
	gv_frame_free(&f);
}

static void
rates(struct gv_rates *t, const struct gv_cluster *c, const char *text)
{
	struct gv_frame f;
	struct gv_error e = {0};

	frame(&f, "t.csv", text);
	if (gv_rates_from(t, &f, c, &e) != 0)
		gv_die_error(&e);
	gv_rates_spread(t, c);
}

/* ---- pools ---- */

static void
test_only(void)
{
	struct gv_cluster c;

	cluster(&c, "gpu_type,gpus,node\na,1,\nb,1,n1\na,1,n1\n");
	is_str(node_only(&c), "n1", "a node and none: it is the only one");
	gv_cluster_free(&c);
	cluster(&c, "gpu_type,gpus,node\na,1,n1\nb,1,n2\n");
	ok(node_only(&c) == NULL, "two nodes: none is");
	gv_cluster_free(&c);
	cluster(&c, "gpu_type,gpus\na,1\n");
	ok(node_only(&c) == NULL, "no node: none");
	gv_cluster_free(&c);
}

/* The pools that are left, "TYPE GPUS NODE, ...". */
static void
pools(const struct gv_cluster *c, struct gv_strbuf *b)
{
	size_t p;

	gv_strbuf_clear(b);
	for (p = 0; p < c->n_pools; p++)
		gv_strbuf_fmt(b, "%s%s %zu %s", p > 0 ? ", " : "",
		    c->type[c->pool[p].type].name, c->pool[p].gpus, c->pool[p].node);
}

static void
test_host(void)
{
	struct gv_strbuf text = {0}, got = {0}, want = {0};
	struct node_choice choice;
	struct gv_cluster c;
	struct gv_error e = {0};
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	gv_strbuf_fmt(&text, "gpu_type,gpus,node\na,1,%s\nb,2,\nc,4,%s\n", host, host);
	cluster(&c, text.s);
	ok(node_select(&c, "c.csv", NULL, &choice, &e) == 0,
	    "pools of this host and of none");
	gv_strbuf_fmt(&want, "a 1 %s, b 2 , c 4 %s", host, host);
	pools(&c, &got);
	is_str(got.s, want.s, "are all its own");
	ok(choice.name == NULL && !choice.elsewhere[0], "and no other node has any");
	node_free(&choice);
	gv_cluster_free(&c);

	gv_strbuf_str(&text, "c,1,other\n");
	cluster(&c, text.s);
	ok(node_select(&c, "c.csv", NULL, &choice, &e) == -1, "another node beside them");
	gv_strbuf_clear(&want);
	gv_strbuf_fmt(&want,
	    "c.csv: node: pools of several nodes, \"other\" is not this host (\"%s\"); "
	    "say which with --node",
	    host);
	is_str(e.text[0], want.s, "has to be chosen from");
	node_free(&choice);
	gv_cluster_free(&c);
	gv_strbuf_free(&text);
	gv_strbuf_free(&got);
	gv_strbuf_free(&want);
}

/* What choosing says is wrong, or "". */
static const char *
fault(const char *text, const char *node, struct gv_error *e)
{
	struct node_choice choice;
	struct gv_cluster c;
	int rc;

	gv_error_clear(e);
	cluster(&c, text);
	rc = node_select(&c, "c.csv", node, &choice, e);
	node_free(&choice);
	gv_cluster_free(&c);
	return rc == 0 ? "" : e->text[0];
}

static void
test_faults(void)
{
	static const char several[] =
	    "c.csv: node: pools of several nodes, \"n9\" is not this host (";
	struct gv_error e = {0};

	is_str(fault("gpu_type,gpus,node\na,1,n9\nb,1,n9\n", NULL, &e), "",
	    "all of one node, which need not be this host");
	ok(strncmp(fault("gpu_type,gpus,node\na,1,n9\nb,1,n8\n", NULL, &e), several,
	       strlen(several)) == 0,
	    "two nodes, of which none is this host");
	is_str(fault("gpu_type,gpus,node\na,1,\nb,1,\na,1,n1\nc,1,n2\n", "n1", &e),
	    "c.csv: node: GPU type \"a\" both with node \"n1\" and with none",
	    "a type that the node has twice");
	is_str(fault("gpu_type,gpus,node\na,1,n2\n", "n1", &e),
	    "c.csv: node: no pool of node \"n1\"", "a node without pools");
}

static void
test_named(void)
{
	struct gv_strbuf got = {0};
	struct node_choice choice;
	struct gv_cluster c;
	struct gv_error e = {0};

	cluster(&c, "gpu_type,gpus,node\nz,6,n2\na,1,n1\nb,2,n2\nb,3,n1\nc,0,n2\nd,5,\n");
	ok(node_select(&c, "c.csv", "n1", &choice, &e) == 0, "one of two nodes");
	pools(&c, &got);
	is_str(got.s, "a 1 n1, b 3 n1, d 5 ", "has its pools, and those without a node");
	is_int(c.type[2].gpus, 3, "a type has the GPUs of them");
	is_int(c.type[0].gpus, 0, "or none");
	is_str(choice.name, "n1", "its name is known");
	ok(choice.elsewhere[0] && !choice.elsewhere[1] && choice.elsewhere[2] &&
		!choice.elsewhere[3] && !choice.elsewhere[4],
	    "and what others have: a pool without GPUs is nothing");
	node_free(&choice);
	gv_cluster_free(&c);
	cluster(&c, "gpu_type,gpus,node\nb,3,n1\n");
	choice.name = "before";
	ok(node_select(&c, "c.csv", "n1", &choice, &e) == 0 && choice.name == NULL,
	    "a node that is the only one is none that was chosen");
	node_free(&choice);
	gv_cluster_free(&c);
	gv_strbuf_free(&got);
}

/* ---- rows ---- */

/* What is left of a table on n1, the jobs' ids with the lines they stood at. */
static int
take(const char *text, struct gv_strbuf *got, struct gv_error *e)
{
	struct node_choice choice = {.name = "n1"};
	struct gv_frame f;
	size_t i;
	int rc;

	gv_strbuf_clear(got);
	frame(&f, "t.csv", text);
	rc = node_take_rows(&choice, &f, e);
	if (rc == 0 && f.header_line != 1)
		gv_strbuf_str(got, " header?");
	for (i = 0; i < f.n_rows; i++)
		gv_strbuf_fmt(got, " %s:%ld", gv_frame_cell(&f, i, 0).s, f.line[i]);
	gv_frame_free(&f);
	return rc;
}

static void
test_rows(void)
{
	struct gv_strbuf got = {0};
	struct gv_error e = {0};

	ok(take("job_id,node\nb,n2\nab,n1\na,n2\nabc,\n,n1\nba,n1\na,n2\n", &got, &e) ==
		0,
	    "jobs of two nodes, of which one's name begins as another's");
	is_str(got.s, " ab:3 abc:5 :6 ba:7", "those of others are left out");
	ok(take("x,node\na,n2\na,n1\n", &got, &e) == 0 && strcmp(got.s, " a:3") == 0,
	    "without a column of jobs each row is by itself");
	ok(take("node,job_id\nn1,a\nn2,b\nn1,c\n", &got, &e) == 0 &&
		strcmp(got.s, " n1:2 n1:4") == 0,
	    "the nodes may stand first");
	ok(take("job_id,x\na,n2\n", &got, &e) == 0 && strcmp(got.s, " a:2") == 0,
	    "without a column of nodes all are everybody's");
	ok(take("job_id,node\na,n1\nb,n1\na,n2\n", &got, &e) == -1, "a job of two nodes");
	is_str(e.text[0], "t.csv:4: node: expected \"n1\" as at line 2, got \"n2\"",
	    "is an error");
	gv_error_clear(&e);
	ok(take("job_id,node\nb,n1\na,n1\na,n1x\n", &got, &e) == -1,
	    "a node whose name begins as another's");
	is_str(e.text[0], "t.csv:4: node: expected \"n1\" as at line 3, got \"n1x\"",
	    "is another");
	gv_error_clear(&e);
	ok(take("job_id,node\na,\nb,n1\na,n1\n", &got, &e) == -1,
	    "a job with a node in one of its rows");
	is_str(e.text[0], "t.csv:4: node: expected \"\" as at line 2, got \"n1\"",
	    "has one in all of them");
	gv_strbuf_free(&got);
}

/* ---- jobs ---- */

static void
test_jobs(void)
{
	static const char table[] =
	    "job_id,total_steps,gpu_type,steps_per_s,node\n"
	    "first,9,b,1,\nhere,9,a,1,\nboth,9,b,1,\nthere,9,c,1,\nnever,9,a,1,\nnever,9,"
	    "c,0,\n"
	    "named,9,b,1,n\neach,9,d,1,\nspread,9,a,1,\nspread,9,c,1,\n"
	    "other,9,e,1,\nother,9,a,1,\n";
	struct node_choice choice, alone = {0};
	struct gv_cluster c;
	struct gv_rates t;
	struct gv_error e = {0};

	cluster(&c, "gpu_type,gpus,node\nd,1,\na,1,n1\nb,2,n2\nb,3,n1\nc,1,n2\ne,0,\n");
	rates(&t, &c, table);
	ok(node_check_jobs(&alone, &t, &c, &e) == 0 && e.count == 0,
	    "a cluster of one node: all is well");
	ok(node_select(&c, "c.csv", "n1", &choice, &e) == 0, "of two nodes");
	ok(node_check_jobs(&choice, &t, &c, &e) == -1, "some jobs could run on both");
	is_int(e.count, 4, "four");
	ok(strncmp(e.text[0], "t.csv:2: node: job \"first\" ", 27) == 0, "the first");
	ok(strncmp(e.text[1], "t.csv:4: node: job \"both\" can run on node \"n1\" and ",
	       49) == 0,
	    "one of a type that both have");
	ok(strncmp(e.text[2], "t.csv:9: node: job \"each\" ", 26) == 0,
	    "one of GPUs without a node, which each has");
	ok(strncmp(e.text[3], "t.csv:10: node: job \"spread\" ", 29) == 0,
	    "one of two types");
	gv_rates_free(&t);
	node_free(&choice);
	gv_cluster_free(&c);
}

/* ---- a table's policy ---- */

static void
test_policy(void)
{
	struct gv_cluster c;
	struct gv_rates t;
	struct gv_error e = {0};
	const char *name = "";

	cluster(&c, "gpu_type,gpus\na,1\n");
	rates(&t, &c, "job_id,total_steps,gpu_type,steps_per_s,policy\nx,9,a,1,\n");
	ok(table_policy(&t, &name, &e) == 0 && name == NULL, "an empty cell names none");
	gv_rates_free(&t);
	rates(&t, &c,
	    "job_id,total_steps,gpu_type,steps_per_s,policy\nx,9,a,1,max_sum\n"
	    "y,9,a,1,max_sum\nz,9,a,1,\n");
	ok(table_policy(&t, &name, &e) == -1, "a row without the policy of the others");
	is_str(e.text[0],
	    "t.csv:4: policy: expected \"max_sum\" as in the first row, got nothing",
	    "is an error");
	ok(table_merge(NULL, &t, "/nonexistent/none.csv", &e) == -1,
	    "nothing is written");
	gv_rates_free(&t);
	gv_cluster_free(&c);
}

int
main(void)
{
	gv_init("gv-run");
	test_only();
	test_host();
	test_faults();
	test_named();
	test_rows();
	test_jobs();
	test_policy();
	return done_testing();
}
