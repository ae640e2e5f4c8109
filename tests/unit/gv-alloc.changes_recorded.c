/*
 * Tables of changes: who goes, who comes where, whose numbers are others now, what is wrong with
 * them; and whose shares are written then.  The policy answers by chance.
 */
#include "tap.h"

#include "alloc_chance.h"
#include "gv-alloc/standing.h"

static size_t taken; /* tables of changes that nothing is wrong with */

/* A row about a job that is there, or nearly so. */
static void
draw_old(struct gv_strbuf *t, const struct gv_rates *before)
{
	const char *word = ONE_OF("gone", "gone", "now", "now", "now", "now");
	size_t at = below(before->n_jobs), named = at, place = at + 1;
	struct gv_cell id;

	if (one_in(60))
		named = below(before->n_jobs);
	if (one_in(60))
		place = one_in(2) ? 0 : before->n_jobs + 1;
	if (one_in(60))
		word = ONE_OF("left", "", "New");
	id = before->job[named].id;
	gv_strbuf_fmt(t, "%s,%zu,,%.*s,,,,", word, place, (int)id.len, id.s);
	gv_strbuf_fmt(t, "%s,", ONE_OF("", "", "50", "0", one_in(20) ? "-1" : "7"));
	gv_strbuf_fmt(t, "%s,", ONE_OF("", "30", "1"));
	gv_strbuf_fmt(t, "%s,,,,,,,\n", ONE_OF("", "2"));
}

/* Rows of some jobs that are there, and of new ones at places that ascend for the most part. */
static struct gv_tab *
draw_changes(
    const struct gv_rates *before, struct gv_strbuf *t, size_t *name, struct gv_error *e)
{
	size_t old = before->n_jobs > 0 ? below(3) : 0, new = below(3), place = 1, k;
	struct gv_in *in;

	gv_strbuf_fmt(t, "change,%s,", one_in(80) ? "plaice" : "place");
	gv_strbuf_fmt(t, "%s,gpu_type,steps_per_s\n", one_in(80) ? "job_id" : head);
	for (k = 0; k < old; k++)
		draw_old(t, before);
	for (k = 0; k < new; k++) {
		char first[40];

		place += below(before->n_jobs + 1);
		if (one_in(30))
			place = below(before->n_jobs + 6);
		snprintf(first, sizeof(first), "new,%zu,", place++);
		draw_rows(t, first, one_in(30) ? 0 : (*name)++, false, false);
	}
	if (gv_in_memory(&in, "changes.csv", t->s, t->len, t->len, e) != 0)
		gv_die_error(e);
	return gv_tab_from(in);
}

static void
record_table(const struct standing *s)
{
	size_t i;

	if (!s->known)
		return;
	recorded_wholes(&r, s->first, s->r.n_jobs + 1);
	recorded_doubles(&r, s->said, s->r.n_rates);
	for (i = 0; i < s->r.n_jobs; i++) {
		const struct gv_job *j = &s->r.job[i];

		recorded_bytes(&r, j->id.s, j->id.len);
		recorded_whole(&r, (long long)j->row);
		recorded_double(&r, j->steps_remaining);
		recorded_double(&r, j->elapsed_s);
		recorded_double(&r, j->isolated_elapsed_s);
	}
	for (i = 0; i < s->r.n_rates; i++) {
		recorded_whole(&r, (long long)s->r.rate[i].job);
		recorded_whole(&r, s->r.rate[i].type);
		recorded_double(&r, s->r.rate[i].steps_per_s);
	}
}

/* Answers, and writes what has changed. */
static void
answer_next(struct standing *s, const struct gv_policy *policy,
    const struct gv_cluster *c, struct gv_error *e)
{
	const struct gv_answer_options opt = {.policy.relax_slo = true};
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	struct gv_answer a;
	struct gv_tabw w;
	int rc = gv_answer_make(&a, &s->r, c, policy, &opt, e);

	recorded_whole(&r, rc);
	gv_tabw_init(&w, out, false);
	if (rc == 0 && a.p.n > 0 && !a.impossible)
		standing_write(s, &a, c, &w);
	recorded_whole(&r, gv_out_close(out, e));
	recorded_text(&r, text.s != NULL ? text.s : "");
	recorded_doubles(&r, s->said, s->r.n_rates);
	gv_strbuf_free(&text);
	gv_answer_free(&a);
}

/* Tables of changes, one after another, up to one that is wrong. */
static void
change(struct standing *s, const struct gv_policy *policy, const struct gv_cluster *c,
    struct gv_error *e)
{
	size_t name = 20, k;
	int rc = 0;

	for (k = 0; k < 4 && rc == 0; k++) {
		struct gv_strbuf text = {0};
		struct gv_tab *t = draw_changes(&s->r, &text, &name, e);

		if (gv_tab_table(t, e) == 1) {
			recorded_whole(&r, standing_is_change(t));
			rc = standing_change(s, t, c, e);
			recorded_whole(&r, rc);
			taken += rc == 0;
			record_table(s);
		}
		gv_tab_close(t);
		gv_strbuf_free(&text);
		if (rc == 0 && s->known)
			answer_next(s, policy, c, e);
		record_error(e);
	}
}

static void
ask(void)
{
	struct gv_policy policy = draw_policy();
	struct options o = {.policy = &policy, .changes = uniform() < .9};
	const struct gv_answer_options opt = {.policy.relax_slo = true};
	struct gv_cluster c = {0};
	struct gv_rates rates = {0};
	struct standing s = {0};
	struct gv_error e = {0};
	struct gv_answer a = {0};
	const char *reads;
	int rc = draw_cluster(&c, &e);

	policy.shares = false;
	o.throughputs = one_in(20) ? "t.csv" : NULL;
	o.nodes = one_in(20);
	o.sharing = one_in(20) ? "p.csv" : NULL;
	if (rc == 0)
		rc = draw_rates(&rates, &c, false, &e);
	if (one_in(20))
		change(&s, &policy, &c, &e);
	if (rc == 0)
		rc = gv_answer_make(&a, &rates, &c, &policy, &opt, &e);
	if (rc == 0 && a.p.n > 0 && !a.impossible) {
		reads = standing_reads(&o, &rates);
		recorded_text(&r, reads != NULL ? reads : "nothing");
		standing_keep(&s, &rates, &a);
		record_table(&s);
		change(&s, &policy, &c, &e);
	}
	record_error(&e);
	gv_answer_free(&a);
	standing_free(&s);
	gv_rates_free(&rates);
	gv_cluster_free(&c);
}

int
main(void)
{
	int k, i;

	recorded_open(&r);
	for (k = 0; k < 50; k++) {
		draws_begin(1, 1, (uint32_t)k);
		taken = 0;
		for (i = 0; i < 20; i++)
			ask();
		recorded_answer(&r, "changes, %d, %zu taken", k, taken);
	}
	recorded_close(&r);
	return done_testing();
}
