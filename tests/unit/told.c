/*
 * Policies that are told changes (policy/told.h, sched/asking/follow.h, gv-alloc --changes): over
 * random histories of jobs that come, go and get on, the shares are those of the whole
 * table to the last bit.
 */
#include "tap.h"

#include <unistd.h>

#include "base/fileio.h"
#include "base/rng.h"
#include "policy/policy.h"
#include "policy/told.h"
#include "sched/asking/follow.h"

enum { JOBS = 60, TYPES = 3, STEPS = 40 };

static char dir[] = "/tmp/gv-told.XXXXXX";
static const char *const type[TYPES] = {"v100", "p100", "k80"};

/* ---- random histories ---- */

struct history {
	uint32_t seed, draws;
	bool needs; /* jobs have deadlines and minimums */
	bool spread;
	bool single; /* no gangs */
	char id[JOBS][16];
	struct gv_job job[JOBS];
	bool here[JOBS];
	double left[JOBS], elapsed[JOBS];
	/* asked about */
	size_t n;
	size_t asked[JOBS];
	struct gv_told_job now[JOBS];
};

static double
draw(struct history *h)
{
	return gv_random_uniform(7, h->seed, 0, h->draws++);
}

static void
begin(struct history *h, uint32_t seed)
{
	size_t m;

	*h = (struct history){
	    .seed = seed, .needs = seed % 3 == 1, .spread = seed % 4 == 2};
	for (m = 0; m < JOBS; m++) {
		snprintf(h->id[m], sizeof(h->id[m]), "%s%zu", m % 5 == 0 ? "a," : "j", m);
		h->job[m].id = (struct gv_cell){h->id[m], strlen(h->id[m])};
		h->left[m] = 1000 + floor(1e5 * draw(h));
		h->here[m] = draw(h) < .2;
	}
	h->here[0] = true;
}

static void
step(struct history *h)
{
	bool turn = draw(h) < .1; /* many at once */
	size_t m;

	h->n = 0;
	for (m = 0; m < JOBS; m++) {
		if (draw(h) < (turn ? .5 : .03))
			h->here[m] = !h->here[m];
		if (h->here[m] && draw(h) < .7) {
			h->elapsed[m] += floor(100 * draw(h));
			h->left[m] = floor(h->left[m] * (draw(h) < .05 ? 0 : draw(h)));
		}
		if (h->here[m]) {
			h->asked[h->n] = m;
			h->now[h->n++] = (struct gv_told_job){
			    m, {h->left[m], h->elapsed[m], h->elapsed[m] / 2}};
		}
	}
	if (h->n > 0)
		return;
	h->here[1] = true;
	h->asked[h->n] = 1;
	h->now[h->n++] = (struct gv_told_job){1, {h->left[1], h->elapsed[1], 0}};
}

/* ---- as tables ---- */

enum { COLUMNS = 11 };
static const char *const column[COLUMNS] = {"job_id", "gpu_type", "steps_per_s",
    "scale_factor", "priority_weight", "steps_remaining", "elapsed_s",
    "isolated_elapsed_s", "total_steps", "slo_factor", "min_steps_per_s"};

static void
cells(struct gv_tabw *w, const struct history *h, const struct gv_told_job *j, size_t row)
{
	size_t m = j->job;
	size_t k;
	char name[32];

	snprintf(name, sizeof(name), "%s%s", type[row % TYPES],
	    row >= TYPES ? "_unconsolidated" : "");
	gv_tabw_cell(w, h->job[m].id);
	gv_tabw_str(w, name);
	gv_tabw_double(w,
	    floor(100 * gv_random_uniform(8, h->seed, (uint32_t)row, (uint32_t)(m % 7))));
	gv_tabw_int(w, m % 4 == 0 && !h->single ? 2 : 1);
	gv_tabw_int(w, m % 3 == 0 ? 5 : 1);
	for (k = 0; k < GV_TOLD_NUMBERS; k++)
		gv_tabw_double(w, j->number[k]);
	gv_tabw_int(w, 200000);
	if (!h->needs)
		return;
	gv_tabw_double(w, m % 6 == 0 ? 40 : NAN);
	gv_tabw_double(w, m % 9 == 0 ? .01 : 0);
}

static size_t
columns_of(const struct history *h)
{
	return h->needs ? COLUMNS : COLUMNS - 2;
}

/* Rows of a job; each has one on the first type. */
static bool
has_row(const struct history *h, size_t m, size_t row)
{
	return row < TYPES ? row == 0 || (m + row) % 5 != 0
			   : h->spread && m % 4 == 0 && row % 2 == 0;
}

