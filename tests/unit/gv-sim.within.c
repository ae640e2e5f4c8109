/*
 * cmd/gv-sim/asking: which commands are asked within, and that the answer is what gv-alloc's
 * library says, of jobs alone and of pairs.
 */
#include "tap.h"

#include "base/strbuf.h"
#include "gv-sim/asking/alloc.h"
#include "scratch.h"

/* ---- commands ---- */

static int
opened(const char *command)
{
	struct gv_error e = {0};
	struct alloc k;
	int rc = alloc_open(&k, command, "c.csv", &e);

	if (rc == 1)
		ok(k.policy != NULL && k.options.entities == &k.weights &&
			k.options.policy.solve.memory == &k.memory,
		    "ready");
	else
		is_int(e.count, 0, "nothing is said");
	if (strncmp(command, "gv-alloc ", 9) != 0)
		ok(k.policy == NULL, "nothing is known of it");
	alloc_close(&k);
	ok(k.policy == NULL && k.options.entities == NULL, "and gone");
	return rc;
}

static void
refused(const char *command, const char *want)
{
	struct gv_error e = {0};
	struct alloc k;

	is_int(alloc_open(&k, command, "c.csv", &e), -1, "%s", command);
	is_str(e.count > 0 ? e.text[0] : "", want, "says why");
	is_int(e.count, 1, "once");
	gv_error_clear(&e);
	alloc_close(&k);
}

static void
test_words(void)
{
	static const char odd[] = "|&;<>()$`\\\"'*?[]#~%!{}\n\t";
	struct gv_strbuf words;
	size_t n, i;

	for (n = 31; n <= 33; n++) {
		words = (struct gv_strbuf){0};
		gv_strbuf_str(&words, "gv-alloc -pfifo");
		for (i = 2; i < n; i++)
			gv_strbuf_str(&words, " -q");
		is_int(opened(words.s), n <= 32, "%zu words", n);
		gv_strbuf_free(&words);
	}
	for (i = 0; odd[i] != '\0'; i++) {
		words = (struct gv_strbuf){0};
		gv_strbuf_fmt(&words, "gv-alloc -pfifo -q%c", odd[i]);
		is_int(opened(words.s), 0, "what sh has a use for: %d", odd[i]);
		gv_strbuf_free(&words);
	}
	is_int(opened(""), 0, "no word");
	is_int(opened("gv-alloc"), 0, "one word");
	is_int(opened("gv-allok -pfifo"), 0, "another command");
	is_int(opened("gv-alloc -pfifo -v"), 0, "an option that is not known here");
}

static void
test_options(void)
{
	static const struct {
		const char *options;
		int want;
	} test[] = {{"-p max-min+pop1", 1}, {"-p max-min+pop2", 0}, {"-p min-cost", 1},
	    {"-p min-cost+relax-slo", 0}, {"-p max-min+placeable", 0},
	    {"-p max-min+agnostic", 1}, {"-p max-min --agnostic", 1},
	    {"-p water-filling+fifo", 1}, {"-p max-min+fifo", 0}, {"-p allox", 1},
	    {"-p max-min -c c.csv", 1}, {"-p max-min -cc.csv", 1},
	    {"-p max-min --cluster=c.csv", 1}, {"-p max-min --cluster c.csv", 1},
	    {"-p max-min -c d.csv", 0}, {"-p max-min -c", 0}, {"-p", 0}, {"--policy", 0},
	    {"--policy=allox", 1}, {"--policies=allox", 0}, {"-q --stream --quiet", 0},
	    {"--stream -p allox", 1}, {"--quiet -p allox", 1}, {"-q -p allox", 1},
	    {"-p none", 0}, {"-p allox --space-sharing=pairs.csv", 0},
	    {"-p max-min --space-sharing=pairs.csv", 1},
	    {"-p max-min --entities=entities.csv", 0},
	    {"-p water-filling --entities=entities.csv", 1},
	    {"-p water-filling --entities entities.csv --space-sharing pairs.csv", 1}};
	char command[200];
	size_t i;

	for (i = 0; i < sizeof(test) / sizeof(test[0]); i++) {
		snprintf(command, sizeof(command), "gv-alloc %s", test[i].options);
		is_int(opened(command), test[i].want, "%s", command);
	}
	refused("gv-alloc -p max-min --space-sharing=none.csv",
	    "none.csv: cannot open: No such file or directory");
	refused("gv-alloc -p max-min --space-sharing=entities.csv",
	    "entities.csv:1: this is a table of entities; expected a table of pairs "
	    "(job_a, "
	    "job_b, steps_per_s_a)");
	refused("gv-alloc -p water-filling --entities=none.csv",
	    "none.csv: cannot open: No such file or directory");
	refused("gv-alloc -p water-filling --entities=pairs.csv",
	    "pairs.csv:1: this is a table of pairs; expected a table of entities "
	    "(entity, "
	    "weight)");
}

