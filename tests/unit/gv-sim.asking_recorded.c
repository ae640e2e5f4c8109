/*
 * cmd/gv-sim/asking: questions to a policy in the middle of drawn simulations, whole and as
 * changes; commands that are gv-alloc, and what it answers within; answers kept in a file,
 * which may be cut off or changed.
 */
#include "sched_draws.h"

#include <fcntl.h>
#include <unistd.h>

#include "gv-sim/asking/alloc.h"
#include "gv-sim/asking/journal.h"
#include "gv-sim/asking/question.h"
#include "table_draws.h"

enum { WORLDS = 700, PER_ANSWER = 10, MOST_JOBS = 12, CHANGES = 8, MOST_QUESTIONS = 40 };

struct world {
	struct drawn d;
	struct gv_rates table;
	struct sim_settings o;
	struct sim_change change[CHANGES];
	struct sim_price price[CHANGES];
	size_t n_changes, n_prices;
	double bid[DRAWN_TYPES];
	struct question q;
	struct gv_told told;
	struct alloc alloc;
	bool within;
	struct recorded *rec;
};

static long within, follows;

/* ---- a world ---- */

/* Jobs on types, some with others, with columns that are computed, or carried through. */
static void
draw_table(struct world *w)
{
	size_t n = 1 + below(MOST_JOBS), m, j, gang;
	bool pairs = one_in(3), more = one_in(2), prices = one_in(3);
	struct gv_strbuf text = {0};
	struct gv_error e = {0};
	struct gv_frame f;

	gv_strbuf_fmt(&text,
	    "job_id,scale_factor,gpu_type,steps_per_s,total_steps,arrival_s,"
	    "with_job_id,with_steps_per_s%s%s\n",
	    more ? ",share,isolated_elapsed_s,elapsed_s,entity,policy,gpus_available"
		 : "",
	    prices ? ",usd_per_h" : "");
	for (m = 0; m < n; m++) {
		unsigned total = 1 + (unsigned)below(400),
			 late = 10 * (unsigned)below(20);

		gang = 1 + (m / 3) % 2;
		late = one_in(2) ? 0 : late;
		for (j = 0; j < 2 * w->d.c.n_types; j++) {
			bool pair = j >= w->d.c.n_types;
			size_t type = j % w->d.c.n_types;

			if (pair && (!pairs || m % 3 == 0 || one_in(3)))
				continue;
			gv_strbuf_fmt(&text, "j%zu,%zu,%s,%u,%u,%u,", m, gang,
			    type == 0 && m % 4 == 3 ? "none" : w->d.type[type].name,
			    (unsigned)below(4), total, late);
			if (pair)
				gv_strbuf_fmt(
				    &text, "j%zu,%u", m - 1, (unsigned)below(3));
			else
				gv_strbuf_str(&text, ",");
			if (more)
				gv_strbuf_fmt(
				    &text, ",0,%zu,3,%s,x,7", m % 3, m % 2 ? "a" : "b");
			gv_strbuf_str(&text, prices ? ",9\n" : "\n");
		}
	}
	if (gv_frame_parse(&f, "t", text.s, text.len, &e) != 0 ||
	    gv_rates_from(&w->table, &f, &w->d.c, &e) != 0)
		gv_die_error(&e);
	gv_strbuf_free(&text);
}

static void
draw_market(struct world *w)
{
	double time_s = 0;
	size_t p;

	while (w->n_changes < CHANGES && one_in(2)) {
		struct sim_change *c = &w->change[w->n_changes++];

		time_s += (double)below(90);
		*c = (struct sim_change){.time_s = time_s, .pool = below(w->d.c.n_pools)};
		c->away = one_in(2);
	}
	for (time_s = 0; one_in(2) && w->n_prices < CHANGES;) {
		struct sim_price *price = &w->price[w->n_prices++];

		time_s += (double)below(60);
		*price = (struct sim_price){.time_s = time_s};
		price->offer = below(w->d.c.n_types);
		price->usd_per_h = (double)(1 + below(4));
	}
	for (p = 0; p < DRAWN_TYPES; p++)
		w->bid[p] = (double)(1 + below(5));
}

static void
world_init(struct world *w, struct recorded *rec)
{
	static const char *const command[] = {"gv-alloc -p isolated", "gv-alloc -p fifo",
	    "gv-alloc -p max-min --stream", "gv-alloc -p sjf",
	    "gv-alloc -p proportional"};
	struct gv_error e = {0};

	memset(w, 0, sizeof *w);
	w->rec = rec;
	draw_cluster(&w->d);
	draw_table(w);
	w->o = (struct sim_settings){.round_s = 16,
	    .until_s = 1000,
	    .most_waiting = SIZE_MAX,
	    .last = SIZE_MAX,
	    .max_failures = 3};
	w->o.ideal = one_in(5);
	w->o.ask_every_s = one_in(3) && !w->o.ideal ? 20 : 0;
	w->o.node_mtbf_s = one_in(4) && !w->o.ideal ? 1e12 : 0;
	w->o.repair_s = 1;
	if (!w->o.ideal)
		draw_market(w);
	w->told.follows = one_in(2);
	w->told.reads[below(3)] = true;
	w->told.reads[below(3)] = true;
	w->within = one_in(3) && alloc_open(&w->alloc, command[below(5)], "c", &e) == 1;
}

