#include "link_gang.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "link_member.h"

enum { KIND_REPORTS = 2 };

/* What a member has measured, to be taken to rank 0. */
struct notes {
	const struct link_rule *rule;
	struct link_report *report;
	size_t n, cap, done, trials;
	int rank;
};

static void
note(void *ctx, const struct link_report *r)
{
	struct notes *x = ctx;

	if (r == NULL) {
		x->done++;
		if (x->rank == 0 && x->rule->tell != NULL)
			x->rule->tell(x->done, x->trials);
		return;
	}
	x->report = gv_xgrow(x->report, &x->cap, x->n + 1, sizeof(*x->report));
	memcpy(&x->report[x->n++], r, sizeof(*r));
}

/* Reports that a rank's process has of the measurements. */
static size_t
reports_of(const struct link_trials *p, int n, int rank)
{
	size_t all = 0, i;

	for (i = 0; i < p->n; i++)
		all += link_trial_all(&p->trial[i]) ||
		       link_trial_peer(&p->trial[i], n, rank) >= 0;
	return all;
}

static int
send_notes(struct gv_gang *g, const struct notes *x, struct gv_error *e)
{
	struct gv_message m = {0};

	gv_gang_send(g, &m, 0, (struct gv_tag){0, KIND_REPORTS}, x->report,
	    x->n * sizeof(*x->report));
	return gv_gang_wait(g, &m, e);
}

static int
take_notes(struct link_time *t, struct gv_gang *g, const struct link_trials *p, int n,
    int rank, struct gv_error *e)
{
	size_t all = reports_of(p, n, rank), i;
	struct link_report *r = gv_xcalloc(all, sizeof(*r));
	struct gv_message m = {0};

	gv_gang_recv(g, &m, rank, (struct gv_tag){0, KIND_REPORTS}, r, all * sizeof(*r));
	if (gv_gang_wait(g, &m, e) != 0)
		return -1; /* what may still come goes there */
	for (i = 0; i < all; i++)
		if (r[i].to == rank && r[i].from >= -1 && r[i].from < n)
			link_times_take(t, n, &r[i]);
	free(r);
	return 0;
}

int
link_gang_times(struct link_time *t, const struct link_rule *rule,
    const struct gv_gang_spec *s, struct gv_error *e)
{
	struct notes x = {.rule = rule, .rank = s->rank};
	struct link_member m = {.rank = s->rank, .rule = rule, .tell = note, .ctx = &x};
	struct link_trials p;
	int status, r;

	if (gv_gang_join(&m.gang, s, e) != 0)
		return -1;
	link_trials_make(&p, rule->n);
	x.trials = p.n;
	status = link_member_run(&m, &p, e);
	if (status == 0 && s->rank > 0)
		status = send_notes(m.gang, &x, e);
	for (r = 0; r < rule->n && status == 0 && s->rank == 0; r++)
		if (r > 0)
			status = take_notes(t, m.gang, &p, rule->n, r, e);
	for (; s->rank == 0 && status == 0 && x.n > 0; x.n--)
		link_times_take(t, rule->n, &x.report[x.n - 1]);
	gv_gang_leave(m.gang);
	link_trials_free(&p);
	free(x.report);
	return status;
}
