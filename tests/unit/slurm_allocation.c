/* What Slurm's commands say, read. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "draws.h"
#include "launch/slurm/allocation.h"
#include "tap.h"

static struct gv_strbuf names;

static void
add(void *ctx, const char *name)
{
	(void)ctx;
	gv_strbuf_fmt(&names, "%s%s", names.len > 0 ? " " : "", name);
}

static void
is_list(const char *list, const char *want)
{
	int rc;

	gv_strbuf_clear(&names);
	gv_strbuf_str(&names, "");
	rc = gv_slurm_hosts(list, add, NULL);
	if (want == NULL)
		ok(rc == -1, "\"%s\" is no list", list);
	else
		ok(rc == 0 && strcmp(names.s, want) == 0, "\"%s\": %s", list, names.s);
}

static void
test_lists(void)
{
	is_list("", "");
	is_list("n1", "n1");
	is_list("n[1-3]", "n1 n2 n3");
	is_list("n[08-11,3],m", "n08 n09 n10 n11 n3 m");
	is_list("r[1-2]n[1-2]-ib", "r1n1-ib r1n2-ib r2n1-ib r2n2-ib");
	is_list("a,b[7],c", "a b7 c");
	is_list("n[1-", NULL);
	is_list("n[]", NULL);
	is_list("n[3-1]", NULL);
	is_list("n[1-x]", NULL);
	is_list("n[1-2x]", NULL);
	is_list("n[1x]", NULL);
	is_list("n[1-2-3]", NULL);
	is_list("n[-1]", NULL);
	is_list("n[1,]", NULL);
	is_list("a,,b", NULL);
	is_list("n[1-9999999]", NULL);
	is_list("n[1-1000]m[1-10000]", NULL);
}

/* So many bytes of names that are as long as may be: one with a bracket, one without. */
static void
test_long_names(size_t len, bool fits)
{
	struct gv_strbuf b = {0};
	size_t i;

	for (i = 0; i + 2 < len; i++)
		gv_strbuf_char(&b, 'n');
	gv_strbuf_str(&b, "[07]");
	gv_strbuf_clear(&names);
	ok(gv_slurm_hosts(b.s, add, NULL) == (fits ? 0 : -1) &&
		names.len == (fits ? len : 0),
	    "a name of %zu bytes", len);
	b.len -= 4;
	gv_strbuf_str(&b, "07");
	gv_strbuf_clear(&names);
	ok(gv_slurm_hosts(b.s, add, NULL) == (fits ? 0 : -1) &&
		names.len == (fits ? len : 0),
	    "and without brackets");
	gv_strbuf_free(&b);
}

static long counted;

static void
count(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	counted++;
}

/* Random lists, written beside the names that they are of. */
static void
test_random_lists(void)
{
	struct gv_strbuf list = {0}, want = {0};
	long wrong = 0;
	int trial;

	for (trial = 0; trial < 2000; trial++) {
		size_t n;

		draws_begin((uint64_t)trial, 1, 0);
		n = 1 + below(3);
		gv_strbuf_clear(&list);
		gv_strbuf_clear(&want);
		gv_strbuf_clear(&names);
		while (n-- > 0) {
			size_t brackets = below(3), ranges[2] = {0}, i, j, k, l;
			unsigned from[2][3] = {{0}}, to[2][3] = {{0}};
			int digits[2][3] = {{0}};
			const char *head = below(2) == 0 ? "n" : "rack-",
				   *tail = below(2) == 0 ? "" : "-ib";

			gv_strbuf_fmt(&list, "%s%s", list.len > 0 ? "," : "", head);
			for (i = 0; i < brackets; i++) {
				ranges[i] = 1 + below(3);
				gv_strbuf_str(&list, i > 0 ? "x[" : "[");
				for (j = 0; j < ranges[i]; j++) {
					from[i][j] =
					    (unsigned)below(below(2) == 0 ? 12 : 1100);
					to[i][j] = from[i][j] + (unsigned)below(4);
					digits[i][j] = snprintf(NULL, 0, "%0*u",
					    1 + (int)below(9), from[i][j]);
					gv_strbuf_fmt(&list, "%s%0*u", j > 0 ? "," : "",
					    digits[i][j], from[i][j]);
					if (to[i][j] > from[i][j] || below(3) == 0)
						gv_strbuf_fmt(&list, "-%0*u",
						    digits[i][j], to[i][j]);
				}
				gv_strbuf_char(&list, ']');
			}
			gv_strbuf_str(&list, tail);
			for (j = 0; j < (brackets > 0 ? ranges[0] : 1); j++)
				for (k = from[0][j]; k <= to[0][j]; k++)
					for (i = 0; i < (brackets > 1 ? ranges[1] : 1);
					     i++)
						for (l = from[1][i]; l <= to[1][i]; l++) {
							gv_strbuf_fmt(&want, "%s%s",
							    want.len > 0 ? " " : "",
							    head);
							if (brackets > 0)
								gv_strbuf_fmt(&want,
								    "%0*zu", digits[0][j],
								    k);
							if (brackets > 1)
								gv_strbuf_fmt(&want,
								    "x%0*zu",
								    digits[1][i], l);
							gv_strbuf_str(&want, tail);
						}
		}
		if ((gv_slurm_hosts(list.s, add, NULL) != 0 ||
			strcmp(names.s, want.s) != 0) &&
		    wrong++ == 0)
			printf("# %s: %s, want %s\n", list.s, names.s, want.s);
	}
	is_int(wrong, 0, "2,000 lists are the names that they are of");
	gv_strbuf_free(&list);
	gv_strbuf_free(&want);
	test_long_names(254, true);
	test_long_names(255, true);
	test_long_names(256, false);
	is_list("n[000000009-000000010]", "n000000009 n000000010");
	is_list("n[0000000009]", NULL);
	is_list("n[999999999]", "n999999999");
	counted = 0;
	ok(gv_slurm_hosts("n[1-1000000]", count, NULL) == 0 && counted == 1000000,
	    "a million names");
	counted = 0;
	ok(gv_slurm_hosts("m,n[1-1000000]", count, NULL) == -1 && counted == 1000000,
	    "and none more");
	counted = 0;
	ok(gv_slurm_hosts("n[0-1000000]", count, NULL) == -1 && counted == 0,
	    "nor at once");
}

