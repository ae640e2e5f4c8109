/*
 * MSCCL's XML.  Each GPU has thread blocks that receive from one neighbour or send to one,
 * a channel for each tree; a step moves some chunks, and waits for a step of
 * another block of the same GPU (depid, deps).  All is done in place: of an allreduce in
 * the input, else in the output.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "channels.h"
#include "formats.h"

enum {
	MSCCL_CHANNELS = 32,
	MSCCL_BLOCKS = 216,
	MSCCL_STEPS = 256,
	MSCCL_COUNT = 71,   /* chunks of one step */
	MSCCL_NODES = 1024, /* elements that its reader keeps for one GPU */
};

struct step {
	const char *type; /* r, s, rrc */
	size_t from, count;
	int after; /* block whose step of the same number comes first, -1 = none */
	bool waited_for;
};

struct block {
	size_t tree;
	int receives, sends; /* GPUs, -1 = none */
	struct step *step;
};

/* A GPU's blocks. */
struct gpu {
	struct block *block;
	size_t n, cap;
};

struct algorithm {
	const struct plan *p;
	struct gpu *gpu;       /* [n_gpus] */
	size_t *first, *count; /* [trees] its chunks */
	size_t chunks;         /* of the whole buffer */
};

static size_t
pieces(const struct algorithm *a, size_t tree)
{
	return (a->count[tree] + MSCCL_COUNT - 1) / MSCCL_COUNT;
}

/* A block of all steps of a tree; its number. */
static int
add_block(
    struct algorithm *a, size_t at, size_t tree, const char *type, int peer, int after)
{
	struct gpu *g = &a->gpu[at];
	struct block *b;
	size_t i;

	g->block = gv_xgrow(g->block, &g->cap, g->n + 1, sizeof(*g->block));
	b = &g->block[g->n];
	*b = (struct block){.tree = tree, .receives = -1, .sends = -1};
	*(type[0] == 's' ? &b->sends : &b->receives) = peer;
	b->step = gv_xcalloc(pieces(a, tree), sizeof(*b->step));
	for (i = 0; i < pieces(a, tree); i++) {
		size_t from = i * MSCCL_COUNT, left = a->count[tree] - from;

		b->step[i] = (struct step){.type = type,
		    .from = a->first[tree] + from,
		    .count = left < MSCCL_COUNT ? left : MSCCL_COUNT,
		    .after = after};
		if (after >= 0)
			g->block[after].step[i].waited_for = true;
	}
	return (int)g->n++;
}

/* Up: what comes from below is added in turn, so that no two blocks write at once; then on. */
static void
add_up(struct algorithm *a, size_t tree, int *ready)
{
	const struct tree *t = &a->p->forest.tree[tree];
	size_t k;

	for (k = t->n_edges; k-- > 0;) { /* leaves first */
		size_t up = t->edge[k].from, below = t->edge[k].to;

		add_block(a, below, tree, "s", (int)up, ready[below]);
		ready[up] = add_block(a, up, tree, "rrc", (int)below, ready[up]);
	}
}

static void
add_down(struct algorithm *a, size_t tree, int *ready)
{
	const struct tree *t = &a->p->forest.tree[tree];
	size_t k;

	for (k = 0; k < t->n_edges; k++) {
		size_t up = t->edge[k].from, below = t->edge[k].to;

		add_block(a, up, tree, "s", (int)below, ready[up]);
		ready[below] = add_block(a, below, tree, "r", (int)up, -1);
	}
}

/* Chunks by the trees' weights; of an allgather each root's behind those of the one before. */
static int
divide(struct algorithm *a, struct gv_error *e)
{
	const struct forest *t = &a->p->forest;
	int64_t common = 0;
	size_t i, v;

	for (i = 0; i < t->n; i++)
		common = gcd64(common, t->tree[i].weight);
	for (v = 0; v < a->p->f.n_gpus; v++)
		for (i = 0; i < t->n; i++) {
			if (t->tree[i].root != v)
				continue;
			if (t->tree[i].weight / common > MSCCL_COUNT * MSCCL_STEPS)
				return gv_error_set(e,
				    "the trees' weights have no small ratios: bound them "
				    "with --trees");
			a->first[i] = a->chunks;
			a->count[i] = (size_t)(t->tree[i].weight / common);
			a->chunks += a->count[i];
		}
	return 0;
}

static int
check_limits(const struct algorithm *a, struct gv_error *e)
{
	size_t v, b;

	for (v = 0; v < a->p->f.n_gpus; v++) {
		size_t nodes = 1 + a->p->f.n_gpus;

		for (b = 0; b < a->gpu[v].n; b++)
			nodes += 1 + pieces(a, a->gpu[v].block[b].tree);
		if (a->gpu[v].n > MSCCL_BLOCKS || nodes > MSCCL_NODES)
			return gv_error_set(e,
			    "MSCCL takes %d thread blocks of a GPU and reads %d "
			    "elements: "
			    "the plan has %zu and %zu; bound it with --trees",
			    MSCCL_BLOCKS, MSCCL_NODES, a->gpu[v].n, nodes);
	}
	return 0;
}

