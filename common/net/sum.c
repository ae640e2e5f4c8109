#include "net/sum.h"

#include <stdlib.h>

#include "base/mem.h"
#include "net/mesh.h"

enum { KIND_SUM = GV_KIND_OWN, LEVEL_BITS = 4 };

/* ---- the tree ---- */

/*
 * Stage of size s: blocks [b, b + s) and [b + s, b + 2 s).  When the upper one is
 * whole each member of one exchanges with one of the other.  When it has only
 * h < s members, its members exchange with the first h of the lower one, and these
 * pass on what they got: the first h to the next h, the first 2 h to the next 2 h.
 */
static void
tree_stage(struct gv_stage *t, int rank, int size, int world)
{
	int first = rank / (2 * size) * (2 * size); /* of both blocks */
	int at = (rank - first) % size;
	int have = world - first - size < size ? world - first - size : size;
	int h;

	t->above = rank < first + size;
	t->to = t->from = t->above ? rank + size : rank - size;
	t->n_pass = 0;
	for (h = have; t->above && h < size; h *= 2) {
		if (at < h && at + h < size)
			t->pass[t->n_pass++] = rank + h;
		if (at >= h && at < 2 * h) {
			t->to = -1;
			t->from = rank - h;
		}
	}
}

void
gv_stages_tree(struct gv_stages *s, int rank, int world)
{
	uint32_t level = 0;
	int size;

	s->n = 0;
	for (size = 1; size < world; size *= 2, level++) {
		if (rank / (2 * size) * (2 * size) + size >= world)
			continue; /* this block goes up as it is */
		s->stage[s->n].level = level;
		tree_stage(&s->stage[s->n++], rank, size, world);
	}
}

/* ---- one sum ---- */

static void
add(float *restrict x, const float *restrict in, size_t n, bool above)
{
	size_t i;

	/* lower + higher on both sides: the same bits, NaNs included */
	if (above)
		for (i = 0; i < n; i++)
			x[i] = x[i] + in[i];
	else
		for (i = 0; i < n; i++)
			x[i] = in[i] + x[i];
}

static void
begin_stage(struct gv_gang *g, struct gv_sum *s)
{
	const struct gv_stage *t = &g->stages.stage[s->stage];
	struct gv_tag tag = {s->sequence << LEVEL_BITS | t->level, KIND_SUM};

	/* where it goes is said first: what is large waits for it */
	gv_mesh_recv(g, &s->from, t->from, tag, s->in, s->n * sizeof(*s->in));
	s->to.done = true;
	if (t->to != -1) {
		s->to.word = s->flags;
		gv_mesh_send(g, &s->to, t->to, tag, s->x, s->n * sizeof(*s->x));
	}
	s->passed = 0;
	s->added = false;
}

size_t
gv_sum_pending(struct gv_sum *s, struct gv_message *m[GV_PASS_MAX + 2])
{
	size_t n = 0, i;

	if (!s->from.done)
		m[n++] = &s->from;
	if (!s->to.done)
		m[n++] = &s->to;
	for (i = 0; i < s->passed; i++)
		if (!s->pass[i].done)
			m[n++] = &s->pass[i];
	return n;
}

/* Goes on as far as it can; true when a stage has ended. */
static bool
move_sum(struct gv_gang *g, struct gv_sum *s)
{
	const struct gv_stage *t = &g->stages.stage[s->stage];
	struct gv_tag tag = {s->sequence << LEVEL_BITS | t->level, KIND_SUM};
	struct gv_message *m[GV_PASS_MAX + 2];

	while (s->from.done && s->passed < (size_t)t->n_pass) {
		struct gv_message *p = &s->pass[s->passed];

		p->word = s->from.word;
		gv_mesh_send(
		    g, p, t->pass[s->passed++], tag, s->in, s->n * sizeof(*s->in));
	}
	if (!s->added && s->from.done && s->to.done) {
		add(s->x, s->in, s->n, t->above);
		s->flags |= s->from.word;
		s->added = true;
	}
	if (!s->added || gv_sum_pending(s, m) > 0)
		return false;
	s->stage++;
	if (s->stage < g->stages.n)
		begin_stage(g, s);
	else
		s->done = true;
	return true;
}

/* Fresh memory costs as much as the sum: the largest is kept. */
static void
take_buffer(struct gv_gang *g, struct gv_sum *s)
{
	s->in = g->spare;
	s->n_in = g->n_spare;
	g->spare = NULL;
	g->n_spare = 0;
	if (s->in != NULL && s->n_in >= s->n)
		return;
	free(s->in);
	s->n_in = s->n + 1;
	s->in = gv_xcalloc(s->n_in, sizeof(*s->in));
}

static void
give_buffer(struct gv_gang *g, struct gv_sum *s)
{
	float *smaller = s->in;

	if (s->n_in > g->n_spare) {
		smaller = g->spare;
		g->spare = s->in;
		g->n_spare = s->n_in;
	}
	free(smaller);
	s->in = NULL;
}

void
gv_sum_forget(struct gv_gang *g, struct gv_sum *s)
{
	struct gv_sum **at = &g->sum;

	while (*at != NULL && *at != s)
		at = &(*at)->next;
	if (*at == s)
		*at = s->next;
	give_buffer(g, s);
}

bool
gv_sums_move(struct gv_gang *g)
{
	struct gv_sum *s, *next;
	bool moved = false;

	for (s = g->sum; s != NULL; s = next) {
		next = s->next;
		if (move_sum(g, s))
			moved = true;
		if (s->done)
			gv_sum_forget(g, s);
	}
	return moved;
}

/* ---- all of them ---- */

void
gv_sum_begin(struct gv_gang *g, struct gv_sum *s, float *x, size_t n, unsigned flags)
{
	struct gv_sum **at = &g->sum;

	*s = (struct gv_sum){.x = x, .n = n, .flags = flags, .sequence = g->sequence++};
	s->done = g->stages.n == 0;
	if (s->done)
		return;
	take_buffer(g, s);
	while (*at != NULL)
		at = &(*at)->next;
	*at = s;
	begin_stage(g, s);
	while (gv_sums_move(g))
		;
}