static struct gv_strbuf
whole(const struct history *h)
{
	struct gv_strbuf b = {0};
	struct gv_out *out = gv_out_memory(&b);
	struct gv_error e = {0};
	struct gv_tabw w;
	size_t i, k;

	gv_tabw_init(&w, out, false);
	for (k = 0; k < columns_of(h); k++)
		gv_tabw_str(&w, column[k]);
	gv_tabw_end(&w);
	for (i = 0; i < h->n; i++)
		for (k = 0; k < (size_t)2 * TYPES; k++)
			if (has_row(h, h->now[i].job, k)) {
				cells(&w, h, &h->now[i], k);
				gv_tabw_end(&w);
			}
	gv_out_close(out, &e);
	return b;
}

static struct gv_strbuf
changes(const struct history *h, const struct gv_told *told, struct gv_follow *follow)
{
	struct gv_cell name[COLUMNS];
	struct gv_strbuf b = {0};
	struct gv_out *out = gv_out_memory(&b);
	struct gv_told_change *change;
	struct gv_error e = {0};
	struct gv_told_writer w;
	size_t n = gv_told_compare(told, h->now, h->n, &change);
	size_t i, k;

	for (k = 0; k < COLUMNS; k++)
		name[k] = (struct gv_cell){column[k], strlen(column[k])};
	gv_told_begin(&w, out, name, columns_of(h));
	for (i = 0; i < n; i++) {
		const struct gv_told_change *c = &change[i];
		size_t m =
		    c->kind == GV_TOLD_GONE ? told->job[c->at].job : h->asked[c->at];

		if (c->kind == GV_TOLD_NEW)
			gv_follow_new(follow, m);
		else
			gv_told_row(&w, told, c, h->job[m].id, &h->now[c->at]);
		for (k = 0; c->kind == GV_TOLD_NEW && k < (size_t)2 * TYPES; k++)
			if (has_row(h, m, k)) {
				gv_told_new(&w, c);
				cells(&w.w, h, &h->now[c->at], k);
				gv_tabw_end(&w.w);
			}
	}
	gv_told_end(&w);
	free(change);
	gv_out_close(out, &e);
	return b;
}

/* ---- asking both ---- */

struct both {
	struct gv_policy *plain, *told;
	struct gv_told knows;
	struct gv_follow follow;
	struct gv_cluster cluster;
	long wholes;
};

/* Shares [JOBS][TYPES] of a reply. */
static void
spread_out(double *x, const struct gv_reply *r, const struct gv_asked *asked)
{
	size_t i;

	memset(x, 0, sizeof(*x) * JOBS * TYPES);
	for (i = 0; i < r->n; i++)
		x[asked->job[r->share[i].job] * TYPES + r->share[i].type] =
		    r->share[i].share;
}

static int
ask_plain(struct both *b, const struct history *h, const struct gv_asked *asked,
    double *x, struct gv_error *e)
{
	struct gv_strbuf table = whole(h);
	struct gv_reply r = {0};
	struct gv_frame f;
	int rc = gv_policy_ask(b->plain, &table, e);

	if (rc == 0 && (rc = gv_policy_wait(b->plain, e)) == 0 &&
	    (rc = gv_policy_table(b->plain, "plain", &f, e)) == 0)
		rc = gv_reply_from(&r, &f, &b->cluster, asked, e);
	spread_out(x, &r, asked);
	gv_reply_free(&r);
	return rc;
}

static int
ask_told(struct both *b, const struct history *h, const struct gv_asked *asked, double *x,
    struct gv_error *e)
{
	struct gv_strbuf table = {0};
	struct gv_reply r = {0};
	struct gv_frame f;
	int rc = 1;

	if (b->knows.follows) {
		table = changes(h, &b->knows, &b->follow);
		rc = gv_policy_ask_changes(b->told, &table);
		gv_strbuf_free(&table);
	}
	if (rc == 0) {
		if ((rc = gv_policy_wait(b->told, e)) == 0 &&
		    (rc = gv_policy_table(b->told, "told", &f, e)) == 0)
			rc = gv_follow_reply(&b->follow, &r, &f, &b->cluster, asked, e);
	} else {
		b->wholes++;
		table = whole(h);
		rc = gv_policy_ask(b->told, &table, e);
		if (rc == 0 && (rc = gv_policy_wait(b->told, e)) == 0 &&
		    (rc = gv_policy_table(b->told, "told", &f, e)) == 0) {
			gv_told_hear(&b->knows, &f);
			rc = gv_reply_from(&r, &f, &b->cluster, asked, e);
			gv_follow_begin(&b->follow, &r, asked, JOBS, TYPES);
		}
	}
	gv_told_set(&b->knows, h->now, h->n);
	spread_out(x, &r, asked);
	gv_reply_free(&r);
	return rc;
}