static const char two_groups[] =
    "JobId=5 HetJobId=5 JobState=RUNNING NumNodes=2 JOB_GRES=gpu:v100:4   Nodes=n[1-2] "
    "CPU_IDs=0 Mem=0 GRES=gpu:v100:2(IDX:1,3),shard:2(IDX:0) MinCPUsNode=1\n"
    "JobId=6 HetJobId=5 JobState=RUNNING   Nodes=m CPU_IDs=0-7 Mem=0 "
    "GRES=gpu:a:2(IDX:2-3),gpu:b:2(IDX:0-1)   Nodes=cpu CPU_IDs=0-7 Mem=0 GRES= X=1\n"
    "JobId=7 JobState=PENDING Nodes=x CPU_IDs=0 Mem=0 GRES=gpu:1(IDX:0)\n";

static void
test_allocation(void)
{
	struct gv_slurm_allocation a;
	struct gv_error e = {0};
	struct gv_slurm_node *n;

	ok(gv_slurm_allocation_read(&a, two_groups, &e) == 0, "two jobs that run");
	ok(a.n_jobs == 2 && strcmp(a.job[1], "6") == 0, "by their ids");
	ok(a.n_nodes == 4, "four nodes, none of one that waits");
	n = gv_slurm_find(&a, "n2", 2);
	ok(n != NULL && n->group == 0 && n->n_gpus == 2 && n->gpu[0].id == 1 &&
		n->gpu[1].id == 3 && strcmp(n->gpu[0].type, "v100") == 0,
	    "GPUs by their numbers, other gres left out");
	n = gv_slurm_find(&a, "m", 1);
	ok(n != NULL && n->group == 1 && n->n_gpus == 4 &&
		strcmp(n->gpu[0].type, "b") == 0 && n->gpu[3].id == 3 &&
		strcmp(n->gpu[3].type, "a") == 0,
	    "two types of a node, in the order of numbers");
	n = gv_slurm_find(&a, "cpu", 3);
	ok(n != NULL && n->n_gpus == 0, "a node without");
	ok(gv_slurm_find(&a, "n", 1) == NULL, "no node by half a name");
	gv_slurm_allocation_free(&a);
	ok(gv_slurm_allocation_read(&a, "", &e) == -1, "nothing");
	gv_slurm_allocation_free(&a);
}

/* What a job of one node "n" has there, as "type:number ...", by its gres. */
static void
has_gpus(const char *gres, const char *want)
{
	struct gv_slurm_allocation a;
	struct gv_error e = {0};
	struct gv_strbuf text = {0}, got = {0};
	size_t i;
	int rc;

	gv_strbuf_fmt(
	    &text, "JobId=5 JobState=RUNNING   Nodes=n CPU_IDs=0 GRES=%s", gres);
	gv_strbuf_str(&got, "");
	rc = gv_slurm_allocation_read(&a, text.s, &e);
	for (i = 0; rc == 0 && i < a.node[0].n_gpus; i++)
		gv_strbuf_fmt(&got, "%s%s:%d", i > 0 ? " " : "", a.node[0].gpu[i].type,
		    a.node[0].gpu[i].id);
	ok(want != NULL ? rc == 0 && strcmp(got.s, want) == 0 : rc == -1, "%s: \"%s\"",
	    gres, rc == 0 ? got.s : e.text[0]);
	gv_error_clear(&e);
	gv_slurm_allocation_free(&a);
	gv_strbuf_free(&text);
	gv_strbuf_free(&got);
}