static void
world_free(struct world *w)
{
	if (w->within)
		alloc_close(&w->alloc);
	gv_told_free(&w->told);
	question_free(&w->q);
	gv_rates_free(&w->table);
}

/* ---- questions ---- */

static void
recorded_question(const struct world *w, bool changes)
{
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	struct gv_told_change *change;
	struct gv_error e = {0};
	size_t n;

	if (changes) {
		n = gv_told_compare(&w->told, w->q.now, w->q.rates.n_jobs, &change);
		question_write_changes(&w->q, &w->told, change, n, out);
		free(change);
	} else {
		question_write(&w->q, out);
	}
	gv_out_close(out, &e);
	recorded_text(w->rec, text.s);
	gv_strbuf_free(&text);
}

static void
ask_alloc(struct world *w, const struct sim *s)
{
	struct gv_reply reply = {0};
	struct gv_error e = {0};
	size_t i;

	within++;
	recorded_whole(w->rec, alloc_ask(&w->alloc, s, &w->q, &reply, &e));
	recorded_error(w->rec, &e);
	for (i = 0; i < reply.n; i++) {
		recorded_whole(w->rec, (long long)reply.share[i].job);
		recorded_whole(w->rec, reply.share[i].with);
		recorded_whole(w->rec, (long long)reply.share[i].type);
		recorded_rounded(w->rec, reply.share[i].share, 9);
	}
	if (one_in(4))
		alloc_forget(&w->alloc);
	gv_reply_free(&reply);
}

static int
ask(void *ctx, struct sim *s, struct gv_error *e)
{
	struct world *w = ctx;
	const struct gv_rounds *r = &s->life.rounds;
	size_t i, j;

	if (s->questions > MOST_QUESTIONS)
		return gv_error_set(e, "asked too often");
	question_make(&w->q, s);
	recorded_double(w->rec, s->life.now_s);
	recorded_whole(w->rec, w->q.moved + 2 * w->q.pairs + 4 * w->q.has_away);
	for (i = 0; i < w->q.rates.n_jobs; i++)
		recorded_doubles(w->rec, w->q.now[i].number, GV_TOLD_NUMBERS);
	recorded_question(w, false);
	if (question_follows(&w->q, &w->told)) {
		follows++;
		recorded_question(w, true);
	}
	gv_told_set(&w->told, w->q.now, w->q.rates.n_jobs);
	if (w->within)
		ask_alloc(w, s);
	for (i = 0; i < r->n_live; i++)
		for (j = 0; j < r->n_types; j++)
			if (one_in(2))
				gv_life_set_share(
				    &s->life, r->live[i], j, draw_share(&w->d) / 4);
	return 0;
}

static void
test_questions(struct recorded *rec)
{
	size_t i;

	for (i = 0; i < WORLDS; i++) {
		struct gv_error e = {0};
		struct world w;
		struct sim s;

		draws_begin(i, 81, 0);
		world_init(&w, rec);
		sim_init(&s, &w.o, &w.d.c, &w.table);
		question_init(&w.q, &s);
		s.change = w.change;
		s.n_changes = w.n_changes;
		s.price = w.price;
		s.n_prices = w.n_prices;
		s.bid = one_in(3) && w.n_prices > 0 ? w.bid : NULL;
		s.ask = ask;
		s.ctx = &w;
		recorded_whole(rec, sim_run(&s, &e));
		sim_free(&s);
		world_free(&w);
		if (i % PER_ANSWER == PER_ANSWER - 1)
			recorded_answer(rec, "questions to %zu", i);
	}
	ok(within > 300 && follows > 300, "%ld answered within, %ld told by changes",
	    within, follows);
}

/* ---- commands ---- */

