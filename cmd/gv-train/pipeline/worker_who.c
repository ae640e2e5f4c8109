/* Who has what, and who or what has failed. */
#include "worker_private.h"

struct chunk *
worker_chunk(const struct worker *w, size_t stage)
{
	size_t i = 0;

	while (w->chunk[i].stage != stage)
		i++;
	return &w->chunk[i];
}

size_t
worker_rank_of(const struct worker *w, size_t stage, uint64_t micro_batch)
{
	return w->s.route->rank[stage] +
	       route_replica(w->s.route, w->s.stages->stage[stage].replicas, micro_batch);
}

int
worker_net_failed(const struct chunk *c, struct gv_error *e)
{
	const char *why = gv_net_error(c->net);
	struct worker *w = c->group.post->ctx;

	w->broken = true;
	/* the device waited for a rank that is gone, and the gang knows which */
	if (why == NULL && (w->post.error.count > 0 || post_move(&w->post) != 0))
		return worker_lost(w, e);
	return gv_error_set(e, "stage %zu: %s", c->stage, why != NULL ? why : "?");
}

int
worker_failed(struct worker *w, struct gv_error *e)
{
	bool lost = false;
	size_t i;

	for (i = 0; i < w->chunks && w->links.open; i++)
		lost |= gv_net_look(w->chunk[i].net) != 0 &&
			gv_net_error(w->chunk[i].net) == NULL;
	w->broken = true;
	if (!lost || post_move(&w->post) == 0)
		return -1;
	gv_error_clear(e);
	return worker_lost(w, e);
}

/* "rank 3 of 10.0.0.7 is gone: it had stage 1", and which of its replicas. */
int
worker_lost(struct worker *w, struct gv_error *e)
{
	const char *why = w->post.error.count > 0 ? w->post.error.text[0] : "";
	int rank = gv_gang_culprit(w->post.gang);
	size_t i;

	w->broken = true;
	for (i = 0; rank >= 0 && i < w->s.stages->n; i++) {
		size_t replicas = w->s.stages->stage[i].replicas;
		size_t first = w->s.route->rank[i];

		if ((size_t)rank < first || (size_t)rank >= first + replicas)
			continue;
		if (replicas == 1)
			return gv_error_set(e, "%s: it had stage %zu", why, i);
		return gv_error_set(
		    e, "%s: it had stage %zu, replica %zu", why, i, (size_t)rank - first);
	}
	return gv_error_set(e, "%s", why);
}
