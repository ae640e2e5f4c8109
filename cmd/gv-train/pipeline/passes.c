/* A stage's passes, with what is moved between their rows, and the time they take. */
#include "base/clock.h"
#include "chunk.h"

/* ---- time ---- */

/* A pass that is going on. */
struct pass {
	double wall_s, own_s; /* when it began */
	double moved_s;       /* with messages, since */
	bool waited;          /* for what it needs */
};

/* By a clock that stands still while others have the core, where one thread computes. */
static double
now_s(const struct chunk *c)
{
	return c->own_clock ? gv_clock_thread_s() : gv_clock_s();
}

/* What passes find made, an update's first one makes: that is the update's time. */
static int
begin(struct chunk *c, struct pass *p, const struct gv_net_work *w)
{
	double from = gv_clock_s();

	if (gv_net_prepare(c->net, w) != 0)
		return -1;
	*p = (struct pass){
	    .wall_s = gv_clock_s(), .waited = c->group.post->waited_s > c->waited_s};
	c->times.update_s += p->wall_s - from;
	p->own_s = now_s(c);
	return 0;
}

/* What it took, and what it did not take of the time that has passed. */
static double
end(struct chunk *c, const struct pass *p, struct passes *passes)
{
	double took = now_s(c) - p->own_s - p->moved_s, all = gv_clock_s() - p->wall_s;

	c->times.other_s += all > took ? all - took : 0;
	passes_add(passes, took, p->waited);
	c->waited_s = c->group.post->waited_s;
	return took;
}

/*
 * What is on its way goes on between rows: the system's buffers empty, and fill, while one is
 * computed.  That something is wrong with it is heard of whoever waits for it.
 */
static void
move_all(struct chunk *c, struct pass *p)
{
	double from;

	if (!c->moves && c->buckets == 0)
		return;
	from = now_s(c);
	(void)post_move(c->group.post);
	chunk_move(c);
	p->moved_s += now_s(c) - from;
}

static int
begin_sum(struct chunk *c, struct pass *p, size_t first, size_t last)
{
	double from = now_s(c);
	int status = chunk_begin_sum(c, first, last);

	p->moved_s += now_s(c) - from;
	return status;
}

/* ---- passes ---- */

int
chunk_forward(struct chunk *c, size_t slot, size_t version)
{
	struct gv_net_work w = {
	    .first = c->at->first, .last = c->at->last, .slot = slot, .version = version};
	struct pass p;

	if (begin(c, &p, &w) != 0)
		return -1;
	for (; w.first < c->at->last; w.first = w.last) {
		w.last = c->moves ? gv_net_piece_end(c->net, w.first, c->at->last)
				  : c->at->last;
		if (gv_net_forward(c->net, &w) != 0)
			return -1;
		move_all(c, &p);
	}
	c->times.forward_s += end(c, &p, &c->forward);
	return 0;
}

int
chunk_backward(struct chunk *c, size_t slot, size_t version, bool sums)
{
	struct gv_net_work w = {
	    .last = c->at->last, .slot = slot, .version = version, .beside = c->beside};
	size_t first, last;
	struct pass p;

	w.first = c->at->first;
	if (begin(c, &p, &w) != 0)
		return -1;
	for (last = w.last; w.last > c->at->first; last = w.last) {
		for (first = sums ? chunk_bucket_begin(c, last) : c->at->first;
		     w.last > first; w.last = w.first) {
			w.first =
			    c->moves ? gv_net_piece_begin(c->net, first, w.last) : first;
			if (gv_net_backward(c->net, &w) != 0 ||
			    (!c->split &&
				gv_net_gradients(c->net, &w, c->added == 0) != 0))
				return -1;
			move_all(c, &p);
		}
		if (sums && begin_sum(c, &p, first, last) != 0)
			return -1;
	}
	c->times.backward_s += end(c, &p, &c->backward);
	return 0;
}

int
chunk_weights(struct chunk *c, size_t slot, size_t version)
{
	struct gv_net_work w = {.first = c->at->first,
	    .last = c->at->last,
	    .slot = slot,
	    .version = version,
	    .beside = c->beside};
	struct pass p;

	if (begin(c, &p, &w) != 0 || gv_net_gradients(c->net, &w, c->added == 0) != 0)
		return -1;
	c->times.backward_s += end(c, &p, &c->weights);
	return 0;
}