/* ---- questions ---- */

struct asked {
	struct gv_cluster c;
	struct gv_gpu_type type[3];
	struct gv_pool pool[3];
	struct gv_rates table;
	struct question q;
	struct sim s;
	size_t active[4], *none;
};

static const struct sim_settings settings = {.round_s = 1};

/* All jobs of the rows are there, on GPUs of three types. */
static void
ask_of(struct asked *w, const char *rows, const size_t gpus[3])
{
	static const char *const name[] = {"a", "b", "c"};
	struct gv_error e = {0};
	struct gv_frame f;
	size_t i;

	*w = (struct asked){.c = {.n_types = 3, .n_pools = 3}};
	w->c.type = w->type;
	w->c.pool = w->pool;
	for (i = 0; i < 3; i++) {
		w->type[i] = (struct gv_gpu_type){.name = name[i], .gpus = gpus[i]};
		w->pool[i] = (struct gv_pool){.type = i, .gpus = gpus[i], .node = ""};
	}
	if (gv_frame_parse(&f, "t", rows, strlen(rows), &e) != 0 ||
	    gv_rates_from(&w->table, &f, &w->c, &e) != 0)
		gv_die_error(&e);
	sim_init(&w->s, &settings, &w->c, &w->table);
	question_init(&w->q, &w->s);
	w->none = w->s.life.active;
	for (i = 0; i < w->table.n_jobs && i < 4; i++)
		w->active[w->s.life.n_active++] = i;
	w->s.life.active = w->active;
	question_make(&w->q, &w->s);
}

static void
asked_free(struct asked *w)
{
	question_free(&w->q);
	w->s.life.active = w->none;
	sim_free(&w->s);
	gv_rates_free(&w->table);
}

/* Each row of one job on a type that there is has the share that the library gives it. */
static void
is_alone(struct alloc *k, const struct asked *w, size_t want)
{
	static const struct gv_reply_share no;
	struct gv_reply reply = {0};
	struct gv_error e = {0};
	struct gv_answer a;
	size_t i, n = 0;

	is_int(alloc_ask(k, &w->s, &w->q, &reply, &e), 0, "is asked");
	is_int(gv_answer_make(&a, &w->q.rates, &w->q.cluster, k->policy, &k->options, &e),
	    0, "as the library");
	for (i = 0; i < w->q.rates.n_rates; i++) {
		const struct gv_rate *rate = &w->q.rates.rate[i];
		const struct gv_reply_share *x = n < reply.n ? &reply.share[n] : &no;

		if (rate->with >= 0 || rate->type < 0)
			continue;
		ok(n++ < reply.n && x->job == rate->job && x->with == -1 &&
			x->type == (size_t)rate->type,
		    "row %zu is there", i);
		is_near(x->share, gv_answer_share(&a, rate), 1e-12, "its share");
	}
	is_int(n, want, "so many rows");
	is_int(reply.n, n + a.s.n_pairs, "and pairs");
	gv_answer_free(&a);
	gv_reply_free(&reply);
}

/* All jobs are asked about, then all but the last one. */
static void
alone(const char *command, const char *rows, size_t all, size_t less)
{
	static const size_t gpus[3] = {1, 2, 1};
	struct gv_error e = {0};
	struct asked w;
	struct alloc k;

	ask_of(&w, rows, gpus);
	is_int(alloc_open(&k, command, "c", &e), 1, "%s", command);
	is_int(k.options.agnostic, strstr(command, "agnostic") != NULL, "agnostic");
	is_alone(&k, &w, all);
	w.s.life.n_active--;
	question_make(&w.q, &w.s);
	is_alone(&k, &w, less);
	alloc_close(&k);
	asked_free(&w);
}

