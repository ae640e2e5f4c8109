/* Command lines of gv-profile jobs and pairs, drawn, where nothing is run. */
#include "drawn_mains.h"

#include "base/strbuf.h"

#define profile_jobs jobs_main
#define profile_pairs pairs_main
#define site_open(s, o, e) open_drawn(s, o, e)
#define site_scratch(s, o, e) scratch_drawn(s, o, e)
#define site_close(s, e) close_drawn(s, e)
#define site_gpus(g, s, most) gpus_drawn(g, s, most)
#define run_check(p, jobs, s, g, e) check_drawn(p, jobs, s, g, e)
#define run_plan(p, jobs, s, g, o, e) run_drawn(p, jobs, s, g, o, e)
#include "../../cmd/gv-profile/.im_17274.c"
#undef profile_jobs
#undef profile_pairs
#undef site_open
#undef site_scratch
#undef site_close
#undef site_gpus
#undef run_check
#undef run_plan

enum { ROUNDS = 24, PER_ROUND = 14 };

static void
say_handlers(const char *when)
{
	struct sigaction sa;
	size_t i;

	for (i = 0; i < N_SIGNALS; i++) {
		sigaction(signals[i], NULL, &sa);
		gv_warn("%s: %d %s", when, signals[i],
		    sa.sa_handler == SIG_DFL   ? "ends"
		    : sa.sa_handler == SIG_IGN ? "is nothing"
					       : "is heard");
	}
}

static const char *
or_none(const char *s)
{
	return s != NULL ? s : "none";
}

int
open_drawn(struct site *s, const struct site_options *o, struct gv_error *e)
{
	gv_warn("opens %d, %s, %s, %s, %s, %d", o->slurm, or_none(o->slurm_job),
	    or_none(o->cluster), or_none(o->node), or_none(o->state), o->quiet);
	say_handlers("opening");
	return gv_cluster_read(
	    &s->cluster, o->cluster != NULL ? o->cluster : "c.csv", e);
}

int
scratch_drawn(struct site *s, const struct site_options *o, struct gv_error *e)
{
	gv_warn("makes %s, %d", or_none(o->state), s->scratch != NULL);
	return one_in(20) ? gv_error_set(e, "no directory") : 0;
}

int
close_drawn(struct site *s, struct gv_error *e)
{
	gv_cluster_free(&s->cluster);
	gv_warn("closed, %zu errors", e->count);
	return one_in(20) ? gv_error_set(e, "it cannot be removed") : 0;
}

void
gpus_drawn(struct gpus *g, const struct site *s, size_t most)
{
	*g = (struct gpus){.most_runs = most};
	gv_warn("%zu types, at once %zu", s->cluster.n_types, most);
}

int
check_drawn(const struct plan *p, const struct gv_rates *jobs, const struct site *s,
    const struct gpus *g, struct gv_error *e)
{
	gv_warn("checks %zu and %zu of %zu, %zu, %zu", p->n_classes, p->n_pairs,
	    jobs->n_jobs, s->cluster.n_types, g->most_runs);
	if (!one_in(12))
		return 0;
	gv_error_set(e, "it cannot be tried");
	return one_in(2) ? GV_EXIT_NO : GV_EXIT_TROUBLE;
}

int
run_drawn(struct plan *p, const struct gv_rates *jobs, const struct site *s,
    struct gpus *g, const struct run_options *o, struct gv_error *e)
{
	const struct measure_options *m = &o->measure;
	bool bad = one_in(3), none = one_in(3);
	size_t i, n = (p->n_classes + p->n_pairs) * p->n_types;

	gv_warn("runs %zu, %s, %zu: %g s, %g s, %g s, %g s, %d, %d, %d, %d", jobs->n_jobs,
	    or_none(s->scratch), g->most_runs, m->rule.warmup_s, m->rule.window_s,
	    m->timeout_s, m->grace_s, m->clean_env, m->usage, o->quiet, o->verbose);
	say_handlers("running");
	for (i = 0; i < n; i++) {
		struct cell *c = &p->cell[i];

		if (c->source != TO_MEASURE)
			continue;
		if (bad && one_in(4))
			c->source = UNMEASURED;
		c->steps_per_s = none && one_in(2) ? 0 : (double)below(99) / 8;
		c->second_steps_per_s = (double)below(99) / 8;
	}
	if (one_in(9)) {
		raise(SIGTERM);
		return 1;
	}
	return one_in(12) ? gv_error_set(e, "no more") : 0;
}