/* A history with a policy. */
static void
test_policy(const char *bin, const char *words, uint32_t seed)
{
	static double x[2][JOBS * TYPES];
	char command[500], options[516];
	struct gv_policy_spec spec[2];
	struct gv_error e = {0};
	struct both b = {0};
	struct history h;
	long wrong = 0;
	int i, k;

	snprintf(command, sizeof(command), "exec %s/gv-alloc -q -c cluster.csv -p %s",
	    bin, words);
	for (k = 0; k < 2; k++) {
		snprintf(options, sizeof(options), "%s --%s", command,
		    k == 0 ? "stream" : "changes");
		spec[k] = (struct gv_policy_spec){.command = options,
		    .directory = dir,
		    .streams = true,
		    .timeout_s = 60};
		*(k == 0 ? &b.plain : &b.told) = gv_policy_new(&spec[k]);
	}
	snprintf(command, sizeof(command), "%s/cluster.csv", dir);
	gv_cluster_read(&b.cluster, command, &e);
	begin(&h, seed);
	h.single = strcmp(words, "allox") == 0;
	for (i = 0; i < STEPS && wrong == 0; i++) {
		struct gv_asked asked = {h.n, h.asked, h.job};

		step(&h);
		asked.n = h.n;
		if (ask_plain(&b, &h, &asked, x[0], &e) != 0 ||
		    ask_told(&b, &h, &asked, x[1], &e) != 0) {
			printf("# %s\n", e.text[0]);
			wrong = 1000;
			break;
		}
		wrong += memcmp(x[0], x[1], sizeof(x[0])) != 0;
		if (i == STEPS / 2) /* begun anew in the middle */
			gv_policy_stop(b.told);
	}
	ok(wrong == 0 && b.wholes == 2, "%s, seed %u: changes say what whole tables do",
	    words, (unsigned)seed);
	gv_policy_free(b.plain);
	gv_policy_free(b.told);
	gv_told_free(&b.knows);
	gv_follow_free(&b.follow);
	gv_cluster_free(&b.cluster);
}

static void
test_alloc(void)
{
	static const char *const words[] = {"max-min", "water-filling", "finish-time",
	    "makespan", "isolated", "proportional", "fifo", "sjf", "allox",
	    "max-sum --relax-slo", "min-cost --relax-slo", "strategy-proof",
	    "max-min --agnostic --relax-slo", "makespan --relax-slo"};
	const char *bin = getenv("GV_BIN");
	char path[512];
	size_t k;
	uint32_t seed;

	snprintf(path, sizeof(path), "%s/gv-alloc", bin != NULL ? bin : "bin");
	if (bin == NULL || access(path, X_OK) != 0) {
		skip("GV_BIN names no gv-alloc");
		return;
	}
	for (k = 0; k < sizeof(words) / sizeof(words[0]); k++)
		for (seed = 0; seed < 6; seed++)
			/* deadlines that cannot be met end a policy that may not relax them */
			if (seed % 3 != 1 || strstr(words[k], "relax") != NULL ||
			    strstr(words[k], "finish") != NULL)
				test_policy(bin, words[k], seed);
}

/* ---- which command can be told ---- */

static void
test_commands(void)
{
	static const struct {
		const char *command, *becomes;
	} row[] = {{"gv-alloc -p max-min", "gv-alloc -p max-min --changes"},
	    {"/usr/bin/gv-alloc  -p x", "/usr/bin/gv-alloc  -p x --changes"},
	    {"  gv-alloc", "  gv-alloc --changes"}, {"gv-alloc -p x |cat", NULL},
	    {"awk -f gv-alloc", NULL}, {"my-gv-alloc -p x", NULL},
	    {"gv-alloc -- x", NULL}, {"gv-alloc -p x; true", NULL},
	    {"gv-alloc -p $P", NULL}, {"gv-alloc --entities='a b'", NULL}, {"", NULL},
	    {"gv-allocator", NULL}};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		bool streams = false;
		char *s = gv_policy_command(row[i].command, &streams);

		is_str(s, row[i].becomes != NULL ? row[i].becomes : row[i].command,
		    "the command \"%s\"", row[i].command);
		is_int(streams, row[i].becomes != NULL, "and whether it streams");
		free(s);
	}
}

/* ---- what an answer says ---- */