/* One pair, of the second and the third job: the first cannot run. */
static void
pair_on(size_t type)
{
	static const char *const name[] = {"a", "b", "c"};
	size_t gpus[3] = {0, 0, 0}, i, with = 0;
	struct gv_reply reply = {0};
	struct gv_error e = {0};
	struct asked w;
	struct alloc k;
	char rows[200], pairs[200];

	gpus[type] = 1;
	snprintf(pairs, sizeof(pairs),
	    "job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b\n"
	    "x,y,1,%s,1.75,2.625\n",
	    name[type]);
	scratch_file("pairs.csv", pairs, strlen(pairs));
	snprintf(rows, sizeof(rows),
	    "job_id,scale_factor,total_steps,gpu_type,steps_per_s\n"
	    "n,9,10,%s,1\nx,1,10,%s,2\ny,1,10,%s,3\n",
	    name[type], name[type], name[type]);
	ask_of(&w, rows, gpus);
	is_int(alloc_open(&k, "gv-alloc -p max-min --space-sharing=pairs.csv", "c", &e),
	    1, "with a table of pairs");
	is_int(alloc_ask(&k, &w.s, &w.q, &reply, &e), 0, "is asked");
	for (i = 0; i < reply.n; i++) {
		const struct gv_reply_share *x = &reply.share[i];
		bool first = x->job == 1;

		if (x->with < 0) {
			is_near(x->share, 0, 1e-9, "nobody runs alone");
			continue;
		}
		with++;
		ok(first ? x->with == 2 : x->job == 2 && x->with == 1, "both of them");
		is_int(x->type, type, "on the type that there is");
		is_near(x->share, 1, 1e-9, "all the time");
		is_near(x->rate, first ? 1.75 : 2.625, 0, "the rate of the one");
		is_near(x->with_rate, first ? 2.625 : 1.75, 0, "and the other's");
	}
	is_int(with, 1, "one pair");
	gv_reply_free(&reply);
	alloc_close(&k);
	asked_free(&w);
}

/* What no policy can do is said. */
static void
test_impossible(void)
{
	static const size_t gpus[3] = {1, 1, 1};
	struct gv_reply reply = {0};
	struct gv_error e = {0};
	struct asked w;
	struct alloc k;

	ask_of(&w, "job_id,total_steps,deadline_s,gpu_type,steps_per_s\nx,100,1,a,2\n",
	    gpus);
	w.c.type[0].usd_per_h = w.q.cluster.type[0].usd_per_h = 1;
	is_int(alloc_open(&k, "gv-alloc -p max-min", "c", &e), 1, "deadlines");
	is_int(alloc_ask(&k, &w.s, &w.q, &reply, &e), -1, "that cannot be kept");
	is_str(e.count == 1 ? e.text[0] : "",
	    "the policy has no answer: not all deadlines can be met", "says so");
	is_int(reply.n, 0, "no shares");
	gv_error_clear(&e);
	alloc_close(&k);
	alloc_close(&k);
	asked_free(&w);
}

int
main(void)
{
	static const char *const made[] = {"pairs.csv", "entities.csv", NULL};
	static const char rows[] =
	    "job_id,entity,scale_factor,total_steps,gpu_type,steps_per_s,"
	    "with_job_id,with_steps_per_s\n"
	    "x,e,1,10,a,2,z,1\nx,e,1,10,a,2,,\nx,e,1,10,b,3,,\nx,e,1,10,z,9,,\ny,f,1,20,"
	    "a,1,,\n"
	    "y,f,1,20,c,2,,\ny,f,1,20,a,2,x,1\nz,f,1,30,b,1,,\nz,f,1,30,a,3,,\n"
	    "z,f,1,30,c,5,,\n";
	static const char single[] =
	    "job_id,scale_factor,total_steps,gpu_type,steps_per_s\nx,1,10,a,2\n"
	    "x,1,10,z,3\ny,1,20,c,2\ny,1,20,a,1\nz,1,30,b,1\n";
	static const char entities[] = "entity,weight\ne,1\nf,5\n";
	size_t type;

	scratch_enter();
	scratch_file("entities.csv", entities, strlen(entities));
	for (type = 0; type < 3; type++)
		pair_on(type);
	test_words();
	test_options();
	alone("gv-alloc -p max-min", rows, 7, 4);
	alone("gv-alloc -p allox", single, 4, 3);
	alone("gv-alloc -p max-sum --agnostic", rows, 7, 4);
	alone("gv-alloc -p water-filling --entities=entities.csv", rows, 7, 4);
	test_impossible();
	scratch_leave(made);
	return done_testing();
}