static void
write_block(
    struct gv_out *out, const struct algorithm *a, size_t id, const struct block *b)
{
	const char *buffer = a->p->wish.collective == ALL_REDUCE ? "i" : "o";
	size_t i;

	gv_out_fmt(out, "    <tb id=\"%zu\" send=\"%d\" recv=\"%d\" chan=\"%zu\">\n", id,
	    b->sends, b->receives, b->tree);
	for (i = 0; i < pieces(a, b->tree); i++) {
		const struct step *s = &b->step[i];

		gv_out_fmt(out,
		    "      <step s=\"%zu\" type=\"%s\" srcbuf=\"%s\" srcoff=\"%zu\" "
		    "dstbuf=\"%s\" dstoff=\"%zu\" cnt=\"%zu\" depid=\"%d\" deps=\"%d\" "
		    "hasdep=\"%d\"/>\n",
		    i, s->type, buffer, s->from, buffer, s->from, s->count, s->after,
		    s->after >= 0 ? (int)i : -1, s->waited_for);
	}
	gv_out_str(out, "    </tb>\n");
}

static void
write_algorithm(struct gv_out *out, const struct algorithm *a)
{
	enum collective c = a->p->wish.collective;
	size_t n = a->p->f.n_gpus, v, b;

	gv_out_fmt(out,
	    "<algo name=\"%s-%s\" proto=\"Simple\" nchunksperloop=\"%zu\" "
	    "nchannels=\"%zu\" "
	    "ngpus=\"%zu\" coll=\"%s\" inplace=\"1\" outofplace=\"0\" minBytes=\"0\" "
	    "maxBytes=\"%" PRId64 "\">\n",
	    collective_name[c], method_name[a->p->wish.method], a->chunks, a->p->forest.n,
	    n, collective_name[c], INT64_MAX);
	for (v = 0; v < n; v++) {
		gv_out_fmt(out,
		    "  <gpu id=\"%zu\" i_chunks=\"%zu\" o_chunks=\"%zu\" "
		    "s_chunks=\"0\">\n",
		    v, c == ALL_GATHER ? a->chunks / n : a->chunks,
		    c == ALL_REDUCE ? 0 : a->chunks);
		for (b = 0; b < a->gpu[v].n; b++)
			write_block(out, a, b, &a->gpu[v].block[b]);
		gv_out_str(out, "  </gpu>\n");
	}
	gv_out_str(out, "</algo>\n");
}

static void
algorithm_free(struct algorithm *a)
{
	size_t v, b;

	for (v = 0; v < a->p->f.n_gpus; v++) {
		for (b = 0; b < a->gpu[v].n; b++)
			free(a->gpu[v].block[b].step);
		free(a->gpu[v].block);
	}
	free(a->gpu);
	free(a->first);
	free(a->count);
}

int
export_msccl(const struct plan *p, struct gv_out *out, struct gv_error *e)
{
	struct algorithm a = {.p = p};
	enum collective c = p->wish.collective;
	size_t i, v;
	int *ready, rc;

	if (c == REDUCE || c == REDUCE_SCATTER)
		return gv_error_set(e,
		    "msccl is written of allreduce, allgather and broadcast: the sums of "
		    "a %s need buffers of their own",
		    collective_name[c]);
	if (p->forest.n > MSCCL_CHANNELS)
		return gv_error_set(e,
		    "MSCCL has %d channels, one for each of %zu trees: bound them with "
		    "--trees",
		    MSCCL_CHANNELS, p->forest.n);
	a.gpu = gv_xcalloc(p->f.n_gpus + 1, sizeof(*a.gpu));
	a.first = gv_xcalloc(p->forest.n + 1, sizeof(*a.first));
	a.count = gv_xcalloc(p->forest.n + 1, sizeof(*a.count));
	ready = gv_xcalloc(p->f.n_gpus + 1, sizeof(*ready));
	rc = divide(&a, e);
	for (i = 0; i < p->forest.n && rc == 0; i++) {
		for (v = 0; v < p->f.n_gpus; v++)
			ready[v] = -1;
		if (c == ALL_REDUCE)
			add_up(&a, i, ready);
		add_down(&a, i, ready);
	}
	if (rc == 0)
		rc = check_limits(&a, e);
	if (rc == 0)
		write_algorithm(out, &a);
	free(ready);
	algorithm_free(&a);
	return rc;
}