static void
hear(struct gv_told *t, const char *answer)
{
	struct gv_error e = {0};
	struct gv_frame f;

	gv_frame_parse(&f, "answer", answer, strlen(answer), &e);
	gv_told_hear(t, &f);
	gv_frame_free(&f);
}

static void
test_hear(void)
{
	struct gv_told t = {0};

	hear(&t, "job_id,share,reads\na,1,elapsed_s;isolated_elapsed_s\n");
	ok(t.follows && !t.reads[0] && t.reads[1] && t.reads[2], "two of three numbers");
	hear(&t, "job_id,share,reads\na,1,elapsed\n");
	ok(t.follows && !t.reads[0] && !t.reads[1] && !t.reads[2], "none that is known");
	hear(&t, "job_id,share\na,1\n");
	ok(!t.follows, "no column, no changes");
	hear(&t, "job_id,share,reads\n");
	ok(!t.follows, "nor where nobody says it");
	hear(&t, "job_id,share,reads,with_job_id\na,1,,b\n");
	ok(!t.follows, "nor with shares of two jobs");
	gv_told_free(&t);
}

/* ---- answers that are not good ---- */

static void
bad(const char *answer, const char *sentence)
{
	struct gv_job job[2] = {{.id = {"a", 1}}, {.id = {"b", 1}}};
	size_t number[2] = {0, 1};
	struct gv_gpu_type types[2] = {{.name = "v100"}, {.name = "k80"}};
	struct gv_cluster c = {.type = types, .n_types = 2};
	struct gv_asked asked = {2, number, job};
	struct gv_follow follow = {0};
	struct gv_reply r = {0};
	struct gv_error e = {0};
	struct gv_frame f;

	gv_follow_begin(&follow, &r, &asked, 2, 2);
	gv_frame_parse(&f, "x", answer, strlen(answer), &e);
	ok(gv_follow_reply(&follow, &r, &f, &c, &asked, &e) == -1, "not taken");
	is_str(e.text[0], sentence, "and why");
	gv_follow_free(&follow);
}

static void
test_bad(void)
{
	bad("job_id,gpu_type,share\nc,k80,1\n",
	    "x:2: job_id: the policy was not asked about job \"c\"");
	bad("job_id,gpu_type,share\na,a100,1\n",
	    "x:2: gpu_type: expected a GPU type of the cluster, got \"a100\"");
	bad("job_id,gpu_type,share\na,k80,1.5\n",
	    "x:2: share: expected a number from 0 to 1, got \"1.5\"");
	bad("job_id,gpu_type,share\na,k80,1\na,v100,.5\n",
	    "x: shares of job \"a\" add up to more than 1");
}

/* One that goes when it is told changes: whoever came next would not know of what. */
static void
test_leaves(void)
{
	struct gv_policy_spec spec = {
	    .command = "while read -r line && [ -n \"$line\" ]; do echo \"$line\"; done\n"
		       "echo; read -r line",
	    .directory = dir,
	    .streams = true,
	    .timeout_s = 20};
	struct gv_policy *p = gv_policy_new(&spec);
	struct gv_strbuf b = {0};
	struct gv_error e = {0};

	gv_strbuf_str(&b, "job_id\na\n");
	is_int(gv_policy_ask_changes(p, &b), 1, "nobody is there who remembers");
	ok(b.len > 0 && gv_policy_ask(p, &b, &e) == 0 && gv_policy_wait(p, &e) == 0,
	    "a whole table is answered");
	gv_strbuf_str(&b, "change\nx\n");
	ok(gv_policy_ask_changes(p, &b) == 0 && gv_policy_wait(p, &e) == -1,
	    "one that leaves");
	is_str(
	    e.text[0], "the policy has left without an answer", "and is not asked twice");
	gv_strbuf_str(&b, "change\nx\n");
	is_int(gv_policy_ask_changes(p, &b), 1, "and then the whole is needed");
	is_int(gv_policy_starts(p), 1, "one process");
	gv_strbuf_free(&b);
	gv_policy_free(p);
}

int
main(void)
{
	char path[64];
	struct gv_error e = {0};
	static const char cluster[] =
	    "gpu_type,gpus,node,usd_per_h\nv100,4,n1,3\nv100,4,n2,3\n"
	    "p100,5,n3,2\nk80,3,n1,1\nk80,3,n2,1\n";

	if (mkdtemp(dir) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/cluster.csv", dir);
	gv_file_write(path, cluster, strlen(cluster), &e);
	test_commands();
	test_hear();
	test_bad();
	test_leaves();
	test_alloc();
	unlink(path);
	rmdir(dir);
	return done_testing();
}