static void
test_commands(struct recorded *rec)
{
	static const char words[] =
	    "-p fifo|-pmax-min|--policy=sjf|--policy isolated|-p|--policy=|-p none|-c "
	    "c|-cc|"
	    "--cluster=c|--cluster d|-c|--agnostic|--stream|-q|--quiet|--quiet=1|-v|$x|'|"
	    "--space-sharing=/nowhere|--entities=/nowhere|--entities /nowhere|-p "
	    "water-filling|"
	    "-p max-min|-p fifo|-p allox|-p finish-time|-p min-cost-slo|-x|--pop=2|-p "
	    "max-min+pop=2|-p gandiva|-p max-sum";
	size_t i, n;

	for (i = 0; i < 1500; i++) {
		struct gv_strbuf text = {0};
		struct gv_error e = {0};
		struct alloc k;

		draws_begin(i, 82, 0);
		gv_strbuf_str(&text, one_in(30)   ? "gv-alloc2"
				     : one_in(30) ? ""
						  : "gv-alloc");
		for (n = one_in(40) ? 40 : below(4); n > 0; n--) {
			struct gv_cell word = draw_cell(words);

			gv_strbuf_fmt(&text, "%s%.*s", one_in(10) ? "  " : " ",
			    (int)word.len, word.s);
		}
		recorded_whole(rec, alloc_open(&k, text.s, "c", &e));
		recorded_error(rec, &e);
		recorded_whole(rec, k.policy != NULL);
		recorded_whole(rec, k.options.agnostic);
		alloc_close(&k);
		gv_strbuf_free(&text);
		if (i % 50 == 49)
			recorded_answer(rec, "commands to %zu", i);
	}
}

/* ---- answers in a file ---- */

static void
add_answers(struct recorded *rec, struct journal *j, double *time_s, size_t n)
{
	struct gv_error e = {0};
	size_t i;

	for (; n > 0; n--) {
		struct gv_reply reply = {0};

		for (i = below(6); i > 0; i--) {
			struct gv_reply_share x = {.job = below(4)};

			x.with = one_in(3) ? (ptrdiff_t)(x.job + 1) : -1;
			x.type = below(3);
			x.share = uniform();
			x.rate = (double)below(3);
			x.with_rate = one_in(2) ? 1 / 3. : 0;
			gv_reply_add(&reply, &x);
		}
		*time_s += 1 / 3.;
		recorded_whole(rec, journal_add(j, *time_s, &reply, &e));
		gv_reply_free(&reply);
	}
	recorded_error(rec, &e);
}

static void
read_answers(struct recorded *rec, struct journal *j, size_t n)
{
	struct gv_error e = {0};
	double time_s = 0;
	size_t i;
	int rc = 1;

	for (; n > 0 && rc > 0; n--) {
		struct gv_reply reply = {0};

		time_s += 1 / 3.;
		rc = journal_next(j, one_in(60) ? -1 : time_s, 5, 3, &reply, &e);
		recorded_whole(rec, rc);
		recorded_whole(rec, (long long)j->n);
		for (i = 0; i < reply.n; i++) {
			recorded_whole(rec, (long long)reply.share[i].job);
			recorded_whole(rec, reply.share[i].with);
			recorded_whole(rec, (long long)reply.share[i].type);
			recorded_double(rec, reply.share[i].share);
			recorded_double(rec, reply.share[i].rate);
			recorded_double(rec, reply.share[i].with_rate);
		}
		gv_reply_free(&reply);
	}
	recorded_error(rec, &e);
}

/* The file is cut off, or says something else somewhere. */
static void
spoil(const char *path)
{
	static const char odd[] = "0123456789 -.ex\n";
	int fd = open(path, O_RDWR);
	off_t len = lseek(fd, 0, SEEK_END), at = (off_t)below((size_t)len + 1);

	if (one_in(3))
		at = (off_t)below(100) < len ? (off_t)below(100) : len;
	if (one_in(2)) {
		if (ftruncate(fd, at) != 0)
			perror(path);
	} else if (pwrite(fd, &odd[below(sizeof odd - 1)], 1, at) != 1) {
		perror(path);
	}
	close(fd);
}

static void
test_journals(struct recorded *rec)
{
	char dir[] = "/tmp/gv-questions.XXXXXX", key[JOURNAL_KEY_LEN + 1] = {0};
	int back = open(".", O_RDONLY);
	size_t i;

	memset(key, 'a', JOURNAL_KEY_LEN);
	ok(mkdtemp(dir) != NULL && chdir(dir) == 0, "a folder for files");
	for (i = 0; i < 800; i++) {
		struct gv_error e = {0};
		struct journal j;
		double time_s = 0;

		draws_begin(i, 83, 0);
		unlink("answers");
		recorded_whole(rec, journal_open(&j, "answers", key, &e));
		add_answers(rec, &j, &time_s, below(5));
		journal_close(&j);
		if (!one_in(4))
			spoil("answers");
		key[5] = one_in(20) ? 'b' : 'a';
		if (journal_open(&j, "answers", key, &e) == 0) {
			read_answers(rec, &j, below(8));
			add_answers(rec, &j, &time_s, 1);
		}
		journal_close(&j);
		key[5] = 'a';
		recorded_error(rec, &e);
		if (i % 20 == 19)
			recorded_answer(rec, "files to %zu", i);
	}
	unlink("answers");
	ok(fchdir(back) == 0 && rmdir(dir) == 0, "and it is gone");
	close(back);
}

int
main(void)
{
	struct recorded rec;

	recorded_open(&rec);
	test_questions(&rec);
	test_commands(&rec);
	test_journals(&rec);
	recorded_close(&rec);
	return done_testing();
}