static void
test_gpus(void)
{
	struct gv_slurm_allocation a;
	struct gv_error e = {0};

	has_gpus("", "");
	has_gpus("gpu:1(IDX:0)", "gpu:0");
	has_gpus("gpu:0(IDX:N/A)", "");
	has_gpus("gpu:4", "");
	has_gpus("gpu:a:4(IDX:0-1,3,7-7)", "a:0 a:1 a:3 a:7");
	has_gpus("gpu:a:3(IDX:8-10)", "a:8 a:9 a:10");
	has_gpus("gpu:a:1(IDX:5),gpu:b:1(IDX:4)", "b:4 a:5");
	has_gpus("gpux:a:1(IDX:5),gp:1(IDX:0),g", "");
	has_gpus("shard:a:1(IDX:5),gpu:a:1(IDX:2)", "a:2");
	has_gpus("gpu:a:1(IDX:2) Next=1,gpu:b:1(IDX:7)", "a:2");
	has_gpus("gpu:a:1(CNT:1)", NULL);
	has_gpus("gpu:a:2(IDX:2-1)", NULL);
	has_gpus("gpu:a:1(IDX:4095)", "a:4095");
	has_gpus("gpu:a:1(IDX:4096)", NULL);
	has_gpus("gpu:a:1(IDX:9223372036854775807)", NULL);
	has_gpus("gpu:a:1(IDX:0-99999999999999999999)", NULL);
	gv_slurm_allocation_read(
	    &a, "JobId=5 JobState=RUNNING Nodes=n GRES=gpu:a:4096(IDX:0-4095)\n", &e);
	ok(a.n_nodes == 1 && a.node[0].n_gpus == 4096 && a.node[0].gpu[4095].id == 4095,
	    "4,096 GPUs");
	gv_slurm_allocation_free(&a);
	has_gpus("gpu:a:4097(IDX:0-4095,4095)", NULL);
}

/* Lines that are of no job that runs, or of one without nodes. */
static void
test_no_jobs(void)
{
	static const char *const text[] = {"JobId=5 JobState=PENDING Nodes=n GRES=\n",
	    "JobId=5 JobState=RUNNINGS Nodes=n GRES=\n", "JobId=5 Nodes=n GRES=\n",
	    "JobState=RUNNING Nodes=n GRES=\n", "JobId=5 JobState=RUNNING\n",
	    "JobId=5 JobState=RUNNING Nodes= CPU_IDs=0\n",
	    "JobId=5 JobState=RUNNING Nodes=", "\n\n"};
	struct gv_slurm_allocation a;
	struct gv_error e = {0};
	size_t i;

	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		is_int(
		    gv_slurm_allocation_read(&a, text[i], &e), -1, "none: %s", text[i]);
		is_int((long long)a.n_nodes, 0, "without nodes");
		gv_error_clear(&e);
		gv_slurm_allocation_free(&a);
	}
	ok(gv_slurm_allocation_read(&a,
	       "\nJobState=RUNNING JobId=\nJobId=7 JobState=RUNNING Nodes=n[1-2] "
	       "GRES=gpu:1(IDX:0)   Nodes=n2,n3 GRES=",
	       &e) == 0 &&
		a.n_jobs == 1 && strcmp(a.job[0], "7") == 0 && a.n_nodes == 3 &&
		a.node[0].n_gpus == 1 && a.node[1].n_gpus == 1 && a.node[2].n_gpus == 0 &&
		a.node[2].mine && strcmp(a.node[2].address, "n3") == 0,
	    "a node that is named twice is one");
	gv_slurm_allocation_free(&a);
}

/* What the states of sinfo mean: 'g'ood, 'u'nsure or 'b'ad. */
static void
test_states(void)
{
	static const char *const states[] = {"g idle", "g mix", "g alloc", "g comp",
	    "g resv", "g maint", "b down", "b down*", "b drain", "b drained", "b drng",
	    "b fail", "b failg", "b inval", "b power", "b pow_dn", "b pow_up", "b reboot",
	    "b boot", "u unk", "u unk*", "u no_respond", "g plnd", "u idle*", "u mix*",
	    "g *idle", "g ", "u *", "g dow", "b down2"};
	struct gv_slurm_allocation a;
	struct gv_error e = {0};
	char line[64];
	size_t i;

	gv_slurm_allocation_read(&a, two_groups, &e);
	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		int bad = states[i][0] == 'g' ? 0 : states[i][0] == 'u' ? 1 : 2;

		gv_slurm_take_nodes(&a, "n1|n1|idle\n", 1);
		snprintf(line, sizeof(line), "n1|n1|%s", states[i] + 2);
		gv_slurm_take_nodes(&a, line, 2);
		is_int(a.node[0].bad, bad, "\"%s\"", states[i] + 2);
	}
	gv_slurm_allocation_free(&a);
}