/* ---- the files ---- */

static void
draw_files(void)
{
	static const char *const type[] = {"r", "s", "t", "", "a", "c"};
	static const char *const rate[] = {"1.5", "0", "2", "x"};
	struct gv_strbuf b = {0};
	size_t n = 1 + below(4), i, k;

	gv_strbuf_str(&b, one_in(9) ? "job_id,job_typ,scale_factor,command\n"
				    : "job_id,job_type,scale_factor,command\n");
	for (i = 0; i < n; i++) {
		const char *of = type[below(one_in(3) ? 6 : 4)];

		gv_strbuf_fmt(&b, "%c,%s,%zu,run\n", (int)('a' + i), of, 1 + below(2));
	}
	if (one_in(12))
		gv_strbuf_str(&b, "b,r,1,again\n");
	scratch_file("jobs.csv", b.s, b.len);
	gv_strbuf_clear(&b);
	gv_strbuf_str(&b, one_in(15) ? "gpu_type\n" : "gpu_type,gpus\n");
	gv_strbuf_fmt(&b, "v,2\n%s", one_in(2) ? "k,4\n" : "");
	scratch_file("c.csv", b.s, b.len);
	gv_strbuf_clear(&b);
	gv_strbuf_str(&b, "job_type,scale_factor,gpu_type,steps_per_s\n");
	for (i = 0; i < 3; i++)
		for (k = 0; k < 4; k++)
			if (one_in(2))
				gv_strbuf_fmt(&b, "%s,%zu,%s,%s\n", type[i], 1 + k % 2,
				    k < 2 ? "v" : "k", rate[below(one_in(9) ? 4 : 3)]);
	scratch_file("known.csv", b.s, b.len);
	gv_strbuf_free(&b);
}

int
main(void)
{
	static const char *const made[] = {"jobs.csv", "c.csv", "known.csv", NULL};
	static const char *const word[] = {"jobs.csv", "jobs.csv", "jobs.csv",
	    "-t known.csv", "--known=known.csv", "--throughputs", "--usage",
	    "--warmup=3s", "--window=1m", "--timeout=90s", "--grace=2s", "--grace=x",
	    "--node=m", "--parallel=3", "--parallel=0", "--parallel=1000000",
	    "--parallel=1000001", "--launcher=slurm", "--launcher=local", "--launcher=x",
	    "--slurm-job=7", "-s dir", "--state=dir", "--clean-env", "--tsv", "-o out",
	    "-o none/out", "-q", "-v", "-v", "-h", "-", "--what", "-c -", "-t -",
	    "none.csv", "-c none.csv", "--launcher=slurm", "-s dir", "--throughputs"};
	struct recorded r;
	size_t k;
	uint32_t i;

	gv_init("gv-profile");
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_IGN);
	recorded_begin(&r, "gv-profile.jobs_main_recorded.c");
	scratch_enter();
	if (freopen("/dev/null", "r", stdin) == NULL)
		return 2;
	for (i = 0; i < ROUNDS; i++) {
		draws_begin(139, i, 0);
		for (k = 0; k < PER_ROUND; k++) {
			bool pairs = one_in(3);
			char *argv[MAIN_WORDS];
			int argc = draw_words(argv, pairs ? "pairs" : "jobs", word,
			    sizeof(word) / sizeof(word[0]), 4);
			static char of[] = "-cc.csv", jobs[] = "jobs.csv";

			if (!one_in(5))
				argv[argc++] = of;
			if (one_in(2))
				argv[argc++] = jobs;
			argv[argc] = NULL;
			draw_files();
			recorded_main(&r, pairs ? pairs_main : jobs_main, argc, argv);
		}
		recorded_answer(&r, "%d command lines", PER_ROUND);
	}
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
