/*
 * The end of a unit for all workers.  Where a stage sums over replicas beside passes of the
 * next unit, what a worker needs to come to its end of the unit may be outputs of that
 * next one, of workers that have come to theirs.  So these go on while they wait, up to
 * their next sum or update, with whatever has come: steps are done in the course's order,
 * of which all that anybody needs can be done without a further update.
 */
#include "base/clock.h"
#include "worker_private.h"

/* Whether the next step can be done now and changes no weights. */
static bool
may_go_on(struct worker *w)
{
	struct gv_course_step s;

	for (; w->k < w->length; w->k++) {
		s = gv_course_at(&w->s.route->course, w->k);
		if (s.micro_batch >= w->begun)
			return s.op != GV_STEP_REDUCE && s.op != GV_STEP_UPDATE &&
			       worker_has_come(w, &s);
	}
	return false;
}

/* Waits for a parcel of no numbers, and goes on meanwhile. */
static int
wait_for(struct worker *w, size_t from, struct gv_tag tag, struct gv_error *e)
{
	struct parcel *p = post_ask(&w->post, 0, from, tag);
	double since = gv_clock_s();
	int status = 0;

	while (!p->m.done && status == 0) {
		if (may_go_on(w)) {
			w->rests = true;
			status = worker_next(w, e);
			w->rests = false;
			since = gv_clock_s();
			continue;
		}
		gv_error_clear(&w->post.error);
		if (post_wait_some(&w->post, &p->m, since) != 0)
			status = worker_lost(w, e);
	}
	/* of a failed worker the message may be under way: the gang ends first */
	if (status == 0)
		post_back(&w->post, p);
	return status;
}

int
worker_rest(struct worker *w, struct gv_error *e)
{
	size_t rank, ranks = w->s.route->workers;

	if (!w->s.route->overlaps)
		return 0;
	if (w->s.rank > 0) {
		post_send(&w->post, post_blank(&w->post, 0), 0,
		    post_tag(POST_REST, w->s.rank, w->units));
		return wait_for(w, 0, post_tag(POST_REST, 0, w->units), e);
	}
	for (rank = 1; rank < ranks; rank++)
		if (wait_for(w, rank, post_tag(POST_REST, rank, w->units), e) != 0)
			return -1;
	for (rank = 1; rank < ranks; rank++)
		post_send(&w->post, post_blank(&w->post, 0), rank,
		    post_tag(POST_REST, 0, w->units));
	return 0;
}