static void
test_queue(void)
{
	struct gv_slurm_allocation a;
	struct gv_error e = {0};
	struct gv_slurm_node *n;
	bool changed = false;
	double left_s;

	gv_slurm_allocation_read(&a, two_groups, &e);
	n = gv_slurm_find(&a, "n1", 2);
	ok(gv_slurm_take_queue(&a, "5|RUNNING|0:05\n|RUNNING\n\n5|RUNNING", &left_s,
	       &changed) == GV_SLURM_OVER,
	    "lines of fewer than four words say nothing");
	ok(gv_slurm_take_queue(&a, "5|PENDING|0:05|\n6|RUNNING|0:07|n[1-2],m,cpu",
	       &left_s, &changed) == GV_SLURM_RUNS &&
		left_s == 7 && n->mine,
	    "the last line may have no end");
	ok(gv_slurm_take_queue(&a, "6|RUNNING|0:07|m|n1\n5|PENDING|0:05|\n", &left_s,
	       &changed) == GV_SLURM_RUNS &&
		!n->mine,
	    "one that waits beside one that runs; what is behind the fourth is of it");
	gv_slurm_allocation_free(&a);
}

static void
test_looks(void)
{
	static const struct {
		const char *text;
		double seconds;
	} times[] = {{"0:01", 1}, {"9:59", 599}, {"2:00:00", 7200}, {"1-02:03:04", 93784},
	    {"12-00:00:00", 1036800}, {"UNLIMITED", HUGE_VAL}, {"INVALID", HUGE_VAL},
	    {"", HUGE_VAL}, {":30", HUGE_VAL}, {"-1:00", HUGE_VAL}};
	struct gv_slurm_allocation a;
	struct gv_error e = {0};
	struct gv_slurm_node *n;
	bool changed = false;
	double left_s;
	size_t i;

	gv_slurm_allocation_read(&a, two_groups, &e);
	n = gv_slurm_find(&a, "n1", 2);
	ok(!gv_slurm_take_nodes(&a, "n1|10.0.0.1|alloc\nn2|n2|idle\nz|z|down\n", 1),
	    "all is well");
	ok(strcmp(n->address, "10.0.0.1") == 0, "an address");
	ok(!gv_slurm_take_nodes(&a, "n1|n1|alloc*\n", 2) && n->bad == 1,
	    "one that does not answer may soon");
	ok(!gv_slurm_take_nodes(&a, "n1|n1|alloc*\n", 6.9) && n->why[0] == '\0',
	    "for five seconds");
	ok(gv_slurm_take_nodes(&a, "n1|n1|alloc*\n", 7) &&
		strcmp(n->why, "it is alloc*") == 0,
	    "then it is not usable");
	ok(gv_slurm_take_nodes(&a, "n1|n1|mix\n", 8) && n->why[0] == '\0', "until it is");
	ok(gv_slurm_take_nodes(&a, "n1|n1|drng\n", 9) && n->bad == 2,
	    "one that drains is not at once");
	ok(gv_slurm_take_queue(&a, "5|RUNNING|1-02:03:04|n2\n6|RUNNING|9:59|m,cpu\n",
	       &left_s, &changed) == GV_SLURM_RUNS,
	    "it runs");
	ok(left_s == 599, "the least time that is left: %g", left_s);
	ok(changed && !n->mine && strstr(n->why, "not in the allocation") != NULL,
	    "a node that it has lost");
	gv_slurm_take_nodes(&a, "n1|n1|idle\n", 10);
	ok(n->why[0] != '\0', "is not used again");
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		char line[64];

		snprintf(line, sizeof(line), "5|RUNNING|%s|n2\n", times[i].text);
		gv_slurm_take_queue(&a, line, &left_s, &changed);
		ok(left_s == times[i].seconds, "\"%s\": %g s are left", times[i].text,
		    left_s);
	}
	ok(gv_slurm_take_queue(&a, "5|PENDING|1:00|\n", &left_s, &changed) ==
		GV_SLURM_PENDS,
	    "it waits");
	ok(gv_slurm_take_queue(&a, "5|COMPLETING|1:00|n2\n", &left_s, &changed) ==
		GV_SLURM_OVER,
	    "it has ended");
	ok(gv_slurm_take_queue(&a, "", &left_s, &changed) == GV_SLURM_OVER,
	    "nobody knows it");
	gv_slurm_allocation_free(&a);
}

int
main(void)
{
	test_lists();
	test_random_lists();
	test_allocation();
	test_gpus();
	test_no_jobs();
	test_states();
	test_queue();
	test_looks();
	gv_strbuf_free(&names);
	return done_testing();
}
