/*
 * How sums go from rank to rank: by NCCL where each rank has a GPU of its own, else by the
 * gang.  Rank 0 hears from all where they are, decides, and tells all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/backend.h"
#include "run_pipeline.h"

enum { KIND_WHERE = 1, KIND_VERDICT, WHY = 200 };

/* What a rank says of itself. */
struct card {
	struct gv_nn_where where;
	char why[WHY]; /* "" or why it has no way to others' devices */
};

struct verdict {
	unsigned char id[GV_NN_ID];
	char why[WHY]; /* why not by NCCL; "" = by NCCL */
};

static struct gv_tag
tag(uint32_t kind)
{
	return (struct gv_tag){0, kind};
}

static int
send(struct run *r, int to, uint32_t kind, const void *v, size_t n)
{
	struct gv_message m = {0};

	gv_gang_send(r->gang, &m, to, tag(kind), v, n);
	return gv_gang_wait(r->gang, &m, &r->gang_error);
}

static int
receive(struct run *r, int from, uint32_t kind, void *v, size_t n)
{
	struct gv_message m = {0};

	gv_gang_recv(r->gang, &m, from, tag(kind), v, n);
	return gv_gang_wait(r->gang, &m, &r->gang_error);
}

static struct gv_net *
net_of(const struct run *r)
{
	size_t stage;

	return r->pipeline == NULL ? r->net : worker_net(r->pipeline->worker, 0, &stage);
}

static void
fill_card(struct run *r, struct card *c)
{
	struct gv_error e = {0};

	memset(c, 0, sizeof(*c));
	if (r->o->transport == TRANSPORT_TCP)
		snprintf(c->why, WHY, "--transport=tcp");
	else if (r->trees.n > 0)
		snprintf(c->why, WHY, "--trees");
	else if (gv_net_where(net_of(r), &c->where, &e) != 0)
		snprintf(c->why, WHY, "%.*s", WHY - 1, e.text[0]);
}

/* Whether ranks on these cards can sum by themselves; why not to *v. */
static void
judge(const struct card *c, int n, struct verdict *v)
{
	int i, k;

	for (i = 0; i < n && v->why[0] == '\0'; i++) {
		if (c[i].why[0] != '\0')
			snprintf(v->why, WHY, "rank %d: %.180s", i, c[i].why);
		else if (c[i].where.version != c[0].where.version)
			snprintf(v->why, WHY,
			    "rank %d has NCCL of version %d, rank 0 of %d", i,
			    c[i].where.version, c[0].where.version);
		for (k = 0; k < i && v->why[0] == '\0'; k++)
			if (strcmp(c[i].where.host, c[k].where.host) == 0 &&
			    strcmp(c[i].where.bus, c[k].where.bus) == 0)
				snprintf(v->why, WHY,
				    "ranks %d and %d have the same GPU (%s)", k, i,
				    c[i].where.bus);
	}
}

/* Rank 0: hears all, decides, tells all. */
static int
decide(struct run *r, const struct card *own, struct verdict *v)
{
	int n = r->place.world, status = 0, i;
	struct card *card = gv_xcalloc((size_t)n, sizeof(*card));
	struct gv_error e = {0};

	card[0] = *own;
	for (i = 1; i < n && status == 0; i++)
		status = receive(r, i, KIND_WHERE, &card[i], sizeof(card[i]));
	judge(card, n, v);
	free(card);
	if (status != 0)
		return -1;
	if (v->why[0] == '\0' && gv_net_make_id(net_of(r), v->id, &e) != 0)
		snprintf(v->why, WHY, "%.*s", WHY - 1, e.text[0]);
	for (i = 1; i < n; i++)
		if (send(r, i, KIND_VERDICT, v, sizeof(*v)) != 0)
			return -1;
	return 0;
}

static int
agree(struct run *r, struct verdict *v)
{
	struct card own;

	memset(v, 0, sizeof(*v));
	fill_card(r, &own);
	if (r->place.rank == 0)
		return decide(r, &own, v);
	if (send(r, 0, KIND_WHERE, &own, sizeof(own)) != 0)
		return -1;
	return receive(r, 0, KIND_VERDICT, v, sizeof(*v));
}

static int
alive(void *ctx)
{
	struct run *r = ctx;

	return gv_gang_poll(r->gang, &r->gang_error);
}

static int
gang_broke(const struct run *r, struct gv_error *e)
{
	return gv_error_set(e, "%s", r->gang_error.text[0]);
}

/* All join, or nobody. */
static int
join(struct run *r, const struct verdict *v, struct gv_error *e)
{
	struct gv_nn_join j = {.rank = r->place.rank,
	    .ranks = r->place.world,
	    .order = r->o->device.math == GV_NN_FP32 ? GV_NN_TREE : GV_NN_ANY,
	    .watch = {r->o->timeout_s, alive, r}};

	memcpy(j.id, v->id, sizeof(j.id));
	if (gv_net_join(r->net, &j, e) != 0)
		return r->gang_error.count > 0 ? gv_error_clear(e), gang_broke(r, e) : -1;
	r->joined = true;
	return 0;
}

static bool
has_replicas(const struct run *r)
{
	const struct stages *s = &r->pipeline->stages;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->stage[i].replicas > 1)
			return true;
	return false;
}

int
run_ranks_start(struct run *r, struct gv_error *e)
{
	bool says = r->o->common.verbose > 0 && r->place.rank == 0;
	const char *what =
	    r->pipeline == NULL ? "gradients are summed" : "what crosses stages is sent";
	struct verdict v;

	if (r->place.world == 1)
		return 0;
	if (agree(r, &v) != 0)
		return gang_broke(r, e);
	if (v.why[0] != '\0' && r->o->transport == TRANSPORT_NCCL)
		return gv_error_set(e, "--transport=nccl: %s", v.why);
	if (v.why[0] != '\0') {
		if (says && r->o->device.kind != GV_NN_CPU)
			gv_warn("%s over TCP: %s", what, v.why);
		return 0;
	}
	if (r->pipeline != NULL) {
		if (says)
			gv_warn("%s from GPU to GPU, by NCCL%s", what,
			    has_replicas(r) ? ", and so are sums of replicas" : "");
		return worker_link(r->pipeline->worker, r->gang, r->o->timeout_s, e);
	}
	if (join(r, &v, e) != 0)
		return -1;
	if (says)
		gv_warn("gradients are summed by NCCL, %s",
		    r->o->device.math == GV_NN_FP32
			? "in the order of the ranks (--math=fp32)"
			: "in its own order");
	return 0;
}

int
run_ranks_hush(struct run *r)
{
	if (!r->saying)
		return 0;
	r->saying = false;
	if (gv_gang_sum_wait(r->gang, &r->said, &r->gang_error) != 0)
		return -1;
	r->agreed = r->said.flags;
	return 0;
}

int
run_ranks_say(struct run *r)
{
	unsigned flags = run_flags() | r->wish;

	if (run_ranks_hush(r) != 0)
		return -1;
	gv_gang_sum_begin(r->gang, &r->said, NULL, 0, flags);
	r->saying = true;
	return 0;
}

void
run_ranks_end(struct run *r)
{
	if (r->net != NULL)
		gv_net_leave(r->net);
	if (r->pipeline != NULL && r->pipeline->worker != NULL)
		worker_leave(r->pipeline->worker);
}
